// Triangular solves with sparse matrices.
#include <trn/sparse/triangular.hpp>

#include <trn/core/enumerators.hpp>
#include <trn/core/linear_operator.hpp>
#include <trn/sparse/structure.hpp>

#include "operators.hpp"
#include "scalars.hpp"
#include "triangular_kernels.hpp"

namespace trn::sparse {

std::string_view name(Status status) {
  constexpr std::string_view names[] = {"ok", "zero pivot", "not positive", "singular", "not finite"};
  return names[static_cast<int>(status)];
}

template <Scalar T>
TriangularPlan<T>::TriangularPlan(const Executor& executor, const Csr<T>& a, const TriangularOptions& o)
    : a_(a), options_(o), n_(a.rows()) {
  constexpr const char* operation = "sparse.triangular";
  operands::check_owner(operation, "A", executor, a.executor());
  const bool on_device = std::same_as<T, float> && executor.family() == Family::Device;
  if (!on_device) host_only(operation, executor);
  check_square(operation, a.extents());
  operands::check_enumerator(operation, "Op", o.op, Op::C);
  operands::check_enumerator(operation, "Uplo", o.uplo, Uplo::Upper);
  operands::check_enumerator(operation, "Diag", o.diag, Diag::Unit);
  // op(A) is stored by rows, so that every solve runs over rows.
  const Csr<T> here = on_device ? a.to(Executor::host()) : a;
  const Csr<T> turned = o.op == Op::N ? here : o.op == Op::T || RealScalar<T> ? transpose(here) : adjoint(here);
  const bool lower = (o.uplo == Uplo::Lower) == (o.op == Op::N), unit = o.diag == Diag::Unit;
  detail::TriangularData<T> data{host::Triangle<T>(host_ref(turned), lower, unit), host_array<T>(on_device ? 0 : n_)};
  if constexpr (std::same_as<T, float>) {
    if (on_device) {
      auto made = dispatch(kTriangularPlan, executor,
                           TriangularPlanArgs{turned, lower, unit, o.columns, data.triangle.outcome.ok()});
      data.report = made.report, data.state = std::move(made.state);
    }
  }
  if (!on_device) {
    const auto& offsets = data.triangle.offsets;
    data.report.nnz = offsets.back() + n_;
    for (std::size_t i = 1; i < offsets.size(); ++i)
      data.report.longest_row = std::max(data.report.longest_row, offsets[i] - offsets[i - 1] + 1);
  }
  data_ = std::make_shared<const detail::TriangularData<T>>(std::move(data));
}

template <Scalar T> Outcome TriangularPlan<T>::solve(T alpha, const std::type_identity_t<MatrixView<const T>>& b,
                                                     const MatrixView<T>& x) const {
  constexpr const char* operation = "sparse.triangular.solve";
  checks::input(operation, "B", executor(), b);
  checks::output(operation, "X", executor(), x);
  checks::shape(operation, "B", b, n_, x.columns());
  checks::shape(operation, "X", x, n_, b.columns());
  const bool same = b.data() == x.data() && b.row_stride() == x.row_stride() && b.column_stride() == x.column_stride();
  if (!same) checks::apart(operation, "B", b, "X", x);
  if constexpr (std::same_as<T, float>) {
    if (executor().family() == Family::Device) {
      dispatch(kTriangularSolve, executor(), TriangularSolveArgs{data_->state.get(), alpha, b, 0, x, same});
      return outcome();
    }
  }
  for (std::int64_t i = 0; i < n_; ++i) {
    for (std::int64_t j = 0; j < x.columns(); ++j) {
      const T v = b.data()[i * b.row_stride() + j * b.column_stride()];
      x.data()[i * x.row_stride() + j * x.column_stride()] = alpha == T(1) ? v : host::times(alpha, v);
    }
  }
  const host::Columns<T> columns{x.data(), x.columns(), x.row_stride(), x.column_stride()};
  if (outcome().ok())
    data_->triangle.solve(columns);
  else
    fill_columns(n_, columns, not_a_number<T>());
  return outcome();
}

template <Scalar T>
void TriangularPlan<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  if constexpr (std::same_as<T, float>) {
    if (executor().family() == Family::Device) {
      constexpr const char* operation = "sparse.triangular.apply";
      if (op != Op::N)
        fail<NotImplemented>("{}: a plan on a device solves with op N; make another one with TriangularOptions::op",
                             operation);
      checks::input(operation, "x", executor(), x);
      checks::output(operation, "y", executor(), y);
      checks::shape(operation, "x", x, n_, y.columns());
      checks::shape(operation, "y", y, n_, x.columns());
      checks::apart(operation, "x", x, "y", y);
      dispatch(kTriangularSolve, executor(), TriangularSolveArgs{data_->state.get(), alpha, x, beta, y, false});
      return;
    }
  }
  apply_in_place("sparse.triangular.apply", executor(), n_, data_->work, alpha, x, beta, y,
                 [&](const host::Columns<T>& c) {
                   if (outcome().ok())
                     data_->triangle.solve(op, c);
                   else
                     fill_columns(n_, c, not_a_number<T>());
                 });
}

template <Scalar T> TriangularPlan<T> TriangularPlan<T>::with_values(const VectorView<const T>& values) const {
  return TriangularPlan(executor(), a_.with_values(values), options_);
}
template <Scalar T> std::int64_t TriangularPlan<T>::levels() const { return data_->triangle.levels(); }
template <Scalar T> const Outcome& TriangularPlan<T>::outcome() const { return data_->triangle.outcome; }

template <Scalar T> const TriangularReport& TriangularPlan<T>::report() const { return data_->report; }

#define TRN_TRIANGULAR(T)           \
  template class TriangularPlan<T>; \
  static_assert(LinearOperator<TriangularPlan<T>, T>);
TRN_SPARSE_SCALARS(TRN_TRIANGULAR)
#undef TRN_TRIANGULAR

}  // namespace trn::sparse
