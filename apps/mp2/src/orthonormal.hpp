// Canonical orthonormalisation: X = U s^-1/2 over the eigenvalues s >= kDependence of the overlap, so that X^T S X = 1.
#pragma once

#include <trn/mp2/linear_algebra.hpp>

namespace trn::mp2 {

class Orthonormal {
 public:
  Orthonormal(const Executor& executor, const Dense& overlap);
  [[nodiscard]] std::int64_t functions() const { return x_.columns; }
  [[nodiscard]] Dense transform(const Dense& a) const;     // X^T A X
  [[nodiscard]] Eigen eigenvectors(const Dense& f) const;  // of F C = S C e
 private:
  Executor executor_;
  Dense x_;
};

}  // namespace trn::mp2
