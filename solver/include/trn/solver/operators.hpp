// Operators for the iterative methods: a dense matrix, the identity, preconditioners made from a dense matrix, and
// OperatorRef, by which the methods take any type that meets LinearOperator (trn/core/linear_operator.hpp).
//
// All run on the executor of the matrix they were made from. On devices (float and complex<float>) DenseOperator,
// Identity, BlockJacobi and Ssor run as blas products and triangular solves; Jacobi needs blas.dgmm, without a device
// kernel, and throws NotImplemented there: BlockJacobi takes its place. DenseOperator with Mode::Exact multiplies
// doubles on devices, but their vectors have no kernels: double runs on the host.
#pragma once

#include <optional>

#include <trn/core/linear_operator.hpp>
#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

// A reference to an operator of any type, so that a method is compiled once per element type. It does not own: the
// operator must outlive it. Without an operator it stands for the identity of any order.
template <Scalar T> class OperatorRef {
 public:
  OperatorRef() = default;
  template <class A>
  requires(!std::same_as<A, OperatorRef> && LinearOperator<A, T>) OperatorRef(const A& a)
      : object_(&a), rows_(a.rows()), columns_(a.columns()), executor_(a.executor()), apply_(&call<A>) {}
  [[nodiscard]] explicit operator bool() const { return object_ != nullptr; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }
  [[nodiscard]] std::int64_t columns() const { return columns_; }
  [[nodiscard]] const Executor& executor() const { return executor_; }
  // y = alpha op(A) x + beta y. Not for the identity of any order.
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
    apply_(object_, op, alpha, x, beta, y);
  }

 private:
  template <class A>
  static void call(const void* a, Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) {
    static_cast<const A*>(a)->apply(op, alpha, x, beta, y);
  }
  const void* object_ = nullptr;
  std::int64_t rows_ = 0, columns_ = 0;
  Executor executor_ = Executor::host();
  void (*apply_)(const void*, Op, T, const MatrixView<const T>&, T, const MatrixView<T>&) = nullptr;
};

// The parameter of a method: T comes from another argument.
template <class T> using AnyOperator = std::type_identity_t<OperatorRef<T>>;

// A dense matrix, not owned. Any strides.
template <Scalar T> class DenseOperator {
 public:
  explicit DenseOperator(const ConstMatrix<T>& a, Precision precision = {}) : a_(a), precision_(precision) {}
  [[nodiscard]] std::int64_t rows() const { return a_.rows(); }
  [[nodiscard]] std::int64_t columns() const { return a_.columns(); }
  [[nodiscard]] const Executor& executor() const { return a_.executor(); }
  [[nodiscard]] const MatrixView<const T>& matrix() const { return a_; }
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;

 private:
  MatrixView<const T> a_;
  Precision precision_;
};

// y = alpha x + beta y.
template <Scalar T> class Identity {
 public:
  Identity(Executor executor, std::int64_t n) : executor_(std::move(executor)), n_(n) {}
  [[nodiscard]] std::int64_t rows() const { return n_; }
  [[nodiscard]] std::int64_t columns() const { return n_; }
  [[nodiscard]] const Executor& executor() const { return executor_; }
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;

 private:
  Executor executor_;
  std::int64_t n_;
};

// What the three preconditioners share. outcome() is Singular at the first row whose pivot is zero, NotFinite at the
// first NaN or infinity among what was read; apply() then throws InvalidArgument.
template <Scalar T> class Preconditioner {
 public:
  [[nodiscard]] std::int64_t rows() const { return n_; }
  [[nodiscard]] std::int64_t columns() const { return n_; }
  [[nodiscard]] const Executor& executor() const { return executor_; }
  [[nodiscard]] const Outcome& outcome() const { return outcome_; }

 protected:
  Preconditioner(const char* operation, const MatrixView<const T>& a);
  void check(Op op, const MatrixView<const T>& x, const MatrixView<T>& y) const;
  const char* operation_;
  Executor executor_;
  std::int64_t n_;
  Outcome outcome_;
};

// diag(A)^-1. Python: jacobi_preconditioner.
template <Scalar T> class Jacobi : public Preconditioner<T> {
 public:
  explicit Jacobi(const ConstMatrix<T>& a);
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;

 private:
  Array<T> inverse_;
  mutable std::optional<Matrix<T>> work_;  // grows to the widest block seen
};

// The inverses of the diagonal blocks, each of `block_size` rows but the last. Python: block_jacobi_preconditioner.
template <Scalar T> class BlockJacobi : public Preconditioner<T> {
 public:
  explicit BlockJacobi(const ConstMatrix<T>& a, std::int64_t block_size = 16);
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;

 private:
  std::int64_t block_size_;
  Matrix<T> inverses_;  // n x block_size: block i from row i * block_size on
};

// Symmetric successive overrelaxation, 0 < omega < 2, A = L + D + U:
//   M = omega / (2 - omega) (D / omega + L) D^-1 (D / omega + U), and this is M^-1: two triangular solves.
// Hermitian A with a positive diagonal: M is positive definite. Python: ssor_preconditioner.
template <Scalar T> class Ssor : public Preconditioner<T> {
 public:
  explicit Ssor(const ConstMatrix<T>& a, double omega = 1);
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const;

 private:
  // D / omega + L, and omega / (2 - omega) D^-1 (D / omega + U), the other triangles never read.
  Matrix<T> lower_, upper_;
  mutable std::optional<Matrix<T>> work_;  // grows to the widest block seen
};

}  // namespace trn::solver
