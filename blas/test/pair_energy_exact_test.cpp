// pair_energy of float64 operands on the simulated machines, which have no float64: the energy within 5e-12 of
// __float128 (a column of one element errs by 4 * 2^-42) and within its bound, which itself is at most 1e-9 of the
// energy; exponents at both ends; the program's order, races and NKI text.
#include "pair_energy_support.hpp"

#include <cstring>
#include <map>

#include <trn/blas/pair_energy_program.hpp>
#include <trn/neuron/nki.hpp>
#include <trn/neuron/sim.hpp>

#include "support/nki_run.hpp"

namespace trn::blas::test {
namespace {

using neuron::Order;

// One executor per machine: the probe that Exact needs runs once on each.
const Executor& opened(const std::string& name) {
  static std::map<std::string, Executor> executors;
  const auto found = executors.find(name);
  return found != executors.end() ? found->second : executors.emplace(name, Executor::open(name)).first->second;
}

PairEnergy exact_energy(const Molecule<double>& m, const char* executor_name) {
  const Executor& executor = opened(executor_name);
  Recorder recorder(executor);
  const PairEnergy e = m.energy(executor, {.precision = Mode::Exact});
  EXPECT_EQ(recorder.family_of("blas.pair_energy"), "device");
  EXPECT_EQ(e.accuracy.mode, Mode::Exact);
  return e;
}

// Sizes across the edges of partitions, groups of 768 auxiliary functions and row tiles.
TEST(PairEnergyExact, MatchesTheFormula) {
  struct {
    std::int64_t nocc, naux, nvir;
  } const sizes[] = {{1, 1, 1},    {2, 5, 3},    {5, 127, 5}, {4, 100, 19}, {2, 128, 31}, {2, 129, 33},
                     {2, 769, 20}, {1, 1600, 9}, {2, 5, 128}, {2, 9, 129},  {1, 3, 449}};
  for (const auto& x : sizes) {
    for (const char* machine : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
      if (x.nvir > 200 && machine[7] != '2') continue;
      SCOPED_TRACE(::testing::Message() << machine << " " << x.nocc << " x " << x.naux << " x " << x.nvir);
      const Molecule<double> m(x.nocc, x.naux, x.nvir);
      const PairEnergy e = exact_energy(m, machine);
      const auto exact = formula<__float128>(m);
      expect_within_bound(e, exact, 1e-9);
      const double total = exact.first + exact.second;
      EXPECT_LE(std::abs(e.opposite_spin + e.same_spin - total), 5e-12 * std::abs(total));
    }
  }
}

TEST(PairEnergyExact, ScalesOfAllSizes) {
  for (const int power : {-150, 0, 150}) {
    Molecule<double> m(2, 30, 7);
    for (double& x : m.b) x = std::ldexp(x, power);
    m.b[5] = 0;
    m.b[6] = 5e-324;  // far below the last slice
    m.b[8] = std::ldexp(m.b[8], -30);
    const PairEnergy e = exact_energy(m, "sim:trn2");
    const auto exact = formula<__float128>(m);
    expect_within_bound(e, exact, 1e-9);
    EXPECT_LE(std::abs((e.opposite_spin + e.same_spin) / (exact.first + exact.second) - 1), 5e-12) << power;
  }
  Molecule<double> tiny(1, 2, 2);
  for (double& x : tiny.b) x = 1e-300;
  EXPECT_EQ(exact_energy(tiny, "sim:trn2").opposite_spin, 0);
  for (const double special : {static_cast<double>(INFINITY), static_cast<double>(NAN)}) {
    Molecule<double> m(2, 3, 4);
    m.b[7] = special;
    EXPECT_TRUE(std::isnan(exact_energy(m, "sim:trn2").opposite_spin));
  }
}

// Small gaps among large energies: denominators from words that are cut far above them. The bound holds; where the gap
// is lost it is infinite, never a number that is not one.
TEST(PairEnergyExact, SmallGapsAmongLargeEnergies) {
  std::mt19937_64 random(7);
  const auto between = [&](double a, double b) { return std::uniform_real_distribution<double>(a, b)(random); };
  int finite = 0, lost = 0;
  for (const double gap : {1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-8}) {
    for (const double far : {2.0, 300.0, 1e4}) {
      for (const bool core : {false, true}) {
        for (const char* machine : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
          Molecule<double> m(2, 3, 3);
          m.occupied = {-gap / 2 * (1 + between(0, 0.01)), core ? -between(20, 21) : -gap};
          m.virtuals = {gap / 2 * (1 + between(0, 0.01)), between(far / 2, far), 2 * gap};
          for (double& x : m.b) x = between(-1, 1);
          SCOPED_TRACE(::testing::Message()
                       << machine << " gap " << gap << ", virtual " << m.virtuals[1] << ", occupied " << m.occupied[1]);
          const PairEnergy e = exact_energy(m, machine);
          ASSERT_FALSE(std::isnan(e.accuracy.bound));
          if (std::isinf(e.accuracy.bound)) {
            const double most = std::abs(m.occupied[1]) + m.virtuals[1];
            EXPECT_LT(2 * gap, 0x1p-14 * most + 4 * gap * 0x1p-14);  // as the header says
            ++lost;
            continue;
          }
          ++finite;
          const auto exact = formula<__float128>(m);
          EXPECT_LE(std::abs(e.opposite_spin + e.same_spin - (exact.first + exact.second)),
                    e.accuracy.bound + 1e-15 * std::abs(exact.first + exact.second));
        }
      }
    }
  }
  EXPECT_GE(finite, 50);
  EXPECT_GE(lost, 20);
}

// Every bit of double counts that lies within 2^-42 of a column's largest element: B is not first rounded to float.
TEST(PairEnergyExact, SeesWhatFloatDoesNot) {
  Molecule<double> m(1, 1, 1);
  m.occupied = {-1};
  m.virtuals = {1};
  m.b = {1 + 0x1p-30};
  EXPECT_NEAR(exact_energy(m, "sim:trn2").opposite_spin * -4, 1 + 4 * 0x1p-30, 0x1p-40);  // (1 + x)^4 / 4
}

TEST(PairEnergyExact, TargetReachesIt) {
  const Molecule<double> m(2, 40, 12);
  const Executor& trn2 = opened("sim:trn2");
  const double total = std::abs(exact_energy(m, "sim:trn2").opposite_spin);
  EXPECT_EQ(m.energy(trn2, {.precision = Precision::target(1e-8 * total)}).accuracy.mode, Mode::Exact);
  EXPECT_THROW((void)m.energy(trn2, {.precision = Precision::target(1e-16 * total)}), InvalidArgument);
}

std::vector<float> run(const Molecule<double>& m, const char* machine_name, const neuron::SimOptions& options) {
  const tile::Machine& machine = tile::machine(machine_name);
  const tile::Program program = sliced_pair_energy_program({m.nocc, m.naux, m.nvir}, machine);
  std::vector<double> b = m.b;
  std::vector<float> occupied(static_cast<std::size_t>(3 * m.nocc), 0),
      virtuals(static_cast<std::size_t>(3 * m.nvir), 0), sums, norms;
  std::vector<float> exponents(static_cast<std::size_t>(m.nocc * m.nvir), 126.0f - 1023.0f),
      powers(exponents.size(), 1);
  for (std::size_t i = 0; i < m.occupied.size(); ++i)
    occupied[i] = std::ldexp(std::round(std::ldexp(static_cast<float>(m.occupied[i]), 9)), -9);
  for (std::size_t i = 0; i < m.virtuals.size(); ++i)
    virtuals[i] = std::ldexp(std::round(std::ldexp(static_cast<float>(m.virtuals[i]), 9)), -9);
  for (const auto& tensor : program.tensors()) {
    if (tensor.name == "sums") sums.resize(static_cast<std::size_t>(element_count(tensor.shape)));
    if (tensor.name == "norms") norms.resize(static_cast<std::size_t>(element_count(tensor.shape)));
  }
  const std::vector<tile::Binding> bindings{{"b", b.data()},
                                            {"occupied", occupied.data()},
                                            {"virtuals", virtuals.data()},
                                            {"exponents", exponents.data()},
                                            {"powers", powers.data()},
                                            {"sums", sums.data()},
                                            {"norms", norms.data()}};
  (void)neuron::simulate(program, machine, bindings, options);
  sums.insert(sums.end(), norms.begin(), norms.end());
  return sums;
}

TEST(PairEnergyExact, ShuffledEqualsInOrderAndNoRaces) {
  const Molecule<double> m(2, 140, 131);
  for (const char* machine : {"trn1", "trn2"}) {
    const auto in_order = run(m, machine, {.order = Order::in_order(), .check_races = true});
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const auto shuffled = run(m, machine, {.order = Order::shuffled(seed)});
      ASSERT_EQ(in_order.size(), shuffled.size());
      EXPECT_EQ(std::memcmp(in_order.data(), shuffled.data(), in_order.size() * sizeof(float)), 0)
          << machine << " seed " << seed;
    }
  }
}

TEST(PairEnergyExact, EmittedKernelGivesTheSimulatorsBits) {
  const neuron::testing::Inputs inputs{
      {"b",
       [](std::int64_t i) {  // low and high words of numbers between 2^-4 and 1
         const auto mixed = static_cast<std::uint32_t>(i * 2654435761);
         return i % 2 == 0 ? static_cast<double>(mixed)
                           : static_cast<double>((mixed & 0x800fffffu) |
                                                 ((1022u - static_cast<std::uint32_t>(i / 2 % 4)) << 20));
       }},
      {"occupied",
       [](std::int64_t i) { return i < 2   ? -1.0 - 0.125 * static_cast<double>(i)
                                   : i < 4 ? 0x1p-14
                                           : 0x1p-30; }},
      {"virtuals",
       [](std::int64_t i) { return i < 20   ? 0.5 + 0.0625 * static_cast<double>(i)
                                   : i < 40 ? -0x1p-15
                                            : -0x1p-31; }},
      {"exponents", [](std::int64_t) { return 126.0 - 1022.0; }},
      {"powers", [](std::int64_t i) { return i % 3 == 0 ? 0.25 : 1.0; }}};
  neuron::testing::expect_agreement(sliced_pair_energy_program({2, 30, 20}, tile::machine("trn2")), inputs);
}

// (H2O)8 in cc-pVDZ on one trn2 core: products and what follows them overlap.
TEST(PairEnergyExact, ModelOfWaterOctamer) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const neuron::RunReport report = neuron::estimate(sliced_pair_energy_program({40, 672, 152}, trn2), trn2);
  EXPECT_LE(report.seconds, 36e-3);
  EXPECT_GE(report.utilisation("vector"), 0.69);
  EXPECT_GE(report.utilisation("tensor"), 0.58);
}

}  // namespace
}  // namespace trn::blas::test
