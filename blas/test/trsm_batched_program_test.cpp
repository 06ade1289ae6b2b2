// The device kernel of trsm_batched, run as a program: residuals of every system, in any order; one system's trouble
// stays its own.
#include <trn/blas/trsm_batched_program.hpp>

#include "support/nki_run.hpp"
#include "trsm_support.hpp"

namespace trn::blas::test {
namespace {

using neuron::Order;

TrsmBatchedShape batch_of(const TrsmShape& s, std::int64_t count) {
  return {s.dtype, s.m, s.n, count, s.am, s.an, s.bm, s.bn, s.lower, s.unit, s.conj, s.alpha};
}

std::vector<TriangularProblem> systems(const TrsmCase& c, std::int64_t count, double off = 0.05) {
  std::vector<TriangularProblem> list;
  for (std::int64_t p = 0; p < count; ++p) list.emplace_back(shape_of(c), off, 1, 40 + static_cast<std::uint64_t>(p));
  return list;
}

void run(std::vector<TriangularProblem>& list, const char* machine_name,
         const neuron::SimOptions& options = {.order = Order::in_order()}) {
  const tile::Machine& machine = tile::machine(machine_name);
  std::vector<tile::Binding> bindings;
  for (std::size_t p = 0; p < list.size(); ++p) {
    list[p].x = list[p].b;
    bindings.push_back({fmt::format("a{}", p), list[p].a.data()});
    bindings.push_back({fmt::format("b{}", p), list[p].x.data()});
    bindings.push_back({fmt::format("x{}", p), list[p].x.data()});
  }
  if (list[0].s.alpha == Factor::Input) bindings.push_back({"alpha", list[0].alpha});
  (void)neuron::simulate(trsm_batched_program(batch_of(list[0].s, static_cast<std::int64_t>(list.size())), machine),
                         machine, bindings, options);
}

void check_batch(const char* machine, const TrsmCase& c, std::int64_t count) {
  SCOPED_TRACE(::testing::Message() << machine << (c.complex ? " complex " : " real ") << count << " of " << c.m
                                    << " x " << c.n << " variant " << c.variant);
  auto list = systems(c, count);
  run(list, machine);
  for (TriangularProblem& p : list) {
    EXPECT_LE(p.measure().to_terms, kNetlib);
    p.expect_gaps_untouched();
  }
}

TEST(TrsmBatchedProgram, EveryTriangleLayoutAndFactor) {
  for (int variant = 0; variant < 16; ++variant) {
    const int rest = (variant * 5 % 8) << 4;
    check_batch("trn2", {false, 20, 6, variant | rest}, 5);
    check_batch("trn2", {true, 11, 4, variant | rest}, 9);
  }
}

TEST(TrsmBatchedProgram, SizesAndCounts) {
  int variant = 0;
  for (const std::int64_t m : {1, 2, 16, 17, 64, 127, 128, 129, 140})
    check_batch("trn2", {false, m, 3, variant += 5}, 3);
  for (const std::int64_t m : {1, 17, 63, 64, 65}) check_batch("trn2", {true, m, 3, variant += 5}, 3);
  for (const std::int64_t n : {1, 127, 129, 300, 700})
    check_batch("trn2", {false, 9, n, variant += 5}, n < 500 ? 10 : 1);
  for (const std::int64_t count : {1, 2, 7, 8, 17}) check_batch("trn2", {false, 10, 70, variant += 5}, count);
  for (const char* machine : {"trn1", "trn3"}) {
    check_batch(machine, {false, 33, 20, 29}, 9);
    check_batch(machine, {true, 33, 20, 52}, 9);
    check_batch(machine, {false, 150, 20, 8}, 2);
  }
}

// One singular system, one with NaN in its right-hand side: the others keep their bits.
TEST(TrsmBatchedProgram, SystemsDoNotMeet) {
  auto good = systems({false, 30, 4, 1}, 9), bad = good;
  *bad[2].at_a(12, 12) = 0;
  *bad[5].at_b(bad[5].b, 3, 1) = NAN;
  run(good, "trn2");
  run(bad, "trn2");
  for (std::size_t p = 0; p < good.size(); ++p) {
    if (p != 2 && p != 5) {
      EXPECT_EQ(good[p].x, bad[p].x) << p;
    }
  }
  for (std::int64_t i = 0; i < 30; ++i) EXPECT_EQ(std::isfinite(*bad[2].at_b(bad[2].x, i, 0)), i < 12) << i;
  for (std::int64_t i = 3; i < 30; ++i) EXPECT_FALSE(std::isfinite(*bad[5].at_b(bad[5].x, i, 1))) << i;
}

TEST(TrsmBatchedProgram, ShuffledEqualsInOrderWithoutRaces) {
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    for (const TrsmCase& c : {TrsmCase{false, 20, 10, 16}, TrsmCase{true, 20, 10, 41}, TrsmCase{false, 135, 2, 5}}) {
      auto list = systems(c, c.m > 100 ? 2 : 11);
      run(list, machine, {.order = Order::in_order(), .check_races = true});
      const auto in_order = list;
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        run(list, machine, {.order = Order::shuffled(seed)});
        for (std::size_t p = 0; p < list.size(); ++p)
          EXPECT_EQ(list[p].x, in_order[p].x) << machine << " seed " << seed << " system " << p;
      }
    }
  }
}

TEST(TrsmBatchedProgram, EmittedKernelGivesTheSimulatorsBits) {
  neuron::testing::Inputs inputs;
  for (int p = 0; p < 3; ++p) {
    inputs[fmt::format("a{}", p)] = [p](std::int64_t e) {
      return e / 20 == e % 20 ? 2.0 + p : 0.01 * static_cast<double>(e % 13 - 6);
    };
  }
  neuron::testing::expect_agreement(
      trsm_batched_program(batch_of(shape_of({false, 20, 6, 17}), 3), tile::machine("trn2")), inputs);
}

TEST(TrsmBatchedProgram, Refusals) {
  const tile::Machine& trn2 = tile::machine("trn2");
  auto s = batch_of(shape_of({false, 4, 4}), 2);
  s.dtype = DType::Float64;
  EXPECT_THROW((void)trsm_batched_program(s, trn2), NotImplemented);
  s = batch_of(shape_of({false, 4, 4}), 0);
  EXPECT_THROW((void)trsm_batched_program(s, trn2), InvalidArgument);
  s = batch_of(shape_of({false, 4, 4}), 2);
  s.alpha = Factor::Zero;
  EXPECT_THROW((void)trsm_batched_program(s, trn2), InvalidArgument);
}

// A thousand systems of 64 rows and 64 right-hand sides in one program.
TEST(TrsmBatchedModel, AThousandSystemsOf64) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const auto r = neuron::estimate(trsm_batched_program(batch_of(shape_of({false, 64, 64, 1}), 1000), trn2), trn2);
  EXPECT_LE(r.seconds, 8.5e-3);
}

}  // namespace
}  // namespace trn::blas::test
