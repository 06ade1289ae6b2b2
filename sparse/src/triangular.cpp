// Triangular solves with sparse matrices.
#include <trn/sparse/triangular.hpp>

#include <trn/core/enumerators.hpp>
#include <trn/core/linear_operator.hpp>
#include <trn/sparse/structure.hpp>

#include "operators.hpp"
#include "scalars.hpp"

namespace trn::sparse {

namespace detail {
template <Scalar T> struct TriangularData {
  host::Triangle<T> triangle;
  Array<T> work;
};
}  // namespace detail

std::string_view name(Status status) {
  constexpr std::string_view names[] = {"ok", "zero pivot", "not positive", "singular", "not finite"};
  return names[static_cast<int>(status)];
}

template <Scalar T>
TriangularPlan<T>::TriangularPlan(const Executor& executor, const Csr<T>& a, const TriangularOptions& o)
    : a_(a), options_(o), n_(a.rows()) {
  constexpr const char* operation = "sparse.triangular";
  operands::check_owner(operation, "A", executor, a.executor());
  host_only(operation, executor);
  check_square(operation, a.extents());
  operands::check_enumerator(operation, "Op", o.op, Op::C);
  operands::check_enumerator(operation, "Uplo", o.uplo, Uplo::Upper);
  operands::check_enumerator(operation, "Diag", o.diag, Diag::Unit);
  // op(A) is stored by rows, so that every solve runs over rows.
  const Csr<T> turned = o.op == Op::N ? a : o.op == Op::T || RealScalar<T> ? transpose(a) : adjoint(a);
  data_ = std::make_shared<const detail::TriangularData<T>>(detail::TriangularData<T>{
      host::Triangle<T>(host_ref(turned), (o.uplo == Uplo::Lower) == (o.op == Op::N), o.diag == Diag::Unit),
      host_array<T>(n_)});
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

#define TRN_TRIANGULAR(T)           \
  template class TriangularPlan<T>; \
  static_assert(LinearOperator<TriangularPlan<T>, T>);
TRN_SPARSE_SCALARS(TRN_TRIANGULAR)
#undef TRN_TRIANGULAR

}  // namespace trn::sparse
