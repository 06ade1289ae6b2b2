// The counts of trn/sparse/counts.hpp against loops over the entries of a small matrix.
#include <gtest/gtest.h>

#include <trn/sparse/counts.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/spgemm.hpp>
#include <trn/sparse/structure.hpp>

namespace trn::sparse::test {
namespace {

TEST(Counts, OperationsOnStoredEntries) {
  const Csr<double> a = poisson<double>(7, 5);
  const std::int64_t *offsets = a.pattern().offsets().data(), *end = offsets + a.rows();
  const auto* columns = a.pattern().indices().data();
  double entries = 0, products = 0, stored = 0;
  for (const std::int64_t* row = offsets; row != end; ++row) {
    for (std::int64_t k = row[0]; k < row[1]; ++k) {
      const std::int64_t j = columns[k];
      ++entries;
      products += static_cast<double>(offsets[j + 1] - offsets[j]);
      stored += j <= row - offsets ? 1 : 0;
    }
  }
  constexpr double n = 3, size = sizeof(double);
  const auto rows = static_cast<double>(a.rows()), nnz = static_cast<double>(a.nnz());
  EXPECT_EQ(counts::spmm(nnz, rows, rows, n, size, 0).flops, 2 * entries * n);
  EXPECT_EQ(counts::spmm(nnz, rows, rows, n, size, 1000).bytes, 1000 + 2 * 8 * 35 * n);
  EXPECT_EQ(counts::sddmm(nnz, rows, rows, n, size).flops, 2 * entries * n);
  EXPECT_EQ(counts::sddmm(nnz, rows, rows, n, size).bytes, 12 * entries + 2 * 8 * 35 * n);
  EXPECT_EQ(counts::transpose(nnz, size).bytes, 24 * entries);

  const SpgemmPlan<double> plan(Executor::host(), a.pattern(), a.pattern());
  const auto found = static_cast<double>(spgemm<double>(Executor::host(), 1.0, a, a).nnz());
  const counts::Work square = counts::spgemm(static_cast<double>(plan.products()), nnz, nnz, found, size);
  EXPECT_EQ(square.flops, 2 * products);
  EXPECT_EQ(square.bytes, 12 * (2 * entries + found));

  const auto triangular = static_cast<double>(triangle(a, Uplo::Lower).nnz());
  EXPECT_EQ(counts::spsv(triangular, rows, n, size).flops, 2 * stored * n);
  // Scores and their product with V: 2 d operations for each pair, twice.
  EXPECT_EQ(counts::attention(1, 128, 1, 64, false).flops, 2 * 2.0 * 128 * 128 * 64);
  EXPECT_EQ(counts::attention(3, 128, 2, 64, true).flops, 3 * 2 * 5 * 2.0 * 128 * 128 * 64);
}

}  // namespace
}  // namespace trn::sparse::test
