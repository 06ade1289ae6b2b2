// Tensors for tests of decompositions, their reconstruction in long double, and singular values by Jacobi rotations.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/scalars.hpp>

#include "path_networks.hpp"

namespace trn::tensor::testing {

template <class T> struct WideOf { using type = long double; };
template <class R> struct WideOf<std::complex<R>> { using type = std::complex<long double>; };
template <class T> using Wide = typename WideOf<T>::type;

inline double uniform(TestRandom& random) { return static_cast<double>(random.bits() >> 11) * 0x1p-52 - 1; }
template <class T> T number(TestRandom& random) {
  if constexpr (RealScalar<T>) {
    return static_cast<T>(uniform(random));
  } else {
    const auto re = static_cast<Real<T>>(uniform(random));
    return {re, static_cast<Real<T>>(uniform(random))};
  }
}
template <class T> std::vector<T> numbers(std::int64_t n, TestRandom& random) {
  std::vector<T> v;
  for (std::int64_t i = 0; i < n; ++i) v.push_back(number<T>(random));
  return v;
}

template <class T> std::vector<Wide<T>> widened(const std::vector<T>& v) { return {v.begin(), v.end()}; }

template <class W> long double norm_of(const std::vector<W>& v) {
  long double sum = 0;
  for (const W& x : v) sum += std::abs(x) * std::abs(x);
  return std::sqrt(sum);
}
template <class T> long double distance_of(const std::vector<T>& x, const std::vector<Wide<T>>& y) {
  std::vector<Wide<T>> d = widened(x);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] -= y[i];
  return norm_of(d);
}

// y(l, :, r) = M x(l, :, r) for a row-major p x n matrix.
template <class W> std::vector<W> times_mode(const std::vector<W>& x, std::int64_t left, std::int64_t n,
                                             std::int64_t right, const std::vector<W>& m, std::int64_t p) {
  std::vector<W> y(static_cast<std::size_t>(left * p * right));
  for (std::int64_t l = 0; l < left; ++l) {
    for (std::int64_t i = 0; i < p; ++i) {
      for (std::int64_t k = 0; k < n; ++k) {
        for (std::int64_t r = 0; r < right; ++r) {
          y[static_cast<std::size_t>((l * p + i) * right + r)] +=
              m[static_cast<std::size_t>(i * n + k)] * x[static_cast<std::size_t>((l * n + k) * right + r)];
        }
      }
    }
  }
  return y;
}

// Descending singular values of a row-major n x m matrix, n <= m or not, by one-sided Jacobi rotations of the rows.
template <class W> std::vector<long double> jacobi_singular_values(std::vector<W> a, std::int64_t n, std::int64_t m) {
  const auto at = [&](std::int64_t i, std::int64_t j) -> W& { return a[static_cast<std::size_t>(i * m + j)]; };
  for (int sweep = 0; sweep < 40; ++sweep) {
    long double off = 0;
    for (std::int64_t p = 0; p < n; ++p) {
      for (std::int64_t q = p + 1; q < n; ++q) {
        long double x = 0, y = 0;
        W z = 0;
        for (std::int64_t j = 0; j < m; ++j) {
          x += std::norm(at(p, j)), y += std::norm(at(q, j));
          if constexpr (std::is_same_v<W, long double>) {
            z += at(p, j) * at(q, j);
          } else {
            z += at(p, j) * std::conj(at(q, j));
          }
        }
        const long double size = std::abs(z);
        if (size <= 1e-19L * std::sqrt(x * y) || size == 0) continue;
        off = std::max(off, size / std::sqrt(x * y));
        const long double zeta = (y - x) / (2 * size);
        const long double t = (zeta >= 0 ? 1 : -1) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
        const long double c = 1 / std::sqrt(1 + t * t), s = c * t;
        const W phase = z / size;
        for (std::int64_t j = 0; j < m; ++j) {
          const W u = at(p, j), v = at(q, j) * phase;
          at(p, j) = c * u - s * v, at(q, j) = s * u + c * v;
        }
      }
    }
    if (off < 1e-18L) break;
  }
  std::vector<long double> s;
  for (std::int64_t i = 0; i < n; ++i) {
    s.push_back(norm_of(std::vector<W>(a.begin() + i * m, a.begin() + (i + 1) * m)));
  }
  std::sort(s.rbegin(), s.rend());
  return s;
}

// The unfolding along a mode: n_k x rest.
template <class W> std::vector<W> unfolded(const std::vector<W>& x, const Shape& shape, std::size_t mode) {
  std::int64_t left = 1, right = 1;
  for (std::size_t k = 0; k < mode; ++k) left *= shape[k];
  for (std::size_t k = mode + 1; k < shape.size(); ++k) right *= shape[k];
  std::vector<W> y;
  for (std::int64_t i = 0; i < shape[mode]; ++i) {
    for (std::int64_t l = 0; l < left; ++l) {
      for (std::int64_t r = 0; r < right; ++r) {
        y.push_back(x[static_cast<std::size_t>((l * shape[mode] + i) * right + r)]);
      }
    }
  }
  return y;
}

template <class F> void for_scalars(F f) {
  f.template operator()<float>();
  f.template operator()<double>();
  f.template operator()<std::complex<float>>();
  f.template operator()<std::complex<double>>();
}

template <class T> inline constexpr long double kUnit = std::is_same_v<Real<T>, float> ? 0x1p-24L : 0x1p-53L;

}  // namespace trn::tensor::testing
