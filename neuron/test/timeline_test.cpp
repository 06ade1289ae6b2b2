// The event model against times worked out by hand from the machine table. Every expectation is spelled in the terms of
// the model: t(...) is a duration in microseconds after the launch.
#include <gtest/gtest.h>

#include <trn/neuron/sim.hpp>
#include <trn/tile/builder.hpp>

namespace trn::neuron {
namespace {

using namespace trn::tile;

constexpr auto F32 = DType::Float32, BF16 = DType::BFloat16;
// trn2, microseconds: launch and finish, semaphore, DMA start and end, trigger time by descriptor source, latencies.
constexpr double kLaunch = 13.3, kFinish = 1.7, kSemaphore = 0.035, kDmaStart = 1.3, kSoftwareStart = 2.0,
                 kDmaEnd = 0.5, kHardware = 0.62, kStatic = 0.03, kSoftware = 0.58, kVectorLatency = 88.0 / 960,
                 kTensorLatency = 0.16, kScalarLatency = 0.11;
constexpr DmaOptions kStaticDma{.dge = DgeMode::Static};

// 128 rows over 16 engines: 8 rows each, 4.7 ns and 23 B/ns out of HBM, 27.2 out of SBUF.
double transfer(double row_bytes) { return 8 * (0.0047 + row_bytes / 23000); }
double store(double row_bytes) { return 8 * (0.0047 + row_bytes / 27200); }
double vector(double cycles) { return std::max(64.0, cycles + 60) / 960; }
double scalar(double cycles) { return std::max(64.0, cycles + 54) / 1200; }
double function(double cycles) { return scalar(cycles + 140); }
double gpsimd(double cycles) { return (150 + cycles) / 1200; }

struct Span {
  double begin, end;
};

// One span per executed instruction, in microseconds, and the whole report.
struct Timed {
  RunReport report;
  std::vector<Span> spans;
  double total() const { return report.seconds * 1e6; }
};
Timed timed(Builder& b) {
  const Program program = b.finish();
  Timed t{estimate(program, b.machine(), {.keep_intervals = program.dynamic_instructions()}), {}};
  for (const Interval& i : t.report.intervals) t.spans.push_back({i.begin_s * 1e6, i.end_s * 1e6});
  return t;
}

constexpr double kTolerance = 1e-6;  // microseconds

TEST(Timeline, OneLoad) {
  Builder b("p", machine("trn2"));
  b.dma_copy(b.sbuf("t", 128, {512}, F32), b.input("x", F32, {128, 512}));
  const Timed t = timed(b);
  EXPECT_NEAR(transfer(2048), 0.7499478, 1e-7);
  EXPECT_NEAR(t.total(), kLaunch + kDmaStart + transfer(2048) + kDmaEnd + kFinish, kTolerance);
  EXPECT_NEAR(t.report.dma_active_seconds * 1e6, transfer(2048), kTolerance);
}

TEST(Timeline, AStoreWaitsForItsLoad) {
  Builder b("p", machine("trn2"));
  const Access tile = b.sbuf("t", 128, {512}, F32);
  b.dma_copy(tile, b.input("x", F32, {128, 512}));
  b.dma_copy(b.output("y", F32, {128, 512}), tile);
  const double load = kDmaStart + transfer(2048) + kDmaEnd, out = kDmaStart + store(2048) + kDmaEnd;
  EXPECT_NEAR(timed(b).total(), kLaunch + load + kSemaphore + out + kFinish, kTolerance);
}

TEST(Timeline, TransfersOfTwoRingsShareTheEngines) {
  Builder b("p", machine("trn2"));
  b.dma_copy(b.sbuf("s", 128, {512}, F32), b.input("x", F32, {128, 512}), kStaticDma);
  b.dma_copy(b.sbuf("t", 128, {512}, F32), b.input("y", F32, {128, 512}), kStaticDma);
  const Timed t = timed(b);
  EXPECT_NEAR(t.spans[1].begin, kDmaStart, kTolerance);  // issued at once, on its own ring
  EXPECT_NEAR(t.total(), kLaunch + kDmaStart + 2 * transfer(2048) + kDmaEnd + kFinish, kTolerance);
}

// Ten loads of `columns` fp32 columns on one ring; microseconds of the whole.
double ten_loads(DgeMode dge, std::int64_t columns) {
  Builder b("p", machine("trn2"));
  const Access x = b.input("x", F32, {10, 128, columns});
  b.parallel("i", 10, [&](const Affine& i) {
    b.dma_copy(b.sbuf("t", 128, {columns}, F32, 10), x(ds(i, 1), all, all), {.dge = dge});
  });
  return timed(b).total() - kLaunch - kFinish;
}

TEST(Timeline, TransfersOf32KiBAreBoundByTheirTriggers) {
  const double one = transfer(256);
  EXPECT_NEAR(ten_loads(DgeMode::Hardware, 64), 9 * kHardware + kDmaStart + one + kDmaEnd, kTolerance);
  EXPECT_NEAR(ten_loads(DgeMode::Software, 64), 9 * kSoftware + kSoftwareStart + one + kDmaEnd, kTolerance);
  EXPECT_NEAR(ten_loads(DgeMode::Static, 64), kDmaStart + 10 * one + kDmaEnd, kTolerance);  // the engines are the limit
}

// 512 bytes are not worth sixteen descriptor lists: one engine moves all 128 rows.
TEST(Timeline, TinyTransfersUseOneEngine) {
  EXPECT_NEAR(ten_loads(DgeMode::Static, 1), kDmaStart + 10 * 128 * (0.0047 + 4 / 23000.0) + kDmaEnd, kTolerance);
}

TEST(Timeline, LargeTransfersFollowOneAnotherWithoutGaps) {
  Builder b("p", machine("trn2"));
  const Access x = b.input("x", F32, {3, 128, 4096});
  b.parallel("i", 3, [&](const Affine& i) { b.dma_copy(b.sbuf("t", 128, {4096}, F32, 3), x(ds(i, 1), all, all)); });
  EXPECT_NEAR(timed(b).total(), kLaunch + kDmaStart + 3 * transfer(16384) + kDmaEnd + kFinish, kTolerance);
}

// load, a long computation, store, an unrelated load: where does the second load start?
double second_load(DmaOptions store) {
  Builder b("p", machine("trn2"));
  const Access x = b.input("x", F32, {128, 2048}), y = b.output("y", F32, {128, 2048});
  const Access s = b.sbuf("s", 128, {2048}, F32), t = b.sbuf("t", 128, {2048}, F32);
  b.dma_copy(s, x);
  b.reciprocal(s, s);
  b.dma_copy(y, s, store);
  b.dma_copy(t, x);
  return timed(b).spans[3].begin;
}

TEST(Timeline, AStoreThatWaitsDoesNotHoldUpLoads) {
  const double x = transfer(8192);
  EXPECT_NEAR(second_load({}), kDmaStart + x, kTolerance);  // right behind the first load
  // On the ring of the loads it does: it starts when the reciprocal (8 cycles per element) is visible.
  const double reciprocal_end = kDmaStart + x + kDmaEnd + kSemaphore + vector(8 * 2048);
  const double store_start = reciprocal_end + kVectorLatency + kSemaphore;
  EXPECT_NEAR(second_load({.dge = DgeMode::Hardware, .ring = 0}), store_start + kDmaStart + store(8192), kTolerance);
}

// Two iterations of load and reciprocal: when does the second load's first byte move?
double second_iteration(std::int64_t buffers) {
  Builder b("p", machine("trn2"));
  const Access x = b.input("x", F32, {2, 128, 512});
  const Access sink = b.sbuf("sink", 128, {512}, F32);
  b.sequential("i", 2, [&](const Affine& i) {
    const Access t = b.sbuf("t", 128, {512}, F32, buffers);
    b.dma_copy(t, x(ds(i, 1), all, all));
    b.reciprocal(sink, t);
  });
  return timed(b).spans[2].begin;
}

TEST(Timeline, OneBufferWaitsForItsReaderTwoDoNot) {
  EXPECT_NEAR(second_iteration(2), kDmaStart + transfer(2048), kTolerance);  // triggered before, moved behind the first
  const double reader_end = kDmaStart + transfer(2048) + kDmaEnd + kSemaphore + vector(8 * 512);
  EXPECT_NEAR(second_iteration(1), reader_end + kSemaphore + kDmaStart, kTolerance);
}

// An engine takes its next instruction before the result of the last is there; who needs the result waits for the
// latency and a semaphore, on the same engine too.
TEST(Timeline, OccupancyAndLatencyAreTwoThings) {
  Builder b("p", machine("trn2"));
  const Access s = b.sbuf("s", 128, {512}, F32), t = b.sbuf("t", 128, {512}, F32), u = b.sbuf("u", 128, {512}, F32);
  b.memset(s, 1.0, Engine::Vector);     // 512 / 2 cycles
  b.tensor_copy(t, s, Engine::Vector);  // needs the result
  b.memset(u, 1.0, Engine::Vector);     // back to back
  b.tensor_copy(u, t, Engine::Scalar);  // WAW on u
  const Timed r = timed(b);
  const double wait = kVectorLatency + kSemaphore;
  const double first = vector(256), second = first + wait + vector(256), third = second + vector(256);
  EXPECT_NEAR(r.spans[1].begin, first + wait, kTolerance);
  EXPECT_NEAR(r.spans[2].begin, second, kTolerance);
  EXPECT_NEAR(r.spans[3].begin, third + wait, kTolerance);
  EXPECT_NEAR(r.spans[3].end - r.spans[3].begin, scalar(512), kTolerance);
}

// Where an unrelated copy on the Scalar Engine starts that stands behind a store.
double copy_behind_store(DmaOptions store) {
  Builder b("p", machine("trn2"));
  const Access y = b.output("y", F32, {128, 512});
  const Access s = b.sbuf("s", 128, {512}, F32), t = b.sbuf("t", 128, {64}, F32), u = b.sbuf("u", 128, {64}, F32);
  b.memset(t, 1.0, Engine::GpSimd);
  b.memset(s, 1.0, Engine::Vector);
  b.dma_copy(y, s, store);
  b.tensor_copy(u, t, Engine::Scalar);
  return timed(b).spans[3].begin;
}

// Stores with hardware descriptors are triggered by the Scalar Engine: they wait in its queue and hold up what follows.
TEST(Timeline, AStoreHoldsUpTheScalarEngine) {
  const double operands = gpsimd(64) + 0.1 + kSemaphore, trigger = vector(256) + kVectorLatency + kSemaphore;
  EXPECT_NEAR(copy_behind_store({}), trigger + kHardware, kTolerance);
  EXPECT_NEAR(copy_behind_store({.dge = DgeMode::Hardware, .ring = 0}), operands, kTolerance);  // by the Sync Engine
  EXPECT_NEAR(copy_behind_store({.dge = DgeMode::Hardware, .issuer = DmaIssuer::Sync}), operands, kTolerance);
  EXPECT_NEAR(copy_behind_store({.dge = DgeMode::Hardware, .ring = 0, .issuer = DmaIssuer::Scalar}),
              trigger + kHardware, kTolerance);
  EXPECT_NEAR(copy_behind_store({.dge = DgeMode::Static}), operands, kTolerance);
}

// When a load is triggered that stands behind a store, and needs nothing of it.
double load_behind_store(DmaOptions store, DmaOptions load) {
  Builder b("p", machine("trn2"));
  const Access x = b.input("x", F32, {128, 64}), y = b.output("y", F32, {128, 512});
  const Access s = b.sbuf("s", 128, {512}, F32), t = b.sbuf("t", 128, {64}, F32);
  b.memset(s, 1.0, Engine::Vector);
  b.dma_copy(y, s, store);
  b.dma_copy(t, x, load);
  return timed(b).spans[2].begin - kDmaStart;
}

// The Sync Engine triggers in order too, whichever rings its copies use.
TEST(Timeline, AStoreHoldsUpTheSyncEngineThatTriggersIt) {
  const double trigger = vector(256) + kVectorLatency + kSemaphore;
  EXPECT_NEAR(load_behind_store({}, {}), 0, kTolerance);  // the store waits in the Scalar Engine's queue
  const DmaOptions by_sync{.dge = DgeMode::Hardware, .issuer = DmaIssuer::Sync};
  EXPECT_NEAR(load_behind_store(by_sync, {}), trigger + kHardware, kTolerance);
  EXPECT_NEAR(load_behind_store(by_sync, {.dge = DgeMode::Hardware, .issuer = DmaIssuer::Scalar}), 0, kTolerance);
  EXPECT_NEAR(load_behind_store(by_sync, {.dge = DgeMode::Static}), 0, kTolerance);
}

TEST(Timeline, AccumulationIsPipelinedReadingItIsNot) {
  Builder b("p", machine("trn2"));
  const Access s = b.sbuf("s", 128, {128}, BF16), m = b.sbuf("m", 128, {512}, BF16),
               out = b.sbuf("out", 128, {512}, F32);
  const Access acc = b.psum("acc", 128, {512});
  b.memset(s, 1.0, Engine::GpSimd);
  b.memset(m, 1.0, Engine::GpSimd);
  b.nc_matmul(acc, s, m);
  b.nc_matmul(acc, s, m, {.accumulate = 1});
  b.tensor_copy(out, acc, Engine::Vector);
  const Timed r = timed(b);
  EXPECT_NEAR(r.spans[3].begin, r.spans[2].end, kTolerance);
  EXPECT_NEAR(r.spans[2].end - r.spans[2].begin, 2 * (512 + 9.7) / 2400, kTolerance);  // cold: half the rate
  EXPECT_NEAR(r.spans[4].begin, r.spans[3].end + kTensorLatency + kSemaphore, kTolerance);
  EXPECT_NEAR(r.spans[4].end - r.spans[4].begin, vector(512), kTolerance);  // one element a cycle out of PSUM
  EXPECT_DOUBLE_EQ(r.report.matmul_flops, 2.0 * 2 * 128 * 128 * 512);
  EXPECT_NEAR(r.report.throttled_seconds * 1e6, 4 * (512 + 9.7) / 2400, kTolerance);
}

TEST(Timeline, AnotherActivationFunctionLoadsItsTable) {
  Builder b("p", machine("trn2"));
  const Access t = b.sbuf("t", 128, {1200}, F32);
  b.memset(t, 1.0, Engine::GpSimd);
  for (const ActFunction f :
       {ActFunction::Exp, ActFunction::Exp, ActFunction::Tanh, ActFunction::Copy, ActFunction::Tanh})
    b.activation(t, f, t);
  const Timed r = timed(b);
  const double table = 1.28, wait = kScalarLatency + kSemaphore;
  // The first table is there before the operand: both take longer than the other's queue.
  EXPECT_NEAR(r.spans[1].begin, table, kTolerance);
  for (const std::size_t i : {1, 2, 3, 5})
    EXPECT_NEAR(r.spans[i].end - r.spans[i].begin, function(1200), kTolerance) << i;
  EXPECT_NEAR(r.spans[4].end - r.spans[4].begin, scalar(1200), kTolerance);  // a copy is no function
  const double gaps[] = {wait, table, wait, wait};  // another table is loaded while the result of the last gets there
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(r.spans[i + 2].begin - r.spans[i + 1].end, gaps[i], kTolerance) << i;
}

// Where the second of two unrelated instructions starts, with the end of the first.
Span second_start(const char* machine_name, bool psum) {
  Builder b("p", machine(machine_name));
  if (psum) {
    const Access p = b.psum("p", 128, {512}), q = b.psum("q", 128, {512});
    const Access s = b.sbuf("s", 128, {512}, F32), t = b.sbuf("t", 128, {512}, F32);
    b.tensor_copy(s, p, Engine::Vector);
    b.activation(t, ActFunction::Copy, q);
  } else {
    b.memset(b.sbuf("s", 128, {512}, F32), 1.0, Engine::Vector);
    b.memset(b.sbuf("t", 128, {512}, F32), 1.0, Engine::GpSimd);
  }
  const Timed r = timed(b);
  return {r.spans[1].begin, r.spans[0].end};
}

TEST(Timeline, EnginesOfTrn1TakeTurnsOnTheirPorts) {
  for (const bool psum : {false, true}) {
    EXPECT_EQ(second_start("trn2", psum).begin, 0);
    const Span trn1 = second_start("trn1", psum);
    EXPECT_GT(trn1.end, 0);
    EXPECT_EQ(trn1.begin, trn1.end);
  }
}

TEST(Timeline, LaunchIsPaidOnce) {
  Builder b("p", machine("trn2"));
  b.memset(b.sbuf("t", 128, {600}, F32), 0, Engine::GpSimd);
  const Timed r = timed(b);
  EXPECT_NEAR(r.total(), kLaunch + gpsimd(600) + 0.1 + kFinish, kTolerance);
  EXPECT_NEAR(r.report.launch_seconds * 1e6, kLaunch, kTolerance);
  EXPECT_NEAR(r.report.finish_seconds * 1e6, kFinish, kTolerance);
  EXPECT_NEAR(r.report.benchmark_seconds * 1e6, 8.3 + gpsimd(600) + 0.1, kTolerance);  // another kind of measurement
}

TEST(Timeline, CountsBytesAndInstructions) {
  Builder b("p", machine("trn2"));
  const Access x = b.input("x", BF16, {4, 128, 64}), y = b.output("y", BF16, {4, 128, 32});
  b.parallel("i", 4, [&](const Affine& i) {
    const Access t = b.sbuf("t", 128, {64}, BF16, 2);
    b.dma_copy(t, x(ds(i, 1), all, all));
    b.dma_copy(y(ds(i, 1), all, all), t(all, ds(0, 32)));
  });
  const Timed r = timed(b);
  EXPECT_EQ(r.report.hbm_read_bytes, 4 * 128 * 64 * 2);
  EXPECT_EQ(r.report.hbm_write_bytes, 4 * 128 * 32 * 2);
  EXPECT_EQ(r.report.instructions, 8);
  EXPECT_EQ(r.report.lanes.size(), 6U);  // four engines, two rings
}

// GpSimd issues a software-made DMA and goes on; what it then overwrites must still have been read.
TEST(Timeline, ASoftwareDmaFinishesAfterItsIssue) {
  Builder b("p", machine("trn2"));
  const Access y = b.output("y", F32, {128, 4096});
  const Access t = b.sbuf("t", 128, {4096}, F32), u = b.sbuf("u", 128, {64}, F32);
  b.memset(t, 1.0, Engine::Vector);
  b.dma_copy(y, t, {.dge = DgeMode::Software});
  b.memset(u, 2.0, Engine::GpSimd);
  b.memset(t, 2.0, Engine::GpSimd);
  const Timed r = timed(b);
  const double issue = vector(2048) + kVectorLatency + kSemaphore, end = issue + kSoftwareStart + store(16384);
  EXPECT_NEAR(r.spans[1].end - r.spans[1].begin, kSoftware, kTolerance);
  EXPECT_NEAR(r.spans[2].begin, end - kSoftwareStart - kSoftware, kTolerance);
  EXPECT_NEAR(r.spans[3].begin, end + kSemaphore, kTolerance);
}

TEST(Timeline, KeepsOnlyTheIntervalsAskedFor) {
  Builder b("p", machine("trn2"));
  const Access t = b.sbuf("t", 128, {64}, F32);
  b.sequential("i", 5, [&](const Affine&) { b.memset(t, 0, Engine::Vector); });
  const Program p = b.finish();
  EXPECT_EQ(estimate(p, machine("trn2"), {.keep_intervals = 3}).intervals.size(), 3U);
  const RunReport none = estimate(p, machine("trn2"));
  EXPECT_TRUE(none.intervals.empty());
  EXPECT_EQ(none.lanes[1].instructions, 5);
  EXPECT_NEAR(none.lanes[1].busy_s * 1e6, 5 * vector(32), kTolerance);
}

}  // namespace
}  // namespace trn::neuron
