// Graphs and the memory that their steps use.
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

}  // namespace
