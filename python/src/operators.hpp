// Linear operators of any kind behind one Python type: factorisations, preconditioners, multigrid cycles, dense and
// sparse matrices, and Python functions. The iterative methods of trnsci.solver take them all.
#pragma once

#include <variant>

#include <trn/solver/operators.hpp>
#include <trn/sparse/csr.hpp>
#include <trn/sparse/outcome.hpp>

#include "call.hpp"
#include "watch.hpp"

namespace trn::python {

template <Scalar T> class AbstractOperator {
 public:
  virtual ~AbstractOperator() = default;
  [[nodiscard]] virtual std::int64_t rows() const = 0;
  [[nodiscard]] virtual std::int64_t columns() const = 0;
  [[nodiscard]] virtual const Executor& executor() const = 0;
  virtual void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const = 0;
};

// An operator of a library, kept by value.
template <class A, Scalar T> class HeldOperator final : public AbstractOperator<T> {
 public:
  explicit HeldOperator(A a) : a_(std::move(a)) {}
  [[nodiscard]] std::int64_t rows() const override { return a_.rows(); }
  [[nodiscard]] std::int64_t columns() const override { return a_.columns(); }
  [[nodiscard]] const Executor& executor() const override { return a_.executor(); }
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const override {
    look_for_interrupt();
    a_.apply(op, alpha, x, beta, y);
  }

 private:
  A a_;
};

template <class... T> using Pointers = std::variant<std::shared_ptr<const AbstractOperator<T>>...>;
using OperatorPointer = Pointers<float, double, std::complex<float>, std::complex<double>>;

// trnsci's Operator.
struct OperatorValue {
  DType dtype;
  OperatorPointer held;
  std::string kind;                             // "ilu", "amg", ...
  std::optional<sparse::Outcome> outcome = {};  // of the factorisation
};

template <Scalar T, class A> [[nodiscard]] OperatorValue operator_value(A a, const char* kind) {
  std::optional<sparse::Outcome> outcome;
  if constexpr (requires { a.outcome().boosted; }) outcome = a.outcome();
  return {dtype_of<T>, std::make_shared<const HeldOperator<A, T>>(std::move(a)), kind, outcome};
}

// trnsci's Csr: a matrix on the host, of one of the four types.
using Matrices = std::variant<sparse::Csr<float>, sparse::Csr<double>, sparse::Csr<std::complex<float>>,
                              sparse::Csr<std::complex<double>>>;
struct SparseMatrix {
  Matrices held;
};
template <class M> using ValueOf = typename std::remove_cvref_t<M>::Value;

[[nodiscard]] const SparseMatrix& sparse_matrix(nb::handle object, const char* what);
// Csr<T> of an object that must have this very type.
template <Scalar T> [[nodiscard]] const sparse::Csr<T>& csr_of(nb::handle object, const char* what) {
  const auto* const csr = std::get_if<sparse::Csr<T>>(&sparse_matrix(object, what).held);
  require(csr != nullptr, "{} has another element type than the other operands; convert it", what);
  return *csr;
}

// What a Python argument stands for as an operator of element type T on the call's executor: an Operator, a sparse
// matrix, a function (y = f(x) and, where it is a pair, its adjoint too), or a dense matrix. `columns` is the width of
// the blocks it will be applied to; `adjoint` says whether op C is needed.
struct OperatorNeeds {
  std::int64_t columns = 1;
  bool adjoint = false;
};
template <Scalar T> [[nodiscard]] std::shared_ptr<const AbstractOperator<T>> operator_of(Call& call, nb::handle object,
                                                                                         const char* name,
                                                                                         const OperatorNeeds& needs);

[[nodiscard]] nb::tuple outcome_tuple(const sparse::Outcome& outcome);  // (status, index, boosted)

}  // namespace trn::python
