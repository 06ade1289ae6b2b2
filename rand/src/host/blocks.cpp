// Blocks on the host: one block per vector lane, four vectors for its four words, compiled once per instruction set and
// chosen at run time by Highway. Integer operations and once-rounded float operations only: the same bits everywhere.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/blocks.cpp"
#include <hwy/foreach_target.h>
// foreach_target.h comes first.
#include <hwy/highway.h>

#include <algorithm>
#include <cstring>

#include <trn/core/error.hpp>

#include "host/blocks.hpp"
#include "host/vector_math-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::rand::host::HWY_NAMESPACE {

// At most 16 lanes, so that buffers have a size; no instruction set in use has more.
using Lanes = hn::CappedTag<std::uint32_t, 16>;
using Word = hn::Vec<Lanes>;
constexpr std::size_t kMaxLanes = 16;

struct Block {
  Word w0, w1, w2, w3;
};

// The high words of the products. Even lanes multiply where they are, odd ones after moving down.
HWY_INLINE Word multiply_high(Word a, Word b) {
  const Lanes d;
#if HWY_TARGET == HWY_SCALAR
  return hn::Set(d, static_cast<std::uint32_t>(std::uint64_t{hn::GetLane(a)} * hn::GetLane(b) >> 32));
#else
  const hn::RepartitionToWide<Lanes> wide;
  const auto even = hn::MulEven(a, b);
  const auto odd = hn::MulEven(hn::BitCast(d, hn::ShiftRight<32>(hn::BitCast(wide, a))), b);
  return hn::OddEven(hn::BitCast(d, odd), hn::BitCast(d, hn::ShiftRight<32>(even)));
#endif
}

HWY_INLINE Block philox_block(Block c, const Words4& key) {
  const Lanes d;
  const Word m0 = hn::Set(d, philox::kMultiplier0), m1 = hn::Set(d, philox::kMultiplier1);
  for (int r = 0; r < philox::kRounds; ++r) {
    const Word k0 = hn::Set(d, philox::round_key(key, 0, r)), k1 = hn::Set(d, philox::round_key(key, 1, r));
    const Word h0 = multiply_high(c.w0, m0), l0 = hn::Mul(c.w0, m0);
    const Word h1 = multiply_high(c.w2, m1), l1 = hn::Mul(c.w2, m1);
    c = {hn::Xor(hn::Xor(h1, c.w1), k0), l1, hn::Xor(hn::Xor(h0, c.w3), k1), l0};
  }
  return c;
}

template <int kBits> HWY_INLINE Word rotate_left(Word x) {
  return hn::Or(hn::ShiftLeft<kBits>(x), hn::ShiftRight<32 - kBits>(x));
}

HWY_INLINE void inject(Block& c, const Words4& key, int s) {
  const Lanes d;
  c.w0 = hn::Add(c.w0, hn::Set(d, threefry::injection(key, s, 0)));
  c.w1 = hn::Add(c.w1, hn::Set(d, threefry::injection(key, s, 1)));
  c.w2 = hn::Add(c.w2, hn::Set(d, threefry::injection(key, s, 2)));
  c.w3 = hn::Add(c.w3, hn::Set(d, threefry::injection(key, s, 3)));
}

template <int kRound> HWY_INLINE void threefry_round(Block& c) {
  constexpr int r0 = threefry::kRotations[kRound % 8][0], r1 = threefry::kRotations[kRound % 8][1];
  Word& a = kRound % 2 == 0 ? c.w1 : c.w3;
  Word& b = kRound % 2 == 0 ? c.w3 : c.w1;
  c.w0 = hn::Add(c.w0, a);
  a = hn::Xor(rotate_left<r0>(a), c.w0);
  c.w2 = hn::Add(c.w2, b);
  b = hn::Xor(rotate_left<r1>(b), c.w2);
}

template <int kFirst> HWY_INLINE void threefry_four_rounds(Block& c, const Words4& key) {
  threefry_round<kFirst>(c);
  threefry_round<kFirst + 1>(c);
  threefry_round<kFirst + 2>(c);
  threefry_round<kFirst + 3>(c);
  inject(c, key, kFirst / threefry::kInjectionEvery + 1);
}

HWY_INLINE Block threefry_block(Block c, const Words4& key) {
  inject(c, key, 0);
  threefry_four_rounds<0>(c, key);
  threefry_four_rounds<4>(c, key);
  threefry_four_rounds<8>(c, key);
  threefry_four_rounds<12>(c, key);
  threefry_four_rounds<16>(c, key);
  return c;
}

template <Algorithm A> HWY_INLINE Block encrypt_block(const Block& c, const Words4& key) {
  if constexpr (A == Algorithm::Philox4x32_10) {
    return philox_block(c, key);
  } else {
    return threefry_block(c, key);
  }
}

// The counters of blocks first .. first + lanes - 1. Only one word counts, unless it wraps among these lanes.
template <Algorithm A> HWY_INLINE Block counters(std::uint64_t first, std::uint64_t stream) {
  const Lanes d;
  const std::size_t lanes = hn::Lanes(d);
  const Words4 c = counter_of(A, first, stream);
  constexpr bool is_philox = A == Algorithm::Philox4x32_10;
  const std::uint64_t period = is_philox ? philox::kSubsequences : std::uint64_t{1} << 32;
  if (first % period + lanes <= period) {
    Block v{hn::Set(d, c[0]), hn::Set(d, c[1]), hn::Set(d, c[2]), hn::Set(d, c[3])};
    Word& counting = is_philox ? v.w2 : v.w0;
    counting = hn::Add(counting, hn::Iota(d, 0));
    return v;
  }
  HWY_ALIGN std::uint32_t words[4][kMaxLanes] = {};
  for (std::size_t i = 0; i < lanes; ++i) {
    const Words4 here = counter_of(A, first + i, stream);
    for (std::size_t w = 0; w < 4; ++w) words[w][i] = here[w];
  }
  return {hn::Load(d, words[0]), hn::Load(d, words[1]), hn::Load(d, words[2]), hn::Load(d, words[3])};
}

// The draw's element as bits.
template <Draw D> HWY_INLINE Word element(Word x) {
  const Lanes d;
  const hn::RebindToSigned<Lanes> di;
  const hn::RebindToFloat<Lanes> df;
  if constexpr (D == Draw::Raw32) return x;
  if constexpr (D == Draw::HalfOpen) {
    const auto whole = hn::ConvertTo(df, hn::BitCast(di, hn::ShiftRight<8>(x)));
    return hn::BitCast(d, hn::Mul(whole, hn::Set(df, 0x1p-24f)));
  }
  return hn::BitCast(d, hn::Add(to_float<-32>(df, x), hn::Set(df, 0x1p-33f)));  // rounds twice, as cuRAND does
}

#if HWY_TARGET != HWY_SCALAR
template <Draw D> std::int64_t run_philox(const State& state, std::int64_t count, std::uint32_t* out);
#endif

template <Algorithm A, Draw D> void run(const State& state, std::int64_t count, std::uint32_t* out);

// Philox takes its own way where it can, and this one over the seams.
template <Draw D> void run_philox_and_seams(State state, std::int64_t count, std::uint32_t* out) {
#if HWY_TARGET == HWY_SCALAR
  run<Algorithm::Philox4x32_10, D>(state, count, out);
#else
  while (count > 0) {
    std::int64_t made = run_philox<D>(state, count, out);
    if (made == 0) {
      const auto lanes = static_cast<std::int64_t>(hn::Lanes(Lanes()));
      made = std::min(count, 4 * lanes - static_cast<std::int64_t>(state.position % 4));
      run<Algorithm::Philox4x32_10, D>(state, made, out);
    }
    state.position += static_cast<std::uint64_t>(made);
    out += made;
    count -= made;
  }
#endif
}

template <Algorithm A, Draw D> void run(const State& state, std::int64_t count, std::uint32_t* out) {
  const Lanes d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const Words4 key = key_of(state.seed);
  std::uint64_t block = state.position / 4;
  auto skip = static_cast<std::int64_t>(state.position % 4);
  while (count > 0) {
    const Block v = encrypt_block<A>(counters<A>(block, state.stream), key);
    const Word w0 = element<D>(v.w0), w1 = element<D>(v.w1), w2 = element<D>(v.w2), w3 = element<D>(v.w3);
    std::int64_t taken = 4 * lanes - skip;
    if (skip == 0 && count >= taken) {
      hn::StoreInterleaved4(w0, w1, w2, w3, d, out);
    } else {  // the first values of a run, or the last
      HWY_ALIGN std::uint32_t buffer[4 * kMaxLanes];
      hn::StoreInterleaved4(w0, w1, w2, w3, d, buffer);
      taken = std::min(taken, count);
      std::copy_n(buffer + skip, taken, out);
    }
    skip = 0;
    block += static_cast<std::uint64_t>(lanes);
    out += taken;
    count -= taken;
  }
}

#if HWY_TARGET != HWY_SCALAR
// Philox with each word in the lower half of a 64-bit lane. A product's low word is the product itself and its high
// word the product shifted: two multiplications, two shifts and four xors a round for one block per lane. The upper
// halves carry what nothing reads, because the multiplication takes lower halves only.
//
// Blocks of a run differ in counter word 2 alone, up to where the subsequences wrap. So half of the first two rounds is
// the same for all of them and is done once, in scalars: with (w0, w1, w2, w3) after a round,
//   round 0    w2 and w3 are the same for all; w0 = high(m1 c2) ^ (c1 ^ k0), w1 = low(m1 c2)
//   round 1    w1 is the same for all; w0 = w1 ^ (high(m1 w2) ^ k0), w2 = high(m0 w0) ^ (w3 ^ k1), w3 = low(m0 w0)
//   round 2    w0 = high(m1 w2) ^ (w1 ^ k0), the others as ever
// The brackets take the place of these rounds' keys.
using Pairs = hn::RepartitionToWide<Lanes>;
using Pair = hn::Vec<Pairs>;

HWY_INLINE Pair wide_product(Pair x, std::uint32_t m) {
  const Lanes d;
  return hn::MulEven(hn::BitCast(d, x), hn::BitCast(d, hn::Set(Pairs(), std::uint64_t{m})));
}

// What all blocks of a run share, each number in every lane: loaded as operands of the xors, since there are more of
// them than registers.
struct PhiloxRun {
  HWY_ALIGN std::uint64_t keys[philox::kRounds][2][kMaxLanes / 2];
  Pair first;  // counter word 2 of the run's first blocks

  PhiloxRun(const Words4& c, const Words4& key) {
    const auto product = [](std::uint32_t m, std::uint32_t x) { return std::uint64_t{m} * x; };
    std::uint32_t k[philox::kRounds][2];
    for (std::size_t r = 0; r < philox::kRounds; ++r) {
      for (const std::size_t w : {0u, 1u}) k[r][w] = philox::round_key(key, w, static_cast<int>(r));
    }
    const std::uint64_t p0 = product(philox::kMultiplier0, c[0]);
    const std::uint64_t p1 = product(philox::kMultiplier1, high_word(p0) ^ c[3] ^ k[0][1]);
    k[0][0] ^= c[1];
    k[1][0] ^= high_word(p1);
    k[1][1] ^= low_word(p0);
    k[2][0] ^= low_word(p1);
    const Pairs d;
    for (std::size_t r = 0; r < philox::kRounds; ++r) {
      for (const std::size_t w : {0u, 1u}) hn::Store(hn::Set(d, std::uint64_t{k[r][w]}), d, keys[r][w]);
    }
    // Lane 2 j holds block j, lane 2 j + 1 block j + n / 2 of n: then interleaving the halves of 128-bit parts, the one
    // cheap way, leaves the first n / 2 blocks in one vector and the others in a second, in order.
    const std::size_t lanes = hn::Lanes(d);
    HWY_ALIGN std::uint64_t numbers[kMaxLanes / 2];
    for (std::size_t i = 0; i < lanes; ++i) numbers[i] = c[2] + i / 2 + i % 2 * (lanes / 2);
    first = hn::Load(d, numbers);
  }
  [[nodiscard]] HWY_INLINE Pair key(std::size_t round, std::size_t word) const {
    return hn::Load(Pairs(), keys[round][word]);
  }
};

struct WideBlock {
  Pair w0, w1, w2, w3;
};

// Rounds 0 and 1, and round 2 up to its keys.
HWY_INLINE WideBlock philox_begin(const PhiloxRun& run, Pair c2) {
  const Pair w1 = wide_product(c2, philox::kMultiplier1);
  const Pair w0 = hn::Xor(hn::ShiftRight<32>(w1), run.key(0, 0));
  const Pair w3 = wide_product(w0, philox::kMultiplier0);
  const Pair w2 = hn::Xor(hn::ShiftRight<32>(w3), run.key(1, 1));
  const Pair p0 = wide_product(hn::Xor(w1, run.key(1, 0)), philox::kMultiplier0);
  const Pair p1 = wide_product(w2, philox::kMultiplier1);
  return {hn::Xor(hn::ShiftRight<32>(p1), run.key(2, 0)), p1, hn::Xor3(hn::ShiftRight<32>(p0), w3, run.key(2, 1)), p0};
}

HWY_INLINE void philox_round(const PhiloxRun& run, std::size_t r, WideBlock& c) {
  const Pair p0 = wide_product(c.w0, philox::kMultiplier0), p1 = wide_product(c.w2, philox::kMultiplier1);
  c = {hn::Xor3(hn::ShiftRight<32>(p1), c.w1, run.key(r, 0)), p1, hn::Xor3(hn::ShiftRight<32>(p0), c.w3, run.key(r, 1)),
       p0};
}

// The last round and the store: words 0 and 1 of a block are the halves of the product, exchanged, one of them with
// the key.
template <Draw D> HWY_INLINE void philox_end(const PhiloxRun& run, const WideBlock& c, std::uint32_t* out) {
  const Pairs d;
  const Lanes d32;
  const Pair low = hn::Set(d, std::uint64_t{0xffffffff});
  const auto pair = [&](Pair p, Pair w, std::size_t word) {
    const Pair exchanged = hn::BitCast(d, hn::Shuffle2301(hn::BitCast(d32, p)));
    const Pair both = hn::Xor3(exchanged, hn::And(w, low), run.key(philox::kRounds - 1, word));
    return hn::BitCast(d, element<D>(hn::BitCast(d32, both)));
  };
  const Pair w01 = pair(wide_product(c.w2, philox::kMultiplier1), c.w1, 0);
  const Pair w23 = pair(wide_product(c.w0, philox::kMultiplier0), c.w3, 1);
  hn::StoreU(hn::BitCast(d32, hn::InterleaveLower(d, w01, w23)), d32, out);
  hn::StoreU(hn::BitCast(d32, hn::InterleaveUpper(d, w01, w23)), d32, out + hn::Lanes(d32));
}

// kVectors vectors of blocks, round by round, so that a multiplication of one hides the wait for another's.
template <Draw D, int kVectors> HWY_INLINE void philox_store(const PhiloxRun& run, Pair c2, std::uint32_t* out) {
  const Pairs d;
  const std::size_t lanes = hn::Lanes(d);
  WideBlock a = philox_begin(run, c2), b{};
  if constexpr (kVectors == 2) b = philox_begin(run, hn::Add(c2, hn::Set(d, std::uint64_t{lanes})));
#pragma GCC unroll 16
  for (std::size_t r = 3; r < philox::kRounds - 1; ++r) {
    philox_round(run, r, a);
    if constexpr (kVectors == 2) philox_round(run, r, b);
  }
  philox_end<D>(run, a, out);
  if constexpr (kVectors == 2) philox_end<D>(run, b, out + 4 * lanes);
}

// Whole blocks from a position that begins one, up to where the subsequences wrap; returns how many values it made.
template <Draw D> std::int64_t run_philox(const State& state, std::int64_t count, std::uint32_t* out) {
  const Pairs d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const std::uint64_t block = state.position / 4;
  const auto left = static_cast<std::int64_t>(philox::kSubsequences - block % philox::kSubsequences);
  const std::int64_t blocks = std::min(count / 4, left) / lanes * lanes;
  if (state.position % 4 != 0 || blocks == 0) return 0;
  const PhiloxRun run(philox::counter(block, state.stream), key_of(state.seed));
  Pair c2 = run.first;
  std::int64_t b = 0;
  for (; b + 2 * lanes <= blocks; b += 2 * lanes) {
    philox_store<D, 2>(run, c2, out + 4 * b);
    c2 = hn::Add(c2, hn::Set(d, static_cast<std::uint64_t>(2 * lanes)));
  }
  if (b < blocks) philox_store<D, 1>(run, c2, out + 4 * b);
  return 4 * blocks;
}
#endif

template <Algorithm A, Draw D> void run_of(const State& state, std::int64_t count, std::uint32_t* out) {
  if constexpr (A == Algorithm::Philox4x32_10) {
    run_philox_and_seams<D>(state, count, out);
  } else {
    run<A, D>(state, count, out);
  }
}

template <Algorithm A> void run_draw(const State& state, Draw draw, std::int64_t count, std::uint32_t* out) {
  switch (draw) {
    case Draw::Raw32:
      return run_of<A, Draw::Raw32>(state, count, out);
    case Draw::OpenClosed:
      return run_of<A, Draw::OpenClosed>(state, count, out);
    case Draw::HalfOpen:
      return run_of<A, Draw::HalfOpen>(state, count, out);
    case Draw::Raw64:
    case Draw::OpenClosedDouble:
    case Draw::HalfOpenDouble:
      HWY_ABORT("64-bit values are made from words");
  }
}

void fill_target(const State& state, Draw draw, std::int64_t count, void* out) {
  auto* words = static_cast<std::uint32_t*>(out);  // floats are written as their bits
  if (state.algorithm == Algorithm::Philox4x32_10) {
    run_draw<Algorithm::Philox4x32_10>(state, draw, count, words);
  } else {
    run_draw<Algorithm::Threefry4x32_20>(state, draw, count, words);
  }
}

void encrypt_target(Algorithm algorithm, const Words4* in, std::int64_t count, const Words4& key, Words4* out) {
  const Lanes d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN std::uint32_t buffer[4 * kMaxLanes] = {};
  for (std::int64_t i = 0; i < count; i += lanes) {
    const auto bytes = static_cast<std::size_t>(std::min(lanes, count - i)) * sizeof(Words4);
    std::memcpy(buffer, in + i, bytes);
    Block v;
    hn::LoadInterleaved4(d, buffer, v.w0, v.w1, v.w2, v.w3);
    const Block e = algorithm == Algorithm::Philox4x32_10 ? philox_block(v, key) : threefry_block(v, key);
    hn::StoreInterleaved4(e.w0, e.w1, e.w2, e.w3, d, buffer);
    std::memcpy(out + i, buffer, bytes);
  }
}

}  // namespace trn::rand::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::rand::host {

HWY_EXPORT(fill_target);
HWY_EXPORT(encrypt_target);

void fill_run(const State& state, Draw draw, std::int64_t count, void* out) {
  ensure(is_block_algorithm(state.algorithm), "rand: {} is not made of blocks", name(state.algorithm));
  HWY_DYNAMIC_DISPATCH(fill_target)(state, draw, count, out);
}

void encrypt(Algorithm algorithm, const Words4* counters, std::int64_t count, const Words4& key, Words4* out) {
  HWY_DYNAMIC_DISPATCH(encrypt_target)(algorithm, counters, count, key, out);
}

}  // namespace trn::rand::host
#endif
