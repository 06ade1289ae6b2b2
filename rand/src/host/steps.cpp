// Steps of the recurrences and conversions, on vectors or as loops that every compiler turns into vector code; see
// steps.hpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/steps.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include "host/steps.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::rand::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE float open_closed(std::uint32_t x) { return static_cast<float>(x) * 0x1p-32f + 0x1p-33f; }
HWY_INLINE float half_open(std::uint32_t x) { return static_cast<float>(static_cast<std::int32_t>(x >> 8)) * 0x1p-24f; }
// A whole number below 2^53 as a double, through a signed integer: that is one instruction on most machines.
HWY_INLINE double whole(std::uint64_t z) { return static_cast<double>(static_cast<std::int64_t>(z)); }
HWY_INLINE double open_closed_53(std::uint64_t z) { return whole(z) * 0x1p-53 + 0x1p-54; }
HWY_INLINE double pair_double(std::uint32_t x, std::uint32_t y) {
  return open_closed_53(std::uint64_t{x} ^ (std::uint64_t{y} << 21));
}

template <Draw D> HWY_INLINE void emit(const std::uint32_t* HWY_RESTRICT word, std::int64_t n, void* out) {
  if constexpr (D == Draw::Raw32) {
    std::memcpy(out, word, static_cast<std::size_t>(n) * sizeof(std::uint32_t));
  } else {
    float* HWY_RESTRICT to = static_cast<float*>(out);
    for (std::int64_t c = 0; c < n; ++c) to[c] = D == Draw::OpenClosed ? open_closed(word[c]) : half_open(word[c]);
  }
}

// One step of every column; v0 is the oldest word and becomes the newest.
HWY_INLINE void xorwow_step(std::uint32_t* HWY_RESTRICT v0, const std::uint32_t* HWY_RESTRICT v4, std::uint32_t d,
                            std::int64_t n, std::uint32_t* HWY_RESTRICT word) {
  for (std::int64_t c = 0; c < n; ++c) {
    const std::uint32_t t = v0[c] ^ (v0[c] >> 2);
    v0[c] = v4[c] ^ (v4[c] << 4) ^ t ^ (t << 1);
    word[c] = v0[c] + d;
  }
}

template <Draw D, class T>
void xorwow_run(XorwowColumns& s, std::int64_t n, std::int64_t count, std::int64_t stride, T* out) {
  std::size_t oldest = 0;
  HWY_ALIGN std::uint32_t word[kBlockColumns], second[kBlockColumns];
  const auto step = [&](std::uint32_t* to) {
    s.d += XorwowColumns::kWeyl;
    xorwow_step(s.v[oldest], s.v[(oldest + 4) % 5], s.d, n, to);
    oldest = (oldest + 1) % 5;
  };
  for (std::int64_t k = 0; k < count; ++k, out += stride) {
    step(word);
    if constexpr (D == Draw::OpenClosedDouble) {
      step(second);
      for (std::int64_t c = 0; c < n; ++c) out[c] = pair_double(word[c], second[c]);
    } else {
      emit<D>(word, n, out);
    }
  }
}

// Mrg32k3a: a number of 32 bits in every 64-bit lane.
using Wide = hn::CappedTag<std::uint64_t, 8>;
using Number = hn::Vec<Wide>;

HWY_INLINE Number wide(std::uint64_t x) { return hn::Set(Wide(), x); }
HWY_INLINE Number product(Number a, Number b) {
#if HWY_TARGET == HWY_SCALAR
  return hn::Mul(a, b);
#else
  const hn::Repartition<std::uint32_t, Wide> narrow;
  return hn::MulEven(hn::BitCast(narrow, a), hn::BitCast(narrow, b));
#endif
}
// z modulo m = 2^32 - k, not below 2^32 yet: the upper half counts k times.
HWY_INLINE Number fold(Number z, std::uint64_t k) {
  return hn::Add(product(hn::ShiftRight<32>(z), wide(k)), hn::And(z, wide(0xffffffff)));
}
// z < 2 m: once less, which would pass 2^64 where it is not to be.
HWY_INLINE Number less(Number z, std::uint64_t m) { return hn::Min(z, hn::Sub(z, wide(m))); }

// 2^32 = 209 modulo m1: z < 2^53 is below 2^32 + 2^29 after one fold.
HWY_INLINE Number mod1(Number z) { return less(fold(z, 209), Mrg32k3aColumns::kM1); }
// 2^32 = 22853 modulo m2: z < 2^53 is below 2^36 after one, below 2^32 + 2^19 after two.
HWY_INLINE Number mod2(Number z) { return less(fold(fold(z, 22853), 22853), Mrg32k3aColumns::kM2); }

template <Draw D, class T>
void mrg32k3a_run(Mrg32k3aColumns& s, std::int64_t n, std::int64_t count, std::int64_t stride, T* out) {
  using M = Mrg32k3aColumns;
  // cuRAND's factors: 1/m1 rounded, and (2^32 - 1)/m1 to twelve decimals, which spreads r over all 32-bit words.
  constexpr double kNorm = 2.3283065498378288e-10, kSpread = 1.000000048662;
  const Wide w;
  const hn::RebindToFloat<Wide> d;
  const hn::Rebind<std::uint32_t, Wide> narrow;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(w));
  HWY_ALIGN double number[kBlockColumns];
  HWY_ALIGN std::uint32_t word[kBlockColumns];
  std::size_t oldest = 0;
  for (std::int64_t k = 0; k < count; ++k, out += stride) {
    std::uint64_t *x0 = s.x[oldest], *y0 = s.y[oldest];
    const std::uint64_t *x1 = s.x[(oldest + 1) % 3], *y2 = s.y[(oldest + 2) % 3];
    for (std::int64_t c = 0; c < n; c += lanes) {
      const Number old_x = hn::Sub(wide(M::kM1), hn::Load(w, x0 + c)),
                   old_y = hn::Sub(wide(M::kM2), hn::Load(w, y0 + c));
      const Number x = mod1(hn::Add(product(wide(M::kA12), hn::Load(w, x1 + c)), product(wide(M::kA13), old_x)));
      const Number y = mod2(hn::Add(product(wide(M::kA21), hn::Load(w, y2 + c)), product(wide(M::kA23), old_y)));
      hn::Store(x, w, x0 + c);
      hn::Store(y, w, y0 + c);
      // x - y in 1 .. m1, as a double: the bits behind 2^52.
      const Number r = hn::Add(hn::Sub(x, y), hn::IfThenZeroElse(hn::Gt(x, y), wide(M::kM1)));
      const auto value = hn::Sub(hn::BitCast(d, hn::Or(r, wide(0x4330000000000000))), hn::Set(d, 0x1p52));
      if constexpr (D == Draw::OpenClosedDouble || D == Draw::OpenClosed) {
        hn::Store(hn::Mul(value, hn::Set(d, kNorm)), d, number + c);
      } else {
        const auto spread = hn::Floor(hn::Mul(value, hn::Set(d, kSpread)));
        const Number bits = hn::And(hn::BitCast(w, hn::Add(spread, hn::Set(d, 0x1p52))), wide(0xffffffff));
        hn::Store(hn::TruncateTo(narrow, bits), narrow, word + c);
      }
    }
    oldest = (oldest + 1) % 3;
    if constexpr (D == Draw::OpenClosedDouble || D == Draw::OpenClosed) {
      for (std::int64_t c = 0; c < n; ++c) out[c] = static_cast<T>(number[c]);
    } else {
      emit<D>(word, n, out);
    }
  }
}

// Row i of a jump's matrix times the numbers in v. A product is below 2^64, below 2^47 after one fold, the sum of three
// below 2^49, then 2^33, and the last fold leaves less than 2 m.
template <std::uint64_t kModulus>
HWY_INLINE Number jump_row(const std::array<std::uint32_t, 3>& row, const Number (&v)[3]) {
  constexpr std::uint64_t k = (std::uint64_t{1} << 32) - kModulus;
  Number sum = fold(product(wide(row[0]), v[0]), k);
  for (int j = 1; j < 3; ++j) sum = hn::Add(sum, fold(product(wide(row[static_cast<std::size_t>(j)]), v[j]), k));
  return less(fold(fold(sum, k), k), kModulus);
}

template <std::uint64_t kModulus>
HWY_INLINE void jump_columns(const JumpMatrix& by, std::int64_t n, std::uint64_t (&x)[3][kBlockColumns]) {
  const Wide w;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(w));
  for (std::int64_t c = kMrgSeeds; c < n; c += lanes) {
    const std::int64_t from = c - kMrgSeeds;
    const Number v[3] = {hn::Load(w, x[0] + from), hn::Load(w, x[1] + from), hn::Load(w, x[2] + from)};
    for (std::size_t i = 0; i < 3; ++i) hn::Store(jump_row<kModulus>(by[i], v), w, x[i] + c);
  }
}

void mrg32k3a_spread_target(Mrg32k3aColumns& s, const JumpMatrix& x, const JumpMatrix& y, std::int64_t n) {
  jump_columns<Mrg32k3aColumns::kM1>(x, n, s.x);
  jump_columns<Mrg32k3aColumns::kM2>(y, n, s.y);
}

// Mt19937: one state per column, word by word. Each new word is made of three that are there already.
void twist_target(TwisterTeam& team) {
  constexpr std::size_t kWords = 624, kMiddle = 397;
  for (std::size_t k = 0; k < kWords; ++k) {
    std::uint32_t* HWY_RESTRICT to = team.words[k];
    const std::uint32_t *next = team.words[(k + 1) % kWords], *middle = team.words[(k + kMiddle) % kWords];
    for (std::int64_t g = 0; g < kTwisterTeam; ++g) {
      const std::uint32_t y = (to[g] & 0x80000000u) | (next[g] & 0x7fffffffu);
      to[g] = middle[g] ^ (y >> 1) ^ ((0u - (y & 1u)) & 0x9908b0dfu);
    }
  }
}

// out[8 g + lane] = word which[lane] of twister g, tempered.
void tempered_row_target(const TwisterTeam& team, const std::uint16_t* which, std::uint32_t* HWY_RESTRICT out) {
  HWY_ALIGN std::uint32_t lanes[8][kTwisterTeam];
  for (std::size_t lane = 0; lane < 8; ++lane) {
    const std::uint32_t* HWY_RESTRICT from = team.words[which[lane]];
    for (std::int64_t g = 0; g < kTwisterTeam; ++g) {
      std::uint32_t y = from[g];
      y ^= y >> 11;
      y ^= (y << 7) & 0x9d2c5680u;
      y ^= (y << 15) & 0xefc60000u;
      lanes[lane][g] = y ^ (y >> 18);
    }
  }
  for (std::int64_t g = 0; g < kTwisterTeam; ++g) {
    for (std::size_t lane = 0; lane < 8; ++lane) out[8 * static_cast<std::size_t>(g) + lane] = lanes[lane][g];
  }
}

void xorwow_target(XorwowColumns& s, Draw draw, std::int64_t n, std::int64_t count, std::int64_t stride, void* out) {
  auto* f = static_cast<float*>(out);
  if (draw == Draw::Raw32) return xorwow_run<Draw::Raw32>(s, n, count, stride, f);
  if (draw == Draw::OpenClosed) return xorwow_run<Draw::OpenClosed>(s, n, count, stride, f);
  if (draw == Draw::HalfOpen) return xorwow_run<Draw::HalfOpen>(s, n, count, stride, f);
  xorwow_run<Draw::OpenClosedDouble>(s, n, count, stride, static_cast<double*>(out));
}

void mrg32k3a_target(Mrg32k3aColumns& s, Draw draw, std::int64_t n, std::int64_t count, std::int64_t stride,
                     void* out) {
  auto* f = static_cast<float*>(out);
  if (draw == Draw::Raw32) return mrg32k3a_run<Draw::Raw32>(s, n, count, stride, f);
  if (draw == Draw::OpenClosed) return mrg32k3a_run<Draw::OpenClosed>(s, n, count, stride, f);
  if (draw == Draw::HalfOpen) return mrg32k3a_run<Draw::HalfOpen>(s, n, count, stride, f);
  mrg32k3a_run<Draw::OpenClosedDouble>(s, n, count, stride, static_cast<double*>(out));
}

// Bytes are copied out and in through memcpy: the same memory holds integers before and floats after.
template <class To, class From, class F> HWY_INLINE void in_place(std::int64_t n, void* memory, F f) {
  static_assert(sizeof(To) == sizeof(From));
  constexpr std::int64_t kPart = 1024;
  HWY_ALIGN From from[kPart];
  HWY_ALIGN To to[kPart];
  for (std::int64_t i = 0; i < n; i += kPart) {
    const std::int64_t size = n - i < kPart ? n - i : kPart;
    auto* here = static_cast<unsigned char*>(memory) + i * static_cast<std::int64_t>(sizeof(To));
    std::memcpy(from, here, static_cast<std::size_t>(size) * sizeof(To));
    for (std::int64_t k = 0; k < size; ++k) to[k] = f(from[k]);
    std::memcpy(here, to, static_cast<std::size_t>(size) * sizeof(To));
  }
}

void convert_target(Draw draw, std::int64_t n, void* memory) {
  switch (draw) {
    case Draw::OpenClosed:
      return in_place<float, std::uint32_t>(n, memory, [](std::uint32_t x) { return open_closed(x); });
    case Draw::HalfOpen:
      return in_place<float, std::uint32_t>(n, memory, [](std::uint32_t x) { return half_open(x); });
    case Draw::OpenClosedDouble:
      return in_place<double, std::uint64_t>(n, memory, [](std::uint64_t z) {
        return pair_double(static_cast<std::uint32_t>(z), static_cast<std::uint32_t>(z >> 32));
      });
    case Draw::HalfOpenDouble:
      return in_place<double, std::uint64_t>(n, memory, [](std::uint64_t z) { return whole(z >> 11) * 0x1p-53; });
    case Draw::Raw32:
    case Draw::Raw64:
      return;
  }
}

void doubles_target(std::int64_t n, const std::uint32_t* x, double plus, double* out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = whole(x[i]) * 0x1p-32 + plus;
}

void floats_rounded_once_target(std::int64_t n, const std::uint32_t* HWY_RESTRICT x, float* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = static_cast<float>(whole(x[i]) * 0x1p-32 + 0x1p-33);
}

void open_closed_doubles_target(std::int64_t n, void* memory) {
  in_place<double, std::uint64_t>(n, memory, [](std::uint64_t z) { return open_closed_53(z >> 11); });
}

void xor_table32_target(std::int64_t n, const std::uint32_t* HWY_RESTRICT table, std::uint32_t x,
                        std::uint32_t* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = table[i] ^ x;
}
void xor_table64_target(std::int64_t n, const std::uint64_t* HWY_RESTRICT table, std::uint64_t x,
                        std::uint64_t* HWY_RESTRICT out) {
  for (std::int64_t i = 0; i < n; ++i) out[i] = table[i] ^ x;
}

HWY_INLINE std::uint32_t mirror(std::uint32_t x) {
  x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
  x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
  x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
  x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
  return x >> 16 | x << 16;
}

// Each step maps the lower k bits to the lower k bits, one to one: adding, multiplying by an odd number, and adding
// (xor) an even multiple of x itself.
void permute_nested_target(const Nested& by, std::int64_t n, std::uint32_t* words) {
  const Nested p = by;
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint32_t x = mirror(words[i]) + p.plus0;
    x ^= x * p.even0;
    x *= p.odd0;
    x ^= x * p.even1;
    x = x * p.odd1 + p.plus1;
    x ^= x * p.even2;
    words[i] = mirror(x);
  }
}

// In strips of kStrip words, so that the strip's sums stay in the first cache: 64 patterns of 96 words are 24 KiB.
void sum_by_pattern_target(const std::uint32_t* x, std::int64_t step, const std::uint8_t* patterns, std::int64_t groups,
                           std::int64_t span, std::uint32_t* sums) {
  constexpr std::int64_t kStrip = 96, kPatterns = 256;
  HWY_ALIGN std::uint32_t strip[kPatterns * kStrip];
  const std::int64_t used = 1 + *std::max_element(patterns, patterns + groups);
  for (std::int64_t i = 0; i < span; i += kStrip) {
    const std::int64_t width = std::min(kStrip, span - i);
    std::fill_n(strip, used * kStrip, 0u);
    for (std::int64_t k = 0; k < groups; ++k) {
      const std::uint32_t* HWY_RESTRICT from = x + k * step + i;
      std::uint32_t* HWY_RESTRICT to = strip + patterns[k] * kStrip;
      if (width == kStrip) {
        for (std::int64_t j = 0; j < kStrip; ++j) to[j] ^= from[j];
      } else {
        for (std::int64_t j = 0; j < width; ++j) to[j] ^= from[j];
      }
    }
    for (std::int64_t p = 1; p < used; ++p) {
      for (std::int64_t j = 0; j < width; ++j) sums[p * span + i + j] ^= strip[p * kStrip + j];
    }
  }
}

}  // namespace trn::rand::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::rand::host {

HWY_EXPORT(xorwow_target);
HWY_EXPORT(mrg32k3a_target);
HWY_EXPORT(mrg32k3a_spread_target);
HWY_EXPORT(twist_target);
HWY_EXPORT(tempered_row_target);
HWY_EXPORT(convert_target);
HWY_EXPORT(doubles_target);
HWY_EXPORT(floats_rounded_once_target);
HWY_EXPORT(open_closed_doubles_target);
HWY_EXPORT(xor_table32_target);
HWY_EXPORT(xor_table64_target);
HWY_EXPORT(permute_nested_target);
HWY_EXPORT(sum_by_pattern_target);

void xorwow_rows(XorwowColumns& state, Draw draw, std::int64_t columns, std::int64_t count, std::int64_t stride,
                 void* out) {
  HWY_DYNAMIC_DISPATCH(xorwow_target)(state, draw, columns, count, stride, out);
}
void mrg32k3a_rows(Mrg32k3aColumns& state, Draw draw, std::int64_t columns, std::int64_t count, std::int64_t stride,
                   void* out) {
  HWY_DYNAMIC_DISPATCH(mrg32k3a_target)(state, draw, columns, count, stride, out);
}
void mrg32k3a_spread(Mrg32k3aColumns& state, const JumpMatrix& x, const JumpMatrix& y, std::int64_t columns) {
  HWY_DYNAMIC_DISPATCH(mrg32k3a_spread_target)(state, x, y, columns);
}
void twist(TwisterTeam& team) { HWY_DYNAMIC_DISPATCH(twist_target)(team); }
void tempered_row(const TwisterTeam& team, const std::uint16_t* which, std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(tempered_row_target)(team, which, out);
}
void convert_words(Draw draw, std::int64_t n, void* words) { HWY_DYNAMIC_DISPATCH(convert_target)(draw, n, words); }
void doubles_from_words(std::int64_t n, const std::uint32_t* x, double plus, double* out) {
  HWY_DYNAMIC_DISPATCH(doubles_target)(n, x, plus, out);
}
void floats_rounded_once(std::int64_t n, const std::uint32_t* x, float* out) {
  HWY_DYNAMIC_DISPATCH(floats_rounded_once_target)(n, x, out);
}
void open_closed_doubles(std::int64_t n, void* z) { HWY_DYNAMIC_DISPATCH(open_closed_doubles_target)(n, z); }
void xor_table(std::int64_t n, const std::uint32_t* table, std::uint32_t x, std::uint32_t* out) {
  HWY_DYNAMIC_DISPATCH(xor_table32_target)(n, table, x, out);
}
void xor_table(std::int64_t n, const std::uint64_t* table, std::uint64_t x, std::uint64_t* out) {
  HWY_DYNAMIC_DISPATCH(xor_table64_target)(n, table, x, out);
}
void permute_nested(const Nested& by, std::int64_t n, std::uint32_t* words) {
  HWY_DYNAMIC_DISPATCH(permute_nested_target)(by, n, words);
}
void sum_by_pattern(const std::uint32_t* x, std::int64_t step, const std::uint8_t* patterns, std::int64_t groups,
                    std::int64_t span, std::uint32_t* sums) {
  HWY_DYNAMIC_DISPATCH(sum_by_pattern_target)(x, step, patterns, groups, span, sums);
}

}  // namespace trn::rand::host
#endif
