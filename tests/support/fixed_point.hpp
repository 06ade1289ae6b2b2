// An oracle without rounding: sums of products of up to three doubles as one integer of 7,040 bits, added word by word.
// It shares nothing with the product's own sums.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

namespace trn::test {

class FixedPoint {
 public:
  // += x y z, all finite.
  void add(double x, double y = 1, double z = 1) {
    if (x == 0 || y == 0 || z == 0) return;
    int ex = 0, ey = 0, ez = 0;
    const std::uint64_t mx = integer(x, ex), my = integer(y, ey), mz = integer(z, ez);
    __extension__ using Double = unsigned __int128;
    const Double xy = static_cast<Double>(mx) * my;
    const Double low = static_cast<Double>(static_cast<std::uint64_t>(xy)) * mz;
    const Double high = static_cast<Double>(static_cast<std::uint64_t>(xy >> 64)) * mz + (low >> 64);
    const std::uint64_t words[4] = {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high),
                                    static_cast<std::uint64_t>(high >> 64), 0};
    const int at = ex + ey + ez + kUnit, shift = at % 64;
    std::size_t index = static_cast<std::size_t>(at / 64);
    const bool minus = (x < 0) != ((y < 0) != (z < 0));
    std::uint64_t before = 0, carry = 0;
    for (int w = 0; index < kWords && (w < 4 || carry != 0); ++w, ++index) {
      const std::uint64_t word = w < 4 ? words[w] : 0;
      const std::uint64_t moved = shift == 0 ? word : word << shift | before >> (64 - shift);
      before = word;
      const std::uint64_t old = word_[index];
      if (minus) {
        const std::uint64_t first = old - moved, second = first - carry;
        carry = (old < moved ? 1U : 0U) + (first < carry ? 1U : 0U);
        word_[index] = second;
      } else {
        const std::uint64_t first = old + moved, second = first + carry;
        carry = (first < old ? 1U : 0U) + (second < first ? 1U : 0U);
        word_[index] = second;
      }
    }
  }

  // The value, cut off after at least 64 bits.
  [[nodiscard]] long double value() const {
    std::array<std::uint64_t, kWords> magnitude = word_;
    const bool minus = word_.back() >> 63 != 0;
    if (minus) {
      std::uint64_t carry = 1;
      for (auto& w : magnitude) {
        w = ~w + carry;
        carry = carry != 0 && w == 0 ? 1 : 0;
      }
    }
    int top = kWords - 1;
    while (top >= 0 && magnitude[static_cast<std::size_t>(top)] == 0) --top;
    if (top < 0) return 0;
    long double sum = 0;
    for (int i = top; i >= 0 && i > top - 3; --i)
      sum += std::ldexp(static_cast<long double>(magnitude[static_cast<std::size_t>(i)]), 64 * i - kUnit);
    return minus ? -sum : sum;
  }
  [[nodiscard]] bool zero() const { return word_ == std::array<std::uint64_t, kWords>{}; }

 private:
  static constexpr int kUnit = 3264;  // the last bit counts 2^-3264
  static constexpr std::size_t kWords = 110;

  // |x| = integer * 2^e
  static std::uint64_t integer(double x, int& e) {
    const double m = std::frexp(std::abs(x), &e);
    e -= 53;
    auto value = static_cast<std::uint64_t>(std::ldexp(m, 53));
    while (e < -1074) value >>= 1, ++e;  // subnormal: the bits shifted out are zero
    return value;
  }

  std::array<std::uint64_t, kWords> word_{};
};

}  // namespace trn::test
