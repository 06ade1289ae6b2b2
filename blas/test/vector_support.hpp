// What the tests of levels 1 and 2 share: vectors with memory around them that must not change, random numbers, and
// complex arithmetic in
// __float128 as the oracle.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <trn/blas/types.hpp>
#include <vector>

#include "support/message_of.hpp"

namespace trn::blas::test {

using Quad = __float128;
inline Quad magnitude(Quad x) { return x < 0 ? -x : x; }

// A complex number of the oracle; real types have im = 0.
struct Wide {
  Quad re = 0, im = 0;
  friend Wide operator+(Wide a, Wide b) { return {a.re + b.re, a.im + b.im}; }
  friend Wide operator-(Wide a, Wide b) { return {a.re - b.re, a.im - b.im}; }
  friend Wide operator*(Wide a, Wide b) { return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re}; }
};
inline Wide conj(Wide a) { return {a.re, -a.im}; }
// |z| up to 2^-60: enough for a bound.
inline double size(Wide z) { return std::hypot(static_cast<double>(z.re), static_cast<double>(z.im)); }
template <class T> Wide wide(T x) {
  if constexpr (RealScalar<T>) {
    return {x, 0};
  } else {
    return {x.real(), x.imag()};
  }
}

template <class T> inline constexpr double kUnit = std::numeric_limits<Real<T>>::epsilon() / 2;
// Rounding of n-term sums relative to sum |a||b|, first order and a little: complex parts have 2 n terms, |re| + |im|
// <= sqrt(2) |z|.
template <class T> double sum_bound(double n) {
  return (ComplexScalar<T> ? 2 * std::sqrt(2.0) * (n + 1) : n) * kUnit<T> * 1.001;
}

template <class T> T random_value(std::mt19937_64& random) {
  std::normal_distribution<double> normal;
  if constexpr (RealScalar<T>) {
    return static_cast<T>(normal(random));
  } else {
    const double re = normal(random);
    return T(static_cast<Real<T>>(re), static_cast<Real<T>>(normal(random)));
  }
}
template <class T> T number(double re, double im) {
  if constexpr (RealScalar<T>) {
    return static_cast<T>(re);
  } else {
    return T(static_cast<Real<T>>(re), static_cast<Real<T>>(im));
  }
}
template <class T> T not_a_number() { return number<T>(NAN, NAN); }

template <class T> bool same_bits(T a, T b) { return std::memcmp(&a, &b, sizeof(T)) == 0; }

// n elements, `stride` apart, inside memory full of NaN.
template <class T> class Vec {
 public:
  Vec(std::int64_t n, std::int64_t stride) : n_(n), stride_(stride) {
    const std::int64_t span = n > 0 ? (n - 1) * std::abs(stride) : 0;
    offset_ = kMargin + (stride < 0 ? span : 0);
    memory_.assign(static_cast<std::size_t>(span + 1 + 2 * kMargin), not_a_number<T>());
  }
  Vec(std::int64_t n, std::int64_t stride, std::mt19937_64& random) : Vec(n, stride) {
    for (std::int64_t i = 0; i < n; ++i) at(i) = random_value<T>(random);
  }
  [[nodiscard]] T& at(std::int64_t i) { return memory_[static_cast<std::size_t>(offset_ + i * stride_)]; }
  [[nodiscard]] T at(std::int64_t i) const { return memory_[static_cast<std::size_t>(offset_ + i * stride_)]; }
  [[nodiscard]] Wide operator()(std::int64_t i) const { return wide(at(i)); }
  [[nodiscard]] std::int64_t size() const { return n_; }
  [[nodiscard]] VectorView<T> view() { return {Executor::host(), memory_.data() + offset_, n_, stride_}; }
  // Everything but the elements is as it was.
  [[nodiscard]] bool surroundings_intact(const Vec& before) const {
    std::vector<bool> inside(memory_.size(), false);
    for (std::int64_t i = 0; i < n_; ++i) inside[static_cast<std::size_t>(offset_ + i * stride_)] = true;
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      if (!inside[i] && !same_bits(memory_[i], before.memory_[i])) return false;
    }
    return true;
  }
  [[nodiscard]] bool same(const Vec& other) const {
    return memory_.size() == other.memory_.size() &&
           std::memcmp(memory_.data(), other.memory_.data(), memory_.size() * sizeof(T)) == 0;
  }

 private:
  static constexpr std::int64_t kMargin = 3;
  std::int64_t n_, stride_, offset_;
  std::vector<T> memory_;
};

// |got - want| <= bound * scale.
template <class T> void expect_close(T got, Wide want, double bound, double scale, const char* what, std::int64_t i) {
  const double error = size(wide(got) - want);
  EXPECT_TRUE(error <= bound * scale) << what << ", element " << i << ": error " << error << ", allowed "
                                      << bound * scale;
}

using testing_support::message_of;

using ScalarTypes = ::testing::Types<float, double, std::complex<float>, std::complex<double>>;

}  // namespace trn::blas::test
