// Strict memory (TRN_STRICT_MEMORY=1), handles of every library after a reset, statuses of what fails on a device. The
// whole of capi_test also runs with strict memory: the test capi_strict_memory.
#include <gtest/gtest.h>
#include <trnblas.h>
#include <trnfft.h>
#include <trnrand.h>
#include <trnsolver.h>
#include <trnsparse.h>
#include <trntensor.h>

#include <csignal>
#include <cstdlib>
#include <new>
#include <stdexcept>
#include <string>

#include "mem.hpp"

namespace {

using capi_test::Mem;
using capi_test::On;

// In a process of its own: touches what `kind` of memory gives, and ends with 0 if that is allowed.
template <class Allocate> [[noreturn]] void touch(const Allocate& allocate) {
  void* address = nullptr;
  if (allocate(&address) != trnSuccess) std::_Exit(3);
  volatile char* const bytes = static_cast<char*>(address);
  bytes[99] = 5;
  std::_Exit(bytes[99] == 5 ? 0 : 4);
}

class StrictMemoryDeathTest : public testing::TestWithParam<const char*> {
 protected:
  // The child begins anew, and reads the environment then.
  void SetUp() override {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    const char* const now = std::getenv("TRN_STRICT_MEMORY");
    before_ = now ? now : "0";
  }
  void TearDown() override { setenv("TRN_STRICT_MEMORY", before_.c_str(), 1); }

 private:
  std::string before_;
};

TEST_P(StrictMemoryDeathTest, TheHostCannotTouchDeviceMemory) {
  const auto device = [](void** p) { return trnMalloc(p, 100); };
  const auto on = [] {
    int number = 0;
    trnDeviceOpen(GetParam(), &number);
    trnSetDevice(number);
  };
  setenv("TRN_STRICT_MEMORY", "1", 1);
  EXPECT_DEATH((on(), touch(device)), "");
  // Memory that the host may touch, and the same without strict memory.
  EXPECT_EXIT((on(), touch([](void** p) { return trnMallocManaged(p, 100, trnMemAttachGlobal); })),
              testing::ExitedWithCode(0), "");
  EXPECT_EXIT((on(), touch([](void** p) { return trnMallocHost(p, 100); })), testing::ExitedWithCode(0), "");
  setenv("TRN_STRICT_MEMORY", "0", 1);
  EXPECT_EXIT((on(), touch(device)), testing::ExitedWithCode(0), "");
}

INSTANTIATE_TEST_SUITE_P(Memory, StrictMemoryDeathTest, testing::Values("host", "sim:trn2"));

// The first call reads them all: a program without an error, or without a product, has no other use for some.
TEST(EnvironmentDeathTest, WrongValuesEndTheProgramAtItsFirstCall) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  for (const char* name : {"TRN_LOG", "TRN_LAUNCH_BLOCKING", "TRN_STRICT_MEMORY", "TRN_PRECISION"}) {
    const char* const now = std::getenv(name);
    const std::string before = now ? now : "";
    setenv(name, "maybe", 1);
    int count = 0;
    EXPECT_EXIT((trnGetDeviceCount(&count), std::_Exit(0)), testing::ExitedWithCode(2), name);
    setenv(name, before.c_str(), 1);  // an empty value is none
  }
}

// A reset makes the handles of every library stale; none of them may use the memory that is gone.
TEST(Reset, MakesHandlesOfEveryLibraryStale) {
  const On device("host");
  trnblasHandle_t blas = nullptr;
  trnfftHandle fft = 0;
  trnrandGenerator_t rand = nullptr;
  trnsolverDnHandle_t solver = nullptr;
  trnsparseHandle_t sparse = nullptr;
  trntensorHandle_t tensor = nullptr;
  ASSERT_EQ(trnblasCreate(&blas), 0);
  ASSERT_EQ(trnfftPlan1d(&fft, 8, TRNFFT_C2C, 1), 0);
  ASSERT_EQ(trnrandCreateGenerator(&rand, TRNRAND_RNG_PSEUDO_PHILOX4_32_10), 0);
  ASSERT_EQ(trnsolverDnCreate(&solver), 0);
  ASSERT_EQ(trnsparseCreate(&sparse), 0);
  ASSERT_EQ(trntensorCreate(&tensor), 0);
  ASSERT_EQ(trnDeviceReset(), trnSuccess);
  const Mem<float> x(std::vector<float>(16, 1));
  float result = 0;
  EXPECT_EQ(trnblasSasum(blas, 4, x, 1, &result), TRNBLAS_STATUS_NOT_INITIALIZED);
  EXPECT_EQ(trnfftExecC2C(fft, reinterpret_cast<trnComplex*>(static_cast<float*>(x)),
                          reinterpret_cast<trnComplex*>(static_cast<float*>(x)), -1),
            TRNFFT_INVALID_PLAN);
  EXPECT_EQ(trnrandGenerateUniform(rand, x, 16), TRNRAND_STATUS_NOT_INITIALIZED);
  int size = 0;
  EXPECT_EQ(trnsolverDnSpotrf_bufferSize(solver, TRNBLAS_FILL_MODE_LOWER, 4, x, 4, &size),
            TRNSOLVER_STATUS_NOT_INITIALIZED);
  trnStream_t stream = nullptr;
  EXPECT_EQ(trnsparseGetStream(sparse, &stream), TRNSPARSE_STATUS_NOT_INITIALIZED);
  trntensorTensorDescriptor_t descriptor = nullptr;
  const std::int64_t extent = 4;
  EXPECT_EQ(trntensorCreateTensorDescriptor(tensor, &descriptor, 1, &extent, nullptr, TRN_R_32F, 128),
            TRNTENSOR_STATUS_NOT_INITIALIZED);
}

// Memory that nobody wrote: the simulator refuses to compute with it, at once or, queued, at the next synchronisation.
TEST(Statuses, AProgramThatFailsIsExecutionFailed) {
  const On device("sim:trn2");
  trnblasHandle_t handle = nullptr;
  ASSERT_EQ(trnblasCreate(&handle), 0);
  void* never = nullptr;
  ASSERT_EQ(trnMalloc(&never, 64 * 64 * sizeof(float)), trnSuccess);
  const Mem<float> b(std::vector<float>(64 * 64, 1)), c(std::vector<float>(64 * 64, 1));
  const float one = 1, zero = 0;
  const auto product = [&](const float* a) {
    return trnblasSgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, 64, 64, 64, &one, a, 64, b, 64, &zero, c, 64);
  };
  EXPECT_EQ(product(static_cast<float*>(never)), TRNBLAS_STATUS_EXECUTION_FAILED);
  EXPECT_NE(std::string(trnGetLastErrorText()), "");
  EXPECT_EQ(product(b), TRNBLAS_STATUS_SUCCESS) << trnGetLastErrorText();  // known from now on: queued
  EXPECT_EQ(product(static_cast<float*>(never)), TRNBLAS_STATUS_SUCCESS);
  EXPECT_EQ(trnDeviceSynchronize(), trnErrorIllegalAddress);
  EXPECT_EQ(trnDeviceSynchronize(), trnSuccess);
  EXPECT_EQ(c.get()[5], 64);
  trnFree(never), trnblasDestroy(handle);
}

TEST(Statuses, MemoryForWorkThatIsNotThereIsAllocFailed) {
  const On device("sim:trn2");
  trnblasHandle_t handle = nullptr;
  ASSERT_EQ(trnblasCreate(&handle), 0);
  const Mem<double> a(std::vector<double>(64 * 64, 1)), c(std::vector<double>(64 * 64, 1));
  // All that is left of the device's memory, in halves down to a page.
  std::vector<void*> taken;
  for (std::size_t bytes = std::size_t{1} << 40; bytes >= 4096;) {
    void* p = nullptr;
    if (trnMalloc(&p, bytes) == trnSuccess)
      taken.push_back(p);
    else
      bytes /= 2;
  }
  const double one = 1, zero = 0;
  EXPECT_EQ(trnblasDgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, 64, 64, 64, &one, a, 64, a, 64, &zero, c, 64),
            TRNBLAS_STATUS_ALLOC_FAILED)
      << trnGetLastErrorText();
  for (void* p : taken) EXPECT_EQ(trnFree(p), trnSuccess);
  EXPECT_EQ(trnblasDgemm(handle, TRNBLAS_OP_N, TRNBLAS_OP_N, 64, 64, 64, &one, a, 64, a, 64, &zero, c, 64),
            TRNBLAS_STATUS_SUCCESS)
      << trnGetLastErrorText();
  EXPECT_EQ(c.get()[7], 64);
  trnblasDestroy(handle);
}

// What goes wrong in a stream is the status of the call that waits for it, in the words of that call's library: memory
// that is not there, a program of the device that fails, and what nobody expected.
TEST(Statuses, OfEveryLibraryForWhatFailsBeforeIt) {
  const On device("sim:trn2");
  trnStream_t stream = nullptr;
  ASSERT_EQ(trnStreamCreateWithFlags(&stream, trnStreamNonBlocking), trnSuccess);
  trnblasHandle_t blas = nullptr;
  trnfftHandle fft = 0;
  trnrandGenerator_t rand = nullptr;
  trnsolverDnHandle_t solver = nullptr;
  trnsparseHandle_t sparse = nullptr;
  trntensorHandle_t tensor = nullptr;
  ASSERT_EQ(trnblasCreate(&blas), 0);
  ASSERT_EQ(trnblasSetStream(blas, stream), 0);
  ASSERT_EQ(trnfftPlan1d(&fft, 8, TRNFFT_C2C, 1), 0);
  ASSERT_EQ(trnfftSetStream(fft, stream), 0);
  ASSERT_EQ(trnrandCreateGenerator(&rand, TRNRAND_RNG_PSEUDO_PHILOX4_32_10), 0);
  ASSERT_EQ(trnrandSetStream(rand, stream), 0);
  ASSERT_EQ(trnsolverDnCreate(&solver), 0);
  ASSERT_EQ(trnsolverDnSetStream(solver, stream), 0);
  ASSERT_EQ(trnsparseCreate(&sparse), 0);
  ASSERT_EQ(trnsparseSetStream(sparse, stream), 0);
  ASSERT_EQ(trntensorCreate(&tensor), 0);

  const Mem<float> x(std::vector<float>(16, 1)), y(std::vector<float>(16, 0));
  const Mem<int> ints(std::vector<int>{0, 1, 2, 3, 4}), info(std::vector<int>(1));
  const float one = 1, zero = 0;
  trnsparseSpMatDescr_t matrix = nullptr;
  trnsparseDnVecDescr_t in = nullptr, out = nullptr;
  ASSERT_EQ(trnsparseCreateCsr(&matrix, 4, 4, 4, ints, ints, x, TRNSPARSE_INDEX_32I, TRNSPARSE_INDEX_32I,
                               TRNSPARSE_INDEX_BASE_ZERO, TRN_R_32F),
            0);
  ASSERT_EQ(trnsparseCreateDnVec(&in, 4, x, TRN_R_32F), 0);
  ASSERT_EQ(trnsparseCreateDnVec(&out, 4, y, TRN_R_32F), 0);
  trntensorTensorDescriptor_t t = nullptr;
  trntensorOperationDescriptor_t permutation = nullptr;
  trntensorPlanPreference_t preference = nullptr;
  trntensorPlan_t plan = nullptr;
  const std::int64_t extents[] = {4};
  const std::int32_t modes[] = {'i'};
  ASSERT_EQ(trntensorCreateTensorDescriptor(tensor, &t, 1, extents, nullptr, TRN_R_32F, 128), 0);
  ASSERT_EQ(trntensorCreatePermutation(tensor, &permutation, t, modes, TRNTENSOR_OP_IDENTITY, t, modes,
                                       TRNTENSOR_COMPUTE_DESC_32F),
            0);
  ASSERT_EQ(trntensorCreatePlanPreference(tensor, &preference, TRNTENSOR_ALGO_DEFAULT, TRNTENSOR_JIT_MODE_NONE), 0);
  ASSERT_EQ(trntensorCreatePlan(tensor, &plan, permutation, preference, 0), 0);

  // A product of memory that was never written, queued once its kernel is known.
  void* never = nullptr;
  ASSERT_EQ(trnMalloc(&never, 16 * sizeof(float)), trnSuccess);
  const auto product = [&](const float* a) {
    return trnblasSgemm(blas, TRNBLAS_OP_N, TRNBLAS_OP_N, 4, 4, 4, &one, a, 4, x, 4, &zero, y, 4);
  };
  ASSERT_EQ(product(x), 0) << trnGetLastErrorText();
  const auto host = [&](void (*work)(void*)) { EXPECT_EQ(trnLaunchHostFunc(stream, work, nullptr), trnSuccess); };
  const auto memory = [&] { host([](void*) { throw std::bad_alloc(); }); };
  const auto program = [&] { EXPECT_EQ(product(static_cast<float*>(never)), 0) << trnGetLastErrorText(); };
  const auto unexpected = [&] { host([](void*) { throw std::runtime_error("nobody expected this"); }); };

  float sum = 0;
  const auto expect = [&](const char* library, const auto& call, int allocation, int execution, int internal) {
    EXPECT_EQ(static_cast<int>(call()), 0) << library << ": " << trnGetLastErrorText();
    memory();
    EXPECT_EQ(static_cast<int>(call()), allocation) << library;
    program();
    EXPECT_EQ(static_cast<int>(call()), execution) << library;
    unexpected();
    EXPECT_EQ(static_cast<int>(call()), internal) << library;
    EXPECT_NE(std::string(trnGetLastErrorText()).find("nobody expected this"), std::string::npos) << library;
    EXPECT_EQ(static_cast<int>(call()), 0) << library << ": " << trnGetLastErrorText();
  };
  auto* const signal = reinterpret_cast<trnComplex*>(static_cast<float*>(x));
  expect(
      "runtime", [&] { return trnStreamSynchronize(stream); }, 2, 700, 999);
  expect(
      "trnblas", [&] { return trnblasSasum(blas, 4, x, 1, &sum); }, 3, 13, 14);
  expect(
      "trnfft", [&] { return trnfftExecC2C(fft, signal, signal, -1); }, 2, 6, 5);
  expect(
      "trnrand", [&] { return trnrandGenerateUniform(rand, y, 16); }, 102, 201, 999);
  expect(
      "trnsolver", [&] { return trnsolverDnSpotrf(solver, TRNBLAS_FILL_MODE_LOWER, 1, y, 1, nullptr, 0, info); }, 2, 6,
      7);
  expect(
      "trnsparse",
      [&] {
        return trnsparseSpMV(sparse, TRNSPARSE_OPERATION_NON_TRANSPOSE, &one, matrix, in, &zero, out, TRN_R_32F,
                             TRNSPARSE_SPMV_ALG_DEFAULT, nullptr);
      },
      2, 6, 7);
  expect(
      "trntensor", [&] { return trntensorPermute(tensor, plan, &one, x, y, stream); }, 3, 13, 14);

  trntensorDestroyPlan(plan), trntensorDestroyPlanPreference(preference);
  trntensorDestroyOperationDescriptor(permutation), trntensorDestroyTensorDescriptor(t), trntensorDestroy(tensor);
  trnsparseDestroySpMat(matrix), trnsparseDestroyDnVec(in), trnsparseDestroyDnVec(out), trnsparseDestroy(sparse);
  trnsolverDnDestroy(solver), trnrandDestroyGenerator(rand), trnfftDestroy(fft), trnblasDestroy(blas);
  trnFree(never), trnStreamDestroy(stream);
}

}  // namespace
