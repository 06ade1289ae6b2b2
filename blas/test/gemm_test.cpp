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

// k = 0 is C = beta C whatever alpha is: an infinite alpha times the empty sum is not formed. With beta = 0 the result
// is +0, also for alpha = -0 and a C of NaN.
template <class T> void check_no_products(const Executor& executor, const std::vector<Precision>& precisions) {
  const float infinity = std::numeric_limits<float>::infinity(), nan = std::numeric_limits<float>::quiet_NaN();
  const T nothing{};
  const Matrix<T> a(executor, 3, 0), b(executor, 0, 5);
  for (const Precision& precision : precisions) {
    for (const float alpha : {infinity, -infinity, nan, -0.0F, 1.0F}) {
      for (const float beta : {0.0F, 1.0F, 2.0F}) {
        SCOPED_TRACE(fmt::format("{} {} alpha {} beta {}", executor.name(), name(dtype_of<T>), alpha, beta));
        const auto c = Matrix<T>::from_host(executor, 3, 5, std::vector<T>(15, T(beta == 0 ? nan : 3.0F)));
        gemm(executor, Op::N, Op::N, Compute<T>(alpha), a.view(), b.view(), Compute<T>(beta), c.view(), {precision});
        const std::vector<T> expected(15, beta == 0 ? nothing : T(3 * beta)), found = c.to_host();
        EXPECT_EQ(std::memcmp(found.data(), expected.data(), 15 * sizeof(T)), 0);
      }
    }
  }
}

TEST_P(GemmOn, NoProductsReadNoAlpha) {
  check_no_products<float>(executor_,
                           {{}, Mode::Bf16, Mode::Tf32x3, Mode::Bf16x6, Mode::Exact, Precision::target(1e-6)});
  check_no_products<bfloat16>(executor_, {{}});
  check_no_products<float16>(executor_, {{}});
  if (!host()) return;
  check_no_products<double>(executor_, {{}, Mode::Exact, Precision::target(1e-10)});
  check_no_products<std::complex<float>>(executor_, {{}, Mode::Tf32, Mode::Exact});
  check_no_products<std::complex<double>>(executor_, {{}, Mode::Exact});
  using Complex = std::complex<double>;
  const Matrix<Complex> a(executor_, 3, 0), b(executor_, 0, 5);
  const auto c = Matrix<Complex>::from_host(executor_, 3, 5, std::vector<Complex>(15, 3));
  gemm3m(executor_, Op::N, Op::N, Complex(INFINITY), a.view(), b.view(), Complex(2), c.view());
  for (const Complex x : c.to_host()) EXPECT_EQ(x, Complex(6));
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

// Few terms in more pieces than PSUM has banks: on devices up to four products at a time in parts of the array, 32 or
// 64 rows each.
TEST_P(GemmOn, FewTermsInManyPieces) {
  std::uint64_t seed = 510;
  for (const std::int64_t k : {1, 31, 32, 33, 64, 65}) {
    check<float, float>(executor_, {300, 1540, k, seed % 2 ? Op::N : Op::T, Op::N, 1, 0.5}, seed);
    check<bfloat16, bfloat16>(executor_, {1030, 600, k, Op::N, seed % 2 ? Op::N : Op::T}, seed + 100);
    ++seed;
  }
}

// Rows that the Tensor Engine turns, for a C of few columns.
TEST_P(GemmOn, FewColumns) {
  check<float, float>(executor_, {600, 16, 700}, 520);
  check<float, float>(executor_, {260, 511, 1030}, 521);
  check<tfloat32, float>(executor_, {260, 513, 1030}, 522);
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
