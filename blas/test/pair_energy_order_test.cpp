// The device program of pair_energy: the same bits in every legal order, no races, the formula itself when nothing
// rounds, the emitted NKI text, and the modelled time that the documentation states.
#include "pair_energy_support.hpp"

#include <cstring>

#include <trn/blas/pair_energy_program.hpp>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/sim.hpp>

#include "support/nki_run.hpp"

namespace trn::blas::test {
namespace {

using neuron::Order;
using neuron::SimOptions;

// The raw sums and norms of one run.
std::vector<float> run(const Molecule<float>& molecule, Mode mode, const char* machine_name,
                       const SimOptions& options) {
  const tile::Machine& machine = tile::machine(machine_name);
  const tile::Program program = pair_energy_program({mode, molecule.nocc, molecule.naux, molecule.nvir}, machine);
  Molecule<float> m = molecule;
  std::vector<float> sums, norms;
  for (const auto& tensor : program.tensors()) {
    if (tensor.name == "sums") sums.resize(static_cast<std::size_t>(element_count(tensor.shape)));
    if (tensor.name == "norms") norms.resize(static_cast<std::size_t>(element_count(tensor.shape)));
  }
  const std::vector<tile::Binding> bindings{{"b", m.b.data()},
                                            {"occupied", m.occupied.data()},
                                            {"virtuals", m.virtuals.data()},
                                            {"sums", sums.data()},
                                            {"norms", norms.data()}};
  (void)neuron::simulate(program, machine, bindings, options);
  sums.insert(sums.end(), norms.begin(), norms.end());
  return sums;
}

bool same_bits(const std::vector<float>& x, const std::vector<float>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

TEST(PairEnergyOrder, ShuffledEqualsInOrder) {
  const Molecule<float> m(3, 140, 150), wide(2, 30, 520);
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    const auto in_order = run(m, Mode::Tf32x3, machine, {.order = Order::in_order()});
    EXPECT_TRUE(same_bits(in_order, run(m, Mode::Tf32x3, machine, {.order = Order::timed()}))) << machine;
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      EXPECT_TRUE(same_bits(in_order, run(m, Mode::Tf32x3, machine, {.order = Order::shuffled(seed)})))
          << machine << " seed " << seed;
    }
    const auto two_blocks = run(wide, Mode::Native, machine, {.order = Order::in_order()});
    EXPECT_TRUE(same_bits(two_blocks, run(wide, Mode::Native, machine, {.order = Order::shuffled(7)}))) << machine;
  }
}

TEST(PairEnergyOrder, NoTwoParallelIterationsTouchTheSameBytes) {
  for (const char* machine : {"trn1", "trn2"}) {
    EXPECT_NO_THROW((void)run(Molecule<float>(3, 140, 150), Mode::Tf32x3, machine,
                              {.order = Order::in_order(), .check_races = true}))
        << machine;
    EXPECT_NO_THROW((void)run(Molecule<float>(2, 130, 520), Mode::Bf16x6, machine,
                              {.order = Order::in_order(), .check_races = true}))
        << machine;
  }
}

// With doubles on the chip what is left is the rounding of the per-partition sums in HBM.
TEST(PairEnergyOrder, WideIsTheFormulaWithoutRounding) {
  const Molecule<float> m(2, 60, 130);
  const Executor wide = neuron::open_simulator("trn2", {.storage = neuron::Storage::Wide, .order = Order::in_order()});
  const PairEnergy e = m.energy(wide);
  const auto exact = formula<double>(m);
  EXPECT_NEAR(e.opposite_spin / exact.first, 1, 0x1p-24);
  EXPECT_NEAR(e.same_spin / exact.second, 1, 0x1p-24);
}

TEST(PairEnergyNki, EmittedKernelGivesTheSimulatorsBits) {
  const neuron::testing::Inputs energies{
      {"occupied", [](std::int64_t i) { return -1.0 - 0.125 * static_cast<double>(i); }},
      {"virtuals", [](std::int64_t i) { return 0.5 + 0.0625 * static_cast<double>(i % 13); }}};
  for (const char* name : {"trn1", "trn2", "trn3"}) {
    SCOPED_TRACE(name);
    const tile::Machine& machine = tile::machine(name);
    neuron::testing::expect_agreement(pair_energy_program({Mode::Tf32x3, 2, 130, 131}, machine), energies);
  }
  neuron::testing::expect_agreement(pair_energy_program({Mode::Native, 1, 4, 514}, tile::machine("trn2")), energies);
  neuron::testing::expect_agreement(pair_energy_program({Mode::Bf16x6, 2, 20, 30, 3, 2}, tile::machine("trn2")),
                                    energies);
}

TEST(PairEnergyProgram, IsBuiltOncePerShape) {
  const Executor trn2 = Executor::open("sim:trn2");
  Recorder recorder(trn2);
  const PairEnergy first = Molecule<float>(2, 5, 6, 1).energy(trn2), second = Molecule<float>(2, 5, 6, 2).energy(trn2);
  EXPECT_EQ(recorder.count(EventKind::Build, "blas_pair_energy"), 1);
  EXPECT_NE(first.opposite_spin, second.opposite_spin);
}

// The medium shape of the literature on one trn2 core: the Tensor Engine binds, the Vector Engine is busy for less than
// a quarter.
TEST(PairEnergyModel, MediumShapeInTf32x3) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const neuron::RunReport report = neuron::estimate(pair_energy_program({Mode::Tf32x3, 64, 1536, 448}, trn2), trn2);
  EXPECT_LE(report.seconds, 66e-3);
  EXPECT_GE(report.utilisation("tensor"), 0.90);
  EXPECT_LE(report.utilisation("vector"), 0.25);
}

}  // namespace
}  // namespace trn::blas::test
