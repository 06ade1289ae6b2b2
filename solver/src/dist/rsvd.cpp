// rsvd on a distributed matrix (Halko, Martinsson and Tropp 2011): Y = A Omega, Q from its QR factorisation, sharpened
// by products with A^H and A; A^H Q = P R with P orthonormal; R^H = X diag(s) W^H by one-sided Jacobi rotations on
// every rank; U = Q X, V = P W. Where ranks have devices the products and factorisations are theirs.
#include <trn/solver/dist_randomized.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include <trn/blas/dist_gemm.hpp>
#include <trn/comm/reductions.hpp>
#include <trn/rand/dist_fill.hpp>
#include <trn/solver/dist_qr.hpp>

#include "bounds.hpp"
#include "dist/arguments.hpp"
#include "dist/memory.hpp"
#include "dist/products.hpp"
#include "dist/tridiagonal.hpp"

namespace trn::solver {

namespace {

constexpr const char* kName = "solver.rsvd";
constexpr std::int64_t kPanel = 32;  // columns of a QR panel

// Whole rows on every rank.
dist::BlockCyclic by_rows(std::int64_t rows, std::int64_t columns, int ranks) {
  return {rows,
          columns,
          std::max<std::int64_t>(1, (rows + ranks - 1) / ranks),
          std::max<std::int64_t>(1, std::min(columns, kPanel)),
          {ranks, 1}};
}

template <class T> void draw(rand::Generator& generator, const dist::Matrix<T>& sketch) {
  if (!std::same_as<T, float> && sketch.executor().family() != Family::Host) {  // no device has these draws
    const dist::Matrix<T> here(sketch.group(), Executor::host(), sketch.distribution());
    draw(generator, here);
    return bring(here, sketch);
  }
  if constexpr (blas::ComplexScalar<T>) {
    const dist::Matrix<Real<T>> re(sketch.group(), sketch.executor(), sketch.distribution()),
        im(sketch.group(), sketch.executor(), sketch.distribution());
    rand::normal(generator, re);
    rand::normal(generator, im);
    const MatrixView<T> to = sketch.local();
    for (std::int64_t i = 0; i < to.rows() * to.columns(); ++i)
      to.data()[i] = T(re.local().data()[i], im.local().data()[i]);
  } else {
    rand::normal(generator, sketch);
  }
}

// Y becomes R and the reflections, the result Q with as many columns. What was not finite is said.
template <class T> dist::Matrix<T> orthonormal(const dist::Matrix<T>& y, Outcome& outcome) {
  const DistReflections<T> made = geqrf<T>(y);
  if (!made.report.outcome.ok()) outcome = made.report.outcome;
  dist::Matrix<T> q(y.group(), y.executor(), y.distribution());
  q.fill([](std::int64_t i, std::int64_t j) { return T(i == j ? 1 : 0); });
  if (outcome.ok()) ormqr<T>(Op::N, y, made.tau, q);
  return q;
}

// The triangle that geqrf left, transposed and conjugated, on every rank: order x order, column-major.
template <class T> auto triangle_of(const dist::Matrix<T>& factor) {
  using Wide = std::conditional_t<blas::ComplexScalar<T>, std::complex<double>, double>;
  const std::int64_t n = factor.columns();
  const dist::BlockCyclic& d = factor.distribution();
  const dist::Matrix<T> top(factor.group(), factor.executor(), {n, n, d.row_block, d.column_block, d.grid});
  const MatrixView<T> mine = top.local();
  comm::together(factor.group(), [&] {
    copies::move(MatrixView<const T>(factor.local().block(0, 0, mine.rows(), mine.columns())), mine);
  });
  const std::vector<T> r = top.to_host();  // row-major: R^H by columns, but for the conjugate
  std::vector<Wide> result(r.size(), Wide(0));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = i; j < n; ++j)
      result[static_cast<std::size_t>(i * n + j)] = dist_host::conjugated(Wide(r[static_cast<std::size_t>(i * n + j)]));
  }
  return result;
}

// G = X diag(s) W^H of order n, column-major, s descending: columns of G are turned in pairs until all are orthogonal
// (Hestenes 1958). G becomes X. False: they are not after 60 rounds. By a power of two G is brought near 1, so that
// squares neither overflow nor vanish.
template <class T> bool jacobi_svd(std::int64_t n, std::vector<T>& g, std::vector<double>& s, std::vector<T>& w) {
  double greatest = 0;
  for (const T& x : g) greatest = std::max({greatest, std::abs(std::real(x)), std::abs(std::imag(x))});
  const int exponent = greatest > 0 ? std::ilogb(greatest) : 0;
  for (T& x : g) {
    if constexpr (blas::ComplexScalar<T>)
      x = T(std::ldexp(x.real(), -exponent), std::ldexp(x.imag(), -exponent));
    else
      x = std::ldexp(x, -exponent);
  }
  w.assign(g.size(), T(0));
  for (std::int64_t j = 0; j < n; ++j) w[static_cast<std::size_t>(j * n + j)] = T(1);
  const auto turn = [n](std::vector<T>& x, std::int64_t p, std::int64_t q, T phase, double c, double t) {
    for (std::int64_t i = 0; i < n; ++i) {
      T &a = x[static_cast<std::size_t>(p * n + i)], &b = x[static_cast<std::size_t>(q * n + i)];
      const T first = a, second = dist_host::product(b, phase);
      a = c * first - t * second;
      b = t * first + c * second;
    }
  };
  const auto column = [n](const std::vector<T>& x, std::int64_t j) { return x.data() + j * n; };
  const auto norm2 = [&](std::int64_t j) { return std::real(dist_host::dot(column(g, j), column(g, j), n)); };
  const double limit = static_cast<double>(n) * std::numeric_limits<double>::epsilon();  // what a dot product loses
  // Roundings of roundings, which a matrix of less rank leaves, are no columns: they count as zero.
  double most = 0;
  for (std::int64_t j = 0; j < n; ++j) most = std::max(most, norm2(j));
  const double nothing = 1e-60 * most;
  bool turned = true;
  for (int round = 0; turned; ++round) {
    if (round == 60) return false;
    turned = false;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        const double a = norm2(p), b = norm2(q);
        const T between = dist_host::dot(column(g, p), column(g, q), n);
        const double size = std::abs(between);
        if (!(size > limit * std::sqrt(a) * std::sqrt(b)) || std::min(a, b) <= nothing) continue;
        turned = true;
        const double zeta = (b - a) / (2 * size),
                     tangent = std::copysign(1 / (std::abs(zeta) + std::sqrt(1 + zeta * zeta)), zeta),
                     cosine = 1 / std::sqrt(1 + tangent * tangent);
        const T phase = dist_host::conjugated(between) * (1 / size);
        turn(g, p, q, phase, cosine, cosine * tangent);
        turn(w, p, q, phase, cosine, cosine * tangent);
      }
    }
  }
  std::vector<double> norms;
  for (std::int64_t j = 0; j < n; ++j) norms.push_back(norm2(j) > nothing ? std::sqrt(norm2(j)) : 0);
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  const auto norm = [&](std::int64_t j) { return norms[static_cast<std::size_t>(j)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t x, std::int64_t y) { return norm(x) > norm(y); });
  const std::vector<T> unsorted = g, turns = w;
  s.clear();
  for (std::int64_t j = 0; j < n; ++j) {
    const std::int64_t from = order[static_cast<std::size_t>(j)];
    s.push_back(std::ldexp(norm(from), exponent));
    T* x = g.data() + j * n;
    for (std::int64_t i = 0; i < n; ++i) {
      x[i] = norm(from) > 0 ? column(unsorted, from)[i] * (1 / norm(from)) : T(0);
      w[static_cast<std::size_t>(j * n + i)] = column(turns, from)[i];
    }
    // Of a zero singular value any unit vector that is orthogonal to the others.
    for (std::int64_t unit = 0; norm(from) == 0 && unit < n; ++unit) {
      std::fill_n(x, n, T(0));
      x[unit] = T(1);
      for (int pass = 0; pass < 2; ++pass) {
        for (std::int64_t other = 0; other < j; ++other) {
          const T along = dist_host::dot(column(g, other), static_cast<const T*>(x), n);
          for (std::int64_t i = 0; i < n; ++i) x[i] -= dist_host::product(along, column(g, other)[i]);
        }
      }
      const double left = std::sqrt(std::real(dist_host::dot(static_cast<const T*>(x), static_cast<const T*>(x), n)));
      if (left < 0.5 / std::sqrt(static_cast<double>(n))) continue;
      for (std::int64_t i = 0; i < n; ++i) x[i] = x[i] * (1 / left);
      break;
    }
  }
  return true;
}

// The first element that is not finite, and the Frobenius norm: of all ranks, with the same bits on any. The hosts'.
template <class T> std::pair<std::int64_t, double> survey(const dist::Matrix<T>& a) {
  if (a.executor().family() != Family::Host) return survey(in_memory_of(Executor::host(), a));
  const MatrixView<T> x = a.local();
  const dist::BlockCyclic& d = a.distribution();
  const int rank = a.group().rank();
  std::int64_t first = a.rows() * a.columns();
  ExactSum sum;
  for (std::int64_t j = 0; j < x.columns(); ++j) {
    for (std::int64_t i = 0; i < x.rows(); ++i) {
      const T& value = x.data()[j * x.column_stride() + i];
      const auto re = static_cast<double>(std::real(value)), im = static_cast<double>(std::imag(value));
      if (std::isfinite(re) && std::isfinite(im)) {
        sum.add_product(re, re);
        if (im != 0) sum.add_product(im, im);
      } else {
        first = std::min(first, d.row().to_global(i, d.grid.row_of(rank)) * a.columns() +
                                    d.column().to_global(j, d.grid.column_of(rank)));
      }
    }
  }
  const ExactSum::Scaled all = comm::sum(a.group(), sum).scaled();
  return {comm::minimum(a.group(), first), static_cast<double>(std::ldexp(std::sqrt(all.mantissa), all.exponent / 2))};
}

}  // namespace

template <Scalar T> DistLowRankSvd<T> rsvd(const dist::Matrix<T>& a, std::int64_t k, const SketchOptions& o) {
  using Wide = std::conditional_t<blas::ComplexScalar<T>, std::complex<double>, double>;
  dist_checks::same(
      kName, {k, o.oversampling, o.power_iterations, std::bit_cast<std::int64_t>(o.seed), o.measure_error ? 1 : 0}, a);
  const std::int64_t m = a.rows(), n = a.columns();
  require(k >= 1 && k <= std::min(m, n), "{}: rank {} of a {} x {} matrix; 1 <= k <= min(m, n)", kName, k, m, n);
  require(o.oversampling >= 0 && o.power_iterations >= 0,
          "{}: {} more columns and {} power iterations; both must be at least 0", kName, o.oversampling,
          o.power_iterations);
  const std::int64_t width = k + std::min(std::min(m, n) - k, o.oversampling);
  const comm::Communicator& group = a.group();
  const int ranks = group.size();
  const auto tall = [&](std::int64_t rows, std::int64_t columns) {
    return dist::Matrix<T>(group, a.executor(), by_rows(rows, columns, ranks));
  };
  DistLowRankSvd<T> result{tall(m, k), {}, tall(n, k), {}};
  LowRankReport& report = result.report;
  const bool on_host = a.executor().family() == Family::Host;
  const blas::ProductOptions options{Products<T>(a.executor(), 1).mode()};
  report.algorithm = on_host ? "randomised svd" : "randomised svd, norms and the small problem on the hosts";
  report.accuracy.mode = options.precision.mode();
  const auto [bad, norm] = survey(a);
  Outcome outcome;
  if (bad < m * n) outcome = {Status::NotFinite, bad};
  std::vector<Wide> x, w;
  std::vector<double> s;
  if (outcome.ok()) {
    dist::Matrix<T> sketch = tall(n, width), y = tall(m, width), z = tall(n, width);
    rand::Generator generator({.seed = o.seed});
    draw(generator, sketch);
    const auto range = [&](const dist::Matrix<T>& from) {
      blas::gemm<T>(Op::N, Op::N, T(1), a, from, T(0), y, options);
      report.products += width;
      return orthonormal(y, outcome);
    };
    const auto back = [&](const dist::Matrix<T>& from) {
      blas::gemm<T>(Op::C, Op::N, T(1), a, from, T(0), z, options);
      report.products += width;
      return orthonormal(z, outcome);
    };
    dist::Matrix<T> q = range(sketch);
    for (int i = 0; i < o.power_iterations; ++i) q = range(back(q));
    const dist::Matrix<T> p = back(q);
    if (outcome.ok()) {
      x = triangle_of(z);
      if (!jacobi_svd(width, x, s, w)) outcome = {Status::NotConverged, 0};
    }
    if (outcome.ok()) {
      const auto turned = [&](const dist::Matrix<T>& basis, const std::vector<Wide>& by, const dist::Matrix<T>& to) {
        const dist::Matrix<T> small = tall(width, k);
        small.fill([&](std::int64_t i, std::int64_t j) { return T(by[static_cast<std::size_t>(j * width + i)]); });
        blas::gemm<T>(Op::N, Op::N, T(1), basis, small, T(0), to, options);
      };
      turned(q, x, result.u);
      turned(p, w, result.v);
      for (std::int64_t i = 0; i < k; ++i) result.s.push_back(static_cast<Real<T>>(s[static_cast<std::size_t>(i)]));
    }
  }
  report.outcome = outcome;
  report.accuracy.bound = report.error = std::numeric_limits<double>::infinity();
  if (!outcome.ok()) {
    const Real<T> nan = std::numeric_limits<Real<T>>::quiet_NaN();
    result.s.assign(static_cast<std::size_t>(k), nan);
    for (const dist::Matrix<T>* each : {&result.u, &result.v})
      each->fill([nan](std::int64_t, std::int64_t) { return T(nan); });
    return result;
  }
  if (!o.measure_error) return result;
  const dist::Matrix<T> residual = a.redistributed(a.distribution()),
                        here(group, Executor::host(), result.u.distribution());
  std::optional<dist::Matrix<T>> u, there;
  if (!on_host) u.emplace(in_memory_of(Executor::host(), result.u));
  const MatrixView<T> from = u ? u->local() : result.u.local(), to = here.local();
  double largest = 0;  // the sum of squares over 4^exponent
  const int exponent = result.s[0] > 0 ? std::ilogb(result.s[0]) : 0;
  for (std::int64_t j = 0; j < k; ++j) {
    const Real<T> factor = result.s[static_cast<std::size_t>(j)];
    const double near_one = std::ldexp(static_cast<double>(factor), -exponent);
    largest += near_one * near_one;
    for (std::int64_t i = 0; i < from.rows(); ++i)
      to.data()[j * to.column_stride() + i] = from.data()[j * from.column_stride() + i] * factor;
  }
  if (!on_host) there.emplace(in_memory_of(a.executor(), here));
  const dist::Matrix<T>& scaled = there ? *there : here;
  const Accuracy product = blas::gemm<T>(Op::N, Op::C, T(-1), scaled, result.v, T(1), residual, options);
  report.products += n;
  // || |U diag(s)| |V|^H ||_F is at most ||s||_2 sqrt(k).
  report.error =
      survey(residual).second + (product.bound + 3 * unit_roundoff_of<T>()) *
                                    (std::ldexp(std::sqrt(largest * static_cast<double>(k)), exponent) + norm);
  report.accuracy.bound = norm > 0 ? report.error / norm : report.error;
  return result;
}

#define TRN_DIST(T) template DistLowRankSvd<T> rsvd<T>(const dist::Matrix<T>&, std::int64_t, const SketchOptions&);
TRN_DIST(float)
TRN_DIST(double)
TRN_DIST(std::complex<float>)
TRN_DIST(std::complex<double>)
#undef TRN_DIST

}  // namespace trn::solver
