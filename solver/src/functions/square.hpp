// Square matrices on an executor as the products need them: contiguous, so that sums are axpy on n^2 numbers.
#pragma once

#include <cmath>

#include "checks.hpp"
#include "iterative/blocks.hpp"
#include "norms.hpp"

namespace trn::solver::functions {

using iterative::at;
using iterative::Small;

template <class T> class Square {
 public:
  Square(const Executor& executor, std::int64_t n) : storage_(executor, n, n) {}
  Square(const Executor& executor, const Small<T>& from) : Square(executor, from.rows()) {
    iterative::assign(from, view());
  }
  [[nodiscard]] MatrixView<T> view() const { return storage_.view(); }
  [[nodiscard]] const Executor& executor() const { return storage_.executor(); }
  [[nodiscard]] std::int64_t size() const { return storage_.rows(); }
  // this += alpha other, this *= alpha, and the Frobenius norm.
  void add(T alpha, const Square& other) const { blas::axpy(executor(), alpha, other.flat(), flat()); }
  void scale(T alpha) const { blas::scal(executor(), alpha, flat()); }
  void set(const Square& other) const { blas::copy(executor(), other.flat(), flat()); }
  [[nodiscard]] double norm() const { return static_cast<double>(blas::nrm2(executor(), flat())); }
  // this = x y; returns gemm's bound.
  double set_product(const Square& x, const Square& y) const {
    return blas::gemm(executor(), Op::N, Op::N, T(1), x.view(), y.view(), T(0), view()).bound;
  }

 private:
  [[nodiscard]] VectorView<T> flat() const { return {executor(), storage_.data(), size() * size()}; }
  Matrix<T> storage_;
};

template <class T> Square<T> identity(const Executor& executor, std::int64_t n) {
  Small<T> one(n, n);
  for (std::int64_t i = 0; i < n; ++i) one(i, i) = T(1);
  return {executor, one};
}

// The checks of a function of a square matrix; the matrix on the host, and the outcome of looking at it.
template <class T> struct Operand {
  Operand(const char* operation, const Executor& executor, const MatrixView<const T>& a, const MatrixView<T>& x)
      : matrix(0, 0) {
    checks::input(operation, "A", executor, a);
    checks::output(operation, "X", executor, x);
    checks::square(operation, "A", a);
    checks::shape(operation, "X", x, a.rows(), a.rows());
    checks::apart(operation, "A", a, "X", x);
    matrix = iterative::on_host<T>(a);
    outcome = host::finite(matrix.view());
  }
  Small<T> matrix;
  Outcome outcome;
};

// The report of a failure: results are NaN.
template <class T> Report failed(Outcome outcome, std::string_view algorithm, const MatrixView<T>& x) {
  Report report;
  report.outcome = outcome;
  report.algorithm = algorithm;
  report.accuracy.bound = std::numeric_limits<double>::infinity();
  iterative::set_to(x, host::not_a_number<T>());
  return report;
}

template <class T> double frobenius(const Small<T>& a) {
  double sum = 0;
  for (std::int64_t j = 0; j < a.columns(); ++j) {
    for (std::int64_t i = 0; i < a.rows(); ++i) sum = std::hypot(sum, static_cast<double>(std::abs(a(i, j))));
  }
  return sum;
}

// x = y on the host.
template <class T> void host_gemm(Op op_a, Op op_b, const Small<T>& a, const Small<T>& b, Small<T>& c) {
  blas::gemm(Executor::host(), op_a, op_b, T(1), a.view(), b.view(), T(0), c.view());
}

}  // namespace trn::solver::functions
