// Where the columns of a stored triangle lie. Every storage form is a matrix S with columns of constant stride, and the
// logical matrix A is S or S^T: row-major memory is the column-major memory of the transposed matrix, whose stored
// triangle is the other one.
#pragma once

#include <cblas.h>

#include <algorithm>
#include <cstdint>

#include "../kernels/level2.hpp"
#include "vectors.hpp"

namespace trn::blas::host {

template <class T> class Columns {
 public:
  Columns(const Triangle& shape, T* a) : shape_(shape), a_(a) {
    transposed_ =
        shape.form == Form::Full ? shape.row_stride != 1 && shape.column_stride == 1 : shape.layout == Layout::RowMajor;
    upper_ = (shape.uplo == Uplo::Upper) != transposed_;
  }

  [[nodiscard]] bool transposed() const { return transposed_; }  // A = S^T
  [[nodiscard]] bool upper() const { return upper_; }            // the triangle of S that is stored
  [[nodiscard]] std::int64_t stride() const {
    return shape_.form != Form::Full ? 1 : transposed_ ? shape_.column_stride : shape_.row_stride;
  }
  // S(i, j) is column(j)[i * stride()] for begin(j) <= i < end(j), the diagonal included.
  [[nodiscard]] T* column(std::int64_t j) const {
    const std::int64_t n = shape_.n;
    switch (shape_.form) {
      case Form::Full:
        return a_ + j * (transposed_ ? shape_.row_stride : shape_.column_stride);
      case Form::Packed:
        return a_ + (upper_ ? j * (j + 1) / 2 : j * (2 * n - j - 1) / 2);
      case Form::Band:
        break;
    }
    return a_ + j * shape_.ld + (upper_ ? shape_.k : 0) - j;
  }
  [[nodiscard]] std::int64_t begin(std::int64_t j) const {
    if (!upper_) return j;
    return shape_.form == Form::Band ? std::max<std::int64_t>(0, j - shape_.k) : 0;
  }
  [[nodiscard]] std::int64_t end(std::int64_t j) const {
    if (upper_) return j + 1;
    return shape_.form == Form::Band ? std::min(shape_.n, j + shape_.k + 1) : shape_.n;
  }

 private:
  Triangle shape_;
  T* a_;
  bool transposed_, upper_;
};

// Whether OpenBLAS can take the storage as it is; the order and leading dimension of it, or of a dense copy.
struct Native {
  bool usable;
  CBLAS_ORDER order;
  std::int64_t ld;
};
inline Native native(const Triangle& t) {
  if (t.form != Form::Full)
    return {t.ld <= kIntMax, t.layout == Layout::RowMajor ? CblasRowMajor : CblasColMajor, t.ld};
  const auto leads = [&](std::int64_t inner, std::int64_t outer) {
    return t.n == 1 || (inner == 1 && outer >= t.n && outer <= kIntMax);
  };
  if (leads(t.row_stride, t.column_stride)) return {true, CblasColMajor, t.n == 1 ? 1 : t.column_stride};
  if (leads(t.column_stride, t.row_stride)) return {true, CblasRowMajor, t.row_stride};
  // A dense copy of S, column by column: the rows of A when A = S^T.
  return {false, t.row_stride != 1 && t.column_stride == 1 ? CblasRowMajor : CblasColMajor, t.n};
}

template <class T> bool has_zero(const T* x, std::int64_t n, std::int64_t stride) {
  for (std::int64_t i = 0; i < n; ++i) {
    if (x[i * stride] == T(0)) return true;
  }
  return false;
}

}  // namespace trn::blas::host
