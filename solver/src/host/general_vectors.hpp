// What LAPACK's routines for general eigenproblems give back, as the interface has it: eigenvalues of real matrices
// from their parts, vectors of conjugate pairs from two columns, vectors of norm 1.
#pragma once

#include <trn/solver/eig.hpp>

#include "host/column_major.hpp"

namespace trn::solver::host {

template <class T> void store_values(const std::vector<T>& from, const VectorView<T>& to) {
  for (std::int64_t i = 0; i < to.size(); ++i) to.data()[i * to.stride()] = from[static_cast<std::size_t>(i)];
}

// Eigenvalues of a real matrix from their parts.
template <class R> std::vector<std::complex<R>> joined(const std::vector<R>& re, const std::vector<R>& im) {
  std::vector<std::complex<R>> w(re.size());
  for (std::size_t i = 0; i < w.size(); ++i) w[i] = {re[i], im[i]};
  return w;
}

// Columns j and j + 1 of v hold the parts of the vector of w[j] when its imaginary part is positive.
template <class T>
void store_vectors(const Columns<T>& v, const std::vector<ComplexOf<T>>& w, const MatrixView<ComplexOf<T>>& to) {
  if constexpr (blas::ComplexScalar<T>) {
    copy_part(v.view(), to);
  } else {
    const std::int64_t n = to.rows();
    for (std::int64_t j = 0; j < n; ++j) {
      const bool pair = w[static_cast<std::size_t>(j)].imag() != 0;
      for (std::int64_t i = 0; i < n; ++i) {
        element(to, i, j) = pair ? ComplexOf<T>(v(i, j), v(i, j + 1)) : ComplexOf<T>(v(i, j));
        if (pair) element(to, i, j + 1) = std::conj(element(to, i, j));
      }
      j += pair;
    }
  }
}

// Columns divided by their Euclidean norms, which for float and double are formed in wider arithmetic.
template <class C> void normalise(const MatrixView<C>& v) {
  for (std::int64_t j = 0; j < v.columns(); ++j) {
    long double most = 0, sum = 0;
    for (std::int64_t i = 0; i < v.rows(); ++i) {
      most = std::max({most, std::abs(static_cast<long double>(element(v, i, j).real())),
                       std::abs(static_cast<long double>(element(v, i, j).imag()))});
    }
    if (!(most > 0)) continue;
    for (std::int64_t i = 0; i < v.rows(); ++i) {
      const long double x = element(v, i, j).real() / most, y = element(v, i, j).imag() / most;
      sum += x * x + y * y;
    }
    const long double norm = most * std::sqrt(sum);
    for (std::int64_t i = 0; i < v.rows(); ++i) {
      C& x = element(v, i, j);
      using R = typename C::value_type;
      x = C(static_cast<R>(x.real() / norm), static_cast<R>(x.imag() / norm));
    }
  }
}

}  // namespace trn::solver::host
