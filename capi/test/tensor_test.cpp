// cuTENSOR's operations through the C face, against sums in long double; statuses; a device.
#include <trntensor.h>

#include <cmath>
#include <functional>

#include "mem.hpp"

namespace {

using capi_test::Mem, capi_test::On;
using Modes = std::vector<std::int32_t>;
using Extents = std::vector<std::int64_t>;

struct Handle {
  Handle() { EXPECT_EQ(trntensorCreate(&h), TRNTENSOR_STATUS_SUCCESS); }
  ~Handle() { trntensorDestroy(h); }
  operator trntensorHandle_t() const { return h; }
  trntensorHandle_t h = nullptr;
};
template <class T> constexpr trnDataType kType = sizeof(T) == 4 ? TRN_R_32F : TRN_R_64F;

template <class T> trntensorTensorDescriptor_t tensor(trntensorHandle_t h, const Extents& extents) {
  trntensorTensorDescriptor_t made = nullptr;
  EXPECT_EQ(trntensorCreateTensorDescriptor(h, &made, static_cast<std::uint32_t>(extents.size()), extents.data(),
                                            nullptr, kType<T>, 128),
            TRNTENSOR_STATUS_SUCCESS)
      << trnGetLastErrorText();
  return made;
}
template <class T> std::vector<T> ramp(std::size_t n, double from) {
  std::vector<T> v;
  for (std::size_t i = 0; i < n; ++i) v.push_back(static_cast<T>(from + 0.125 * static_cast<double>(i % 29)));
  return v;
}
// A plan of an operation, which is destroyed.
trntensorPlan_t plan_of(trntensorHandle_t h, trntensorOperationDescriptor_t d) {
  trntensorPlanPreference_t preference;
  EXPECT_EQ(trntensorCreatePlanPreference(h, &preference, TRNTENSOR_ALGO_DEFAULT, TRNTENSOR_JIT_MODE_NONE),
            TRNTENSOR_STATUS_SUCCESS);
  trntensorPlan_t plan = nullptr;
  EXPECT_EQ(trntensorCreatePlan(h, &plan, d, preference, 0), TRNTENSOR_STATUS_SUCCESS) << trnGetLastErrorText();
  trntensorDestroyOperationDescriptor(d), trntensorDestroyPlanPreference(preference);
  return plan;
}
constexpr auto kIdentity = TRNTENSOR_OP_IDENTITY;
template <class T> auto compute() { return sizeof(T) == 4 ? TRNTENSOR_COMPUTE_DESC_32F : TRNTENSOR_COMPUTE_DESC_64F; }

// D_mn = alpha sum_kl A_mkl B_lnk + beta C_mn; the first mode is the fastest.
template <class T> void contraction(double unit) {
  const Handle h;
  constexpr int m = 5, n = 4, k = 3, l = 2;
  const auto a = ramp<T>(m * k * l, 1), b = ramp<T>(l * n * k, -1), c = ramp<T>(m * n, 0.5);
  const Mem<T> da(a), db(b), dc(c), dd(m * n);
  const auto ta = tensor<T>(h, {m, k, l}), tb = tensor<T>(h, {l, n, k}), tc = tensor<T>(h, {m, n});
  const Modes ma{'m', 'k', 'l'}, mb{'l', 'n', 'k'}, mc{'m', 'n'};
  trntensorOperationDescriptor_t d;
  ASSERT_EQ(trntensorCreateContraction(h, &d, ta, ma.data(), kIdentity, tb, mb.data(), kIdentity, tc, mc.data(),
                                       kIdentity, tc, mc.data(), compute<T>()),
            TRNTENSOR_STATUS_SUCCESS)
      << trnGetLastErrorText();
  trnDataType scalar;
  EXPECT_EQ(trntensorOperationDescriptorGetAttribute(h, d, TRNTENSOR_OPERATION_DESCRIPTOR_SCALAR_TYPE, &scalar, 4),
            TRNTENSOR_STATUS_SUCCESS);
  EXPECT_EQ(scalar, kType<T>);
  const auto plan = plan_of(h, d);
  const T alpha = 2, beta = -3;
  ASSERT_EQ(trntensorContract(h, plan, &alpha, da, db, &beta, dc, dd, nullptr, 0, nullptr), TRNTENSOR_STATUS_SUCCESS)
      << trnGetLastErrorText();
  const auto got = dd.get();
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      long double sum = -3.0L * static_cast<long double>(c[static_cast<std::size_t>(i + j * m)]), size = std::abs(sum);
      for (int p = 0; p < k; ++p)
        for (int q = 0; q < l; ++q) {
          const long double term = 2.0L * static_cast<long double>(a[static_cast<std::size_t>(i + m * (p + k * q))]) *
                                   static_cast<long double>(b[static_cast<std::size_t>(q + l * (j + n * p))]);
          sum += term, size += std::abs(term);
        }
      EXPECT_NEAR(static_cast<double>(sum), static_cast<double>(got[static_cast<std::size_t>(i + j * m)]),
                  20 * unit * static_cast<double>(size));
    }
  trntensorDestroyPlan(plan);
  for (const auto t : {ta, tb, tc}) trntensorDestroyTensorDescriptor(t);
}
TEST(CTensor, Contraction) { contraction<double>(1.2e-16), contraction<float>(6e-8); }
TEST(CTensor, ContractionOnADevice) {
  const On on("sim:trn2");
  contraction<float>(6e-8);
}

// B_ji = 3 A_ij with a frame of sevens; D_i = max_j |A_ij| + 2 C_i; D = (2 sqrt(A) * 3 B) + 4 C.
TEST(CTensor, PermutationReductionElementwise) {
  const Handle h;
  const auto a = ramp<float>(6, 1), c = ramp<float>(2, 5);
  const Mem<float> da(a), dc(c), frame(20), reduced(2), joined(6);
  const auto ta = tensor<float>(h, {2, 3}), tb = tensor<float>(h, {3, 2}), tc = tensor<float>(h, {2});
  const Modes ij{0, 1}, ji{1, 0}, i{0};
  trntensorOperationDescriptor_t d;
  const float one = 1, two = 2, three = 3, four = 4, seven = 7;
  ASSERT_EQ(trntensorCreatePermutation(h, &d, ta, ij.data(), kIdentity, tb, ji.data(), TRNTENSOR_COMPUTE_DESC_32F),
            TRNTENSOR_STATUS_SUCCESS);
  const std::vector<std::uint32_t> pad{1, 1};
  for (const auto side : {TRNTENSOR_OPERATION_DESCRIPTOR_PADDING_LEFT, TRNTENSOR_OPERATION_DESCRIPTOR_PADDING_RIGHT})
    EXPECT_EQ(trntensorOperationDescriptorSetAttribute(h, d, side, pad.data(), 8), TRNTENSOR_STATUS_SUCCESS);
  EXPECT_EQ(trntensorOperationDescriptorSetAttribute(h, d, TRNTENSOR_OPERATION_DESCRIPTOR_PADDING_VALUE, &seven, 4),
            TRNTENSOR_STATUS_SUCCESS);
  auto plan = plan_of(h, d);
  ASSERT_EQ(trntensorPermute(h, plan, &three, da, frame, nullptr), TRNTENSOR_STATUS_SUCCESS) << trnGetLastErrorText();
  const auto b = frame.get();  // 5 x 4, j fastest
  for (std::size_t y = 0; y < 4; ++y)
    for (std::size_t x = 0; x < 5; ++x)
      EXPECT_EQ(b[x + 5 * y], x == 0 || x == 4 || y == 0 || y == 3 ? 7.0F : 3 * a[(y - 1) + 2 * (x - 1)]);
  trntensorDestroyPlan(plan);

  ASSERT_EQ(trntensorCreateReduction(h, &d, ta, ij.data(), TRNTENSOR_OP_ABS, tc, i.data(), kIdentity, tc, i.data(),
                                     TRNTENSOR_OP_MAX, TRNTENSOR_COMPUTE_DESC_32F),
            TRNTENSOR_STATUS_SUCCESS);
  plan = plan_of(h, d);
  ASSERT_EQ(trntensorReduce(h, plan, &one, da, &two, dc, reduced, nullptr, 0, nullptr), TRNTENSOR_STATUS_SUCCESS)
      << trnGetLastErrorText();
  for (std::size_t r = 0; r < 2; ++r) EXPECT_EQ(reduced.get()[r], std::max({a[r], a[r + 2], a[r + 4]}) + 2 * c[r]);
  EXPECT_EQ(trntensorPermute(h, plan, &one, da, joined, nullptr), TRNTENSOR_STATUS_INVALID_VALUE);  // another kind
  trntensorDestroyPlan(plan);

  ASSERT_EQ(trntensorCreateElementwiseTrinary(h, &d, ta, ij.data(), TRNTENSOR_OP_SQRT, ta, ij.data(), kIdentity, ta,
                                              ij.data(), kIdentity, ta, ij.data(), TRNTENSOR_OP_MUL, TRNTENSOR_OP_ADD,
                                              TRNTENSOR_COMPUTE_DESC_32F),
            TRNTENSOR_STATUS_SUCCESS);
  plan = plan_of(h, d);
  ASSERT_EQ(trntensorElementwiseTrinaryExecute(h, plan, &two, da, &three, da, &four, da, joined, nullptr),
            TRNTENSOR_STATUS_SUCCESS)
      << trnGetLastErrorText();
  for (std::size_t e = 0; e < 6; ++e) {
    const double x = static_cast<double>(a[e]);
    EXPECT_NEAR(static_cast<double>(joined.get()[e]), 6 * std::sqrt(x) * x + 4 * x, 1e-5);
  }
  trntensorDestroyPlan(plan);
  for (const auto t : {ta, tb, tc}) trntensorDestroyTensorDescriptor(t);
}

TEST(CTensor, Statuses) {
  const Handle h;
  trntensorTensorDescriptor_t t = nullptr;
  const Extents extents{4}, none{0};
  EXPECT_EQ(trntensorCreateTensorDescriptor(h, &t, 1, none.data(), nullptr, TRN_R_32F, 128),
            TRNTENSOR_STATUS_INVALID_VALUE);
  EXPECT_EQ(trntensorCreateTensorDescriptor(h, &t, 1, extents.data(), nullptr, TRN_R_8I, 128),
            TRNTENSOR_STATUS_NOT_SUPPORTED);
  ASSERT_EQ(trntensorCreateTensorDescriptor(h, &t, 1, extents.data(), nullptr, TRN_R_32F, 128),
            TRNTENSOR_STATUS_SUCCESS);
  const Modes i{0};
  trntensorOperationDescriptor_t d = nullptr;
  EXPECT_EQ(trntensorCreatePermutation(h, &d, t, i.data(), TRNTENSOR_OP_ADD, t, i.data(), TRNTENSOR_COMPUTE_DESC_32F),
            TRNTENSOR_STATUS_INVALID_VALUE);  // not a unary operator
  EXPECT_EQ(trntensorCreatePermutation(h, &d, t, i.data(), kIdentity, t, i.data(), nullptr),
            TRNTENSOR_STATUS_INVALID_VALUE);
  ASSERT_EQ(trntensorCreatePermutation(h, &d, t, i.data(), kIdentity, t, i.data(), TRNTENSOR_COMPUTE_DESC_32F),
            TRNTENSOR_STATUS_SUCCESS);
  const auto plan = plan_of(h, d);
  const Mem<float> a(4), shorter(3);
  const float one = 1;
  EXPECT_EQ(trntensorPermute(h, plan, &one, a, shorter, nullptr), TRNTENSOR_STATUS_INVALID_VALUE);
  EXPECT_EQ(trntensorPermute(nullptr, plan, &one, a, a, nullptr), TRNTENSOR_STATUS_NOT_INITIALIZED);
  trntensorDestroyPlan(plan);
  EXPECT_EQ(trntensorPermute(h, plan, &one, a, a, nullptr), TRNTENSOR_STATUS_INVALID_VALUE);  // stale
  std::uint32_t lines = 7;
  EXPECT_EQ(trntensorHandleReadPlanCacheFromFile(h, "/nowhere/plans", &lines), TRNTENSOR_STATUS_IO_ERROR);
  EXPECT_STREQ(trntensorGetErrorString(TRNTENSOR_STATUS_IO_ERROR), "io error");
  trntensorDestroyTensorDescriptor(t);
}

}  // namespace
