// Names of groups, what a rank's threads are, and ranks on devices.
#include <omp.h>

#include <trn/comm/group.hpp>
#include <trn/comm/matrix.hpp>
#include <trn/comm/settings.hpp>
#include <trn/core/parallel.hpp>
#include <trn/neuron/sim.hpp>

#include <atomic>
#include <set>
#include <thread>

#include "ranks.hpp"
#include "support/message_of.hpp"

namespace trn::comm {
namespace {

using namespace testing_support;
using trn::testing_support::message_of;

TEST(Group, Names) {
  for (const char* name : {"hostx4", "host x 4", " hostx4 "}) {
    const Group group = Group::open(name);
    ASSERT_EQ(group.size(), 4) << name;
    for (int r = 0; r < 4; ++r) EXPECT_TRUE(group.executor(r) == Executor::host());
  }
  const Group chip = Group::open("sim:trn2x8");
  ASSERT_EQ(chip.size(), 8);
  EXPECT_EQ(chip.name(), "sim:trn2x8");
  for (int r = 0; r < 8; ++r) {
    EXPECT_EQ(chip.executor(r).name(), "sim:trn2");
    for (int s = 0; s < r; ++s) EXPECT_FALSE(chip.executor(r) == chip.executor(s));  // memories of their own
  }
  EXPECT_EQ(Group::open("sim:trn1x2").size(), 2);
  EXPECT_EQ(Group::open("sim:trn2x8x16").size(), 128);
  EXPECT_EQ(Group::open("sim:trn3x3x2").size(), 6);
  EXPECT_EQ(Group::open("sim:trn2x8:lnc1").size(), 8);
  const Group pairs = Group::open("sim:trn2x8x16 : lnc2");
  EXPECT_EQ(pairs.size(), 64);
  EXPECT_EQ(pairs.placement().ranks, 4);
  EXPECT_EQ(pairs.placement().lnc, 2);
  EXPECT_EQ(pairs.placement().place(5), (tile::Placement::Place{0, 1, 2}));
}

TEST(Group, RefusesOtherNames) {
  const auto refused = [](const char* name) {
    const std::string text = message_of<InvalidArgument>([&] { (void)Group::open(name); });
    EXPECT_IN("group: '" + std::string(name) + "'", text);
    EXPECT_IN("hostx4", text);
    EXPECT_IN("sim:trn2x8x16", text);
    EXPECT_EQ(text.find('\n'), std::string::npos);
    return text;
  };
  for (const char* name :
       {"", "x4", "gpux4", "sim:trn9x4", "neuron:0-7", "sim:x4", "hosts", "sim:trn2x8:lnc2y", "sim:trn2:lnc2x8"}) {
    (void)refused(name);
  }
  EXPECT_IN("cannot be opened here", refused("neuron:0-7"));
  EXPECT_IN("where the number of a core", refused("neuron:"));
  EXPECT_IN("where the number of a core", refused("neuron:0-"));
  EXPECT_IN("where the number of a core", refused("neuron:a-b"));
  EXPECT_IN("ends before it begins", refused("neuron:3-1"));
  EXPECT_IN("core 2 twice", refused("neuron:0-3,2"));
  EXPECT_IN("more than 1024", refused("neuron:0-5000"));
  EXPECT_IN("how many ranks", refused("host"));
  EXPECT_IN("how many ranks", refused("sim:trn2"));
  EXPECT_IN("where a number of ranks", refused("hostx"));
  EXPECT_IN("where a number of ranks", refused("hostx0"));
  EXPECT_IN("where a number of ranks", refused("hostx-2"));
  EXPECT_IN("where a number of ranks", refused("hostx4.5"));
  EXPECT_IN("where a number of ranks", refused("hostx99999999999999999999"));
  EXPECT_IN("where a number of ranks", refused("sim:trn2x8x"));
  EXPECT_IN("2 numbers", refused("hostx4x2"));
  EXPECT_IN("3 numbers", refused("sim:trn2x8x2x2"));
  EXPECT_IN("lnc1 or lnc2", refused("sim:trn2x8:lnc3"));
  EXPECT_IN("no whole pairs", refused("sim:trn2x7:lnc2"));
  EXPECT_IN("a rank of trn1 is one core", refused("sim:trn1x2:lnc2"));
  EXPECT_IN("where a number of ranks", refused("hostx4:lnc2"));
  EXPECT_IN("16 cores of a chip that has 8", refused("sim:trn2x16"));
  EXPECT_IN("more than 1024 ranks", refused("hostx1025"));
  EXPECT_IN("more than 1024 ranks", refused("sim:trn2x8x2000000000"));
  EXPECT_IN("no executors", message_of<InvalidArgument>([] { (void)Group(std::vector<Executor>{}); }));
}

TEST(Run, RanksWorkAlone) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(3);
  std::mutex mutex;
  std::set<std::thread::id> threads;
  on_ranks(4, [&](const Communicator&) {
    EXPECT_EQ(omp_get_max_threads(), 1);
    EXPECT_EQ(loop_threads(), 1);
    // Loops of several ranks at once neither wait for each other nor lose pieces.
    std::atomic<int> pieces = 0;
    parallel_for(1000, true, [&](std::int64_t) { ++pieces; });
    EXPECT_EQ(pieces, 1000);
    const std::scoped_lock lock(mutex);
    threads.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads.size(), 4u);
  EXPECT_EQ(omp_get_max_threads(), 3);  // the caller's own is as it was
  on_ranks(4,
           [&](const Communicator& c) {
             for (int t = 0; t < 50; ++t) {
               std::atomic<int> pieces = 0;
               omp_set_num_threads(3);
               parallel_for(100, true, [&](std::int64_t) { ++pieces; });
               EXPECT_EQ(pieces, 100);
               barrier(c);
             }
           },
           {.watchdog_seconds = 60, .one_thread_per_rank = false});
  omp_set_num_threads(before);
}

TEST(Run, PassesOnWhatTheWorkIsFor) {
  const PurposeScope scope(Purpose::WarmUp);
  on_ranks(2, [](const Communicator&) { EXPECT_EQ(current_purpose(), Purpose::WarmUp); });
}

TEST(Run, WithinARank) {
  on_ranks(2, [](const Communicator& c) {
    on_ranks(3, [&](const Communicator& inner) { EXPECT_EQ(sum(inner, 1), 3); });
    EXPECT_EQ(sum(c, 1), 2);
  });
}

TEST(Run, RefusesAWatchdogWithoutTime) {
  EXPECT_IN("must be positive",
            message_of<InvalidArgument>([] { on_ranks(2, [](const Communicator&) {}, {.watchdog_seconds = -1}); }));
  ASSERT_EQ(setenv("TRN_COMM_TIMEOUT", "soon", 1), 0);
  EXPECT_IN("TRN_COMM_TIMEOUT is 'soon'",
            message_of<InvalidArgument>([] { on_ranks(2, [](const Communicator&) {}, {}); }));
  ASSERT_EQ(setenv("TRN_COMM_TIMEOUT", "0.5", 1), 0);
  EXPECT_IN("within 0.5 s", message_of<CommError>([] {
              on_ranks(2,
                       [](const Communicator& c) {
                         const Communicator other = c.split(0);
                         c.rank() == 0 ? barrier(c) : barrier(other);
                       },
                       {});
            }));
  ASSERT_EQ(unsetenv("TRN_COMM_TIMEOUT"), 0);
}

// MPI's ranks take the same two.
TEST(Settings, OfTheEnvironment) {
  EXPECT_EQ(watchdog_seconds(0), 300);
  EXPECT_EQ(watchdog_seconds(7.5), 7.5);
  EXPECT_EQ(watchdog_seconds(1e30), 1e8);
  EXPECT_IN("must be positive", message_of<InvalidArgument>([] { (void)watchdog_seconds(-1); }));
  for (const char* wrong : {"-3", "0", "10 s", "nan"}) {
    ASSERT_EQ(setenv("TRN_COMM_TIMEOUT", wrong, 1), 0);
    EXPECT_IN("it must be seconds, above 0", message_of<InvalidArgument>([] { (void)watchdog_seconds(0); }));
  }
  ASSERT_EQ(setenv("TRN_COMM_TIMEOUT", "", 1), 0);
  EXPECT_EQ(watchdog_seconds(0), 300);
  ASSERT_EQ(unsetenv("TRN_COMM_TIMEOUT"), 0);
  EXPECT_TRUE(compares_calls());
  ASSERT_EQ(setenv("TRN_COMM_CHECK", "0", 1), 0);
  EXPECT_FALSE(compares_calls());
  ASSERT_EQ(setenv("TRN_COMM_CHECK", "no", 1), 0);
  EXPECT_IN("TRN_COMM_CHECK is 'no'; it must be 0 or 1", message_of<InvalidArgument>([] { (void)compares_calls(); }));
  ASSERT_EQ(unsetenv("TRN_COMM_CHECK"), 0);
}

// Device memory is staged through the host: one Copy event for each view that goes out or comes in.
TEST(Devices, CollectivesOnDeviceMemory) {
  for (const char* name : {"sim:trn1x2", "sim:trn2x4", "sim:trn3x2x3"}) {
    run(Group::open(name), [](const Communicator& c, const Executor& e) {
      const int p = c.size();
      const std::vector<float> mine{1.0f * c.rank(), 2, 3};
      const auto a = trn::Array<float>::from_host(e, {3}, mine);
      const trn::Array<float> all(e, {p, 3});
      const Recorder recorder(e);
      all_gather(c, a.view(), all.view());
      EXPECT_EQ(recorder.count(EventKind::Copy), 2);  // out and in
      EXPECT_EQ(recorder.count(EventKind::Copy, e.name() + " -> host"), 1);
      EXPECT_EQ(recorder.count(EventKind::Copy, "host -> " + e.name()), 1);
      const std::vector<float> got = all.to_host();
      for (int r = 0; r < p; ++r) {
        EXPECT_EQ(got[static_cast<std::size_t>(3 * r)], static_cast<float>(r));
        EXPECT_EQ(got[static_cast<std::size_t>(3 * r + 2)], 3.0f);
      }
      const Recorder again(e);
      broadcast(c, 1, a.view());
      EXPECT_EQ(again.count(EventKind::Copy), 1);  // out of the root, into the others
      EXPECT_EQ(a.to_host(), (std::vector<float>{1, 2, 3}));
      // Every second element of device memory; between two devices and between a device and the host.
      const auto gaps = trn::Array<float>::from_host(e, {4}, std::vector<float>{1.0f * c.rank(), -1, 5, -1});
      float both[2] = {0, 0};
      send_receive(c, (c.rank() + 1) % p, View<float>(e, gaps.data(), {2}, {2}), (c.rank() + p - 1) % p,
                   View<float>(Executor::host(), both, {2}));
      EXPECT_EQ(both[0], static_cast<float>((c.rank() + p - 1) % p));
      EXPECT_EQ(both[1], 5.0f);
      maximum(c, View<float>(e, gaps.data(), {2}, {2}));
      EXPECT_EQ(gaps.to_host(), (std::vector<float>{1.0f * (p - 1), -1, 5, -1}));
    });
  }
}

TEST(Devices, MatricesMoveWithOneCopyEachWay) {
  run(Group::open("sim:trn2x4"), [](const Communicator& c, const Executor& e) {
    const dist::Matrix<float> a(c, e, {20, 30, 3, 4, {2, 2}});
    a.fill([](std::int64_t i, std::int64_t j) { return static_cast<float>(100 * i + j); });
    const Recorder recorder(e);
    const auto b = a.redistributed({20, 30, 5, 30, {4, 1}});
    EXPECT_EQ(recorder.count(EventKind::Copy), 2);
    EXPECT_EQ(recorder.count(EventKind::Run), 0);
    EXPECT_TRUE(b.executor() == e);
    const std::vector<float> all = b.to_host();
    for (std::size_t i = 0; i < 20; ++i) {
      for (std::size_t j = 0; j < 30; ++j) ASSERT_EQ(all[i * 30 + j], static_cast<float>(100 * i + j));
    }
  });
}

TEST(Devices, OneThatIsFullIsKnownToAll) {
  const Group group = Group::open("sim:trn2x4");
  run(group, [](const Communicator& c, const Executor& e) {
    // Rank 3 is to have two tebibytes, more than a device holds; the others nothing.
    const std::int64_t huge = std::int64_t{1} << 38;
    const std::string text = message_of<DeviceError>([&] {
      const dist::Array<double> a(c, e, {{huge}, {{{0}, {0}}, {{0}, {0}}, {{0}, {0}}, {{0}, {huge}}}});
    });
    EXPECT_EQ(text.substr(0, 8), "rank 3: ");
    EXPECT_EQ(sum(c, 1), 4);
  });
}

}  // namespace
}  // namespace trn::comm
