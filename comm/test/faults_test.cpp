// Ranks that fail, leave or never come: the others end within the limit and name them.
#include <trn/comm/collectives.hpp>
#include <trn/comm/matrix.hpp>
#include <trn/comm/together.hpp>

#include <atomic>
#include <chrono>
#include <thread>

#include "fault_transport.hpp"
#include "ranks.hpp"
#include "support/message_of.hpp"

namespace trn::comm {
namespace {

using namespace testing_support;
using trn::testing_support::message_of;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// An operation in which everybody waits for everybody.
const std::vector<std::pair<const char*, std::function<void(const Communicator&)>>> kOperations{
    {"broadcast", [](const Communicator& c) { (void)broadcast(c, 0, 1.0); }},
    {"barrier", [](const Communicator& c) { barrier(c); }},
    {"sum", [](const Communicator& c) { (void)sum(c, 1); }},
    {"split", [](const Communicator& c) { (void)c.split(0); }},
    {"check", [](const Communicator& c) { c.check("check", {1}); }},
};

TEST(Faults, ARankThatThrowsEndsTheOthers) {
  for (const int p : {2, 3, 7}) {
    for (const auto& [name, operation] : kOperations) {
      const auto begin = Clock::now();
      std::atomic<int> told = 0;
      const std::string text = message_of<DeviceError>([&, call = operation] {
        on_ranks(p, [&](const Communicator& c) {
          if (c.rank() == 1) throw DeviceError("core 1 is on fire");
          try {
            call(c);
            ADD_FAILURE() << "an operation without rank 1 ended";
          } catch (const CommError& e) {
            EXPECT_EQ(e.rank(), 1);
            EXPECT_IN("rank 1 failed: core 1 is on fire", e.what());
            ++told;
            EXPECT_THROW(barrier(c), CommError);  // the group is not usable afterwards
            throw;
          }
        });
      });
      EXPECT_EQ(text, "core 1 is on fire") << name;  // what the first one threw
      EXPECT_EQ(told, p - 1);
      EXPECT_LT(seconds_since(begin), 5);
    }
  }
}

TEST(Faults, ARankThatReturnsEarlyIsNamed) {
  for (const int p : {2, 3, 7}) {
    for (const auto& [name, operation] : kOperations) {
      const auto begin = Clock::now();
      const std::string text = message_of<CommError>([&, call = operation] {
        on_ranks(p, [&](const Communicator& c) {
          if (c.rank() != p - 1) call(c);
        });
      });
      EXPECT_IN("rank " + std::to_string(p - 1) + " has returned from its program", text) << name;
      EXPECT_LT(seconds_since(begin), 5);
    }
  }
}

TEST(Faults, AnExceptionOfAnyTypeIsPassedOn) {
  EXPECT_THROW(on_ranks(3,
                        [](const Communicator& c) {
                          if (c.rank() == 2) throw 42;
                          barrier(c);
                        }),
               int);
}

TEST(Faults, ARankThatNeverComesIsFoundByTheWatchdog) {
  std::atomic<bool> over = false;
  const auto begin = Clock::now();
  std::string text;
  on_ranks(4,
           [&](const Communicator& c) {
             if (c.rank() == 2) {
               while (!over) std::this_thread::sleep_for(std::chrono::milliseconds(5));
               return;
             }
             const std::string here = message_of<CommError>([&] {
               if (c.rank() == 3) return (void)broadcast(c, 1, 1.0f);
               (void)broadcast(c, 1, 1.0f);
             });
             EXPECT_IN(
                 "rank 2 did not come to broadcast(float32, count 1, root 1), operation 1 of its group, within 1 s",
                 here);
             EXPECT_IN("rank 2 is in none of our operations", here);
             if (c.rank() == 0) text = here;
             over = true;
           },
           {.watchdog_seconds = 1});
  EXPECT_LT(seconds_since(begin), 5);
  EXPECT_GE(seconds_since(begin), 0.9);
  EXPECT_IN("rank 1 waits", text);
}

TEST(Faults, WaitingForTwoGroupsInTurnIsFoundByTheWatchdog) {
  // Rank 0 waits in one part and rank 1 in the whole: nobody is wrong alone.
  const auto begin = Clock::now();
  const std::string text = message_of<CommError>([&] {
    on_ranks(2,
             [&](const Communicator& c) {
               const Communicator again = c.split(0);
               c.rank() == 0 ? barrier(again) : barrier(c);
             },
             {.watchdog_seconds = 1});
  });
  EXPECT_IN("rank 0 waits", text);
  EXPECT_IN("rank 1 waits", text);
  EXPECT_LT(seconds_since(begin), 5);
}

TEST(Faults, BetweenTwoRanks) {
  const auto begin = Clock::now();
  float x = 0;
  const View<float> one(Executor::host(), &x, {1}), none(Executor::host(), nullptr, {0});
  EXPECT_EQ(message_of<InvalidArgument>([&] {
              on_ranks(3, [&](const Communicator& c) {
                if (c.rank() == 1) throw InvalidArgument("gone");
                float y = 0;
                const View<float> mine(Executor::host(), &y, {1});
                EXPECT_IN("rank 1 failed: gone", message_of<CommError>([&] {
                            c.rank() == 0 ? send_receive(c, 1, mine, -1, none) : send_receive(c, -1, none, 1, mine);
                          }));
              });
            }),
            "gone");
  EXPECT_IN("rank 1 has returned", message_of<CommError>([&] {
              on_ranks(2, [&](const Communicator& c) {
                if (c.rank() == 0) send_receive(c, 1, one, -1, none);
              });
            }));
  // Both wait for the other's letter and none is sent.
  EXPECT_IN("did not come to send_receive(to -1, bytes 0, from", message_of<CommError>([&] {
              on_ranks(2,
                       [&](const Communicator& c) {
                         float y = 0;
                         send_receive(c, -1, none, 1 - c.rank(), View<float>(Executor::host(), &y, {1}));
                       },
                       {.watchdog_seconds = 1});
            }));
  EXPECT_LT(seconds_since(begin), 10);
}

TEST(Faults, AFailureReachesAllPartsOfAGroup) {
  const std::string text = message_of<InternalError>([] {
    on_ranks(6, [](const Communicator& c) {
      const Communicator part = c.split(c.rank() % 2);
      if (c.rank() == 5) throw InternalError("five");
      if (c.rank() % 2 == 0) {
        for (int i = 0; i < 3; ++i) barrier(part);  // its own part is whole
      }
      try {
        barrier(c.rank() % 2 == 0 ? c : part);
        ADD_FAILURE();
      } catch (const CommError& e) {
        EXPECT_EQ(e.rank(), 5);
        throw;
      }
    });
  });
  EXPECT_EQ(text, "five");
}

TEST(Faults, TogetherAllFailAlike) {
  for (const int p : kRankCounts) {
    on_ranks(p, [p](const Communicator& c) {
      const std::string text = message_of<DeviceError>([&] {
        (void)together(c, [&] {
          if (c.rank() == p - 1) throw DeviceError("out of memory", "hbm", Recovery::Reopen);
          return 1;
        });
      });
      EXPECT_EQ(text, "rank " + std::to_string(p - 1) + ": out of memory");
      try {
        together(c, [&] { throw DeviceError("all " + std::string(5000, 'x'), "some-check", Recovery::Reopen); });
        ADD_FAILURE();
      } catch (const DeviceError& e) {
        EXPECT_EQ(e.check(), "some-check");
        EXPECT_EQ(e.recovery(), Recovery::Reopen);
        EXPECT_EQ(std::string(e.what()).size(), 5012u);  // "rank 0: all " and the rest
      }
      EXPECT_THROW(together(c, [&] { require(c.rank() != 0, "no"); }), InvalidArgument);
      EXPECT_THROW(together(c, [&] { c.rank() == 0 ? fail<NotImplemented>("no") : void(); }), NotImplemented);
      EXPECT_THROW(together(c, [&] { c.rank() == 0 ? fail<InternalError>("no") : void(); }), InternalError);
      EXPECT_THROW(together(c, [&] { c.rank() == 0 ? throw std::bad_alloc() : void(); }), Error);
      EXPECT_EQ(together(c, [&] { return c.rank(); }), c.rank());
      EXPECT_EQ(sum(c, 1), p);
    });
  }
}

// What a transport does wrong is found: by what the ranks say, or by the watchdog.
TEST(Faults, OfTheTransport) {
  const auto with_fault = [](Fault fault, const std::function<void(const Communicator&)>& program) {
    const auto begin = Clock::now();
    std::string text = "no error";
    try {
      on_ranks(3,
               [&](const Communicator& c) {
                 // Rank 1's transport is the bad one.
                 if (c.rank() != 1) return program(c);
                 program(Communicator(std::make_shared<FaultTransport>(c, fault)));
               },
               {.watchdog_seconds = 1});
    } catch (const Error& e) {
      text = e.what();
    }
    EXPECT_LT(seconds_since(begin), 5);
    return text;
  };
  const auto several = [](const Communicator& c) {
    for (int i = 0; i < 4; ++i) {
      std::vector<double> x(5, c.rank()), all(15);
      broadcast(c, 0, view_of(x));
      all_gather(c, view_of(x), View<double>(Executor::host(), all.data(), {3, 5}));
      maximum(c, view_of(x));
    }
  };
  EXPECT_EQ(with_fault(Fault::None, several), "no error");
  EXPECT_IN("every rank must call the same", with_fault(Fault::Drop, several));
  EXPECT_IN("every rank must call the same", with_fault(Fault::Truncate, several));
  EXPECT_IN("every rank must call the same", with_fault(Fault::Reorder, several));
  const auto letters = [](const Communicator& c) {
    for (int i = 0; i < 4; ++i) {
      double x = c.rank(), y = -1;
      send_receive(c, (c.rank() + 1) % 3, View<double>(Executor::host(), &x, {1}), (c.rank() + 2) % 3,
                   View<double>(Executor::host(), &y, {1}));
    }
  };
  EXPECT_EQ(with_fault(Fault::None, letters), "no error");
  EXPECT_IN("rank 1 has returned from its program and takes no part in send_receive", with_fault(Fault::Drop, letters));
  EXPECT_IN("bytes", with_fault(Fault::Truncate, letters));
  const auto redistribution = [](const Communicator& c) {
    const dist::Array<float> a(c, Executor::host(), dist::slabs({6, 6}, 0, 3));
    const auto b = a.redistributed(dist::slabs({6, 6}, 1, 3));
    const auto d = b.redistributed(dist::slabs({6, 6}, 0, 3));
  };
  EXPECT_EQ(with_fault(Fault::None, redistribution), "no error");
  EXPECT_IN("bytes", with_fault(Fault::Truncate, redistribution));
  EXPECT_NE(with_fault(Fault::Drop, redistribution), "no error");
}

// A mixed program again and again: no hang, no wrong value.
TEST(Faults, AThousandRepetitions) {
  const auto begin = Clock::now();
  int repetitions = 0;
  for (const int p : kRankCounts) {
    const int times = 1000 / 7 + 1;
    for (int t = 0; t < times; t += 11, repetitions += 11) {
      on_ranks(p, [&](const Communicator& c) {
        for (int i = 0; i < 11; ++i) {
          const int root = i % p;
          ASSERT_EQ(broadcast(c, root, c.rank()), root);
          const Communicator part = c.split((c.rank() + i) % 2);
          ASSERT_EQ(sum(part, 1), part.size());
          std::int64_t x = c.rank(), y = -1;
          const int shift = 1 + i % p;
          send_receive(c, (c.rank() + shift) % p, View<std::int64_t>(Executor::host(), &x, {1}),
                       (c.rank() + p * shift - shift) % p, View<std::int64_t>(Executor::host(), &y, {1}));
          ASSERT_EQ(y, (c.rank() + p * shift - shift) % p);
          if (i % 4 == 0) barrier(part);
          if (i % 5 == 0 && p > 1) {
            EXPECT_THROW(c.check("differs", {c.rank()}), InvalidArgument);
          }
          ASSERT_EQ(maximum(c, x), p - 1);
        }
      });
    }
  }
  std::printf("%d repetitions, %.2f s\n", repetitions, seconds_since(begin));
}

}  // namespace
}  // namespace trn::comm
