// dist::Matrix and dist::Array: who has what, redistribution between any two, on every number of ranks. Replicas.
#include <trn/comm/matrix.hpp>

#include <atomic>
#include <complex>
#include <limits>

#include <trn/comm/replicas.hpp>

#include "ranks.hpp"

namespace trn::dist {
namespace {

using namespace comm::testing_support;
using comm::Communicator;

template <class T> T entry(std::int64_t i, std::int64_t j) { return static_cast<T>(static_cast<float>(7 * i + j)); }

template <class T> void expect_matrix(const Matrix<T>& m) {
  const std::vector<T> all = m.to_host();
  ASSERT_EQ(static_cast<std::int64_t>(all.size()), m.rows() * m.columns());
  for (std::int64_t i = 0; i < m.rows(); ++i) {
    for (std::int64_t j = 0; j < m.columns(); ++j) {
      ASSERT_EQ(all[static_cast<std::size_t>(i * m.columns() + j)], entry<T>(i, j));
    }
  }
}

template <class T> void check_matrices(const Communicator& c, int& cases) {
  const int p = c.size();
  const std::vector<Grid> grids{{1, p}, {p, 1}, square_grid(p), {1, 1}};
  for (const auto& [rows, columns] : std::vector<std::pair<int, int>>{{0, 3}, {1, 1}, {11, 13}}) {
    for (const Grid& g : grids) {
      const Matrix<T> a(c, Executor::host(), {rows, columns, 3, 2, g});
      a.fill(entry<T>);
      expect_matrix(a);
      for (const Grid& h : grids) {
        const Matrix<T> b = a.redistributed({rows, columns, 4, 20, h});
        expect_matrix(b);
        // The local part is an ordinary view, column-major.
        const MatrixView<T> local = b.local();
        const int r = c.rank();
        for (std::int64_t i = 0; i < local.rows(); ++i) {
          for (std::int64_t j = 0; j < local.columns(); ++j) {
            ASSERT_EQ(local.data()[i * local.row_stride() + j * local.column_stride()],
                      entry<T>(b.distribution().row().to_global(i, h.row_of(r)),
                               b.distribution().column().to_global(j, h.column_of(r))));
          }
        }
        if (c.rank() == 0) ++cases;
      }
      // Blocks by their number.
      const BlockCyclic& d = a.distribution();
      for (std::int64_t i = 0; i < d.row().blocks(); ++i) {
        for (std::int64_t j = 0; j < d.column().blocks(); ++j) {
          if (d.owner(i * 3, j * 2) != c.rank()) continue;
          const MatrixView<T> block = a.block(i, j);
          ASSERT_EQ(block.rows(), std::min<std::int64_t>(3, rows - 3 * i));
          ASSERT_EQ(*block.data(), entry<T>(3 * i, 2 * j));
        }
      }
    }
  }
}

TEST(Containers, MatricesOnEveryGrid) {
  int cases = 0;
  for (const int p : kRankCounts) {
    on_ranks(p, [&](const Communicator& c) {
      check_matrices<double>(c, cases);
      check_matrices<std::int16_t>(c, cases);
      check_matrices<std::complex<float>>(c, cases);
    });
  }
  std::printf("%d redistributions of matrices compared\n", cases);
}

TEST(Containers, ArraysFromSlabsToPencilsAndBack) {
  int cases = 0;
  for (const int p : kRankCounts) {
    on_ranks(p, [&](const Communicator& c) {
      for (const Shape& shape : std::vector<Shape>{{4, 5, 6}, {1, 13, 2}, {0, 3, 3}, {3, 1, 1}}) {
        const std::vector<Boxes> all{slabs(shape, 0, p),
                                     slabs(shape, 1, p, 2),
                                     slabs(shape, 2, p),
                                     pencils(shape, 0, 1, square_grid(p)),
                                     pencils(shape, 2, 0, square_grid(p)),
                                     slabs(shape, 1, (p + 1) / 2)};
        for (const Boxes& from : all) {
          const Array<float> a(c, Executor::host(), from);
          const Strides global = row_major_strides(shape);
          const View<float> local = a.local();
          std::int64_t n = 0;
          for (std::int64_t i = 0; i < local.shape()[0]; ++i) {
            for (std::int64_t j = 0; j < local.shape()[1]; ++j) {
              for (std::int64_t k = 0; k < local.shape()[2]; ++k) {
                const Shape begin = a.local_begin();
                local.data()[n++] = static_cast<float>((begin[0] + i) * global[0] + (begin[1] + j) * global[1] +
                                                       (begin[2] + k) * global[2]);
              }
            }
          }
          for (const Boxes& to : all) {
            const std::vector<float> host = a.redistributed(to).to_host();
            for (std::size_t i = 0; i < host.size(); ++i) ASSERT_EQ(host[i], static_cast<float>(i));
            if (c.rank() == 0) ++cases;
          }
        }
      }
    });
  }
  std::printf("%d redistributions of arrays compared\n", cases);
}

TEST(Containers, OnAPartOfTheRanks) {
  on_ranks(7, [](const Communicator& c) {
    const Communicator part = c.split(c.rank() < 3 ? 0 : 1);
    int cases = 0;
    check_matrices<float>(part, cases);
    EXPECT_EQ(cases > 0, part.rank() == 0);
  });
}

// What member m computes: two numbers of its own.
void member_of(std::int64_t m, std::span<double> result) {
  result[0] = 1.0 / static_cast<double>(m + 1);
  result[1] += static_cast<double>(m);  // begins as zero
}
TEST(Replicas, EveryMemberOnceAndOnEveryRank) {
  int cases = 0;
  for (const int p : kRankCounts) {
    for (const std::int64_t count : {0, 1, 5, 12, 100}) {
      on_ranks(p, [&](const Communicator& c) {
        std::int64_t runs = 0;
        const std::vector<double> all = comm::replicas<double>(c, count, 2, [&](std::int64_t m, std::span<double> x) {
          ++runs;
          member_of(m, x);
        });
        EXPECT_LE(runs, (count + p - 1) / p);
        EXPECT_EQ(comm::sum(c, runs), count);
        ASSERT_EQ(static_cast<std::int64_t>(all.size()), 2 * count);
        for (std::int64_t m = 0; m < count; ++m) {
          double one[2] = {};
          member_of(m, one);
          EXPECT_EQ(all[static_cast<std::size_t>(2 * m)], one[0]);
          EXPECT_EQ(all[static_cast<std::size_t>(2 * m + 1)], one[1]);
        }
        if (c.rank() == 0) ++cases;
      });
    }
  }
  EXPECT_EQ(cases, 35);
}
TEST(Replicas, WhatOneRunThrowsEveryRankThrows) {
  std::atomic<int> thrown = 0;
  on_ranks(4, [&](const Communicator& c) {
    try {
      (void)comm::replicas<float>(
          c, 9, 1, [](std::int64_t m, std::span<float>) { require(m < 6, "member {} has no start", m); });
    } catch (const InvalidArgument& e) {
      EXPECT_NE(std::string(e.what()).find("rank 0: member 8 has no start"), std::string::npos) << e.what();
      ++thrown;
    }
    try {  // and the group goes on
      (void)comm::replicas<float>(c, c.rank() == 2 ? 5 : 6, 1, [](std::int64_t, std::span<float>) {});
    } catch (const InvalidArgument&) {
      ++thrown;
    }
    EXPECT_THROW((void)comm::replicas<float>(c, -1, 1, [](std::int64_t, std::span<float>) {}), InvalidArgument);
    for (const std::int64_t count : {std::int64_t{32}, std::numeric_limits<std::int64_t>::max()}) {
      EXPECT_THROW((void)comm::replicas<float>(c, count, std::int64_t{1} << 61, [](std::int64_t, std::span<float>) {}),
                   InvalidArgument);
    }
  });
  EXPECT_EQ(thrown, 8);
}

}  // namespace
}  // namespace trn::dist
