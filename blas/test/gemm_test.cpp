// gemm on every executor against an oracle in wider arithmetic, within the analysed bound: dtypes, transposes, layouts,
// alpha and beta, sizes across the hardware's edges.
#include "gemm_support.hpp"

#include <trn/core/executor.hpp>

namespace trn::blas::test {
namespace {

class GemmOn : public ::testing::TestWithParam<const char*> {
 protected:
  Executor executor_ = Executor::open(GetParam());
  bool host() const { return executor_.family() == Family::Host; }
};

INSTANTIATE_TEST_SUITE_P(Every, GemmOn, ::testing::Values("host", "sim:trn1", "sim:trn2", "sim:trn3"),
                         [](const auto& parameter) {
                           std::string name = parameter.param;
                           std::replace(name.begin(), name.end(), ':', '_');
                           return name;
                         });

constexpr Op kOps[] = {Op::N, Op::T};

// Every dtype, every pair of transposes, at one size with ragged edges everywhere.
TEST_P(GemmOn, EveryDtypeAndTranspose) {
  std::uint64_t seed = 1;
  for (const Op a : kOps) {
    for (const Op b : kOps) {
      const Case t{131, 517, 130, a, b};
      check<float, float>(executor_, t, seed++);
      check<bfloat16, bfloat16>(executor_, t, seed++);
      check<bfloat16, float>(executor_, t, seed++);
      check<float16, float16>(executor_, t, seed++);
      check<float16, float>(executor_, t, seed++);
      check<tfloat32, float>(executor_, t, seed++);
      if (host()) check<double, double>(executor_, t, seed++);
    }
  }
}

// Sizes around 1, the 128 partitions, the 512 columns of a bank, primes.
TEST_P(GemmOn, SizesAcrossTheEdges) {
  std::uint64_t seed = 100;
  for (const std::int64_t s : {1, 2, 3, 31, 127, 128, 129, 257}) {
    check<float, float>(executor_, {s, 5, 7}, seed++);
    check<float, float>(executor_, {5, s, 7}, seed++);
    check<float, float>(executor_, {5, 7, s}, seed++);
    check<bfloat16, bfloat16>(executor_, {s, s, s}, seed++);
  }
  for (const std::int64_t s : {511, 512, 513}) {
    check<float, float>(executor_, {s, 3, 65}, seed++);
    check<float, float>(executor_, {3, s, 65}, seed++);
    check<float, float>(executor_, {65, 3, s}, seed++);
    check<bfloat16, float>(executor_, {66, s, s}, seed++);
  }
}

TEST_P(GemmOn, EmptyExtents) {
  std::uint64_t seed = 200;
  for (const double beta : {0.0, 1.0, -0.5}) {
    check<float, float>(executor_, {0, 3, 4, Op::N, Op::N, 1, beta}, seed++);
    check<float, float>(executor_, {3, 0, 4, Op::N, Op::N, 1, beta}, seed++);
    check<float, float>(executor_, {3, 4, 0, Op::N, Op::N, 1, beta}, seed++);  // C = beta C
    check<bfloat16, bfloat16>(executor_, {130, 5, 0, Op::T, Op::N, 1, beta}, seed++);
    check<float, float>(executor_, {0, 0, 0, Op::N, Op::N, 1, beta}, seed++);
  }
}

TEST_P(GemmOn, AlphaAndBeta) {
  std::uint64_t seed = 300;
  for (const double alpha : {0.0, 1.0, -1.0, 0.3}) {
    for (const double beta : {0.0, 1.0, -1.0, 0.7}) {
      const Case t{70,
                   130,
                   140,
                   Op::N,
                   Op::T,
                   static_cast<double>(static_cast<float>(alpha)),
                   static_cast<double>(static_cast<float>(beta))};
      check<float, float>(executor_, t, seed++);
      check<bfloat16, bfloat16>(executor_, t, seed++);
      check<float16, float>(executor_, t, seed++);
    }
  }
}

// Not even the norms that a target or a componentwise bound needs.
TEST_P(GemmOn, AlphaZeroReadsNothing) {
  const std::int64_t m = 220, n = 4, k = 3;
  const std::vector<float> nan(m * k, NAN), c0(m * n, 2);
  const auto a = Matrix<float>::from_host(executor_, m, k, nan),
             b = Matrix<float>::from_host(executor_, k, n, std::vector<float>(k * n, INFINITY));
  std::vector<double> bounds(m * n);
  for (const Precision& precision :
       {Precision(), Precision(Mode::Tf32x3), Precision(Mode::Exact), Precision::target(1e-6)}) {
    const auto c = Matrix<float>::from_host(executor_, m, n, c0);
    const Accuracy kept = gemm(executor_, Op::N, Op::N, 0, a.view(), b.view(), -1.5F, c.view(),
                               {precision, MatrixView<double>::row_major(Executor::host(), bounds.data(), m, n)});
    EXPECT_TRUE(std::isfinite(kept.bound));
    for (const float x : c.to_host()) EXPECT_EQ(x, -3);
    for (const double x : bounds) EXPECT_LT(x, 1e-5);
  }
  if (executor_.family() != Family::Host) return;
  // OpenBLAS multiplies small matrices although alpha is 0.
  const auto wide = Matrix<double>::from_host(executor_, m, 1, std::vector<double>(m, NAN)),
             row = Matrix<double>::from_host(executor_, 1, n, std::vector<double>(n, NAN));
  const auto c = Matrix<double>::from_host(executor_, m, n, std::vector<double>(m * n, 1));
  gemm(executor_, Op::N, Op::N, 0, wide.view(), row.view(), -1, c.view());
  for (const double x : c.to_host()) EXPECT_EQ(x, -1);
}

TEST_P(GemmOn, EveryLayout) {
  std::uint64_t seed = 400;
  for (const Layout a : kLayouts) {
    for (const Layout b : kLayouts) {
      for (const Layout c : kLayouts) {
        const Case t{33, 40, 29, Op::N, Op::T, 1, (seed % 2) ? 0.5 : 0.0, a, b, c};
        check<float, float>(executor_, t, seed++);
        if (host()) check<double, double>(executor_, t, seed++);
      }
      check<bfloat16, bfloat16>(executor_, {33, 40, 29, Op::T, Op::N, 1, 0, a, b, Layout::ColumnMajor}, seed++);
    }
  }
}

// Several blocks of C in both directions and several chunks of k, all with remainders.
TEST_P(GemmOn, ManyBlocks) {
  check<float, float>(executor_, {1100, 1100, 600}, 501);
  check<bfloat16, float>(executor_, {1100, 1100, 600, Op::T, Op::N, 1, 0.5}, 502);
}

TEST_P(GemmOn, NanAndInfinityPropagate) {
  const std::int64_t n = 40;
  std::vector<float> a(n * n, 1), b(n * n, 1);
  a[3 * n + 5] = NAN;
  b[7 * n + 9] = INFINITY;
  const auto da = Matrix<float>::from_host(executor_, n, n, a), db = Matrix<float>::from_host(executor_, n, n, b);
  const auto c = gemm(executor_, da, db).to_host();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const float x = c[static_cast<std::size_t>(i * n + j)];
      // On trn1 the operand is turned by a product with the identity, which spreads NaN over the 128 x 128 piece.
      if (executor_.name() == "sim:trn1") {
        EXPECT_TRUE(std::isnan(x));
      } else if (i == 3) {
        EXPECT_TRUE(std::isnan(x)) << i << ' ' << j;
      } else {
        EXPECT_EQ(x, j == 9 ? INFINITY : 40.0f) << i << ' ' << j;
      }
    }
  }
}

}  // namespace
}  // namespace trn::blas::test
