// geqrf on a distributed matrix: panel after panel in the layout of whole columns. With V the panel's reflections and T
// their triangular factor, H = I - V T V^H; the columns to its right become H^H C = C - V T^H (V^H C).
//
// On devices a panel is factored by geqrf there, V lies in their memory, and all products are the device's; T, of
// the order of a panel's width, is made on the host from V^H V.
#include <trn/solver/dist_qr.hpp>

#include <complex>
#include <optional>

#include <trn/blas/dist_trsm.hpp>
#include <trn/blas/ordered_gemm.hpp>
#include <trn/solver/qr.hpp>

#include "bounds.hpp"
#include "checks.hpp"
#include "copies.hpp"
#include "dist/arguments.hpp"
#include "dist/columns.hpp"
#include "dist/products.hpp"
#include "dist/reflections.hpp"

namespace trn::solver {

namespace {

constexpr const char *kGeqrfName = "solver.geqrf", *kOrmqrName = "solver.ormqr", *kLeastName = "solver.least_squares";

// A panel's V, high x depth, unit lower: written out, with ones and zeros, so that products need no triangles.
template <class T> void write_out(const MatrixView<T>& v) {
  const bool on_host = v.executor().family() == Family::Host;
  const std::int64_t rows = std::min(v.rows(), v.columns());
  const MatrixView<T> corner = v.block(0, 0, rows, v.columns());
  std::vector<T> copied(on_host ? 0 : static_cast<std::size_t>(rows * v.columns()));
  const MatrixView<T> top =
      on_host ? corner : MatrixView<T>::column_major(Executor::host(), copied.data(), rows, v.columns());
  if (!on_host) copy(View<const T>(MatrixView<const T>(corner)), View<T>(top));
  for (std::int64_t j = 0; j < top.columns(); ++j) {
    for (std::int64_t i = 0; i <= j && i < rows; ++i)
      top.data()[i * top.row_stride() + j * top.column_stride()] = i == j ? T(1) : T(0);
  }
  if (!on_host) copy(View<const T>(MatrixView<const T>(top)), View<T>(corner));
}

// What the ranks do with panels and with their own columns.
template <class T> class Reflector {
 public:
  Reflector(const Executor& executor, std::int64_t block)
      : executor_(executor), on_host_(executor.family() == Family::Host), products_(executor, block) {}

  // geqrf of a column-major panel; tau in host memory.
  Report factor(const MatrixView<T>& v, T* tau) {
    const VectorView<T> host_tau(Executor::host(), tau, v.columns());
    if (on_host_) return geqrf(executor_, v, host_tau);
    const trn::Array<T> scales(executor_, {v.columns()});
    const Report report = geqrf(executor_, v, VectorView<T>(scales.view()));
    copy(View<const T>(scales.view()), View<T>(host_tau));
    return report;
  }
  // T of a panel that is written out.
  [[nodiscard]] std::vector<T> triangle(const MatrixView<const T>& v, const T* tau) {
    if (on_host_) return triangular_factor<T>(v, tau);
    const std::int64_t n = v.columns();
    std::vector<T> gram(static_cast<std::size_t>(n * n));
    const trn::Array<T> made(executor_, {n * n});
    products_(Op::C, T(1), v, v, T(0), MatrixView<T>::column_major(executor_, made.data(), n, n), 0);
    copy(View<const T>(made.view()), View<T>(Executor::host(), gram.data(), {n * n}));
    return triangular_factor<T>(n, gram, tau);
  }
  // C = C - V op(T) (V^H C); C's first column is number `first` of the rank's.
  void apply(const MatrixView<const T>& v, const std::vector<T>& t, Op op, const MatrixView<T>& c, std::int64_t first) {
    const std::int64_t n = v.columns(), width = c.columns();
    if (width == 0) return;
    const trn::Array<T> w(executor_, {n * width}), x(executor_, {n * width});
    const auto view = [&](const trn::Array<T>& a) {
      return MatrixView<T>::column_major(executor_, a.data(), n, width);
    };
    const auto small = MatrixView<const T>::column_major(Executor::host(), t.data(), n, n);
    std::optional<trn::Array<T>> there;
    if (!on_host_) there.emplace(trn::Array<T>::from_host(executor_, {n * n}, t));
    const MatrixView<const T> triangle =
        there ? MatrixView<const T>::column_major(executor_, there->data(), n, n) : small;
    products_(Op::C, T(1), v, c, T(0), view(w), first);
    products_(op, T(1), triangle, view(w), T(0), view(x), first);
    products_(Op::N, T(-1), v, view(x), T(1), c, first);
  }

  // Of the factorisation or of a product with Q, of `order` reflections of m elements: qr.hpp's bound (Higham, theorem
  // 19.4; a block reflection errs as its reflections do), on devices with 128 more terms; Exact products add their own
  // errors, relative to ||V|| ||C||, ||T|| and once more ||V||: at most four times for every reflection. Collective.
  [[nodiscard]] Report report(const comm::Communicator& group, std::int64_t m, std::int64_t order) const {
    Report report = report_of<T>({}, on_host_ ? m : m + 128, "qr");
    if (!on_host_) {
      report.algorithm = device_algorithm<T>("blocked qr", "blocked qr, strips of panels on the host",
                                             "blocked qr, strips of panels on the host, exact products");
      report.accuracy.mode = products_.mode();
      if (products_.mode() == Mode::Exact) report.accuracy.bound += 4 * comm::maximum(group, products_.product_bound());
    }
    report.accuracy.bound *= 6 * static_cast<double>(order);
    return report;
  }

 private:
  Executor executor_;
  bool on_host_;
  Products<T> products_;
};

}  // namespace

template <Scalar T> DistReflections<T> geqrf(const dist::Matrix<T>& a, const FactorOptions& options) {
  dist_checks::same(kGeqrfName, {static_cast<std::int64_t>(options.precision.mode())}, a);
  checks::native(kGeqrfName, a.executor(), dtype_of<T>, options.precision);
  const std::int64_t m = a.rows(), n = a.columns(), order = std::min(m, n), block = a.distribution().column_block;
  Reflector<T> reflector(a.executor(), block);
  DistReflections<T> result{{}, std::vector<T>(static_cast<std::size_t>(order))};
  if (order == 0) {
    result.report = reflector.report(a.group(), m, order);
    return result;
  }
  const Columns<T> columns(a, block);
  const MatrixView<T> part = columns.local();
  const Executor& executor = a.executor();
  comm::Agreement agreement(a.group());
  const trn::Array<T> buffer = room<T>(agreement, executor, m * std::min(block, order));
  std::int64_t said[2] = {0, -1};
  for (std::int64_t k = 0; k * block < order; ++k) {
    const std::int64_t at = k * block, depth = std::min(block, order - at), high = m - at, mine = columns.before(k);
    const int owner = columns.cut().owner(at);
    const bool here = a.group().rank() == owner;
    const MatrixView<T> v = MatrixView<T>::column_major(executor, buffer.data(), high, depth);
    std::vector<T> t(static_cast<std::size_t>(depth * depth));
    T* tau = result.tau.data() + at;
    said[0] = 0, said[1] = -1;
    if (here) {
      agreement.attempt([&] {
        const MatrixView<T> panel = part.block(at, mine, high, depth);
        copy(View<const T>(MatrixView<const T>(panel)), View<T>(v));
        const Report report = reflector.factor(v, tau);
        said[0] = static_cast<std::int64_t>(report.outcome.status);
        if (const std::int64_t i = report.outcome.index; i >= 0) said[1] = (at + i / depth) * n + at + i % depth;
        if (!report.outcome.ok()) {  // the columns stay as they were
          std::fill_n(tau, depth, T(0));
          return;
        }
        copy(View<const T>(MatrixView<const T>(v)), View<T>(panel));
        write_out(v);
        t = reflector.triangle(v, tau);
      });
    }
    const auto values = [&](T* data, std::int64_t count) { return View<T>(Executor::host(), data, {count}); };
    comm::broadcast(a.group(), owner, View<std::int64_t>(Executor::host(), said, {2}));
    if (said[0] != 0) break;
    comm::broadcast(a.group(), owner, values(tau, depth));
    comm::broadcast(a.group(), owner, values(t.data(), depth * depth));
    comm::broadcast(a.group(), owner, View<T>(v.transposed()));
    const std::int64_t from = here ? mine + depth : mine;
    agreement.attempt([&] { reflector.apply(v, t, Op::C, part.block(at, from, high, part.columns() - from), from); });
  }
  agreement.settle();
  columns.store();
  result.report = reflector.report(a.group(), m, order);
  if (said[0] != 0) {
    result.report.outcome = {static_cast<Status>(said[0]), said[1]};
    result.report.accuracy.bound = std::numeric_limits<double>::infinity();
  }
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

// op(Q) C on whole columns of C, and what is said of it.
template <class T>
Report multiply(Op op, const dist::Matrix<T>& factor, const std::vector<T>& tau, const dist::Matrix<T>& c) {
  const std::int64_t m = factor.rows(), block = factor.distribution().column_block,
                     order = static_cast<std::int64_t>(tau.size()), panels = (order + block - 1) / block;
  const Executor& executor = c.executor();
  Reflector<T> reflector(executor, c.distribution().column_block);
  if (order == 0 || c.columns() == 0) return reflector.report(c.group(), m, order);
  const Columns<T> reflections(factor, block), columns(c, c.distribution().column_block);
  comm::Agreement agreement(c.group());
  const trn::Array<T> buffer = room<T>(agreement, executor, m * std::min(block, order));
  for (std::int64_t s = 0; s < panels; ++s) {
    const std::int64_t k = op == Op::N ? panels - 1 - s : s;
    const std::int64_t at = k * block, depth = std::min(block, order - at), high = m - at;
    const int owner = reflections.cut().owner(at);
    const MatrixView<T> v = MatrixView<T>::column_major(executor, buffer.data(), high, depth);
    if (c.group().rank() == owner) {
      agreement.attempt([&] {
        const MatrixView<T> panel = reflections.local().block(at, reflections.before(k), high, depth);
        copy(View<const T>(MatrixView<const T>(panel)), View<T>(v));
        write_out(v);
      });
    }
    comm::broadcast(c.group(), owner, View<T>(v.transposed()));
    agreement.attempt([&] {
      const std::vector<T> t = reflector.triangle(v, tau.data() + at);
      reflector.apply(v, t, op, columns.local().block(at, 0, high, columns.local().columns()), 0);
    });
  }
  agreement.settle();
  columns.store();
  return reflector.report(c.group(), m, order);
}

template <class T> void check_factor(const char* operation, const dist::Matrix<T>& factor, const std::vector<T>& tau,
                                     const dist::Matrix<T>& c) {
  const std::int64_t order = std::min(factor.rows(), factor.columns());
  require(static_cast<std::int64_t>(tau.size()) == order && c.rows() == factor.rows(),
          "{}: the factor is {} x {}, tau has {} elements, the other matrix {} rows; they must be {} and {}", operation,
          factor.rows(), factor.columns(), tau.size(), c.rows(), order, factor.rows());
  dist_checks::apart(operation, "the other matrix", c, "the factor", factor);
}

}  // namespace

template <Scalar T>
Report ormqr(Op op, const dist::Matrix<T>& factor, const std::vector<T>& tau, const dist::Matrix<T>& c) {
  dist_checks::same(kOrmqrName, {static_cast<std::int64_t>(op), hash_of(tau)}, factor, c);
  checks::enumerators(kOrmqrName, op);
  check_factor(kOrmqrName, factor, tau, c);
  require(op != Op::T || !blas::ComplexScalar<T>, "{}: op is T; it must be N or C for complex types", kOrmqrName);
  return multiply<T>(op == Op::N ? Op::N : Op::C, factor, tau, c);
}

template <Scalar T>
Report least_squares(const dist::Matrix<T>& factor, const std::vector<T>& tau, const dist::Matrix<T>& b) {
  dist_checks::same(kLeastName, {hash_of(tau)}, factor, b);
  check_factor(kLeastName, factor, tau, b);
  const std::int64_t m = factor.rows(), n = factor.columns();
  require(m >= n, "{}: A is {} x {}; it must have at least as many rows as columns", kLeastName, m, n);
  // R on the blocks of the upper left corner, and the first n rows of Q^H B, as matrices of their own.
  const dist::BlockCyclic& d = factor.distribution();
  const dist::Matrix<T> r(factor.group(), factor.executor(), {n, n, d.row_block, d.column_block, d.grid});
  const MatrixView<T> mine = r.local();
  std::int64_t zero = n;
  comm::together(factor.group(), [&] {
    copies::move(MatrixView<const T>(factor.local().block(0, 0, mine.rows(), mine.columns())), mine);
    for (std::int64_t j = 0; j < n && zero == n; ++j) {
      if (d.owner(j, j) != factor.group().rank()) continue;
      T value{};
      copies::move(MatrixView<const T>(mine.block(d.row().to_local(j), d.column().to_local(j), 1, 1)),
                   MatrixView<T>::column_major(Executor::host(), &value, 1, 1));
      if (value == T(0)) zero = j;
    }
  });
  zero = comm::minimum(factor.group(), zero);
  if (zero < n) return report_of<T>({Status::Singular, zero}, m, "qr");
  const Report report = multiply<T>(Op::C, factor, tau, b);
  const dist::BlockCyclic& e = b.distribution();
  const dist::Matrix<T> x(b.group(), b.executor(), {n, b.columns(), e.row_block, e.column_block, e.grid});
  const MatrixView<T> top = b.local().block(0, 0, x.local().rows(), x.local().columns());
  copies::move(MatrixView<const T>(top), x.local());
  const blas::ProductOptions options{Products<T>(b.executor(), 1).mode()};
  blas::trsm<T>(Side::Left, Uplo::Upper, Op::N, Diag::NonUnit, T(1), r, x, options);
  copies::move(MatrixView<const T>(x.local()), top);
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
