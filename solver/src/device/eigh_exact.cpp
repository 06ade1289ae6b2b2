// Hermitian eigenproblems on devices, double: float32 eigenvectors, refined by Ogita and Aishima's iteration with Exact
// products, clusters by the size of the correction, and a zoom into each cluster.
//
// With R = I - X^T X, S = X^T A X and l_i = s_ii / (1 - r_ii) the correction is X <- X + X E,
// E_ij = (s_ij + l_j r_ij) / (l_j - l_i), E_ii = r_ii / 2: quadratic where eigenvalues are apart. A test of gaps alone
// fails on clusters (7 of 14 spectra). Here pairs whose |E_ij| exceeds 1/64 join a cluster, together with all between
// them, and never leave it; inside, E = R / 2, which keeps X orthonormal, and nothing is decided. Neighbours of a
// cluster converge at the rate of what is not diagonal in it over their gap; where that is slow, the cluster is made
// diagonal to float32's precision. When the corrections have become small, A - mu restricted to each cluster is formed
// with Exact products: a problem of its own, whose eigenvalues are as far apart as they look when it is scaled up. Up
// to 16 x 16 the host solves it, larger ones are solved in the same way, down to 2 eps ||A||_1, where any will do.
//
// The host forms E and sums of O(n^2) numbers, and sees problems of at most 16 x 16; products are the device's.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "device/eigh_exact.hpp"
#include "kernels/drivers.hpp"
#include "norms.hpp"

namespace trn::solver::device {

namespace {

constexpr int kMostSteps = 16, kMostZooms = 12, kMostTurns = 3;
constexpr double kJoin = 1.0 / 64;

// The eigenvectors of A, columns in ascending order of eigenvalues; empty where something did not converge.
class Refinement {
 public:
  explicit Refinement(const Executor& executor) : executor_(executor) {}

  // floor: eigenvalues that differ by no more are equal.
  Doubles vectors(const Doubles& a, double floor, int zooms = 0) {
    const std::int64_t n = a.rows();
    if (n <= kLeaf) {
      const Doubles v = on_the_host(a);
      return v.rows() > 0 && zooms == 0 ? orthonormal(executor_, v) : v;
    }
    if (zooms > kMostZooms) return Doubles(0, 0);
    levels_ = std::max(levels_, zooms);
    Doubles x = in_float(a);
    if (x.rows() == 0) return x;
    std::vector<char> joined(at(n));  // i and i + 1 are in one cluster
    double before = INFINITY;
    int turns = 0;
    for (int step = 0;; ++step) {
      if (step == kMostSteps) return Doubles(0, 0);
      const double moved = refine(a, x, joined);
      ++steps_;
      if (!std::isfinite(moved)) return Doubles(0, 0);
      // A cluster leaves its neighbours a linear rate of 1/64; else errors are squared.
      const bool clusters = std::find(joined.begin(), joined.end(), 1) != joined.end();
      if (moved < (clusters ? 1e-13 : 2e-8)) break;
      if (step > 4 && moved < 2e-8 && moved > before / 2) break;  // what is left is rounding
      // What is not diagonal inside of a cluster, over the gap to its neighbours, is the rate at which they converge.
      if (clusters && moved > before / 32 && turns < kMostTurns) {
        ++turns;
        for_clusters(joined, [&](std::int64_t first, std::int64_t count) { return turn(a, x, first, count); });
      }
      before = moved;
    }
    const auto into = [&](std::int64_t first, std::int64_t count) { return zoom(a, x, first, count, floor, zooms); };
    return for_clusters(joined, into) ? orthonormal(executor_, x) : Doubles(0, 0);
  }

  [[nodiscard]] int steps() const { return steps_; }
  [[nodiscard]] int levels() const { return levels_; }

 private:
  Doubles on_the_host(const Doubles& a) {
    Doubles v(a.view());
    std::vector<double> w(at(a.rows()));
    std::int64_t found = 0;
    const Outcome outcome = host::eigh<double>(
        Executor::host(), {v.view(), VectorView<double>(Executor::host(), w.data(), a.rows()), EighOptions{}, &found});
    return outcome.ok() ? v : Doubles(0, 0);
  }
  // Eigenvectors of A, scaled and rounded to float32.
  Doubles in_float(const Doubles& a) {
    const std::int64_t n = a.rows();
    const double size = one_norm(a), scale = size > 0 ? std::ldexp(1.0, -std::ilogb(size)) : 1;
    Matrix<float> narrow(Executor::host(), n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) host::element(narrow.view(), i, j) = static_cast<float>(a(i, j) * scale);
    }
    const Matrix<float> v = narrow.to(executor_);
    const Array<float> w(executor_, {n});
    std::int64_t found = 0;
    const Outcome outcome = eigh<float>(executor_, {v.view(), VectorView<float>(w.view()), EighOptions{}, &found});
    if (!outcome.ok()) return Doubles(0, 0);
    return Doubles(on_host(v.view()).view());
  }

  // One step; the norm of the correction outside of clusters, and of R.
  double refine(const Doubles& a, Doubles& x, std::vector<char>& joined) {
    const std::int64_t n = a.rows();
    Doubles s = product(executor_, Op::T, x, product(executor_, Op::N, a, x));
    make_symmetric(s);
    Doubles r = product(executor_, Op::T, -1, x, x, 1, unit(n));
    make_symmetric(r);
    std::vector<double> l(at(n));
    for (std::int64_t i = 0; i < n; ++i) l[at(i)] = s(i, i) / (1 - r(i, i));
    sort(x, s, r, l);
    // E = R / 2 + an antisymmetric matrix, also in floating point: where two eigenvalues differ by roundings alone that
    // matrix is arbitrary, but X becomes as orthonormal as R / 2 makes it.
    const auto correction = [&](std::int64_t i, std::int64_t j) {
      const double above = s(i, j) + (l[at(i)] + l[at(j)]) / 2 * r(i, j), below = l[at(j)] - l[at(i)];
      return r(i, j) / 2 + (above == 0 ? 0 : above / below);
    };
    // The farthest j that each i is tied to, then everything between.
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = n - 1; j > i; --j) {
        if (std::abs(correction(i, j)) <= kJoin && std::abs(correction(j, i)) <= kJoin) continue;
        std::fill(joined.begin() + i, joined.begin() + j, 1);
        break;
      }
    }
    std::vector<std::int64_t> cluster(at(n));
    for (std::int64_t i = 1; i < n; ++i) cluster[at(i)] = cluster[at(i - 1)] + (joined[at(i - 1)] ? 0 : 1);
    Doubles e(n, n);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        e(i, j) = cluster[at(i)] == cluster[at(j)] ? r(i, j) / 2 : correction(i, j);
      }
    }
    const double moved = norm_above(e);
    x = product(executor_, Op::N, 1, x, e, 1, x, precision_of_correction(moved, 1e-4));
    return moved;
  }
  // Ascending l; X, S and R follow.
  static void sort(Doubles& x, Doubles& s, Doubles& r, std::vector<double>& l) {
    if (std::is_sorted(l.begin(), l.end())) return;
    std::vector<std::int64_t> order(l.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) { return l[at(i)] < l[at(j)]; });
    const Doubles x0 = x, s0 = s, r0 = r;
    const std::vector<double> l0 = l;
    const std::int64_t n = s.rows();
    for (std::int64_t j = 0; j < n; ++j) {
      const std::int64_t from = order[at(j)];
      l[at(j)] = l0[at(from)];
      for (std::int64_t i = 0; i < n; ++i) {
        x(i, j) = x0(i, from), s(i, j) = s0(order[at(i)], from), r(i, j) = r0(order[at(i)], from);
      }
    }
  }
  // f(first, count) for every cluster of more than one, as long as it returns true.
  template <class F> static bool for_clusters(const std::vector<char>& joined, F f) {
    const auto n = static_cast<std::int64_t>(joined.size());
    for (std::int64_t first = 0; first < n;) {
      std::int64_t end = first + 1;
      while (end < n && joined[at(end - 1)]) ++end;
      if (end - first > 1 && !f(first, end - first)) return false;
      first = end;
    }
    return true;
  }
  // A - mu restricted to some columns of X; mu is any number near.
  Doubles restricted(const Doubles& a, const Doubles& part) {
    const Doubles ap = product(executor_, Op::N, a, part);
    double mu = 0;
    for (std::int64_t i = 0; i < part.rows(); ++i) mu += part(i, 0) * ap(i, 0);
    Doubles t = product(executor_, Op::T, part, product(executor_, Op::N, 1, a, part, -mu, part));
    make_symmetric(t);
    return t;
  }
  // The eigenvectors inside of a cluster.
  bool zoom(const Doubles& a, Doubles& x, std::int64_t first, std::int64_t count, double floor, int zooms) {
    const Doubles part = columns_of(x, first, count), t = restricted(a, part);
    if (one_norm(t) <= floor) return true;
    const Doubles w = vectors(t, floor, zooms + 1);
    if (w.rows() == 0) return false;
    set_columns(x, first, product(executor_, Op::N, part, w));
    return true;
  }
  // The same to float32's precision: a cluster that is nearly diagonal.
  bool turn(const Doubles& a, Doubles& x, std::int64_t first, std::int64_t count) {
    const Doubles part = columns_of(x, first, count), t = restricted(a, part);
    const Doubles w = count <= kLeaf ? on_the_host(t) : in_float(t);
    if (w.rows() > 0) set_columns(x, first, product(executor_, Op::N, part, orthonormal(executor_, w)));
    return true;
  }

  const Executor& executor_;
  int steps_ = 0, levels_ = 0;
};

void write_nan(const EighArgs<double>& g) {
  fill_nan(MatrixView<double>(g.w.executor(), g.w.data(), g.w.size(), 1, g.w.stride(), 1));
  if (g.options.vectors == Vectors::Yes) fill_nan(g.a);
}

}  // namespace

RefinedVectors refined_vectors(const Executor& executor, const Doubles& a, double floor) {
  Refinement refinement(executor);
  Doubles x = refinement.vectors(a, floor);
  return {std::move(x), refinement.steps(), refinement.levels()};
}

template <> Outcome eigh(const Executor& executor, const EighArgs<double>& g) {
  const std::int64_t n = g.a.rows();
  const Range& range = g.options.range;
  *g.found = 0;
  if (g.report) g.report->algorithm = "spectral divide and conquer, refined";
  const host::Part part = host::part_of(g.options.uplo);
  const Matrix<double> given = on_host(g.a);
  const Outcome looked = host::finite(given.view(), part);
  const bool empty = n == 0 || (range.kind == Range::Kind::Indices && range.first == range.last) ||
                     (range.kind == Range::Kind::Values && !(range.lo < range.hi));
  if (!looked.ok() || empty) {
    write_nan(g);
    return looked;
  }
  Doubles a(given.view(), part);
  mirror(a.view(), g.options.uplo, false);
  double largest = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(a(i, j)));
  }
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < n; ++i) a(i, j) = std::ldexp(a(i, j), -exponent);
  }
  const RefinedVectors refined =
      largest > 0 ? refined_vectors(executor, a, 2 * kEps * one_norm(a)) : RefinedVectors{unit(n)};
  const Doubles& x = refined.x;
  if (g.report) g.report->iterations = refined.steps, g.report->levels = refined.levels;
  if (x.rows() == 0) {
    write_nan(g);
    return {Status::NotConverged, 0};
  }
  // Rayleigh quotients and residuals.
  const Doubles ax = product(executor, Op::N, a, x);
  std::vector<double> w;
  double residual = 0, norm = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    long double xx = 0, xy = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      xx += static_cast<long double>(x(i, j)) * x(i, j);
      xy += static_cast<long double>(x(i, j)) * ax(i, j);
    }
    w.push_back(static_cast<double>(xy / xx));
    norm = std::max(norm, std::abs(w.back()));
    for (std::int64_t i = 0; i < n; ++i) residual += std::pow(ax(i, j) - w.back() * x(i, j), 2);
  }
  residual = std::sqrt(residual);
  if (!(residual <= 4 * static_cast<double>(std::max(n, kLeaf)) * kEps * norm)) {
    write_nan(g);
    return {Status::NotConverged, 0};
  }
  if (g.report) {
    // What the residual's own roundings may hide: one of A X, one of the product with w.
    const double hidden = std::sqrt(static_cast<double>(n)) * 2 * kEps;
    const double spacing = std::ldexp(std::numeric_limits<double>::denorm_min(), -exponent);
    g.report->accuracy = {Mode::Exact, 1, norm > 0 ? (residual + spacing) / norm + hidden : 0};
  }
  std::vector<std::int64_t> order(at(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::int64_t i, std::int64_t j) { return w[at(i)] < w[at(j)]; });
  Matrix<double> values(Executor::host(), n, 1), columns(Executor::host(), n, n);
  host::fill(values.view(), host::not_a_number<double>());
  host::fill(columns.view(), host::not_a_number<double>());
  std::int64_t found = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t j = order[at(i)];
    const double value = std::ldexp(w[at(j)], exponent);
    if (range.kind == Range::Kind::Indices && (i < range.first || i >= range.last)) continue;
    if (range.kind == Range::Kind::Values && !(value > range.lo && value <= range.hi)) continue;
    if (std::isinf(value)) {
      write_nan(g);
      return {Status::NotFinite, found};
    }
    values.data()[found] = value;
    for (std::int64_t p = 0; p < n; ++p) host::element(columns.view(), p, found) = x(p, j);
    ++found;
  }
  *g.found = found;
  move(values.view(), MatrixView<double>(executor, g.w.data(), n, 1, g.w.stride(), 1));
  if (g.options.vectors == Vectors::Yes) move(columns.view(), g.a);
  return {};
}

}  // namespace trn::solver::device
