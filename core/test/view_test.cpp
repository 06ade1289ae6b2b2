// Views: what they accept, and the arithmetic of transposes and blocks.
#include <gtest/gtest.h>

#include <limits>
#include <numeric>
#include <trn/core/view.hpp>

#include "scrambled_backend.hpp"

namespace trn {
namespace {

using testing_support::message_of;

TEST(View, ChecksItsArguments) {
  float x[6] = {};
  const Executor host = Executor::host();
  const std::string message = message_of<InvalidArgument>([&] { View<float>(host, x, {2, 3}, {1}); });
  EXPECT_NE(message.find("2 extents but 1 strides"), std::string::npos) << message;
  EXPECT_THROW(View<float>(host, x, {2, -3}), InvalidArgument);
  EXPECT_THROW(View<float>(host, x, {2, -3}, {1, 1}), InvalidArgument);
  EXPECT_THROW(View<float>(host, x, {std::int64_t{1} << 40, std::int64_t{1} << 40}, {0, 0}), InvalidArgument);
}

TEST(View, KnowsItsSizeAndContiguity) {
  float x[6] = {};
  const Executor host = Executor::host();
  const View<float> packed(host, x, {2, 3});
  EXPECT_EQ(packed.size(), 6);
  EXPECT_EQ(packed.rank(), 2);
  EXPECT_EQ(packed.strides(), (Strides{3, 1}));
  EXPECT_TRUE(packed.is_contiguous());
  EXPECT_FALSE(View<float>(host, x, {3, 2}, {1, 3}).is_contiguous());
  EXPECT_FALSE(View<float>(host, x + 5, {6}, {-1}).is_contiguous());
  EXPECT_TRUE(View<float>(host, x, {1}, {17}).is_contiguous());
  EXPECT_TRUE(View<float>(host, nullptr, {0, 4}, {9, 9}).is_contiguous());
  EXPECT_TRUE(View<float>(host, x, {2, 1, 3}, {3, 17, 1}).is_contiguous());
  EXPECT_TRUE(View<float>(host, x, {1, 6}, {-2, 1}).is_contiguous());
  EXPECT_FALSE(View<float>(host, x, {1, 3}, {3, 2}).is_contiguous());
  EXPECT_EQ(View<float>(host, x, {}).size(), 1);
}

class MatrixViewTest : public ::testing::Test {
 protected:
  MatrixViewTest() { std::iota(x_, x_ + 20, 0); }
  [[nodiscard]] static int at(const MatrixView<std::int32_t>& m, std::int64_t i, std::int64_t j) {
    return m.data()[i * m.row_stride() + j * m.column_stride()];
  }
  std::int32_t x_[20];
  Executor host_ = Executor::host();
};

TEST_F(MatrixViewTest, RowAndColumnMajorAddressTheSameWayAsTheirFormulas) {
  const auto rows = MatrixView<std::int32_t>::row_major(host_, x_, 4, 5);
  EXPECT_EQ(at(rows, 2, 3), 13);
  const auto columns = MatrixView<std::int32_t>::column_major(host_, x_, 4, 5);
  EXPECT_EQ(at(columns, 2, 3), 14);
  EXPECT_EQ(at(MatrixView<std::int32_t>::row_major(host_, x_, 3, 2, 7), 2, 1), 15);
  EXPECT_EQ(at(MatrixView<std::int32_t>::column_major(host_, x_, 3, 2, 7), 2, 1), 9);
}

TEST_F(MatrixViewTest, TransposedSwapsExtentsAndStrides) {
  const auto t = MatrixView<std::int32_t>::row_major(host_, x_, 4, 5).transposed();
  EXPECT_EQ(t.rows(), 5);
  EXPECT_EQ(t.columns(), 4);
  EXPECT_EQ(at(t, 3, 2), 13);
}

TEST_F(MatrixViewTest, BlocksStayInside) {
  const auto m = MatrixView<std::int32_t>::row_major(host_, x_, 4, 5);
  const auto block = m.block(1, 2, 3, 2);
  EXPECT_EQ(block.rows(), 3);
  EXPECT_EQ(block.columns(), 2);
  EXPECT_EQ(at(block, 0, 0), 7);
  EXPECT_EQ(at(block, 2, 1), 18);
  EXPECT_EQ(m.block(4, 5, 0, 0).rows(), 0);
  EXPECT_THROW((void)m.block(-1, 0, 1, 1), InvalidArgument);
  EXPECT_THROW((void)m.block(0, 0, 1, -1), InvalidArgument);
  EXPECT_THROW((void)m.block(2, 0, 3, 1), InvalidArgument);
  EXPECT_THROW((void)m.block(0, 5, 1, 1), InvalidArgument);
  constexpr std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_THROW((void)m.block(1, 0, huge, 1), InvalidArgument);
  const std::string message = message_of<InvalidArgument>([&] { (void)m.block(2, 0, 3, 1); });
  EXPECT_EQ(message, "matrix view: block (2, 0) + 3 x 1 lies outside 4 x 5");
}

TEST_F(MatrixViewTest, EmptyBlocksOfEmptyMatricesNeedNoData) {
  const auto empty = MatrixView<std::int32_t>::row_major(host_, nullptr, 0, 5);
  EXPECT_EQ(empty.block(0, 3, 0, 2).data(), nullptr);
}

TEST_F(MatrixViewTest, RefusesNegativeExtents) {
  EXPECT_THROW((MatrixView<std::int32_t>(host_, x_, -1, 2, 1, 1)), InvalidArgument);
  EXPECT_THROW((MatrixView<std::int32_t>(host_, x_, 1, -2, 1, 1)), InvalidArgument);
}

TEST_F(MatrixViewTest, BecomesAView) {
  const View<std::int32_t> v = MatrixView<std::int32_t>::column_major(host_, x_, 4, 5);
  EXPECT_EQ(v.shape(), (Shape{4, 5}));
  EXPECT_EQ(v.strides(), (Strides{1, 4}));
  EXPECT_EQ(v.executor(), host_);
}

TEST(MatrixView, LeadingDimensionsHoldALine) {
  float memory[64];
  const Executor e = Executor::host();
  for (const std::int64_t ld : {-4L, -1L, 1L, 3L}) {
    EXPECT_THROW((void)MatrixView<float>::row_major(e, memory, 2, 4, ld), InvalidArgument) << ld;
    EXPECT_THROW((void)MatrixView<float>::column_major(e, memory, 4, 2, ld), InvalidArgument) << ld;
  }
  EXPECT_EQ(MatrixView<float>::row_major(e, memory, 2, 4, 5).row_stride(), 5);
  EXPECT_EQ(MatrixView<float>::column_major(e, memory, 4, 2).column_stride(), 4);
}

TEST(MatrixView, WritableConvertsToConst) {
  float memory[8] = {};
  const Executor e = Executor::host();
  const auto writable = MatrixView<float>::row_major(e, memory, 2, 4);
  const MatrixView<const float> readable = writable;
  EXPECT_EQ(readable.data(), memory);
  EXPECT_EQ(readable.block(1, 1, 1, 2).data(), memory + 5);
  static_assert(!std::is_constructible_v<MatrixView<float>, MatrixView<const float>>);
}

TEST(VectorView, FromAndToViews) {
  float x[10];
  const VectorView<float> v(Executor::host(), x + 8, 3, -4);
  EXPECT_EQ(v.size(), 3);
  EXPECT_EQ(v.stride(), -4);
  const View<float> view = v;
  EXPECT_EQ(view.shape(), Shape{3});
  EXPECT_EQ(view.strides(), Strides{-4});
  const VectorView<const float> back = view;
  EXPECT_EQ(back.data(), x + 8);
  EXPECT_THROW((VectorView<float>(View<float>(Executor::host(), x, {2, 5}))), InvalidArgument);
  EXPECT_THROW((VectorView<float>(Executor::host(), x, -1)), InvalidArgument);
}

TEST(VectorView, RowsAndColumnsOfAMatrix) {
  double x[12];
  const auto m = MatrixView<double>::row_major(Executor::host(), x, 3, 4);
  EXPECT_EQ(m.row(2).data(), x + 8);
  EXPECT_EQ(m.row(2).size(), 4);
  EXPECT_EQ(m.column(3).data(), x + 3);
  EXPECT_EQ(m.column(3).stride(), 4);
  EXPECT_THROW((void)m.row(3), InvalidArgument);
  EXPECT_THROW((void)m.column(-1), InvalidArgument);
}

}  // namespace
}  // namespace trn
