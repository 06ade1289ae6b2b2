// Shares of a target error.
#include "targets.hpp"

#include <cmath>

namespace trn::blas {

Precision half_of(const Precision& precision) {
  if (!precision.has_target()) return precision;
  const double target = precision.target_error();
  return Precision::target(target / (std::sqrt(1 + target) + 1) * (1 - 0x1p-40));  // sqrt(1 + t) - 1
}

}  // namespace trn::blas
