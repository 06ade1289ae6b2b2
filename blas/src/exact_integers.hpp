// The integers of Precision Exact: how a floating-point number becomes one, the moduli, and the way back from residues.
//
// A number x of a row with shift s becomes q = x 2^s rounded to an integer, |q - x 2^s| <= kRounding. q is made of four limbs,
// q = limb[3] + limb[2] + limb[1] + limb[0], limb[l] a multiple of 2^(16 l), computed in fp32 operations that are the same on the
// host and on the device, so that both have the same integers: see slice().
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace trn::blas::exact {

inline constexpr double kRounding = 0.5 + 0x1p-7;
inline constexpr int kBitsMax = 62;       // |q| <= 2^62
inline constexpr int kModuliMax = 20;
inline constexpr int kTermsMax = 2048;    // products of residues that fp32 adds exactly: 2048 * 90^2 < 2^24

// Pairwise coprime, descending from 179: residues |r| <= 90.
[[nodiscard]] std::span<const int> moduli();
[[nodiscard]] double log2_product(int count);

struct Limbs { std::array<float, 4> limb; };
// Flushes to 0 what is smaller than 2^-100 after scaling. x is finite.
[[nodiscard]] Limbs slice(double x, int shift);
[[nodiscard]] Limbs slice(float x, int shift);
[[nodiscard]] std::int64_t integer(const Limbs& limbs);
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

// The leading digits of a Wide: value = (high + low) 2^exponent, 1 <= |high| < 2 or 0; low continues high for 53 bits, and its last bit
// says whether anything follows, so that one addition rounds the whole integer correctly.
struct Leading { double high = 0, low = 0; int exponent = 0; };
[[nodiscard]] Leading leading(const Wide& x);

// Chinese remainders: the x of least magnitude with x = residue[i] mod moduli()[i] for the first `count` moduli. Right while
// |x| <= 0.499 P. Residues may be any representatives below 2^15 in magnitude.
class Chinese {
 public:
  explicit Chinese(int count);
  [[nodiscard]] Wide combine(const std::int16_t* residue, std::int64_t stride) const;

 private:
  int count_;
  Wide product_;
  std::vector<Wide> cofactor_;       // P / p
  std::vector<int> inverse_;         // of the cofactor mod p
};

}  // namespace trn::blas::exact
