// Event delivery and the Recorder.
#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <thread>
#include <trn/core/event.hpp>
#include <trn/core/executor.hpp>

#include "scrambled_backend.hpp"

namespace trn {
namespace {

using testing_support::ScrambledDevice;

TEST(EventHub, DeliversInOrderOfSubscriptionUntilUnsubscribed) {
  EventHub hub;
  std::string heard;
  const int a = hub.subscribe([&](const Event& e) { heard += "a:" + e.subject + " "; });
  const int b = hub.subscribe([&](const Event& e) { heard += "b:" + e.subject + " "; });
  EXPECT_NE(a, b);
  hub.emit({EventKind::Run, "x"});
  hub.unsubscribe(a);
  hub.unsubscribe(a);  // a second time is harmless
  hub.emit({EventKind::Run, "y"});
  EXPECT_EQ(heard, "a:x b:x b:y ");
  EXPECT_TRUE(hub.has_listeners());
  hub.unsubscribe(b);
  EXPECT_FALSE(hub.has_listeners());
  hub.emit({EventKind::Run, "z"});
  EXPECT_EQ(heard, "a:x b:x b:y ");
}

TEST(EventHub, AListenerMayUseTheHub) {
  EventHub hub;
  int heard = 0;
  int id = -1;
  id = hub.subscribe([&](const Event& e) {
    ++heard;
    hub.unsubscribe(id);
    if (e.subject == "first") hub.emit({EventKind::Run, "nested"});
  });
  hub.emit({EventKind::Run, "first"});
  hub.emit({EventKind::Run, "second"});
  EXPECT_EQ(heard, 1);
}

TEST(EventHub, EmitsFromSeveralThreads) {
  ScrambledDevice device;
  Recorder recorder(device.executor);
  const auto emit_many = [&] {
    for (int i = 0; i < 1000; ++i) device.executor.backend().events().emit({EventKind::Run, "t"});
  };
  std::thread other(emit_many);
  emit_many();
  other.join();
  EXPECT_EQ(recorder.count(EventKind::Run), 2000);
}

TEST(EventKind, EveryKindHasItsOwnName) {
  std::set<std::string> names;
  for (const EventKind kind :
       {EventKind::Allocate, EventKind::Free, EventKind::Copy, EventKind::Constant, EventKind::Dispatch,
        EventKind::Build, EventKind::CacheHit, EventKind::Run, EventKind::Compile, EventKind::Load, EventKind::Unload,
        EventKind::Complete, EventKind::NumericalError, EventKind::Collective}) {
    names.insert(name(kind));
  }
  EXPECT_EQ(names.size(), 14u);
  EXPECT_STREQ(name(EventKind::Copy), "copy");
}

TEST(Recorder, AnswersFromWhatItHeard) {
  ScrambledDevice device, other("fake:1");
  EventHub& hub = device.executor.backend().events();
  hub.emit({EventKind::Run, "before the recorder"});
  Recorder recorder(device.executor);
  hub.emit({EventKind::Dispatch, "blas.gemm", "host"});
  hub.emit({EventKind::Dispatch, "blas.gemm", "device"});
  hub.emit({EventKind::Dispatch, "blas.axpy", "host"});
  hub.emit({EventKind::Run, "gemm", {}, 0, 0.25});
  hub.emit({EventKind::Run, "gemm", {}, 0, 0.5});
  hub.emit({EventKind::Build, "gemm", {}, 0, 100.0});  // not a run
  other.executor.backend().events().emit({EventKind::Run, "elsewhere"});

  EXPECT_EQ(recorder.events().size(), 6u);
  EXPECT_EQ(recorder.count(EventKind::Dispatch), 3);
  EXPECT_EQ(recorder.count(EventKind::Dispatch, "blas.gemm"), 2);
  EXPECT_EQ(recorder.count(EventKind::CacheHit), 0);
  EXPECT_EQ(recorder.family_of("blas.gemm"), "device");  // the last one wins
  EXPECT_EQ(recorder.family_of("blas.axpy"), "host");
  EXPECT_EQ(recorder.family_of("blas.dot"), "");
  EXPECT_EQ(recorder.modelled_seconds(), 0.75);
  recorder.clear();
  EXPECT_TRUE(recorder.events().empty());
  EXPECT_EQ(recorder.modelled_seconds(), 0.0);
}

TEST(Recorder, ProbesWarmUpsAndRepetitionsAreNotTheOperation) {
  ScrambledDevice device;
  EventHub& hub = device.executor.backend().events();
  const Recorder recorder(device.executor);
  const auto run = [&](double seconds) { hub.emit({EventKind::Run, "x", {}, 0, seconds}); };
  run(1);
  {
    const PurposeScope warm_up(Purpose::WarmUp);
    run(2);
    {
      const PurposeScope operation(Purpose::Operation), probe(Purpose::Probe);
      run(4);
    }
    const PurposeScope operation(Purpose::Operation);  // still a warm-up
    run(8);
  }
  {
    const PurposeScope repeat(Purpose::Repeat);
    run(16);
  }
  run(32);
  EXPECT_EQ(recorder.modelled_seconds(), 33);
  EXPECT_EQ(recorder.modelled_seconds(Purpose::WarmUp), 10);
  EXPECT_EQ(recorder.modelled_seconds(Purpose::Probe), 4);
  EXPECT_EQ(recorder.modelled_seconds(Purpose::Repeat), 16);
  EXPECT_EQ(recorder.count(EventKind::Run), 6);
}

TEST(Recorder, TimeThatTwoRunsShareCountsOnce) {
  ScrambledDevice device;
  EventHub& hub = device.executor.backend().events();
  const Recorder recorder(device.executor);
  const auto run = [&](double begin, double end) {
    Event event{EventKind::Run, "x", {}, 0, end - begin};
    event.begin = begin;
    event.end = end;
    hub.emit(event);
  };
  run(5, 6);  // told late
  run(0, 2);
  run(1, 4);
  run(3, 3.5);
  EXPECT_EQ(recorder.modelled_seconds(), 5);
}

TEST(Recorder, SurvivesItsExecutorAndDoesNotKeepIt) {
  std::optional<ScrambledDevice> device(std::in_place);
  const std::weak_ptr<Backend> backend = device->backend;
  Recorder recorder(device->executor);
  device->executor.backend().events().emit({EventKind::Run, "x"});
  device.reset();
  EXPECT_TRUE(backend.expired());
  EXPECT_EQ(recorder.count(EventKind::Run, "x"), 1);
}

TEST(Recorder, SeveralListenIndependently) {
  ScrambledDevice device;
  Recorder first(device.executor);
  {
    Recorder second(device.executor);
    device.executor.backend().events().emit({EventKind::Run, "x"});
    EXPECT_EQ(second.events().size(), 1u);
  }
  device.executor.backend().events().emit({EventKind::Run, "y"});
  EXPECT_EQ(first.events().size(), 2u);
}

}  // namespace
}  // namespace trn
