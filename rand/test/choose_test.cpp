// integers, permutation, shuffle and choice against their definitions on the oracle's words, and the words of elements.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <trn/rand/gamma.hpp>
#include <trn/rand/integers.hpp>
#include <trn/rand/permutation.hpp>

#include "element_words.hpp"
#include "rand_support.hpp"
#include "statistics.hpp"

namespace trn::rand::test {
namespace {

// Block a of element n, from the table in rand/README.md.
Quad oracle_element(const State& s, std::uint64_t n, std::uint64_t a) {
  const auto low = [](std::uint64_t v) { return static_cast<std::uint32_t>(v); };
  if (s.algorithm == Algorithm::Philox4x32_10) {
    const std::uint64_t first = (std::uint64_t{1} << 63) + (a << 48) + n / 65536, second = (s.stream << 16) + n % 65536;
    return oracle_philox({low(first), low(first >> 32), low(second), low(second >> 32)}, low(s.seed),
                         low(s.seed >> 32));
  }
  return oracle_threefry({low(n), low(n >> 32), low(s.stream), low(s.stream >> 32)},
                         {low(s.seed), low(s.seed >> 32), low(a + 1), 0});
}

TEST(ElementWords, AreTheDocumentedBlocks) {
  for (const Algorithm a : kAlgorithms) {
    const State state{a, 0x123456789abcdef0, 0x7777, 0};
    for (const std::uint64_t n : {std::uint64_t{0}, std::uint64_t{65535}, std::uint64_t{65536}, ~std::uint64_t{1}}) {
      ElementWords words(state, n);
      for (std::uint64_t block = 0; block < 3; ++block) {
        for (const std::uint32_t w : oracle_element(state, n, block)) ASSERT_EQ(words.next32(), w) << n << " " << block;
      }
    }
  }
}

// Lemire's rule written with a division: the word is rejected when it lies in the incomplete last interval.
std::uint32_t oracle_below(const State& s, std::uint64_t n, std::uint64_t range) {
  std::vector<std::uint32_t> candidates{oracle(s, n)};
  for (std::uint64_t a = 0; a < 20; ++a) {
    for (const std::uint32_t w : oracle_element(s, n, a)) candidates.push_back(w);
  }
  for (const std::uint32_t w : candidates) {
    const std::uint64_t product = w * range;
    if (product % (std::uint64_t{1} << 32) >= (std::uint64_t{1} << 32) % range) {
      return static_cast<std::uint32_t>(product >> 32);
    }
  }
  ADD_FAILURE() << "eighty rejections";
  return 0;
}

TEST(Integers, AgainstTheDefinition) {
  const Executor e = Executor::host();
  for (const Algorithm a : kAlgorithms) {
    for (const std::int64_t range : {std::int64_t{1}, std::int64_t{2}, std::int64_t{6}, std::int64_t{1000003},
                                     (std::int64_t{1} << 31) + 1, std::int64_t{3} << 30, std::int64_t{1} << 32}) {
      const State state{a, 9, 2, 40};
      Generator g(state);
      const Array<std::uint32_t> out(e, {3001});
      integers(e, g, out.view(), 0, range);
      EXPECT_EQ(g.state().position, 40u + 3001);
      for (std::uint64_t i = 0; i < 3001; ++i) {
        ASSERT_EQ(out.data()[i], oracle_below(state, 40 + i, static_cast<std::uint64_t>(range))) << range << " " << i;
      }
    }
  }
  Generator g;
  const Array<std::int32_t> out(e, {10000});
  integers(e, g, out.view(), -3, 4);
  const auto [low, high] = std::minmax_element(out.data(), out.data() + out.size());
  EXPECT_EQ(*low, -3);
  EXPECT_EQ(*high, 3);
  integers(e, g, out.view(), INT32_MIN, std::int64_t{INT32_MAX} + 1);
  EXPECT_LT(*std::min_element(out.data(), out.data() + out.size()), -2000000000);
  EXPECT_GT(*std::max_element(out.data(), out.data() + out.size()), 2000000000);
}

// The first `count` places of Fisher and Yates's exchanges.
std::vector<std::int32_t> oracle_order(const State& s, std::int64_t population, std::int64_t count) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(population));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t by =
        oracle_below(s, s.position + static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(population - i));
    std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(i) + by]);
  }
  order.resize(static_cast<std::size_t>(count));
  return order;
}

TEST(Permutation, AgainstTheDefinition) {
  const Executor e = Executor::host();
  for (const std::int64_t n : {1, 2, 3, 1000}) {
    const State state{.seed = 3, .position = 11};
    Generator g(state);
    const Array<std::int32_t> out(e, {n});
    permutation(e, g, out.view());
    EXPECT_EQ(out.to_host(), oracle_order(state, n, n));
    EXPECT_EQ(g.state().position, 11u + static_cast<std::uint64_t>(n));
  }
}

TEST(Permutation, AllOrdersAreEquallyLikely) {
  const Executor e = Executor::host();
  std::map<std::vector<std::int32_t>, double> seen;
  constexpr double kDraws = 24000;
  Generator g(State{.seed = 12});
  for (int i = 0; i < kDraws; ++i) {
    const Array<std::int32_t> out(e, {4});
    permutation(e, g, out.view());
    seen[out.to_host()] += 1;
  }
  EXPECT_EQ(seen.size(), 24u);
  double statistic = 0;
  for (const auto& [order, count] : seen) statistic += (count - kDraws / 24) * (count - kDraws / 24) / (kDraws / 24);
  EXPECT_GT(chi_square_upper(statistic, 23), 1e-6L);
}

TEST(Shuffle, MovesWholeRowsOfAnyStrides) {
  const Executor e = Executor::host();
  const State state{.seed = 5};
  std::vector<float> memory(400, -1);
  const View<float> values(e, memory.data(), {10, 3}, {20, 2});
  for (std::int64_t i = 0; i < 10; ++i) {
    for (std::int64_t j = 0; j < 3; ++j)
      memory[static_cast<std::size_t>(20 * i + 2 * j)] = static_cast<float>(10 * i + j);
  }
  Generator g(state);
  shuffle(e, g, values);
  const auto order = oracle_order(state, 10, 10);
  for (std::int64_t i = 0; i < 10; ++i) {
    for (std::int64_t j = 0; j < 3; ++j) {
      float& m = memory[static_cast<std::size_t>(20 * i + 2 * j)];
      EXPECT_EQ(m, static_cast<float>(10 * order[static_cast<std::size_t>(i)] + j));
      m = -1;
    }
  }
  EXPECT_EQ(memory, std::vector<float>(400, -1));
  EXPECT_EQ(g.state().position, 10u);
}

TEST(Choice, WithoutReplacement) {
  const Executor e = Executor::host();
  for (const std::int64_t population : {12, 100, 1000, 20000}) {  // a table, and the map of places
    const State state{.seed = 6, .position = 100};
    Generator g(state);
    const Array<std::int32_t> out(e, {12});
    choice(e, g, out.view(), population, {.replacement = Replacement::Without});
    EXPECT_EQ(out.to_host(), oracle_order(state, population, 12)) << population;
    EXPECT_EQ(g.state().position, 112u);
  }
  Generator g, h;
  const Array<std::int32_t> out(e, {500}), same(e, {500});
  choice(e, g, out.view(), 37);
  integers(e, h, same.view(), 0, 37);
  EXPECT_EQ(out.to_host(), same.to_host());
}

TEST(Choice, Weights) {
  const Executor e = Executor::host();
  const std::vector<double> weights = {0, 1, 0, 3, 4, 0};
  Generator g(State{.seed = 2});
  constexpr std::int64_t n = 80000;
  const Array<std::int32_t> out(e, {n});
  choice(e, g, out.view(), 6, {.weights = weights});
  EXPECT_EQ(g.state().position, 2u * n);
  std::vector<double> values;
  for (const std::int32_t v : out.to_host()) values.push_back(v);
  EXPECT_GT(chi_square(values, {0, {0, 0.125L, 0, 0.375L, 0.5L, 0}}), 1e-6);
  // Without replacement: P(first = i) = w_i / sum, P(second = j | first = i) = w_j / (sum - w_i).
  std::map<std::pair<int, int>, double> seen;
  constexpr int kDraws = 20000;
  for (int i = 0; i < kDraws; ++i) {
    const Array<std::int32_t> two(e, {2});
    choice(e, g, two.view(), 6, {.replacement = Replacement::Without, .weights = weights});
    seen[{two.data()[0], two.data()[1]}] += 1;
  }
  double statistic = 0;
  for (const int i : {1, 3, 4}) {
    for (const int j : {1, 3, 4}) {
      if (i == j) continue;
      const auto wi = weights[static_cast<std::size_t>(i)], wj = weights[static_cast<std::size_t>(j)];
      const double expected = kDraws * wi / 8 * wj / (8 - wi);
      statistic += (seen[{i, j}] - expected) * (seen[{i, j}] - expected) / expected;
    }
  }
  EXPECT_EQ(seen.size(), 6u);
  EXPECT_GT(chi_square_upper(statistic, 5), 1e-6L);
}

// Neighbouring elements share no words: correlations of values at distance 1 vanish.
TEST(ElementWords, NeighboursAreIndependent) {
  const Executor e = Executor::host();
  Generator g(State{.seed = 31});
  const Array<double> out(e, {100'001});
  gamma(e, g, out.view(), {2, 1});
  double sum = 0;
  for (std::int64_t i = 0; i + 1 < out.size(); ++i) sum += (out.data()[i] - 2) * (out.data()[i + 1] - 2) / 2;
  EXPECT_GT(two_sided(sum / std::sqrt(100'000.0)), 1e-6);
}

}  // namespace
}  // namespace trn::rand::test
