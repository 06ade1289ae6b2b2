// Sums over ranks have one value, whatever the number of ranks: the bits of one rank are the reference, exact integer
// arithmetic and __float128 tell whether they are right.
#include <trn/comm/reductions.hpp>

#include <bit>
#include <random>

#include "ranks.hpp"
#include "support/message_of.hpp"

namespace trn::comm {
namespace {

using namespace testing_support;
using trn::testing_support::message_of;
__extension__ using Quad = __float128;
__extension__ using Int128 = __int128;

std::vector<double> wild_numbers(std::size_t n, int exponents) {
  std::mt19937_64 random(7);
  std::vector<double> values(n);
  for (double& v : values) {
    v = std::ldexp(static_cast<double>(static_cast<std::int64_t>(random() >> 11)) - 0x1p52,
                   static_cast<int>(random() % static_cast<unsigned>(2 * exponents + 1)) - exponents);
  }
  return values;
}

// The sums of this rank's blocks, added in order.
BlockSums blocks_of(const std::vector<double>& values, const Communicator& c) {
  const auto n = static_cast<std::int64_t>(values.size());
  const dist::Boxes rows = dist::block_rows(n, c.size());
  const dist::Boxes::Box& box = rows.boxes[static_cast<std::size_t>(c.rank())];
  BlockSums result{box.begin[0] / dist::kSumBlock, {}, (n + dist::kSumBlock - 1) / dist::kSumBlock};
  for (std::int64_t i = 0; i < box.extent[0]; ++i) {
    if (i % dist::kSumBlock == 0) result.sums.push_back(0);
    result.sums.back() += values[static_cast<std::size_t>(box.begin[0] + i)];
  }
  return result;
}

TEST(Sums, BlocksHaveTheSameBitsOnEveryNumberOfRanks) {
  int compared = 0;
  for (const std::size_t n : {0u, 1u, 4095u, 4096u, 4097u, 100000u, 300001u}) {
    const std::vector<double> values = wild_numbers(n, 30);
    Quad exact = 0, magnitude = 0;
    for (const double v : values) exact += v, magnitude += v < 0 ? -v : v;
    double reference = 0;
    on_ranks(1, [&](const Communicator& c) { reference = sum(c, blocks_of(values, c)); });
    // At most 4096 + log2(blocks) roundings on the way of any term.
    const double bound = (4096 + 20) * 0x1p-53 * static_cast<double>(magnitude);
    EXPECT_LE(std::abs(static_cast<double>(reference - exact)), bound);
    for (const int p : kRankCounts) {
      on_ranks(p, [&](const Communicator& c) {
        const double here = sum(c, blocks_of(values, c));
        EXPECT_EQ(std::bit_cast<std::uint64_t>(here), std::bit_cast<std::uint64_t>(reference)) << p << " ranks";
      });
      ++compared;
    }
  }
  std::printf("%d sums compared with one rank\n", compared);
}

TEST(Sums, TheTreeIsTheOneThatIsDocumented) {
  // 7 blocks: ((b0 + b1) + (b2 + b3)) + ((b4 + b5) + b6).
  const std::vector<double> b{1, 0x1p-53, 1e30, -1e30, 0x1p-60, 3, 1e-3};
  const double wanted = ((b[0] + b[1]) + (b[2] + b[3])) + ((b[4] + b[5]) + b[6]);
  for (const int p : {1, 2, 3, 7}) {
    on_ranks(p, [&](const Communicator& c) {
      const dist::Boxes cut = dist::slabs({7}, 0, p);
      const auto& box = cut.boxes[static_cast<std::size_t>(c.rank())];
      const BlockSums mine{box.begin[0], {b.begin() + box.begin[0], b.begin() + box.begin[0] + box.extent[0]}, 7};
      EXPECT_EQ(sum(c, mine), wanted);
      // Two in one exchange, of different lengths.
      const BlockSums few{0, c.rank() == p - 1 ? std::vector<double>{5, 6} : std::vector<double>{}, 2};
      const std::vector<BlockSums> both{mine, few};
      EXPECT_EQ(sum(c, both), (std::vector<double>{wanted, 11}));
      EXPECT_EQ(sum(c, std::span<const BlockSums>()), std::vector<double>());
    });
  }
}

TEST(Sums, BlocksThatDoNotFitTogetherAreRefusedEverywhere) {
  const auto refused = [](const std::function<BlockSums(int)>& blocks) {
    std::vector<std::string> texts(3);
    on_ranks(3, [&](const Communicator& c) {
      texts[static_cast<std::size_t>(c.rank())] = message_of<InvalidArgument>([&] { (void)sum(c, blocks(c.rank())); });
      EXPECT_EQ(sum(c, 1), 3);  // the group goes on
    });
    EXPECT_EQ(texts[0], texts[1]);
    EXPECT_EQ(texts[0], texts[2]);
    return texts[0];
  };
  EXPECT_IN("block 1 of 3 belongs to two ranks", refused([](int r) { return BlockSums{r == 2 ? 1 : r, {1.0}, 3}; }));
  EXPECT_IN("block 2 of 4 belongs to no rank", refused([](int r) { return BlockSums{r == 2 ? 3 : r, {1.0}, 4}; }));
  EXPECT_IN("block 3 of 4 belongs to no rank", refused([](int r) { return BlockSums{r, {1.0}, 4}; }));
  EXPECT_IN("of 2", refused([](int r) { return BlockSums{r, {1.0}, 2}; }));
  EXPECT_IN("rank 1 calls", refused([](int r) { return BlockSums{r, {1.0}, r == 1 ? 4 : 3}; }));
}

TEST(Sums, ExactOnes) {
  // Integers times 2^-k within 128 bits: exact integer arithmetic is the oracle.
  const std::vector<double> values = wild_numbers(20000, 20);
  Int128 exact = 0;
  for (const double v : values) exact += static_cast<Int128>(std::ldexp(v, 20));
  const double wanted = std::ldexp(static_cast<double>(exact), -20);  // one rounding
  for (const int p : kRankCounts) {
    on_ranks(p, [&](const Communicator& c) {
      ExactSum mine;
      for (std::size_t i = static_cast<std::size_t>(c.rank()); i < values.size(); i += static_cast<std::size_t>(p)) {
        mine.add(values[i]);
      }
      const ExactSum all = sum(c, mine);
      EXPECT_EQ(std::bit_cast<std::uint64_t>(all.to_double()), std::bit_cast<std::uint64_t>(wanted));
    });
  }
}

TEST(Sums, ExactOnesFarApart) {
  for (const int p : kRankCounts) {
    on_ranks(p, [&](const Communicator& c) {
      // The smallest and the largest products there are; everything large cancels.
      const double tiny = std::numeric_limits<double>::denorm_min(), huge = std::numeric_limits<double>::max();
      ExactSum mine;
      mine.add_product(huge, c.rank() % 2 == 0 ? huge : -huge);
      if (p % 2 != 0 && c.rank() == 0) mine.add_product(huge, -huge);
      mine.add_product(tiny, 0.5);
      mine.add(c.rank() == p - 1 ? -3.0 : 0.0);
      EXPECT_EQ(sum(c, mine).to_double(), -3.0);  // p squares far below half an ulp of 3
      // Infinities and NaN: one form on every number of ranks.
      ExactSum special;
      if (c.rank() == 0) special.add(std::numeric_limits<double>::infinity());
      EXPECT_EQ(sum(c, special).to_double(), std::numeric_limits<double>::infinity());
      if (c.rank() == p - 1) special.add(-std::numeric_limits<double>::infinity());
      EXPECT_EQ(std::bit_cast<std::uint64_t>(sum(c, special).to_double()),
                std::bit_cast<std::uint64_t>(std::numeric_limits<double>::quiet_NaN()));
      EXPECT_EQ(sum(c, ExactSum()).to_double(), 0.0);
    });
  }
}

}  // namespace
}  // namespace trn::comm
