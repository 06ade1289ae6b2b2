// Vectors stored in bfloat16 and HPL-MxP: where rounding to nearest stands still, bounds over seeds, backward errors.
#include <trn/solver/hpl_mxp.hpp>
#include <trn/solver/stored_vectors.hpp>

#include "krylov_support.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();

StoredOptions stored(const Rounding& rounding, KrylovOptions options = {}) {
  StoredOptions all;
  static_cast<KrylovOptions&>(all) = std::move(options);
  all.rounding = rounding;
  return all;
}

// 4096 ones: to nearest the sum ends at 256, where 1 is half a unit and ties go to even. Stochastically it arrives,
// within the probabilistic bound for all but a few seeds, and the bound is sqrt(n)-like: far below the sure one.
TEST(StoredVectors, SumsOfOnes) {
  const std::vector<float> ones(4096, 1.0f);
  const StoredSum nearest = sum_stored(ones, stored(Rounding::Nearest{}));
  EXPECT_EQ(nearest.value, 256);
  int outside = 0;
  long double mean = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const StoredSum sum = sum_stored(ones, stored(Rounding::Stochastic{seed}));
    outside += std::abs(sum.value - 4096) > sum.probable_bound;
    EXPECT_LE(std::abs(sum.value - 4096), sum.sure_bound);
    EXPECT_LT(sum.probable_bound * 10, sum.sure_bound);
    mean += sum.value / 200.0L;
    EXPECT_EQ(sum.value, sum_stored(ones, stored(Rounding::Stochastic{seed})).value);
  }
  EXPECT_LE(outside, 2);  // 7e-4 each
  // Unbiased: the mean of 200 sums is within five standard errors, sigma <= u sqrt(sum of squares) = 1/256 * 1.5e5.
  EXPECT_NEAR(static_cast<double>(mean), 4096, 5 * 600 / std::sqrt(200.0));
  EXPECT_EQ(sum_stored({}).value, 0);
}

// Below bfloat16's smallest normal number its spacing is 2^-133, whatever the size: 1000 terms of 1e-41 are all lost to
// nearest, and one term goes to 0 or to 2^-133, 9.2e-41.
TEST(StoredVectors, BoundsHoldForTinySums) {
  constexpr float kTiny = 1e-41f;
  for (const std::size_t n : {1, 3, 1000}) {
    const std::vector<float> x(n, kTiny);
    const double exact = static_cast<double>(kTiny) * static_cast<double>(n);
    const StoredSum nearest = sum_stored(x, stored(Rounding::Nearest{}));
    EXPECT_LE(std::abs(static_cast<double>(nearest.value) - exact), nearest.sure_bound) << n;
    EXPECT_LE(nearest.sure_bound, 0x1.01p-134 * static_cast<double>(n));
    int outside = 0;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const StoredSum sum = sum_stored(x, stored(Rounding::Stochastic{seed}));
      const double error = std::abs(static_cast<double>(sum.value) - exact);
      EXPECT_LE(error, sum.sure_bound) << n;
      outside += error > sum.probable_bound;
      EXPECT_LE(sum.probable_bound, 4.1 * 0x1p-133 * std::sqrt(static_cast<double>(n)));
    }
    EXPECT_LE(outside, 2) << n;  // 7e-4 each
  }
  EXPECT_EQ(sum_stored(std::vector<float>(9, 0.0f)).sure_bound, 0);
}

// Errors of sums of n equal numbers grow like sqrt(n) u with stochastic rounding: measured over seeds, n and 16 n.
TEST(StoredVectors, ErrorsGrowLikeTheRoot) {
  const auto spread = [](std::size_t n) {
    const std::vector<float> x(n, 0.01171875f);
    long double sum = 0;
    const double exact = 0.01171875 * static_cast<double>(n);
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      const double off = sum_stored(x, stored(Rounding::Stochastic{seed})).value / exact - 1;
      sum += off * off;
    }
    return static_cast<double>(std::sqrt(sum / 100));
  };
  const double few = spread(512), many = spread(8192);
  EXPECT_LT(many, 6 * few);  // sqrt(16) = 4, not 16
  EXPECT_LT(many, 0.25);
}

// x <- x + (b - A x) / 512 from x = 1 towards 2: every step is below half of bfloat16's spacing at 1.
TEST(StoredVectors, RichardsonToNearestStandsStill) {
  for_scalars([]<class T>() {
    const std::int64_t n = 16;
    Random random(701);
    const auto a = with_spectrum<T>(geometric(n, 2), random);
    Dense<Wide<T>> x(n, 1), b(n, 1);
    for (auto& v : x.values) v = 2;
    b = rounded<T>(times(a, x));
    Held<T> ha(Layout::RowMajor, a), hb(Layout::RowMajor, b), hx(Layout::RowMajor, n, 1);
    const DenseOperator<T> op(ha.view());
    const auto run = [&](const Rounding& rounding) {
      for (std::int64_t i = 0; i < n; ++i) hx.at(i, 0) = T(1);
      return richardson_stored<T>(op, hb.view(), hx.view(), 1.0 / 1024,
                                  stored(rounding, {.tolerance = 0.02, .max_iterations = 20000, .guess = Guess::InX}));
    };
    const auto nearest = run(Rounding::Nearest{});
    EXPECT_EQ(nearest.outcome, (Outcome{Status::NotConverged, 0}));
    EXPECT_GT(nearest.residuals[0], 0.3);
    const auto stochastic = run(Rounding::Stochastic{5});
    EXPECT_TRUE(stochastic.outcome.ok()) << stochastic.residuals[0];
    EXPECT_LE(true_residuals(a, b, hx.values())[0], 0.0201);
    const T first = hx.at(0, 0);
    (void)run(Rounding::Stochastic{5});
    EXPECT_EQ(hx.at(0, 0), first);  // seeded
    EXPECT_THROW(richardson_stored<T>(op, hb.view(), hx.view(), 0), InvalidArgument);
  });
}

TEST(StoredVectors, ConjugateGradientsReachTheFormat) {
  for_scalars([]<class T>() {
    const std::int64_t n = 40;
    Random random(702);
    const auto a = with_spectrum<T>(geometric(n, 4), random), b = random_matrix<T>(n, 2, random);
    Held<T> ha(Layout::RowMajor, a), hb(Layout::RowMajor, b), hx(Layout::RowMajor, n, 2);
    for (const Rounding& rounding : {Rounding(), Rounding(Rounding::Stochastic{9})}) {
      // x has 8 bits: ||A dx|| <= kappa 2^-7 ||b||, kappa = 4.
      const auto report =
          cg_stored<T>(DenseOperator<T>(ha.view()), hb.view(), hx.view(), stored(rounding, {.tolerance = 4 * 0x1p-7}));
      EXPECT_TRUE(report.outcome.ok()) << report.residuals[0];
      for (std::int64_t i = 0; i < n; ++i) {  // every element is a bfloat16
        std::uint32_t bits;
        const auto value = static_cast<float>(std::real(hx.at(i, 0)));
        std::memcpy(&bits, &value, 4);
        EXPECT_EQ(bits & 0xFFFF, 0u);
      }
    }
  });
}

// A guess is stored, too: that of A x = b to float32's last digit comes back as a bfloat16, with its residual.
TEST(StoredVectors, GuessesAreStored) {
  const std::vector<float> a{4, 1, 1, 3}, b{1, 2};
  const DenseOperator<float> op(MatrixView<const float>::row_major(kHost, a.data(), 2, 2));
  const auto right = MatrixView<const float>::row_major(kHost, b.data(), 2, 1);
  for (const Rounding& rounding : {Rounding(), Rounding(Rounding::Stochastic{9})}) {
    for (const bool gradients : {true, false}) {
      std::vector<float> x{0.09090909f, 0.63636364f};
      const auto left = MatrixView<float>::row_major(kHost, x.data(), 2, 1);
      const StoredOptions options = stored(rounding, {.tolerance = 1e-6, .max_iterations = 50, .guess = Guess::InX});
      const auto report = gradients ? cg_stored<float>(op, right, left, options)
                                    : richardson_stored<float>(op, right, left, 0.2, options);
      EXPECT_EQ(report.outcome.status, Status::NotConverged);
      EXPECT_GT(report.residuals[0], 1e-5);
      for (const float value : x) EXPECT_EQ(static_cast<float>(bfloat16(value)), value);
    }
  }
}

TEST(HplMxp, BackwardErrorsCount) {
  for (const std::int64_t n : {1, 5, 64, 100, 300}) {
    SCOPED_TRACE(n);
    const Matrix<double> a = hpl_mxp_matrix(n, 3);
    Random random(703);
    std::vector<double> b, x(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) b.push_back(random.uniform());
    if (n == 1) a.data()[0] = 2;  // one element has no others to sum
    const HplMxpReport report = hpl_mxp(kHost, a.view(), VectorView<const double>(kHost, b.data(), n),
                                        VectorView<double>(kHost, x.data(), n), {.block = 32});
    EXPECT_TRUE(report.counts()) << report.backward;
    EXPECT_LE(report.iterations, 30);
    // The backward error again, in 113 bits.
    Quad worst = 0, norm = 0, length = 0, right = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      Quad r = b[static_cast<std::size_t>(i)], sum = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const Quad element = a.data()[i * n + j];
        r -= element * x[static_cast<std::size_t>(j)], sum += magnitude(element);
      }
      worst = std::max(worst, magnitude(r)), norm = std::max(norm, sum);
      length = std::max(length, magnitude(x[static_cast<std::size_t>(i)]));
      right = std::max(right, magnitude(b[static_cast<std::size_t>(i)]));
    }
    const double backward = static_cast<double>(worst / (norm * length + right)) / (static_cast<double>(n) * 0x1p-53);
    EXPECT_LT(backward, 16);
    EXPECT_NEAR(report.backward, backward, 1 / static_cast<double>(n));  // one rounding of A x, 2^-53 beside n 2^-53
  }
}

TEST(HplMxp, TheGeneratorAndBadInput) {
  const std::int64_t n = 20;
  const Matrix<double> a = hpl_mxp_matrix(n, 1);
  EXPECT_EQ(a.to_host(), hpl_mxp_matrix(n, 1).to_host());
  EXPECT_NE(a.to_host(), hpl_mxp_matrix(n, 2).to_host());
  for (std::int64_t i = 0; i < n; ++i) {
    double others = 0;
    for (std::int64_t j = 0; j < n; ++j) others += i == j ? 0 : std::abs(a.data()[i * n + j]);
    EXPECT_NEAR(a.data()[i * n + i], others, 1e-12);
  }
  std::vector<double> b(static_cast<std::size_t>(n), 1.0), x(b);
  const VectorView<const double> bv(kHost, b.data(), n);
  const VectorView<double> xv(kHost, x.data(), n);
  a.data()[0] = 0;
  EXPECT_EQ(hpl_mxp(kHost, a.view(), bv, xv).outcome, (Outcome{Status::Singular, 0}));
  EXPECT_TRUE(std::isnan(x[3]));
  a.data()[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(hpl_mxp(kHost, a.view(), bv, xv).outcome, (Outcome{Status::NotFinite, 7}));
  EXPECT_THROW(hpl_mxp(kHost, a.view().block(0, 0, 20, 19), bv, xv), InvalidArgument);
  EXPECT_THROW(hpl_mxp(kHost, a.view(), bv, xv, {.block = 0}), InvalidArgument);
}

}  // namespace
}  // namespace trn::solver::testing
