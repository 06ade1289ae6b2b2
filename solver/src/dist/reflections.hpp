// Householder reflections of a panel as one: the triangular factor of their compact WY form.
#pragma once

#include <vector>

#include <trn/blas/ordered_gemm.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

// T with H(0) H(1) ... = I - V T V^H: column j is -tau_j T (V^H v_j), tau_j on the diagonal (LAPACK's larft, forward).
// From the Gram matrix V^H V, column-major.
template <class T> std::vector<T> triangular_factor(std::int64_t n, const std::vector<T>& gram, const T* tau) {
  std::vector<T> t(gram.size(), T(0));
  const auto at = [n](std::int64_t i, std::int64_t j) { return static_cast<std::size_t>(j * n + i); };
  for (std::int64_t j = 0; j < n; ++j) {
    t[at(j, j)] = tau[j];
    for (std::int64_t i = 0; i < j; ++i) {
      T sum = 0;
      for (std::int64_t p = i; p < j; ++p) sum += t[at(i, p)] * gram[at(p, j)];
      t[at(i, j)] = -tau[j] * sum;
    }
  }
  return t;
}
// From V in host memory.
template <class T> std::vector<T> triangular_factor(const MatrixView<const T>& v, const T* tau) {
  const std::int64_t n = v.columns();
  std::vector<T> gram(static_cast<std::size_t>(n * n));
  blas::ordered_gemm<T>(v.executor(), Op::C, Op::N, T(1), v, v, T(0),
                        MatrixView<T>::column_major(v.executor(), gram.data(), n, n));
  return triangular_factor<T>(n, gram, tau);
}

}  // namespace trn::solver
