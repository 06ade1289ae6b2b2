// Graphs and the memory that their steps use.
#include <atomic>
#include <thread>

#include <trnblas.h>
#include <trnsparse.h>

#include "mem.hpp"

namespace {

using capi_test::Mem, capi_test::On;

// Memory that is freed after the capture: the launch is refused, even where new memory lies at the same address. Steps
// are copies, products and sparse vectors, which look for their memory themselves.
TEST(Runtime, GraphsOfFreedMemoryAreRefused) {
  const On on("host");  // sparse vectors are for the host
  trnblasHandle_t blas;
  trnsparseHandle_t sparse;
  ASSERT_EQ(trnblasCreate(&blas), 0);
  ASSERT_EQ(trnsparseCreate(&sparse), 0);
  for (int step = 0; step < 4; ++step) {
    trnStream_t stream;
    trnGraph_t graph;
    trnGraphExec_t executable, outer;
    ASSERT_EQ(trnStreamCreate(&stream), trnSuccess);
    trnblasSetStream(blas, stream), trnsparseSetStream(sparse, stream);
    const Mem<float> kept(std::vector<float>{1, 2, 3, 4});
    const Mem<int> places(std::vector<int>{0, 3});
    void* gone = nullptr;
    ASSERT_EQ(trnMalloc(&gone, 16), trnSuccess);
    ASSERT_EQ(trnMemset(gone, 0, 16), trnSuccess);
    auto* const c = static_cast<float*>(gone);
    const float one = 1, zero = 0;
    trnsparseSpVecDescr_t x;
    trnsparseDnVecDescr_t y;
    ASSERT_EQ(trnsparseCreateSpVec(&x, 4, 2, places, kept, TRNSPARSE_INDEX_32I, TRNSPARSE_INDEX_BASE_ZERO, TRN_R_32F),
              0);
    ASSERT_EQ(trnsparseCreateDnVec(&y, 4, c, TRN_R_32F), 0);
    ASSERT_EQ(trnStreamBeginCapture(stream, trnStreamCaptureModeRelaxed), trnSuccess);
    if (step == 0) {
      EXPECT_EQ(trnMemsetAsync(gone, 1, 16, stream), trnSuccess);
    }
    if (step == 1) {
      EXPECT_EQ(trnMemcpyAsync(gone, kept, 16, trnMemcpyDeviceToDevice, stream), trnSuccess);
    }
    if (step == 2) {
      EXPECT_EQ(trnblasSgemm(blas, TRNBLAS_OP_N, TRNBLAS_OP_N, 2, 2, 2, &one, kept, 2, kept, 2, &zero, c, 2), 0)
          << trnGetLastErrorText();
    }
    if (step == 3) {
      EXPECT_EQ(trnsparseScatter(sparse, x, y), 0) << trnGetLastErrorText();
    }
    ASSERT_EQ(trnStreamEndCapture(stream, &graph), trnSuccess);
    ASSERT_EQ(trnGraphInstantiate(&executable, graph, 0), trnSuccess);
    EXPECT_EQ(trnGraphLaunch(executable, stream), trnSuccess);
    EXPECT_EQ(trnStreamSynchronize(stream), trnSuccess);
    std::vector<float> got(4);
    EXPECT_EQ(trnMemcpy(got.data(), gone, 16, trnMemcpyDeviceToHost), trnSuccess);
    const std::vector<std::vector<float>> wanted{{}, {1, 2, 3, 4}, {7, 10, 15, 22}, {1, 0, 0, 2}};
    if (step > 0) {
      EXPECT_EQ(got, wanted[static_cast<std::size_t>(step)]);
    }
    // A graph of the graph.
    ASSERT_EQ(trnStreamBeginCapture(stream, trnStreamCaptureModeRelaxed), trnSuccess);
    EXPECT_EQ(trnGraphLaunch(executable, stream), trnSuccess);
    trnGraphDestroy(graph);
    ASSERT_EQ(trnStreamEndCapture(stream, &graph), trnSuccess);
    ASSERT_EQ(trnGraphInstantiate(&outer, graph, 0), trnSuccess);
    EXPECT_EQ(trnFree(gone), trnSuccess);
    void* next = nullptr;
    if (step < 3) {
      ASSERT_EQ(trnMalloc(&next, 16), trnSuccess);
    }
    for (const auto launched : {executable, outer}) {
      const auto at_once = trnGraphLaunch(launched, stream), later = trnStreamSynchronize(stream);
      EXPECT_EQ(step < 3 ? at_once : later, trnErrorInvalidValue);
    }
    trnFree(next);
    trnGraphExecDestroy(executable), trnGraphExecDestroy(outer), trnGraphDestroy(graph), trnStreamDestroy(stream);
    trnsparseDestroySpVec(x), trnsparseDestroyDnVec(y);
  }
  trnblasDestroy(blas), trnsparseDestroy(sparse);
}

// One thread captures a stream again and again; another puts work into it, some kept and some done at once, and two
// share a handle on it. Every graph runs as often as it is launched.
TEST(Runtime, ThreadsShareAStreamThatIsCaptured) {
  const On on("host");
  int number = 0;
  trnGetDevice(&number);
  trnStream_t stream;
  trnblasHandle_t blas;
  ASSERT_EQ(trnStreamCreateWithFlags(&stream, trnStreamNonBlocking), trnSuccess);
  ASSERT_EQ(trnblasCreate(&blas), 0);
  ASSERT_EQ(trnblasSetStream(blas, stream), 0);
  const Mem<float> a(std::vector<float>(4096, 1.0F)), c(std::vector<float>(4096, 0.0F));
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&, t] {
      trnSetDevice(number);
      const float one = 1, zero = 0;
      for (int i = 0; i < 300; ++i) {
        const int n = i % 40 + 1;
        if (trnMemsetAsync(c, t, 16, stream) != trnSuccess) ++wrong;
        const int status = trnblasSgemm(blas, TRNBLAS_OP_N, TRNBLAS_OP_N, n, n, n, &one, a, n, a, n, &zero, c, n);
        if (status != 0 && status != TRNBLAS_STATUS_NOT_SUPPORTED) ++wrong;  // the first of a size is waited for
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    trnGraph_t graph;
    trnGraphExec_t executable;
    if (trnStreamBeginCapture(stream, trnStreamCaptureModeRelaxed) != trnSuccess) ++wrong;
    if (trnMemsetAsync(c, 0, 4, stream) != trnSuccess) ++wrong;
    if (trnStreamEndCapture(stream, &graph) != trnSuccess) ++wrong;
    if (trnGraphInstantiate(&executable, graph, 0) != trnSuccess) ++wrong;
    if (trnGraphLaunch(executable, stream) != trnSuccess) ++wrong;
    if (trnStreamSynchronize(stream) != trnSuccess) ++wrong;
    trnGraphExecDestroy(executable), trnGraphDestroy(graph);
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(trnStreamSynchronize(stream), trnSuccess);
  trnblasDestroy(blas), trnStreamDestroy(stream);
}

}  // namespace
