// The Mersenne Twister's recurrence, its characteristic polynomial and jumps by polynomials modulo it.
#include <algorithm>
#include <memory>
#include <vector>

#include "host/mt19937.hpp"
#include "host/steps.hpp"

namespace trn::rand::host::mt19937 {

namespace {

constexpr std::uint32_t kTwist = 0x9908b0df, kUpper = 0x80000000, kLower = 0x7fffffff;

std::uint32_t next_word(std::uint32_t a, std::uint32_t b, std::uint32_t middle) {
  const std::uint32_t y = (a & kUpper) | (b & kLower);
  return middle ^ (y >> 1) ^ ((0u - (y & 1u)) & kTwist);
}

using Long = std::array<std::uint64_t, 2 * Polynomial{}.size()>;

// The exponents of p below 19937. By the authors' formula, with A = t^624 + t^397, B = t^623 + t^396 and the bits a_i
// of the twist constant:  p = A B^31 + A (a_0 B^30 + a_1 B^29 + ... + a_30) + a_31.
const std::vector<std::size_t>& exponents() {
  static const std::vector<std::size_t> all = [] {
    // Powers of B as bit sets of exponents, by Horner: p = A (B (B (... + a_0) + a_1) ... + a_30) + a_31.
    std::vector<bool> sum(kDegree + 1, false);
    const auto times = [&](std::size_t high, std::size_t low) {
      std::vector<bool> product(kDegree + 1, false);
      for (std::size_t e = 0; e < sum.size(); ++e) {
        if (!sum[e]) continue;
        product[e + high] = !product[e + high];
        product[e + low] = !product[e + low];
      }
      sum = product;
    };
    const auto bit = [](std::size_t i) { return (kTwist >> i & 1) != 0; };
    sum[0] = true;
    for (std::size_t i = 0; i < 31; ++i) {
      times(kWords - 1, kMiddle - 1);
      sum[0] = sum[0] != bit(i);
    }
    times(kWords, kMiddle);
    sum[0] = sum[0] != bit(31);
    std::vector<std::size_t> found;
    for (std::size_t e = 0; e < kDegree; ++e) {
      if (sum[e]) found.push_back(e);
    }
    return found;
  }();
  return all;
}

// Word by word from the top: x^(19937 + j) is the sum of x^(e + j). The largest e is 19710, so that no term falls back
// into the word at hand.
Polynomial reduce(Long& z) {
  constexpr std::size_t kTop = kDegree / 64, kTopBit = kDegree % 64;
  const auto fold = [&](std::uint64_t bits, std::size_t above) {  // bits of x^(19937 + above + ...)
    for (const std::size_t e : exponents()) {
      const std::size_t at = e + above, word = at / 64, shift = at % 64;
      z[word] ^= bits << shift;
      if (shift != 0) z[word + 1] ^= bits >> (64 - shift);
    }
  };
  for (std::size_t w = z.size() - 1; w > kTop; --w) {
    if (z[w] == 0) continue;
    fold(z[w], 64 * w - kDegree);
    z[w] = 0;
  }
  const std::uint64_t rest = z[kTop] >> kTopBit;
  z[kTop] &= (std::uint64_t{1} << kTopBit) - 1;
  fold(rest, 0);
  Polynomial r;
  std::copy_n(z.begin(), r.size(), r.begin());
  return r;
}

// Bit k goes to bit 2 k.
std::uint64_t spread(std::uint32_t x) {
  std::uint64_t v = x;
  v = (v | v << 16) & 0x0000ffff0000ffff;
  v = (v | v << 8) & 0x00ff00ff00ff00ff;
  v = (v | v << 4) & 0x0f0f0f0f0f0f0f0f;
  v = (v | v << 2) & 0x3333333333333333;
  return (v | v << 1) & 0x5555555555555555;
}

Polynomial square(const Polynomial& a) {
  Long z;
  for (std::size_t w = 0; w < a.size(); ++w) {
    z[2 * w] = spread(static_cast<std::uint32_t>(a[w]));
    z[2 * w + 1] = spread(static_cast<std::uint32_t>(a[w] >> 32));
  }
  return reduce(z);
}

}  // namespace

Words seeded(std::uint32_t seed) {
  Words w;
  w[0] = seed;
  for (std::uint32_t i = 1; i < kWords; ++i) w[i] = 1812433253u * (w[i - 1] ^ (w[i - 1] >> 30)) + i;
  return w;
}

void twist(Words& w) {
  constexpr std::size_t kBack = kWords - kMiddle;
  std::uint32_t* p = w.data();
  for (std::size_t k = 0; k < kBack; ++k) p[k] = next_word(p[k], p[k + 1], p[k + kMiddle]);
  for (std::size_t k = kBack; k < kWords - 1; ++k) p[k] = next_word(p[k], p[k + 1], p[k - kBack]);
  p[kWords - 1] = next_word(p[kWords - 1], p[0], p[kMiddle - 1]);
}

std::uint32_t temper(std::uint32_t y) {
  y ^= y >> 11;
  y ^= y << 7 & 0x9d2c5680u;
  y ^= y << 15 & 0xefc60000u;
  return y ^ y >> 18;
}

Polynomial multiply(const Polynomial& a, const Polynomial& b) {
  Long z{};
  for (std::size_t bit = 0; bit < 64; ++bit) {  // one shift of b for every bit of a word
    std::array<std::uint64_t, Polynomial{}.size() + 1> shifted{};
    for (std::size_t w = 0; w < b.size(); ++w) {
      shifted[w] ^= b[w] << bit;
      if (bit != 0) shifted[w + 1] = b[w] >> (64 - bit);
    }
    for (std::size_t w = 0; w < a.size(); ++w) {
      if ((a[w] >> bit & 1) == 0) continue;
      const std::size_t size = std::min(shifted.size(), z.size() - w);
      for (std::size_t k = 0; k < size; ++k) z[w + k] ^= shifted[k];
    }
  }
  return reduce(z);
}

Polynomial power(std::uint64_t n) {
  Polynomial r{1};
  for (int i = 63; i >= 0; --i) {
    r = square(r);
    if ((n >> i & 1) == 0) continue;
    Long z{};  // times x
    for (std::size_t w = 0; w < r.size(); ++w) {
      z[w] ^= r[w] << 1;
      z[w + 1] = r[w] >> 63;
    }
    r = reduce(z);
  }
  return r;
}

Polynomial power_of_two(int n) {
  Polynomial r = power(2);
  for (int i = 1; i < n; ++i) r = square(r);
  return n == 0 ? power(1) : r;
}

// The terms are taken kBits at a time. Words that begin a group with the same bit pattern are summed first, one sum of
// kWords + kBits words per pattern; bit t of the patterns then adds all sums with that bit, t words further. That is
// about 19937 / kBits long additions instead of the 10000 of a polynomial with every second term.
Words jump(const Words& state, const Polynomial& by) {
  constexpr std::size_t kBits = 6, kPatterns = std::size_t{1} << kBits, kSpan = kWords + kBits;
  constexpr std::size_t kGroups = (kDegree + kBits - 1) / kBits, kLength = kGroups * kBits + kSpan;
  std::vector<std::uint32_t> u(kLength + kWords);
  Words block = state;
  for (std::size_t k = 0; k < kLength; k += kWords) {
    std::copy(block.begin(), block.end(), u.begin() + static_cast<std::ptrdiff_t>(k));
    twist(block);
  }
  std::vector<std::uint32_t> sums(kPatterns * kSpan, 0);
  const auto sum = [&](std::size_t pattern) { return sums.data() + pattern * kSpan; };
  std::vector<std::uint8_t> patterns(kGroups);
  for (std::size_t group = 0; group < kGroups; ++group) {
    const std::size_t bit = group * kBits, word = bit / 64, shift = bit % 64;
    std::uint64_t bits = by[word] >> shift;
    if (shift > 64 - kBits && word + 1 < by.size()) bits |= by[word + 1] << (64 - shift);
    patterns[group] = static_cast<std::uint8_t>(bits & (kPatterns - 1));
  }
  sum_by_pattern(u.data(), kBits, patterns.data(), kGroups, kSpan, sums.data());
  Words result{};
  for (std::size_t t = kBits; t-- > 0;) {  // patterns with top bit t, then without it
    const std::size_t half = std::size_t{1} << t;
    for (std::size_t pattern = half; pattern < 2 * half; ++pattern) {
      for (std::size_t i = 0; i < kWords; ++i) result[i] ^= sum(pattern)[t + i];
      for (std::size_t i = 0; i < kSpan; ++i) sum(pattern - half)[i] ^= sum(pattern)[i];
    }
  }
  return result;
}

}  // namespace trn::rand::host::mt19937
