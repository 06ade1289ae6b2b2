// Steps of the distributed eigensolver that one rank makes alone: a reflection, the dot products and updates of
// columns, and the implicit QL iteration, which records its rotations. Orders of sums depend on lengths alone.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <vector>

#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver::dist_host {

// x y without the special cases of infinities that std::complex looks for.
template <class T> T product(const T& x, const T& y) {
  if constexpr (blas::ComplexScalar<T>)
    return T(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
  else
    return x * y;
}
template <class T> T conjugated(const T& x) {
  if constexpr (blas::ComplexScalar<T>)
    return std::conj(x);
  else
    return x;
}
template <class T> double square_of(const T& x) {
  const auto re = static_cast<double>(std::real(x)), im = static_cast<double>(std::imag(x));
  return re * re + im * im;
}

// Sum of conj(x_i) y_i in eight interleaved sums.
template <class T> T dot(const T* x, const T* y, std::int64_t count) {
  T sum[8] = {};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int c = 0; c < 8; ++c) sum[c] += product(conjugated(x[i + c]), y[i + c]);
  for (; i < count; ++i) sum[0] += product(conjugated(x[i]), y[i]);
  return ((sum[0] + sum[1]) + (sum[2] + sum[3])) + ((sum[4] + sum[5]) + (sum[6] + sum[7]));
}

// H = I - tau v v^H with H^H x = beta e1, beta real; x becomes v, v(0) = 1 (LAPACK's larfg).
template <class T> struct Reflection {
  T tau{};
  Real<T> beta = 0;
};
template <class T> Reflection<T> reflect(T* x, std::int64_t count) {
  double tail = 0;
  for (std::int64_t i = 1; i < count; ++i) tail += square_of(x[i]);
  const auto re = static_cast<double>(std::real(x[0])), im = static_cast<double>(std::imag(x[0]));
  Reflection<T> h{T(0), std::real(x[0])};
  if (tail > 0 || im != 0) {
    const double beta = -std::copysign(std::sqrt(re * re + im * im + tail), re);
    h.beta = static_cast<Real<T>>(beta);
    if constexpr (blas::ComplexScalar<T>) {
      h.tau = T(static_cast<Real<T>>((beta - re) / beta), static_cast<Real<T>>(-im / beta));
      const double a = re - beta, size = a * a + im * im;
      const T scale(static_cast<Real<T>>(a / size), static_cast<Real<T>>(-im / size));
      for (std::int64_t i = 1; i < count; ++i) x[i] = product(x[i], scale);
    } else {
      h.tau = static_cast<T>((beta - re) / beta);
      const double scale = 1 / (re - beta);
      for (std::int64_t i = 1; i < count; ++i) x[i] = static_cast<T>(static_cast<double>(x[i]) * scale);
    }
  }
  x[0] = T(1);
  return h;
}

// Rows begin to end of column j of A - v w^H - w v^H; `a`, v and w are addressed by global rows.
template <class T> void update(T* a, const T* v, const T* w, std::int64_t j, std::int64_t begin, std::int64_t end) {
  const T cw = conjugated(w[j]), cv = conjugated(v[j]);
  for (std::int64_t i = begin; i < end; ++i) a[i] -= product(v[i], cw) + product(w[i], cv);
}

// Columns i and i + 1 become c z_i - s z_(i+1) and s z_i + c z_(i+1).
struct Rotation {
  std::int64_t column;
  double c, s;
};

// On `rows` rows of a column-major array. Few rows at a time, which stay in the cache for many rotations.
template <class R> void rotate(const std::vector<Rotation>& all, R* z, std::int64_t rows, std::int64_t stride) {
  constexpr std::int64_t kRows = 64;
  for (std::int64_t first = 0; first < rows; first += kRows) {
    const std::int64_t count = std::min(kRows, rows - first);
    for (const Rotation& r : all) {
      R *x = z + r.column * stride + first, *y = x + stride;
      const R c = static_cast<R>(r.c), s = static_cast<R>(r.s);
      for (std::int64_t i = 0; i < count; ++i) {
        const R other = y[i];
        y[i] = s * x[i] + c * other;
        x[i] = c * x[i] - s * other;
      }
    }
  }
}

inline double length_of(double x, double y) {
  x = std::abs(x), y = std::abs(y);
  const double most = std::max(x, y), least = std::min(x, y);
  if (most == 0) return 0;
  const double ratio = least / most;
  return most * std::sqrt(1 + ratio * ratio);
}

// Eigenvalues of the tridiagonal matrix with diagonal d and e beside it (e[n - 1] is not used): implicit QL with
// Wilkinson's shift (EISPACK's tql2). flush(rotations) is called now and then and at the end; they are gone then.
// NotConverged at l: eigenvalue l took more than 60 steps.
template <class F> Outcome ql(std::vector<double>& d, std::vector<double>& e, double epsilon, int& steps, F flush) {
  const auto n = static_cast<std::int64_t>(d.size());
  std::vector<Rotation> rotations;
  const auto at = [](std::vector<double>& x, std::int64_t i) -> double& { return x[static_cast<std::size_t>(i)]; };
  for (std::int64_t l = 0; l < n; ++l) {
    for (int turn = 0;; ++turn) {
      std::int64_t m = l;
      for (; m + 1 < n; ++m) {
        const double beside = std::abs(at(d, m)) + std::abs(at(d, m + 1));
        if (!(std::abs(at(e, m)) > epsilon * beside)) break;
      }
      if (m == l) break;
      if (turn == 60) return {Status::NotConverged, l};
      ++steps;
      double g = (at(d, l + 1) - at(d, l)) / (2 * at(e, l)), r = length_of(g, 1);
      g = at(d, m) - at(d, l) + at(e, l) / (g + std::copysign(r, g));
      double s = 1, c = 1, p = 0;
      std::int64_t i = m - 1;
      for (; i >= l; --i) {
        const double f = s * at(e, i), b = c * at(e, i);
        at(e, i + 1) = r = length_of(f, g);
        if (r == 0) {
          at(d, i + 1) -= p;
          at(e, m) = 0;
          break;
        }
        s = f / r, c = g / r;
        g = at(d, i + 1) - p;
        r = (at(d, i) - g) * s + 2 * c * b;
        p = s * r;
        at(d, i + 1) = g + p;
        g = c * r - b;
        rotations.push_back({i, c, s});
      }
      if (i < l) {
        at(d, l) -= p;
        at(e, l) = g;
        at(e, m) = 0;
      }
      if (static_cast<std::int64_t>(rotations.size()) > 8 * n) {
        flush(rotations);
        rotations.clear();
      }
    }
  }
  flush(rotations);
  return {};
}

}  // namespace trn::solver::dist_host
