// Transpose, add, cut, glue, drop, compare, reorder: against the same on dense copies.
#include <cmath>
#include <complex>
#include <numeric>

#include "sparse_support.hpp"

namespace trn::sparse {
namespace {

template <class T> class StructureOf : public testing::Test {};
using Types = testing::Types<float, std::complex<double>>;
TYPED_TEST_SUITE(StructureOf, Types);

template <Scalar T> std::size_t at(std::int64_t i, std::int64_t j, std::int64_t columns) {
  return static_cast<std::size_t>(i * columns + j);
}

TYPED_TEST(StructureOf, MatchesDense) {
  using T = TypeParam;
  const std::int64_t m = 37, n = 29;
  const auto a = random_csr<T>(m, n, 5, 1), b = random_csr<T>(m, n, 4, 2);
  const auto da = dense(a), db = dense(b);
  const auto t = transpose(a), h = adjoint(a), sum = add<T>(T(2), a, T(-3), b), product = multiply_elements(a, b);
  const auto cut = slice(a, 3, 20, 5, 17), low = triangle(a, Uplo::Lower, 2), high = triangle(a, Uplo::Upper, -1);
  for (const auto* c : {&t, &h, &sum, &product, &cut, &low, &high}) expect_valid(*c);
  const auto dt = dense(t), dh = dense(h), ds = dense(sum), dp = dense(product), dc = dense(cut), dl = dense(low),
             du = dense(high);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const T x = da[at<T>(i, j, n)], y = db[at<T>(i, j, n)];
      EXPECT_EQ(dt[at<T>(j, i, m)], x);
      if constexpr (ComplexScalar<T>) {
        EXPECT_EQ(dh[at<T>(j, i, m)], std::conj(x));
      }
      EXPECT_EQ(ds[at<T>(i, j, n)], T(2) * x + T(-3) * y);
      EXPECT_EQ(dp[at<T>(i, j, n)], x * y);
      EXPECT_EQ(dl[at<T>(i, j, n)], j - i <= 2 ? x : T(0));
      EXPECT_EQ(du[at<T>(i, j, n)], j - i >= -1 ? x : T(0));
      if (i >= 3 && i < 23 && j >= 5 && j < 22) {
        EXPECT_EQ(dc[at<T>(i - 3, j - 5, 17)], x);
      }
    }
  }
  EXPECT_TRUE(equal(transpose(t), a));
  EXPECT_FALSE(equal(a, b));
  std::vector<std::int64_t> rows(m), columns(n);
  std::iota(rows.begin(), rows.end(), 0), std::iota(columns.begin(), columns.end(), 0);
  std::mt19937_64 r(5);
  std::shuffle(rows.begin(), rows.end(), r), std::shuffle(columns.begin(), columns.end(), r);
  const auto p = permute(a, rows, columns);
  expect_valid(p);
  EXPECT_EQ(dense(p)[at<T>(4, 7, n)], da[at<T>(rows[4], columns[7], n)]);
  EXPECT_TRUE(equal(permute(p, inverse(rows), inverse(columns)), a));
  const std::vector<Csr<T>> parts{slice(a, 0, 10, 0, n), slice(a, 10, m - 10, 0, n)},
      sides{slice(a, 0, m, 0, 8), slice(a, 0, m, 8, n - 8)};
  EXPECT_TRUE(equal(stack_rows<T, std::int32_t>(parts), a));
  EXPECT_TRUE(equal(stack_columns<T, std::int32_t>(sides), a));
  std::vector<std::int64_t> natural(n);
  std::iota(natural.begin(), natural.end(), 0);
  EXPECT_TRUE(equal(take_rows(a, rows), permute(a, rows, natural)));
}

TEST(Structure, DropsByAHardThreshold) {
  const std::vector<double> values{1e-10, -2e-10, std::nan(""), 0, 5};
  const MatrixView<const double> view(Executor::host(), values.data(), 1, 5, 5, 1);
  // The Python suite's screening multiplied an entry at the threshold by one half; here it goes or stays whole.
  EXPECT_EQ(from_dense<double>(view, 1e-10).nnz(), 3);
  const auto all = from_dense<double>(view, -1);
  EXPECT_EQ(all.nnz(), 5);
  const auto kept = prune(all, 1e-10);
  EXPECT_EQ(kept.nnz(), 3);
  EXPECT_EQ(kept.values().data()[0], -2e-10);
  EXPECT_TRUE(std::isnan(kept.values().data()[1]));
}

TEST(Structure, SeesSymmetryAndBand) {
  const auto a = random_csr<std::complex<double>>(30, 30, 2, 3);
  EXPECT_TRUE(structure(add<std::complex<double>>(1, a, 1, transpose(a))).symmetric);
  EXPECT_TRUE(structure(add<std::complex<double>>(1, a, 1, adjoint(a))).hermitian);
  EXPECT_TRUE(structure(add<std::complex<double>>(1, a, -1, transpose(a))).skew);
  const auto band = structure(triangle(triangle(a, Uplo::Lower, 3), Uplo::Upper, -4));
  EXPECT_LE(band.upper_bandwidth, 3);
  EXPECT_LE(band.lower_bandwidth, 4);
  const auto s = structure(a);
  EXPECT_EQ(s.empty_rows, 10);
  EXPECT_GE(s.empty_columns, 1);
  EXPECT_FALSE(s.pattern_symmetric);
}

TEST(Structure, RefusesBadArguments) {
  const auto a = random_csr<double>(4, 5, 2, 1);
  EXPECT_IN("same extents", message_of<InvalidArgument>([&] { (void)add<double>(1, a, 1, transpose(a)); }));
  EXPECT_IN("lies outside", message_of<InvalidArgument>([&] { (void)slice(a, 3, 2, 0, 5); }));
  EXPECT_IN("comes twice", message_of<InvalidArgument>([&] { (void)inverse(std::vector<std::int64_t>{0, 0}); }));
  EXPECT_IN("row 4 of 4", message_of<InvalidArgument>([&] { (void)take_rows(a, std::vector<std::int64_t>{4}); }));
  const auto huge = Csr<double, std::int64_t>::from_triplets(Executor::host(), {1, std::int64_t{1} << 62}, {});
  const std::vector<Csr<double, std::int64_t>> two{huge, huge, huge};
  EXPECT_IN("overflows", message_of<InvalidArgument>([&] { (void)stack_columns<double, std::int64_t>(two); }));
}

}  // namespace
}  // namespace trn::sparse
