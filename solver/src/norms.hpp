// Norms of matrices in host memory, summed in double.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "host/column_major.hpp"

namespace trn::solver {

// The largest sum of moduli of a column (Norm::One) or of a row (Norm::Infinity).
template <class T> double norm_of(const MatrixView<T>& a, Norm which) {
  std::vector<double> sums(static_cast<std::size_t>(which == Norm::One ? a.columns() : a.rows()));
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j < a.columns(); ++j) {
      sums[static_cast<std::size_t>(which == Norm::One ? j : i)] += std::abs(host::element(a, i, j));
    }
  }
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

// Of a Hermitian or symmetric matrix, from one triangle: the 1-norm and the infinity norm are the same.
template <class T> double symmetric_norm_of(const MatrixView<T>& a, Uplo uplo) {
  std::vector<double> sums(static_cast<std::size_t>(a.rows()));
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      const double size = std::abs(uplo == Uplo::Lower ? host::element(a, i, j) : host::element(a, j, i));
      sums[static_cast<std::size_t>(i)] += size;
      if (i != j) sums[static_cast<std::size_t>(j)] += size;
    }
  }
  return sums.empty() ? 0 : *std::max_element(sums.begin(), sums.end());
}

// A condition number from its reciprocal.
template <class R> double condition_from(R reciprocal) {
  return reciprocal > 0 ? 1 / static_cast<double>(reciprocal) : std::numeric_limits<double>::infinity();
}

// Writes the other triangle of a Hermitian (conjugated) or symmetric matrix.
template <class T> void mirror(const MatrixView<T>& a, Uplo uplo, bool conjugated) {
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      T &low = host::element(a, i, j), &high = host::element(a, j, i);
      T &to = uplo == Uplo::Lower ? high : low, &from = uplo == Uplo::Lower ? low : high;
      to = from;
      if constexpr (blas::ComplexScalar<T>) {
        if (conjugated) to = std::conj(from);
      }
    }
  }
}

}  // namespace trn::solver
