// Engines whose arithmetic a caller has chosen, beside make_engine() of lines.hpp.
#pragma once

#include "../way.hpp"
#include "lines.hpp"

namespace trn::fft::host {

// With Rows or Columns a line's arithmetic depends on n alone, and `lines` is of no account for it. Real lines are the
// same both ways.
template <class T> [[nodiscard]] std::shared_ptr<const Engine<T>> make_engine(EngineKind kind, std::int64_t n,
                                                                              std::int64_t lines, Way way);
// kind: RealToHalf or HalfToReal.
template <class T> [[nodiscard]] std::shared_ptr<const Engine<T>> make_real_engine(EngineKind kind, std::int64_t n,
                                                                                   std::int64_t lines, Way way);

}  // namespace trn::fft::host
