// Proved bounds for eigenvalues and singular values.
#include "certify/spectra.hpp"

#include <algorithm>

#include <trn/solver/cholesky.hpp>

#include "norms.hpp"

namespace trn::solver::certify {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// A X - Y diag(d), elementwise upper bounds of the moduli. y d = p + e exactly: p goes into the exact product, e is
// subtracted from its result.
double product_and_error(double y, double d, double& error) {
  const double p = y * d;
  error = std::fma(y, d, -p);
  return p;
}
std::complex<double> product_and_error(const std::complex<double>& y, double d, std::complex<double>& error) {
  double re, im;
  const double p = product_and_error(y.real(), d, re), q = product_and_error(y.imag(), d, im);
  error = {re, im};
  return {p, q};
}
template <class D> Columns<double> scaled_residual(const Executor& executor, const Columns<D>& a, const Columns<D>& x,
                                                   const Columns<D>& y, const std::vector<double>& d) {
  Columns<D> p(y.rows(), y.columns()), e(y.rows(), y.columns());
  for (std::int64_t j = 0; j < y.columns(); ++j) {
    for (std::int64_t i = 0; i < y.rows(); ++i) {
      p(i, j) = product_and_error(y(i, j), d[static_cast<std::size_t>(j)], e(i, j));
    }
  }
  Bounded<D> r = exact_product<D>(executor, Op::N, D(1), a, x, D(-1), p);
  for (std::int64_t j = 0; j < y.columns(); ++j) {
    for (std::int64_t i = 0; i < y.rows(); ++i) {
      const D difference = r.value(i, j) - e(i, j);
      r.radius(i, j) = up(r.radius(i, j) + 0x1p-52 * size(difference), 2) + kTiny;
      r.value(i, j) = difference;
    }
  }
  return magnitudes(r);
}

// ||V^H V - I||_2 <= this.
template <class D> double departure(const Executor& executor, const Columns<D>& v) {
  return two_norm(magnitudes(exact_product<D>(executor, Op::C, D(1), v, v, D(-1), unit_matrix<D>(v.columns()))));
}
template <class D> bool is_zero(const Columns<D>& a) {
  return std::all_of(a.data(), a.data() + a.rows() * a.columns(), [](const D& x) { return x == D(0); });
}
// Of the zero matrix, whose values are zero.
std::vector<double> magnitudes_of(const std::vector<double>& values) {
  std::vector<double> sizes;
  for (const double x : values) sizes.push_back(std::abs(x));
  return sizes;
}
double smallest_singular(double departure) { return departure < 1 ? down(std::sqrt(down(1 - departure, 2)), 2) : 0; }

}  // namespace

template <Wide D> std::vector<double> eigenvalue_bounds(const Executor& executor, const Columns<D>& a,
                                                        const Columns<D>& v, const std::vector<double>& w) {
  if (is_zero(a)) return magnitudes_of(w);
  const std::size_t n = w.size();
  std::vector<double> bounds(n, kInfinity);
  const double smin = smallest_singular(departure(executor, v));
  if (!(smin > 0)) return bounds;
  const Columns<double> r = scaled_residual(executor, a, v, v, w);
  const double all = up(two_norm(r) / smin, 2);
  if (!std::isfinite(all)) return bounds;
  for (std::size_t i = 0; i < n; ++i) {
    bounds[i] = all;
    // ||v_i|| >= smin(V).
    const double own = up(column_two_norm(r, static_cast<std::int64_t>(i)) / smin, 2);
    const double reach = up(all + own, 1);
    const bool isolated =
        (i == 0 || down(w[i] - w[i - 1], 1) > reach) && (i + 1 == n || down(w[i + 1] - w[i], 1) > reach);
    if (isolated && own < all) bounds[i] = own;
  }
  return bounds;
}

template <Wide D> std::vector<double> singular_value_bounds(const Executor& executor, const Columns<D>& a,
                                                            const Columns<D>& u, const std::vector<double>& s,
                                                            const Columns<D>& v) {
  if (is_zero(a)) return magnitudes_of(s);
  const double du = departure(executor, u), dv = departure(executor, v);
  const double r = two_norm(scaled_residual(executor, a, v, u, s));
  std::vector<double> bounds;
  for (const double value : s) {
    // value ((smax(U) + r / value) / smin(V) - 1) and the same below, without cancellation:
    // smax(U) / smin(V) - 1 <= (sqrt(1 + du) - sqrt(1 - dv)) / smin(V), and sqrt(1 + x) - 1 <= x / 2, 1 - sqrt(1 - x)
    // <= x.
    const double smin_v = smallest_singular(dv);
    const double above = up((value * up(du / 2 + dv, 2) + r) / smin_v, 4);
    // value - (value smin(U) - r) / smax(V) <= value ((1 - smin(U)) + (smax(V) - 1)) + r, since smax(V) >= 1 here.
    const double below = up(value * up(du + dv / 2, 2) + r, 4);
    bounds.push_back(smin_v > 0 && du < 1 ? std::max(above, below) + kTiny : kInfinity);
  }
  return bounds;
}

double relative_to_largest(const std::vector<double>& bounds, const std::vector<double>& values) {
  double bound = 0, size_of_all = 0;
  for (const double b : bounds) bound = std::max(bound, b);
  for (const double v : values) size_of_all = std::max(size_of_all, std::abs(v));
  if (bound == 0) return 0;
  const double least = size_of_all - bound;
  return least > 0 ? up(bound / least, 4) : kInfinity;
}

template <Wide D> double smallest_eigenvalue_bound(const Executor& executor, const Columns<D>& a) {
  const std::int64_t n = a.rows();
  const Cholesky<D> plain(executor, Uplo::Lower, a.view());
  if (!plain.report().outcome.ok()) return -kInfinity;
  // ||A^-1||_2 <= ||A^-1||_1, which the condition estimate is near: half of its reciprocal is a safe shift.
  double shift = 0.5 * symmetric_norm_of(a.view(), Uplo::Lower) / plain.condition(), best = -kInfinity;
  for (int trial = 0; trial < 4; ++trial, shift /= 16) {
    Columns<D> shifted(a.view());
    Columns<double> rounding(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      shifted(i, i) = a(i, i) - D(shift);
      rounding(i, i) = up(0x1p-53 * size(shifted(i, i)), 1) + kTiny;
    }
    const Cholesky<D> factored(executor, Uplo::Lower, shifted.view());
    if (!factored.report().outcome.ok()) continue;
    // L L^H = (L^H)^H L^H: the product of a matrix with its own conjugate transpose.
    Columns<D> transposed(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        const D x = host::element(factored.factor(), i, j);
        if constexpr (blas::ComplexScalar<D>) {
          transposed(j, i) = std::conj(x);
        } else {
          transposed(j, i) = x;
        }
      }
    }
    Bounded<D> d = exact_product<D>(executor, Op::C, D(1), transposed, transposed, D(-1), shifted);
    for (std::int64_t i = 0; i < n; ++i) d.radius(i, i) = up(d.radius(i, i) + rounding(i, i), 1);
    const double distance = infinity_norm(magnitudes(d));  // Hermitian: at least the 2-norm
    const double bound = shift - distance;
    // The subtraction's rounding.
    const double safe = bound - 0x1p-52 * std::abs(bound);
    if (safe > best) best = safe;
    if (best > 0) break;
  }
  return best;
}

#define TRN_SPECTRA(D)                                                                                      \
  template std::vector<double> eigenvalue_bounds(const Executor&, const Columns<D>&, const Columns<D>&,     \
                                                 const std::vector<double>&);                               \
  template std::vector<double> singular_value_bounds(const Executor&, const Columns<D>&, const Columns<D>&, \
                                                     const std::vector<double>&, const Columns<D>&);        \
  template double smallest_eigenvalue_bound(const Executor&, const Columns<D>&);
TRN_SPECTRA(double)
TRN_SPECTRA(std::complex<double>)
#undef TRN_SPECTRA

}  // namespace trn::solver::certify
