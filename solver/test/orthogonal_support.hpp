// Random orthogonal matrices for tests, by Gram and Schmidt's method in 80-bit arithmetic.
#pragma once

#include "solver_support.hpp"

namespace trn::solver::testing {

// Random orthogonal rows.
inline Dense<long double> orthogonal(std::int64_t n, Random& random) {
  Dense<long double> q = random_matrix<double>(n, n, random);
  for (std::int64_t j = 0; j < n; ++j) {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t k = 0; k < j; ++k) {
        long double dot = 0;
        for (std::int64_t i = 0; i < n; ++i) dot += q(j, i) * q(k, i);
        for (std::int64_t i = 0; i < n; ++i) q(j, i) -= dot * q(k, i);
      }
    }
    long double norm = 0;
    for (std::int64_t i = 0; i < n; ++i) norm += q(j, i) * q(j, i);
    for (std::int64_t i = 0; i < n; ++i) q(j, i) /= std::sqrt(norm);
  }
  return q;
}
}  // namespace trn::solver::testing
