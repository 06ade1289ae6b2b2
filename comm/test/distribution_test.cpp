// Geometry against brute force: every element of every case has one owner, one place, and gets where it belongs.
#include <trn/comm/distribution.hpp>
#include <trn/core/error.hpp>

#include <map>
#include <set>

#include "ranks.hpp"
#include "support/message_of.hpp"

namespace trn::dist {
namespace {

using trn::testing_support::message_of;

const std::vector<Grid> kGrids{{1, 1}, {1, 3}, {4, 1}, {2, 3}, {3, 2}};

// Global index (row-major) of every local element of a rank, -1 where there is none; each place at most once.
std::vector<std::int64_t> places(const std::vector<Part>& parts, const Shape& shape, std::int64_t local_elements) {
  std::vector<std::int64_t> result(static_cast<std::size_t>(local_elements), -1);
  const Strides global = row_major_strides(shape);
  for (const Part& part : parts) {
    const std::int64_t count = element_count(part.extent);
    for (std::int64_t n = 0; n < count; ++n) {
      std::int64_t rest = n, at = part.offset, index = 0;
      for (std::size_t d = part.extent.size(); d-- > 0;) {
        const std::int64_t i = rest % part.extent[d];
        rest /= part.extent[d];
        at += i * part.strides[d];
        index += (part.begin[d] + i) * global[d];
      }
      EXPECT_TRUE(at >= 0 && at < local_elements);
      EXPECT_EQ(result.at(static_cast<std::size_t>(at)), -1);
      result.at(static_cast<std::size_t>(at)) = index;
    }
  }
  return result;
}

std::int64_t local_elements(const BlockCyclic& d, int rank) { return d.local_rows(rank) * d.local_columns(rank); }
std::int64_t local_elements(const Boxes& d, int rank) {
  return rank < d.ranks() ? element_count(d.boxes[static_cast<std::size_t>(rank)].extent) : 0;
}
Shape shape_of(const BlockCyclic& d) { return {d.rows, d.columns}; }
Shape shape_of(const Boxes& d) { return d.shape; }

// Moves values about as a redistribution would, and compares with where they belong. Both sides of a pair must list the
// same moves in the same order.
template <class From, class To> void check_moves(const From& from, const To& to, int ranks) {
  std::vector<std::vector<std::int64_t>> before, after, wanted;
  for (int r = 0; r < ranks; ++r) {
    before.push_back(places(from.parts(r), shape_of(from), local_elements(from, r)));
    wanted.push_back(places(to.parts(r), shape_of(to), local_elements(to, r)));
    after.emplace_back(wanted.back().size(), -1);
  }
  std::map<std::pair<int, int>, std::vector<Shape>> listed;
  for (int r = 0; r < ranks; ++r) {
    std::pair<int, int> last{-1, -1};
    std::map<std::pair<int, int>, std::vector<Shape>> mine;
    for (const Move& m : moves(from, to, r)) {
      ASSERT_TRUE(m.from == r || m.to == r);
      ASSERT_LE(last, std::pair(m.from, m.to));
      last = {m.from, m.to};
      mine[last].push_back({m.extent[0], m.extent.size() > 1 ? m.extent[1] : 0, m.from_offset, m.to_offset});
      if (m.from != r) continue;
      for (std::int64_t n = 0; n < m.elements(); ++n) {
        std::int64_t rest = n, a = m.from_offset, b = m.to_offset;
        for (std::size_t d = m.extent.size(); d-- > 0;) {
          a += rest % m.extent[d] * m.from_strides[d];
          b += rest % m.extent[d] * m.to_strides[d];
          rest /= m.extent[d];
        }
        after[static_cast<std::size_t>(m.to)].at(static_cast<std::size_t>(b)) =
            before[static_cast<std::size_t>(m.from)].at(static_cast<std::size_t>(a));
      }
    }
    for (const auto& [pair, list] : mine) {
      const auto [known, fresh] = listed.try_emplace(pair, list);
      if (!fresh) {
        ASSERT_EQ(known->second, list) << "ranks " << pair.first << " and " << pair.second;
      }
    }
  }
  ASSERT_EQ(after, wanted);
}

TEST(Distribution, SquareGrids) {
  for (int p = 1; p <= 200; ++p) {
    const Grid g = square_grid(p);
    EXPECT_EQ(g.size(), p);
    EXPECT_LE(g.rows, g.columns);
    for (int r = g.rows + 1; r * r <= p; ++r) EXPECT_NE(p % r, 0) << p;
  }
  EXPECT_THROW((void)square_grid(0), InvalidArgument);
}

TEST(Distribution, OneDimensionOfBlocks) {
  int cases = 0;
  for (const std::int64_t extent : {0, 1, 2, 7, 13, 24, 31}) {
    for (const std::int64_t block : {1, 2, 3, 5, 8, 13, 40}) {
      for (const int ranks : {1, 2, 3, 5, 8}) {
        ++cases;
        const Cyclic line{extent, block, ranks};
        std::vector<std::int64_t> counts(static_cast<std::size_t>(ranks), 0);
        for (std::int64_t i = 0; i < extent; ++i) {
          // The definition: blocks are dealt out like cards.
          const auto owner = static_cast<int>((i / block) % ranks);
          ASSERT_EQ(line.owner(i), owner);
          ASSERT_EQ(line.to_local(i), counts[static_cast<std::size_t>(owner)]);  // elements dealt so far
          ASSERT_EQ(line.to_global(line.to_local(i), owner), i);
          ++counts[static_cast<std::size_t>(owner)];
        }
        for (int r = 0; r < ranks; ++r) ASSERT_EQ(line.local_extent(r), counts[static_cast<std::size_t>(r)]);
        std::int64_t covered = 0;
        for (std::int64_t b = 0; b < line.blocks(); ++b) {
          ASSERT_GT(line.block_extent(b), 0);
          covered += line.block_extent(b);
        }
        ASSERT_EQ(covered, extent);
        ASSERT_EQ(line.block_extent(line.blocks()), 0);
      }
    }
  }
  std::printf("%d lines of blocks compared\n", cases);
}

std::vector<BlockCyclic> block_cyclics() {
  std::vector<BlockCyclic> result;
  for (const auto& [rows, columns] : std::vector<std::pair<int, int>>{{0, 0}, {0, 5}, {1, 1}, {7, 1}, {13, 11}}) {
    for (const auto& [mb, nb] : std::vector<std::pair<int, int>>{{1, 1}, {2, 3}, {4, 20}}) {
      for (const Grid& grid : kGrids) result.push_back({rows, columns, mb, nb, grid});
    }
  }
  return result;
}

TEST(Distribution, BlockCyclicParts) {
  for (const BlockCyclic& d : block_cyclics()) {
    d.validate();
    std::set<std::int64_t> seen;
    for (int r = 0; r < d.grid.size() + 2; ++r) {
      const auto here = places(d.parts(r), shape_of(d), local_elements(d, r));
      if (r >= d.grid.size()) {
        EXPECT_TRUE(here.empty());
      }
      for (std::size_t at = 0; at < here.size(); ++at) {
        ASSERT_GE(here[at], 0);  // packed: no place without an element
        ASSERT_TRUE(seen.insert(here[at]).second);
        const std::int64_t i = here[at] / d.columns, j = here[at] % d.columns;
        ASSERT_EQ(d.owner(i, j), r);
        // Column-major, by the one-dimensional rule.
        ASSERT_EQ(static_cast<std::int64_t>(at), d.column().to_local(j) * d.local_rows(r) + d.row().to_local(i));
      }
    }
    ASSERT_EQ(static_cast<std::int64_t>(seen.size()), d.rows * d.columns);
  }
}

TEST(Distribution, BoxesCoverTheShape) {
  int cases = 0;
  for (const int ranks : {1, 2, 3, 5, 8}) {
    for (const Shape& shape : std::vector<Shape>{{0}, {1}, {7}, {24}, {3, 5}, {0, 4}, {4, 1, 6}}) {
      for (int d = 0; d < static_cast<int>(shape.size()); ++d) {
        for (const std::int64_t align : {1, 2, 5}) {
          ++cases;
          const Boxes boxes = slabs(shape, d, ranks, align);
          boxes.validate();
          ASSERT_EQ(boxes.ranks(), ranks);
          std::int64_t at = 0, last = shape[static_cast<std::size_t>(d)];
          for (const Boxes::Box& box : boxes.boxes) {
            const std::int64_t extent = box.extent[static_cast<std::size_t>(d)];
            ASSERT_EQ(box.begin[static_cast<std::size_t>(d)], at);
            ASSERT_TRUE(at % align == 0 || extent == 0);
            ASSERT_LE(extent, last);  // the earlier ones are the larger
            // As equal as multiples allow: one unit apart, and the last unit may be a part of one.
            ASSERT_LE(boxes.boxes[0].extent[static_cast<std::size_t>(d)] - extent, 2 * align);
            last = extent;
            at += extent;
          }
          ASSERT_EQ(at, shape[static_cast<std::size_t>(d)]);
        }
      }
    }
  }
  for (const Grid& grid : kGrids) {
    for (const Shape& shape : std::vector<Shape>{{3, 5}, {1, 7}, {4, 0, 6}, {2, 3, 4}}) {
      pencils(shape, 0, 1, grid).validate();
      pencils(shape, 1, 0, grid).validate();
      ++cases;
    }
  }
  std::printf("%d sets of boxes compared\n", cases);
}

TEST(Distribution, BlockRowsCutBetweenBlocksOfSums) {
  for (const std::int64_t extent : {0, 1, 4095, 4096, 4097, 100000}) {
    for (const int ranks : {1, 2, 3, 7, 40}) {
      const Boxes boxes = block_rows(extent, ranks);
      boxes.validate();
      for (const Boxes::Box& box : boxes.boxes) {
        EXPECT_TRUE(box.begin[0] % kSumBlock == 0 || box.extent[0] == 0);
        EXPECT_TRUE((box.begin[0] + box.extent[0]) % kSumBlock == 0 || box.begin[0] + box.extent[0] == extent);
      }
    }
  }
}

TEST(Distribution, MovesBetweenAnyTwo) {
  int cases = 0;
  for (const auto& [rows, columns] : std::vector<std::pair<int, int>>{{0, 5}, {1, 1}, {7, 1}, {13, 11}}) {
    std::vector<BlockCyclic> cyclics;
    for (const auto& [mb, nb] : std::vector<std::pair<int, int>>{{1, 1}, {2, 3}, {5, 20}}) {
      for (const Grid& grid : kGrids) cyclics.push_back({rows, columns, mb, nb, grid});
    }
    std::vector<Boxes> boxes{pencils({rows, columns}, 0, 1, {2, 3}), pencils({rows, columns}, 1, 0, {3, 2})};
    for (const int ranks : {1, 3, 6}) {
      boxes.push_back(slabs({rows, columns}, 0, ranks));
      boxes.push_back(slabs({rows, columns}, 1, ranks, 2));
    }
    for (const BlockCyclic& a : cyclics) {
      for (const BlockCyclic& b : cyclics) check_moves(a, b, 7);
      for (const Boxes& b : boxes) check_moves(a, b, 7), check_moves(b, a, 7);
    }
    for (const Boxes& a : boxes) {
      for (const Boxes& b : boxes) check_moves(a, b, 7);
    }
    cases += static_cast<int>((cyclics.size() + boxes.size()) * (cyclics.size() + boxes.size()));
    if (HasFatalFailure()) return;
  }
  check_moves(slabs({3, 4, 5}, 0, 4), pencils({3, 4, 5}, 1, 2, {2, 2}), 5);
  check_moves(block_rows(10000, 3), slabs({10000}, 0, 5), 5);
  std::printf("%d pairs of distributions compared\n", cases + 2);
}

TEST(Distribution, OneRankMovesAtOnce) {
  EXPECT_EQ(moves(BlockCyclic{100, 100, 3, 4, {1, 1}}, BlockCyclic{100, 100, 7, 5, {1, 1}}, 0).size(), 1u);
  EXPECT_EQ(moves(BlockCyclic{100, 100, 3, 4, {1, 1}}, slabs({100, 100}, 0, 1), 0).size(), 1u);
}

TEST(Distribution, HugeExtentsStayWithin64Bits) {
  const std::int64_t huge = std::int64_t{1} << 40;
  const Cyclic line{huge + 5, 512, 7};
  std::int64_t total = 0;
  for (int r = 0; r < 7; ++r) total += line.local_extent(r);
  EXPECT_EQ(total, huge + 5);
  EXPECT_EQ(line.to_global(line.to_local(huge + 4), line.owner(huge + 4)), huge + 4);
  const Boxes boxes = slabs({huge, 3}, 0, 3);
  boxes.validate();
  const auto list = moves(boxes, slabs({huge, 3}, 1, 3), 1);
  std::int64_t moved = 0;
  for (const Move& m : list) moved += m.from == 1 ? m.elements() : 0;
  EXPECT_EQ(moved, element_count(boxes.boxes[1].extent));
}

TEST(Distribution, RefusesWhatIsWrong) {
  EXPECT_IN("extents must be >= 0", message_of<InvalidArgument>([] { BlockCyclic{-1, 1, 1, 1, {}}.validate(); }));
  EXPECT_IN("blocks of 0 x 1", message_of<InvalidArgument>([] { BlockCyclic{1, 1, 0, 1, {}}.validate(); }));
  EXPECT_IN("a grid of 0 x 1", message_of<InvalidArgument>([] { BlockCyclic{1, 1, 1, 1, {0, 1}}.validate(); }));
  const auto refused = [](std::vector<Boxes::Box> boxes) {
    return message_of<InvalidArgument>([&] { Boxes{{4, 4}, boxes}.validate(); });
  };
  EXPECT_IN("ranks 0 and 1 meet", refused({{{0, 0}, {4, 3}}, {{0, 2}, {4, 2}}}));
  EXPECT_IN("12 of the 16", refused({{{0, 0}, {4, 3}}}));
  EXPECT_IN("not within", refused({{{0, 0}, {4, 5}}}));
  EXPECT_IN("not within", refused({{{0, 3}, {4, 2}}}));
  EXPECT_IN("numbers for shape", refused({{{0}, {4}}}));
  EXPECT_IN("dimension 2", message_of<InvalidArgument>([] { (void)slabs({4, 4}, 2, 3); }));
  EXPECT_IN("0 ranks", message_of<InvalidArgument>([] { (void)slabs({4, 4}, 0, 0); }));
  EXPECT_IN("two times", message_of<InvalidArgument>([] { (void)pencils({4, 4}, 1, 1, {1, 2}); }));
  EXPECT_IN("must be equal", message_of<InvalidArgument>([] { (void)moves(slabs({4}, 0, 1), slabs({5}, 0, 1), 0); }));
}

}  // namespace
}  // namespace trn::dist
