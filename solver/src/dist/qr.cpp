// geqrf on a distributed matrix: panel after panel in the layout of whole columns. With V the panel's reflections and T
// their triangular factor, H = I - V T V^H; the columns to its right become H^H C = C - V T^H (V^H C).
#include <trn/solver/dist_qr.hpp>

#include <complex>

#include <trn/blas/dist_trsm.hpp>
#include <trn/blas/ordered_gemm.hpp>
#include <trn/solver/qr.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "dist/arguments.hpp"
#include "dist/columns.hpp"
#include "dist/reflections.hpp"

namespace trn::solver {

namespace {

constexpr const char *kGeqrfName = "solver.geqrf", *kOrmqrName = "solver.ormqr", *kLeastName = "solver.least_squares";

void require_host(const char* operation, const Executor& executor) {
  if (executor.family() != Family::Host)
    fail<NotImplemented>("{}: distributed QR has no kernel for '{}'; use ranks of the host", operation,
                         executor.name());
}

// A panel's V, high x depth, unit lower: written out, with ones and zeros, so that products need no triangles.
template <class T> void write_out(const MatrixView<T>& v) {
  for (std::int64_t j = 0; j < v.columns(); ++j) {
    for (std::int64_t i = 0; i <= j && i < v.rows(); ++i)
      v.data()[i * v.row_stride() + j * v.column_stride()] = i == j ? T(1) : T(0);
  }
}

// C = C - V op(T) (V^H C).
template <class T> void apply(const MatrixView<const T>& v, const std::vector<T>& t, Op op, const MatrixView<T>& c) {
  const std::int64_t n = v.columns(), width = c.columns();
  if (width == 0) return;
  const Executor& host = c.executor();
  std::vector<T> w(static_cast<std::size_t>(n * width)), x(w.size());
  const auto view = [&](std::vector<T>& s) { return MatrixView<T>::column_major(host, s.data(), n, width); };
  blas::ordered_gemm<T>(host, Op::C, Op::N, T(1), v, c, T(0), view(w));
  blas::ordered_gemm<T>(host, op, Op::N, T(1), MatrixView<const T>::column_major(host, t.data(), n, n), view(w), T(0),
                        view(x));
  blas::ordered_gemm<T>(host, Op::N, Op::N, T(-1), v, view(x), T(1), c);
}

}  // namespace

template <Scalar T> DistReflections<T> geqrf(const dist::Matrix<T>& a, const FactorOptions& options) {
  dist_checks::same(kGeqrfName, {static_cast<std::int64_t>(options.precision.mode())}, a);
  checks::native(kGeqrfName, options.precision);
  require_host(kGeqrfName, a.executor());
  const std::int64_t m = a.rows(), n = a.columns(), order = std::min(m, n), block = a.distribution().column_block;
  DistReflections<T> result{{}, std::vector<T>(static_cast<std::size_t>(order))};
  result.report.algorithm = "qr";
  // Higham, theorem 19.4: qr.hpp's bound; a block reflection errs as its reflections do.
  result.report.accuracy.bound = 6 * static_cast<double>(order) * a_priori_bound<T>(m);
  if (order == 0) return result;
  const Columns<T> columns(a, block);
  const MatrixView<T> part = columns.local();
  const Executor& host = a.executor();
  comm::Agreement agreement(a.group());
  const trn::Array<T> buffer = room<T>(agreement, host, m * std::min(block, order));
  for (std::int64_t k = 0; k * block < order; ++k) {
    const std::int64_t at = k * block, depth = std::min(block, order - at), high = m - at, mine = columns.before(k);
    const int owner = columns.cut().owner(at);
    const bool here = a.group().rank() == owner;
    const MatrixView<T> v = MatrixView<T>::column_major(host, buffer.data(), high, depth);
    std::vector<T> t(static_cast<std::size_t>(depth * depth));
    T* tau = result.tau.data() + at;
    std::int64_t said[2] = {0, -1};
    if (here) {
      agreement.attempt([&] {
        const MatrixView<T> panel = part.block(at, mine, high, depth);
        copy(View<const T>(MatrixView<const T>(panel)), View<T>(v));
        const Report report = geqrf(host, v, VectorView<T>(host, tau, depth));
        said[0] = static_cast<std::int64_t>(report.outcome.status);
        if (const std::int64_t i = report.outcome.index; i >= 0) said[1] = (at + i / depth) * n + at + i % depth;
        copy(View<const T>(MatrixView<const T>(v)), View<T>(panel));
        write_out(v);
        t = triangular_factor<T>(v, tau);
      });
    }
    const auto values = [&](T* data, std::int64_t count) { return View<T>(Executor::host(), data, {count}); };
    comm::broadcast(a.group(), owner, View<std::int64_t>(Executor::host(), said, {2}));
    comm::broadcast(a.group(), owner, values(tau, depth));
    comm::broadcast(a.group(), owner, values(t.data(), depth * depth));
    comm::broadcast(a.group(), owner, View<T>(v.transposed()));
    if (said[0] != 0) {
      result.report.outcome = {static_cast<Status>(said[0]), said[1]};
      result.report.accuracy.bound = std::numeric_limits<double>::infinity();
      break;
    }
    const std::int64_t from = here ? mine + depth : mine;
    agreement.attempt([&] { apply<T>(v, t, Op::C, part.block(at, from, high, part.columns() - from)); });
  }
  agreement.settle();
  columns.store();
  return result;
}

namespace {

// The same on all ranks, in few integers.
template <class T> std::int64_t hash_of(const std::vector<T>& values) {
  std::uint64_t hash = values.size();
  const auto* bytes = reinterpret_cast<const unsigned char*>(values.data());
  for (std::size_t i = 0; i < values.size() * sizeof(T); ++i) hash = (hash ^ bytes[i]) * 1099511628211U;
  return static_cast<std::int64_t>(hash);
}

// op(Q) C on whole columns of C.
template <class T>
void multiply(Op op, const dist::Matrix<T>& factor, const std::vector<T>& tau, const dist::Matrix<T>& c) {
  const std::int64_t m = factor.rows(), block = factor.distribution().column_block,
                     order = static_cast<std::int64_t>(tau.size()), panels = (order + block - 1) / block;
  if (order == 0 || c.columns() == 0) return;
  const Columns<T> reflections(factor, block), columns(c, c.distribution().column_block);
  const Executor& host = c.executor();
  comm::Agreement agreement(c.group());
  const trn::Array<T> buffer = room<T>(agreement, host, m * std::min(block, order));
  for (std::int64_t s = 0; s < panels; ++s) {
    const std::int64_t k = op == Op::N ? panels - 1 - s : s;
    const std::int64_t at = k * block, depth = std::min(block, order - at), high = m - at;
    const int owner = reflections.cut().owner(at);
    const MatrixView<T> v = MatrixView<T>::column_major(host, buffer.data(), high, depth);
    if (c.group().rank() == owner) {
      const MatrixView<T> panel = reflections.local().block(at, reflections.before(k), high, depth);
      copy(View<const T>(MatrixView<const T>(panel)), View<T>(v));
      write_out(v);
    }
    comm::broadcast(c.group(), owner, View<T>(v.transposed()));
    agreement.attempt([&] {
      const std::vector<T> t = triangular_factor<T>(v, tau.data() + at);
      apply<T>(v, t, op, columns.local().block(at, 0, high, columns.local().columns()));
    });
  }
  agreement.settle();
  columns.store();
}

template <class T> void check_factor(const char* operation, const dist::Matrix<T>& factor, const std::vector<T>& tau,
                                     const dist::Matrix<T>& c) {
  require_host(operation, c.executor());
  const std::int64_t order = std::min(factor.rows(), factor.columns());
  require(static_cast<std::int64_t>(tau.size()) == order && c.rows() == factor.rows(),
          "{}: the factor is {} x {}, tau has {} elements, the other matrix {} rows; they must be {} and {}", operation,
          factor.rows(), factor.columns(), tau.size(), c.rows(), order, factor.rows());
}

}  // namespace

template <Scalar T>
Report ormqr(Op op, const dist::Matrix<T>& factor, const std::vector<T>& tau, const dist::Matrix<T>& c) {
  dist_checks::same(kOrmqrName, {static_cast<std::int64_t>(op), hash_of(tau)}, factor, c);
  checks::enumerators(kOrmqrName, op);
  check_factor(kOrmqrName, factor, tau, c);
  require(op != Op::T || !blas::ComplexScalar<T>, "{}: op is T; it must be N or C for complex types", kOrmqrName);
  multiply<T>(op == Op::N ? Op::N : Op::C, factor, tau, c);
  Report report = report_of<T>({}, factor.rows(), "qr");
  report.accuracy.bound *= 6 * static_cast<double>(tau.size());
  return report;
}

template <Scalar T>
Report least_squares(const dist::Matrix<T>& factor, const std::vector<T>& tau, const dist::Matrix<T>& b) {
  dist_checks::same(kLeastName, {hash_of(tau)}, factor, b);
  check_factor(kLeastName, factor, tau, b);
  const std::int64_t m = factor.rows(), n = factor.columns();
  require(m >= n, "{}: A is {} x {}; it must have at least as many rows as columns", kLeastName, m, n);
  Report report = report_of<T>({}, m, "qr");
  report.accuracy.bound *= 6 * static_cast<double>(n);
  // R on the blocks of the upper left corner, and the first n rows of Q^H B, as matrices of their own.
  const dist::BlockCyclic& d = factor.distribution();
  const dist::Matrix<T> r(factor.group(), factor.executor(), {n, n, d.row_block, d.column_block, d.grid});
  const MatrixView<T> mine = r.local();
  copy(View<const T>(MatrixView<const T>(factor.local().block(0, 0, mine.rows(), mine.columns()))), View<T>(mine));
  std::int64_t zero = n;
  for (std::int64_t j = 0; j < n; ++j) {
    if (d.owner(j, j) != factor.group().rank()) continue;
    if (mine.data()[d.row().to_local(j) + d.column().to_local(j) * mine.column_stride()] == T(0)) {
      zero = j;
      break;
    }
  }
  zero = comm::minimum(factor.group(), zero);
  if (zero < n) return report_of<T>({Status::Singular, zero}, m, "qr");
  multiply<T>(Op::C, factor, tau, b);
  const dist::BlockCyclic& e = b.distribution();
  const dist::Matrix<T> x(b.group(), b.executor(), {n, b.columns(), e.row_block, e.column_block, e.grid});
  const MatrixView<T> top = b.local().block(0, 0, x.local().rows(), x.local().columns());
  copy(View<const T>(MatrixView<const T>(top)), View<T>(x.local()));
  blas::trsm<T>(Side::Left, Uplo::Upper, Op::N, Diag::NonUnit, T(1), r, x);
  copy(View<const T>(MatrixView<const T>(x.local())), View<T>(top));
  return report;
}

#define TRN_DIST(T)                                                                                    \
  template DistReflections<T> geqrf<T>(const dist::Matrix<T>&, const FactorOptions&);                  \
  template Report ormqr<T>(Op, const dist::Matrix<T>&, const std::vector<T>&, const dist::Matrix<T>&); \
  template Report least_squares<T>(const dist::Matrix<T>&, const std::vector<T>&, const dist::Matrix<T>&);
TRN_DIST(float)
TRN_DIST(double)
TRN_DIST(std::complex<float>)
TRN_DIST(std::complex<double>)
#undef TRN_DIST

}  // namespace trn::solver
