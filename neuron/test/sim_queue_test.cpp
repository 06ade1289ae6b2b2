// The simulator behind its caller: the order of runs, copies and frees, and where failures come up.
#include <gtest/gtest.h>

#include <array>
#include <condition_variable>
#include <mutex>
#include <trn/core/array.hpp>
#include <trn/core/stream.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/launch.hpp>

namespace trn::neuron {
namespace {

using namespace trn::tile;

constexpr std::int64_t kRows = 8, kColumns = 16;

struct Twice {
  bool operator==(const Twice&) const = default;
};
// y = x + x
Program twice_program(const Twice&, const Machine& machine) {
  Builder b("twice", machine);
  const Access x = b.input("x", DType::Float32, {kRows, kColumns}),
               y = b.output("y", DType::Float32, {kRows, kColumns}), t = b.sbuf("t", kRows, {kColumns}, DType::Float32),
               u = b.sbuf("u", kRows, {kColumns}, DType::Float32);
  b.dma_copy(t, x);
  b.tensor_tensor(u, t, t, AluOp::Add);
  b.dma_copy(y, u);
  return b.finish();
}

void twice(const Executor& e, const Array<float>& x, const Array<float>& y) {
  launch(e, twice_program, Twice{}, {{"x", x.data()}, {"y", y.data()}});
}

// Holds up the device's queue: the listener of the first Run waits until open() is called.
class Gate {
 public:
  explicit Gate(const Executor& e) : executor_(e) {
    id_ = e.backend().events().subscribe([this](const Event& event) {
      if (event.kind != EventKind::Run) return;
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return open_; });
    });
  }
  ~Gate() {
    open();
    executor_.backend().drain();
    executor_.backend().events().unsubscribe(id_);
  }
  void open() {
    const std::scoped_lock lock(mutex_);
    open_ = true;
    changed_.notify_all();
  }

 private:
  Executor executor_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
  int id_;
};

std::vector<float> filled(float value) { return std::vector<float>(kRows * kColumns, value); }

TEST(SimQueue, RunsReturnBeforeTheyAreDone) {
  const Executor e = open_simulator("trn2", {.queued = true});
  const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
  const Array<float> y(e, {kRows, kColumns}), z(e, {kRows, kColumns});
  {
    Gate gate(e);  // without a queue the first run would never return
    twice(e, x, y);
    twice(e, y, z);
  }
  EXPECT_EQ(z.to_host(), filled(4));
  EXPECT_GT(e.backend().clock(), 0);
}

TEST(SimQueue, CopiesAndFreesKeepTheirPlaces) {
  const Executor e = open_simulator("trn2", {.queued = true});
  const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
  const Array<float> y(e, {kRows, kColumns});
  {
    Gate gate(e);
    auto gone = Array<float>::from_host(e, {kRows, kColumns}, filled(5));
    twice(e, x, y);
    twice(e, gone, y);  // reads it before it is freed and before x changes
    std::vector<float> other = filled(3);
    copy(View<const float>(Executor::host(), other.data(), {kRows, kColumns}), gone.view());
    other = filled(99);  // the copy has taken its values
    copy(gone.view(), x.view());
    { const Array<float> temporary = std::move(gone); }
    gate.open();
  }
  EXPECT_EQ(y.to_host(), filled(10));
  EXPECT_EQ(x.to_host(), filled(3));
}

// Copies within a device take the DMA engines' time, the same with and without a queue: 16 engines move a share each,
// and copies in a row pay the way to the first byte and the end once.
TEST(SimQueue, CopiesWithinTheDeviceTakeTime) {
  const Machine& m = machine("trn2");
  constexpr std::int64_t kBytes = 1 << 20;
  const double transfer =
                   m.timing.dma_run_overhead_s + static_cast<double>(kBytes / 16) / m.timing.dma_engine_bytes_per_s,
               first = m.timing.dma_start_s + transfer + m.timing.dma_end_s;
  ASSERT_GT(transfer, m.timing.dge_static_s);
  for (const bool queued : {false, true}) {
    const Executor e = open_simulator("trn2", {.queued = queued});
    const Array<float> from = Array<float>::from_host(e, {kBytes / 4}, std::vector<float>(kBytes / 4, 3)),
                       to(e, {kBytes / 4}), other(e, {kBytes / 4});
    const Recorder recorder(e);
    copy(from.view(), to.view());
    EXPECT_NEAR(recorder.modelled_seconds(), first, 1e-15) << queued;
    copy(to.view(), other.view());
    EXPECT_NEAR(recorder.modelled_seconds(), first + transfer, 1e-15) << queued;
    EXPECT_EQ(recorder.count(EventKind::Run, "copy_within"), 2);
    EXPECT_NEAR(e.backend().clock(), first + transfer, 1e-15);
    EXPECT_EQ(other.to_host(), std::vector<float>(kBytes / 4, 3));
  }
}

TEST(SimQueue, MemoryThatIsOnItsWayBackCanBeHadAgain) {
  const Executor e = open_simulator("trn1", {.queued = true});
  const std::int64_t all_of_it = machine("trn1").hbm_bytes_per_stack();
  for (int i = 0; i < 3; ++i) EXPECT_NO_THROW(const Buffer whole(e, all_of_it));
}

TEST(SimQueue, FailuresComeUpAtCopiesOutAndSynchronizeWithTheProgramsName) {
  for (const bool by_copy : {false, true}) {
    const Executor e = open_simulator("trn2", {.queued = true});
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
    const Array<float> never_written(e, {kRows, kColumns}), y(e, {kRows, kColumns}), z(e, {kRows, kColumns});
    const Recorder recorder(e);
    twice(e, never_written, y);
    twice(e, x, z);  // behind a failure: not started
    copy(x.view(), y.view());
    e.backend().drain();
    try {
      if (by_copy) {
        (void)x.to_host();
      } else {
        e.synchronize();
      }
      FAIL() << "the failure is lost";
    } catch (const DeviceError& error) {
      EXPECT_EQ(error.check(), "uninitialised-read");
      EXPECT_NE(std::string(error.what()).find("program 'twice'"), std::string::npos) << error.what();
      EXPECT_EQ(error.recovery(), Recovery::Retry);
    }
    EXPECT_EQ(recorder.count(EventKind::Run, "twice"), 0);
    // Afterwards everything works again, and copies were made all the same.
    EXPECT_NO_THROW(e.synchronize());
    EXPECT_EQ(y.to_host(), filled(1));
    twice(e, x, z);
    EXPECT_EQ(z.to_host(), filled(2));
  }
}

TEST(SimQueue, WhatTheCallerDidWrongIsThrownAtOnce) {
  const Executor e = open_simulator("trn2", {.queued = true});
  const Array<float> x(e, {kRows, kColumns}), small(e, {1});
  EXPECT_THROW(twice(e, x, small), DeviceError);
  EXPECT_THROW(launch(e, twice_program, Twice{}, {{"x", x.data()}}), InvalidArgument);
  EXPECT_NO_THROW(e.synchronize());
}

TEST(SimQueue, BothWaysGiveTheSameBitsEventsAndTimes) {
  std::array<std::vector<Event>, 2> events;
  std::array<std::vector<float>, 2> values;
  for (const bool queued : {false, true}) {
    const Executor e = open_simulator("trn2", {.queued = queued});
    const Recorder recorder(e);
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1.5F));
    const Array<float> y(e, {kRows, kColumns});
    twice(e, x, y);
    {
      const PurposeScope probe(Purpose::Probe);
      twice(e, y, x);
    }
    twice(e, x, y);
    values[queued] = y.to_host();
    events[queued] = recorder.events();
    std::erase_if(events[queued], [](const Event& event) { return event.kind != EventKind::Run; });
  }
  EXPECT_EQ(values[0], values[1]);
  ASSERT_EQ(events[0].size(), 3u);
  ASSERT_EQ(events[1].size(), 3u);
  double clock = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    for (const auto& list : events) {
      EXPECT_EQ(list[i].subject, "twice");
      EXPECT_EQ(list[i].purpose, i == 1 ? Purpose::Probe : Purpose::Operation);
      EXPECT_EQ(list[i].begin, clock);
      EXPECT_EQ(list[i].end, clock + list[i].modelled_seconds);
      EXPECT_GT(list[i].modelled_seconds, 0);
    }
    EXPECT_EQ(events[0][i].modelled_seconds, events[1][i].modelled_seconds);
    clock = events[0][i].end;
  }
}

TEST(SimQueue, MarkersHaveTheDevicesClock) {
  for (const bool queued : {false, true}) {
    const Executor e = open_simulator("trn2", {.queued = queued});
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, filled(1));
    const Array<float> y(e, {kRows, kColumns});
    const Recorder recorder(e);
    Stream stream(e);
    const Marker before = stream.mark();
    stream.enqueue([&] { twice(e, x, y); });
    const Marker after = stream.mark();
    stream.synchronize();
    EXPECT_EQ(before.seconds(), 0);
    EXPECT_EQ(after.seconds() - before.seconds(), recorder.modelled_seconds());
    EXPECT_EQ(recorder.events().back().queue, stream.number());
  }
}

// A rank that waits for others: its clock goes on to the given time, and never back.
TEST(SimClock, PassesTime) {
  for (const bool queued : {false, true}) {
    const Executor e = open_simulator("trn2", {.queued = queued});
    const auto x = Array<float>::from_host(e, {kRows, kColumns}, std::vector<float>(kRows * kColumns, 1));
    const Array<float> y(e, {kRows, kColumns});
    Recorder recorder(e);
    twice(e, x, y);
    e.synchronize();
    const double ran = e.backend().clock();
    e.backend().pass_time({EventKind::Collective, "barrier"}, ran + 1);
    e.synchronize();
    EXPECT_NEAR(e.backend().clock(), ran + 1, 1e-12) << queued;
    EXPECT_NEAR(recorder.modelled_seconds(), ran + 1, 1e-12) << queued;
    e.backend().pass_time({EventKind::Collective, "barrier"}, ran);
    e.synchronize();
    EXPECT_NEAR(e.backend().clock(), ran + 1, 1e-12) << queued;
    const std::vector<Event> events = recorder.events();
    EXPECT_EQ(events.back().modelled_seconds, 0) << queued;
    EXPECT_EQ(recorder.count(EventKind::Collective, "barrier"), 2) << queued;
  }
}

}  // namespace
}  // namespace trn::neuron
