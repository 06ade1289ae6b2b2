// References in 113-bit arithmetic: solutions of systems, eigenvalues and singular values. Complex problems become real
// ones of twice the order: [[Re, -Im], [Im, Re]].
#pragma once

#include <algorithm>

#include "solver_support.hpp"

namespace trn::solver::testing {

__extension__ using Quad = __float128;

inline Quad magnitude(Quad x) { return x < 0 ? -x : x; }
inline Quad square_root(Quad x) {
  if (x <= 0) return 0;
  Quad y = std::sqrt(static_cast<long double>(x));
  for (int i = 0; i < 3; ++i) y = (y + x / y) / 2;
  return y;
}

template <class W> Dense<Quad> embedded(const Dense<W>& a) {
  if constexpr (std::same_as<W, long double>) {
    Dense<Quad> r(a.rows, a.columns);
    for (std::size_t i = 0; i < a.values.size(); ++i) r.values[i] = a.values[i];
    return r;
  } else {
    Dense<Quad> r(2 * a.rows, 2 * a.columns);
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t j = 0; j < a.columns; ++j) {
        r(i, j) = r(a.rows + i, a.columns + j) = a(i, j).real();
        r(a.rows + i, j) = a(i, j).imag(), r(i, a.columns + j) = -a(i, j).imag();
      }
    }
    return r;
  }
}

// X with A X = B by elimination with partial pivoting.
inline Dense<Quad> quad_solution(Dense<Quad> a, Dense<Quad> b) {
  const std::int64_t n = a.rows;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t p = k;
    for (std::int64_t i = k + 1; i < n; ++i) {
      if (magnitude(a(i, k)) > magnitude(a(p, k))) p = i;
    }
    for (std::int64_t j = 0; j < n; ++j) std::swap(a(k, j), a(p, j));
    for (std::int64_t j = 0; j < b.columns; ++j) std::swap(b(k, j), b(p, j));
    for (std::int64_t i = k + 1; i < n; ++i) {
      const Quad f = a(i, k) / a(k, k);
      for (std::int64_t j = k; j < n; ++j) a(i, j) -= f * a(k, j);
      for (std::int64_t j = 0; j < b.columns; ++j) b(i, j) -= f * b(k, j);
    }
  }
  for (std::int64_t k = n - 1; k >= 0; --k) {
    for (std::int64_t j = 0; j < b.columns; ++j) {
      for (std::int64_t i = k + 1; i < n; ++i) b(k, j) -= a(k, i) * b(i, j);
      b(k, j) /= a(k, k);
    }
  }
  return b;
}

// Ascending eigenvalues of a symmetric matrix by Jacobi's rotations.
inline std::vector<Quad> quad_eigenvalues(Dense<Quad> a) {
  const std::int64_t n = a.rows;
  for (int sweep = 0; sweep < 40; ++sweep) {
    Quad off = 0, all = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) (i == j ? all : off) += a(i, j) * a(i, j);
    }
    if (off <= all * static_cast<Quad>(0x1p-210)) break;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        if (a(p, q) == 0) continue;
        const Quad theta = (a(q, q) - a(p, p)) / (2 * a(p, q));
        const Quad t = (theta < 0 ? -1 : 1) / (magnitude(theta) + square_root(theta * theta + 1));
        const Quad c = 1 / square_root(t * t + 1), s = t * c;
        for (std::int64_t k = 0; k < n; ++k) {
          const Quad x = a(k, p), y = a(k, q);
          a(k, p) = c * x - s * y, a(k, q) = s * x + c * y;
        }
        for (std::int64_t k = 0; k < n; ++k) {
          const Quad x = a(p, k), y = a(q, k);
          a(p, k) = c * x - s * y, a(q, k) = s * x + c * y;
        }
      }
    }
  }
  std::vector<Quad> w;
  for (std::int64_t i = 0; i < n; ++i) w.push_back(a(i, i));
  std::sort(w.begin(), w.end());
  return w;
}

// The eigenvalues of a Hermitian matrix, each once.
template <class W> std::vector<long double> reference_eigenvalues(const Dense<W>& a) {
  const std::vector<Quad> all = quad_eigenvalues(embedded(a));
  std::vector<long double> w;
  const std::size_t step = all.size() == static_cast<std::size_t>(a.rows) ? 1 : 2;  // embedded: every one twice
  for (std::size_t i = 0; i < all.size(); i += step) w.push_back(static_cast<long double>(all[i]));
  return w;
}

// Descending singular values: square roots of the eigenvalues of A^H A, good to 1e-17 of the largest.
template <class W> std::vector<long double> reference_singular_values(const Dense<W>& a) {
  const Dense<Quad> r = embedded(a.rows >= a.columns ? a : adjoint(a));
  Dense<Quad> gram(r.columns, r.columns);
  for (std::int64_t i = 0; i < r.columns; ++i) {
    for (std::int64_t j = 0; j < r.columns; ++j) {
      for (std::int64_t k = 0; k < r.rows; ++k) gram(i, j) += r(k, i) * r(k, j);
    }
  }
  const std::vector<Quad> all = quad_eigenvalues(gram);
  const std::size_t step = std::same_as<W, long double> ? 1 : 2;
  std::vector<long double> s;
  for (std::size_t i = 0; i < all.size(); i += step) s.push_back(static_cast<long double>(square_root(all[i])));
  std::reverse(s.begin(), s.end());
  return s;
}

// A random matrix with singular values from 1 to 1 / kappa, geometric, rounded to T.
template <class T> Dense<Wide<T>> conditioned(std::int64_t m, std::int64_t n, long double kappa, Random& random) {
  using W = Wide<T>;
  const std::int64_t k = std::min(m, n);
  const auto orthonormal = [&](std::int64_t rows) {  // Gram and Schmidt, twice
    Dense<W> q = random_matrix<T>(rows, k, random);
    for (std::int64_t j = 0; j < k; ++j) {
      for (int pass = 0; pass < 2; ++pass) {
        for (std::int64_t l = 0; l < j; ++l) {
          W dot = 0;
          for (std::int64_t i = 0; i < rows; ++i) dot += W(conjugate(q(i, l))) * q(i, j);
          for (std::int64_t i = 0; i < rows; ++i) q(i, j) -= dot * q(i, l);
        }
      }
      long double norm = 0;
      for (std::int64_t i = 0; i < rows; ++i) norm += std::norm(q(i, j));
      for (std::int64_t i = 0; i < rows; ++i) q(i, j) /= std::sqrt(norm);
    }
    return q;
  };
  Dense<W> u = orthonormal(m);
  const Dense<W> v = orthonormal(n);
  for (std::int64_t j = 0; j < k; ++j) {
    const long double s = k == 1 ? 1 : std::pow(kappa, -static_cast<long double>(j) / static_cast<long double>(k - 1));
    for (std::int64_t i = 0; i < m; ++i) u(i, j) *= s;
  }
  return rounded<T>(times(u, adjoint(v)));
}

}  // namespace trn::solver::testing
