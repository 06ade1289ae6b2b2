// Clocks of ranks: a collective operation sets all of them to the latest plus its cost, on every group and in every
// order, and cores that share an HBM stack share its memory and its bandwidth.
#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <trn/comm/ahead.hpp>
#include <trn/comm/collectives.hpp>
#include <trn/comm/group.hpp>
#include <trn/comm/matrix.hpp>
#include <trn/comm/modelled.hpp>
#include <trn/core/array.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/builder.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/shared_stack.hpp>

#include "ranks.hpp"

namespace trn::comm {
namespace {

using tile::CollectiveKind;

// y = x + x for `tiles` tiles of 128 x 512.
struct Twice {
  std::int64_t tiles = 1;
  bool operator==(const Twice&) const = default;
};
tile::Program twice_program(const Twice& shape, const tile::Machine& machine) {
  tile::Builder b("twice", machine);
  const tile::Access x = b.input("x", DType::Float32, {128, 512}), y = b.output("y", DType::Float32, {128, 512});
  const tile::Access t = b.sbuf("t", 128, {512}, DType::Float32), u = b.sbuf("u", 128, {512}, DType::Float32);
  for (std::int64_t i = 0; i < shape.tiles; ++i) {
    b.dma_copy(t, x);
    b.tensor_tensor(u, t, t, tile::AluOp::Add);
    b.dma_copy(y, u);
  }
  return b.finish();
}
void work(const Executor& e, std::int64_t tiles) {
  const auto x = Array<float>::from_host(e, {128, 512}, std::vector<float>(128 * 512, 1));
  const Array<float> y(e, {128, 512});
  tile::launch(e, twice_program, Twice{tiles}, {{"x", x.data()}, {"y", y.data()}});
  e.synchronize();
}

struct Times {
  std::mutex mutex;
  std::vector<double> before, after;
  explicit Times(int ranks) : before(static_cast<std::size_t>(ranks)), after(before) {}
  void set(std::vector<double>& list, const Communicator& c, const Executor& e) {
    const std::scoped_lock lock(mutex);
    list[static_cast<std::size_t>(c.rank())] = e.backend().clock();
  }
};

TEST(RankClock, CollectivesMeetAtTheLatestPlusTheirCost) {
  const Group group = Group::open("sim:trn2x8");
  ASSERT_NE(group.fabric(), nullptr);
  EXPECT_EQ(group.fabric()->name, "trn2");
  Times times(8);
  std::vector<int> told(8);
  run(group, [&](const Communicator& c, const Executor& e) {
    Recorder recorder(e);
    work(e, 1 + c.rank() % 3);
    times.set(times.before, c, e);
    const auto mine = Array<float>::from_host(e, {1024}, std::vector<float>(1024, static_cast<float>(c.rank())));
    const Array<float> all(e, {8, 1024});
    all_gather(c, View<const float>(mine.view()), all.view());
    times.set(times.after, c, e);
    told[static_cast<std::size_t>(c.rank())] = recorder.count(EventKind::Collective, "all_gather mesh");
    for (const Event& event : recorder.events()) {
      if (event.kind != EventKind::Collective) continue;
      EXPECT_EQ(event.bytes, 7 * 4096);
      EXPECT_NEAR(event.end, event.begin + event.modelled_seconds, 1e-12);
    }
  });
  const double cost =
      tile::collective_cost(tile::fabric("trn2"), CollectiveKind::AllGather, 8 * 4096, {.per_chip = 8}).seconds();
  const double latest = *std::max_element(times.before.begin(), times.before.end());
  EXPECT_LT(*std::min_element(times.before.begin(), times.before.end()), latest);
  for (int r = 0; r < 8; ++r) {
    EXPECT_NEAR(times.after[static_cast<std::size_t>(r)], latest + cost, 1e-12) << r;
    EXPECT_EQ(told[static_cast<std::size_t>(r)], 1);
  }
}

TEST(RankClock, PartsHaveTheirOwnMeetings) {
  const Group group = Group::open("sim:trn2x4x2");
  Times times(8);
  run(group, [&](const Communicator& c, const Executor& e) {
    const Communicator column = c.split(c.rank() % 4);  // two ranks, one of each chip
    ASSERT_EQ(column.size(), 2);
    ASSERT_NE(column.fabric(), nullptr);
    if (c.rank() == 5) work(e, 2);
    times.set(times.before, c, e);
    barrier(column);
    times.set(times.after, c, e);
    // Values of the host that are reduced are priced, those that are moved are not.
    const double now = e.backend().clock();
    EXPECT_EQ(broadcast(c, 0, 3), 3);
    EXPECT_EQ(e.backend().clock(), now);
    EXPECT_EQ(sum(column, std::int64_t{1}), 2);
    EXPECT_GT(e.backend().clock(), now);
  });
  const double barrier_s =
      tile::collective_cost(tile::fabric("trn2"), CollectiveKind::Barrier, 0, {.per_chip = 1, .chips = 2}).seconds();
  for (std::size_t r = 0; r < 8; ++r) {
    EXPECT_NEAR(times.after[r], (r % 4 == 1 ? times.before[5] : 0) + barrier_s, 1e-12) << r;
  }
}

TEST(RankClock, NeighboursExchange) {
  const Group group = Group::open("sim:trn2x2x2");
  Times times(4);
  run(group, [&](const Communicator& c, const Executor& e) {
    const auto mine = Array<float>::from_host(e, {1 << 16}, std::vector<float>(1 << 16, 1));
    const Array<float> theirs(e, {1 << 16});
    const int partner = c.rank() ^ 1;
    send_receive(c, partner, View<const float>(mine.view()), partner, theirs.view());
    times.set(times.before, c, e);
    const int far = (c.rank() + 2) % 4;
    send_receive(c, far, View<const float>(mine.view()), far, theirs.view());
    times.set(times.after, c, e);
  });
  const tile::Fabric& f = tile::fabric("trn2");
  for (std::size_t r = 0; r < 4; ++r) {
    EXPECT_NEAR(times.before[r], f.hop_s + (1 << 18) / (f.core_bytes_per_s * f.eta), 1e-12);
    EXPECT_NEAR(times.after[r] - times.before[r], f.hop_s + (1 << 18) / (f.link_bytes_per_s * f.eta), 1e-12);
  }
}

TEST(RankClock, HostGroupsHaveNone) {
  run(testing_support::host_group(3), [](const Communicator& c, const Executor&) {
    EXPECT_EQ(c.fabric(), nullptr);
    EXPECT_EQ(c.split(0).fabric(), nullptr);
    barrier(c);
  });
}

// 24 GiB for the two cores of a trn2 stack: 20 on one leave no 5 for its neighbour, but for the next pair.
TEST(SharedStack, MemoryIsCountedOnce) {
  const Group group = Group::open("sim:trn2x4");
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  const Buffer large(group.executor(0), 20 * kGiB);
  EXPECT_THROW(Buffer(group.executor(1), 5 * kGiB), DeviceError);
  EXPECT_NO_THROW(Buffer(group.executor(1), 3 * kGiB));
  EXPECT_NO_THROW(Buffer(group.executor(2), 20 * kGiB));
}

// A rank of two cores has a stack to itself, and the DMA engines of both.
TEST(SharedStack, LogicalCoresOfTwoDoNotShare) {
  const Group group = Group::open("sim:trn2x4:lnc2");
  ASSERT_EQ(group.size(), 2);
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  const Buffer large(group.executor(0), 20 * kGiB);
  EXPECT_NO_THROW(Buffer(group.executor(1), 20 * kGiB));
  EXPECT_THROW(Buffer(group.executor(0), 5 * kGiB), DeviceError);
  run(group, [](const Communicator& c, const Executor& e) {
    const tile::Fabric& f = tile::fabric("trn2");
    const auto mine = Array<float>::from_host(e, {1 << 16}, std::vector<float>(1 << 16, 1));
    const Array<float> all(e, {2, 1 << 16});
    all_gather(c, View<const float>(mine.view()), all.view());
    const double pairs =
                     tile::collective_cost(f, CollectiveKind::AllGather, 1 << 19, {.per_chip = 2, .lnc = 2}).seconds(),
                 cores = tile::collective_cost(f, CollectiveKind::AllGather, 1 << 19, {.per_chip = 2}).seconds();
    EXPECT_NEAR(e.backend().clock(), pairs, 1e-12);
    EXPECT_LT(pairs, cores);
  });
}

// An exchange among some ranks of a group costs what it costs among them.
TEST(RankClock, ExchangesAmongPartners) {
  run(Group::open("sim:trn2x2x2"), [](const Communicator& c, const Executor& e) {
    const tile::Fabric& f = tile::fabric("trn2");
    const std::vector<int> chip{c.rank() / 2 * 2, c.rank() / 2 * 2 + 1}, across{c.rank() % 2, c.rank() % 2 + 2};
    spend_all_to_all(c, 1 << 20, chip);
    const double inside = tile::collective_cost(f, CollectiveKind::AllToAll, 1 << 20, {.per_chip = 2}).seconds();
    EXPECT_NEAR(e.backend().clock(), inside, 1e-12);
    spend_all_to_all(c, 1 << 20, across);
    const double between =
        tile::collective_cost(f, CollectiveKind::AllToAll, 1 << 20, {.per_chip = 1, .chips = 2, .sharing = 2})
            .seconds();
    EXPECT_NEAR(e.backend().clock(), inside + between, 1e-12);
    EXPECT_NE(inside, between);
  });
}

// A core whose clock and traffic the test sets.
class Core final : public Backend, public tile::SharedStack {
 public:
  Core() : Backend("core", Family::Host) {}
  void* allocate(std::int64_t) override { return nullptr; }
  void deallocate(void*, std::int64_t) noexcept override {}
  void copy_in(void*, const void*, std::int64_t) override {}
  void copy_out(void*, const void*, std::int64_t) override {}
  double clock() const override { return now; }
  void pass_time(Event, double until) override { now = std::max(now, until); }
  void share_stack_of(SharedStack&) override {}
  double hbm_bytes() const override { return bytes; }
  double now = 0, bytes = 0;
};

// Four cores, two to a stack of 716 GB/s. The first pair moved 1000 GB in a second by its clocks, the stack needs 1.4;
// the second pair's stack is idle. After the meeting, traffic counts from there on.
TEST(SharedStack, BandwidthIsShared) {
  const Group group = testing_support::host_group(4);
  const tile::Fabric& f = tile::fabric("trn2");
  run(group, [&](const Communicator& plain, const Executor&) {
    const auto core = std::make_shared<Core>();
    const Communicator c = plain.with_fabric(f, {.ranks = 4}, Executor(core));
    const double cost = tile::collective_cost(f, CollectiveKind::Barrier, 0, {.per_chip = 4}).seconds();
    core->now = c.rank() < 2 ? 1 - 0.1 * c.rank() : 0.5;
    core->bytes = c.rank() < 2 ? 500e9 : 10e9;
    barrier(c);
    const double stack = 1000e9 / 716e9;
    EXPECT_NEAR(core->now, stack + cost, 1e-9);
    core->now += 1;
    core->bytes += 300e9;  // 600 GB of a stack take less than a second
    barrier(c);
    EXPECT_NEAR(core->now, stack + cost + 1 + cost, 1e-9);
    const Communicator other = c.split(c.rank() % 2);  // one core of each stack: no sharing among them
    core->now += 0.1;
    core->bytes += 60e9;
    barrier(other);
    EXPECT_NEAR(core->now, stack + 2 * cost + 1.1 + cost, 1e-6);
  });
}

// What is asked for ahead passes beside what a core does; the lane takes one after the other, from when the latest rank
// has asked. What the stack needs is waited for, too.
TEST(RankClock, AheadOfWhatNeedsIt) {
  const Group group = testing_support::host_group(4);
  const tile::Fabric& f = tile::fabric("trn2");
  run(group, [&](const Communicator& plain, const Executor&) {
    const auto core = std::make_shared<Core>();
    const Communicator c = plain.with_fabric(f, {.ranks = 4}, Executor(core));
    const double cost = tile::collective_cost(f, CollectiveKind::Barrier, 0, {.per_chip = 4}).seconds();
    core->now = c.rank() == 3 ? 1 : 0.5;
    {
      const Ahead ahead(c);
      barrier(c);
      barrier(c);
    }
    EXPECT_EQ(core->now, c.rank() == 3 ? 1 : 0.5) << "nobody waits yet";
    if (c.rank() == 0) core->now = 2;  // a program that takes longer hides it all
    arrive(c);
    EXPECT_NEAR(core->now, c.rank() == 0 ? 2 : 1 + 2 * cost, 1e-12);
    arrive(c);
    EXPECT_NEAR(core->now, c.rank() == 0 ? 2 : 1 + 2 * cost, 1e-12);
    barrier(c);
    EXPECT_NEAR(core->now, 2 + cost, 1e-12);
    {
      const Ahead ahead(c);
      barrier(c);
    }
    barrier(c);  // begins where the lane is free
    EXPECT_NEAR(core->now, 2 + 3 * cost, 1e-12);
    core->bytes += c.rank() < 2 ? 500e9 : 0;  // 1000 GB of one stack, in no time by the clocks
    {
      const Ahead ahead(c);
      barrier(c);
    }
    EXPECT_NEAR(core->now, 2 + 3 * cost, 1e-12);
    arrive(c);
    const double stack = 2 + 3 * cost + 1000e9 / 716e9;
    EXPECT_NEAR(core->now, stack + cost, 1e-9);
  });
}

}  // namespace
}  // namespace trn::comm
