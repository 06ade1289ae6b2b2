// Blocks of columns on an executor, and the few operations of which the iterative methods are made: each is a handful
// of blas calls, so that a loop runs wherever blas has kernels. Scalars and small matrices are the host's.
#pragma once

#include <cmath>
#include <vector>

#include <trn/blas/gemm.hpp>
#include <trn/blas/level1.hpp>

#include "host/column_major.hpp"

namespace trn::solver::iterative {

template <class T> using Small = host::Columns<T>;  // a small matrix in host memory
template <class T> using Scalars = std::vector<T>;  // one number per column
using Norms = std::vector<double>;

inline std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }
template <class T> T conjugate(const T& x) {
  if constexpr (ComplexScalar<T>) {
    return std::conj(x);
  } else {
    return x;
  }
}
template <class T> Real<T> real_part(const T& x) { return std::real(x); }

// n x k, each column contiguous; elements are undefined.
template <class T> class Block {
 public:
  Block(const Executor& executor, std::int64_t n, std::int64_t k) : storage_(executor, k, n) {}
  [[nodiscard]] MatrixView<T> view() const { return storage_.view().transposed(); }
  operator MatrixView<T>() const { return view(); }
  operator MatrixView<const T>() const { return view(); }
  [[nodiscard]] MatrixView<T> columns(std::int64_t first, std::int64_t count) const {
    return view().block(0, first, storage_.columns(), count);
  }
  [[nodiscard]] std::int64_t rows() const { return storage_.columns(); }
  [[nodiscard]] std::int64_t columns() const { return storage_.rows(); }

 private:
  Matrix<T> storage_;
};

// Y = X.
template <class T> void assign(const MatrixView<const T>& x, const MatrixView<T>& y) {
  if (x.rows() > 0 && x.columns() > 0) copy(View<const T>(x), View<T>(y));
}
template <class T> void assign(const Small<T>& x, const MatrixView<T>& y) { assign<T>(x.view(), y); }
template <class T> void set_to(const MatrixView<T>& y, T value) {
  Small<T> constant(y.rows(), y.columns());
  host::fill(constant.view(), value);
  assign<T>(constant.view(), y);
}
template <class T> void zero(const MatrixView<T>& y) { set_to(y, T(0)); }
template <class T> Small<T> on_host(const MatrixView<const T>& x) {
  Small<T> y(x.rows(), x.columns());
  assign<T>(x, y.view());
  return y;
}
// The first place that is not finite, or Ok.
template <class T> Outcome looked_at(const MatrixView<const T>& x) {
  if (x.executor().family() == Family::Host) return host::finite(x);
  const Small<T> copied = on_host(x);
  return host::finite(copied.view());
}

// (x_j, y_j) = x_j^H y_j, and ||x_j||_2.
template <class T> Scalars<T> dots(const MatrixView<const T>& x, const MatrixView<const T>& y) {
  Scalars<T> result;
  for (std::int64_t j = 0; j < x.columns(); ++j) result.push_back(blas::dotc(x.executor(), x.column(j), y.column(j)));
  return result;
}
template <class T> Norms norms(const MatrixView<const T>& x) {
  Norms result;
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    result.push_back(static_cast<double>(blas::nrm2(x.executor(), x.column(j))));
  }
  return result;
}
// y_j += alpha_j x_j. A zero factor leaves a column as it is.
template <class T>
void add(const Scalars<T>& alpha, const MatrixView<const T>& x, const MatrixView<T>& y, T sign = T(1)) {
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    if (alpha[at(j)] != T(0)) blas::axpy(x.executor(), sign * alpha[at(j)], x.column(j), y.column(j));
  }
}
// y_j = x_j + beta_j y_j; beta_j = 0 does not read y_j.
template <class T> void combine(const MatrixView<const T>& x, const Scalars<T>& beta, const MatrixView<T>& y) {
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    if (beta[at(j)] == T(0)) {
      blas::copy(x.executor(), x.column(j), y.column(j));
    } else {
      if (beta[at(j)] != T(1)) blas::scal(x.executor(), beta[at(j)], y.column(j));
      blas::axpy(x.executor(), T(1), x.column(j), y.column(j));
    }
  }
}
// x_j = alpha_j x_j.
template <class T> void scale(const Scalars<T>& alpha, const MatrixView<T>& x) {
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    if (alpha[at(j)] != T(1)) blas::scal(x.executor(), alpha[at(j)], x.column(j));
  }
}

// X^H Y on the executor, brought to the host.
template <class T> Small<T> inner(const MatrixView<const T>& x, const MatrixView<const T>& y) {
  const Block<T> product(x.executor(), x.columns(), y.columns());
  blas::gemm(x.executor(), Op::C, Op::N, T(1), x, y, T(0), product.view());
  return on_host<T>(product.view());
}
// Y = alpha X S + beta Y with a small S.
template <class T>
void add_product(T alpha, const MatrixView<const T>& x, const Small<T>& s, T beta, const MatrixView<T>& y) {
  if (x.columns() == 0 || y.columns() == 0) return;
  const Block<T> factor(x.executor(), s.rows(), s.columns());
  assign(s, factor.view());
  blas::gemm(x.executor(), Op::N, Op::N, alpha, x, factor.view(), beta, y);
}

}  // namespace trn::solver::iterative
