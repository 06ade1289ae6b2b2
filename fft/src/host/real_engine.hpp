// The engines of real lines, behind make_engine().
#pragma once

#include <cstdint>
#include <memory>

#include "lines.hpp"

namespace trn::fft::host {

// kind: RealToHalf or HalfToReal.
template <class T>
[[nodiscard]] std::shared_ptr<const Engine<T>> make_real_engine(EngineKind kind, std::int64_t n, std::int64_t lines);

}  // namespace trn::fft::host
