// Singular values on devices, float: A = U H by the polar iteration, H = V S V^T by spectral divide and conquer, and so
// A = (U V) S V^T. One Newton-Schulz step on both sets of vectors, and s_i = u_i^T A v_i from a bf16x6 product.
//
// A matrix with more columns than rows is transposed. Where singular values are zero to working precision U lacks
// columns; they are completed by orthonormal vectors, which any decomposition may choose there.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "device/orthonormal_columns.hpp"
#include "device/polar_iteration.hpp"
#include "device/random_matrix.hpp"
#include "device/spectral_division.hpp"
#include "kernels/drivers.hpp"

namespace trn::solver::device {

namespace {

constexpr double kUnit = 0x1p-24;

// Columns of Y that are orthonormal and orthogonal to the first columns of U; false when there is no room.
bool complement(const Executor& executor, const Matrix<float>& u, std::int64_t m, const Matrix<float>& y,
                std::int64_t count, Gaussian& random) {
  move(gaussian(m, count, y.rows(), y.columns(), random).view(), y.view());
  const Matrix<float> inner(executor, u.columns(), y.columns());
  for (int pass = 0; pass < 2; ++pass) {
    product(executor, Op::T, Op::N, 1, u.view(), y.view(), 0, inner.view());
    product(executor, Op::N, Op::N, -1, u.view(), inner.view(), 1, y.view());
    if (!orthonormalise(executor, y, count)) return false;
  }
  return true;
}

// U, whose columns are orthonormal or missing in `null` directions of its domain, gets them.
bool complete(const Executor& executor, const Matrix<float>& u, std::int64_t m, std::int64_t n, std::int64_t null,
              Gaussian& random) {
  const std::int64_t size = u.columns(), columns = padded(null);
  // I - U^T U projects onto what is missing.
  const Matrix<float> low(executor, size, size), p(executor, size, size), y(executor, size, columns),
      z(executor, size, columns), left(executor, u.rows(), columns);
  symmetric_product(executor, Op::T, -1, u, u, 0, low);
  std::vector<float> d = diagonal_of(low, n);
  for (float& x : d) x += 1;
  set_diagonal(low, d);
  expand(executor, low, p);
  move(gaussian(n, null, size, columns, random).view(), y.view());
  product(executor, Op::N, Op::N, 1, p.view(), y.view(), 0, z.view());
  if (!orthonormalise(executor, z, null)) return false;
  product(executor, Op::N, Op::N, 1, p.view(), z.view(), 0, y.view());
  if (!orthonormalise(executor, y, null)) return false;
  // Tiny singular values may be on their way up there, at up to 0.7: U <- U - (U Y) Y^T. Else what is completed would
  // not be orthogonal to them.
  product(executor, Op::N, Op::N, 1, u.view(), y.view(), 0, left.view());
  product(executor, Op::N, Op::T, -1, left.view(), y.view(), 1, u.view());
  if (!complement(executor, u, m, left, null, random)) return false;
  product(executor, Op::N, Op::T, 1, left.view(), y.view(), 1, u.view());
  return true;
}

// V <- V - V (V^T V - I) / 2 for the columns of V, of which the first n are meant. departs: ||V^T V - I||_F before.
Matrix<float> newton_schulz(const Executor& executor, const Matrix<float>& v, std::int64_t n,
                            double* departs = nullptr) {
  const Matrix<float> low(executor, v.columns(), v.columns()), d(executor, v.columns(), v.columns());
  Matrix<float> w(executor, v.rows(), v.columns());
  blas::copy<float>(executor, flat(v), flat(w));
  symmetric_product(executor, Op::T, 1, v, v, 0, low);
  std::vector<float> diagonal = diagonal_of(low, n);
  for (float& x : diagonal) x -= 1;
  set_diagonal(low, diagonal);
  expand(executor, low, d);
  if (departs) *departs = frobenius(d);
  product(executor, Op::N, Op::N, -0.5, v.view(), d.view(), 1, w.view());
  return w;
}

// Steps until U^T U = I to working precision; false where they do not lead there.
bool orthonormal(const Executor& executor, Matrix<float>& u, std::int64_t n) {
  constexpr int kMostSteps = 12;
  constexpr double kNear = 1e-4;  // squared by the step that found it
  double departs = INFINITY;
  for (int step = 0; step < kMostSteps && departs > kNear; ++step) u = newton_schulz(executor, u, n, &departs);
  return departs <= kNear;
}

void write_nan(const SvdArgs<float>& g) {
  fill_nan(MatrixView<float>(g.s.executor(), g.s.data(), g.s.size(), 1, g.s.stride(), 1));
  if (g.u) fill_nan(*g.u), fill_nan(*g.vh);
}

// A = U S V^T, m >= n, in host memory: the columns of U and V, singular values descending.
struct Decomposed {
  bool converged = false;
  Matrix<float> u, v;
  std::vector<double> s;
  double residual = 0;  // ||A V - U S||_F
  int steps = 0, levels = 0;
};
Decomposed failed() {
  return {false, Matrix<float>(Executor::host(), 0, 0), Matrix<float>(Executor::host(), 0, 0), {}};
}

Decomposed decompose(const Executor& executor, const Matrix<float>& a, std::int64_t m, std::int64_t n,
                     std::int64_t more, Gaussian& random) {
  const std::int64_t rows = a.rows(), columns = a.columns();
  Matrix<float> u(executor, rows, columns);
  blas::copy<float>(executor, flat(a), flat(u));
  const Polar polar = polar_factor(executor, u, n);
  if (!polar.converged) return failed();
  if (polar.null > 0) {
    if (!complete(executor, u, m, n, polar.null, random) || !orthonormal(executor, u, n)) return failed();
  }
  const Matrix<float> low(executor, columns, columns), h(executor, columns, columns);
  symmetric_product(executor, Op::T, 1, u, a, 0, low);  // its lower triangle stands for H
  expand(executor, low, h);
  const Division division = divide(executor, h, n, {0, n, -INFINITY, INFINITY});
  if (!division.converged) return failed();
  Matrix<float> v = zeros(executor, columns, columns), left(executor, rows, columns), av(executor, rows, columns);
  move(division.vectors.view().transposed().block(0, 0, columns, n), v.view().block(0, 0, columns, n));
  v = newton_schulz(executor, v, n);
  product(executor, Op::N, Op::N, 1, u.view(), v.view(), 0, left.view());
  left = newton_schulz(executor, left, n);
  blas::gemm(executor, Op::N, Op::N, 1.0F, a.view(), v.view(), 0.0F, av.view(), {Mode::Bf16x6});

  const Matrix<float> hu = on_host(left.view()), hv = on_host(v.view()), hav = on_host(av.view());
  std::vector<double> s(static_cast<std::size_t>(n)), uu(s);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const double x = hu.data()[i * columns + j];
      s[static_cast<std::size_t>(j)] += x * hav.data()[i * columns + j];
      uu[static_cast<std::size_t>(j)] += x * x;
    }
  }
  Decomposed all{true, Matrix<float>(Executor::host(), m, n + more), Matrix<float>(Executor::host(), n, n), {}};
  all.steps = polar.steps + division.steps, all.levels = division.depth;
  for (std::size_t j = 0; j < s.size(); ++j) s[j] /= uu[j];
  std::vector<std::int64_t> order(s.size());
  std::iota(order.begin(), order.end(), 0);
  const auto size_of = [&](std::int64_t j) { return std::abs(s[static_cast<std::size_t>(j)]); };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) { return size_of(i) > size_of(j); });
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t j = order[static_cast<std::size_t>(k)];
    const double value = s[static_cast<std::size_t>(j)];
    const float sign = value < 0 ? -1.0F : 1.0F;
    all.s.push_back(std::abs(value));
    for (std::int64_t i = 0; i < m; ++i) {
      const float x = hu.data()[i * columns + j];
      const double r = hav.data()[i * columns + j] - value * x;
      all.residual += r * r;
      all.u.data()[i * (n + more) + k] = sign * x;
    }
    for (std::int64_t i = 0; i < n; ++i) all.v.data()[i * n + k] = hv.data()[i * columns + j];
  }
  all.residual = std::sqrt(all.residual);
  if (more > 0) {
    const Matrix<float> rest(executor, rows, padded(more));
    if (!complement(executor, left, m, rest, more, random)) return failed();
    const Matrix<float> hr = on_host(newton_schulz(executor, rest, more).view());
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t k = 0; k < more; ++k) all.u.data()[i * (n + more) + n + k] = hr.data()[i * hr.columns() + k];
    }
  }
  return all;
}

}  // namespace

template <> Outcome svd(const Executor& executor, const SvdArgs<float>& g) {
  if (g.report) g.report->algorithm = "polar, spectral divide and conquer";
  const bool wide = g.a.columns() > g.a.rows();
  const MatrixView<const float> source = wide ? g.a.transposed() : g.a;
  const std::int64_t m = source.rows(), n = source.columns();
  const Outcome looked = finite(executor, g.a);
  if (!looked.ok()) {
    write_nan(g);
    return looked;
  }
  const std::int64_t more = g.u && (g.u->columns() > n || g.vh->rows() > n) ? m - n : 0;
  if (n == 0) {  // nothing to decompose: any orthogonal matrices will do
    if (g.u && more > 0) {
      const MatrixView<float>& square = wide ? *g.vh : *g.u;
      Matrix<float> unit(Executor::host(), m, m);
      host::fill(unit.view(), 0.0F);
      for (std::int64_t i = 0; i < m; ++i) host::element(unit.view(), i, i) = 1;
      move(unit.view(), square);
    }
    return {};
  }

  // A padded and divided by a power of two.
  const Matrix<float> a = zeros(executor, padded(m), padded(n));
  move(source, a.view().block(0, 0, m, n));
  const int exponent = scale_to_one(executor, a);
  Gaussian random(20240611);
  const Decomposed d = decompose(executor, a, m, n, more, random);
  double norm = 0;
  for (const double s : d.s) norm = std::max(norm, s);
  const double limit =
      10 * std::sqrt(static_cast<double>(n)) * static_cast<double>(std::max<std::int64_t>(m, 64)) * 2 * kUnit;
  if (!d.converged || !(d.residual <= limit * norm)) {
    write_nan(g);
    return {Status::NotConverged, 0};
  }
  if (g.report) {
    const double rounding = (2 + std::sqrt(static_cast<double>(m))) * 2 * kUnit;
    const double spacing = std::ldexp(std::numeric_limits<float>::denorm_min(), -exponent);
    g.report->accuracy = {Mode::Tf32x3, 3, norm > 0 ? (d.residual + spacing) / norm + rounding : 0};
    g.report->iterations = d.steps, g.report->levels = d.levels;
  }
  Matrix<float> s(Executor::host(), n, 1);
  for (std::int64_t k = 0; k < n; ++k) {
    s.data()[k] = static_cast<float>(std::ldexp(d.s[static_cast<std::size_t>(k)], exponent));
  }
  if (std::isinf(s.data()[0])) {  // they descend
    write_nan(g);
    return {Status::NotFinite, 0};
  }
  move(s.view(), MatrixView<float>(executor, g.s.data(), n, 1, g.s.stride(), 1));
  if (g.u) {
    move(d.u.view(), wide ? g.vh->transposed() : *g.u);
    move(wide ? d.v.view() : d.v.view().transposed(), wide ? *g.u : *g.vh);
  }
  return {};
}

}  // namespace trn::solver::device
