// Columns of real lines of a codelet's length: rows of reals on one side, rows of pairs on the other, both as they lie
// in memory; nothing leaves the registers in between.
#pragma once

#include <cstdint>
#include <memory>

#include "lines.hpp"

namespace trn::fft::host {

// `runs` runs of neighbouring columns, the steps apart. Strides, of points, and steps in reals.
template <class T> struct RealColumnRuns {
  T *real, *half;
  std::int64_t real_stride, half_stride;
  std::int64_t runs, real_step, half_step;
  T factor;
  bool stream;  // write past the caches where that can be done (columns.hpp)
};
// `run` columns in each.
template <class T> using RealColumnsRun = void (*)(const RealColumnRuns<T>& columns, std::int64_t run);

// An engine for batches whose last distance is 1 on the real side and 2 on the other, which has pairs; null if there is
// none for this length.
template <class T>
[[nodiscard]] std::shared_ptr<const Engine<T>> make_real_columns_engine(EngineKind kind, std::int64_t n);

}  // namespace trn::fft::host
