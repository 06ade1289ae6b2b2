// For tests of rows that have four element types: the types' names in C, random numbers, dense matrices in long double.
#pragma once

#include <cmath>
#include <complex>
#include <limits>
#include <random>

#include "mem.hpp"

namespace capi_test {

using Wide = std::complex<long double>;
template <class T> struct Real { using type = T; };
template <class T> struct Real<std::complex<T>> { using type = T; };
template <class T> constexpr bool kComplex = !std::is_floating_point_v<T>;
template <class T> constexpr trnDataType kReal = sizeof(typename Real<T>::type) == 4 ? TRN_R_32F : TRN_R_64F;
template <class T> constexpr trnDataType kData = !kComplex<T>                          ? kReal<T>
                                                 : sizeof(typename Real<T>::type) == 4 ? TRN_C_32F
                                                                                       : TRN_C_64F;
template <class T> constexpr long double kUnit = std::numeric_limits<typename Real<T>::type>::epsilon();
inline Wide wide(auto x) { return Wide(x); }

// C's names of the types.
template <class A> A plain(A a) { return a; }
inline auto plain(std::complex<float>* p) { return reinterpret_cast<trnComplex*>(p); }
inline auto plain(std::complex<double>* p) { return reinterpret_cast<trnDoubleComplex*>(p); }
inline auto plain(const std::complex<float>* p) { return reinterpret_cast<const trnComplex*>(p); }
inline auto plain(const std::complex<double>* p) { return reinterpret_cast<const trnDoubleComplex*>(p); }
template <class T> T* plain(const Mem<T>& m) = delete;
// name<T>(...) calls the row of the type's letter; the real types' rows may have another name.
#define TRN_ROW2(name, before, row_sd, row_cz)                                                    \
  template <class T> auto name(auto... a) {                                                       \
    using capi_test::plain;                                                                       \
    if constexpr (std::is_same_v<T, float>) return before##S##row_sd(plain(a)...);                \
    if constexpr (std::is_same_v<T, double>) return before##D##row_sd(plain(a)...);               \
    if constexpr (std::is_same_v<T, std::complex<float>>) return before##C##row_cz(plain(a)...);  \
    if constexpr (std::is_same_v<T, std::complex<double>>) return before##Z##row_cz(plain(a)...); \
  }
#define TRN_ROW(before, row) TRN_ROW2(row, before, row, row)

// A number of each type: components in (-1, 1).
class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  int below(int n) { return static_cast<int>(engine_() % static_cast<unsigned>(n)); }
  template <class T> T number() {
    const auto part = [&] { return static_cast<typename Real<T>::type>(uniform_(engine_)); };
    if constexpr (kComplex<T>) {
      const auto real = part();
      return T(real, part());
    } else {
      return part();
    }
  }
  template <class T> std::vector<T> numbers(int n) {
    std::vector<T> v;
    for (int i = 0; i < n; ++i) v.push_back(number<T>());
    return v;
  }

 private:
  std::mt19937 engine_;
  std::uniform_real_distribution<double> uniform_{-1, 1};
};

// A dense matrix, row-major.
template <class T> struct Dense {
  int rows, columns;
  std::vector<T> x = std::vector<T>(static_cast<std::size_t>(rows * columns));
  T& operator()(int i, int j) { return x[static_cast<std::size_t>(i * columns + j)]; }
  const T& operator()(int i, int j) const { return x[static_cast<std::size_t>(i * columns + j)]; }
};
// op 0, 1, 2: N, T, C.
template <class T> Dense<Wide> op(int which, const Dense<T>& a) {
  Dense<Wide> r{which ? a.columns : a.rows, which ? a.rows : a.columns};
  for (int i = 0; i < r.rows; ++i)
    for (int j = 0; j < r.columns; ++j) {
      const Wide x = which ? wide(a(j, i)) : wide(a(i, j));
      r(i, j) = which == 2 ? std::conj(x) : x;
    }
  return r;
}
// Random, with about half of the elements zero, and a strong diagonal if asked for.
template <class T> Dense<T> sprinkled(Random& random, int rows, int columns, bool diagonal = false) {
  Dense<T> a{rows, columns};
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      if (random.below(2)) a(i, j) = random.number<T>();
      if (diagonal && i == j) a(i, j) = T(4) + random.number<T>();
    }
  return a;
}
// |a - sum x_k y_k| within a few units of sum |x_k y_k|.
class Sum {
 public:
  void add(Wide term) { sum_ += term, size_ += std::abs(term); }
  template <class T> void expect(T got, long double units = 16) const {
    EXPECT_LE(std::abs(wide(got) - sum_), units * kUnit<T> * size_) << "got " << got << " and not " << sum_;
  }
  [[nodiscard]] Wide value() const { return sum_; }

 private:
  Wide sum_;
  long double size_ = 0;
};
template <class F> void for_types(const F& f) {
  f(float{}), f(double{}), f(std::complex<float>{}), f(std::complex<double>{});
}

}  // namespace capi_test
