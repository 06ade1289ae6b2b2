// Lengths from which the engines of complex and of real lines do things differently.
#pragma once

#include <cstdint>

namespace trn::fft::host {

inline constexpr std::int64_t kLongLine = std::int64_t{1} << 17;         // from here on all threads work on one line
inline constexpr std::int64_t kThreadPoints = std::int64_t{1} << 13;     // fewer for each thread cost less than waking one
inline constexpr std::int64_t kLongConvolution = std::int64_t{1} << 18;  // from this length on, convolutions of float are done in double

}  // namespace trn::fft::host
