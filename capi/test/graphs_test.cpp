// Graphs and the memory that their steps use.
#include <atomic>
#include <cstdint>
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

// A capture that forks into a second stream by one event and joins by another, as programs with two streams have it.
TEST(Runtime, ACaptureForksAndJoins) {
  for (const char* executor : {"host", "sim:trn2"}) {
    const On on(executor);
    trnStream_t first, second, outside;
    trnEvent_t fork, join;
    trnGraph_t graph;
    trnGraphExec_t executable;
    ASSERT_EQ(trnStreamCreate(&first), trnSuccess);
    ASSERT_EQ(trnStreamCreate(&second), trnSuccess);
    ASSERT_EQ(trnStreamCreate(&outside), trnSuccess);
    ASSERT_EQ(trnEventCreate(&fork), trnSuccess);
    ASSERT_EQ(trnEventCreate(&join), trnSuccess);
    const Mem<std::uint8_t> a(8), b(8);
    const auto capture = [&](bool joins) {
      EXPECT_EQ(trnStreamBeginCapture(first, trnStreamCaptureModeGlobal), trnSuccess);
      EXPECT_EQ(trnMemsetAsync(a, 1, 8, first), trnSuccess);
      EXPECT_EQ(trnEventRecord(fork, first), trnSuccess);
      EXPECT_EQ(trnStreamWaitEvent(second, fork, 0), trnSuccess) << trnGetLastErrorText();
      trnStreamCaptureStatus status;
      EXPECT_EQ(trnStreamIsCapturing(second, &status), trnSuccess);
      EXPECT_EQ(status, trnStreamCaptureStatusActive);
      EXPECT_EQ(trnMemcpyAsync(b, a, 8, trnMemcpyDeviceToDevice, second), trnSuccess);
      EXPECT_EQ(trnEventRecord(join, second), trnSuccess);
      if (joins) {
        EXPECT_EQ(trnStreamWaitEvent(first, join, 0), trnSuccess);
      }
      EXPECT_EQ(trnMemsetAsync(a, 2, 8, first), trnSuccess);
      EXPECT_EQ(trnStreamEndCapture(second, &graph), trnErrorIllegalState);  // it began on the other
      EXPECT_EQ(trnEventSynchronize(fork), trnErrorCapturedEvent);
      return trnStreamEndCapture(first, &graph);
    };
    ASSERT_EQ(capture(true), trnSuccess) << trnGetLastErrorText();
    std::size_t nodes = 0;
    EXPECT_EQ(trnGraphGetNodes(graph, nullptr, &nodes), trnSuccess);
    EXPECT_EQ(nodes, 3U);
    ASSERT_EQ(trnGraphInstantiate(&executable, graph, 0), trnSuccess);
    EXPECT_EQ(trnGraphUpload(executable, first), trnSuccess);
    EXPECT_EQ(b.get(), std::vector<std::uint8_t>(8, 0));  // nothing ran yet
    EXPECT_EQ(trnGraphLaunch(executable, outside), trnSuccess);
    EXPECT_EQ(trnStreamSynchronize(outside), trnSuccess);
    EXPECT_EQ(b.get(), std::vector<std::uint8_t>(8, 1));
    EXPECT_EQ(a.get(), std::vector<std::uint8_t>(8, 2));
    // The second stream is free again, and so are the events.
    EXPECT_EQ(trnMemsetAsync(b, 9, 8, second), trnSuccess);
    EXPECT_EQ(trnStreamSynchronize(second), trnSuccess);
    EXPECT_EQ(b.get(), std::vector<std::uint8_t>(8, 9));
    EXPECT_EQ(trnStreamWaitEvent(second, join, 0), trnErrorCapturedEvent);  // its capture is over
    EXPECT_EQ(trnEventRecord(join, second), trnSuccess);
    EXPECT_EQ(trnEventSynchronize(join), trnSuccess);
    trnGraphExecDestroy(executable), trnGraphDestroy(graph);
    // Work that nobody waits for would be lost.
    EXPECT_EQ(capture(false), trnErrorStreamCaptureUnjoined);
    EXPECT_EQ(trnMemsetAsync(a, 5, 8, first), trnSuccess);
    EXPECT_EQ(trnStreamSynchronize(first), trnSuccess);
    EXPECT_EQ(a.get(), std::vector<std::uint8_t>(8, 5));
    EXPECT_EQ(trnStreamWaitEvent(nullptr, fork, 0), trnErrorCapturedEvent);
    trnEventDestroy(fork), trnEventDestroy(join);
    trnStreamDestroy(first), trnStreamDestroy(second), trnStreamDestroy(outside);
  }
}

// Fills by rows, memory that comes and goes in a stream, copies between devices, what a stream is.
TEST(Runtime, SmallFunctions) {
  const On on("sim:trn2");
  int number = 0, value = -1;
  trnGetDevice(&number);
  trnStream_t stream;
  ASSERT_EQ(trnStreamCreate(&stream), trnSuccess);
  void* memory = nullptr;
  ASSERT_EQ(trnMallocAsync(&memory, 12, stream), trnSuccess);
  ASSERT_EQ(trnMemset(memory, 7, 12), trnSuccess);
  EXPECT_EQ(trnMemset2D(memory, 4, 1, 2, 3), trnSuccess);
  EXPECT_EQ(trnMemset2DAsync(memory, 4, 2, 1, 3, stream), trnSuccess);
  EXPECT_EQ(trnMemset2D(memory, 1, 1, 2, 3), trnErrorInvalidPitchValue);
  EXPECT_EQ(trnMemset2D(memory, 4, 1, 4, 4), trnErrorInvalidValue);  // a row too many
  EXPECT_EQ(trnMemset2D(memory, SIZE_MAX, 1, 2, 3), trnErrorInvalidValue);
  std::vector<std::uint8_t> bytes(12);
  ASSERT_EQ(trnStreamSynchronize(stream), trnSuccess);
  EXPECT_EQ(trnMemcpy(bytes.data(), memory, 12, trnMemcpyDeviceToHost), trnSuccess);
  EXPECT_EQ(bytes, (std::vector<std::uint8_t>{2, 1, 7, 7, 2, 1, 7, 7, 2, 1, 7, 7}));
  {
    const Mem<std::uint8_t> mine(std::vector<std::uint8_t>{4, 5, 6});
    EXPECT_EQ(trnMemcpyPeer(memory, number, mine, number, 3), trnSuccess);
    EXPECT_EQ(trnMemcpyPeerAsync(memory, number, mine, number, 3, stream), trnSuccess);
    EXPECT_EQ(trnMemcpyPeer(memory, 99, mine, number, 3), trnErrorInvalidDevice);
    ASSERT_EQ(trnStreamSynchronize(stream), trnSuccess);
    EXPECT_EQ(trnMemcpy(bytes.data(), memory, 4, trnMemcpyDeviceToHost), trnSuccess);
    EXPECT_EQ(bytes[2], 6);
  }
  ASSERT_EQ(trnStreamBeginCapture(stream, trnStreamCaptureModeRelaxed), trnSuccess);
  void* other = nullptr;
  EXPECT_EQ(trnMallocAsync(&other, 12, stream), trnErrorNotSupported);
  EXPECT_EQ(trnFreeAsync(memory, stream), trnErrorNotSupported);
  trnGraph_t graph;
  ASSERT_EQ(trnStreamEndCapture(stream, &graph), trnSuccess);
  trnGraphDestroy(graph);
  EXPECT_EQ(trnFreeAsync(memory, stream), trnSuccess);
  EXPECT_EQ(trnFreeAsync(memory, stream), trnErrorInvalidValue);  // twice
  EXPECT_EQ(trnStreamGetPriority(stream, &value), trnSuccess);
  EXPECT_EQ(value, 0);
  EXPECT_EQ(trnStreamGetDevice(stream, &value), trnSuccess);
  EXPECT_EQ(value, number);
  unsigned long long one = 0, two = 0;
  EXPECT_EQ(trnStreamGetId(stream, &one), trnSuccess);
  EXPECT_EQ(trnStreamGetId(nullptr, &two), trnSuccess);
  EXPECT_NE(one, two);
  unsigned flags = 9;
  EXPECT_EQ(trnGetDeviceFlags(&flags), trnSuccess);
  EXPECT_EQ(flags, 0U);
  EXPECT_EQ(trnInitDevice(number, 0, 0), trnSuccess);
  EXPECT_EQ(trnInitDevice(99, 0, 0), trnErrorInvalidDevice);
  trnEvent_t event;
  ASSERT_EQ(trnEventCreate(&event), trnSuccess);
  EXPECT_EQ(trnEventRecordWithFlags(event, stream, 0), trnSuccess);
  EXPECT_EQ(trnEventRecordWithFlags(event, stream, 9), trnErrorInvalidValue);
  trnEventDestroy(event), trnStreamDestroy(stream);
}

}  // namespace
