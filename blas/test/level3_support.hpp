// What the tests of level 3 share: operands in any layout whose unread elements are NaN, sums in 80-bit arithmetic, and
// the comparison of a result with them, element by element, with everything outside the named part bit for bit as it
// was.
//
// A sum of k products in 80 bits errs by k 2^-63 of its scale: 2^-10 of the smallest bound here, which kOracle adds.
#pragma once

#include <complex>

#include <trn/blas/storage.hpp>

#include "gemm_support.hpp"
#include "support/message_of.hpp"

namespace trn::blas::test {

inline constexpr double kOracle = 1 + 0x1p-10;
inline constexpr Op kAllOps[] = {Op::N, Op::T, Op::C};
inline constexpr Uplo kUplos[] = {Uplo::Lower, Uplo::Upper};
inline constexpr Side kSides[] = {Side::Left, Side::Right};
inline constexpr Diag kDiags[] = {Diag::NonUnit, Diag::Unit};

struct Wide {
  long double re = 0, im = 0;
  friend Wide operator+(Wide x, Wide y) { return {x.re + y.re, x.im + y.im}; }
  friend Wide operator-(Wide x, Wide y) { return {x.re - y.re, x.im - y.im}; }
  friend Wide operator*(Wide x, Wide y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
};
inline long double size(Wide x) { return std::hypot(x.re, x.im); }
inline Wide conj(Wide x, bool really = true) { return {x.re, really ? -x.im : x.im}; }
template <class T> Wide wide(T x) {
  if constexpr (ComplexScalar<T>) {
    return {x.real(), x.imag()};
  } else {
    return {x, 0};
  }
}

// A value, and the sum of the magnitudes that went into it.
struct Sum {
  Wide value;
  long double scale = 0, xx = 0, yy = 0;
  void add(Wide x, Wide y) {
    value = value + x * y;
    scale += size(x) * size(y);
    xx += x.re * x.re + x.im * x.im;
    yy += y.re * y.re + y.im * y.im;
  }
  // The scale of the modes other than Native: the product of the norms instead of the sum of the products.
  Sum normwise() const { return {value, std::sqrt(xx * yy)}; }
  Sum times(Wide alpha) const { return {alpha * value, size(alpha) * scale}; }
  friend Sum operator+(const Sum& x, const Sum& y) { return {x.value + y.value, x.scale + y.scale}; }
};

template <class T> T random_number(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  if constexpr (ComplexScalar<T>) {
    const double re = normal(random);
    return T(static_cast<Real<T>>(re), static_cast<Real<T>>(normal(random)));
  } else {
    return static_cast<T>(normal(random));
  }
}
template <class T> T not_a_number() {
  if constexpr (ComplexScalar<T>) {
    return T(std::numeric_limits<Real<T>>::quiet_NaN(), std::numeric_limits<Real<T>>::quiet_NaN());
  } else {
    return std::numeric_limits<T>::quiet_NaN();
  }
}

// Random where in(i, j), NaN everywhere else, also between and behind the lines.
template <class T, class In>
Stored<T> partly(std::int64_t rows, std::int64_t columns, Layout layout, std::mt19937_64& random, In in) {
  auto s = stored<T>(rows, columns, layout);
  s.storage.assign(s.storage.size(), not_a_number<T>());
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) {
      if (in(i, j)) s.at(i, j) = random_number<T>(random);
    }
  }
  return s;
}
template <class T> Stored<T> full(std::int64_t rows, std::int64_t columns, Layout layout, std::mt19937_64& random) {
  return partly<T>(rows, columns, layout, random, [](auto, auto) { return true; });
}
inline bool in_triangle(Uplo uplo, std::int64_t i, std::int64_t j) { return uplo == Uplo::Lower ? i >= j : i <= j; }
template <class T> Stored<T> triangle(std::int64_t n, Uplo uplo, Layout layout, std::mt19937_64& random) {
  return partly<T>(n, n, layout, random, [uplo](auto i, auto j) { return in_triangle(uplo, i, j); });
}
// A triangle whose solutions do not grow: small beside the diagonal, which is NaN when Unit.
template <class T> Stored<T> solvable(std::int64_t n, Uplo uplo, Diag diag, Layout layout, std::mt19937_64& random) {
  auto s = triangle<T>(n, uplo, layout, random);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (i != j) s.at(i, j) *= static_cast<Real<T>>(1.0 / static_cast<double>(n));
    }
    s.at(i, i) = diag == Diag::Unit ? not_a_number<T>() : s.at(i, i) + T(s.at(i, i) == s.at(i, i) ? 3 : 0);
  }
  return s;
}

// Element (i, j) of op(X).
template <class T> Wide op_at(Op op, const Stored<T>& x, std::int64_t i, std::int64_t j) {
  return op == Op::N ? wide(x.at(i, j)) : conj(wide(x.at(j, i)), op == Op::C);
}
// Element (i, j) of a triangular op(A).
template <class T> Wide triangular_at(Uplo uplo, Op op, Diag diag, const Stored<T>& a, std::int64_t i, std::int64_t j) {
  if (i == j && diag == Diag::Unit) return {1, 0};
  if (!in_triangle(uplo, op == Op::N ? i : j, op == Op::N ? j : i)) return {};
  return op_at(op, a, i, j);
}

// after(i, j) within bound * scale of expected(i, j) where in(i, j); every other element of the storage unchanged.
template <class T, class In, class Expected>
void expect_elements(const Stored<T>& before, const Stored<T>& after, double bound, In in, Expected expected) {
  std::vector<bool> named(before.storage.size(), false);
  for (std::int64_t i = 0; i < before.rows; ++i) {
    for (std::int64_t j = 0; j < before.columns; ++j) {
      if (!in(i, j)) continue;
      named[static_cast<std::size_t>(before.offset + i * before.row_stride + j * before.column_stride)] = true;
      const Sum e = expected(i, j);
      const long double error = size(wide(after.at(i, j)) - e.value);
      if (!(error <= bound * kOracle * e.scale)) {
        FAIL() << "(" << i << ", " << j << ") is (" << wide(after.at(i, j)).re << ", " << wide(after.at(i, j)).im
               << "), exact (" << e.value.re << ", " << e.value.im << "), error " << error / e.scale
               << " of its scale, bound " << bound;
      }
    }
  }
  for (std::size_t i = 0; i < named.size(); ++i) {
    if (!named[i] && std::memcmp(&after.storage[i], &before.storage[i], sizeof(T)) != 0)
      FAIL() << "storage element " << i << " was changed";
  }
}
template <class T, class Expected>
void expect_elements(const Stored<T>& before, const Stored<T>& after, double bound, Expected expected) {
  expect_elements(
      before, after, bound, [](auto, auto) { return true; }, expected);
}

template <class T> Stored<T> fetched(const Stored<T>& before, const OnDevice<T>& x) {
  Stored<T> after = before;
  after.storage = x.array.to_host();
  return after;
}

// beta = 0: C holds NaN, which must not be read.
template <class T>
Stored<T> output(std::int64_t rows, std::int64_t columns, Layout layout, bool read, std::mt19937_64& random) {
  return partly<T>(rows, columns, layout, random, [read](auto, auto) { return read; });
}

// f(float{}), f(double{}), f(complex<float>{}), f(complex<double>{}).
template <class F> void for_scalars(F f) {
  f(float{});
  f(double{});
  f(std::complex<float>{});
  f(std::complex<double>{});
}
template <class F> void for_complex(F f) {
  f(std::complex<float>{});
  f(std::complex<double>{});
}
template <class T> T number(double re, double im) {
  if constexpr (ComplexScalar<T>) {
    return T(static_cast<Real<T>>(re), static_cast<Real<T>>(im));
  } else {
    return static_cast<T>(re);
  }
}

using testing_support::message_of;

}  // namespace trn::blas::test
