// What a warm launch costs on the host, in allocations and calls of the runtime; and what three runs in flight are good
// for, on the fake's virtual clock. Times are for launch_bench: no test here looks at a clock.
#include <gtest/gtest.h>

#include "silicon/allocations.hpp"
#include "silicon/programs.hpp"
#include "support/fake_nrt.hpp"

namespace trn::neuron::testing {
namespace {

TEST(NeuronCost, AWarmRunAllocatesNothingAndOnlySchedules) {
  FakeRuntime fake("null lag=0");
  const Executor e = open_fake();
  tile::Device& device = tile::device_of(e);
  const Array<float> x(e, {kRows, kColumns}), y(e, {kRows, kColumns}), z(e, {kRows, kColumns});
  const auto executable = tile::load(e, twice_program, Twice{});
  const std::vector<tile::Binding> there{{"x", static_cast<const void*>(x.data())},
                                         {"y", static_cast<void*>(y.data())}},
      back{{"x", static_cast<const void*>(y.data())}, {"y", static_cast<void*>(z.data())}};
  constexpr std::uint64_t kRuns = 1000;
  for (int i = 0; i < 10; ++i) {
    device.run(executable, there);
    device.run(executable, back);
  }
  const std::uint64_t calls = fake.count("calls"), scheduled = fake.count("nrta_execute_schedule"),
                      asked = fake.count("nrta_is_completed"), allocated = allocations();
  for (std::uint64_t i = 0; i < kRuns / 2; ++i) {
    device.run(executable, there);
    device.run(executable, back);
  }
  EXPECT_EQ(allocations() - allocated, 0u);
  EXPECT_EQ(fake.count("nrta_execute_schedule") - scheduled, kRuns);
  // The queue holds three: before the fourth the first is asked after, once.
  EXPECT_EQ(fake.count("nrta_is_completed") - asked, kRuns);
  EXPECT_EQ(fake.count("calls") - calls, 2 * kRuns);
  e.synchronize();
}

TEST(NeuronCost, CountingAllocationsFindsThem) {
  const std::uint64_t before = allocations();
  auto* made = new std::vector<int>(100);
  EXPECT_EQ(allocations() - before, 2u);
  delete made;
}

// Kernels of 50 us and 50 us of host work between: one after the other is 100 us each, overlapped 50.
TEST(NeuronCost, RunsInFlightOverlapWithTheHost) {
  const auto microseconds = [](bool waiting) {
    FakeRuntime fake("null kernel_us=50");
    const Executor e = open_fake();
    const Array<float> x(e, {kRows, kColumns}), y(e, {kRows, kColumns});
    twice(e, x, y);
    e.synchronize();
    const double begin = fake.clock();
    for (int i = 0; i < 200; ++i) {
      fake.work(50);
      twice(e, x, y);
      if (waiting) e.synchronize();
    }
    e.synchronize();
    return fake.clock() - begin;
  };
  const double one = microseconds(true), three = microseconds(false);
  std::printf("200 kernels: %.0f us one at a time, %.0f us with three in flight: %.2f times\n", one, three,
              one / three);
  EXPECT_GE(one / three, 1.8);
}

}  // namespace
}  // namespace trn::neuron::testing
