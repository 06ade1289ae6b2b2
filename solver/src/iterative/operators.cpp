// Dense operators and the preconditioners made of a dense matrix. They are set up on the host, from the parts of A that
// they need, and applied on A's executor.
#include <trn/solver/operators.hpp>

#include <trn/blas/dgmm.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/solver/lu.hpp>

#include "checks.hpp"
#include "iterative/blocks.hpp"
#include "scalars.hpp"

namespace trn::solver {

using iterative::at;
using iterative::Small;

template <Scalar T>
void DenseOperator<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  blas::gemm(a_.executor(), op, Op::N, alpha, a_, x, beta, y, {.precision = precision_});
}

// y = alpha x + beta y on any executor.
template <class T> void blend(T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) {
  const Executor& executor = y.executor();
  for (std::int64_t j = 0; j < y.columns(); ++j) {
    if (beta == T(0)) {
      blas::copy(executor, x.column(j), y.column(j));
      if (alpha != T(1)) blas::scal(executor, alpha, y.column(j));
    } else {
      if (beta != T(1)) blas::scal(executor, beta, y.column(j));
      blas::axpy(executor, alpha, x.column(j), y.column(j));
    }
  }
}

template <Scalar T>
void Identity<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  checks::enumerator("solver.identity", op);
  checks::shape("solver.identity", "x", x, n_, y.columns());
  checks::shape("solver.identity", "y", y, n_, x.columns());
  blend(alpha, x, beta, y);
}

template <Scalar T> Preconditioner<T>::Preconditioner(const char* operation, const MatrixView<const T>& a)
    : operation_(operation), executor_(a.executor()), n_(a.rows()) {
  checks::input(operation, "A", a.executor(), a);
  checks::square(operation, "A", a);
}
template <Scalar T> void Preconditioner<T>::check(Op op, const MatrixView<const T>& x, const MatrixView<T>& y) const {
  checks::enumerator(operation_, op);
  require(outcome_.ok(), "{}: the preconditioner is {} at index {}; look at outcome() before using it", operation_,
          name(outcome_.status), outcome_.index);
  checks::input(operation_, "x", executor_, x);
  checks::output(operation_, "y", executor_, y);
  checks::shape(operation_, "x", x, n_, y.columns());
  checks::shape(operation_, "y", y, n_, x.columns());
}

// n x k of a work space that grows.
template <class T>
MatrixView<T> room(std::optional<Matrix<T>>& work, const Executor& executor, std::int64_t n, std::int64_t k) {
  if (!work || work->rows() < k) work.emplace(executor, k, n);
  return work->view().transposed().block(0, 0, n, k);
}

template <Scalar T> Jacobi<T>::Jacobi(const ConstMatrix<T>& a)
    : Preconditioner<T>("solver.jacobi", a), inverse_(a.executor(), {a.rows()}) {
  Small<T> diagonal(a.rows(), 1);
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    iterative::assign<T>(a.block(i, i, 1, 1), diagonal.view().block(i, 0, 1, 1));
    const T d = diagonal(i, 0);
    if (!host::is_finite(d) && this->outcome_.ok()) this->outcome_ = {Status::NotFinite, i * a.columns() + i};
    if (d == T(0) && this->outcome_.ok()) this->outcome_ = {Status::Singular, i};
    diagonal(i, 0) = T(1) / d;
  }
  iterative::assign<T>(diagonal.view(), MatrixView<T>(a.executor(), inverse_.data(), a.rows(), 1, 1, 1));
}
template <Scalar T>
void Jacobi<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  this->check(op, x, y);
  const MatrixView<T> w = room(work_, this->executor_, this->n_, x.columns());
  const VectorView<T> d(inverse_.view());
  if constexpr (ComplexScalar<T>) {
    if (op == Op::C) {  // only the host gets here: blas.dgmm is its own
      for (std::int64_t i = 0; i < this->n_; ++i) {
        for (std::int64_t j = 0; j < x.columns(); ++j) {
          host::element(w, i, j) = std::conj(d.data()[i]) * host::element(x, i, j);
        }
      }
      return blend<T>(alpha, w, beta, y);
    }
  }
  blas::dgmm(this->executor_, Side::Left, x, VectorView<const T>(d), w);
  blend<T>(alpha, w, beta, y);
}

template <Scalar T> BlockJacobi<T>::BlockJacobi(const ConstMatrix<T>& a, std::int64_t block_size)
    : Preconditioner<T>("solver.block_jacobi", a),
      block_size_(block_size),
      inverses_(a.executor(),
                (require(block_size >= 1, "solver.block_jacobi: the block size is {}; it must be >= 1", block_size),
                 a.rows()),
                std::min(block_size, std::max<std::int64_t>(a.rows(), 1))) {
  for (std::int64_t i = 0; i < a.rows(); i += block_size) {
    const std::int64_t n = std::min(block_size, a.rows() - i);
    const Small<T> block = iterative::on_host<T>(a.block(i, i, n, n));
    const Lu<T> lu(Executor::host(), block.view());
    const Outcome outcome = lu.report().outcome;
    if (!outcome.ok() && this->outcome_.ok()) {
      const std::int64_t row = outcome.status == Status::NotFinite ? outcome.index / n : outcome.index;
      const std::int64_t place = (i + row) * a.columns() + i + outcome.index % n;
      this->outcome_ = {outcome.status, outcome.status == Status::NotFinite ? place : i + row};
    }
    const Matrix<T> inverse = lu.inverse();
    iterative::assign<T>(inverse.view(), inverses_.view().block(i, 0, n, n));
  }
}
template <Scalar T>
void BlockJacobi<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  this->check(op, x, y);
  for (std::int64_t i = 0; i < this->n_; i += block_size_) {
    const std::int64_t n = std::min(block_size_, this->n_ - i), k = x.columns();
    blas::gemm(this->executor_, op, Op::N, alpha, inverses_.view().block(i, 0, n, n), x.block(i, 0, n, k), beta,
               y.block(i, 0, n, k));
  }
}

template <Scalar T> Ssor<T>::Ssor(const ConstMatrix<T>& a, double omega)
    : Preconditioner<T>("solver.ssor", a),
      lower_(a.executor(), a.rows(), a.rows()),
      upper_(a.executor(), a.rows(), a.rows()) {
  require(omega > 0 && omega < 2, "solver.ssor: omega is {}; it must lie between 0 and 2", omega);
  Small<T> low = iterative::on_host<T>(a), up = low;
  this->outcome_ = host::finite(low.view());
  const auto w = static_cast<Real<T>>(omega), factor = static_cast<Real<T>>(omega / (2 - omega));
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    const T d = low(i, i);
    if (d == T(0) && this->outcome_.ok()) this->outcome_ = {Status::Singular, i};
    low(i, i) = d / w;
    for (std::int64_t j = i; j < a.rows(); ++j) up(i, j) = factor * (i == j ? T(1) / w : up(i, j) / d);
  }
  iterative::assign(low, lower_.view());
  iterative::assign(up, upper_.view());
}
template <Scalar T>
void Ssor<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  this->check(op, x, y);
  const MatrixView<T> z = room(work_, this->executor_, this->n_, x.columns());
  iterative::assign<T>(x, z);
  const auto solve = [&](Uplo uplo) {
    const Matrix<T>& factor = uplo == Uplo::Lower ? lower_ : upper_;
    blas::trsm(this->executor_, Side::Left, uplo, op, Diag::NonUnit, T(1), factor.view(), z);
  };
  solve(op == Op::N ? Uplo::Lower : Uplo::Upper);
  solve(op == Op::N ? Uplo::Upper : Uplo::Lower);
  blend<T>(alpha, z, beta, y);
}

#define TRN_OPERATORS(T)            \
  template class DenseOperator<T>;  \
  template class Identity<T>;       \
  template class Preconditioner<T>; \
  template class Jacobi<T>;         \
  template class BlockJacobi<T>;    \
  template class Ssor<T>;
TRN_SOLVER_SCALARS(TRN_OPERATORS)
#undef TRN_OPERATORS

}  // namespace trn::solver
