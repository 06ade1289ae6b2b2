// Streams and markers: order, waiting, failures, and that whoever waits helps.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <thread>
#include <trn/core/error.hpp>
#include <trn/core/stream.hpp>
#include <trn/core/work_queue.hpp>
#include <vector>

namespace trn {
namespace {

TEST(WorkQueue, PiecesHappenInOrderOneAtATime) {
  WorkQueue queue;
  std::vector<int> seen;
  std::atomic<int> inside = 0, most = 0;
  for (int i = 0; i < 1000; ++i) {
    EXPECT_EQ(queue.add([&, i] {
      most = std::max(most.load(), ++inside);
      seen.push_back(i);
      --inside;
    }),
              static_cast<std::uint64_t>(i + 1));
    if (i % 37 == 0) queue.wait(static_cast<std::uint64_t>(i / 2));
  }
  queue.drain();
  std::vector<int> want(1000);
  std::iota(want.begin(), want.end(), 0);
  EXPECT_EQ(seen, want);
  EXPECT_EQ(most, 1);
}

// The queue's thread has to wake up for a piece; whoever waits is awake, and does it first sooner or later.
TEST(WorkQueue, WaitersHelp) {
  WorkQueue queue;
  std::thread::id did;
  for (int round = 0; round < 10000 && did != std::this_thread::get_id(); ++round) {
    queue.wait(queue.add([&] { did = std::this_thread::get_id(); }));
  }
  EXPECT_EQ(did, std::this_thread::get_id());
}

TEST(WorkQueue, APieceDoesNotWaitForItself) {
  WorkQueue queue;
  bool done = false;
  queue.add([&] {
    queue.drain();
    done = true;
  });
  queue.drain();
  EXPECT_TRUE(done);
}

TEST(WorkQueue, TheLastPiecesAreDoneBeforeItGoes) {
  std::atomic<int> done = 0;
  {
    WorkQueue queue;
    for (int i = 0; i < 100; ++i) queue.add([&] { ++done; });
  }
  EXPECT_EQ(done, 100);
}

TEST(Stream, WorkOfTwoStreamsMeetsAtMarkers) {
  for (int round = 0; round < 100; ++round) {
    Stream a(Executor::host()), b(Executor::host());
    std::vector<int> order;  // touched by both, never at the same time
    a.enqueue([&] { order.push_back(1); });
    const Marker first = a.mark();
    b.wait(first);
    b.enqueue([&] { order.push_back(2); });
    const Marker second = b.mark();
    a.wait(second);
    a.enqueue([&] { order.push_back(3); });
    a.synchronize();
    EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
    EXPECT_TRUE(first.reached() && second.reached());
    EXPECT_LE(first.seconds(), second.seconds());
    EXPECT_TRUE(a.idle());
  }
}

TEST(Stream, AFailureStopsTheStreamUntilItIsTold) {
  Stream stream(Executor::host());
  int after = 0;
  stream.enqueue([] { fail<InvalidArgument>("first"); });
  stream.enqueue([&] { ++after; });
  stream.enqueue([] { fail<InvalidArgument>("second"); });
  const Marker marker = stream.mark();
  marker.synchronize();
  EXPECT_TRUE(marker.reached());
  try {
    stream.synchronize();
    FAIL() << "the failure is lost";
  } catch (const InvalidArgument& e) {
    EXPECT_STREQ(e.what(), "first");
  }
  EXPECT_EQ(after, 0);
  stream.enqueue([&] { ++after; });
  EXPECT_NO_THROW(stream.synchronize());
  EXPECT_EQ(after, 1);
}

TEST(Stream, MarkersThatWereNeverRecordedAreReached) {
  const Marker never;
  EXPECT_TRUE(never.reached());
  never.synchronize();
  EXPECT_THROW((void)never.seconds(), InvalidArgument);
  Stream stream(Executor::host());
  stream.wait(never);
  stream.synchronize();
}

TEST(Stream, ItsOwnWorkCannotWaitForIt) {
  Stream stream(Executor::host());
  stream.enqueue([&] { stream.synchronize(); });
  EXPECT_THROW(stream.synchronize(), InvalidArgument);
}

TEST(Stream, MarkersOutliveTheirStream) {
  Marker marker;
  {
    Stream stream(Executor::host());
    stream.enqueue([] {});
    marker = stream.mark();
  }
  marker.synchronize();
  EXPECT_TRUE(marker.reached());
}

TEST(Stream, EventsCarryTheStreamAndThePurposeOfWhoAsked) {
  const Executor host = Executor::host();
  const Recorder recorder(host);
  Stream stream(host);
  const auto tell = [host](const char* what) { host.backend().events().emit({EventKind::Run, what}); };
  {
    const PurposeScope probe(Purpose::Probe);
    stream.enqueue([=] { tell("probe"); });
  }
  stream.enqueue([=] { tell("stream"); });
  stream.synchronize();
  tell("caller");
  const std::vector<Event> events = recorder.events();
  ASSERT_EQ(events.size(), 3u);
  EXPECT_EQ(events[0].purpose, Purpose::Probe);
  EXPECT_EQ(events[0].queue, stream.number());
  EXPECT_EQ(events[1].purpose, Purpose::Operation);
  EXPECT_EQ(events[1].queue, stream.number());
  EXPECT_EQ(events[2].queue, 0);
  EXPECT_GT(stream.number(), 0);
}

}  // namespace
}  // namespace trn
