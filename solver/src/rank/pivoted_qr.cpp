// Pivoted QR and least squares by LAPACK; pseudoinverse, rank and bases by the singular value decomposition.
#include <trn/solver/pivoted_qr.hpp>

#include <trn/blas/gemm.hpp>
#include <trn/solver/svd.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "host/column_major.hpp"
#include "host_only.hpp"
#include "iterative/blocks.hpp"
#include "rank/lapack_pivoted.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace rank {

// f(work, lwork): a query, then the call with what it asked for.
template <class T, class F> void with_workspace(std::int64_t least, std::int64_t rows, F f) {
  T query{};
  f(&query, -1);
  const int size = host::best_workspace(least, query);
  std::vector<T> work = host::workspace<T>(size, rows);
  f(work.data(), size);
}
template <class T> double tolerance_of(double asked, std::int64_t m, std::int64_t n) {
  return asked >= 0 ? asked : static_cast<double>(std::max(m, n)) * std::numeric_limits<Real<T>>::epsilon();
}
inline void check_tolerance(const char* operation, double tolerance) {
  require(tolerance < 1, "{}: the rank tolerance is {}; it must be below 1, negative for the default", operation,
          tolerance);
}

// Singular values, and U and V^H when wanted; the report's rank.
template <class T> struct Decomposed {
  std::vector<Real<T>> s;
  host::Columns<T> u, vh;
  RankReport report;
};
template <class T> Decomposed<T> decomposed(const char* operation, const Executor& executor,
                                            const MatrixView<const T>& a, double tolerance, Basis basis) {
  checks::input(operation, "A", executor, a);
  check_tolerance(operation, tolerance);
  announce(operation, executor);
  const std::int64_t m = a.rows(), n = a.columns(), k = std::min(m, n);
  Decomposed<T> d{std::vector<Real<T>>(static_cast<std::size_t>(k)),
                  host::Columns<T>(m, basis == Basis::Full ? m : k),
                  host::Columns<T>(basis == Basis::Full ? n : k, n),
                  {}};
  SvdReport report;
  if (executor.family() == Family::Host) {
    report = svd(executor, a, VectorView<Real<T>>(executor, d.s.data(), k), d.u.view(), d.vh.view());
  } else {  // the factors there, copies here
    const Matrix<T> u(executor, m, d.u.view().columns()), vh(executor, d.vh.view().rows(), n);
    const Matrix<Real<T>> s(executor, k, 1);
    report = svd<T>(executor, a, VectorView<Real<T>>(executor, s.data(), k), u.view(), vh.view());
    iterative::assign<T>(u.view(), d.u.view());
    iterative::assign<T>(vh.view(), d.vh.view());
    d.s = s.to_host();
  }
  static_cast<Report&>(d.report) = report;
  d.report.algorithm = "svd";
  if (!report.outcome.ok()) return d;
  const double limit = tolerance_of<T>(tolerance, m, n) * (k > 0 ? static_cast<double>(d.s[0]) : 0);
  for (const Real<T> value : d.s) d.report.rank += static_cast<double>(value) > limit;
  return d;
}

// The result is too large for the type.
inline void overflowed(Report& report, const Outcome& where) {
  report.outcome = where;
  report.accuracy.bound = std::numeric_limits<double>::infinity();
}

}  // namespace rank

template <Scalar T> Report geqp3(const Executor& executor, const MatrixView<T>& a,
                                 const VectorView<std::int64_t>& pivots, const VectorView<T>& tau) {
  constexpr const char* operation = "solver.geqp3";
  const std::int64_t m = a.rows(), n = a.columns(), k = std::min(m, n);
  checks::output(operation, "A", executor, a);
  checks::output(operation, "pivots", executor, pivots);
  checks::output(operation, "tau", executor, tau);
  checks::size(operation, "pivots", pivots, n);
  checks::size(operation, "tau", tau, k);
  on_host_only(operation, executor);
  Report report = report_of<T>(host::finite(a), m, "pivoted qr");
  report.accuracy.bound *= 6 * static_cast<double>(std::max<std::int64_t>(k, 1));
  for (std::int64_t j = 0; j < n; ++j) pivots.data()[j * pivots.stride()] = j;
  if (!report.outcome.ok()) {
    host::fill(a, host::not_a_number<T>());
    host::fill(tau, host::not_a_number<T>());
    return report;
  }
  if (k == 0) return report;
  host::Inout<T> in(a);
  std::vector<int> order(static_cast<std::size_t>(n));  // zero: the column is free
  std::vector<T> factors(static_cast<std::size_t>(k));
  std::vector<Real<T>> real(static_cast<std::size_t>(2 * n));
  int info = 0;
  rank::with_workspace<T>(3 * n + 1, m, [&](T* work, int size) {
    const int rows = host::to_int(m), columns = host::to_int(n);
    if constexpr (blas::ComplexScalar<T>) {
      host::LapackPivoted<T>::geqp3(rows, columns, in.data(), in.ld(), order.data(), factors.data(), work, size,
                                    real.data(), info);
    } else {
      host::LapackPivoted<T>::geqp3(rows, columns, in.data(), in.ld(), order.data(), factors.data(), work, size, info);
    }
  });
  host::expect_legal("geqp3", info);
  in.write_back();
  for (std::int64_t j = 0; j < n; ++j) pivots.data()[j * pivots.stride()] = order[static_cast<std::size_t>(j)] - 1;
  for (std::int64_t j = 0; j < k; ++j) tau.data()[j * tau.stride()] = factors[static_cast<std::size_t>(j)];
  return report;
}

template <Scalar T> RankReport lstsq_pivoted(const Executor& executor, const ConstMatrix<T>& a, const ConstMatrix<T>& b,
                                             const MatrixView<T>& x, double rank_tolerance) {
  constexpr const char* operation = "solver.lstsq_pivoted";
  const std::int64_t m = a.rows(), n = a.columns(), k = b.columns(), longer = std::max(m, n);
  checks::input(operation, "A", executor, a);
  checks::input(operation, "B", executor, b);
  checks::output(operation, "X", executor, x);
  checks::rows(operation, "B", b, m);
  checks::shape(operation, "X", x, n, k);
  checks::apart(operation, "A", a, "X", x);
  rank::check_tolerance(operation, rank_tolerance);
  on_host_only(operation, executor);
  Outcome outcome = host::finite(a);
  if (outcome.ok()) outcome = host::finite(b);
  RankReport report;
  static_cast<Report&>(report) = report_of<T>(outcome, longer, "complete orthogonal factorisation");
  if (!outcome.ok()) {
    host::fill(x, host::not_a_number<T>());
    return report;
  }
  if (m == 0 || n == 0 || k == 0) {
    host::fill(x, T(0));
    return report;
  }
  host::Columns<T> factor(a), right(longer, k);
  host::copy_part(b, right.view().block(0, 0, m, k));
  std::vector<int> order(static_cast<std::size_t>(n));
  std::vector<Real<T>> real(static_cast<std::size_t>(2 * n));
  const auto reciprocal = static_cast<Real<T>>(rank::tolerance_of<T>(rank_tolerance, m, n));
  int info = 0, found = 0;
  rank::with_workspace<T>(std::min(m, n) + 3 * n + 1 + k, m, [&](T* work, int size) {
    const int rows = host::to_int(m), columns = host::to_int(n), sides = host::to_int(k);
    if constexpr (blas::ComplexScalar<T>) {
      host::LapackPivoted<T>::gelsy(rows, columns, sides, factor.data(), factor.ld(), right.data(), right.ld(),
                                    order.data(), reciprocal, found, work, size, real.data(), info);
    } else {
      host::LapackPivoted<T>::gelsy(rows, columns, sides, factor.data(), factor.ld(), right.data(), right.ld(),
                                    order.data(), reciprocal, found, work, size, info);
    }
  });
  host::expect_legal("gelsy", info);
  report.rank = found;
  const MatrixView<T> solution = right.view().block(0, 0, n, k);
  if (const Outcome made = host::finite(solution); !made.ok()) {
    rank::overflowed(report, made);
    host::fill(x, host::not_a_number<T>());
  } else {
    host::copy_part(solution, x);
  }
  return report;
}

template <Scalar T>
RankReport pinv(const Executor& executor, const ConstMatrix<T>& a, const MatrixView<T>& x, double rank_tolerance) {
  constexpr const char* operation = "solver.pinv";
  checks::output(operation, "X", executor, x);
  checks::shape(operation, "X", x, a.columns(), a.rows());
  checks::apart(operation, "A", a, "X", x);
  auto d = rank::decomposed<T>(operation, executor, a, rank_tolerance, Basis::Thin);
  if (!d.report.outcome.ok()) {
    iterative::set_to(x, host::not_a_number<T>());
    return d.report;
  }
  const std::int64_t r = d.report.rank;
  for (std::int64_t j = 0; j < r; ++j) {
    for (std::int64_t i = 0; i < a.rows(); ++i) d.u(i, j) /= d.s[static_cast<std::size_t>(j)];
  }
  const MatrixView<T> vh = d.vh.view().block(0, 0, r, a.columns()), u = d.u.view().block(0, 0, a.rows(), r);
  iterative::zero(x);
  if (executor.family() == Family::Host) {
    blas::gemm(executor, Op::C, Op::C, T(1), vh, u, T(0), x);
  } else if (r > 0) {
    const Matrix<T> left(executor, r, a.columns()), right(executor, a.rows(), r);
    iterative::assign<T>(vh, left.view());
    iterative::assign<T>(u, right.view());
    blas::GemmOptions options;
    if (sizeof(Real<T>) == sizeof(double)) options.precision = Mode::Exact;  // what devices have
    blas::gemm(executor, Op::C, Op::C, T(1), left.view(), right.view(), T(0), x, options);
  }
  if (const Outcome made = iterative::looked_at<T>(x); !made.ok()) {
    rank::overflowed(d.report, made);
    iterative::set_to(x, host::not_a_number<T>());
  }
  return d.report;
}

template <Scalar T>
RankReport matrix_rank(const Executor& executor, const MatrixView<const T>& a, double rank_tolerance) {
  return rank::decomposed<T>("solver.matrix_rank", executor, a, rank_tolerance, Basis::Thin).report;
}

template <Scalar T>
BasisResult<T> range_basis(const Executor& executor, const MatrixView<const T>& a, double rank_tolerance) {
  const auto d = rank::decomposed<T>("solver.range_basis", executor, a, rank_tolerance, Basis::Thin);
  Matrix<T> vectors(executor, a.rows(), d.report.rank);
  iterative::assign<T>(d.u.view().block(0, 0, a.rows(), d.report.rank), vectors.view());
  return {std::move(vectors), d.report};
}

template <Scalar T>
BasisResult<T> null_space(const Executor& executor, const MatrixView<const T>& a, double rank_tolerance) {
  const auto d = rank::decomposed<T>("solver.null_space", executor, a, rank_tolerance, Basis::Full);
  const std::int64_t n = a.columns(), count = d.report.outcome.ok() ? n - d.report.rank : 0;
  Matrix<T> vectors(executor, n, count);
  host::Columns<T> columns(n, count);
  for (std::int64_t j = 0; j < count; ++j) {
    for (std::int64_t i = 0; i < n; ++i) {
      T v = d.vh(d.report.rank + j, i);
      if constexpr (blas::ComplexScalar<T>) v = std::conj(v);
      host::element(columns.view(), i, j) = v;
    }
  }
  iterative::assign<T>(columns.view(), vectors.view());
  return {std::move(vectors), d.report};
}

#define TRN_PIVOTED(T)                                                                                                 \
  template Report geqp3(const Executor&, const MatrixView<T>&, const VectorView<std::int64_t>&, const VectorView<T>&); \
  template RankReport lstsq_pivoted(const Executor&, const ConstMatrix<T>&, const ConstMatrix<T>&,                     \
                                    const MatrixView<T>&, double);                                                     \
  template RankReport pinv(const Executor&, const ConstMatrix<T>&, const MatrixView<T>&, double);                      \
  template RankReport matrix_rank(const Executor&, const MatrixView<const T>&, double);                                \
  template BasisResult<T> range_basis(const Executor&, const MatrixView<const T>&, double);                            \
  template BasisResult<T> null_space(const Executor&, const MatrixView<const T>&, double);
TRN_SOLVER_SCALARS(TRN_PIVOTED)
#undef TRN_PIVOTED

}  // namespace trn::solver
