// Low-rank decompositions from sketches, and their measured errors.
#include <algorithm>
#include <numeric>

#include <trn/solver/cholesky.hpp>
#include <trn/solver/randomized.hpp>
#include <trn/solver/svd.hpp>
#include <trn/solver/triangular.hpp>

#include "iterative/orthonormal.hpp"
#include "iterative/sketch.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace randomized {

using namespace iterative;

template <class T> struct Sketch {
  OperatorRef<T> a;
  std::int64_t products = 0;
  // op(A) x as a new block.
  Block<T> image(Op op, const MatrixView<const T>& x) {
    Block<T> y(a.executor(), op == Op::N ? a.rows() : a.columns(), x.columns());
    products += x.columns();
    if (x.columns() > 0) a.apply(op, T(1), x, T(0), y.view());
    return y;
  }
  Block<T> random(std::int64_t rows, std::int64_t columns, std::uint64_t seed) const {
    Block<T> x(a.executor(), rows, columns);
    assign(gaussian<T>(rows, columns, seed), x.view());
    return x;
  }
};

template <class T>
void check(const char* operation, const OperatorRef<T>& a, std::int64_t k, const SketchOptions& options, bool square) {
  require(static_cast<bool>(a), "{}: there is no operator A; give one", operation);
  require(!square || a.rows() == a.columns(), "{}: A is {} x {}; it must be square", operation, a.rows(), a.columns());
  require(k >= 0 && k <= std::min(a.rows(), a.columns()), "{}: rank {} of a {} x {} operator; 0 <= k <= min(m, n)",
          operation, k, a.rows(), a.columns());
  require(options.oversampling >= 0 && options.power_iterations >= 0,
          "{}: oversampling is {} and power_iterations {}; both must be >= 0", operation, options.oversampling,
          options.power_iterations);
}

// The small singular value decomposition B = U diag(s) V^H on the host.
template <class T> struct SmallSvd {
  Small<T> u, vh;
  std::vector<Real<T>> s;
  bool ok;
};
template <class T> SmallSvd<T> small_svd(const Small<T>& b) {
  const std::int64_t k = std::min(b.rows(), b.columns());
  SmallSvd<T> d{Small<T>(b.rows(), k), Small<T>(k, b.columns()), std::vector<Real<T>>(at(k)), false};
  d.ok = svd(Executor::host(), b.view(), VectorView<Real<T>>(Executor::host(), d.s.data(), k), d.u.view(), d.vh.view())
             .outcome.ok();
  return d;
}
template <class T> Small<T> leading(const Small<T>& a, std::int64_t rows, std::int64_t columns) {
  Small<T> part(rows, columns);
  const std::int64_t r = std::min(rows, a.rows()), c = std::min(columns, a.columns());
  host::copy_part(a.view().block(0, 0, r, c), part.view().block(0, 0, r, c));
  return part;
}
template <class T> Small<T> adjoint_of(const Small<T>& a) {
  Small<T> b(a.columns(), a.rows());
  for (std::int64_t j = 0; j < a.columns(); ++j) {
    for (std::int64_t i = 0; i < a.rows(); ++i) b(j, i) = conjugate(a(i, j));
  }
  return b;
}

inline double together(const Norms& sizes) {
  double sum = 0;
  for (const double s : sizes) sum = std::hypot(sum, s);
  return sum;
}

// A bound of ||A - L R||_F, L = left diag(scale) (m x k), R (k x n): A's columns in blocks of 128. A block's product
// errs by at most bound (||L||_F ||R||_F + ||A||_F) by gemm's statement, L's elements by u, a sum of m squares by m u.
template <class T> void measure(Sketch<T>& sketch, const MatrixView<const T>& left, const std::vector<Real<T>>& values,
                                const MatrixView<const T>& right, LowRankReport& report) {
  const Executor& executor = sketch.a.executor();
  const std::int64_t m = sketch.a.rows(), n = sketch.a.columns(), k = left.columns();
  const Block<T> scaled(executor, m, k);
  assign<T>(left, scaled.view());
  scale<T>(Scalars<T>(values.begin(), values.end()), scaled.view());
  double sum = 0, whole = 0, bound = 0;
  for (std::int64_t first = 0; first < n; first += 128) {
    const std::int64_t width = std::min<std::int64_t>(128, n - first);
    Small<T> unit(n, width);
    for (std::int64_t j = 0; j < width; ++j) unit(first + j, j) = T(1);
    const Block<T> x(executor, n, width);
    assign(unit, x.view());
    const Block<T> e = sketch.image(Op::N, x);
    whole = std::hypot(whole, together(norms<T>(e)));
    if (k > 0) {
      bound = std::max(bound, blas::gemm(executor, Op::N, Op::N, T(-1), scaled.view(), right.block(0, first, k, width),
                                         T(1), e.view())
                                  .bound);
    }
    sum = std::hypot(sum, together(norms<T>(e)));
  }
  const double u = std::numeric_limits<Real<T>>::epsilon() / 2.0;
  const double factors = together(norms<T>(scaled)) * together(norms<T>(right.transposed()));
  const double rounding = 1 + 4 * (static_cast<double>(m + n) + 8) * u;
  report.error = (sum + (bound + u) * factors + bound * whole) * rounding;
  report.accuracy.bound = whole > 0 ? report.error / whole * rounding : 0;
  report.guarantee = std::isfinite(report.error) ? Guarantee::Rigorous : Guarantee::Estimate;
}

template <class T> void finish(Sketch<T>& sketch, bool measured, const MatrixView<const T>& left,
                               const std::vector<Real<T>>& values, const MatrixView<const T>& right,
                               LowRankReport& report) {
  if (measured) {
    measure(sketch, left, values, right, report);
  } else {
    report.error = report.accuracy.bound = std::numeric_limits<double>::infinity();
  }
  report.products = sketch.products;
}

}  // namespace randomized

template <Scalar T> LowRankSvd<T> rsvd(const OperatorRef<T>& a, std::int64_t k, const SketchOptions& options) {
  using namespace randomized;
  check<T>("solver.rsvd", a, k, options, false);
  const std::int64_t m = a.rows(), n = a.columns(), l = std::min(k + options.oversampling, std::min(m, n));
  LowRankSvd<T> result{Matrix<T>(a.executor(), m, k), std::vector<Real<T>>(at(k)), Matrix<T>(a.executor(), k, n), {}};
  result.report.algorithm = "randomised svd";
  Sketch<T> sketch{a};
  Block<T> q = orthonormal<T>(sketch.image(Op::N, sketch.random(n, l, options.seed)));
  for (int i = 0; i < options.power_iterations; ++i) {
    q = orthonormal<T>(sketch.image(Op::N, orthonormal<T>(sketch.image(Op::C, q))));
  }
  // A ~ Q B, B^H = A^H Q = P R, R^H = U~ S W^H: U = Q U~, V = P W.
  const Block<T> bh = sketch.image(Op::C, q);
  const Block<T> p = orthonormal<T>(bh);
  const SmallSvd<T> d = small_svd(inner<T>(bh, p));
  if (!d.ok || !looked_at<T>(bh.view()).ok()) {
    result.report.outcome = {Status::NotFinite, -1};
    set_to(result.u.view(), host::not_a_number<T>()), set_to(result.vh.view(), host::not_a_number<T>());
    std::fill(result.s.begin(), result.s.end(), host::not_a_number<Real<T>>());
    result.report.accuracy.bound = result.report.error = std::numeric_limits<double>::infinity();
    return result;
  }
  // The sketch may have fewer columns than k where A's rank is lower: zeros fill up.
  zero(result.u.view()), zero(result.vh.view());
  for (std::int64_t i = 0; i < std::min<std::int64_t>(k, static_cast<std::int64_t>(d.s.size())); ++i) {
    result.s[at(i)] = d.s[at(i)];
  }
  const std::int64_t kept = std::min<std::int64_t>(k, static_cast<std::int64_t>(d.s.size()));
  add_product<T>(T(1), q, leading(d.u, q.columns(), kept), T(0), result.u.view().block(0, 0, m, kept));
  const Block<T> v(a.executor(), n, kept);
  add_product<T>(T(1), p, leading(adjoint_of(d.vh), p.columns(), kept), T(0), v.view());
  Small<T> on = on_host<T>(v.view());
  assign(adjoint_of(on), result.vh.view().block(0, 0, kept, n));
  finish<T>(sketch, options.measure_error, result.u.view(), result.s, result.vh.view(), result.report);
  return result;
}

namespace randomized {

// V = q s with the values in `order`, their residuals and the measured error.
template <class T> LowRankEigh<T> eigenpairs(Sketch<T>& sketch, std::int64_t k, const MatrixView<const T>& q,
                                             const Small<T>& s, const std::vector<Real<T>>& values, bool measured,
                                             std::string_view algorithm, Outcome outcome) {
  const Executor& executor = sketch.a.executor();
  const std::int64_t n = sketch.a.rows();
  LowRankEigh<T> result{Matrix<T>(executor, n, k), std::vector<Real<T>>(at(k)), {}, {}};
  result.report.algorithm = algorithm;
  result.report.outcome = outcome;
  if (!outcome.ok()) {
    set_to(result.v.view(), host::not_a_number<T>());
    std::fill(result.w.begin(), result.w.end(), host::not_a_number<Real<T>>());
    result.residuals.assign(at(k), std::numeric_limits<double>::quiet_NaN());
    result.report.accuracy.bound = result.report.error = std::numeric_limits<double>::infinity();
    return result;
  }
  std::vector<std::int64_t> order(values.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t i, std::int64_t j) { return std::abs(values[at(i)]) > std::abs(values[at(j)]); });
  const std::int64_t kept = std::min<std::int64_t>(k, static_cast<std::int64_t>(order.size()));
  Small<T> chosen(s.rows(), kept);
  for (std::int64_t j = 0; j < kept; ++j) {
    result.w[at(j)] = values[at(order[at(j)])];
    for (std::int64_t i = 0; i < s.rows(); ++i) chosen(i, j) = s(i, order[at(j)]);
  }
  zero(result.v.view());
  const MatrixView<T> v = result.v.view().block(0, 0, n, kept);
  add_product<T>(T(1), q, chosen, T(0), v);
  const Block<T> r = sketch.image(Op::N, v);
  add<T>(Scalars<T>(result.w.begin(), result.w.begin() + kept), v, r.view(), T(-1));
  result.residuals = norms<T>(r);
  result.residuals.resize(at(k), 0.0);
  // V diag(w) V^H: the right factor is V^H, as a matrix of its own.
  const Small<T> vh = adjoint_of(on_host<T>(result.v.view()));
  const Matrix<T> right(executor, k, n);
  assign(vh, right.view());
  finish<T>(sketch, measured, result.v.view(), result.w, right.view(), result.report);
  return result;
}

}  // namespace randomized

template <Scalar T>
LowRankEigh<T> eigh_randomized(const OperatorRef<T>& a, std::int64_t k, const SketchOptions& options) {
  using namespace randomized;
  check<T>("solver.eigh_randomized", a, k, options, true);
  const std::int64_t n = a.rows(), l = std::min(k + options.oversampling, n);
  Sketch<T> sketch{a};
  Block<T> q = orthonormal<T>(sketch.image(Op::N, sketch.random(n, l, options.seed)));
  for (int i = 0; i < 2 * options.power_iterations; ++i) q = orthonormal<T>(sketch.image(Op::N, q));
  Small<T> t = inner<T>(q, sketch.image(Op::N, q));
  std::vector<Real<T>> values;
  const bool good = host::finite(t.view()).ok() && small_eigh(t, values);
  return eigenpairs<T>(sketch, k, q, t, values, options.measure_error, "randomised rayleigh-ritz",
                       good ? Outcome{} : Outcome{Status::NotFinite, -1});
}

template <Scalar T> LowRankEigh<T> nystroem(const OperatorRef<T>& a, std::int64_t k, const SketchOptions& options) {
  using namespace randomized;
  constexpr std::string_view algorithm = "nystroem";
  check<T>("solver.nystroem", a, k, options, true);
  const std::int64_t n = a.rows(), l = std::min(k + options.oversampling, n);
  Sketch<T> sketch{a};
  const Block<T> omega = orthonormal<T>(sketch.random(n, l, options.seed));
  const Block<T> y = sketch.image(Op::N, omega);
  // The shift nu keeps the Cholesky factorisation of Omega^H (A + nu) Omega away from rounding; it is taken off below.
  const double unit = std::numeric_limits<Real<T>>::epsilon();
  const double nu = unit * std::sqrt(static_cast<double>(n)) * together(norms<T>(y));
  add<T>(Scalars<T>(at(omega.columns()), T(static_cast<Real<T>>(nu))), omega, y.view());
  const Small<T> core = inner<T>(omega, y);
  const auto give_up = [&](Outcome outcome) {
    return eigenpairs<T>(sketch, k, y, core, {}, options.measure_error, algorithm, outcome);
  };
  if (!host::finite(core.view()).ok()) return give_up({Status::NotFinite, -1});
  if (nu == 0) {  // A is zero, or n is
    return eigenpairs<T>(sketch, k, omega, core, std::vector<Real<T>>(at(omega.columns()), 0), options.measure_error,
                         algorithm, {});
  }
  const Cholesky<T> c(Executor::host(), Uplo::Lower, core.view());
  if (!c.report().outcome.ok()) return give_up(c.report().outcome);
  // B = Y L^-H, A + nu ~ B B^H = (P U~) S^2 (P U~)^H.
  Small<T> inverse(l, l);
  for (std::int64_t i = 0; i < omega.columns(); ++i) inverse(i, i) = T(1);
  (void)trtrs<T>(Executor::host(), Uplo::Lower, Op::C, Diag::NonUnit, c.factor(), inverse.view());
  const Block<T> b(a.executor(), n, omega.columns());
  add_product<T>(T(1), y, inverse, T(0), b.view());
  const Block<T> p = orthonormal<T>(b);
  const SmallSvd<T> d = small_svd(inner<T>(p, b));
  if (!d.ok) return give_up({Status::NotFinite, -1});
  std::vector<Real<T>> values;
  for (const Real<T> s : d.s) values.push_back(std::max(Real<T>(0), s * s - static_cast<Real<T>>(nu)));
  return eigenpairs<T>(sketch, k, p, d.u, values, options.measure_error, algorithm, {});
}

#define TRN_LOW_RANK(T)                                                                               \
  template LowRankSvd<T> rsvd(const OperatorRef<T>&, std::int64_t, const SketchOptions&);             \
  template LowRankEigh<T> eigh_randomized(const OperatorRef<T>&, std::int64_t, const SketchOptions&); \
  template LowRankEigh<T> nystroem(const OperatorRef<T>&, std::int64_t, const SketchOptions&);
TRN_SOLVER_SCALARS(TRN_LOW_RANK)
#undef TRN_LOW_RANK

}  // namespace trn::solver
