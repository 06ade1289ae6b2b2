// ExactSum: a sum of numbers and of products of two numbers without any rounding, and its value rounded once.
//
// A fixed-point accumulator as wide as the range of products of two doubles: from 2^-2148 (the square of the smallest
// subnormal) to 2^2048, and 64 bits of headroom for carries. It is an array of 32-bit digits held in 64-bit words, so
// that additions need no carry propagation until 2^30 of them were made. The value never depends on the order of the
// terms.
#pragma once

#include <array>
#include <cstdint>

namespace trn {

class ExactSum {
 public:
  // += x; += x * y, exactly. Infinities and NaN are kept apart, added in plain arithmetic, and then are the value.
  void add(double x) { add_product(x, 1); }
  void add_product(double x, double y);
  // += another sum, exactly.
  void add(const ExactSum& other);

  // The sum rounded to nearest, ties to even, once; overflow gives infinity, an empty or cancelled sum +0.
  [[nodiscard]] double to_double() const;
  [[nodiscard]] float to_float() const;

  // mantissa * 2^exponent with |mantissa| in [1, 4), the exponent even, and the sum's 64 leading bits: for square
  // roots. The mantissa is 0 for a sum of 0, infinite or NaN for a sum that is.
  struct Scaled {
    long double mantissa;
    int exponent;
  };
  [[nodiscard]] Scaled scaled() const;

 private:
  static constexpr int kLowest = -2148;  // weight of bit 0
  static constexpr int kDigits = (2148 + 2048 + 64 + 31) / 32 + 1;

  // Sign and magnitude of the sum, most significant bits first.
  struct Leading {
    bool negative;
    std::uint64_t bits;  // the 64 leading bits, the first of them set; 0 when the sum is 0
    bool rest;           // whether anything follows them
    int exponent;        // weight of the first bit
  };
  void normalize() const;
  [[nodiscard]] Leading leading() const;
  template <class T> [[nodiscard]] T rounded() const;

  mutable std::array<std::int64_t, kDigits> digits_{};
  mutable std::int64_t pending_ = 0;  // additions since the last normalize()
  double special_ = 0;
  bool has_special_ = false;
};

}  // namespace trn
