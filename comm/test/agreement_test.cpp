// Ranks that do not call the same: InvalidArgument on all of them, naming two, outputs untouched, and the group goes
// on.
#include <trn/comm/collectives.hpp>
#include <trn/comm/matrix.hpp>

#include "fault_transport.hpp"
#include "ranks.hpp"
#include "support/message_of.hpp"

namespace trn::comm {
namespace {

using namespace testing_support;
using trn::testing_support::message_of;

// What every rank throws, which must be the same text; afterwards the group still works.
std::string refused(int ranks, const std::function<void(const Communicator&)>& program) {
  std::vector<std::string> texts(static_cast<std::size_t>(ranks));
  on_ranks(ranks, [&](const Communicator& c) {
    texts[static_cast<std::size_t>(c.rank())] = message_of<InvalidArgument>([&] { program(c); });
    EXPECT_EQ(sum(c, 1), ranks);
  });
  for (const std::string& text : texts) EXPECT_EQ(text, texts[0]);
  return texts[0];
}

// Of every call: the operation with one rank that says something else. `odd` is that rank.
struct Kept {
  std::vector<float> values = std::vector<float>(24, 7);
  std::vector<double> wide = std::vector<double>(24, 7);
  View<float> view(Shape shape) { return View<float>(Executor::host(), values.data(), std::move(shape)); }
  View<double> wide_view(Shape shape) { return View<double>(Executor::host(), wide.data(), std::move(shape)); }
  void expect_untouched() const {
    EXPECT_EQ(values, std::vector<float>(24, 7));
    EXPECT_EQ(wide, std::vector<double>(24, 7));
  }
};

TEST(Agreement, OfOperationTypeCountAndRoot) {
  int cases = 0;
  for (const int p : {2, 3, 7}) {
    for (const int odd : {0, p - 1}) {
      const auto differs = [&](const std::function<void(const Communicator&, Kept&, bool)>& call) {
        ++cases;
        return refused(p, [&](const Communicator& c) {
          Kept kept;
          try {
            call(c, kept, c.rank() == odd);
          } catch (const InvalidArgument&) {
            kept.expect_untouched();
            throw;
          }
        });
      };
      const std::vector<float> source(24, 1);
      const std::vector<double> wide_source(24, 1);
      const View<const float> three(Executor::host(), source.data(), {3});
      const auto part = [&](bool is_odd) { return Shape{p, is_odd ? 2 : 3}; };
      const std::string type = differs([](const Communicator& c, Kept& k, bool is_odd) {
        is_odd ? broadcast(c, 0, k.wide_view({3})) : broadcast(c, 0, k.view({3}));
      });
      EXPECT_IN("broadcast(float32, count 3, root 0)", type);
      EXPECT_IN("broadcast(float64, count 3, root 0)", type);
      EXPECT_IN("every rank must call the same", type);
      EXPECT_IN("count 2", differs([](const Communicator& c, Kept& k, bool is_odd) {
                  broadcast(c, 0, k.view({is_odd ? 2 : 3}));
                }));
      EXPECT_IN("root 1", differs([](const Communicator& c, Kept& k, bool is_odd) {
                  broadcast(c, is_odd ? 1 : 0, k.view({3}));
                }));
      const std::string operation = differs([&](const Communicator& c, Kept& k, bool is_odd) {
        is_odd ? barrier(c) : all_gather(c, three, k.view({p, 3}));
      });
      EXPECT_IN("barrier", operation);
      EXPECT_IN("all_gather(float32, count 3)", operation);
      (void)differs([&](const Communicator& c, Kept& k, bool is_odd) {
        all_gather(c, View<const float>(Executor::host(), source.data(), {is_odd ? 2 : 3}), k.view(part(is_odd)));
      });
      (void)differs([&](const Communicator& c, Kept& k, bool is_odd) {
        all_to_all(c, View<const float>(Executor::host(), source.data(), part(is_odd)), k.view(part(is_odd)));
      });
      (void)differs([&](const Communicator& c, Kept& k, bool is_odd) {
        if (is_odd)
          return all_to_all(c, View<const double>(Executor::host(), wide_source.data(), {p, 3}), k.wide_view({p, 3}));
        all_to_all(c, View<const float>(Executor::host(), source.data(), {p, 3}), k.view({p, 3}));
      });
      (void)differs([&](const Communicator& c, Kept& k, bool is_odd) {
        is_odd ? minimum(c, k.view({3})) : maximum(c, k.view({3}));
      });
      (void)differs([&](const Communicator& c, Kept& k, bool is_odd) { maximum(c, k.view({is_odd ? 4 : 3})); });
      (void)differs([&](const Communicator& c, Kept&, bool is_odd) {
        std::vector<int> v(5), all(static_cast<std::size_t>(5 * p));
        const std::int64_t n = is_odd ? 4 : 5;
        try {
          reduce_scatter(c, View<int>(Executor::host(), all.data(), {p, n}),
                         View<int>(Executor::host(), v.data(), {n}));
        } catch (const InvalidArgument&) {
          EXPECT_EQ(v, std::vector<int>(5));
          throw;
        }
      });
      (void)differs([&](const Communicator& c, Kept&, bool is_odd) { is_odd ? barrier(c) : (void)c.split(0); });
      (void)differs([&](const Communicator& c, Kept&, bool is_odd) { c.check("mine", {1, is_odd ? 3 : 2}); });
      (void)differs([&](const Communicator& c, Kept&, bool is_odd) {
        is_odd ? c.check("mine", {1, 2, 3}) : c.check("mine", {1, 2});
      });
    }
  }
  std::printf("%d disagreements found\n", cases);
}

TEST(Agreement, OfOrder) {
  // The first of the two operations is where they differ.
  const std::string text = refused(3, [](const Communicator& c) {
    float x = 0;
    const View<float> v(Executor::host(), &x, {1});
    if (c.rank() == 1) {
      maximum(c, v);
      broadcast(c, 0, v);
    } else {
      broadcast(c, 0, v);
      maximum(c, v);
    }
  });
  EXPECT_IN("rank 0 calls broadcast(float32, count 1, root 0) and rank 1 calls maximum(float32, count 1)", text);
  EXPECT_IN("as operation 1 of a group of 3", text);
}

TEST(Agreement, OneRankWithABadArgumentIsKnownToAll) {
  const auto text = [](const std::function<void(const Communicator&, bool)>& call) {
    return refused(4, [&](const Communicator& c) { call(c, c.rank() == 2); });
  };
  std::vector<float> memory(64, 0);
  const auto view = [&](Shape shape) { return View<float>(Executor::host(), memory.data(), std::move(shape)); };
  EXPECT_IN("first extent must be 4", text([&](const Communicator& c, bool bad) {
              std::vector<float> out(64);
              all_to_all(c, view({bad ? 3 : 4, 2}), View<float>(Executor::host(), out.data(), {bad ? 3 : 4, 2}));
            }));
  EXPECT_IN("it must be (4, 2)", text([&](const Communicator& c, bool bad) {
              std::vector<float> out(64);
              all_gather(c, view({2}), View<float>(Executor::host(), out.data(), bad ? Shape{8} : Shape{4, 2}));
            }));
  EXPECT_IN("no data", text([&](const Communicator& c, bool bad) {
              float x = 0;
              broadcast(c, 0, View<float>(Executor::host(), bad ? nullptr : &x, {1}));
            }));
  EXPECT_IN("stride 0", text([&](const Communicator& c, bool bad) {
              std::vector<float> x(3);
              broadcast(c, 0, View<float>(Executor::host(), x.data(), {3}, {bad ? 0 : 1}));
            }));
  EXPECT_IN("do not add up", text([&](const Communicator& c, bool bad) {
              std::vector<float> out(64);
              all_to_all_v(c, view({4}), {1, 1, 1, bad ? 2 : 1}, View<float>(Executor::host(), out.data(), {4}),
                           {1, 1, 1, 1});
            }));
  EXPECT_IN("a count of -1", text([&](const Communicator& c, bool bad) {
              std::vector<float> out(64);
              all_to_all_v(c, view({4}), {1, 1, bad ? -1 : 1, bad ? 3 : 1},
                           View<float>(Executor::host(), out.data(), {4}), {1, 1, 1, 1});
            }));
  EXPECT_IN("3 counts for 4 ranks", text([&](const Communicator& c, bool bad) {
              std::vector<float> out(64);
              const std::vector<std::int64_t> counts =
                  bad ? std::vector<std::int64_t>{1, 1, 2} : std::vector<std::int64_t>{1, 1, 1, 1};
              all_to_all_v(c, view({4}), counts, View<float>(Executor::host(), out.data(), {4}), {1, 1, 1, 1});
            }));
  // The same mistake everywhere, and a root that is no rank.
  EXPECT_IN("root is 4; there are 4 ranks", text([&](const Communicator& c, bool) {
              float x = 0;
              broadcast(c, 4, View<float>(Executor::host(), &x, {1}));
            }));
}

TEST(Agreement, CountsBetweenPairs) {
  const std::string text = refused(3, [](const Communicator& c) {
    // Rank 1 sends two to rank 2, which expects one.
    std::vector<float> send(4), receive(3, 7);
    const std::vector<std::int64_t> out{1, 1, c.rank() == 1 ? 2 : 1};
    try {
      all_to_all_v(c, View<float>(Executor::host(), send.data(), {c.rank() == 1 ? 4 : 3}), out, view_of(receive),
                   {1, 1, 1});
    } catch (const InvalidArgument&) {
      EXPECT_EQ(receive, std::vector<float>(3, 7));
      throw;
    }
  });
  EXPECT_IN("rank 1 sends 2 elements to rank 2, which expects 1", text);
}

TEST(Agreement, BetweenTwoRanksOnlyTheyThrow) {
  on_ranks(3, [](const Communicator& c) {
    std::vector<float> f(4, 7);
    std::vector<std::int32_t> i(4, 7);
    const View<float> none(Executor::host(), nullptr, {0});
    const View<std::int32_t> no_int(Executor::host(), nullptr, {0});
    // Of another count; of another type of the same size.
    if (c.rank() == 0) {
      EXPECT_IN("sends 16 bytes", message_of<InvalidArgument>([&] { send_receive(c, 1, view_of(f), -1, none); }));
      EXPECT_IN("another type", message_of<InvalidArgument>([&] { send_receive(c, 1, view_of(f), -1, none); }));
    }
    if (c.rank() == 1) {
      EXPECT_IN("which expects 12", message_of<InvalidArgument>([&] {
                  send_receive(c, -1, none, 0, View<float>(Executor::host(), f.data(), {3}));
                }));
      EXPECT_IN("another type", message_of<InvalidArgument>([&] { send_receive(c, -1, no_int, 0, view_of(i)); }));
    }
    EXPECT_EQ(f, std::vector<float>(4, 7));
    EXPECT_EQ(i, std::vector<std::int32_t>(4, 7));
    EXPECT_EQ(sum(c, 1), 3);
    EXPECT_IN("rank 3 of 3", message_of<InvalidArgument>([&] { send_receive(c, 3, view_of(f), -1, none); }));
    EXPECT_IN("it also takes", message_of<InvalidArgument>([&] { send_receive(c, c.rank(), view_of(f), -1, none); }));
    EXPECT_EQ(sum(c, 1), 3);
  });
}

// The exchange that transports have unless they know better: three messages.
TEST(Agreement, BetweenTwoRanksByMessages) {
  for (const int p : kRankCounts) {
    on_ranks(p, [p](const Communicator& inner) {
      const Communicator c(std::make_shared<PlainTransport>(inner));
      const int next = (c.rank() + 1) % p, before = (c.rank() + p - 1) % p;
      std::vector<float> mine(3, static_cast<float>(c.rank())), theirs(3, -1);
      send_receive(c, next, view_of(mine), before, view_of(theirs));
      EXPECT_EQ(theirs, std::vector<float>(3, static_cast<float>(before)));
      if (p < 3) return;
      // Rank 1 expects another count from rank 0. Both throw; what goes around elsewhere arrives.
      theirs.assign(3, -1);
      const View<float> place(Executor::host(), theirs.data(), {c.rank() == 1 ? 2 : 3});
      const std::string text =
          message_of<InvalidArgument>([&] { send_receive(c, next, view_of(mine), before, place); });
      if (c.rank() == 0) {
        EXPECT_IN("rank 1 expects another type or count than rank 0 sends", text);
      } else if (c.rank() == 1) {
        EXPECT_IN("rank 0 sends rank 1 something of another type or count", text);
        EXPECT_EQ(theirs, std::vector<float>(3, -1));
      } else {
        EXPECT_EQ(text, "no error");
        EXPECT_EQ(theirs, std::vector<float>(3, static_cast<float>(before)));
      }
    });
  }
}

TEST(Agreement, OfDistributions) {
  const dist::BlockCyclic good{10, 12, 2, 3, {2, 2}};
  const auto matrices = [&](const dist::BlockCyclic& other) {
    return refused(4, [&](const Communicator& c) {
      const dist::Matrix<float> m(c, Executor::host(), c.rank() == 3 ? other : good);
    });
  };
  EXPECT_IN("rows 11", matrices({11, 12, 2, 3, {2, 2}}));
  EXPECT_IN("columns 13", matrices({10, 13, 2, 3, {2, 2}}));
  EXPECT_IN("row_block 3", matrices({10, 12, 3, 3, {2, 2}}));
  EXPECT_IN("column_block 1", matrices({10, 12, 2, 1, {2, 2}}));
  EXPECT_IN("grid rows 1", matrices({10, 12, 2, 3, {1, 4}}));
  EXPECT_IN("rows -1", matrices({-1, 12, 2, 3, {2, 2}}));
  // Grids whose number of ranks wraps around to a small one, and blocks beyond what indices can count.
  for (const dist::Grid grid : {dist::Grid{65536, 65536}, {65537, 65535}, {2147483647, 2147483647}}) {
    EXPECT_IN("more than 2147483647 ranks", refused(4, [&](const Communicator& c) {
                const dist::Matrix<float> m(c, Executor::host(), {4, 4, 1, 1, grid});
              }));
  }
  EXPECT_IN("the most is 2147483647", refused(4, [](const Communicator& c) {
              const dist::Matrix<float> m(c, Executor::host(), {5, 5, INT64_MAX, 1, {2, 2}});
            }));
  EXPECT_IN("float64", refused(4, [&](const Communicator& c) {
              if (c.rank() == 1) {
                const dist::Matrix<double> m(c, Executor::host(), good);
              } else {
                const dist::Matrix<float> m(c, Executor::host(), good);
              }
            }));
  EXPECT_IN("over 6 ranks, in a group of 4", refused(4, [](const Communicator& c) {
              const dist::Matrix<float> m(c, Executor::host(), {10, 12, 2, 3, {2, 3}});
            }));
  EXPECT_IN("dist::Array", refused(4, [](const Communicator& c) {
              const dist::Array<float> a(c, Executor::host(), dist::slabs({8, 8}, c.rank() == 2 ? 1 : 0, 4));
            }));
  EXPECT_IN("meet", refused(4, [](const Communicator& c) {
              const dist::Array<float> a(c, Executor::host(), {{2}, {{{0}, {2}}, {{1}, {1}}}});
            }));
  EXPECT_IN("must be equal", refused(4, [&](const Communicator& c) {
              const dist::Matrix<float> m(c, Executor::host(), good);
              (void)m.redistributed({10, 13, 2, 3, {2, 2}});
            }));
}

}  // namespace
}  // namespace trn::comm
