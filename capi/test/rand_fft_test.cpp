// cuRAND's and cuFFT's routines through the C face.
#include <gtest/gtest.h>
#include <trnfft.h>
#include <trnrand.h>

#include <cmath>
#include <numbers>
#include <vector>

namespace {

class Faces : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    int number = 0;
    ASSERT_EQ(trnDeviceOpen(GetParam(), &number), trnSuccess);
    ASSERT_EQ(trnSetDevice(number), trnSuccess);
  }
  void TearDown() override {
    for (void* p : allocated_) trnFree(p);
    trnSetDevice(0);
  }
  template <class T> T* device(const std::vector<T>& values) {
    void* p = nullptr;
    EXPECT_EQ(trnMalloc(&p, values.size() * sizeof(T)), trnSuccess);
    EXPECT_EQ(trnMemcpy(p, values.data(), values.size() * sizeof(T), trnMemcpyHostToDevice), trnSuccess);
    allocated_.push_back(p);
    return static_cast<T*>(p);
  }
  template <class T> std::vector<T> host(const T* p, std::size_t n) {
    std::vector<T> out(n);
    EXPECT_EQ(trnMemcpy(out.data(), p, n * sizeof(T), trnMemcpyDeviceToHost), trnSuccess);
    return out;
  }

 private:
  std::vector<void*> allocated_;
};

// Philox with seed 0: the first words are Random123's for a zero key and counter, and the same on every executor.
TEST_P(Faces, PhiloxHasItsPublishedWords) {
  trnrandGenerator_t g = nullptr;
  ASSERT_EQ(trnrandCreateGenerator(&g, TRNRAND_RNG_PSEUDO_PHILOX4_32_10), 0);
  unsigned* out = device(std::vector<unsigned>(8));
  ASSERT_EQ(trnrandGenerate(g, out, 4), 0) << trnGetLastErrorText();
  EXPECT_EQ(host(out, 4), (std::vector<unsigned>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  ASSERT_EQ(trnrandSetGeneratorOffset(g, 2), 0);
  ASSERT_EQ(trnrandGenerate(g, out, 2), 0);
  EXPECT_EQ(host(out, 2), (std::vector<unsigned>{0xbc57ac4c, 0x9b00dbd8}));
  std::vector<unsigned> pageable(8);
  EXPECT_EQ(trnrandGenerate(g, pageable.data(), 8), TRNRAND_STATUS_OUT_OF_RANGE);  // host memory
  EXPECT_EQ(trnrandGenerate(g, out, 9), TRNRAND_STATUS_OUT_OF_RANGE);
  float* floats = device(std::vector<float>(1000));
  ASSERT_EQ(trnrandGenerateUniform(g, floats, 1000), 0);
  for (const float x : host(floats, 1000)) EXPECT_TRUE(x > 0 && x <= 1);
  ASSERT_EQ(trnrandGenerateNormal(g, floats, 1000, 5, 0.5F), 0) << trnGetLastErrorText();
  double mean = 0;
  for (const float x : host(floats, 1000)) mean += x / 1000;
  EXPECT_NEAR(mean, 5, 0.1);  // six standard errors
  EXPECT_EQ(trnrandGenerateNormal(g, floats, 999, 0, 1), TRNRAND_STATUS_LENGTH_NOT_MULTIPLE);
  EXPECT_EQ(trnrandDestroyGenerator(g), 0);
  EXPECT_EQ(trnrandDestroyGenerator(g), TRNRAND_STATUS_NOT_INITIALIZED);
}

TEST_P(Faces, SobolPointsAndTypes) {
  trnrandGenerator_t g = nullptr;
  ASSERT_EQ(trnrandCreateGenerator(&g, TRNRAND_RNG_QUASI_SOBOL32), 0);
  ASSERT_EQ(trnrandSetQuasiRandomGeneratorDimensions(g, 2), 0);
  unsigned* out = device(std::vector<unsigned>(8));
  ASSERT_EQ(trnrandGenerate(g, out, 8), 0) << trnGetLastErrorText();
  EXPECT_EQ(host(out, 8), (std::vector<unsigned>{0, 1U << 31, 3U << 30, 1U << 30, 0, 1U << 31, 1U << 30, 3U << 30}));
  EXPECT_EQ(trnrandGenerate(g, out, 7), TRNRAND_STATUS_LENGTH_NOT_MULTIPLE);
  EXPECT_EQ(trnrandSetPseudoRandomGeneratorSeed(g, 1), TRNRAND_STATUS_TYPE_ERROR);
  EXPECT_EQ(trnrandSetGeneratorOrdering(g, TRNRAND_ORDERING_PSEUDO_BEST), TRNRAND_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(trnrandSetQuasiRandomGeneratorDimensions(g, 0), TRNRAND_STATUS_OUT_OF_RANGE);
  EXPECT_EQ(trnrandDestroyGenerator(g), 0);
  EXPECT_EQ(trnrandCreateGenerator(&g, TRNRAND_RNG_PSEUDO_MTGP32), TRNRAND_STATUS_TYPE_ERROR);
  EXPECT_EQ(trnrandCreateGenerator(&g, static_cast<trnrandRngType_t>(7)), TRNRAND_STATUS_TYPE_ERROR);
}

TEST(FacesHost, GeneratorsForHostMemory) {
  trnrandGenerator_t g = nullptr;
  ASSERT_EQ(trnrandCreateGeneratorHost(&g, TRNRAND_RNG_PSEUDO_PHILOX4_32_10), 0);
  std::vector<double> out(100);
  EXPECT_EQ(trnrandGenerateUniformDouble(g, out.data(), 100), 0) << trnGetLastErrorText();
  for (const double x : out) EXPECT_TRUE(x > 0 && x <= 1);
  EXPECT_EQ(trnrandGenerateLogNormalDouble(g, out.data(), 100, 0, 1), 0);
  for (const double x : out) EXPECT_GT(x, 0);
  std::vector<unsigned> counts(100);
  EXPECT_EQ(trnrandGeneratePoisson(g, counts.data(), 100, 3), 0);
  EXPECT_EQ(trnrandGeneratePoisson(g, counts.data(), 100, -3), TRNRAND_STATUS_OUT_OF_RANGE);
  trnrandDestroyGenerator(g);
}

// Generators other than Philox invert the distribution function: k is right when the sums to k - 1 and to k enclose the
// uniform number that the same generator gives.
TEST(PoissonByInversion, EnclosesTheUniformNumber) {
  for (const auto type : {TRNRAND_RNG_PSEUDO_XORWOW, TRNRAND_RNG_PSEUDO_MRG32K3A, TRNRAND_RNG_PSEUDO_MT19937,
                          TRNRAND_RNG_QUASI_SOBOL32, TRNRAND_RNG_QUASI_SCRAMBLED_SOBOL64})
    for (const double lambda : {0.01, 3.0, 250.5}) {
      trnrandGenerator_t one = nullptr, two = nullptr;
      ASSERT_EQ(trnrandCreateGeneratorHost(&one, type), 0);
      ASSERT_EQ(trnrandCreateGeneratorHost(&two, type), 0);
      std::vector<unsigned> k(2000);
      std::vector<double> u(2000);
      ASSERT_EQ(trnrandGeneratePoisson(one, k.data(), k.size(), lambda), 0) << trnGetLastErrorText();
      ASSERT_EQ(trnrandGenerateUniformDouble(two, u.data(), u.size()), 0);
      for (std::size_t i = 0; i < k.size(); ++i) {
        long double term = std::exp(-static_cast<long double>(lambda)), sum = 0, before = 0;
        for (unsigned j = 0; j <= k[i]; ++j)
          before = sum, sum += term, term *= lambda / static_cast<long double>(j + 1);
        ASSERT_LE(before, static_cast<long double>(u[i]) + 1e-17L) << type << " " << lambda << " " << i;
        ASSERT_GE(sum, static_cast<long double>(u[i]) - 1e-17L) << type << " " << lambda << " " << i;
      }
      trnrandDestroyGenerator(one), trnrandDestroyGenerator(two);
    }
}

template <class C> std::vector<C> signal(int n) {
  std::vector<C> x(n);
  for (int j = 0; j < n; ++j) x[j].x = std::sin(1.7 * j) + 0.1, x[j].y = std::cos(0.3 * j * j);
  return x;
}

TEST_P(Faces, TransformsBothWays) {
  const int n = 20;
  trnfftHandle plan = 0;
  ASSERT_EQ(trnfftPlan1d(&plan, n, TRNFFT_C2C, 2), 0) << trnGetLastErrorText();
  auto x = signal<trnComplex>(2 * n);
  trnComplex* in = device(x);
  trnComplex* out = device(x);
  ASSERT_EQ(trnfftExecC2C(plan, in, out, -1), 0) << trnGetLastErrorText();
  const auto y = host(out, 2 * n);
  for (int b = 0; b < 2; ++b) {
    for (int k = 0; k < n; ++k) {
      double re = 0, im = 0;
      for (int j = 0; j < n; ++j) {
        const double angle = -2 * std::numbers::pi * j * k / n, c = std::cos(angle), s = std::sin(angle);
        re += x[b * n + j].x * c - x[b * n + j].y * s;
        im += x[b * n + j].x * s + x[b * n + j].y * c;
      }
      EXPECT_NEAR(y[b * n + k].x, re, 1e-4);
      EXPECT_NEAR(y[b * n + k].y, im, 1e-4);
    }
  }
  ASSERT_EQ(trnfftExecC2C(plan, out, out, 1), 0);  // in place, unscaled
  const auto z = host(out, 2 * n);
  for (int j = 0; j < 2 * n; ++j) EXPECT_NEAR(z[j].x / n, x[j].x, 1e-5);
  EXPECT_EQ(trnfftExecC2C(plan, in, out, 0), TRNFFT_INVALID_VALUE);
  EXPECT_EQ(trnfftExecC2C(plan, in + 1, out, -1), TRNFFT_INVALID_VALUE);  // one point too few
  EXPECT_EQ(trnfftExecZ2Z(plan, nullptr, nullptr, -1), TRNFFT_INVALID_TYPE);
  EXPECT_EQ(trnfftExecR2C(plan, reinterpret_cast<float*>(in), out), TRNFFT_INVALID_TYPE);
  EXPECT_EQ(trnfftDestroy(plan), 0);
  EXPECT_EQ(trnfftDestroy(plan), TRNFFT_INVALID_PLAN);
}

// Real transforms in place have rows padded to 2 (n/2 + 1).
TEST_P(Faces, RealTransformsInPlaceAndNot) {
  const int n = 12, rows = 3, padded = n + 2;
  std::vector<float> dense(n * rows), wide(padded * rows);
  for (int r = 0; r < rows; ++r)
    for (int j = 0; j < n; ++j) wide[r * padded + j] = dense[r * n + j] = static_cast<float>(std::sin(j * (r + 1)) + r);
  trnfftHandle forward = 0, back = 0;
  ASSERT_EQ(trnfftPlan1d(&forward, n, TRNFFT_R2C, rows), 0);
  ASSERT_EQ(trnfftPlan1d(&back, n, TRNFFT_C2R, rows), 0);
  float* in = device(dense);
  float* both = device(wide);
  trnComplex* out = device(std::vector<trnComplex>(rows * (n / 2 + 1)));
  ASSERT_EQ(trnfftExecR2C(forward, in, out), 0) << trnGetLastErrorText();
  ASSERT_EQ(trnfftExecR2C(forward, both, reinterpret_cast<trnComplex*>(both)), 0) << trnGetLastErrorText();
  const auto a = host(out, rows * (n / 2 + 1)), b = host(reinterpret_cast<const trnComplex*>(both), rows * (n / 2 + 1));
  for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i].x, b[i].x, 1e-4);
  ASSERT_EQ(trnfftExecC2R(back, out, in), 0) << trnGetLastErrorText();
  const auto c = host(in, n * rows);
  for (std::size_t i = 0; i < c.size(); ++i) EXPECT_NEAR(c[i] / n, dense[i], 1e-5);
  trnfftDestroy(forward), trnfftDestroy(back);
}

TEST_P(Faces, PlansThatAreRefused) {
  trnfftHandle plan = 0;
  EXPECT_EQ(trnfftPlan1d(&plan, 0, TRNFFT_C2C, 1), TRNFFT_INVALID_SIZE);
  EXPECT_EQ(trnfftPlan1d(&plan, 8, TRNFFT_C2C, 0), TRNFFT_INVALID_SIZE);
  EXPECT_EQ(trnfftPlan1d(&plan, 8, static_cast<trnfftType>(5), 1), TRNFFT_INVALID_TYPE);
  EXPECT_EQ(trnfftPlan1d(nullptr, 8, TRNFFT_C2C, 1), TRNFFT_INVALID_VALUE);
  EXPECT_EQ(trnfftPlanMany(&plan, 1, nullptr, nullptr, 1, 8, nullptr, 1, 8, TRNFFT_C2C, 1), TRNFFT_INVALID_VALUE);
  int eight = 8;  // distances of 0 with a layout, as cuFFT refuses them
  EXPECT_EQ(trnfftPlanMany(&plan, 1, &eight, &eight, 1, 0, &eight, 1, 8, TRNFFT_C2C, 2), TRNFFT_INVALID_VALUE);
  EXPECT_EQ(trnfftPlanMany(&plan, 1, &eight, &eight, 1, 8, &eight, 1, 0, TRNFFT_C2C, 2), TRNFFT_INVALID_VALUE);
  // Said before the lengths are read, which cannot be there.
  for (const int rank : {0, -1, 65, 2147483647})
    EXPECT_EQ(trnfftPlanMany(&plan, rank, &eight, nullptr, 1, 8, nullptr, 1, 8, TRNFFT_C2C, 1), TRNFFT_INVALID_SIZE);
  EXPECT_EQ(plan, 0) << "the number of a plan that was not made";
  EXPECT_EQ(trnfftExecC2C(12345, nullptr, nullptr, -1), TRNFFT_INVALID_PLAN);
  ASSERT_EQ(trnfftCreate(&plan), 0);
  EXPECT_EQ(trnfftExecC2C(plan, nullptr, nullptr, -1), TRNFFT_INVALID_VALUE);  // never made
  std::size_t bytes = 0;
  EXPECT_EQ(trnfftMakePlan2d(plan, 4, 6, TRNFFT_C2C, &bytes), 0);
  EXPECT_EQ(trnfftMakePlan2d(plan, 4, 6, TRNFFT_C2C, &bytes), TRNFFT_INVALID_VALUE);  // made twice
  EXPECT_EQ(trnfftDestroy(plan), 0);
}

// Element types chosen at run time, and sizes asked for before there is a plan.
TEST_P(Faces, TypedPlansAndTheirSizes) {
  constexpr long long n = 12;
  long long length = n;
  int narrow = n;
  std::size_t bytes = 1, other = 2;
  trnfftHandle plan = 0, same = 0;
  ASSERT_EQ(trnfftCreate(&plan), 0);
  ASSERT_EQ(
      trnfftXtGetSizeMany(plan, 1, &length, nullptr, 1, n, TRN_C_32F, nullptr, 1, n, TRN_C_32F, 2, &other, TRN_C_32F),
      0);
  ASSERT_EQ(
      trnfftXtMakePlanMany(plan, 1, &length, nullptr, 1, n, TRN_C_32F, nullptr, 1, n, TRN_C_32F, 2, &bytes, TRN_C_32F),
      0)
      << trnGetLastErrorText();
  EXPECT_EQ(bytes, other);
  ASSERT_EQ(trnfftPlan1d(&same, n, TRNFFT_C2C, 2), 0);
  EXPECT_EQ(trnfftGetSize1d(same, n, TRNFFT_C2C, 2, &other), 0);
  EXPECT_EQ(trnfftEstimate1d(n, TRNFFT_C2C, 2, &bytes), 0);
  EXPECT_EQ(bytes, other);
  EXPECT_EQ(trnfftGetSizeMany(same, 1, &narrow, nullptr, 1, n, nullptr, 1, n, TRNFFT_C2C, 2, &other), 0);
  EXPECT_EQ(bytes, other);
  EXPECT_EQ(trnfftGetSizeMany64(same, 1, &length, nullptr, 1, n, nullptr, 1, n, TRNFFT_C2C, 2, &other), 0);
  EXPECT_EQ(trnfftEstimateMany(1, &narrow, nullptr, 1, n, nullptr, 1, n, TRNFFT_C2C, 2, &other), 0);
  EXPECT_EQ(bytes, other);
  EXPECT_EQ(trnfftGetSize2d(same, 4, 6, TRNFFT_R2C, &bytes), 0);
  EXPECT_EQ(trnfftEstimate2d(4, 6, TRNFFT_R2C, &other), 0);
  EXPECT_EQ(bytes, other);
  EXPECT_EQ(trnfftGetSize3d(same, 4, 6, 2, TRNFFT_C2R, &bytes), 0);
  EXPECT_EQ(trnfftEstimate3d(4, 6, 2, TRNFFT_C2R, &other), 0);
  EXPECT_EQ(bytes, other);
  EXPECT_EQ(trnfftEstimate1d(0, TRNFFT_C2C, 2, &bytes), TRNFFT_INVALID_SIZE);
  EXPECT_EQ(trnfftEstimate1d(n, TRNFFT_C2C, 2, nullptr), TRNFFT_INVALID_VALUE);
  // The same numbers as the plan that names its type.
  void *in = nullptr, *one = nullptr, *two = nullptr;
  std::vector<float> x(4 * n);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i * i % 7);
  const std::size_t size = x.size() * sizeof(float);
  ASSERT_EQ(trnMalloc(&in, size), 0);
  ASSERT_EQ(trnMalloc(&one, size), 0);
  ASSERT_EQ(trnMalloc(&two, size), 0);
  ASSERT_EQ(trnMemcpy(in, x.data(), size, trnMemcpyHostToDevice), 0);
  for (const int direction : {-1, 1}) {
    ASSERT_EQ(trnfftXtExec(plan, in, one, direction), 0) << trnGetLastErrorText();
    ASSERT_EQ(trnfftExecC2C(same, static_cast<trnComplex*>(in), static_cast<trnComplex*>(two), direction), 0);
    std::vector<float> got(x.size()), wanted(x.size());
    ASSERT_EQ(trnMemcpy(got.data(), one, size, trnMemcpyDeviceToHost), 0);
    ASSERT_EQ(trnMemcpy(wanted.data(), two, size, trnMemcpyDeviceToHost), 0);
    EXPECT_EQ(got, wanted);
    EXPECT_NE(got, x);
  }
  EXPECT_EQ(trnfftXtExec(plan, in, one, 0), TRNFFT_INVALID_VALUE);
  trnfftDestroy(plan), trnfftDestroy(same);
  // A real transform, and types that do not go together.
  ASSERT_EQ(trnfftCreate(&plan), 0);
  EXPECT_EQ(
      trnfftXtMakePlanMany(plan, 1, &length, nullptr, 1, n, TRN_R_16F, nullptr, 1, n, TRN_C_32F, 1, &bytes, TRN_C_32F),
      TRNFFT_NOT_SUPPORTED);
  ASSERT_EQ(
      trnfftXtMakePlanMany(plan, 1, &length, nullptr, 1, n, TRN_R_32F, nullptr, 1, n, TRN_C_32F, 1, &bytes, TRN_C_32F),
      0);
  ASSERT_EQ(trnfftXtExec(plan, in, one, -1), 0) << trnGetLastErrorText();
  float first = 0, sum = 0;
  ASSERT_EQ(trnMemcpy(&first, one, sizeof first, trnMemcpyDeviceToHost), 0);
  for (std::size_t i = 0; i < n; ++i) sum += x[i];
  EXPECT_NEAR(first, sum, 1e-4);
  trnfftDestroy(plan), trnFree(in), trnFree(one), trnFree(two);
}

INSTANTIATE_TEST_SUITE_P(Capi, Faces, testing::Values("host", "sim:trn2"));

}  // namespace
