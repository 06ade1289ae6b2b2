// Targets at the ends of the range: a bound holds or the call is refused. And what a target reads of its operands.
#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <trn/blas/gemm_batched.hpp>
#include <trn/blas/level1.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/core/array.hpp>

#include "support/message_of.hpp"

namespace trn::blas::test {
namespace {

using testing_support::message_of;

template <class T> Array<T> vector(const Executor& e, const std::vector<T>& x) {
  return Array<T>::from_host(e, {static_cast<std::int64_t>(x.size())}, x);
}

class RangeTargets : public ::testing::TestWithParam<const char*> {
 protected:
  Executor e = Executor::open(GetParam());
  template <class T> std::string refused_asum(const std::vector<T>& x) {
    const auto v = vector(e, x);
    return message_of<InvalidArgument>([&] { (void)asum(e, VectorView<T>(v.view()), Precision::target(1e-4)); });
  }
  template <class T> std::string refused_nrm2(const std::vector<T>& x) {
    const auto v = vector(e, x);
    return message_of<InvalidArgument>([&] { (void)nrm2(e, VectorView<T>(v.view()), Precision::target(1e-4)); });
  }
};

TEST_P(RangeTargets, SumsThatOverflowAreRefused) {
  EXPECT_IN("blas.asum: the result is inf", refused_asum<float>({3e38F, 3e38F}));
  EXPECT_IN("blas.nrm2: the result is inf", refused_nrm2<float>({3e38F, 3e38F}));
  EXPECT_IN("blas.asum: the result is inf", refused_asum<std::complex<float>>({{3e38F, -3e38F}}));
  EXPECT_IN("blas.asum: the result is nan", refused_asum<float>({1, NAN}));
  EXPECT_IN("blas.nrm2: the result is inf", refused_nrm2<float>({1, INFINITY}));
  // Without a target it is what BLAS gives.
  const auto x = vector<float>(e, {3e38F, 3e38F});
  EXPECT_EQ(asum(e, VectorView<float>(x.view())), INFINITY);
}

TEST_P(RangeTargets, NormsAmongTheDenormals) {
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  const std::vector<float> values{3 * kLeast, kLeast};  // sqrt(10) kLeast, which rounds to 3 kLeast: 5 %
  EXPECT_IN("blas.nrm2: the result is 4e-45", refused_nrm2(values));
  const auto x = vector(e, values);
  const auto loose = nrm2(e, VectorView<float>(x.view()), Precision::target(0.5));
  const double exact = std::sqrt(10.0) * kLeast;
  EXPECT_LE(std::abs(static_cast<double>(loose.value) - exact), loose.accuracy.bound * exact);
  EXPECT_GE(loose.accuracy.bound, 0.05);
  // asum has no error there.
  const auto sum = asum(e, VectorView<float>(x.view()), Precision::target(1e-6));
  EXPECT_EQ(sum.value, 4 * kLeast);
}

// op(A) X = B of one element: X = B / A.
template <class T> std::pair<T, double> solve(const Executor& e, T a, T b, double target) {
  const Array<T> am = vector<T>(e, {a}), bm = vector<T>(e, {b});
  const Accuracy accuracy =
      trsm<T>(e, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, T(1), MatrixView<T>::row_major(e, am.data(), 1, 1),
              MatrixView<T>::row_major(e, bm.data(), 1, 1), {.precision = Precision::target(target)});
  return {bm.to_host()[0], accuracy.bound};
}

TEST_P(RangeTargets, SolutionsThatUnderflow) {
  constexpr float kLeast = std::numeric_limits<float>::denorm_min();
  const auto refused = [&](float a, float b) {
    return message_of<InvalidArgument>([&] { (void)solve<float>(e, a, b, 1e-3); });
  };
  EXPECT_IN("blas.trsm: no precision", refused(3, 4 * kLeast));       // 4/3 becomes 1: a residual of 1/3
  EXPECT_IN("blas.trsm: no precision", refused(0x3p100F, 0x1p-49F));  // 1/3 of the smallest: nothing is left
  EXPECT_IN("blas.trsm: no precision", refused(-3e38F, 7 * kLeast));
  // A looser target is kept, and the bound with it.
  const auto [x, bound] = solve<float>(e, 3, 40 * kLeast, 0.2);
  const double residual = std::abs(40.0 * kLeast - 3.0 * static_cast<double>(x));
  EXPECT_LE(residual, bound * 3.0 * static_cast<double>(x));
  EXPECT_GT(bound, 0.01);
  // What is in range is not touched by it.
  EXPECT_LT((solve<float>(e, 3, 4, 1e-5).second), 2e-6);
  // A column of zeros has no error.
  EXPECT_EQ((solve<float>(e, 3, 0, 1e-5).first), 0);
}

INSTANTIATE_TEST_SUITE_P(Executors, RangeTargets, ::testing::Values("host", "sim:trn2"),
                         [](const auto& chosen) { return std::string(chosen.param) == "host" ? "host" : "trn2"; });

TEST(RangeTargetsInDouble, SumsAndSolutions) {
  const Executor e = Executor::host();
  const auto x = vector<double>(e, {1.5e308, 1.5e308});
  EXPECT_IN("blas.asum: the result is inf",
            message_of<InvalidArgument>([&] { (void)asum(e, VectorView<double>(x.view()), Precision::target(1e-9)); }));
  EXPECT_IN("blas.nrm2: the result is inf",
            message_of<InvalidArgument>([&] { (void)nrm2(e, VectorView<double>(x.view()), Precision::target(1e-9)); }));
  EXPECT_IN("blas.trsm: no precision",
            message_of<InvalidArgument>([&] { (void)solve<double>(e, 3, 4 * 0x1p-1074, 1e-9); }));
}

// A float32 batch on a device whose target needs more than the program's modes: each operand comes to the host once for
// the choice and the exact products together.
TEST(BatchedTargets, EveryOperandIsReadOnce) {
  const Executor e = Executor::open("sim:trn2");
  constexpr std::int64_t n = 6, k = 10;
  std::vector<Array<float>> a, b, c;
  std::vector<const float*> as, bs;
  std::vector<float*> cs;
  for (int p = 0; p < 3; ++p) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < n * k; ++i) values.push_back(static_cast<float>((i * 7 + p) % 11) - 4.5F);
    a.push_back(vector(e, values)), b.push_back(vector(e, values));
    c.push_back(vector(e, std::vector<float>(static_cast<std::size_t>(n * n), 1)));
    as.push_back(a.back().data()), bs.push_back(b.back().data()), cs.push_back(c.back().data());
  }
  const auto run = [&](double target) {
    return gemm_batched<float>(e, {.op_b = Op::T, .m = n, .n = n, .k = k}, 1, as, bs, 0, std::span<float* const>(cs),
                               {.precision = Precision::target(target)});
  };
  (void)run(1e-7);  // what a first call uploads and probes
  Recorder recorder(e);
  EXPECT_EQ(run(1e-7).mode, Mode::Exact);
  std::int64_t operands = 0;
  for (const Event& event : recorder.events()) {
    if (event.kind == EventKind::Copy && event.subject == "sim:trn2 -> host" &&
        event.bytes == n * k * static_cast<std::int64_t>(sizeof(float)))
      ++operands;
  }
  EXPECT_EQ(operands, 6);
}

}  // namespace
}  // namespace trn::blas::test
