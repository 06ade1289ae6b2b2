// The choice between the two ways to sum that level 1 and gemv have: Native and Exact.
#pragma once

#include <cmath>

#include <trn/core/error.hpp>
#include <trn/core/precision.hpp>

#include "gemm_accuracy.hpp"

namespace trn::blas {

// Native when its bound meets the target, otherwise Exact; a mode of the matrix products, or a target below the exact
// bound, is refused.
inline Accuracy choose(const char* operation, Precision precision, double native_bound, double exact_bound) {
  const Accuracy native{Mode::Native, 1, native_bound}, exact{Mode::Exact, 1, exact_bound};
  if (precision.has_target()) {
    if (native_bound <= precision.target_error()) return native;
    require(exact_bound <= precision.target_error(),
            "{}: target error {} is below {}, the rounding of the result; ask for at least that", operation,
            precision.target_error(), exact_bound);
    return exact;
  }
  require(precision.mode() == Mode::Native || precision.mode() == Mode::Exact,
          "{}: precision {} is for products of matrices; sums along vectors take native, exact or a target", operation,
          name(precision.mode()));
  return precision.mode() == Mode::Exact ? exact : native;
}

// The same for a product of a matrix (or row) and a vector, `g` as gemm has it. With a target the operands are looked
// at: partial sums that may overflow are refused, and what underflow can lose counts, as in gemm's Native. Exact sums
// are no better there: their words have the same range.
inline Accuracy choose(const char* operation, const Executor& executor, Precision precision, const GemmArgs& g,
                       double native_bound, double exact_bound) {
  if (!precision.has_target() || g.m == 0 || g.k == 0) return choose(operation, precision, native_bound, exact_bound);
  const ProductSizes sizes = sizes_of(executor, g);
  const double exact = bound_in_range(exact_bound, g, Mode::Native, sizes);
  require(std::isfinite(exact),
          "{}: the operands are not finite or so large that a sum may overflow; no target can be kept: scale them, or "
          "use gemm with this target",
          operation);
  return choose(operation, precision, bound_in_range(native_bound, g, Mode::Native, sizes), exact);
}

}  // namespace trn::blas
