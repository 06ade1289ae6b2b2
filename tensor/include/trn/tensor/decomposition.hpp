// What every decomposition of a tensor says about itself.
#pragma once

#include <cstdint>
#include <string_view>

namespace trn::tensor {

enum class StopReason : std::uint8_t {
  Direct,          // the method does not iterate
  Converged,       // the change fell below the tolerance
  IterationLimit,  // a result, not an error: look at the fit
  NotFinite        // the tensor holds a NaN or an infinity; everything is NaN
};
[[nodiscard]] std::string_view name(StopReason reason);

struct DecompositionReport {
  double norm = 0;       // ||X||, Frobenius
  double error = 0;      // ||X - reconstruct||, computed from the difference itself
  double bound = 0;      // of ||X - exact reconstruct||: `error` with the rounding of its computation; not underflow
  double fit = 0;        // 1 - error / norm; 1 for a zero tensor that is reproduced
  double discarded = 0;  // square root of the sum of squares of the discarded singular values; 0 for CP
  int iterations = 0;
  StopReason stop_reason = StopReason::Direct;
};

}  // namespace trn::tensor
