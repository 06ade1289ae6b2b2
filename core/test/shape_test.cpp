// Shape arithmetic at its edges: rank 0, empty, negative, and one beyond 64 bits.
#include <gtest/gtest.h>

#include <limits>
#include <trn/core/error.hpp>
#include <trn/core/row_major.hpp>
#include <trn/core/shape.hpp>

#include "scrambled_backend.hpp"

namespace trn {
namespace {

using testing_support::message_of;
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

TEST(Shape, CountsElements) {
  EXPECT_EQ(element_count({}), 1);
  EXPECT_EQ(element_count({7}), 7);
  EXPECT_EQ(element_count({3, 4, 5}), 60);
  EXPECT_EQ(element_count({3, 0, 5}), 0);
  EXPECT_EQ(element_count({kMax}), kMax);
  EXPECT_EQ(element_count({kMax, 1, 1}), kMax);
}

TEST(Shape, RefusesNegativeExtents) {
  const std::string message = message_of<InvalidArgument>([] { (void)element_count({3, -2}); });
  EXPECT_NE(message.find("(3, -2)"), std::string::npos) << message;
  EXPECT_NE(message.find("extent -2"), std::string::npos) << message;
  EXPECT_THROW((void)element_count({0, -1}), InvalidArgument);
  EXPECT_THROW((void)row_major_strides({-1}), InvalidArgument);
}

TEST(Shape, RefusesCountsBeyond64Bits) {
  const std::int64_t big = std::int64_t{1} << 32;
  EXPECT_EQ(element_count({big, big / 4}), std::int64_t{1} << 62);
  const std::string message = message_of<InvalidArgument>([&] { (void)element_count({big, big}); });
  EXPECT_NE(message.find("(4294967296, 4294967296)"), std::string::npos) << message;
  EXPECT_NE(message.find("64 bits"), std::string::npos) << message;
  EXPECT_THROW((void)element_count({big, 0, big}), InvalidArgument);  // its strides would not exist
  EXPECT_THROW((void)row_major_strides({big, big}), InvalidArgument);
  EXPECT_THROW((void)column_major_strides({big, big}), InvalidArgument);
}

TEST(Shape, CountsBytes) {
  EXPECT_EQ(byte_count({3, 4}, 8), 96);
  EXPECT_EQ(byte_count({0}, 8), 0);
  EXPECT_EQ(byte_count({kMax}, 1), kMax);
  EXPECT_THROW((void)byte_count({kMax / 2}, 4), InvalidArgument);
}

TEST(Shape, PackedStrides) {
  EXPECT_EQ(row_major_strides({}), Strides());
  EXPECT_EQ(row_major_strides({2, 3, 4}), (Strides{12, 4, 1}));
  EXPECT_EQ(column_major_strides({2, 3, 4}), (Strides{1, 2, 6}));
  EXPECT_EQ(row_major_strides({2, 0, 4}), (Strides{4, 4, 1}));
  EXPECT_EQ(column_major_strides({}), Strides());
}

// The stride of an extent of 1 is never used.
TEST(Shape, RowMajorOrder) {
  EXPECT_TRUE(is_row_major({}, {}));
  EXPECT_TRUE(is_row_major({2, 3, 4}, {12, 4, 1}));
  EXPECT_TRUE(is_row_major({1, 3, 4}, {-7, 4, 1}));
  EXPECT_TRUE(is_row_major({2, 1, 4}, {4, kMax, 1}));
  EXPECT_TRUE(is_row_major({6, 1}, {1, 0}));
  EXPECT_TRUE(is_row_major({1, 1}, {0, 0}));
  EXPECT_TRUE(is_row_major({0, 4}, {9, 9}));
  EXPECT_FALSE(is_row_major({2, 3, 4}, {12, 4, 2}));
  EXPECT_FALSE(is_row_major({2, 1, 4}, {8, 4, 1}));
  EXPECT_FALSE(is_row_major({3, 2}, {1, 3}));
  EXPECT_FALSE(is_row_major({6}, {-1}));
  EXPECT_FALSE(is_row_major({6}, {0}));
  EXPECT_THROW((void)is_row_major({2, 3}, {1}), InvalidArgument);
}

TEST(Shape, OffsetRangeCoversWhatIsTouched) {
  const auto range = [](const Shape& shape, const Strides& strides) {
    const OffsetRange r = offset_range(shape, strides);
    return std::pair(r.lowest, r.highest);
  };
  EXPECT_EQ(range({}, {}), std::pair(std::int64_t{0}, std::int64_t{0}));
  EXPECT_EQ(range({3, 4}, {4, 1}), std::pair(std::int64_t{0}, std::int64_t{11}));
  EXPECT_EQ(range({3, 4}, {-4, 1}), std::pair(std::int64_t{-8}, std::int64_t{3}));
  EXPECT_EQ(range({3, 4}, {0, 2}), std::pair(std::int64_t{0}, std::int64_t{6}));
  EXPECT_EQ(range({3, 0}, {100, 100}), std::pair(std::int64_t{0}, std::int64_t{-1}));
}

TEST(Shape, OffsetRangeRefusesOtherRanksAndOverflow) {
  EXPECT_THROW((void)offset_range({3, 4}, {1}), InvalidArgument);
  EXPECT_THROW((void)offset_range({3}, {kMax}), InvalidArgument);
  EXPECT_THROW((void)offset_range({2, 2}, {kMax, 1}), InvalidArgument);
  EXPECT_THROW((void)offset_range({3}, {-kMax}), InvalidArgument);
}

TEST(Shape, Prints) {
  EXPECT_EQ(to_string(Shape{}), "()");
  EXPECT_EQ(to_string(Shape{3}), "(3)");
  EXPECT_EQ(to_string(Shape{3, 4}), "(3, 4)");
}

}  // namespace
}  // namespace trn
