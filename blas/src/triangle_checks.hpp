// What the entry points of symmetric, Hermitian and triangular matrices share: the three storage forms as one Triangle,
// checked.
#pragma once

#include "checks.hpp"
#include "kernels/level2.hpp"

namespace trn::blas::checks {

template <class T> Triangle triangle(const char* operation, Uplo uplo, const MatrixView<T>& a) {
  require(a.rows() == a.columns(), "{}: A is {} x {}; it must be square", operation, a.rows(), a.columns());
  return {Form::Full, uplo, a.rows(), a.row_stride(), a.column_stride()};
}
template <class T> Triangle triangle(const char*, Uplo, const PackedView<T>& a) {
  return {Form::Packed, a.uplo(), a.n(), 0, 0, a.layout()};
}
template <class T> Triangle triangle(const char* operation, Uplo uplo, const BandView<T>& a) {
  require(a.rows() == a.columns(), "{}: A is {} x {}; it must be square", operation, a.rows(), a.columns());
  const bool upper = uplo == Uplo::Upper;
  require((upper ? a.kl() : a.ku()) == 0,
          "{}: the {} triangle of a band with {} lower and {} upper diagonals; it must have no {} ones", operation,
          upper ? "upper" : "lower", a.kl(), a.ku(), upper ? "lower" : "upper");
  return {Form::Band, uplo, a.rows(), 0, 0, a.layout(), upper ? a.ku() : a.kl(), a.ld()};
}

template <class T> Extent extent(const PackedView<T>& a) { return {a.data(), {{a.size(), 1}}, sizeof(T), 1}; }
template <class T> Extent extent(const BandView<T>& a) {
  return {a.data(), {{a.rows(), a.ld()}, {a.kl() + a.ku() + 1, 1}}, sizeof(T)};
}

template <class T> void length(const char* operation, const char* name, const VectorView<T>& x, std::int64_t n) {
  require(x.size() == n, "{}: {} has {} elements, A is {} x {}; give it {}", operation, name, x.size(), n, n, n);
}

}  // namespace trn::blas::checks
