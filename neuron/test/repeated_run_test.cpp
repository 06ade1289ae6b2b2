// A program that runs again: its modelled time is kept where it cannot differ, and the host memory behind SBUF and PSUM
// is handed from run to run. Neither may show.
#include <gtest/gtest.h>

#include <cstring>
#include <trn/core/array.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/shared_stack.hpp>

#include "sim/host_memory.hpp"

namespace trn::neuron {
namespace {

using namespace trn::tile;
using sim::ReusedBytes;

struct NoArguments {
  bool operator==(const NoArguments&) const = default;
};

// y = 2 x; `written` columns of the tile in between are written first, so that fewer than all is an error.
Program through_a_tile(const Machine& machine, std::int64_t written) {
  Builder b("through_a_tile", machine);
  const Access x = b.input("x", DType::Float32, {64, 32}), y = b.output("y", DType::Float32, {64, 32}),
               t = b.sbuf("t", 64, {32}, DType::Float32);
  b.dma_copy(t(all, ds(0, written)), x(all, ds(0, written)));
  b.tensor_scalar(t, t, AluOp::Multiply, 2.0, {.engine = Engine::Vector});
  b.dma_copy(y, t);
  return b.finish();
}

// y = 1, then a loop of `count` iterations, at most 8, that adds 1.
Program counted(const NoArguments&, const Machine& machine) {
  Builder b("counted", machine);
  const Access count = b.input("count", DType::Int32, {1}), y = b.output("y", DType::Float32, {1}),
               t = b.sbuf("t", 1, {1}, DType::Float32), n = b.sbuf("n", 1, {1}, DType::Int32);
  b.dma_copy(n, count);
  const Access r = b.register_alloc("r");
  b.register_load(r, n);
  b.memset(t, 1);
  b.fori_loop("i", r, 8, [&](const Affine&) { b.tensor_scalar(t, t, AluOp::Add, 1.0, {.engine = Engine::Vector}); });
  b.dma_copy(y, t);
  return b.finish();
}

Program whole_tile(const NoArguments&, const Machine& machine) { return through_a_tile(machine, 32); }

TEST(RepeatedRun, KeepsTimeAndTrafficOfTheFirst) {
  for (const bool queued : {false, true}) {
    const Executor e = open_simulator("trn2", {.queued = queued});
    Device& device = device_of(e);
    const auto executable = load(e, whole_tile, NoArguments{});
    const RunReport model = estimate(executable->program(), device.machine());
    const Array<float> y(e, {64, 32});
    double before = 0;
    for (int run = 1; run <= 3; ++run) {
      const auto x = Array<float>::from_host(e, {64, 32}, std::vector<float>(64 * 32, static_cast<float>(run)));
      launch(e, executable, std::vector<Argument>{{"x", x.data()}, {"y", y.data()}});
      EXPECT_EQ(y.to_host(), std::vector<float>(64 * 32, 2.0f * static_cast<float>(run)));
      EXPECT_DOUBLE_EQ(device.clock() - before, model.seconds) << run;
      before = device.clock();
    }
    const auto traffic = static_cast<double>(model.hbm_read_bytes + model.hbm_write_bytes);
    EXPECT_EQ(dynamic_cast<SharedStack&>(device).hbm_bytes(), 3 * traffic);
  }
}

// Where a register decides how much runs, every run is timed.
TEST(RepeatedRun, ALoopOfTheDeviceIsTimedAgain) {
  const Executor e = open_simulator("trn2");
  Device& device = device_of(e);
  const auto executable = load(e, counted, NoArguments{});
  const Array<float> y(e, {1});
  std::vector<double> seconds;
  double before = 0;
  for (const std::int32_t count : {0, 6, 2, 6}) {
    const auto n = Array<std::int32_t>::from_host(e, {1}, std::vector<std::int32_t>{count});
    launch(e, executable, std::vector<Argument>{{"count", n.data()}, {"y", y.data()}});
    EXPECT_EQ(y.to_host()[0], 1.0f + static_cast<float>(count));
    seconds.push_back(device.clock() - before);
    before = device.clock();
  }
  EXPECT_LT(seconds[0], seconds[2]);
  EXPECT_LT(seconds[2], seconds[1]);
  EXPECT_DOUBLE_EQ(seconds[1], seconds[3]);
}

// The second program gets the memory of the first, in which every byte was written: its own tile counts as unwritten.
TEST(RepeatedRun, WhatAnotherRunWroteIsNotInitialised) {
  const Executor e = open_simulator("trn2");
  const auto x = Array<float>::from_host(e, {64, 32}, std::vector<float>(64 * 32, 3));
  const Array<float> y(e, {64, 32});
  const auto run = [&](std::int64_t written) -> std::string {
    try {
      launch(e, through_a_tile(device_of(e).machine(), written),
             std::vector<Argument>{{"x", x.data()}, {"y", y.data()}});
      e.synchronize();
    } catch (const DeviceError& error) {
      return error.check();
    }
    return "";
  };
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(run(32), "");
    EXPECT_EQ(run(31), "uninitialised-read");
  }
}

TEST(ReusedBytes, AreHandedOnUnlessZerosAreAskedFor) {
  constexpr std::int64_t kBytes = 100'000;
  std::byte* first = nullptr;
  {
    const ReusedBytes a(kBytes, false);
    first = a.data();
    std::memset(first, 7, kBytes);
  }
  {
    const ReusedBytes b(kBytes, false), other(kBytes, false);
    EXPECT_EQ(b.data(), first);
    EXPECT_NE(other.data(), first);
  }
  const ReusedBytes zero(kBytes, true);
  for (std::int64_t i = 0; i < kBytes; ++i) ASSERT_EQ(zero.data()[i], std::byte{0}) << i;
}

TEST(LazyBytes, AreZeroWhereverTheyComeFrom) {
  for (const std::int64_t bytes : {0, 1, 100, (128 << 10) - 1, 128 << 10, 1 << 20}) {
    for (int round = 0; round < 3; ++round) {
      const sim::LazyBytes a(bytes);
      for (std::int64_t i = 0; i < bytes; ++i) ASSERT_EQ(a.data()[i], std::byte{0}) << bytes << " " << i;
      if (bytes > 0) std::memset(a.data(), 7, static_cast<std::size_t>(bytes));
    }
  }
}

}  // namespace
}  // namespace trn::neuron
