// Products of matrices of blocks on the host and on simulated devices: componentwise against 113-bit sums within the
// stated bound, the order of the engines, refusals, the modelled time, emitted text.
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/spgemm_programs.hpp>

#include "device_products.hpp"
#include "support/nki_run.hpp"

namespace trn::sparse {
namespace {

// Blocks on a random pattern; dense inside, or with single entries.
Bsr<float> blocks(std::int64_t rows, std::int64_t columns, std::int64_t block, std::int64_t per_row,
                  std::uint64_t seed) {
  return convert<Bsr<float>>(random_csr<float>(rows, columns, per_row, seed),
                             {.block_rows = block, .block_columns = block});
}

std::vector<float> check_product(const Executor& e, const Bsr<float>& a, const Bsr<float>& b, float alpha) {
  SCOPED_TRACE(fmt::format("{}: {} x {} times {} x {}", e.name(), a.rows(), a.columns(), b.rows(), b.columns()));
  const Bsr<float> x = a.to(e), y = b.to(e);
  const BlockSpgemmPlan<float> plan(e, x, y);
  Recorder recorder(e);
  const Bsr<float> c = plan.execute(alpha, x, y).to(Executor::host());
  const bool device = e.family() == Family::Device;
  if (device) {
    EXPECT_EQ(recorder.family_of("sparse.spgemm"), "device");
    EXPECT_EQ(recorder.count(EventKind::Run), c.pattern().nnz() > 0 ? 1 : 0);
    EXPECT_EQ(plan.report().modelled_seconds > 0, c.pattern().nnz() > 0);
  }
  const Csr<float> left = to_csr(a), right = to_csr(b);
  const std::vector<float> l = dense(left), r = dense(right), got = dense(to_csr(c));
  std::int64_t most = 0;
  for (std::int64_t i = 0; i < a.pattern().rows(); ++i)
    most = std::max(most, a.pattern().offsets().data()[i + 1] - a.pattern().offsets().data()[i]);
  const std::int64_t k = a.block_rows() * most;
  const auto roundings = static_cast<double>(device ? std::min<std::int64_t>(k, 128) + 2 * most + 4 : k + most + 2);
  const std::int64_t m = a.rows(), n = b.columns(), inner = a.columns();
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Quad sum = 0;
      double size = 0;
      for (std::int64_t q = 0; q < inner; ++q) {
        const float f = l[static_cast<std::size_t>(i * inner + q)];
        if (f == 0) continue;
        const Quad term = static_cast<Quad>(f) * r[static_cast<std::size_t>(q * n + j)];
        sum += term, size += std::abs(static_cast<double>(term));
      }
      const double error =
          std::abs(static_cast<double>(static_cast<Quad>(got[static_cast<std::size_t>(i * n + j)]) - sum * alpha));
      EXPECT_LE(error, roundings * 0x1p-24 * size * std::abs(alpha)) << i << ", " << j;
      if (!(error <= roundings * 0x1p-24 * size * std::abs(alpha))) return {};
    }
  }
  return got;
}

TEST(DeviceSpgemm, SizesFactorsAndMachines) {
  for (const char* machine : {"host", "sim:trn1", "sim:trn2", "sim:trn3"}) {
    const Executor e = Executor::open(machine);
    check_product(e, blocks(1, 1, 128, 1, 1), blocks(1, 1, 128, 1, 2), 1);
    check_product(e, blocks(300, 500, 128, 3, 1), blocks(500, 260, 128, 2, 2), 1);
    check_product(e, blocks(128, 129, 128, 20, 1), blocks(129, 700, 128, 20, 2), -0.5f);
  }
  check_product(Executor::host(), blocks(40, 50, 7, 2, 1), blocks(50, 33, 7, 2, 2), 2);
  check_product(device("sim:trn2"), blocks(300, 300, 128, 0, 1), blocks(300, 300, 128, 2, 2), 1);  // nothing
}

// More blocks of B than SBUF holds: they come with each product.
TEST(DeviceSpgemm, BThatDoesNotStay) {
  const std::int64_t n = 128 * 20;
  std::vector<std::int64_t> is, js;
  std::vector<float> values;
  for (std::int64_t i = 0; i < 20; ++i) {
    for (std::int64_t j = 0; j < 20; ++j) {
      is.push_back(128 * i + 3), js.push_back(128 * j + 5), values.push_back(static_cast<float>(i - j));
      is.push_back(128 * i + 5), js.push_back(128 * j + 3), values.push_back(0.5f);
    }
  }
  const Bsr<float> b = convert<Bsr<float>>(Csr<float>::from_triplets(Executor::host(), {n, n}, {is, js, values}),
                                           {.block_rows = 128, .block_columns = 128});
  EXPECT_EQ(b.pattern().nnz(), 400);
  check_product(device("sim:trn2"), blocks(128, n, 128, 2, 3), b, 1);
}

TEST(DeviceSpgemm, ShuffledOrderGivesTheSameBitsAndNothingRaces) {
  const Bsr<float> a = blocks(200, 300, 128, 3, 1), b = blocks(300, 600, 128, 2, 2);
  const auto run = [&](const neuron::SimOptions& o) {
    return check_product(neuron::open_simulator("trn2", o), a, b, 3);
  };
  const auto timed = run({});
  EXPECT_FALSE(timed.empty());
  for (const std::uint64_t seed : {1, 2}) EXPECT_EQ(timed, run({.order = neuron::Order::shuffled(seed)}));
  EXPECT_EQ(timed, run({.order = neuron::Order::in_order(), .check_races = true}));
}

TEST(DeviceSpgemm, Refusals) {
  const Executor& e = device("sim:trn2");
  const Bsr<float> a = blocks(300, 300, 128, 2, 1), small = blocks(300, 300, 64, 2, 1);
  EXPECT_IN("a device takes 128 x 128",
            message_of<NotImplemented>([&] { BlockSpgemmPlan<float>(e, small.to(e), small.to(e)); }));
  EXPECT_IN("of one size", message_of<InvalidArgument>([&] { BlockSpgemmPlan<float>(e, a.to(e), small.to(e)); }));
  EXPECT_IN("as many columns", message_of<InvalidArgument>(
                                   [&] { BlockSpgemmPlan<float>(e, a.to(e), blocks(301, 300, 128, 2, 1).to(e)); }));
  const BlockSpgemmPlan<float> plan(e, a.to(e), a.to(e));
  EXPECT_IN("other blocks",
            message_of<InvalidArgument>([&] { (void)plan.execute(1, a.to(e), blocks(300, 300, 128, 0, 1).to(e)); }));
}

TEST(DeviceSpgemm, EmittedKernelsGiveTheSimulatorsBits) {
  const Pattern<> a = blocks(130, 200, 128, 3, 1).pattern(), b = blocks(200, 260, 128, 2, 2).pattern();
  BlockSpgemmShape s = block_spgemm_shape(a, b, SpgemmPlan<float>(Executor::host(), a, b).pattern());
  s.scaled = true;
  for (const char* machine : {"trn1", "trn2"})
    neuron::testing::expect_agreement(block_spgemm_program(s, tile::machine(machine)));
}

// Three blocks a row, 64 rows: the square has 5.
TEST(DeviceSpgemm, ModelledTime) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const Pattern<> a = poisson<float>(64).pattern();
  const BlockSpgemmShape s = block_spgemm_shape(a, a, SpgemmPlan<float>(Executor::host(), a, a).pattern());
  const double micros = 1e6 * neuron::estimate(block_spgemm_program(s, trn2), trn2).seconds;
  EXPECT_NEAR(micros / 215, 1, 0.05) << micros << " us";
}

}  // namespace
}  // namespace trn::sparse
