// The choice between the two ways to sum that level 1 and gemv have: Native and Exact.
#pragma once

#include <trn/core/error.hpp>
#include <trn/core/precision.hpp>

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

}  // namespace trn::blas
