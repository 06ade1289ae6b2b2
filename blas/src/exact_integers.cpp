// Slices, moduli, 192-bit integers, and the constants of recombination.
#include "exact_integers.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include <trn/core/error.hpp>

namespace trn::blas::exact {

namespace {

constexpr std::array<int, kModuliMax> kModuli{179, 178, 177, 175, 173, 169, 167, 163, 157, 151,
                                              149, 139, 137, 131, 127, 121, 113, 109, 107, 103};

__extension__ using Double = unsigned __int128;

// x rounded to a multiple of 2^(16 limb), to nearest even, by fp32 additions of 1.5 * 2^(16 limb + 23). |x| < 2^(16
// limb + 22).
constexpr std::array<float, 4> kMagic{0x1.8p23F, 0x1.8p39F, 0x1.8p55F, 0x1.8p71F};
float to_multiple(float x, int limb) {
  const float magic = kMagic[static_cast<std::size_t>(limb)];
  return (x + magic) - magic;
}

int inverse_mod(int a, int p) {
  for (int x = 1; x < p; ++x) {
    if (a * x % p == 1) return x;
  }
  return 0;
}

}  // namespace

std::span<const int> moduli() { return kModuli; }

double log2_product(int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i) sum += std::log2(kModuli[static_cast<std::size_t>(i)]);
  return sum;
}

int exponent_offset(bool wide, int shift) { return wide ? shift - 1075 + 32 + 127 : shift - 150 + 127; }

// The device's steps where it makes four limbs (fewer have the same sum): significand in pieces of 21, 16 and 16 bits,
// each scaled by a power of two (all exact), then limb by limb the nearest multiple of 2^48, 2^32, 2^16 taken off each
// piece, and the sum of what is left rounded to an integer.
Limbs slice(double x, int shift) {
  const auto bits = std::bit_cast<std::uint64_t>(x);
  const int field = static_cast<int>(bits >> 52 & 0x7ff);
  const int exponent = std::clamp(std::max(field, 1) + exponent_offset(true, shift), 0, 254);
  const auto sign = static_cast<std::uint32_t>(bits >> 32) & 0x80000000U;
  const float scale = std::bit_cast<float>(static_cast<std::uint32_t>(exponent) << 23 | sign);
  const float top = static_cast<float>(bits >> 32 & 0xfffff) + (field > 0 ? 0x1p20F : 0.0F);
  const float f2 = top * scale;
  const float f1 = static_cast<float>(bits >> 16 & 0xffff) * 0x1p-16F * scale;
  const float f0 = static_cast<float>(bits & 0xffff) * 0x1p-32F * scale;
  Limbs q;
  q.limb[3] = to_multiple(f2, 3);
  const float r3 = f2 - q.limb[3];
  const float h2 = to_multiple(r3, 2), g2 = to_multiple(f1, 2);
  q.limb[2] = h2 + g2;
  const float r2 = r3 - h2, s2 = f1 - g2;
  const float h1 = to_multiple(r2, 1), g1 = to_multiple(s2, 1), u1 = to_multiple(f0, 1);
  q.limb[1] = (h1 + g1) + u1;
  const float r1 = r2 - h1, s1 = s2 - g1, u0 = f0 - u1;
  q.limb[0] = to_multiple((s1 + u0) + r1, 0);
  return q;
}

// One piece of 24 bits.
Limbs slice(float x, int shift) {
  const auto bits = std::bit_cast<std::uint32_t>(x);
  const int field = static_cast<int>(bits >> 23 & 0xff);
  const int exponent = std::clamp(std::max(field, 1) + exponent_offset(false, shift), 0, 254);
  const float scale = std::bit_cast<float>(static_cast<std::uint32_t>(exponent) << 23 | (bits & 0x80000000U));
  float rest = (static_cast<float>(bits & 0x7fffff) + (field > 0 ? 0x1p23F : 0.0F)) * scale;
  Limbs q;
  for (int l = 3; l >= 0; --l) {
    q.limb[static_cast<std::size_t>(l)] = to_multiple(rest, l);
    rest -= q.limb[static_cast<std::size_t>(l)];
  }
  return q;
}

std::int64_t integer(const Limbs& limbs) {
  std::int64_t sum = 0;
  for (const float limb : limbs.limb) sum += static_cast<std::int64_t>(limb);
  return sum;
}

void Wide::add(std::int64_t coefficient, int shift) {
  const std::uint64_t fill = coefficient < 0 ? ~std::uint64_t{0} : 0;
  std::array<std::uint64_t, 3> v{static_cast<std::uint64_t>(coefficient), fill, fill};
  const int words = shift / 64, rest = shift % 64;
  std::array<std::uint64_t, 3> moved{};
  for (int i = 0; i + words < 3; ++i) {
    moved[static_cast<std::size_t>(i + words)] =
        rest == 0
            ? v[static_cast<std::size_t>(i)]
            : v[static_cast<std::size_t>(i)] << rest | (i > 0 ? v[static_cast<std::size_t>(i - 1)] >> (64 - rest) : 0);
  }
  Double carry = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    carry += static_cast<Double>(word[i]) + moved[i];
    word[i] = static_cast<std::uint64_t>(carry);
    carry >>= 64;
  }
}

void Wide::add(std::int64_t coefficient, const Wide& other) {
  const bool minus = coefficient < 0;
  const auto factor = static_cast<std::uint64_t>(minus ? -coefficient : coefficient);
  Double carry = 0, borrow = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    carry += static_cast<Double>(other.word[i]) * factor;
    const auto part = static_cast<std::uint64_t>(carry);
    carry >>= 64;
    borrow += minus ? static_cast<Double>(word[i]) - part : static_cast<Double>(word[i]) + part;
    word[i] = static_cast<std::uint64_t>(borrow);
    borrow = minus ? (borrow >> 64 != 0 ? ~Double{0} : 0) : borrow >> 64;
  }
}

Leading leading(const Wide& x) {
  Wide v;
  v.add(x.negative() ? -1 : 1, x);
  int top = 2;
  while (top >= 0 && v.word[static_cast<std::size_t>(top)] == 0) --top;
  if (top < 0) return {};
  const int length = 64 * top + static_cast<int>(std::bit_width(v.word[static_cast<std::size_t>(top)]));  // bits
  // Moved up until the leading bit is the topmost of the 192.
  const int shift = 192 - length, words = shift / 64, rest = shift % 64;
  const auto word = [&](int i) { return i >= words ? v.word[static_cast<std::size_t>(i - words)] : 0; };
  const auto moved = [&](int i) {
    return rest == 0 ? word(i) : word(i) << rest | (i > 0 ? word(i - 1) >> (64 - rest) : 0);
  };
  const std::uint64_t w2 = moved(2), w1 = moved(1), w0 = moved(0);
  const std::uint64_t high = w2 >> 11;
  const std::uint64_t low = (w2 & 0x7ff) << 42 | w1 >> 22 | ((w1 << 42 | w0) != 0 ? 1 : 0);
  const double sign = x.negative() ? -1 : 1;
  return {sign * std::ldexp(static_cast<double>(high), -52), sign * std::ldexp(static_cast<double>(low), -105),
          length - 1};
}

namespace {

// Digits of 12 bits, each in [-2048, 2047] but for the last, which holds the rest.
std::vector<std::int32_t> balanced_digits(const Wide& x, int count) {
  constexpr int kBits = Recombination::kDigitBits;
  constexpr std::int32_t kHalf = 1 << (kBits - 1);
  std::vector<std::int32_t> digits;
  Wide rest = x;
  for (int k = 0; k + 1 < count; ++k) {
    auto digit = static_cast<std::int32_t>(rest.word[0] & (2 * kHalf - 1));
    if (digit >= kHalf) digit -= 2 * kHalf;
    digits.push_back(digit);
    rest.add(-digit, 0);
    rest.word = {rest.word[0] >> kBits | rest.word[1] << (64 - kBits),
                 rest.word[1] >> kBits | rest.word[2] << (64 - kBits),
                 static_cast<std::uint64_t>(static_cast<std::int64_t>(rest.word[2]) >> kBits)};
  }
  digits.push_back(static_cast<std::int32_t>(static_cast<std::int64_t>(rest.word[0])));
  return digits;
}

}  // namespace

Recombination recombination(int moduli) {
  ensure(moduli >= 1 && moduli <= kModuliMax, "exact: {} moduli; there are {}", moduli, kModuliMax);
  const auto product_without = [&](int skip) {
    Wide x;
    x.word[0] = 1;
    for (int i = 0; i < moduli; ++i) {
      if (i == skip) continue;
      Wide next;
      next.add(kModuli[static_cast<std::size_t>(i)], x);
      x = next;
    }
    return x;
  };
  Recombination r;
  r.moduli = moduli;
  // The top limb stays below 2^24 as it is: |x| < 2^(24 limbs - 1.6).
  r.limbs = static_cast<int>(std::ceil((log2_product(moduli) + 0.6) / (2 * Recombination::kDigitBits)));
  r.product = balanced_digits(product_without(-1), 2 * r.limbs);
  for (int i = 0; i < moduli; ++i) {
    const int p = kModuli[static_cast<std::size_t>(i)];
    int rest = 1;
    for (int j = 0; j < moduli; ++j) rest = j == i ? rest : rest * kModuli[static_cast<std::size_t>(j)] % p;
    int inverse = inverse_mod(rest, p);
    if (2 * inverse > p) inverse -= p;
    Wide w;
    w.add(inverse, product_without(i));
    r.weight.push_back(balanced_digits(w, 2 * r.limbs));
    const double fraction = std::ldexp(static_cast<double>(inverse) / p, Recombination::kDigitBits),
                 high = std::nearbyint(fraction);
    r.weight.back().push_back(static_cast<std::int32_t>(high));
    r.weight.back().push_back(
        static_cast<std::int32_t>(std::nearbyint(std::ldexp(fraction - high, Recombination::kDigitBits))));
  }
  return r;
}

Wide join(const float* limb, std::int64_t stride, int limbs) {
  Wide x;
  for (int j = 0; j < limbs; j += 2) {
    auto pair = static_cast<std::int64_t>(limb[j * stride]);
    if (j + 1 < limbs) pair += static_cast<std::int64_t>(limb[(j + 1) * stride]) * (std::int64_t{1} << 24);
    x.add(pair, 24 * j);
  }
  return x;
}

}  // namespace trn::blas::exact
