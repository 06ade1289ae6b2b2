// The integers of Precision Exact: how a floating-point number becomes one, the moduli, and the constants of the way
// back.
//
// A number x of a row with shift s becomes q = x 2^s rounded to an integer, |q - x 2^s| <= kRounding. q is made of four
// limbs, q = limb[3] + limb[2] + limb[1] + limb[0], limb[l] a multiple of 2^(16 l), computed in fp32 operations that
// are the same on the host and on the device, so that both have the same integers: see slice().
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace trn::blas::exact {

inline constexpr double kRounding = 0.5 + 0x1p-7;
inline constexpr int kBitsMax = 62;  // |q| <= 2^62
inline constexpr int kModuliMax = 20;
inline constexpr int kTermsMax = 2048;  // products of residues that fp32 adds exactly: 2048 * 90^2 < 2^24

// Pairwise coprime, descending from 179: residues |r| <= 90.
[[nodiscard]] std::span<const int> moduli();
[[nodiscard]] double log2_product(int count);

struct Limbs {
  std::array<float, 4> limb;
};
// Flushes to 0 what is smaller than 2^-100 after scaling. x is finite.
[[nodiscard]] Limbs slice(double x, int shift);
[[nodiscard]] Limbs slice(float x, int shift);
[[nodiscard]] std::int64_t integer(const Limbs& limbs);
// The limbs that devices make of numbers up to 2^bits, and their units as powers of two: fewer where the numbers are
// smaller, for the work with them is what a device's Vector Engine has least time for. The sum is that of slice().
[[nodiscard]] constexpr int limb_count(int bits) { return bits <= 38 ? 2 : bits <= 55 ? 3 : 4; }
[[nodiscard]] constexpr std::array<int, 4> limb_units(int limbs) {
  if (limbs == 4) return {0, 16, 32, 48};
  return {0, 22, 39, 0};
}
// What a float32 operand's slice adds to the fp32 exponent field, and a float64 operand's: the scale 2^(field - 127).
[[nodiscard]] int exponent_offset(bool wide, int shift);

// 192 bits, two's complement.
struct Wide {
  std::array<std::uint64_t, 3> word{};
  // += coefficient * 2^shift, shift < 128.
  void add(std::int64_t coefficient, int shift);
  // += coefficient * other
  void add(std::int64_t coefficient, const Wide& other);
  [[nodiscard]] bool negative() const { return (word[2] >> 63) != 0; }
  friend bool operator==(const Wide&, const Wide&) = default;
};

// The leading digits of a Wide: value = (high + low) 2^exponent, 1 <= |high| < 2 or 0; low continues high for 53 bits,
// and its last bit says whether anything follows, so that one addition rounds the whole integer correctly.
struct Leading {
  double high = 0, low = 0;
  int exponent = 0;
};
[[nodiscard]] Leading leading(const Wide& x);

// Chinese remainders in words that fp32 adds exactly. With P the product of the first `count` moduli p_i and
// w_i = (P / p_i) * ((P / p_i)^-1 mod p_i), balanced, |w_i| <= P/2:
//
//   x = sum r_i w_i - q P,   q = the integer nearest to sum r_i w_i / P,   for any x = r_i mod p_i with |x| <= 0.499 P
//
// w_i and P are kept as balanced digits of 12 bits, sum over k of digit[k] 2^(12 k), and w_i / P as two digits after
// the point, (high + low / 4096) / 4096: so every sum over i of r_i times a digit is below 2^22 (docs/precision.md).
struct Recombination {
  static constexpr int kDigitBits = 12;
  int moduli = 0;
  int limbs = 0;                                  // the result: limbs of 24 bits, two digits each
  std::vector<std::int32_t> product;              // 2 limbs digits of P; the last one holds what is left
  std::vector<std::vector<std::int32_t>> weight;  // per modulus: 2 limbs digits of w_i, then high and low of w_i / P
};
[[nodiscard]] Recombination recombination(int moduli);
// sum over j of limb[j * stride] 2^(24 j)
[[nodiscard]] Wide join(const float* limb, std::int64_t stride, int limbs);

}  // namespace trn::blas::exact
