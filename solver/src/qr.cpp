// The entry points of QR, and the class made of them.
#include <trn/solver/qr.hpp>

#include <trn/solver/triangular.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "copies.hpp"
#include "kernels/factorisations.hpp"
#include "norms.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace {

constexpr std::string_view kName = "qr";

// The bound of the header, the host's or a device's: 128 more terms there.
template <class T, class Kernel>
Report qr_report(const Executor& executor, std::int64_t m, std::int64_t k, Kernel kernel) {
  const std::int64_t more = executor.family() == Family::Host ? 0 : 128;
  Report report = reported<T>(m + more, kName, kernel);
  report.accuracy.bound *= 6 * static_cast<double>(std::max<std::int64_t>(k, 1));
  return report;
}

}  // namespace

template <Scalar T>
Report geqrf(const Executor& executor, const MatrixView<T>& a, const VectorView<T>& tau, const FactorOptions& options) {
  constexpr const char* operation = "solver.geqrf";
  checks::output(operation, "A", executor, a);
  checks::output(operation, "tau", executor, tau);
  checks::size(operation, "tau", tau, std::min(a.rows(), a.columns()));
  checks::native(operation, executor, dtype_of<T>, options.precision);
  return qr_report<T>(executor, a.rows(), tau.size(), [&](Report& report) {
    return dispatch(kGeqrf<T>, executor, {a, tau, &report});
  });
}

template <Scalar T> Report orgqr(const Executor& executor, const MatrixView<T>& a, const blas::ConstVector<T>& tau) {
  constexpr const char* operation = "solver.orgqr";
  checks::output(operation, "A", executor, a);
  checks::input(operation, "tau", executor, tau);
  require(a.columns() <= a.rows() && tau.size() <= a.columns(),
          "{}: A is {} x {} and tau has {} elements; n <= m and k <= n must hold", operation, a.rows(), a.columns(),
          tau.size());
  return qr_report<T>(executor, a.rows(), tau.size(), [&](Report& report) {
    return dispatch(kOrgqr<T>, executor, {a, tau, &report});
  });
}

template <Scalar T> Report ormqr(const Executor& executor, Side side, Op op, const ConstMatrix<T>& a,
                                 const blas::ConstVector<T>& tau, const MatrixView<T>& c) {
  constexpr const char* operation = "solver.ormqr";
  checks::enumerators(operation, side, op);
  checks::input(operation, "A", executor, a);
  checks::input(operation, "tau", executor, tau);
  checks::output(operation, "C", executor, c);
  checks::apart(operation, "A", a, "C", c);
  require(!blas::ComplexScalar<T> || op != Op::T, "{}: op is T; a complex Q is applied as it is (N) or as Q^H (C)",
          operation);
  const std::int64_t order = side == Side::Left ? c.rows() : c.columns();
  require(a.rows() == order && tau.size() <= std::min(a.rows(), a.columns()),
          "{}: A is {} x {}, tau has {} elements and Q meets {} {} of C; A must have as many rows, and tau at most one "
          "element for each of A's rows and columns",
          operation, a.rows(), a.columns(), tau.size(), order, side == Side::Left ? "rows" : "columns");
  return qr_report<T>(executor, a.rows(), tau.size(), [&](Report& report) {
    return dispatch(kOrmqr<T>, executor, {side, op, a, tau, c, &report});
  });
}

template <Scalar T> Qr<T>::Qr(const Executor& executor, const ConstMatrix<T>& a, const FactorOptions& options)
    : storage_(executor, (checks::input("solver.qr", "A", executor, a), a.columns()), a.rows()),
      tau_(executor, {std::min(a.rows(), a.columns())}) {
  (void)kernel_of(kGeqrf<T>, executor);  // before anything is read
  copies::move(a, storage_.view().transposed());
  report_ = geqrf(executor, storage_.view().transposed(), VectorView<T>(tau_.view()), options);
}

template <Scalar T> VectorView<const T> Qr<T>::tau() const { return VectorView<T>(tau_.view()); }

template <Scalar T> Matrix<T> Qr<T>::q(Basis basis) const {
  operands::check_enumerator("solver.qr", "Basis", basis, Basis::Full);
  const std::int64_t m = rows(), k = tau_.size(), n = basis == Basis::Thin ? k : m;
  Matrix<T> zeros(Executor::host(), n, m);
  host::fill(zeros.view(), T(0));
  const Matrix<T> turned = zeros.to(storage_.executor());  // column-major for LAPACK
  const MatrixView<T> q = turned.view().transposed();
  copies::move(factor().block(0, 0, m, k), q.block(0, 0, m, k));
  (void)orgqr<T>(storage_.executor(), q, tau());
  Matrix<T> result(storage_.executor(), m, n);
  copies::move(MatrixView<const T>(q), result.view());
  return result;
}

template <Scalar T> Matrix<T> Qr<T>::r() const {
  const std::int64_t k = tau_.size();
  const Matrix<T> all = copies::on_host(factor().block(0, 0, k, columns()));
  Matrix<T> r(Executor::host(), k, columns());
  host::fill(r.view(), T(0));
  host::copy_part(all.view(), r.view(), host::Part::Upper);
  return r.to(storage_.executor());
}

template <Scalar T> Report Qr<T>::apply(Side side, Op op, const MatrixView<T>& c) const {
  return ormqr<T>(storage_.executor(), side, op, factor(), tau(), c);
}

template <Scalar T> Report Qr<T>::solve(const MatrixView<T>& b) const {
  constexpr const char* operation = "solver.qr.solve";
  checks::output(operation, "B", storage_.executor(), b);
  checks::rows(operation, "B", b, rows());
  require(rows() >= columns(), "{}: A is {} x {}; least squares by QR needs m >= n, lstsq() takes any shape", operation,
          rows(), columns());
  const std::int64_t n = columns();
  Report report = apply(Side::Left, Op::C, b);
  if (!report.outcome.ok()) return report;
  const auto r = factor().block(0, 0, n, n);
  const std::vector<T> diagonal = copies::diagonal(r);
  double largest = 0;
  for (const T& x : diagonal) largest = std::max<double>(largest, std::abs(x));
  const MatrixView<T> x = b.block(0, 0, n, b.columns());
  const Report solved = trtrs<T>(storage_.executor(), Uplo::Upper, Op::N, Diag::NonUnit, r, x);
  if (!solved.outcome.ok()) copies::fill_nan(x);
  for (std::int64_t j = 0; j < n && report.outcome.ok(); ++j) {
    const double limit = static_cast<double>(rows()) * unit_roundoff_of<T>() * largest;
    if (std::abs(diagonal[static_cast<std::size_t>(j)]) <= limit) report.outcome = {Status::Singular, j};
  }
  return report;
}

template <Scalar T> double Qr<T>::condition() const {
  require(rows() >= columns(), "solver.qr.condition: A is {} x {}; R must be square", rows(), columns());
  if (!report_.outcome.ok()) return std::numeric_limits<double>::infinity();
  const MatrixView<T> r = storage_.view().transposed().block(0, 0, columns(), columns());
  if (storage_.executor().family() == Family::Host) {
    return condition_from(trcon(storage_.executor(), Norm::One, Uplo::Upper, Diag::NonUnit, r));
  }
  const Matrix<T> copied = copies::on_host(r);  // an estimate takes O(n^2)
  return condition_from(trcon(Executor::host(), Norm::One, Uplo::Upper, Diag::NonUnit, copied.view()));
}

#define TRN_QR(T)                                                                                           \
  template Report geqrf(const Executor&, const MatrixView<T>&, const VectorView<T>&, const FactorOptions&); \
  template Report orgqr(const Executor&, const MatrixView<T>&, const blas::ConstVector<T>&);                \
  template Report ormqr(const Executor&, Side, Op, const ConstMatrix<T>&, const blas::ConstVector<T>&,      \
                        const MatrixView<T>&);                                                              \
  template class Qr<T>;
TRN_SOLVER_SCALARS(TRN_QR)
#undef TRN_QR

}  // namespace trn::solver
