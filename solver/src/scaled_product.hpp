// A product of many numbers as mantissa * 2^exponent: it neither over- nor underflows, and rounds in 80 bits.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <numbers>

#include <trn/solver/types.hpp>

namespace trn::solver {

template <Scalar T> class ScaledProduct {
  using Wide = std::conditional_t<blas::ComplexScalar<T>, std::complex<long double>, long double>;

 public:
  void multiply(const T& x) { multiply_wide(Wide(x)); }
  void negate() { mantissa_ = -mantissa_; }
  // *= x y - z w, formed in 80 bits: the determinant of a 2 x 2 block.
  void multiply_difference(const T& x, const T& y, const T& z, const T& w) {
    multiply_wide(Wide(x) * Wide(y) - Wide(z) * Wide(w));
  }

  [[nodiscard]] T value() const {
    const auto e = static_cast<int>(std::clamp<std::int64_t>(exponent_, -40000, 40000));
    if constexpr (blas::ComplexScalar<T>) {
      return T(static_cast<Real<T>>(std::ldexp(mantissa_.real(), e)),
               static_cast<Real<T>>(std::ldexp(mantissa_.imag(), e)));
    } else {
      return static_cast<T>(std::ldexp(mantissa_, e));
    }
  }
  [[nodiscard]] LogDeterminant<T> logarithm() const {
    const long double size = std::abs(mantissa_);
    if (size == 0) return {T(0), -std::numeric_limits<Real<T>>::infinity()};
    const long double log = std::log(size) + static_cast<long double>(exponent_) * std::numbers::ln2_v<long double>;
    return {T(mantissa_ / size), static_cast<Real<T>>(log)};
  }

 private:
  void multiply_wide(const Wide& x) {
    mantissa_ *= x;
    long double size;
    if constexpr (blas::ComplexScalar<T>) {
      size = std::max(std::abs(mantissa_.real()), std::abs(mantissa_.imag()));
    } else {
      size = std::abs(mantissa_);
    }
    if (size == 0 || !std::isfinite(size)) return;
    int e = 0;
    (void)std::frexp(size, &e);
    mantissa_ *= std::ldexp(1.0L, -e);
    exponent_ += e;
  }

  Wide mantissa_ = 1;
  std::int64_t exponent_ = 0;
};

}  // namespace trn::solver
