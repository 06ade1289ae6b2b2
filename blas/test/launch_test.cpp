// What operations of blas do on a device beside their own program: constants once, no copies, probes apart.
#include <gtest/gtest.h>

#include <complex>
#include <trn/blas/gemm.hpp>
#include <trn/blas/level1.hpp>
#include <trn/core/array.hpp>
#include <vector>

namespace trn::blas {
namespace {

template <class T> std::vector<T> values(std::int64_t n) {
  std::vector<T> x;
  for (std::int64_t i = 0; i < n; ++i) x.push_back(static_cast<T>(static_cast<float>(i % 13) - 6.0F));
  return x;
}

TEST(BlasLaunch, FactorsAreUploadedOnceAndNothingIsCopied) {
  const Executor e = Executor::open("sim:trn2");
  constexpr std::int64_t n = 24;
  const auto a = Matrix<float>::from_host(e, n, n, values<float>(n * n)),
             b = Matrix<float>::from_host(e, n, n, values<float>(n * n)),
             c = Matrix<float>::from_host(e, n, n, values<float>(n * n));
  Recorder recorder(e);
  const auto call = [&](float alpha) {
    recorder.clear();
    (void)gemm(e, Op::N, Op::N, alpha, a.view(), b.view(), 0.5F, c.view());
    EXPECT_EQ(recorder.count(EventKind::Copy), 0);
    EXPECT_EQ(recorder.count(EventKind::Run), 1);
    return recorder.count(EventKind::Constant);
  };
  EXPECT_EQ(call(2.5F), 2);  // alpha and beta
  EXPECT_EQ(call(2.5F), 0);
  EXPECT_EQ(call(3.5F), 1);  // beta is there
  EXPECT_EQ(call(1.0F), 0);  // an alpha of 1 is not an input
}

TEST(BlasLaunch, ProbesAreNotInTheOperationsTime) {
  const Executor e = Executor::open("sim:trn2");
  constexpr std::int64_t n = 16;
  const auto a = Matrix<double>::from_host(e, n, n, values<double>(n * n)), c = Matrix<double>(e, n, n);
  Recorder recorder(e);
  const auto call = [&] {
    recorder.clear();
    (void)gemm(e, Op::N, Op::N, 1.0, a.view(), a.view(), 0.0, c.view(), {.precision = Mode::Exact});
    return recorder.modelled_seconds();
  };
  const double first = call();
  EXPECT_GT(recorder.modelled_seconds(Purpose::Probe), 0);
  const double second = call();
  EXPECT_EQ(recorder.modelled_seconds(Purpose::Probe), 0);
  EXPECT_GT(first, 0);
  EXPECT_EQ(first, second);
}

TEST(BlasLaunch, WhatIsReadBackIsACopy) {
  const Executor e = Executor::open("sim:trn2");
  std::vector<float> with_nan = values<float>(300);
  with_nan[200] = NAN;
  const auto x = Array<float>::from_host(e, {300}, with_nan);
  const Recorder recorder(e);
  (void)amax(e, VectorView<const float>(e, x.data(), 300));
  // The partial results of two passes, and the first element, whose NaN would win.
  EXPECT_EQ(recorder.count(EventKind::Copy, "sim:trn2 -> host"), 3);
}

}  // namespace
}  // namespace trn::blas
