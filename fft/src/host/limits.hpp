// Lengths from which the engines of complex and of real lines do things differently. Tests take lengths on both sides
// of each (thresholds_test.cpp). More of them stand where they belong: kLargestDirect in schedule.hpp, kLongestWhole
// and kLongestSteps in line_plan.hpp; halved lines go through scratch up to 4 MiB (real_line-inl.hpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace trn::fft::host {

inline constexpr std::int64_t kLongLine = std::int64_t{1} << 17;      // from here on all threads work on one line
inline constexpr std::int64_t kThreadPoints = std::int64_t{1} << 13;  // fewer for each thread cost less than waking one
inline constexpr std::int64_t kLongConvolution =
    std::int64_t{1} << 18;  // from this length on, convolutions of float are done in double
inline constexpr std::int64_t kWholeTable = std::int64_t{1}
                                            << 16;  // tables of four steps of more points than this are factored
inline constexpr std::int64_t kLongestColumn = std::int64_t{1} << 16;  // the largest first factor of four steps
inline constexpr std::int64_t kLongestStrided =
    std::int64_t{1} << 15;  // complex lines up to this length run in lanes where they are strided
// And real ones.
inline constexpr std::int64_t kLongestStridedReal = std::int64_t{1} << 16;
inline constexpr std::int64_t kLongestRader = std::int64_t{1} << 30;  // indices are 32 bits
inline constexpr std::int64_t kPlanBytes = std::int64_t{8} << 30;     // of the tables for one axis, and to make them
inline constexpr std::size_t kRaderLengths = 4;  // so many lengths of a real convolution are compared

}  // namespace trn::fft::host
