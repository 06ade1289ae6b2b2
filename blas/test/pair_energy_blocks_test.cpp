// pair_energy in blocks of occupied orbitals: the terms of two blocks are, bit for bit, those of the whole.
#include "pair_energy_support.hpp"

#include <trn/blas/pair_energy_program.hpp>
#include <trn/neuron/sim.hpp>

#include "support/nki_run.hpp"

namespace trn::blas::test {
namespace {

// The orbitals [first, first + count) and [second, second + more) of a molecule, one after the other.
template <class T>
Molecule<T> part(const Molecule<T>& m, std::int64_t first, std::int64_t count, std::int64_t second, std::int64_t more) {
  Molecule<T> out(0, m.naux, m.nvir);
  out.nocc = count + more;
  out.virtuals = m.virtuals;
  const auto panel = static_cast<std::size_t>(m.naux * m.nvir);
  const auto add = [&](std::int64_t i) {
    const auto at = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(i) * panel);
    out.occupied.push_back(m.occupied[static_cast<std::size_t>(i)]);
    out.b.insert(out.b.end(), m.b.begin() + at, m.b.begin() + at + static_cast<std::ptrdiff_t>(panel));
  };
  for (std::int64_t i = 0; i < count; ++i) add(first + i);
  for (std::int64_t i = 0; i < more; ++i) add(second + i);
  return out;
}

// Cuts five orbitals into blocks of two, two and one and compares every term with that of one call.
template <class T>
void expect_same_terms(const Executor& executor, const Molecule<T>& m, const PairEnergyOptions& options) {
  Recorder recorder(executor);
  const PairEnergy whole = m.energy(executor, options);
  const std::int64_t starts[] = {0, 2, 4, 5};
  const PairRange all{m.nocc, 0};
  double total = 0;
  const auto compare = [&](const PairTerm& term, std::int64_t i, std::int64_t j) {
    const PairTerm& expected = whole.pairs[static_cast<std::size_t>(all.row(i) + j - i)];
    EXPECT_EQ(term.opposite_spin, expected.opposite_spin) << i << " " << j;
    EXPECT_EQ(term.same_spin, expected.same_spin) << i << " " << j;
    EXPECT_GT(term.bound, 0);
    total += term.opposite_spin + term.same_spin;
  };
  for (int x = 0; x < 3; ++x) {
    const std::int64_t left = starts[x + 1] - starts[x];
    for (int y = x; y < 3; ++y) {
      const std::int64_t right = y > x ? starts[y + 1] - starts[y] : 0;
      PairEnergyOptions with = options;
      with.left = right > 0 ? left : 0;
      const PairEnergy block = part(m, starts[x], left, starts[y], right).energy(executor, with);
      const PairRange range{left + right, with.left};
      ASSERT_EQ(static_cast<std::int64_t>(block.pairs.size()), range.count());
      std::size_t at = 0;
      for (std::int64_t i = 0; i < range.rows(); ++i) {
        for (std::int64_t j = range.first(i); j < left + right; ++j, ++at) {
          compare(block.pairs[at], starts[x] + i, j < left ? starts[x] + j : starts[y] + j - left);
        }
      }
    }
  }
  EXPECT_NEAR(total, whole.opposite_spin + whole.same_spin, 1e-12 * std::abs(total));
  EXPECT_EQ(recorder.family_of("blas.pair_energy"), name(executor.family()));
}

// Two sets of columns side by side, as of two spins: the host leaves the zeros out, a device multiplies them. Both are
// the sum of the one block that is not zero, in double; an infinity is not lost beside zeros.
TEST(PairEnergyBlocks, ColumnsOfZeros) {
  for (const std::int64_t split : {1, 12, 39}) {
    Molecule<float> m(5, 30, 40);
    const auto at = [&](std::int64_t i, std::int64_t p, std::int64_t a) -> float& {
      return m.b[static_cast<std::size_t>((i * m.naux + p) * m.nvir + a)];
    };
    for (std::int64_t i = 0; i < m.nocc; ++i) {
      for (std::int64_t p = 0; p < m.naux; ++p) {
        for (std::int64_t a = 0; a < m.nvir; ++a) {
          if ((i < 2) != (a < split)) at(i, p, a) = 0;
        }
      }
    }
    for (const char* name : {"host", "sim:trn2"}) {
      const PairEnergy e = m.energy(Executor::open(name), {.left = 2});
      std::size_t next = 0;
      for (std::int64_t i = 0; i < 2; ++i) {
        for (std::int64_t j = 2; j < m.nocc; ++j, ++next) {
          double sum = 0;
          for (std::int64_t a = 0; a < split; ++a) {
            for (std::int64_t b = split; b < m.nvir; ++b) {
              double t = 0;
              for (std::int64_t p = 0; p < m.naux; ++p) t += static_cast<double>(at(i, p, a)) * at(j, p, b);
              sum += t * t /
                     (static_cast<double>(m.occupied[static_cast<std::size_t>(i)]) +
                      m.occupied[static_cast<std::size_t>(j)] - m.virtuals[static_cast<std::size_t>(a)] -
                      m.virtuals[static_cast<std::size_t>(b)]);
            }
          }
          EXPECT_LE(std::abs(e.pairs[next].opposite_spin - 2 * sum), e.pairs[next].bound) << name;
          EXPECT_LT(sum, 0);
        }
      }
    }
    at(3, 7, split) = INFINITY;
    EXPECT_TRUE(std::isnan(m.energy(Executor::host(), {.left = 2}).opposite_spin));
  }
}

TEST(PairEnergyBlocks, TermsAreThoseOfOneCall) {
  const Molecule<float> single(5, 40, 37);
  const Molecule<double> wide(5, 40, 37);
  expect_same_terms(Executor::host(), single, {});
  expect_same_terms(Executor::host(), wide, {});
  for (const char* name : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    const Executor sim = Executor::open(name);
    expect_same_terms(sim, single, {.precision = Mode::Tf32x3});
    expect_same_terms(sim, single, {.precision = Mode::Native});
    expect_same_terms(sim, wide, {.precision = Mode::Exact});
  }
}

TEST(PairEnergyBlocks, ProgramsRunInAnyOrderAndAsNki) {
  const Molecule<float> m(4, 130, 131);
  for (const char* machine : {"trn1", "trn2"}) {
    std::vector<PairTerm> first;
    for (const neuron::Order order :
         {neuron::Order::in_order(), neuron::Order::shuffled(3), neuron::Order::shuffled(4)}) {
      const Executor sim = neuron::open_simulator(machine, {.order = order, .check_races = true});
      const PairEnergy e = m.energy(sim, {.precision = Mode::Tf32x3, .left = 1});
      if (first.empty()) first = e.pairs;
      for (std::size_t k = 0; k < first.size(); ++k) EXPECT_EQ(e.pairs[k].opposite_spin, first[k].opposite_spin);
    }
  }
  const neuron::testing::Inputs energies{
      {"occupied", [](std::int64_t i) { return -1.0 - 0.125 * static_cast<double>(i); }},
      {"virtuals", [](std::int64_t i) { return 0.5 + 0.0625 * static_cast<double>(i % 13); }}};
  const PairEnergyShape shape{.mode = Mode::Tf32x3, .nocc = 3, .naux = 20, .nvir = 30, .left = 1};
  neuron::testing::expect_agreement(pair_energy_program(shape, tile::machine("trn2")), energies);
}

// A B that is off by a known amount: the bound covers the energy of the true one.
TEST(PairEnergyBlocks, BoundCoversAnInputErrorThatIsGiven) {
  const Molecule<double> m(3, 20, 15);
  Molecule<double> off = m;
  constexpr double kError = 1e-5;
  std::vector<double> errors(3);
  for (std::size_t i = 0; i < off.b.size(); ++i) {
    errors[i / 300] += kError * kError * off.b[i] * off.b[i];
    off.b[i] *= 1 + (i % 2 == 0 ? kError : -kError);
  }
  for (double& e : errors) e = 1.0001 * std::sqrt(e);
  const auto exact = formula<__float128>(m);
  const PairEnergy e = off.energy(Executor::host(), {.input_errors = errors});
  const double error = std::abs(e.opposite_spin + e.same_spin - exact.first - exact.second);
  EXPECT_LE(error, e.accuracy.bound);
  EXPECT_GT(error, off.energy(Executor::host()).accuracy.bound);
}

template <class F> void expect_refused(F call, const std::string& part_of_message) {
  try {
    call();
    FAIL() << "not refused: " << part_of_message;
  } catch (const InvalidArgument& e) {
    EXPECT_NE(std::string(e.what()).find(part_of_message), std::string::npos) << e.what();
  }
}

TEST(PairEnergyBlocks, OptionsOutOfRangeAreRefused) {
  const Molecule<double> m(3, 4, 5);
  const Executor host = Executor::host();
  expect_refused([&] { (void)m.energy(host, {.left = 3}); }, "`left` is 3 of 3 occupied orbitals");
  expect_refused([&] { (void)m.energy(host, {.left = -1}); }, "`left` is -1");
  expect_refused([&] { (void)m.energy(host, {.largest_energy = -1}); }, "`largest_energy` is -1");
  expect_refused([&] { (void)m.energy(host, {.input_errors = {0.1}}); }, "1 `input_errors` for 3 occupied orbitals");
  expect_refused([&] { (void)m.energy(host, {.input_errors = {0.1, -1, 0}}); }, "an input error is -1");
}

}  // namespace
}  // namespace trn::blas::test
