// Hermitian eigenproblems on devices, float: spectral divide and conquer (spectral_division.hpp), then one
// Newton-Schulz step on the vectors and Rayleigh quotients from a bf16x6 product.
//
// A is divided by a power of two first: in float32 squares of unscaled numbers underflow. The host sees diagonals,
// leaves of at most 16 x 16, and at the end V and A V, from which it takes quotients, residuals and the order: O(n^2)
// work.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "device/random_matrix.hpp"
#include "device/spectral_division.hpp"
#include "kernels/drivers.hpp"

namespace trn::solver::device {

namespace {

constexpr double kUnit = 0x1p-24;

// Rows of eigenvectors, their quotients and residuals, in double where it costs nothing.
struct Pairs {
  Matrix<float> rows;  // count x padded(n), host
  std::vector<double> values, residuals;
};

// V <- V - (V V^T - I) V / 2 for the rows of V.
Matrix<float> orthonormal_rows(const Executor& executor, const Matrix<float>& v, std::int64_t count) {
  const std::int64_t size = padded(count), columns = v.columns();
  const Matrix<float> low(executor, size, size), d(executor, size, size);
  Matrix<float> w(executor, size, columns), rows(executor, size, columns);
  blas::copy<float>(executor, VectorView<float>(executor, v.data(), size * columns), flat(rows));
  blas::copy<float>(executor, flat(rows), flat(w));
  symmetric_product(executor, Op::N, 1, rows, rows, 0, low);
  std::vector<float> diagonal = diagonal_of(low, size);
  for (float& x : diagonal) x -= 1;
  set_diagonal(low, diagonal);
  expand(executor, low, d);
  product(executor, Op::N, Op::N, -0.5, d.view(), rows.view(), 1, w.view());
  return w;
}

Pairs quotients(const Executor& executor, const Matrix<float>& a, std::int64_t n, const Matrix<float>& v,
                std::int64_t count) {
  const Matrix<float> av(executor, v.rows(), v.columns());
  blas::gemm(executor, Op::N, Op::N, 1.0F, v.view(), a.view(), 0.0F, av.view(), {Mode::Bf16x6});
  Pairs pairs{on_host(v.view()), {}, {}};
  const Matrix<float> images = on_host(av.view());
  for (std::int64_t j = 0; j < count; ++j) {
    const float *x = pairs.rows.data() + j * v.columns(), *y = images.data() + j * v.columns();
    double xx = 0, xy = 0, rest = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      xx += static_cast<double>(x[i]) * x[i];
      xy += static_cast<double>(x[i]) * y[i];
    }
    const double lambda = xy / xx;
    for (std::int64_t i = 0; i < n; ++i) {
      const double r = y[i] - lambda * x[i];
      rest += r * r;
    }
    pairs.values.push_back(lambda);
    pairs.residuals.push_back(std::sqrt(rest / xx));
  }
  return pairs;
}

// A lower bound of ||A||_2 that is seldom much smaller: six steps of the power method for 32 random vectors at once.
// The elements of A are at most 2 and one is at least 1, so that nothing overflows.
double norm_from_below(const Executor& executor, const Matrix<float>& a, std::int64_t n) {
  constexpr std::int64_t kVectors = 32;
  constexpr int kSteps = 6;
  Gaussian random(20240612);
  Matrix<float> x = on(executor, gaussian(n, kVectors, a.rows(), kVectors, random).view());
  Matrix<float> y(executor, a.rows(), kVectors);
  for (int step = 0; step < kSteps; ++step) {
    if (step > 0) std::swap(x, y);
    product(executor, Op::N, Op::N, 1, a.view(), x.view(), 0, y.view());
  }
  const Matrix<float> from = on_host(x.view()), to = on_host(y.view());
  double best = 0;
  for (std::int64_t j = 0; j < kVectors; ++j) {
    double before = 0, after = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      before += std::pow(static_cast<double>(from.data()[i * kVectors + j]), 2);
      after += std::pow(static_cast<double>(to.data()[i * kVectors + j]), 2);
    }
    if (before > 0) best = std::max(best, std::sqrt(after / before));
  }
  return best;
}

void write_nan(const EighArgs<float>& g) {
  fill_nan(MatrixView<float>(g.w.executor(), g.w.data(), g.w.size(), 1, g.w.stride(), 1));
  if (g.options.vectors == Vectors::Yes) fill_nan(g.a);
}

}  // namespace

template <> Outcome eigh(const Executor& executor, const EighArgs<float>& g) {
  const std::int64_t n = g.a.rows();
  const Range& range = g.options.range;
  *g.found = 0;
  if (g.report) g.report->algorithm = "spectral divide and conquer";
  const Outcome looked = finite(executor, g.a, host::part_of(g.options.uplo));
  const bool empty = n == 0 || (range.kind == Range::Kind::Indices && range.first == range.last) ||
                     (range.kind == Range::Kind::Values && !(range.lo < range.hi));
  if (!looked.ok() || empty) {
    write_nan(g);
    return looked;
  }

  // The lower triangle, scaled, written out.
  const std::int64_t size = padded(n);
  const Matrix<float> low = zeros(executor, size, size), a(executor, size, size);
  const bool lower = g.options.uplo == Uplo::Lower;
  copy_triangle(executor, lower ? g.a : g.a.transposed(), Uplo::Lower, low.view().block(0, 0, n, n), false);
  const int exponent = scale_to_one(executor, low);
  expand(executor, low, a);

  Wanted wanted{0, n, -INFINITY, INFINITY};
  if (range.kind == Range::Kind::Indices) wanted.first = range.first, wanted.last = range.last;
  if (range.kind == Range::Kind::Values) {
    wanted.lo = std::ldexp(range.lo, -exponent), wanted.hi = std::ldexp(range.hi, -exponent);
  }
  const Division division = divide(executor, a, n, wanted);
  if (g.report) g.report->iterations = division.steps, g.report->levels = division.depth;
  if (!division.converged) {
    write_nan(g);
    return {Status::NotConverged, division.begin};
  }
  Pairs pairs{Matrix<float>(Executor::host(), 0, 0), {}, {}};
  if (division.count > 0) {
    const Matrix<float> v = orthonormal_rows(executor, division.vectors, division.count);
    pairs = quotients(executor, a, n, v, division.count);
  }
  std::vector<std::int64_t> order(static_cast<std::size_t>(division.count));
  std::iota(order.begin(), order.end(), 0);
  const auto value = [&](std::int64_t j) { return pairs.values[static_cast<std::size_t>(j)]; };
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) { return value(i) < value(j); });

  // What was asked for; NaN behind it.
  Matrix<float> w(Executor::host(), n, 1), columns(Executor::host(), n, n);
  host::fill(w.view(), host::not_a_number<float>());
  host::fill(columns.view(), host::not_a_number<float>());
  // A part of the spectrum does not tell ||A||_2: its eigenvalues may all be small.
  double sum = 0, norm = division.count > 0 && division.count < n ? norm_from_below(executor, a, n) : 0;
  std::int64_t found = 0, overflowed = -1;
  for (std::int64_t i = 0; i < division.count; ++i) {
    const std::int64_t j = order[static_cast<std::size_t>(i)];
    const auto x = static_cast<float>(std::ldexp(value(j), exponent));
    sum += std::pow(pairs.residuals[static_cast<std::size_t>(j)], 2);
    norm = std::max(norm, std::abs(value(j)));
    if (range.kind == Range::Kind::Indices && (division.begin + i < range.first || division.begin + i >= range.last)) {
      continue;
    }
    if (range.kind == Range::Kind::Values && !(x > range.lo && x <= range.hi)) continue;
    if (std::isinf(x) && overflowed < 0) overflowed = found;
    host::element(w.view(), found, 0) = x;
    const float* row = pairs.rows.data() + j * pairs.rows.columns();
    for (std::int64_t p = 0; p < n; ++p) host::element(columns.view(), p, found) = row[p];
    ++found;
  }
  if (overflowed >= 0) {
    write_nan(g);
    return {Status::NotFinite, overflowed};
  }
  *g.found = found;
  move(w.view(), MatrixView<float>(executor, g.w.data(), n, 1, g.w.stride(), 1));
  if (g.options.vectors == Vectors::Yes) move(columns.view(), g.a);
  // The residuals as they were computed, and what their own arithmetic and the rounding of w may hide.
  const double rounding = (2 + std::sqrt(static_cast<double>(n))) * 2 * kUnit;
  const double spacing = std::ldexp(std::numeric_limits<float>::denorm_min(), -exponent);
  if (g.report) {
    g.report->accuracy = {Mode::Tf32x3, 3, norm > 0 ? (std::sqrt(sum) + spacing) / norm + rounding : 0};
    // Vectors that are not eigenvectors are never returned as such.
  }
  const double limit =
      10 * std::sqrt(static_cast<double>(n)) * std::max<double>(static_cast<double>(n), 64) * 2 * kUnit;
  if (norm > 0 && !(std::sqrt(sum) <= limit * norm)) {
    write_nan(g);
    *g.found = 0;
    return {Status::NotConverged, 0};
  }
  return {};
}

}  // namespace trn::solver::device
