// Sampled products on simulated devices: componentwise against 113-bit sums.
#include <cmath>

#include <trn/core/event.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/sddmm_programs.hpp>
#include <trn/sparse/spgemm.hpp>
#include <trn/tile/words.hpp>

#include "sparse_support.hpp"
#include "support/nki_run.hpp"

namespace trn::sparse {
namespace {

struct Case {
  std::int64_t rows, columns, k, per_row;
  float alpha = 1, beta = 0;
  bool column_major = false;
};

// The bound of spgemm.hpp for devices, from the table of words.
std::vector<float> check(const Executor& e, const Case& c) {
  SCOPED_TRACE(fmt::format("{}: {} x {}, k {}", e.name(), c.rows, c.columns, c.k));
  Csr<float> s = random_csr<float>(c.rows, c.columns, c.per_row, 5);
  if (c.beta == 0) {
    const std::vector<float> nan(static_cast<std::size_t>(s.nnz()), std::nanf(""));
    s = s.with_values(VectorView<const float>(Executor::host(), nan.data(), s.nnz()));
  }
  const std::vector<float> a = random_vector<float>(std::max<std::int64_t>(1, c.rows * c.k), 1),
                           b = random_vector<float>(std::max<std::int64_t>(1, c.k * c.columns), 2);
  const auto ad = Array<float>::from_host(e, {static_cast<std::int64_t>(a.size())}, a),
             bd = Array<float>::from_host(e, {static_cast<std::int64_t>(b.size())}, b);
  const std::int64_t ar = c.column_major ? 1 : c.k, ac = c.column_major ? c.rows : 1;
  const std::int64_t br = c.column_major ? 1 : c.columns, bc = c.column_major ? c.k : 1;
  Recorder recorder(e);
  const Csr<float> r = sddmm<float>(e, c.alpha, MatrixView<const float>(e, ad.data(), c.rows, c.k, ar, ac),
                                    MatrixView<const float>(e, bd.data(), c.k, c.columns, br, bc), c.beta, s.to(e))
                           .to(Executor::host());
  EXPECT_EQ(recorder.family_of("sparse.sddmm"), "device");
  EXPECT_EQ(recorder.count(EventKind::Run), s.nnz() > 0 ? 1 : 0);
  EXPECT_TRUE(r.pattern().equals(s.pattern()));
  const double bound =
      (tile::sum_roundings(tile::words_of(Mode::Native), std::max<std::int64_t>(1, c.k)) + 3) * 0x1p-24;
  for (std::int64_t i = 0; i < c.rows; ++i) {
    for (std::int64_t n = s.pattern().offsets().data()[i]; n < s.pattern().offsets().data()[i + 1]; ++n) {
      const std::int64_t j = s.pattern().indices().data()[n];
      Quad sum = 0;
      double size = 0;
      for (std::int64_t l = 0; l < c.k; ++l) {
        const Quad x = static_cast<Quad>(a[static_cast<std::size_t>(i * ar + l * ac)]) *
                       b[static_cast<std::size_t>(l * br + j * bc)];
        sum += x, size += std::abs(static_cast<double>(x));
      }
      sum *= c.alpha, size *= std::abs(static_cast<double>(c.alpha));
      const float given = s.values().data()[n];
      if (c.beta != 0) sum += static_cast<Quad>(c.beta) * given, size += std::abs(static_cast<double>(c.beta) * given);
      const double error = std::abs(static_cast<double>(static_cast<Quad>(r.values().data()[n]) - sum));
      EXPECT_LE(error, bound * size) << i << ", " << j;
      if (!(error <= bound * size)) return {};
    }
  }
  return {r.values().data(), r.values().data() + r.nnz()};
}

TEST(DeviceSddmm, SizesAcrossTheEdgesFactorsAndLayouts) {
  for (const char* name : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    const Executor e = Executor::open(name);
    check(e, {1, 1, 1, 1});
    check(e, {127, 129, 128, 3, 2, 0});
    check(e, {300, 260, 129, 4, -0.5f, 1.5f});
    check(e, {128, 700, 5, 20, 1, 1, true});
    check(e, {140, 130, 260, 2, 1, 0, true});
    check(e, {200, 100, 3, 2, 0, 2});
    check(e, {200, 100, 3, 2, 0, 0});
    check(e, {200, 100, 0, 2, 1, 3});
    check(e, {5, 4, 3, 0});
    check(e, {1200, 1200, 2, 160, 2, -1});  // more entries than are fetched at a time
  }
}

TEST(DeviceSddmm, ShuffledOrderGivesTheSameBits) {
  const Case c{300, 260, 129, 4, 2, 3};
  const auto run = [&](const neuron::SimOptions& o) { return check(neuron::open_simulator("trn2", o), c); };
  const auto timed = run({});
  for (const std::uint64_t seed : {1, 2, 3}) EXPECT_EQ(timed, run({.order = neuron::Order::shuffled(seed)}));
  EXPECT_EQ(timed, run({.order = neuron::Order::in_order(), .check_races = true}));
}

// More copies than the kernel that picks is for: the entries are fetched from whole blocks in memory.
TEST(DeviceSddmm, RowsOfManyLengthsAreFetched) {
  const Case c{20000, 20, 2, 3, -2, 1};
  EXPECT_FALSE(
      picks(picked_shape(random_csr<float>(c.rows, c.columns, c.per_row, 5).pattern(), c.k), tile::machine("trn2")));
  check(Executor::open("sim:trn2"), c);
}

// Windows wider than what is in SBUF at a time, and B that is not kept there.
TEST(DeviceSddmm, WideWindowsInGroups) {
  const Case c{140, 9000, 300, 150, 2, 3};
  const PickedShape s = picked_shape(random_csr<float>(c.rows, c.columns, c.per_row, 5).pattern(), c.k);
  EXPECT_GT(s.groups.size(), 4u);
  check(Executor::open("sim:trn2"), c);
}

TEST(DeviceSddmm, RefusalsAndEmittedText) {
  const Executor trn2 = Executor::open("sim:trn2");
  EXPECT_THROW(check(trn2, {4, 4, 5000, 2}), NotImplemented);
  SddmmShape s{{140, 20, 130, 200, 130, 1, 20, 1, true, true}, {0, 1, 2}, {0, 0}};
  neuron::testing::expect_agreement(sddmm_program(s, tile::machine("trn2")),
                                    {{"index", [](std::int64_t i) { return static_cast<double>(i % 20); }}});
  PickedShape p = picked_shape(random_csr<float>(140, 90, 3, 5).pattern(), 130);
  p.operands.scaled = p.operands.added = true;
  for (const char* machine : {"trn1", "trn2"})
    neuron::testing::expect_agreement(picked_program(p, tile::machine(machine)),
                                      {{"index", [](std::int64_t i) { return static_cast<double>(i % 20); }}});
}

// 27-point 32^3, k = 128; the design had 410 us in bf16.
TEST(DeviceSddmm, ModelledTime) {
  const Pattern<> pattern = stencil27<float>(32, 32, 32).pattern();
  const double micros =
      1e6 * neuron::estimate(picked_program(picked_shape(pattern, 128), tile::machine("trn2")), tile::machine("trn2"))
                .seconds;
  EXPECT_NEAR(micros / 434, 1, 0.05) << micros << " us";
}

}  // namespace
}  // namespace trn::sparse
