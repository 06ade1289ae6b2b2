// Matrices in every layout with guarded surroundings, references in 80-bit arithmetic, and LAPACK's test ratios.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <vector>

#include <trn/solver/types.hpp>

namespace trn::solver::testing {

// The type in which references are computed.
template <class T> struct WideOf { using type = long double; };
template <class R> struct WideOf<std::complex<R>> { using type = std::complex<long double>; };
template <class T> using Wide = typename WideOf<T>::type;

template <class T> constexpr bool is_complex = blas::ComplexScalar<T>;
template <class T> inline const long double eps = std::numeric_limits<Real<T>>::epsilon();
inline long double conjugate(long double x) { return x; }
inline std::complex<long double> conjugate(const std::complex<long double>& x) { return std::conj(x); }

// Uniform in [-1, 1), the same numbers everywhere.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}
  std::uint64_t bits() {
    std::uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }
  double uniform() { return static_cast<double>(static_cast<std::int64_t>(bits())) * 0x1p-63; }
  std::int64_t below(std::int64_t n) { return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(n)); }
  template <class T> T number() {
    if constexpr (is_complex<T>) {
      const double re = uniform();
      return T(static_cast<Real<T>>(re), static_cast<Real<T>>(uniform()));
    } else {
      return static_cast<T>(uniform());
    }
  }

 private:
  std::uint64_t state_;
};

// A reference matrix.
template <class W> struct Dense {
  std::int64_t rows = 0, columns = 0;
  std::vector<W> values;
  Dense(std::int64_t m, std::int64_t n) : rows(m), columns(n), values(static_cast<std::size_t>(m * n)) {}
  W& operator()(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i * columns + j)]; }
  const W& operator()(std::int64_t i, std::int64_t j) const {
    return values[static_cast<std::size_t>(i * columns + j)];
  }
};

template <class W> Dense<W> identity(std::int64_t n) {
  Dense<W> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = 1;
  return a;
}
template <class W> Dense<W> transposed(const Dense<W>& a, bool conj = false) {
  Dense<W> t(a.columns, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) t(j, i) = conj ? W(conjugate(a(i, j))) : a(i, j);
  }
  return t;
}
template <class W> Dense<W> adjoint(const Dense<W>& a) { return transposed(a, true); }
template <class W> Dense<W> times(const Dense<W>& a, const Dense<W>& b) {
  Dense<W> c(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = 0; k < a.columns; ++k) {
      const W x = a(i, k);
      for (std::int64_t j = 0; j < b.columns; ++j) {
        if constexpr (std::same_as<W, long double>) {
          c(i, j) += x * b(k, j);
        } else {  // without the tests for NaN of std::complex
          const W y = b(k, j);
          c(i, j) += W(x.real() * y.real() - x.imag() * y.imag(), x.real() * y.imag() + x.imag() * y.real());
        }
      }
    }
  }
  return c;
}
template <class W> Dense<W> minus(const Dense<W>& a, const Dense<W>& b) {
  Dense<W> c = a;
  for (std::size_t i = 0; i < c.values.size(); ++i) c.values[i] -= b.values[i];
  return c;
}
// The 1-norm; NaN when an element is.
template <class W> long double norm1(const Dense<W>& a) {
  long double most = 0;
  for (std::int64_t j = 0; j < a.columns; ++j) {
    long double sum = 0;
    for (std::int64_t i = 0; i < a.rows; ++i) sum += std::abs(a(i, j));
    if (!(sum <= most)) most = sum;
  }
  return most;
}
template <class W> long double largest(const Dense<W>& a) {
  long double most = 0;
  for (const W& x : a.values) {
    if (!(std::abs(x) <= most)) most = std::abs(x);
  }
  return most;
}

template <class T> Wide<std::remove_const_t<T>> widened(const T& x) { return Wide<std::remove_const_t<T>>(x); }
template <class T> Dense<Wide<std::remove_const_t<T>>> wide(const MatrixView<T>& a) {
  Dense<Wide<std::remove_const_t<T>>> w(a.rows(), a.columns());
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j < a.columns(); ++j) {
      w(i, j) = widened(a.data()[i * a.row_stride() + j * a.column_stride()]);
    }
  }
  return w;
}
// The matrix that one triangle stands for.
template <class W> Dense<W> mirrored(Dense<W> a, Uplo uplo, bool hermitian = true) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      W &low = a(i, j), &high = a(j, i);
      if (uplo == Uplo::Lower) {
        high = hermitian ? W(conjugate(low)) : low;
      } else {
        low = hermitian ? W(conjugate(high)) : high;
      }
    }
  }
  return a;
}
// The triangle, zeros elsewhere; a unit diagonal if asked for.
template <class W> Dense<W> triangle(Dense<W> a, Uplo uplo, bool unit = false) {
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      if (uplo == Uplo::Lower ? j > i : j < i) a(i, j) = 0;
      if (unit && i == j) a(i, j) = 1;
    }
  }
  return a;
}

enum class Layout { RowMajor, ColumnMajor, PaddedRows, PaddedColumns, Scattered, Reversed };
inline constexpr Layout kLayouts[] = {Layout::RowMajor,      Layout::ColumnMajor, Layout::PaddedRows,
                                      Layout::PaddedColumns, Layout::Scattered,   Layout::Reversed};

// A matrix in one of the layouts; memory between and around its elements must stay as it is.
template <class T> class Held {
 public:
  Held(Layout layout, std::int64_t rows, std::int64_t columns) : rows_(rows), columns_(columns) {
    switch (layout) {
      case Layout::RowMajor:
        rs_ = columns, cs_ = 1;
        break;
      case Layout::ColumnMajor:
        rs_ = 1, cs_ = rows;
        break;
      case Layout::PaddedRows:
        rs_ = columns + 5, cs_ = 1;
        break;
      case Layout::PaddedColumns:
        rs_ = 1, cs_ = rows + 3;
        break;
      case Layout::Scattered:
        rs_ = 2 * columns + 3, cs_ = 2;
        break;
      case Layout::Reversed:
        rs_ = -columns, cs_ = -1;
        break;
    }
    std::int64_t low = 0, high = 0;
    for (const std::int64_t step :
         {rs_ * std::max<std::int64_t>(rows - 1, 0), cs_ * std::max<std::int64_t>(columns - 1, 0)}) {
      (step < 0 ? low : high) += step;
    }
    memory_.assign(static_cast<std::size_t>(high - low + 9), T(77));
    origin_ = 4 - low;
  }
  Held(Layout layout, const Dense<Wide<T>>& from) : Held(layout, from.rows, from.columns) { set(from); }
  void set(const Dense<Wide<T>>& from) {
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) at(i, j) = T(from(i, j));
    }
  }
  T& at(std::int64_t i, std::int64_t j) { return memory_[static_cast<std::size_t>(origin_ + i * rs_ + j * cs_)]; }
  MatrixView<T> view() { return {Executor::host(), memory_.data() + origin_, rows_, columns_, rs_, cs_}; }
  Dense<Wide<T>> values() { return wide(view()); }
  // Everything that is not an element still holds what the constructor wrote.
  bool surroundings_untouched() const {
    std::vector<char> mine(memory_.size());
    for (std::int64_t i = 0; i < rows_; ++i) {
      for (std::int64_t j = 0; j < columns_; ++j) mine[static_cast<std::size_t>(origin_ + i * rs_ + j * cs_)] = 1;
    }
    for (std::size_t k = 0; k < memory_.size(); ++k) {
      if (!mine[k] && memory_[k] != T(77)) return false;
    }
    return true;
  }

 private:
  std::int64_t rows_, columns_, rs_ = 1, cs_ = 1, origin_ = 0;
  std::vector<T> memory_;
};

// A random matrix whose elements are representable in T.
template <class T> Dense<Wide<T>> random_matrix(std::int64_t m, std::int64_t n, Random& random) {
  Dense<Wide<T>> a(m, n);
  for (auto& x : a.values) x = widened(random.number<T>());
  return a;
}
// Hermitian (or symmetric), elements in T.
template <class T> Dense<Wide<T>> random_hermitian(std::int64_t n, Random& random, bool hermitian = true) {
  Dense<Wide<T>> a = mirrored(random_matrix<T>(n, n, random), Uplo::Lower, hermitian);
  for (std::int64_t i = 0; hermitian && i < n; ++i) a(i, i) = Wide<T>(std::real(a(i, i)));
  return a;
}
// Hermitian with a dominant diagonal: positive definite.
template <class T> Dense<Wide<T>> random_positive(std::int64_t n, Random& random) {
  Dense<Wide<T>> a = random_hermitian<T>(n, random);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) = Wide<T>(static_cast<long double>(2 * n + 1));
  return a;
}
template <class T> Dense<Wide<T>> rounded(Dense<Wide<T>> a) {
  for (auto& x : a.values) x = widened(T(x));
  return a;
}
// 1 / (i + j + 1), rounded to T.
template <class T> Dense<Wide<T>> hilbert(std::int64_t n) {
  Dense<Wide<T>> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) a(i, j) = 1.0L / static_cast<long double>(i + j + 1);
  }
  return rounded<T>(a);
}

// LAPACK's ratio of a solve, a product or a factorisation: ||difference||_1 / (n scale eps). NaN stays NaN.
template <class W> long double ratio(const Dense<W>& difference, long double scale, std::int64_t n, long double unit) {
  const long double size = norm1(difference);
  if (size == 0) return 0;
  return size / (static_cast<long double>(std::max<std::int64_t>(n, 1)) * scale * unit);
}
// ||I - Q^H Q||_1 / (n eps)
template <class W> long double orthogonality(const Dense<W>& q, long double unit) {
  return ratio(minus(times(adjoint(q), q), identity<W>(q.columns)), 1, q.rows, unit);
}

// f.template operator()<T>() for the four types, each with a trace.
template <class F> void for_scalars(F f) {
  {
    SCOPED_TRACE("float");
    f.template operator()<float>();
  }
  {
    SCOPED_TRACE("double");
    f.template operator()<double>();
  }
  {
    SCOPED_TRACE("complex<float>");
    f.template operator()<std::complex<float>>();
  }
  {
    SCOPED_TRACE("complex<double>");
    f.template operator()<std::complex<double>>();
  }
}

// LAPACK's testers accept 30; a ratio above this is a defect.
inline constexpr long double kThreshold = 10;

}  // namespace trn::solver::testing
