// Singular values on devices, double: float32 singular vectors, refined with Exact products until U^T A V is symmetric,
// and the eigenvectors of that symmetric matrix, refined as eigh's (eigh_exact.cpp).
//
// A is m x n, m >= n. Where m > n, A = Q R by reflections with Exact products (composed_qr.cpp), U is Q times R's, and
// the rest is about R: A is square from here on. With T = U^T A V and s_i = t_ii the corrections U <- U (I + E),
// V <- V (I + F), E and F antisymmetric, change T by T F - E T, to first order
//   t_ij + s_i F_ij - E_ij s_j.
// E_ij = (t_ij - t_ji) / (s_i + s_j) with F = 0 makes T symmetric, which needs no gap between singular values.
// Eigenvectors of T then turn U and V alike, and their clusters are eigh's concern.
//
// The quotient needs s_i + s_j far above float32's errors. So columns from c on, of singular values below about 2^-7 to
// 2^-13 of the largest, are set apart: between them and the others
//   E + F = (t_ij + t_ji) / (s_j - s_i),   E - F = (t_ij - t_ji) / (s_j + s_i)
// makes T zero on both sides, with c at the widest gap that there is, and T restricted to them is a problem of its own,
// small in norm, scaled up and solved in the same way, down to 2 eps ||A||_1, where any vectors will do. Up to 16 x 16
// the host solves it. The polar factor thus comes out right for any singular values: zero, tiny, equal, clustered,
// graded.
//
// U and V are made orthonormal after every step. What is neglected is of the size of T's other elements over s_i + s_j,
// or over the gap at c: at most a hundredth, by which a step reduces the corrections. The host forms E and F and sums
// of O(n^2) numbers; products are the device's.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "device/eigh_exact.hpp"
#include "kernels/drivers.hpp"
#include "kernels/factorisations.hpp"

namespace trn::solver::device {

namespace {

constexpr int kMostCorrections = 16, kMostDescents = 12;
constexpr double kApart = 0x1p-7, kLeastApart = 0x1p-13;

struct Bases {
  Doubles u, v;  // m x m and n x n; empty where something did not converge
  [[nodiscard]] bool converged(std::int64_t m) const { return u.rows() == m; }
};
Bases no_bases() { return {Doubles(0, 0), Doubles(0, 0)}; }

// U and V of LAPACK, or of the float32 kernel.
Bases bases_on_the_host(const Doubles& a) {
  Bases b{Doubles(a.rows(), a.rows()), Doubles(a.columns(), a.columns())};
  std::vector<double> s(at(a.columns()));
  const MatrixView<double> u = b.u.view(), vh = b.v.view().transposed();
  const Outcome outcome = host::svd<double>(
      Executor::host(), {a.view(), VectorView<double>(Executor::host(), s.data(), a.columns()), &u, &vh});
  return outcome.ok() ? b : no_bases();
}
Bases bases_in_float(const Executor& executor, const Doubles& a) {
  const std::int64_t m = a.rows(), n = a.columns();
  const double size = one_norm(a), scale = size > 0 ? std::ldexp(1.0, -std::ilogb(size)) : 1;
  Matrix<float> narrow(Executor::host(), m, n);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) host::element(narrow.view(), i, j) = static_cast<float>(a(i, j) * scale);
  }
  const Matrix<float> given = narrow.to(executor), u(executor, m, m), vh(executor, n, n);
  const Array<float> s(executor, {n});
  const MatrixView<float> u_view = u.view(), vh_view = vh.view();
  const Outcome outcome = svd<float>(executor, {given.view(), VectorView<float>(s.view()), &u_view, &vh_view});
  if (!outcome.ok()) return no_bases();
  return {Doubles(on_host(u_view).view()), Doubles(on_host(vh_view).view().transposed())};
}

class PolarRefinement {
 public:
  explicit PolarRefinement(const Executor& executor) : executor_(executor) {}

  // U and V with U^T A V symmetric, but for what is below `floor`, and next to diagonal.
  Bases bases(const Doubles& a, double floor, int descents = 0) {
    const std::int64_t m = a.rows(), n = a.columns();
    if (m <= kLeaf) return bases_on_the_host(a);
    if (descents > kMostDescents) return no_bases();
    levels_ = std::max(levels_, descents);
    Bases b = bases_in_float(executor_, a);
    if (!b.converged(m)) return b;
    make_orthonormal(b);
    std::int64_t apart = -1;
    double before = INFINITY;
    for (int step = 0;; ++step) {
      if (step == kMostCorrections) return no_bases();
      const double moved = correct(a, b, apart);
      ++steps_;
      if (!std::isfinite(moved)) return no_bases();
      if (moved < 1e-13) break;
      if (step > 2 && moved < 2e-8 && moved > before / 2) break;  // what is left is rounding
      before = moved;
    }
    if (apart == n || descend(a, b, apart, floor, descents)) return b;
    return no_bases();
  }

  [[nodiscard]] int steps() const { return steps_; }
  [[nodiscard]] int levels() const { return levels_; }

 private:
  void make_orthonormal(Bases& b) { b.u = orthonormal(executor_, b.u), b.v = orthonormal(executor_, b.v); }

  // T restricted to the columns from c on.
  bool descend(const Doubles& a, Bases& b, std::int64_t c, double floor, int descents) {
    const std::int64_t m = a.rows(), n = a.columns();
    const Doubles u = columns_of(b.u, c, m - c), v = columns_of(b.v, c, n - c),
                  t = product(executor_, Op::T, u, product(executor_, Op::N, a, v));
    if (one_norm(t) <= floor) return true;
    const Bases inner = bases(t, floor, descents + 1);
    if (!inner.converged(m - c)) return false;
    set_columns(b.u, c, product(executor_, Op::N, u, inner.u));
    set_columns(b.v, c, product(executor_, Op::N, v, inner.v));
    return true;
  }

  // One step; the norm of the corrections. `apart` is c, chosen where it is negative.
  double correct(const Doubles& a, Bases& b, std::int64_t& apart) {
    const std::int64_t m = a.rows(), n = a.columns();
    Doubles t = product(executor_, Op::T, b.u, product(executor_, Op::N, a, b.v));
    std::vector<double> s(at(m));
    for (std::int64_t j = 0; j < n; ++j) s[at(j)] = t(j, j);
    if (apart < 0) apart = widest_gap(s, n);
    const std::int64_t c = apart;
    Doubles e(m, m), f(n, n);
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t i = 0; i < j && i < c; ++i) {
        const double difference = (t(i, j) - t(j, i)) / (s[at(i)] + s[at(j)]),
                     sum = j < c ? difference : (t(i, j) + t(j, i)) / (s[at(j)] - s[at(i)]);
        e(i, j) = (sum + difference) / 2, e(j, i) = -e(i, j);
        f(i, j) = (sum - difference) / 2, f(j, i) = -f(i, j);
      }
      for (std::int64_t i = n; j < c && i < m; ++i) e(i, j) = t(i, j) / s[at(j)], e(j, i) = -e(i, j);
    }
    const double of_u = norm_above(e), of_v = norm_above(f);
    b.u = product(executor_, Op::N, 1, b.u, e, 1, b.u, precision_of_correction(of_u, 1e-4));
    if (of_v > 0) b.v = product(executor_, Op::N, 1, b.v, f, 1, b.v, precision_of_correction(of_v, 1e-4));
    make_orthonormal(b);
    return std::max(of_u, of_v);
  }

  // How many of the first n values, which descend but for float32's errors, stay together.
  static std::int64_t widest_gap(const std::vector<double>& s, std::int64_t n) {
    const double norm = s[0];
    if (s[at(n - 1)] >= kLeastApart * norm) return n;
    std::int64_t best = 0;
    double widest = 0;
    for (std::int64_t c = 1; c < n; ++c) {
      const double above = s[at(c - 1)], below = s[at(c)];
      if (above < kLeastApart * norm || below >= kApart * norm || above - below <= widest) continue;
      best = c, widest = above - below;
    }
    return best;
  }

  const Executor& executor_;
  int steps_ = 0, levels_ = 0;
};

void write_nan(const SvdArgs<double>& g) {
  fill_nan(MatrixView<double>(g.s.executor(), g.s.data(), g.s.size(), 1, g.s.stride(), 1));
  if (g.u) fill_nan(*g.u), fill_nan(*g.vh);
}

// Columns of U and V in descending order of s, and ||A V - U S||_F.
struct Triples {
  Bases bases;
  std::vector<double> s;
  double residual = 0;
  int steps = 0, levels = 0;
};

// Turns U and V by the eigenvectors of U^T A V, and takes the quotients.
Triples triples(const Executor& executor, const Doubles& a) {
  const std::int64_t m = a.rows(), n = a.columns();
  const double floor = 2 * kEps * one_norm(a);
  PolarRefinement refinement(executor);
  Triples all{refinement.bases(a, floor), std::vector<double>(at(n))};
  all.steps = refinement.steps(), all.levels = refinement.levels();
  Bases& b = all.bases;
  if (!b.converged(m)) return all;
  Doubles t = product(executor, Op::T, columns_of(b.u, 0, n), product(executor, Op::N, a, b.v));
  make_symmetric(t);
  const RefinedVectors w = refined_vectors(executor, t, floor);
  if (w.x.rows() != n) {
    b = no_bases();
    return all;
  }
  all.steps += w.steps, all.levels = std::max(all.levels, w.levels);
  set_columns(b.u, 0, product(executor, Op::N, columns_of(b.u, 0, n), w.x));
  b.u = orthonormal(executor, b.u);
  b.v = orthonormal(executor, product(executor, Op::N, b.v, w.x));
  const Doubles av = product(executor, Op::N, a, b.v);
  std::vector<double> s(at(n));
  for (std::int64_t j = 0; j < n; ++j) {
    long double uu = 0, uav = 0;
    for (std::int64_t i = 0; i < m; ++i) {
      uu += static_cast<long double>(b.u(i, j)) * b.u(i, j);
      uav += static_cast<long double>(b.u(i, j)) * av(i, j);
    }
    s[at(j)] = static_cast<double>(uav / uu);
    for (std::int64_t i = 0; i < m; ++i) all.residual += std::pow(av(i, j) - s[at(j)] * b.u(i, j), 2);
  }
  all.residual = std::sqrt(all.residual);
  std::vector<std::int64_t> order(at(n));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](std::int64_t i, std::int64_t j) { return std::abs(s[at(i)]) > std::abs(s[at(j)]); });
  const Bases before = b;
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t j = order[at(k)];
    const double sign = s[at(j)] < 0 ? -1 : 1;
    all.s[at(k)] = std::abs(s[at(j)]);
    for (std::int64_t i = 0; i < m; ++i) b.u(i, k) = sign * before.u(i, j);
    for (std::int64_t i = 0; i < n; ++i) b.v(i, k) = before.v(i, j);
  }
  return all;
}

// ||A V - U S||_F for the first columns of U.
double residual_of(const Executor& executor, const Doubles& a, const Triples& x) {
  const Doubles av = product(executor, Op::N, a, x.bases.v);
  double sum = 0;
  for (std::int64_t j = 0; j < av.columns(); ++j) {
    for (std::int64_t i = 0; i < av.rows(); ++i) sum += std::pow(av(i, j) - x.s[at(j)] * x.bases.u(i, j), 2);
  }
  return std::sqrt(sum);
}

// m > n: A = Q R, and of R; `columns` columns of U, at least n.
Triples tall_triples(const Executor& executor, const Doubles& a, std::int64_t columns) {
  const std::int64_t m = a.rows(), n = a.columns();
  const Matrix<double> factor = on(executor, a.view());
  const Array<double> tau(executor, {n});
  const VectorView<double> tau_view(tau.view());
  const Outcome factored = geqrf<double>(executor, {factor.view(), tau_view});
  if (!factored.ok()) return {no_bases(), std::vector<double>(at(n))};
  Doubles r(on_host(factor.view().block(0, 0, n, n)).view(), Part::Upper);
  Triples all = triples(executor, r);
  if (!all.bases.converged(n)) return all;
  Doubles u(m, columns);
  for (std::int64_t j = 0; j < columns; ++j) {
    for (std::int64_t i = 0; j < n && i < n; ++i) u(i, j) = all.bases.u(i, j);
    if (j >= n) u(j, j) = 1;
  }
  const Matrix<double> turned = on(executor, u.view());
  const Outcome applied = ormqr<double>(executor, {Side::Left, Op::N, factor.view(), tau_view, turned.view()});
  if (!applied.ok()) return {no_bases(), std::vector<double>(at(n))};
  all.bases.u = orthonormal(executor, Doubles(on_host(turned.view()).view()));
  all.residual = residual_of(executor, a, all);
  return all;
}

}  // namespace

template <> Outcome svd(const Executor& executor, const SvdArgs<double>& g) {
  if (g.report) g.report->algorithm = "polar, spectral divide and conquer, refined";
  const bool wide = g.a.columns() > g.a.rows();
  const Matrix<double> given = on_host(g.a);
  const std::int64_t m = std::max(g.a.rows(), g.a.columns()), n = std::min(g.a.rows(), g.a.columns());
  if (const Outcome looked = host::finite(given.view()); !looked.ok()) {
    write_nan(g);
    return looked;
  }
  Doubles a(wide ? MatrixView<const double>(given.view()).transposed() : MatrixView<const double>(given.view()));
  double largest = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) largest = std::max(largest, std::abs(a(i, j)));
  }
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) a(i, j) = std::ldexp(a(i, j), -exponent);
  }
  const std::int64_t columns = !g.u ? n : wide ? g.vh->rows() : g.u->columns();  // of U
  // Nothing to decompose: any orthogonal matrices will do.
  const Triples found = !(largest > 0) ? Triples{{columns_of(unit(m), 0, columns), unit(n)}, std::vector<double>(at(n))}
                        : m > n        ? tall_triples(executor, a, columns)
                                       : triples(executor, a);
  const double norm = n > 0 ? found.s[0] : 0;
  if (!found.bases.converged(m) || !(found.residual <= 4 * static_cast<double>(std::max(m, kLeaf)) * kEps * norm)) {
    write_nan(g);
    return {Status::NotConverged, 0};
  }
  if (g.report) {
    g.report->iterations = found.steps, g.report->levels = found.levels;
    // What the residual's own roundings may hide: one of A V, one of the product with s.
    const double hidden = std::sqrt(static_cast<double>(m)) * 2 * kEps;
    const double spacing = std::ldexp(std::numeric_limits<double>::denorm_min(), -exponent);
    g.report->accuracy = {Mode::Exact, 1, norm > 0 ? (found.residual + spacing) / norm + hidden : 0};
  }
  Matrix<double> s(Executor::host(), n, 1);
  for (std::int64_t k = 0; k < n; ++k) s.data()[k] = std::ldexp(found.s[at(k)], exponent);
  if (n > 0 && std::isinf(s.data()[0])) {  // they descend
    write_nan(g);
    return {Status::NotFinite, 0};
  }
  move(s.view(), MatrixView<double>(executor, g.s.data(), n, 1, g.s.stride(), 1));
  if (g.u) {
    const MatrixView<double> left = wide ? g.vh->transposed() : *g.u, right = wide ? *g.u : g.vh->transposed();
    move(found.bases.u.view().block(0, 0, m, left.columns()), left);
    move(found.bases.v.view(), right);
  }
  return {};
}

}  // namespace trn::solver::device
