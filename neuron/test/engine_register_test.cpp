// Registers, loops of the device and dynamic starts: values, checks, and modelled time.
#include <trn/neuron/nki.hpp>
#include <trn/tile/reorder.hpp>

#include "interpreter_harness.hpp"
#include "support/nki_run.hpp"

namespace trn::neuron::sim {
namespace {

constexpr auto F32 = DType::Float32, I32 = DType::Int32, U32 = DType::UInt32;

Values counting(std::int64_t n) {
  Values v(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = static_cast<double>(i);
  return v;
}

TEST(Registers, LoadMoveAndStoreKeepTheBits) {
  Rig rig;
  const Access x = rig.input("x", I32, {3}, {-5, 0, 2147483647}), u = rig.input("u", U32, {1}, {4294967290.0});
  const Access y = rig.output("y", I32, {4}), w = rig.output("w", U32, {2});
  const Access r = rig.b.register_alloc("r"), s = rig.b.register_alloc("s");
  const auto pass = [&](const Access& from, const Access& to) {
    rig.b.register_load(r, from);
    rig.b.register_move(s, r);
    rig.b.register_store(to, s);
  };
  for (std::int64_t i = 0; i < 3; ++i) pass(x(ds(i, 1)), y(ds(i, 1)));
  pass(u, w(ds(0, 1)));
  rig.b.register_move(r, -7);
  rig.b.register_store(y(ds(3, 1)), r);
  rig.b.register_store(w(ds(1, 1)), r);
  rig.run();
  EXPECT_EQ(rig.values("y"), (Values{-5, 0, 2147483647, -7}));
  EXPECT_EQ(rig.values("w"), (Values{4294967290.0, 4294967289.0})) << "-7 modulo 2^32";
}

// y = the first `count` rows of x twice, the others once, by a loop that counts in a register.
struct Counted {
  explicit Counted(double count, std::int64_t most = 6) {
    const Access n = rig.input("n", I32, {1}, {count}), x = rig.input("x", F32, {6, 4}, counting(24));
    const Access y = rig.output("y", F32, {6, 4}), all_of = rig.b.sbuf("all", 6, {4}, F32);
    rig.b.dma_copy(all_of, x);
    rig.b.dma_copy(y, all_of);
    const Access r = rig.b.register_alloc("r");
    rig.b.register_load(r, n);
    rig.b.fori_loop("i", r, most, [&](const Affine& i) {
      const Access t = rig.b.sbuf("t", 1, {4}, F32, 2);
      rig.b.dma_copy(t, x(ds(i, 1), all));
      rig.b.tensor_tensor(t, t, t, AluOp::Add, Engine::Vector);
      rig.b.dma_copy(y(ds(i, 1), all), t);
    });
  }
  Rig rig;
};

TEST(ForiLoop, RunsAsOftenAsTheRegisterSays) {
  for (const int count : {0, 1, 4, 6, -3}) {
    Counted c(count);
    c.rig.run();
    for (std::size_t i = 0; i < 24; ++i) {
      const bool twice = static_cast<int>(i / 4) < count;
      EXPECT_EQ(c.rig.values("y")[i], (twice ? 2.0 : 1.0) * static_cast<double>(i)) << count;
    }
  }
  EXPECT_EQ(check_of([] { Counted(5, 4).rig.run(); }), "trip-count") << "more than the program declares";
}

TEST(ForiLoop, ARegisterThatNothingWroteIsReported) {
  Rig rig;
  const Access y = rig.output("y", F32, {1}), t = rig.b.sbuf("t", 1, {1}, F32);
  rig.b.memset(t, 1);
  rig.b.dma_copy(y, t);
  rig.b.fori_loop("i", rig.b.register_alloc("r"), 2, [](const Affine&) {});
  EXPECT_EQ(check_of([&] { rig.run(); }), "uninitialised-read");
}

// Halves a number until it is at most 1; counts the steps in a tile. The start of the copy follows the counter.
struct Halving {
  explicit Halving(double value, std::int64_t most = 8) {
    const Access x = rig.input("x", F32, {1}, {value}), y = rig.output("y", F32, {9, 1}), n = rig.output("n", I32, {1});
    const Access v = rig.b.sbuf("v", 1, {1}, F32), steps = rig.b.sbuf("steps", 1, {1}, I32),
                 one = rig.b.sbuf("one", 1, {1}, I32), large = rig.b.sbuf("large", 1, {1}, I32),
                 zeros = rig.b.sbuf("zeros", 9, {1}, F32);
    rig.b.memset(zeros, 0);
    rig.b.dma_copy(y, zeros);
    rig.b.memset(steps, 0);
    rig.b.memset(one, 1);
    rig.b.dma_copy(v, x);
    const Access more = rig.b.register_alloc("more");
    const auto test = [&] {
      rig.b.tensor_scalar(large, v, AluOp::Greater, 1.0, {.engine = Engine::Vector});
      rig.b.register_load(more, large);
    };
    test();
    rig.b.while_loop("w", more, most, [&] {
      rig.b.tensor_scalar(v, v, AluOp::Multiply, 0.5, {.engine = Engine::Vector});
      rig.b.dma_copy_at(y(ds(0, 1), all), v, {.dst = {steps, 1, 8}});
      rig.b.tensor_tensor(steps, steps, one, AluOp::Add, Engine::GpSimd);
      test();
    });
    rig.b.dma_copy(n, steps);
  }
  Rig rig;
};

TEST(WhileLoop, RunsAsLongAsItsConditionHolds) {
  for (const double value : {0.5, 1.0, 1.5, 40.0, 256.0}) {
    Halving h(value);
    h.rig.run();
    Values expected(9, 0.0);
    double v = value;
    std::size_t steps = 0;
    while (v > 1) expected[steps++] = v /= 2;
    EXPECT_EQ(h.rig.values("y"), expected) << value;
    EXPECT_EQ(h.rig.values("n"), Values{static_cast<double>(steps)});
  }
  EXPECT_EQ(check_of([] { Halving(512.0).rig.run(); }), "trip-count") << "nine steps where eight are declared";
}

TEST(DynamicStart, AValueBeyondTheDeclaredIsReported) {
  const auto run = [](double value) {
    Rig rig;
    const Access x = rig.input("x", F32, {8}, counting(8)), v = rig.tile("v", I32, 1, 1, {value});
    const Access t = rig.b.sbuf("t", 1, {2}, F32);
    rig.b.dma_copy_at(t, x(ds(0, 2)), {.src = {v, 3, 2}});
    rig.emit("y", t);
    rig.run();
    return rig.values("y");
  };
  EXPECT_EQ(run(2), (Values{6, 7}));
  EXPECT_EQ(run(0), (Values{0, 1}));
  EXPECT_EQ(check_of([&] { run(3); }), "index-out-of-range");
  EXPECT_EQ(check_of([&] { run(-1); }), "index-out-of-range");
}

// ---- whole programs, verified, in every order

// Row sums of x by blocks of 4 rows: the count comes from HBM.
Program block_sums(const Machine& machine, std::int64_t most) {
  Builder b("block_sums", machine);
  const Access n = b.input("n", I32, {1}), x = b.input("x", F32, {4 * most, 8}), y = b.output("y", F32, {4, 8});
  const Access sum = b.sbuf("sum", 4, {8}, F32), r = b.register_alloc("r");
  b.memset(sum, 0);
  b.register_load(r, n);
  b.fori_loop("i", r, most, [&](const Affine& i) {
    b.parallel("half", 2, [&](const Affine& half) {
      const Access t = b.sbuf("t", 4, {4}, F32, 2);
      b.dma_copy(t, x(ds(i * 4, 4), ds(half * 4, 4)));
      b.tensor_tensor(sum(all, ds(half * 4, 4)), sum(all, ds(half * 4, 4)), t, AluOp::Add, Engine::Vector);
    });
  });
  b.dma_copy(y, sum);
  return b.finish();
}

struct Ran {
  std::vector<float> y;
  double seconds;
};
Ran ran(const Program& program, std::int32_t count, const Order& order, bool races = false) {
  std::vector<float> x(static_cast<std::size_t>(element_count(program.tensors()[1].shape))), y(32, -1);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i % 37) - 11;
  const std::vector<Binding> bindings{{"n", &count}, {"x", x.data()}, {"y", y.data()}};
  const RunReport report =
      simulate(program, machine(program.machine()), bindings, {.order = order, .check_races = races});
  return {y, report.seconds};
}

TEST(DynamicLoops, EveryOrderGivesTheSameBits) {
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    const Program p = block_sums(machine(name), 9), other = reorder(p, machine(name));
    EXPECT_TRUE(other.has_dynamic_loops());
    for (const std::int32_t count : {0, 1, 7, 9}) {
      std::vector<float> expected(32, 0.f);
      for (std::int64_t i = 0; i < 32 * count; ++i)
        expected[static_cast<std::size_t>(i % 32)] += static_cast<float>(i % 37) - 11;
      EXPECT_EQ(ran(p, count, Order::in_order(), true).y, expected) << name << " " << count;
      EXPECT_EQ(ran(p, count, Order::timed()).y, expected);
      EXPECT_EQ(ran(other, count, Order::in_order()).y, expected);
      for (const std::uint64_t seed : {1, 2, 3}) EXPECT_EQ(ran(p, count, Order::shuffled(seed)).y, expected);
    }
  }
}

// Every iteration costs, and the ones that do not run cost nothing; an estimate runs them all.
TEST(DynamicLoops, TimeFollowsTheIterationsThatRun) {
  const Machine& m = machine("trn2");
  const Program p = block_sums(m, 9);
  const auto seconds = [&](std::int32_t count) { return ran(p, count, Order::timed()).seconds; };
  const double none = seconds(0), one = seconds(1), eight = seconds(8), nine = seconds(9);
  EXPECT_GT(one, none + 2e-6) << "a load and an addition";
  EXPECT_GT(nine, eight + m.timing.branch_s);
  EXPECT_DOUBLE_EQ(estimate(p, m).seconds, nine);
}

// A while loop reads its register before every iteration: 600 cycles of 1.2 GHz to load it, a semaphore, the branch.
TEST(DynamicLoops, AWhileLoopWaitsForItsCondition) {
  const Machine& m = machine("trn2");
  const auto seconds = [&](std::int64_t most) {
    Builder b("waits", m);
    const Access n = b.register_alloc("n"), t = b.sbuf("t", 1, {1}, I32), y = b.output("y", I32, {1});
    b.memset(t, 1, Engine::Vector);
    b.register_load(n, t);
    b.while_loop("w", n, most, [&] { b.register_load(n, t); });
    b.dma_copy(y, t);
    return estimate(b.finish(), m).seconds;
  };
  const double each = 600 / 1.2e9 + m.timing.semaphore_s + m.timing.branch_s;
  EXPECT_NEAR(seconds(12) - seconds(2), 10 * each, 1e-9);
}

TEST(DynamicLoops, EmittedTextRunsTheSame) {
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    Builder b("emitted", machine(name));
    const Access x = b.input("x", F32, {12, 8}), y = b.output("y", F32, {12, 8}), z = b.output("z", F32, {4, 8});
    const Access count = b.sbuf("count", 1, {1}, I32), one = b.sbuf("one", 1, {1}, I32);
    const Access sum = b.sbuf("sum", 4, {8}, F32), rows = b.sbuf("rows", 12, {8}, F32);
    b.dma_copy(rows, x);
    b.dma_copy(y, rows);
    b.memset(one, 1);
    b.memset(count, 0);
    const Access n = b.register_alloc("n");
    b.register_load(n, count);
    b.fori_loop("never", n, 3, [&](const Affine& i) {
      const Access t = b.sbuf("s", 4, {8}, F32);
      b.memset(t, 5);
      b.dma_copy(y(ds(i * 4, 4), all), t);
    });
    b.memset(count, 2);
    b.register_load(n, count);
    b.fori_loop("twice", n, 3, [&](const Affine& i) {
      const Access t = b.sbuf("t", 4, {8}, F32);
      b.dma_copy(t, x(ds(i * 4, 4), all));
      b.tensor_tensor(t, t, t, AluOp::Multiply, Engine::Vector);
      b.dma_copy(y(ds(i * 4, 4), all), t);
    });
    b.memset(sum, 0);
    const Access more = b.register_alloc("more");
    b.register_load(more, count);
    b.while_loop("while", more, 3, [&] {
      const Access t = b.sbuf("u", 4, {8}, F32);
      b.dma_copy_at(t, x(ds(0, 4), all), {.src = {count, 32, 2}});
      b.tensor_tensor(sum, sum, t, AluOp::Add, Engine::Vector);
      b.tensor_tensor(count, count, one, AluOp::Subtract, Engine::GpSimd);
      b.register_load(more, count);
    });
    b.dma_copy(z, sum);
    const Program p = b.finish();
    const std::string text = emit_nki(p);
    const auto holds = [&](const char* part) { EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text; };
    holds("n = nisa.register_alloc()\n");
    holds("nisa.register_load(dst=n, src=count)\n");
    holds("nl.fori_loop(0, n, each_twice)\n");
    holds("        return more\n    nl.while_loop(more, each_while)\n");
    holds("x.reshape((3, 32)).ap(pattern=[[8, 4], [1, 8]], scalar_offset=count, indirect_dim=0)");
    testing::expect_agreement(p);
  }
}

// Two iterations of a parallel loop share a register.
TEST(Race, ARegisterOfAnotherIteration) {
  Rig rig;
  rig.options.check_races = true;
  const Access x = rig.input("x", I32, {2}, {3, 4}), y = rig.output("y", I32, {2});
  const Access r = rig.b.register_alloc("r");
  rig.b.parallel("i", 2, [&](const Affine& i) {
    rig.b.register_load(r, x(ds(i, 1)));
    rig.b.register_store(y(ds(i, 1)), r);
  });
  EXPECT_EQ(check_of([&] { rig.run(); }), "hazard-without-edge");
}

}  // namespace
}  // namespace trn::neuron::sim
