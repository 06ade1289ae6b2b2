// trsm in Exact on a device where the inverse of a diagonal block does not fit the type, or does not exist.
#include <gtest/gtest.h>

#include <cmath>
#include <trn/blas/trsm.hpp>
#include <trn/core/array.hpp>

namespace trn::blas::test {
namespace {

// A lower bidiagonal with `below` under a unit diagonal: its inverse grows like below^63, and A * ones solves back to
// ones.
template <class T> void expect_ones(T below) {
  const Executor e = Executor::open("sim:trn2");
  constexpr std::int64_t n = 64;
  std::vector<T> a(n * n, T(0)), b(n, T(0));
  for (std::int64_t i = 0; i < n; ++i) {
    a[static_cast<std::size_t>(i * n + i)] = T(1);
    if (i > 0) a[static_cast<std::size_t>(i * n + i - 1)] = below;
    b[static_cast<std::size_t>(i)] = T(1) + (i > 0 ? below : T(0));
  }
  const auto da = Matrix<T>::from_host(e, n, n, a), db = Matrix<T>::from_host(e, n, 1, b);
  Recorder recorder(e);
  const Accuracy accuracy =
      trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, T(1), da.view(), db.view(), {Mode::Exact});
  EXPECT_EQ(recorder.family_of("blas.trsm"), "device");
  EXPECT_LE(accuracy.bound, 16 * unit_roundoff(dtype_of<T>));
  for (const T x : db.to_host()) EXPECT_EQ(x, T(1));
}

TEST(ExactTrsm, AnInverseTooLargeForTheType) {
  expect_ones<float>(5);
  expect_ones<double>(1e5);
}

TEST(ExactTrsm, SubnormalPivots) {
  const Executor e = Executor::open("sim:trn2");
  const auto a = Matrix<double>::from_host(e, 1, 1, std::vector<double>{1e-310}),
             b = Matrix<double>::from_host(e, 1, 1, std::vector<double>{1e-310});
  (void)trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1.0, a.view(), b.view(), {Mode::Exact});
  EXPECT_EQ(b.to_host()[0], 1.0);
}

TEST(ExactTrsm, AZeroOnTheDiagonalLeavesTheRowsBeforeIt) {
  const Executor e = Executor::open("sim:trn2");
  const auto a = Matrix<double>::from_host(e, 2, 2, std::vector<double>{2, 0, 0, 0}),
             b = Matrix<double>::from_host(e, 2, 1, std::vector<double>{1, 1});
  const Accuracy accuracy =
      trsm(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, 1.0, a.view(), b.view(), {Mode::Exact});
  EXPECT_EQ(b.to_host()[0], 0.5);
  EXPECT_TRUE(std::isinf(b.to_host()[1]));
  EXPECT_TRUE(std::isinf(accuracy.bound));
}

}  // namespace
}  // namespace trn::blas::test
