// What the entry points of level 3 share: names of enumerators for messages, and views with the op folded into their
// strides.
#pragma once

#include "checks.hpp"

namespace trn::blas {

[[nodiscard]] inline const char* letter(Op op) { return op == Op::N ? "N" : op == Op::T ? "T" : "C"; }
[[nodiscard]] inline const char* letter(Side side) { return side == Side::Left ? "Left" : "Right"; }

template <class T> MatrixView<T> folded(Op op, const MatrixView<T>& x) { return op == Op::N ? x : x.transposed(); }
// Whether op conjugates elements of type T.
template <class T> bool conjugates(Op op) { return ComplexScalar<T> && op == Op::C; }

template <class T> bool same_view(const MatrixView<const T>& x, const MatrixView<T>& y) {
  return x.data() == y.data() && x.row_stride() == y.row_stride() && x.column_stride() == y.column_stride();
}

// A triangular operand of a left-sided problem: op and Side::Right (the transposed problem) folded in.
template <class T> struct FoldedTriangle {
  MatrixView<const T> a;
  bool lower, conj;
  FoldedTriangle(Side side, Uplo uplo, Op op, const MatrixView<const T>& x)
      : a((op == Op::N) == (side == Side::Left) ? x : x.transposed()),
        lower((uplo == Uplo::Lower) == ((op == Op::N) == (side == Side::Left))),
        conj(conjugates<T>(op)) {}
};

}  // namespace trn::blas
