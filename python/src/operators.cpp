#include "operators.hpp"

#include <nanobind/stl/string.h>

#include <cstring>

#include <trn/sparse/spmm.hpp>

#include "bindings.hpp"

namespace trn::python {
namespace {

// y = f(x) by a Python function of NumPy blocks; the adjoint by a second one.
template <Scalar T> class PythonOperator final : public AbstractOperator<T> {
 public:
  PythonOperator(nb::object forward, nb::object adjoint, std::int64_t rows, std::int64_t columns)
      : forward_(std::move(forward)), adjoint_(std::move(adjoint)), rows_(rows), columns_(columns) {}
  ~PythonOperator() override {
    const nb::gil_scoped_acquire locked;
    forward_.reset();
    adjoint_.reset();
  }
  PythonOperator(const PythonOperator&) = delete;
  PythonOperator& operator=(const PythonOperator&) = delete;
  [[nodiscard]] std::int64_t rows() const override { return rows_; }
  [[nodiscard]] std::int64_t columns() const override { return columns_; }
  [[nodiscard]] const Executor& executor() const override { return executor_; }

  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const override {
    const nb::gil_scoped_acquire locked;
    const nb::object& function = op == Op::N ? forward_ : adjoint_;
    if (op == Op::T && is_complex(dtype_of<T>)) fail<NotImplemented>("operator: a Python function has no transpose");
    if (!function.is_valid() || function.is_none())
      fail<NotImplemented>("operator: the method needs A^H x, and the operator has no adjoint (rmatvec, rmatmat)");
    const nb::object given = new_array(dtype_of<T>, {x.rows(), x.columns()});
    auto* const in = static_cast<T*>(data_of(given));
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      for (std::int64_t j = 0; j < x.columns(); ++j)
        in[i * x.columns() + j] = x.data()[i * x.row_stride() + j * x.column_stride()];
    }
    const nb::object made = function(given);
    const ArrayFields f = fields(made);
    require(f.rank == 2 && f.extents[0] == y.rows() && f.extents[1] == y.columns() && f.dtype == dtype_of<T>,
            "operator: the function must return an array of {} with shape ({}, {})", name(dtype_of<T>), y.rows(),
            y.columns());
    const auto* const bytes = static_cast<const char*>(f.data);
    for (std::int64_t i = 0; i < y.rows(); ++i) {
      for (std::int64_t j = 0; j < y.columns(); ++j) {
        T value;
        std::memcpy(&value, bytes + i * f.byte_strides[0] + j * f.byte_strides[1], sizeof(T));
        T& to = y.data()[i * y.row_stride() + j * y.column_stride()];
        to = beta == T(0) ? alpha * value : alpha * value + beta * to;
      }
    }
  }

 private:
  nb::object forward_, adjoint_;
  std::int64_t rows_, columns_;
  Executor executor_ = Executor::host();
};

// A dense matrix and the memory it lies in.
template <Scalar T> class DenseHeld final : public AbstractOperator<T> {
 public:
  explicit DenseHeld(Operand a) : operand_(std::move(a)), dense_(operand_.matrix<const T>()) {}
  [[nodiscard]] std::int64_t rows() const override { return dense_.rows(); }
  [[nodiscard]] std::int64_t columns() const override { return dense_.columns(); }
  [[nodiscard]] const Executor& executor() const override { return dense_.executor(); }
  void apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const override {
    dense_.apply(op, alpha, x, beta, y);
  }

 private:
  Operand operand_;
  solver::DenseOperator<T> dense_;
};

// y = op(A) x.
nb::object apply(const OperatorValue& a, nb::handle x, int op, nb::handle executor) {
  return std::visit(
      [&]<class T>(const std::shared_ptr<const AbstractOperator<T>>& held) -> nb::object {
        Call call("operator", executor, {x});
        require(call.executor() == held->executor(), "operator: it lies on '{}', x on '{}'", held->executor().name(),
                call.executor().name());
        const Operand in = call.in(x, "x", only(dtype_of<T>), 2);
        const Op which = static_cast<Op>(op);
        const std::int64_t inner = which == Op::N ? held->columns() : held->rows();
        require(in.shape[0] == inner, "operator: x has {} rows, the operator needs {}", in.shape[0], inner);
        const Operand out = call.out(dtype_of<T>, {which == Op::N ? held->rows() : held->columns(), in.shape[1]});
        call.run([&] { held->apply(which, T(1), in.matrix<const T>(), T(0), out.matrix<T>()); });
        return call.result(out);
      },
      a.held);
}

nb::object callback_operator(const std::string& letter, nb::object forward, nb::object adjoint, std::int64_t rows,
                             std::int64_t columns) {
  const DType dtype = letter == "f"   ? DType::Float32
                      : letter == "d" ? DType::Float64
                      : letter == "F" ? DType::Complex64
                                      : DType::Complex128;
  return with_scalar(dtype, [&](auto t) {
    using T = decltype(t);
    return nb::cast(OperatorValue{
        dtype, std::make_shared<const PythonOperator<T>>(std::move(forward), std::move(adjoint), rows, columns),
        "function"});
  });
}

}  // namespace

const SparseMatrix& sparse_matrix(nb::handle object, const char* what) {
  const SparseMatrix* matrix = nullptr;
  if (!nb::try_cast<const SparseMatrix*>(object, matrix, false))
    throw nb::type_error((std::string(what) + " must be a sparse matrix").c_str());
  return *matrix;
}

nb::tuple outcome_tuple(const sparse::Outcome& o) {
  return nb::make_tuple(std::string(sparse::name(o.status)), o.index, o.boosted);
}

template <Scalar T> std::shared_ptr<const AbstractOperator<T>> operator_of(Call& call, nb::handle object,
                                                                           const char* name,
                                                                           const OperatorNeeds& needs) {
  OperatorValue* value = nullptr;
  if (nb::try_cast<OperatorValue*>(object, value, false)) {
    const auto* const held = std::get_if<std::shared_ptr<const AbstractOperator<T>>>(&value->held);
    require(held != nullptr, "{}: {} is an operator of {}; the other operands are {}", call.operation(), name,
            trn::name(value->dtype), trn::name(dtype_of<T>));
    require((*held)->executor() == call.executor(), "{}: {} is an operator on '{}'; the call runs on '{}'",
            call.operation(), name, (*held)->executor().name(), call.executor().name());
    return *held;
  }
  SparseMatrix* matrix = nullptr;
  if (nb::try_cast<SparseMatrix*>(object, matrix, false)) {
    const sparse::Csr<T>& a = csr_of<T>(object, name);
    std::shared_ptr<const AbstractOperator<T>> made;
    call.run([&] {
      sparse::SparseOperator<T> sparse(call.executor(), call.on_host() ? a : a.to(call.executor()),
                                       {.columns = needs.columns, .adjoint = needs.adjoint});
      made = std::make_shared<const HeldOperator<sparse::SparseOperator<T>, T>>(std::move(sparse));
    });
    return made;
  }
  Operand a = call.in(object, name, only(dtype_of<T>), 2);
  return std::make_shared<const DenseHeld<T>>(std::move(a));
}
template std::shared_ptr<const AbstractOperator<float>> operator_of(Call&, nb::handle, const char*,
                                                                    const OperatorNeeds&);
template std::shared_ptr<const AbstractOperator<double>> operator_of(Call&, nb::handle, const char*,
                                                                     const OperatorNeeds&);
template std::shared_ptr<const AbstractOperator<std::complex<float>>> operator_of(Call&, nb::handle, const char*,
                                                                                  const OperatorNeeds&);
template std::shared_ptr<const AbstractOperator<std::complex<double>>> operator_of(Call&, nb::handle, const char*,
                                                                                   const OperatorNeeds&);

void bind_operators(nb::module_& m) {
  nb::class_<OperatorValue>(m, "Operator")
      .def_prop_ro("shape",
                   [](const OperatorValue& a) {
                     return std::visit([](const auto& held) { return nb::make_tuple(held->rows(), held->columns()); },
                                       a.held);
                   })
      .def_prop_ro("_type_name", [](const OperatorValue& a) { return std::string(name(a.dtype)); })
      .def_prop_ro(
          "executor",
          [](const OperatorValue& a) { return std::visit([](const auto& held) { return held->executor(); }, a.held); })
      .def_ro("kind", &OperatorValue::kind)
      .def_prop_ro("_outcome",
                   [](const OperatorValue& a) -> nb::object {
                     if (!a.outcome) return nb::none();
                     return outcome_tuple(*a.outcome);
                   })
      .def("_apply", &apply, nb::arg(), nb::arg(), nb::arg().none());
  m.def("callback_operator", &callback_operator, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg());
}

}  // namespace trn::python
