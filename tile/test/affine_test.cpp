// Affine index expressions: arithmetic, bounds and values, against brute force over every loop value.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <trn/tile/affine.hpp>

namespace trn::tile {
namespace {

TEST(Affine, ConstantsHaveNoTerms) {
  const Affine a = 7;
  EXPECT_TRUE(a.is_constant());
  EXPECT_EQ(a.constant(), 7);
  EXPECT_EQ(a.min(), 7);
  EXPECT_EQ(a.max(), 7);
  EXPECT_EQ(Affine(), Affine(0));
}

TEST(Affine, SumsMergeTermsAndDropZeros) {
  const Affine i = Affine::variable(0, 4), j = Affine::variable(1, 8);
  EXPECT_EQ(i + j, j + i);
  EXPECT_EQ((i * 3 + j) - i * 3, j);
  EXPECT_EQ(i - i, Affine(0));
  EXPECT_TRUE((i - i).is_constant());
  EXPECT_EQ(i * 0, Affine(0));
  EXPECT_EQ(2 * i, i + i);
  EXPECT_EQ((j + i).terms().front().variable, 0) << "terms are sorted by variable";
}

TEST(Affine, BoundsAndValuesAgreeWithEnumeration) {
  const Affine i = Affine::variable(0, 3), j = Affine::variable(2, 5), k = Affine::variable(1, 1);
  for (const Affine& a : {i * 7 - j * 2 + 4, j * -3, i + j + k - 100, k * 50 + 1, Affine(3)}) {
    std::int64_t low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
    for (std::int64_t x = 0; x < 3; ++x) {
      for (std::int64_t y = 0; y < 5; ++y) {
        const std::vector<std::int64_t> at{x, 0, y};
        low = std::min(low, a.at(at));
        high = std::max(high, a.at(at));
      }
    }
    EXPECT_EQ(a.min(), low);
    EXPECT_EQ(a.max(), high);
  }
  const std::vector<std::int64_t> at{2, 0, 3};
  EXPECT_EQ((i * 7 - j * 2 + 4).at(at), 2 * 7 - 3 * 2 + 4);
}

}  // namespace
}  // namespace trn::tile
