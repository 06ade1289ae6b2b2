// cuBLAS's routines through the C face, against plain loops in long double; pointer modes, statuses, handles.
#include <gtest/gtest.h>
#include <trnblas.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "mem.hpp"

namespace {

using capi_test::Mem;

template <class T> std::vector<T> random(std::size_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> v(n);
  for (T& x : v) x = static_cast<T>(uniform(engine));
  return v;
}

class Blas : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    int number = 0;
    ASSERT_EQ(trnDeviceOpen(GetParam(), &number), trnSuccess);
    ASSERT_EQ(trnSetDevice(number), trnSuccess);
    ASSERT_EQ(trnblasCreate(&handle), TRNBLAS_STATUS_SUCCESS);
  }
  void TearDown() override {
    EXPECT_EQ(trnblasDestroy(handle), TRNBLAS_STATUS_SUCCESS);
    trnSetDevice(0);
  }
  trnblasHandle_t handle = nullptr;
};

// As cuBLAS 13 does on an H200: a size below zero is an empty vector everywhere in level 1.
TEST_P(Blas, NegativeSizesOfVectorsAreEmpty) {
  const Mem<float> x({1, 2}), y({3, 4});
  const float alpha = 2;
  float result = 9;
  int index = 9;
  EXPECT_EQ(trnblasSaxpy(handle, -5, &alpha, x, 1, y, 1), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(trnblasScopy(handle, -5, x, 1, y, 1), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(trnblasSswap(handle, -5, x, 1, y, 1), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(trnblasSscal(handle, -5, &alpha, x, 1), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(trnblasSrot(handle, -5, x, 1, y, 1, &alpha, &alpha), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(trnblasSdot(handle, -5, x, 1, y, 1, &result), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result, 0);
  EXPECT_EQ(trnblasSnrm2(handle, -5, x, 1, &(result = 9)), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(result, 0);
  EXPECT_EQ(trnblasIsamax(handle, -5, x, 1, &index), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(index, 0);
  EXPECT_EQ(x.get(), (std::vector<float>{1, 2}));
  EXPECT_EQ(y.get(), (std::vector<float>{3, 4}));
}

// A function in the stream holds it up; the products behind it are queued, and the host goes on.
TEST_P(Blas, AThousandGemmsAreQueued) {
  const int n = 8, products = 1000;
  const std::vector<float> ones(n * n, 1), zeros(n * n, 0);
  const Mem<float> a(ones), c(zeros);
  trnStream_t stream = nullptr;
  ASSERT_EQ(trnStreamCreate(&stream), trnSuccess);
  ASSERT_EQ(trnblasSetStream(handle, stream), TRNBLAS_STATUS_SUCCESS);
  const float alpha = 1, beta = 1;
  const auto gemm = [&] {
    const float passing[2] = {alpha, beta};  // read at once: gone when the product runs
    return trnblasSgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, &passing[0], a, n, a, n, &passing[1], c, n);
  };
  ASSERT_EQ(gemm(), TRNBLAS_STATUS_SUCCESS);  // the first of its kind is waited for
  std::atomic<bool> go = false;
  const auto hold = [](void* flag) {
    const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (!*static_cast<std::atomic<bool>*>(flag) && std::chrono::steady_clock::now() < limit)
      std::this_thread::yield();
  };
  ASSERT_EQ(trnLaunchHostFunc(stream, hold, &go), trnSuccess);
  for (int i = 1; i < products; ++i) ASSERT_EQ(gemm(), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(trnStreamQuery(stream), trnErrorNotReady);
  // What is wrong is said at once.
  EXPECT_EQ(trnblasSgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, &alpha, a, n - 1, a, n, &beta, c, n),
            TRNBLAS_STATUS_INVALID_VALUE);
  go = true;
  ASSERT_EQ(trnStreamSynchronize(stream), trnSuccess) << trnGetLastErrorText();
  EXPECT_EQ(c.get(), std::vector<float>(n * n, static_cast<float>(n * products)));
  EXPECT_EQ(trnStreamDestroy(stream), trnSuccess);
}

// A handle holds its stream for longer than the program does. What was queued is done when the stream is gone, and what
// the handle puts there later is not behind the caller: nobody who waits for the device would wait for it.
TEST_P(Blas, AHandleOutlivesItsStream) {
  const int n = 8;
  const std::vector<float> ones(n * n, 1);
  const Mem<float> a(ones), c(n * n);
  const float alpha = 1, beta = 0;
  const auto gemm = [&] {
    return trnblasSgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, &alpha, a, n, a, n, &beta, c, n);
  };
  trnStream_t stream = nullptr;
  ASSERT_EQ(trnStreamCreate(&stream), trnSuccess);
  ASSERT_EQ(trnblasSetStream(handle, stream), TRNBLAS_STATUS_SUCCESS);
  ASSERT_EQ(gemm(), TRNBLAS_STATUS_SUCCESS);  // the first of its kind is waited for
  ASSERT_EQ(trnMemset(c, 0, n * n * sizeof(float)), trnSuccess);
  const auto sleep = [](void*) { std::this_thread::sleep_for(std::chrono::milliseconds(50)); };
  ASSERT_EQ(trnLaunchHostFunc(stream, sleep, nullptr), trnSuccess);
  ASSERT_EQ(gemm(), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(trnStreamDestroy(stream), trnSuccess);
  EXPECT_EQ(trnDeviceSynchronize(), trnSuccess);
  EXPECT_EQ(c.get(), std::vector<float>(n * n, n));
  ASSERT_EQ(trnMemset(c, 0, n * n * sizeof(float)), trnSuccess);
  ASSERT_EQ(gemm(), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(trnDeviceSynchronize(), trnSuccess);
  EXPECT_EQ(c.get(), std::vector<float>(n * n, n));
}

TEST_P(Blas, GemmIsColumnMajor) {
  const int m = 5, n = 4, k = 3, lda = 6, ldb = 7, ldc = 5;
  const auto a = random<float>(lda * k, 1), b = random<float>(ldb * k, 2), c = random<float>(ldc * n, 3);
  const Mem<float> da(a), db(b), dc(c);
  const float alpha = 2, beta = -1;
  ASSERT_EQ(trnblasSgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_T, m, n, k, &alpha, da, lda, db, ldb, &beta, dc, ldc),
            TRNBLAS_STATUS_SUCCESS)
      << trnGetLastErrorText();
  double bound = 0;
  EXPECT_EQ(trnblasGetBound(handle, &bound), TRNBLAS_STATUS_SUCCESS);
  EXPECT_GT(bound, 0);
  const auto got = dc.get();
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < n; ++j) {
      long double exact = beta * static_cast<long double>(c[i + j * ldc]), norm_a = 0, norm_b = 0;
      for (int l = 0; l < k; ++l) {
        exact += alpha * static_cast<long double>(a[i + l * lda]) * b[j + l * ldb];
        norm_a += static_cast<long double>(a[i + l * lda]) * a[i + l * lda];
        norm_b += static_cast<long double>(b[j + l * ldb]) * b[j + l * ldb];
      }
      const long double scale = alpha * std::sqrt(norm_a * norm_b) + std::abs(beta * c[i + j * ldc]);
      EXPECT_LE(std::abs(got[i + j * ldc] - exact), bound * scale) << i << "," << j;
    }
  }
}

// The same product through the 64-bit name, and with factors in device memory: the same bits.
TEST_P(Blas, PointerModesAndWideNamesAgree) {
  const int n = 17;
  const auto a = random<float>(n * n, 4), b = random<float>(n * n, 5);
  const Mem<float> da(a), db(b), c1(std::vector<float>(n * n)), c2(std::vector<float>(n * n)), factors({1.5F, 0});
  const float alpha = 1.5F, beta = 0;
  ASSERT_EQ(trnblasSgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, &alpha, da, n, db, n, &beta, c1, n), 0);
  ASSERT_EQ(trnblasSetPointerMode(handle, TRNBLAS_POINTER_MODE_DEVICE), 0);
  EXPECT_EQ(trnblasSgemm_64(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, &alpha, da, n, db, n, &beta, c2, n),
            TRNBLAS_STATUS_INVALID_VALUE);  // host scalars in device mode
  ASSERT_EQ(trnblasSgemm_64(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, factors, da, n, db, n, factors + 1, c2, n), 0);
  EXPECT_EQ(c1.get(), c2.get());
}

TEST_P(Blas, ReductionsAndIndices) {
  const Mem<float> x({1, -5, 3, 5, 2}), y({1, 1, 1, 1, 1});
  float result = 0;
  int index = 0;
  EXPECT_EQ(trnblasSdot(handle, 5, x, 1, y, 1, &result), 0);
  EXPECT_EQ(result, 6);
  EXPECT_EQ(trnblasSasum(handle, 5, x, 1, &result), 0);
  EXPECT_EQ(result, 16);
  EXPECT_EQ(trnblasSnrm2(handle, 5, x, 1, &result), 0);
  EXPECT_EQ(result, 8);
  EXPECT_EQ(trnblasIsamax(handle, 5, x, 1, &index), 0);
  EXPECT_EQ(index, 2);  // from 1, the first of equals
  EXPECT_EQ(trnblasIsamin(handle, 5, x, 1, &index), 0);
  EXPECT_EQ(index, 1);
  EXPECT_EQ(trnblasIsamax(handle, 0, x, 1, &index), 0);
  EXPECT_EQ(index, 0);
  // Every other element, and backwards: BLAS counts a negative increment from the end.
  EXPECT_EQ(trnblasSdot(handle, 3, x, 2, y, 1, &result), 0);
  EXPECT_EQ(result, 6);
  const Mem<float> z({10, 20});
  EXPECT_EQ(trnblasSdot(handle, 2, x, -1, z, 1, &result), 0);
  EXPECT_EQ(result, -5 * 10 + 1 * 20);
  EXPECT_EQ(trnblasSdot(handle, 6, x, 1, y, 1, &result), TRNBLAS_STATUS_INVALID_VALUE);  // one too long
  EXPECT_EQ(trnblasSdot(handle, 3, x, 3, y, 1, &result), TRNBLAS_STATUS_INVALID_VALUE);
}

TEST_P(Blas, TriangularProductsAndSolvesAreInverse) {
  const int n = 6, m = 3;
  auto a = random<float>(n * n, 6);
  for (int i = 0; i < n; ++i) a[static_cast<std::size_t>(i) * (n + 1)] += 4;
  const auto b = random<float>(n * m, 7);
  const Mem<float> da(a), db(b), dc(std::vector<float>(n * m));
  const float one = 1;
  ASSERT_EQ(trnblasStrmm(handle, TRNBLAS_SIDE_LEFT, TRNBLAS_FILL_MODE_LOWER, TRNBLAS_OP_T, TRNBLAS_DIAG_NON_UNIT, n, m,
                         &one, da, n, db, n, dc, n),
            0)
      << trnGetLastErrorText();
  ASSERT_EQ(trnblasStrsm(handle, TRNBLAS_SIDE_LEFT, TRNBLAS_FILL_MODE_LOWER, TRNBLAS_OP_T, TRNBLAS_DIAG_NON_UNIT, n, m,
                         &one, da, n, dc, n),
            0)
      << trnGetLastErrorText();
  const auto got = dc.get();
  for (std::size_t i = 0; i < b.size(); ++i) EXPECT_NEAR(got[i], b[i], 1e-5);
}

TEST_P(Blas, DoublePrecisionIsRightEverywhere) {
  const int n = 20;
  const auto a = random<double>(n * n, 8), b = random<double>(n * n, 9);
  const Mem<double> da(a), db(b), dc(std::vector<double>(n * n));
  const double alpha = 1, beta = 0;
  ASSERT_EQ(trnblasDgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, &alpha, da, n, db, n, &beta, dc, n), 0)
      << trnGetLastErrorText();
  const auto got = dc.get();
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) {
      long double exact = 0;
      for (int l = 0; l < n; ++l) exact += static_cast<long double>(a[i + l * n]) * b[l + j * n];
      EXPECT_NEAR(static_cast<double>(got[i + j * n] - exact), 0, 1e-14);
    }
  }
}

TEST_P(Blas, BatchesTakeArraysOfAddressesInDeviceMemory) {
  const int n = 8, count = 3;
  const auto a = random<float>(n * n * count, 10), b = random<float>(n * n * count, 11);
  const Mem<float> da(a), db(b), c1(std::vector<float>(a.size())), c2(std::vector<float>(a.size()));
  std::vector<float*> pa, pb, pc;
  for (int i = 0; i < count; ++i) {
    pa.push_back(da + i * n * n);
    pb.push_back(db + i * n * n);
    pc.push_back(c1 + i * n * n);
  }
  const Mem<float*> ma(pa), mb(pb), mc(pc);
  const float alpha = 1, beta = 0;
  ASSERT_EQ(trnblasSgemmBatched(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, &alpha, ma, n, mb, n, &beta, mc, n, count),
            0)
      << trnGetLastErrorText();
  ASSERT_EQ(trnblasSgemmStridedBatched(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, &alpha, da, n, n * n, db, n, n * n,
                                       &beta, c2, n, n * n, count),
            0);
  EXPECT_EQ(c1.get(), c2.get());
  EXPECT_EQ(trnblasSgemmBatched(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, &alpha, pa.data(), n, mb, n, &beta, mc, n,
                                count),
            TRNBLAS_STATUS_INVALID_VALUE);  // the array itself is host memory
  EXPECT_EQ(trnblasSgemmStridedBatched(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, &alpha, da, n, n * n, db, n, n * n,
                                       &beta, c2, n, n * n, count + 1),
            TRNBLAS_STATUS_INVALID_VALUE);
}

TEST_P(Blas, GemmExTakesTypesAtRunTime) {
  const int n = 4;
  const Mem<float> a(std::vector<float>(16, 2)), b(std::vector<float>(16, 3)), c(std::vector<float>(16));
  const float alpha = 1, beta = 0;
  EXPECT_EQ(trnblasGemmEx(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, &alpha, a, TRN_R_32F, n, b, TRN_R_32F, n, &beta,
                          c, TRN_R_32F, n, TRNBLAS_COMPUTE_32F_FAST_TF32, TRNBLAS_GEMM_DEFAULT),
            0)
      << trnGetLastErrorText();
  EXPECT_EQ(c.get(), std::vector<float>(16, 24));
  EXPECT_EQ(trnblasGemmEx(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, &alpha, a, TRN_R_8I, n, b, TRN_R_8I, n, &beta, c,
                          TRN_R_32I, n, TRNBLAS_COMPUTE_32I, TRNBLAS_GEMM_DEFAULT),
            TRNBLAS_STATUS_NOT_SUPPORTED);
}

TEST_P(Blas, BadArgumentsAreStatuses) {
  const int n = 4;
  const Mem<float> a(std::vector<float>(16)), c(std::vector<float>(16, 7));
  std::vector<float> host(16);
  const float alpha = 1, beta = 0;
  const auto gemm = [&](int op, int m, int k, const float* pa, int lda, float* pc) {
    return trnblasSgemm(handle, static_cast<trnblasOperation_t>(op), TRNBLAS_OP_N, m, n, k, &alpha, pa, lda, a, n,
                        &beta, pc, n);
  };
  EXPECT_EQ(gemm(0, n, n, a, n, c), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(gemm(99, n, n, a, n, c), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(3, n, n, a, n, c), TRNBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(gemm(0, -1, n, a, n, c), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, n, -1, a, n, c), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, n, n, a, n - 1, c), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, n, n, a, n + 1, c), TRNBLAS_STATUS_INVALID_VALUE);  // reaches past the block
  EXPECT_EQ(gemm(0, n, n, host.data(), n, c), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, n, n, a, n, host.data()), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, n, n, nullptr, n, c), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(gemm(0, n, 0, nullptr, n, c), TRNBLAS_STATUS_SUCCESS);  // k = 0 reads nothing
  EXPECT_EQ(gemm(0, 0, n, nullptr, 1, nullptr), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(gemm(0, n, n, c, n, c), TRNBLAS_STATUS_INVALID_VALUE);  // C overlaps A
  EXPECT_EQ(
      trnblasSgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, 0, n, &alpha, nullptr, n, nullptr, n, &beta, nullptr, n), 0);
  EXPECT_EQ(trnblasSgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, nullptr, a, n, a, n, &beta, c, n),
            TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnblasSgemm_64(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, n, std::numeric_limits<std::int64_t>::max() / 2, n,
                            &alpha, a, n, a, n, &beta, c, std::numeric_limits<std::int64_t>::max() / 2),
            TRNBLAS_STATUS_INVALID_VALUE);  // the extent overflows
  const auto* const odd = reinterpret_cast<const float*>(reinterpret_cast<std::uintptr_t>(static_cast<float*>(a)) + 2);
  EXPECT_EQ(gemm(0, 3, 3, odd, n, c), TRNBLAS_STATUS_INVALID_VALUE);  // no float begins there
  EXPECT_EQ(trnblasGemmEx(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, 3, 3, 3, &alpha, odd, TRN_R_32F, n, a, TRN_R_32F, n,
                          &beta, c, TRN_R_32F, n, TRNBLAS_COMPUTE_32F, TRNBLAS_GEMM_DEFAULT),
            TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnblasSgemv(handle, TRNBLAS_OP_N, n, n, &alpha, a, n, a, 0, &beta, c, 1), TRNBLAS_STATUS_INVALID_VALUE);
}

TEST_P(Blas, CopiesVectorsAndMatrices) {
  const Mem<float> device(std::vector<float>(12));
  const std::vector<float> in = {1, 2, 3, 4, 5, 6};
  std::vector<float> out(6);
  EXPECT_EQ(trnblasSetMatrix(2, 3, sizeof(float), in.data(), 2, device, 4), 0);
  EXPECT_EQ(trnblasGetMatrix(2, 3, sizeof(float), device, 4, out.data(), 2), 0);
  EXPECT_EQ(in, out);
  EXPECT_EQ(trnblasSetVector(3, sizeof(float), in.data(), 2, device, 1), 0);
  EXPECT_EQ(trnblasGetVector(3, sizeof(float), device, 1, out.data(), 2), 0);
  EXPECT_EQ(out[4], 5);
  EXPECT_EQ(trnblasSetMatrix(2, 3, sizeof(float), in.data(), 1, device, 4), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnblasSetVector(13, sizeof(float), in.data(), 1, device, 1), TRNBLAS_STATUS_INVALID_VALUE);
}

INSTANTIATE_TEST_SUITE_P(Capi, Blas, testing::Values("host", "sim:trn2"));

TEST(BlasHandle, NullDestroyedAndForeignHandlesAreRefused) {
  trnblasHandle_t handle = nullptr;
  float result = 0;
  EXPECT_EQ(trnblasSdot(nullptr, 0, nullptr, 1, nullptr, 1, &result), TRNBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(trnblasSdot(reinterpret_cast<trnblasHandle_t>(&result), 0, nullptr, 1, nullptr, 1, &result),
            TRNBLAS_STATUS_NOT_INITIALIZED);
  ASSERT_EQ(trnblasCreate(&handle), 0);
  EXPECT_EQ(trnblasSdot(handle, 0, nullptr, 1, nullptr, 1, &result), 0);
  EXPECT_EQ(trnblasDestroy(handle), 0);
  EXPECT_EQ(trnblasDestroy(handle), TRNBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(trnblasCreate(nullptr), TRNBLAS_STATUS_INVALID_VALUE);
  int number = 0;
  trnDeviceOpen("host", &number);
  trnSetDevice(number);
  ASSERT_EQ(trnblasCreate(&handle), 0);
  trnDeviceReset();
  EXPECT_EQ(trnblasSdot(handle, 0, nullptr, 1, nullptr, 1, &result), TRNBLAS_STATUS_NOT_INITIALIZED);
  trnSetDevice(0);
}

TEST(BlasHandle, WhatADeviceDoesNotHaveIsNotSupported) {
  int number = 0;
  ASSERT_EQ(trnDeviceOpen("sim:trn2", &number), 0);
  trnSetDevice(number);
  trnblasHandle_t handle = nullptr;
  ASSERT_EQ(trnblasCreate(&handle), 0);
  const Mem<double> x({1, 2}), y({3, 4});
  const double alpha = 1;
  EXPECT_EQ(trnblasDaxpy(handle, 2, &alpha, x, 1, y, 1), TRNBLAS_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(y.get(), (std::vector<double>{3, 4}));
  trnblasDestroy(handle);
  trnSetDevice(0);
}

TEST(BlasHandle, ModesAndPrecisions) {
  trnblasHandle_t handle = nullptr;
  ASSERT_EQ(trnblasCreate(&handle), 0);
  trnblasMath_t math = TRNBLAS_DEFAULT_MATH;
  EXPECT_EQ(trnblasSetMathMode(handle, TRNBLAS_TF32_TENSOR_OP_MATH), 0);
  EXPECT_EQ(trnblasGetMathMode(handle, &math), 0);
  EXPECT_EQ(math, TRNBLAS_TF32_TENSOR_OP_MATH);
  EXPECT_EQ(trnblasSetMathMode(handle, static_cast<trnblasMath_t>(7)), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnblasSetPrecision(handle, "target=1e-9"), 0);
  EXPECT_EQ(trnblasSetPrecision(handle, "sharp"), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnblasSetPrecision(handle, nullptr), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_STREQ(trnblasGetStatusName(TRNBLAS_STATUS_NOT_SUPPORTED), "CUBLAS_STATUS_NOT_SUPPORTED");
  EXPECT_EQ(trnblasDestroy(handle), 0);
}

// On a simulator events measure modelled time: an event pair around a product has the time that the simulator models.
TEST(BlasHandle, EventsHaveModelledTime) {
  int number = 0;
  ASSERT_EQ(trnDeviceOpen("sim:trn2", &number), 0);
  trnSetDevice(number);
  trnblasHandle_t handle = nullptr;
  ASSERT_EQ(trnblasCreate(&handle), 0);
  const Mem<float> a(std::vector<float>(256 * 256, 1)), b(std::vector<float>(256 * 256, 1)),
      c(std::vector<float>(256 * 256));
  trnEvent_t begin = nullptr, end = nullptr;
  trnEventCreate(&begin), trnEventCreate(&end);
  const float alpha = 1, beta = 0;
  trnEventRecord(begin, nullptr);
  ASSERT_EQ(trnblasSgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, 256, 256, 256, &alpha, a, 256, b, 256, &beta, c, 256), 0);
  trnEventRecord(end, nullptr);
  trnEventSynchronize(end);
  float ms = 0;
  ASSERT_EQ(trnEventElapsedTime(&ms, begin, end), trnSuccess);
  EXPECT_GT(ms, 0.005F);
  EXPECT_LT(ms, 0.2F);
  trnEventDestroy(begin), trnEventDestroy(end), trnblasDestroy(handle);
  trnSetDevice(0);
}

}  // namespace
