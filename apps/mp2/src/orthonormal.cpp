// The eigenvectors of the overlap, scaled, without those of small eigenvalue.
#include "orthonormal.hpp"

#include <algorithm>
#include <cmath>

#include <trn/mp2/rhf.hpp>

namespace trn::mp2 {

Orthonormal::Orthonormal(const Executor& executor, const Dense& overlap) : executor_(executor) {
  const Eigen e = eigh(executor_, overlap);
  const auto first = static_cast<std::int64_t>(std::ranges::lower_bound(e.values, kDependence) - e.values.begin());
  x_ = e.vectors.columns_from(first, overlap.rows - first);
  for (std::int64_t k = 0; k < x_.columns; ++k) {
    const double scale = 1 / std::sqrt(e.values[static_cast<std::size_t>(first + k)]);
    for (std::int64_t i = 0; i < x_.rows; ++i) x_(i, k) *= scale;
  }
}

Dense Orthonormal::transform(const Dense& a) const {
  return product(executor_, x_, product(executor_, a, x_), blas::Op::T);
}

Eigen Orthonormal::eigenvectors(const Dense& f) const {
  Eigen e = eigh(executor_, transform(f));
  e.vectors = product(executor_, x_, e.vectors);
  return e;
}

}  // namespace trn::mp2
