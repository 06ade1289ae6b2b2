// Copies with many levels in HBM: the builder records several, the verifier refuses what it is given otherwise, and the
// elements arrive where one copy would have put them.
#include <gtest/gtest.h>

#include <numeric>
#include <trn/neuron/sim.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/verify.hpp>

#include "support/nki_run.hpp"

namespace trn::neuron {
namespace {

using namespace trn::tile;

constexpr auto kSingle = DType::Float32;

// Loads (a, b, c, d, e, f) of x in another order into a tile of a * b partitions, and stores it as it is.
struct Case {
  Shape shape;
  std::vector<std::size_t> order;
  std::int64_t copies;  // of the load
};

Program permuted(const Case& c, Access* load = nullptr) {
  Builder b("permuted", machine("trn2"));
  const Access x = b.input("x", kSingle, c.shape).permute(c.order);
  const std::int64_t partitions = x.dims[0].size * x.dims[1].size;
  Shape free;
  for (std::size_t d = 2; d < x.dims.size(); ++d) free.push_back(x.dims[d].size);
  const Access t = b.sbuf("t", partitions, free, kSingle);
  if (load) *load = x;
  b.dma_copy(t, x);
  b.dma_copy(b.output("y", kSingle, {partitions, element_count(free)}), t);
  return b.finish();
}

const std::vector<Case> kCases{
    {{4, 3, 5, 2}, {2, 0, 3, 1}, 1},
    {{4, 3, 5, 2, 3}, {2, 0, 4, 1, 3}, 2},
    {{3, 4, 2, 5, 3, 2}, {3, 1, 5, 0, 2, 4}, 4},  // two levels too many: 2 x 2
    {{2, 6, 3, 4, 2, 2}, {1, 4, 0, 2, 3, 5}, 2},  // the last two are one run
};

TEST(SplitCopy, RecordsAsFewAsAreNeededAndMovesEveryElement) {
  for (const Case& c : kCases) {
    Access load;
    const Program p = permuted(c, &load);
    EXPECT_EQ(static_cast<std::int64_t>(p.instructions().size()), c.copies + 1) << to_string(c.shape);
    std::vector<float> x(static_cast<std::size_t>(element_count(c.shape))), y(x.size()), expected;
    std::iota(x.begin(), x.end(), 0.0f);
    Shape index(load.dims.size(), 0);
    for (std::size_t i = 0; i < x.size(); ++i) {  // row-major over the permuted dimensions
      std::int64_t at = 0;
      for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * load.dims[d].stride;
      expected.push_back(static_cast<float>(at));
      for (std::size_t d = index.size(); d-- > 0;) {
        if (++index[d] < load.dims[d].size) break;
        index[d] = 0;
      }
    }
    simulate(p, machine("trn2"), std::vector<Binding>{{"x", x.data()}, {"y", y.data()}}, {.order = Order::in_order()});
    EXPECT_EQ(y, expected) << to_string(c.shape);
    testing::expect_agreement(p);
  }
}

TEST(SplitCopy, BetweenTwoTensorsToo) {
  Builder b("turned", machine("trn2"));
  const Access x = b.input("x", kSingle, {3, 2, 4, 2, 3}), y = b.output("y", kSingle, {4, 3, 3, 2, 2});
  b.dma_copy(y, x.permute({2, 0, 4, 1, 3}));
  const Program p = b.finish();
  EXPECT_GT(p.instructions().size(), 1u);
  testing::expect_agreement(p);
}

TEST(SplitCopy, TheVerifierRefusesFiveLevels) {
  Program::Parts parts = permuted({{4, 3, 5, 2}, {2, 0, 3, 1}, 1}).parts();
  Access& src = parts.instructions[0].operands[1];
  src.dims = {{0, 5}, {1, 2}, {3, 2}, {9, 3}, {1, 2}};  // 120 elements, none in one run
  const auto found = verify(Program(parts), machine("trn2"));
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].rule, "size-limit");
  EXPECT_NE(found[0].message.find("5 levels of access in HBM; at most 4"), std::string::npos) << found[0].message;
}

}  // namespace
}  // namespace trn::neuron
