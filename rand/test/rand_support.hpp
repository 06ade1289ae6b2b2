// What the rand tests share: the algorithms written down once more, plainly, from the paper, one block at a time.
#pragma once

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cstdint>
#include <trn/core/array.hpp>
#include <trn/rand/raw32.hpp>
#include <trn/rand/uniform.hpp>
#include <vector>

#include "support/message_of.hpp"

namespace trn::rand::test {

using testing_support::message_of;
template <class F> void expect_refusal(F call, const std::string& part) {
  EXPECT_IN(part, message_of<InvalidArgument>(call));
}

using Quad = std::array<std::uint32_t, 4>;

inline Quad oracle_philox(Quad c, std::uint32_t k0, std::uint32_t k1) {
  for (int r = 0; r < 10; ++r) {
    const std::uint64_t p0 = 0xD2511F53ull * c[0], p1 = 0xCD9E8D57ull * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ k0, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ k1, static_cast<std::uint32_t>(p0)};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return c;
}

inline Quad oracle_threefry(Quad x, const Quad& k) {
  constexpr int kRotate[8][2] = {{10, 26}, {11, 21}, {13, 27}, {23, 5}, {6, 20}, {17, 11}, {25, 10}, {18, 20}};
  const std::uint32_t ks[5] = {k[0], k[1], k[2], k[3], 0x1BD11BDAu ^ k[0] ^ k[1] ^ k[2] ^ k[3]};
  for (std::size_t i = 0; i < 4; ++i) x[i] += ks[i];
  for (std::uint32_t r = 0; r < 20; ++r) {
    const std::size_t a = r % 2 ? 3 : 1, b = 4 - a;
    x[0] += x[a];
    x[a] = std::rotl(x[a], kRotate[r % 8][0]) ^ x[0];
    x[2] += x[b];
    x[b] = std::rotl(x[b], kRotate[r % 8][1]) ^ x[2];
    if (r % 4 != 3) continue;
    const std::uint32_t s = r / 4 + 1;
    for (std::uint32_t i = 0; i < 4; ++i) x[i] += ks[(s + i) % 5];
    x[3] += s;
  }
  return x;
}

// Value number n.
inline std::uint32_t oracle(const State& s, std::uint64_t n) {
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  const std::uint64_t block = n / 4;
  Quad words;
  if (s.algorithm == Algorithm::Philox4x32_10) {
    const std::uint64_t major = block / 65536, sub = (s.stream << 16) + block % 65536;
    words = oracle_philox({low(major), low(major >> 32), low(sub), low(sub >> 32)}, low(s.seed), low(s.seed >> 32));
  } else {
    words = oracle_threefry({low(block), low(block >> 32), low(s.stream), low(s.stream >> 32)},
                            {low(s.seed), low(s.seed >> 32), 0, 0});
  }
  return words[n % 4];
}

// In double everything is exact up to the one rounding to float: float(x) is the first, the sum the second.
inline float oracle_uniform(std::uint32_t x, Interval interval) {
  if (interval == Interval::HalfOpen) return static_cast<float>(static_cast<double>(x >> 8) * 0x1p-24);
  return static_cast<float>(static_cast<double>(static_cast<float>(x)) * 0x1p-32 + 0x1p-33);
}

inline std::vector<std::uint32_t> draw_raw(const Executor& e, Generator& g, std::int64_t n) {
  const Array<std::uint32_t> out(e, {n});
  raw32(e, g, out.view());
  return out.to_host();
}
inline std::vector<float> draw_uniform(const Executor& e, Generator& g, std::int64_t n, Interval interval) {
  const Array<float> out(e, {n});
  uniform(e, g, out.view(), interval);
  return out.to_host();
}

inline constexpr Algorithm kAlgorithms[] = {Algorithm::Philox4x32_10, Algorithm::Threefry4x32_20};
inline constexpr Interval kIntervals[] = {Interval::OpenClosed, Interval::HalfOpen};
inline constexpr const char* kExecutors[] = {"host", "sim:trn1", "sim:trn2", "sim:trn3"};

// The first n values from `state` on, on one executor, against the oracle; the executor's own family must have run.
inline void check_raw(const char* executor, const State& state, std::int64_t n) {
  const Executor e = Executor::open(executor);
  SCOPED_TRACE(::testing::Message() << executor << " algorithm " << static_cast<int>(state.algorithm) << " seed "
                                    << state.seed << " stream " << state.stream << " position " << state.position
                                    << " n " << n);
  const Recorder recorder(e);
  Generator g(state);
  const auto values = draw_raw(e, g, n);
  EXPECT_EQ(recorder.family_of("rand.raw32"), name(e.family()));
  EXPECT_EQ(g.state().position, state.position + static_cast<std::uint64_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    ASSERT_EQ(values[static_cast<std::size_t>(i)], oracle(state, state.position + static_cast<std::uint64_t>(i)))
        << "value " << i;
  }
}

}  // namespace trn::rand::test
