// Least squares on devices. Svd: X = V diag(1 / s) U^T B over the singular values that count, with svd of the type. Qr:
// m >= n X = R^-1 (Q^H B) of A = Q R; m < n X = Q R^-H B of A^H = Q R, the shortest of all solutions.
#include <trn/solver/qr.hpp>
#include <trn/solver/svd.hpp>
#include <trn/solver/triangular.hpp>

#include "device/composed.hpp"
#include "kernels/drivers.hpp"

namespace trn::solver::device {

namespace {

template <class T> Matrix<T> product_of(const Executor& executor, Op op, const MatrixView<const T>& a,
                                        const MatrixView<const T>& b, std::int64_t rows) {
  Matrix<T> c(executor, rows, b.columns());
  if (rows > 0 && b.columns() > 0) {
    blas::gemm(executor, op, Op::N, T(1), a, b, T(0), c.view(), {.precision = {kModeOf<T>}});
  }
  return c;
}

template <class T> Outcome by_svd(const Executor& executor, const LstsqArgs<T>& g) {
  if constexpr (blas::ComplexScalar<T>) {
    fail<NotImplemented>(
        "solver.lstsq: executor '{}' has no singular values of complex matrices; take "
        "LeastSquaresMethod::Qr or the host",
        executor.name());
  } else {
    const std::int64_t m = g.a.rows(), n = g.a.columns(), k = std::min(m, n);
    const Matrix<T> u(executor, m, k), vh(executor, k, n);
    const Array<T> s(executor, {k});
    const Report decomposed = solver::svd<T>(executor, g.a, VectorView<T>(s.view()), u.view(), vh.view());
    if (!decomposed.outcome.ok()) return decomposed.outcome;
    g.report->singular_values = s.to_host();
    const double given = g.options.rank_tolerance,
                 tolerance = given >= 0 ? given
                                        : static_cast<double>(std::max(m, n)) *
                                              static_cast<double>(std::numeric_limits<T>::epsilon());
    const std::vector<T>& values = g.report->singular_values;
    const double least = tolerance * static_cast<double>(values[0]);
    std::int64_t rank = 0;
    while (rank<k&& static_cast<double>(values[static_cast<std::size_t>(rank)])> least) ++rank;
    g.report->rank = rank;
    const Matrix<T> y = on_host(product_of<T>(executor, Op::T, u.view(), g.b, k).view());
    for (std::int64_t i = 0; i < k; ++i) {
      for (std::int64_t j = 0; j < y.columns(); ++j) {
        T& x = host::element(y.view(), i, j);
        x = i < rank ? x / values[static_cast<std::size_t>(i)] : T(0);
      }
    }
    const Matrix<T> scaled = y.to(executor);
    move(product_of<T>(executor, Op::T, vh.view(), scaled.view(), n).view(), g.x);
    return {};
  }
}

template <class T> Outcome by_qr(const Executor& executor, const LstsqArgs<T>& g) {
  const std::int64_t m = g.a.rows(), n = g.a.columns(), k = std::min(m, n), columns = g.b.columns();
  g.report->rank = k;
  const Matrix<T> b(executor, std::max(m, n), columns);
  if (m >= n) {
    const Qr<T> qr(executor, g.a);
    move(g.b, b.view());
    const Report solved = qr.solve(b.view());
    if (solved.outcome.ok()) move(b.view().block(0, 0, n, columns), g.x);
    return solved.outcome;
  }
  Matrix<T> adjoint = on_host(g.a.transposed());  // contiguous rows of A^T
  if constexpr (blas::ComplexScalar<T>) {
    for (std::int64_t i = 0; i < m * n; ++i) adjoint.data()[i] = std::conj(adjoint.data()[i]);
  }
  const Matrix<T> given = adjoint.to(executor);
  const Qr<T> qr(executor, given.view());
  if (!qr.report().outcome.ok()) return qr.report().outcome;
  const MatrixView<const T> r = qr.factor().block(0, 0, m, m);
  const std::vector<T> pivots = diagonal(r);
  double largest = 0;
  for (const T& x : pivots) largest = std::max<double>(largest, std::abs(x));
  for (std::int64_t j = 0; j < m; ++j) {
    const double unit = static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) / 2;
    if (std::abs(pivots[static_cast<std::size_t>(j)]) <= static_cast<double>(n) * unit * largest)
      return {Status::Singular, j};
  }
  Matrix<T> start(Executor::host(), n, columns);
  host::fill(start.view(), T(0));
  move(g.b, start.view().block(0, 0, m, columns));
  const Matrix<T> x = start.to(executor);
  const MatrixView<T> top = x.view().block(0, 0, m, columns);
  Outcome outcome = solver::trtrs<T>(executor, Uplo::Upper, kAdjoint<T>, Diag::NonUnit, r, top).outcome;
  if (outcome.ok()) outcome = qr.apply(Side::Left, Op::N, x.view()).outcome;
  if (outcome.ok()) move(x.view(), g.x);
  return outcome;
}

}  // namespace

template <Scalar T> Outcome lstsq(const Executor& executor, const LstsqArgs<T>& g) {
  const std::int64_t m = g.a.rows(), n = g.a.columns();
  Outcome outcome = finite(executor, g.a);
  if (outcome.ok()) outcome = finite(executor, g.b);
  if (g.x.rows() == 0 || g.x.columns() == 0) return outcome;
  if (outcome.ok() && std::min(m, n) == 0) {  // the least-norm solution of nothing is zero
    Matrix<T> zero(Executor::host(), g.x.rows(), g.x.columns());
    host::fill(zero.view(), T(0));
    move(zero.view(), g.x);
    return outcome;
  }
  if (outcome.ok()) {
    outcome = g.options.method == LeastSquaresMethod::Svd ? by_svd(executor, g) : by_qr(executor, g);
    if (outcome.ok()) outcome = finite(executor, g.x);  // X overflowed
  }
  if (!outcome.ok()) fill_nan(g.x);
  return outcome;
}

#define TRN_LSTSQ(T) template Outcome lstsq(const Executor&, const LstsqArgs<T>&);
TRN_LSTSQ(float)
TRN_LSTSQ(double)
TRN_LSTSQ(std::complex<float>)
TRN_LSTSQ(std::complex<double>)
#undef TRN_LSTSQ

}  // namespace trn::solver::device
