// Slicing: the budget is kept, passes cover every label, and the price is checked where it is known.
#include <trn/tensor/slice.hpp>

#include <gtest/gtest.h>

#include <trn/core/error.hpp>

#include "path_networks.hpp"
#include "path_oracle.hpp"

namespace trn::tensor::testing {
namespace {

// Figures of one pass, counted with the blocks as extents.
OracleFigures pass_of(const TestNetwork& net, const SliceSet& set) {
  Sizes sizes = net.sizes;
  for (const Slice& s : set.slices) sizes[static_cast<std::size_t>(s.label)] = s.block;
  return walk(net.expression, sizes, set.path.steps);
}

TEST(Slice, TheBudgetIsKept) {
  int sliced = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    TestRandom random(seed);
    const TestNetwork net = random_network(5 + random.below(20), 3, random.below(3), random.below(3), 0, 9, seed);
    const Path whole = optimize(net.expression, net.sizes, {.effort = Effort::Low});
    for (const double share : {1.0, 0.5, 0.1, 0.01}) {
      const double budget = std::max(64.0, std::floor(share * whole.live));
      const SliceSet set = slice(net.expression, net.sizes, budget, {.effort = Effort::Low});
      const OracleFigures f = pass_of(net, set);
      EXPECT_LE(f.live, budget) << seed;
      EXPECT_NEAR(set.path.live, f.live, 1e-12 * f.live);
      double passes = 1;
      for (const Slice& s : set.slices) {
        const std::int64_t extent = net.sizes[static_cast<std::size_t>(s.label)];
        ASSERT_GE(s.block, 1);
        ASSERT_LT(s.block, extent);
        passes *= static_cast<double>((extent + s.block - 1) / s.block);
      }
      EXPECT_EQ(set.passes, passes);
      EXPECT_NEAR(set.multiplications, static_cast<double>(f.products) * passes, 1e-12 * set.multiplications);
      if (whole.live <= budget) {
        EXPECT_FALSE(set.sliced());
      }
      sliced += set.sliced();
    }
  }
  EXPECT_GT(sliced, 60);
}

// ij,jk,kl->il: the product of the first two has i k elements. Slicing i costs nothing.
TEST(Slice, AFreeLabelIsFound) {
  const Expression e{{{0, 1}, {1, 2}, {2, 3}}, {0, 3}, {"i", "j", "k", "l"}};
  const Sizes sizes{100, 7, 50, 60};
  const Path whole = optimize(e, sizes);
  EXPECT_EQ(whole.live, 7 * 60);  // the last two first
  const SliceSet set = slice(e, sizes, 100);
  ASSERT_EQ(set.slices.size(), 1u);
  EXPECT_EQ(set.multiplications, whole.multiplications);
  EXPECT_EQ(set.slices[0], (Slice{3, 12}));  // 7 x 12 elements fit; five equal blocks of 60
  EXPECT_EQ(set.passes, 5);
}

TEST(Slice, ALatticeAtASixteenthOfItsMemory) {
  const TestNetwork net = lattice(6, 6, 4);
  const Path whole = optimize(net.expression, net.sizes, {.effort = Effort::Low});
  const SliceSet set = slice(net.expression, net.sizes, whole.live / 16, {.effort = Effort::Low});
  EXPECT_LE(pass_of(net, set).live, whole.live / 16);
  // 4^6 elements become 4^4: the four bonds across a line are cut, and each of the 256 passes has two small halves.
  EXPECT_LT(set.multiplications, 32 * whole.multiplications);
}

TEST(Slice, AnImpossibleBudgetIsRefused) {
  const Expression e{{{0, 1}, {1, 2}, {2, 3}}, {0, 3}, {}};
  EXPECT_THROW((void)slice(e, {4, 4, 4, 4}, 0.5), InvalidArgument);
  EXPECT_THROW((void)slice(e, {4, 4, 4, 4}, -1), InvalidArgument);
  EXPECT_NO_THROW((void)slice(e, {4, 4, 4, 4}, 1));
}

}  // namespace
}  // namespace trn::tensor::testing
