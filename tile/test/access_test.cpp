// Views of tiles and tensors: every transformation against the element offsets it must produce, and every refusal.
#include <gtest/gtest.h>

#include <trn/core/error.hpp>
#include <trn/tile/access.hpp>
#include <trn/tile/builder.hpp>

namespace trn::tile {
namespace {

class AccessTest : public testing::Test {
 protected:
  Builder b_{"access", machine("trn2")};
  Access tile_ = b_.sbuf("t", 64, {6, 8}, DType::Float32);
  Access tensor_ = b_.input("x", DType::Float32, {100, 40});
};

// Element offsets in the order of the access, from its first partition.
std::vector<std::int64_t> offsets(const Access& a) {
  std::vector<std::int64_t> all{a.offset.constant()};
  for (const Dim& d : a.dims) {
    std::vector<std::int64_t> next;
    for (const std::int64_t base : all) {
      for (std::int64_t i = 0; i < d.size; ++i) next.push_back(base + i * d.stride);
    }
    all = next;
  }
  return all;
}

TEST_F(AccessTest, TheWholeTile) {
  EXPECT_TRUE(tile_.is_tile());
  EXPECT_EQ(tile_.partitions, 64);
  EXPECT_EQ(tile_.free_size(), 48);
  EXPECT_EQ(tile_.size(), 64 * 48);
  EXPECT_EQ(tile_.bytes(), 64 * 48 * 4);
  EXPECT_EQ(tile_.span(), 48);
  EXPECT_EQ(tile_(all, all, all), tile_);
  EXPECT_EQ(tile_(), tile_) << "missing slices mean everything";
}

TEST_F(AccessTest, SlicesMoveTheStartAndShrinkTheSize) {
  const Access a = tile_(ds(32, 16), ds(1, 2), ds(4, 3));
  EXPECT_EQ(a.partition, Affine(32));
  EXPECT_EQ(a.partitions, 16);
  EXPECT_EQ(offsets(a), (std::vector<std::int64_t>{12, 13, 14, 20, 21, 22}));
  EXPECT_EQ(offsets(a(all, ds(1, 1), ds(2, 1))), (std::vector<std::int64_t>{22})) << "slices of slices add up";
  const Affine i = Affine::variable(0, 10);
  EXPECT_EQ(tensor_(ds(i * 10, 10), ds(4, 2)).offset, i * 400 + 4);
}

TEST_F(AccessTest, SlicesThatLeaveTheirDimensionAreRefused) {
  const Affine i = Affine::variable(0, 10);
  EXPECT_THROW((void)tile_(ds(32, 33)), InvalidArgument);
  EXPECT_THROW((void)tile_(all, ds(5, 2)), InvalidArgument);
  EXPECT_THROW((void)tile_(all, all, ds(-1, 2)), InvalidArgument);
  EXPECT_THROW((void)tile_(all, all, ds(0, 0)), InvalidArgument);
  EXPECT_THROW((void)tile_(all, all, all, all), InvalidArgument);
  EXPECT_THROW((void)tensor_(ds(i * 10, 11)), InvalidArgument) << "the last iteration leaves";
  EXPECT_THROW((void)tensor_(ds(i * 10 - 10, 10)), InvalidArgument) << "the first iteration leaves";
  EXPECT_NO_THROW((void)tensor_(ds(i * 10, 10)));
  try {
    (void)tile_(all, ds(5, 2));
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "access: slice of 2 elements from 5..5 leaves dimension 1 of size 6");
  }
}

TEST_F(AccessTest, SplitKeepsTheOrderOfElements) {
  const Access a = tile_.split(1, 4);
  EXPECT_EQ(a.dims, (std::vector<Dim>{{8, 6}, {4, 2}, {1, 4}}));
  EXPECT_EQ(offsets(a), offsets(tile_));
  EXPECT_THROW((void)tile_.split(1, 3), InvalidArgument);
  EXPECT_THROW((void)tile_.split(2, 1), InvalidArgument);
  EXPECT_THROW((void)tile_.split(0, 0), InvalidArgument);
}

TEST_F(AccessTest, PermuteReordersElements) {
  const Access a = tile_(all, ds(0, 2), ds(0, 3)).permute({1, 0});
  EXPECT_EQ(offsets(a), (std::vector<std::int64_t>{0, 8, 1, 9, 2, 10}));
  EXPECT_THROW((void)tile_.permute({0}), InvalidArgument);
  EXPECT_THROW((void)tile_.permute({0, 0}), InvalidArgument);
  EXPECT_THROW((void)tile_.permute({0, 2}), InvalidArgument);
}

TEST_F(AccessTest, BroadcastRepeats) {
  const Access a = tile_(all, ds(0, 1), ds(0, 2));
  EXPECT_EQ(offsets(a.broadcast(2, 2)), (std::vector<std::int64_t>{0, 0, 1, 1}));
  EXPECT_EQ(offsets(a.broadcast(1, 2)), (std::vector<std::int64_t>{0, 1, 0, 1}));
  EXPECT_THROW((void)a.broadcast(3, 2), InvalidArgument);
  EXPECT_THROW((void)a.broadcast(0, 0), InvalidArgument);
}

TEST_F(AccessTest, ViewRescalesToTheOtherWidth) {
  const Affine i = Affine::variable(0, 2);
  const Access halves = tile_(all, all, ds(i * 4, 4)).view(DType::BFloat16);
  EXPECT_EQ(halves.dims, (std::vector<Dim>{{16, 6}, {1, 8}}));
  EXPECT_EQ(halves.offset, i * 8);
  EXPECT_EQ(halves.bytes(), tile_(all, all, ds(0, 4)).bytes());
  EXPECT_EQ(halves.view(DType::Float32), tile_(all, all, ds(i * 4, 4)));
  EXPECT_EQ(tile_.permute({1, 0}).view(DType::Int32).dims, tile_.permute({1, 0}).dims) << "equal widths need no order";
  EXPECT_THROW((void)tile_.permute({1, 0}).view(DType::BFloat16), InvalidArgument) << "innermost stride";
  const Access bytes = tile_.view(DType::UInt8);
  EXPECT_THROW((void)bytes(all, all, ds(0, 6)).view(DType::Float32), InvalidArgument) << "size";
  EXPECT_THROW((void)bytes(all, all, ds(2, 4)).view(DType::Float32), InvalidArgument) << "offset";
  EXPECT_THROW((void)bytes(all, all, ds(i * 2, 4)).view(DType::Float32), InvalidArgument) << "offset step";
}

TEST_F(AccessTest, MergedDimsAreWhatHardwareSees) {
  EXPECT_EQ(tile_.merged_dims(), (std::vector<Dim>{{1, 48}}));
  EXPECT_EQ(tile_(all, all, ds(0, 4)).merged_dims(), (std::vector<Dim>{{8, 6}, {1, 4}}));
  EXPECT_EQ(tile_(all, ds(3, 1), ds(0, 4)).merged_dims(), (std::vector<Dim>{{1, 4}}));
  EXPECT_EQ(tile_(all, ds(3, 1), ds(0, 1)).merged_dims(), (std::vector<Dim>{{1, 1}}));
  EXPECT_TRUE(tile_.innermost_contiguous());
  EXPECT_FALSE(tile_.permute({1, 0}).innermost_contiguous());
  EXPECT_EQ(tile_.permute({1, 0}).span(), 48);
}

TEST(Access, OnlyAllMeansEverything) {
  Builder b("slices", machine("trn2"));
  const Access x = b.input("x", DType::Float32, {8, 8});
  for (const std::int64_t size : {-5L, -1L, 0L, 9L}) EXPECT_THROW((void)x(ds(0, size), all), InvalidArgument) << size;
  EXPECT_EQ(x(all, all), x);
}

}  // namespace
}  // namespace trn::tile
