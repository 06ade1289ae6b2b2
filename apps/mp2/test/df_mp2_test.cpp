// DF-MP2: the formula in long double, bits over threads and blocks, memory, and what is refused.
#include "mp2_support.hpp"

#include <omp.h>

#include <cmath>

#include <trn/core/event.hpp>
#include <trn/mp2/contracted.hpp>
#include <trn/mp2/integrals.hpp>
#include <trn/mp2/panel_store.hpp>

namespace trn::mp2::test {
namespace {

struct System {
  Molecule molecule;
  Basis orbital, fitting;
  Scf scf;
  System(const std::string& name, const std::string& basis)
      : molecule(test::molecule(name)),
        orbital(bundled_basis(basis), molecule),
        fitting(bundled_basis(fitting_sets(bundled_basis(basis)).ri), molecule, orbital.functions()),
        scf(rhf(molecule, orbital, nullptr, spin_counts(molecule, 1).alpha, {})) {}
};

// E from the integrals and orbitals by plain loops: Cholesky, forward substitution, T_ab (2 T_ab - T_ba) / D over all
// ordered pairs.
long double formula(const System& s, std::int64_t frozen) {
  using Real = long double;
  const auto at = [](std::vector<Real>& v, std::int64_t i, std::int64_t j, std::int64_t n) -> Real& {
    return v[static_cast<std::size_t>(i * n + j)];
  };
  const std::int64_t n = s.orbital.size(), naux = s.fitting.size(), first = frozen, no = s.scf.occupied - frozen,
                     nv = s.scf.orbitals.columns - s.scf.occupied;
  std::vector<double> three(static_cast<std::size_t>(naux * n * n));
  ThreeCentre(s.orbital, s.fitting).compute(0, static_cast<std::int64_t>(s.fitting.shells().size()), three.data());
  const Dense metric = coulomb_metric(s.fitting);
  std::vector<Real> l(static_cast<std::size_t>(naux * naux)), b(static_cast<std::size_t>(naux * no * nv));
  for (std::int64_t i = 0; i < naux; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      Real sum = metric(i, j);
      for (std::int64_t k = 0; k < j; ++k) sum -= at(l, i, k, naux) * at(l, j, k, naux);
      at(l, i, j, naux) = i == j ? std::sqrt(sum) : sum / at(l, j, j, naux);
    }
  }
  for (std::int64_t p = 0; p < naux; ++p) {
    for (std::int64_t i = 0; i < no; ++i) {
      std::vector<Real> half(static_cast<std::size_t>(n));
      for (std::int64_t m = 0; m < n; ++m) {
        for (std::int64_t k = 0; k < n; ++k)
          half[static_cast<std::size_t>(k)] +=
              static_cast<Real>(s.scf.orbitals(m, first + i)) * three[static_cast<std::size_t>((p * n + m) * n + k)];
      }
      for (std::int64_t a = 0; a < nv; ++a) {
        Real sum = 0;
        for (std::int64_t k = 0; k < n; ++k)
          sum += half[static_cast<std::size_t>(k)] * s.scf.orbitals(k, s.scf.occupied + a);
        for (std::int64_t q = 0; q < p; ++q) sum -= at(l, p, q, naux) * at(b, q, i * nv + a, no * nv);
        at(b, p, i * nv + a, no * nv) = sum / at(l, p, p, naux);
      }
    }
  }
  Real energy = 0;
  const auto e = [&](std::int64_t k) { return static_cast<Real>(s.scf.orbital_energies[static_cast<std::size_t>(k)]); };
  for (std::int64_t i = 0; i < no; ++i) {
    for (std::int64_t j = 0; j < no; ++j) {
      for (std::int64_t a = 0; a < nv; ++a) {
        for (std::int64_t c = 0; c < nv; ++c) {
          Real direct = 0, exchange = 0;
          for (std::int64_t q = 0; q < naux; ++q) {
            direct += at(b, q, i * nv + a, no * nv) * at(b, q, j * nv + c, no * nv);
            exchange += at(b, q, i * nv + c, no * nv) * at(b, q, j * nv + a, no * nv);
          }
          energy += direct * (2 * direct - exchange) /
                    (e(first + i) + e(first + j) - e(s.scf.occupied + a) - e(s.scf.occupied + c));
        }
      }
    }
  }
  return energy;
}

TEST(DfMp2, IsTheFormula) {
  const System s("h2o", "6-31G*");  // cartesian functions, fitted with cartesian ones
  for (const std::int64_t frozen : {0, 1}) {
    const DfMp2 e = df_mp2(Executor::host(), s.scf, s.orbital, s.fitting, {.frozen = frozen});
    EXPECT_NEAR(e.energy(), static_cast<double>(formula(s, frozen)), 1e-12);
    EXPECT_LE(std::abs(e.energy() - static_cast<double>(formula(s, frozen))), e.bound);
    EXPECT_EQ(e.correlated, 5 - frozen);
  }
}

// The same energy by trntensor (contracted.hpp) around trnsolver's factor, with a core orbital frozen and without.
TEST(DfMp2, IsTheSameByContractions) {
  const System s("h2o", "6-31G*");
  const Executor host = Executor::host(), trn2 = Executor::open("sim:trn2");
  for (const std::int64_t frozen : {0, 1}) {
    const double energy = df_mp2(host, s.scf, s.orbital, s.fitting, {.frozen = frozen}).energy();
    EXPECT_NEAR(contracted_mp2(host, s.scf, s.orbital, s.fitting, {.frozen = frozen}).energy, energy, 1e-12);
    if (frozen == 0) continue;
    const Recorder recorder(trn2);
    const ContractedMp2 there = contracted_mp2(trn2, s.scf, s.orbital, s.fitting, {.frozen = frozen});
    EXPECT_NEAR(there.energy, energy, 1e-12);
    ASSERT_EQ(there.stages.size(), 1u);
    EXPECT_EQ(there.stages[0].precision, "float64 exact");
    EXPECT_EQ(recorder.family_of("blas.gemm"), "device");  // contractions in Exact are its products
    EXPECT_EQ(recorder.family_of("solver.potrf"), "device");
    EXPECT_EQ(recorder.family_of("blas.trsm"), "device");
  }
  expect_message(
      [&] { (void)contracted_mp2(host, s.scf, s.orbital, s.fitting, {.memory_bytes = std::int64_t{1} << 18}); },
      "mp2: contractions of whole tensors take ");
  expect_message([&] { (void)contracted_mp2(host, s.scf, s.orbital, s.fitting, {.frozen = 5}); },
                 "0 orbitals to correlate");
}

// In memory and through a file, whole and in blocks, on one thread and on three: the same bits, and the result says
// what happened.
TEST(DfMp2, BitsDependOnNeitherThreadsNorMemory) {
  const System s("h2o", "6-31G*");
  const int before = omp_get_max_threads();
  struct Case {
    Executor executor;
    DfMp2Options options;
  };
  const Executor trn2 = Executor::open("sim:trn2");
  const Case cases[] = {{Executor::host(), {}},
                        {Executor::host(), {.precision = Mode::Exact}},
                        {trn2, {.precision = Mode::Exact}},
                        {trn2, {.precision = Mode::Tf32x3}},
                        {trn2, {.precision = Mode::Native, .fit = FitPrecision::Same}}};
  for (const Case& c : cases) {
    const DfMp2 whole = df_mp2(c.executor, s.scf, s.orbital, s.fitting, c.options);
    EXPECT_EQ(whole.blocks, 1);
    EXPECT_FALSE(whole.streamed);
    EXPECT_EQ(whole.streamed_bytes, 0);
    for (const int threads : {1, 3}) {
      omp_set_num_threads(threads);
      DfMp2Options little = c.options;
      little.memory_bytes = 1000;
      const std::int64_t least =
          least_memory([&] { (void)df_mp2(c.executor, s.scf, s.orbital, s.fitting, little); }, "give at least ");
      for (const bool file : {false, true}) {
        for (const std::int64_t block : {0, 1, 2}) {
          if (c.executor.family() == Family::Device && block == 1) continue;
          DfMp2Options options = c.options;
          options.block = block;
          if (file) options.memory_bytes = least;
          const DfMp2 e = df_mp2(c.executor, s.scf, s.orbital, s.fitting, options);
          const std::string what =
              fmt::format("{} {} threads, file {}, block {}", c.executor.name(), threads, file, block);
          EXPECT_EQ(e.opposite_spin, whole.opposite_spin) << what;
          EXPECT_EQ(e.same_spin, whole.same_spin) << what;
          EXPECT_EQ(e.streamed, file) << what;
          EXPECT_EQ(e.streamed_bytes > 0, file) << what;
          const std::int64_t blocks = block > 0 ? (whole.correlated + block - 1) / block : e.blocks;
          EXPECT_EQ(e.blocks, blocks) << what;
        }
      }
      if (c.executor.family() == Family::Device) break;
    }
    omp_set_num_threads(before);
  }
}

// B through a file in blocks of one to four of 22 orbitals: bits again, and exactly the bytes that the algorithm has to
// move.
TEST(DfMp2, StreamsFromDiskWhenMemoryIsShort) {
  const Molecule m = parse_xyz("6\n\nNe 0 0 0\nNe 3 0 0\nNe 0 3 0\nNe 3 3 0\nNe 0 0 3\nNe 3 0 3\n", "ne6");
  const Basis orbital(bundled_basis("STO-3G"), m), fitting(bundled_basis("cc-pVDZ-RI"), m);
  Scf scf;  // any orthonormal orbitals will do
  scf.converged = true;
  scf.occupied = orbital.size() - 8;
  scf.orbitals = Dense(orbital.size(), orbital.size());
  for (std::int64_t i = 0; i < orbital.size(); ++i) {
    scf.orbitals(i, i) = 1;
    scf.orbital_energies.push_back(i < scf.occupied ? -2.0 + 0.01 * static_cast<double>(i)
                                                    : 1.0 + 0.01 * static_cast<double>(i));
  }
  const auto run = [&](std::int64_t memory, std::int64_t block) {
    return df_mp2(Executor::host(), scf, orbital, fitting, {.memory_bytes = memory, .block = block});
  };
  const DfMp2 whole = run(std::int64_t{1} << 31, 0);
  const std::int64_t least = least_memory([&] { (void)run(1000, 0); }, "give at least "), nocc = scf.occupied,
                     panel = 8 * 8 * fitting.size();
  for (std::int64_t block = 1; block <= 4; ++block) {
    const DfMp2 e = run(least, block);
    EXPECT_EQ(e.energy(), whole.energy());
    EXPECT_TRUE(e.streamed);
    EXPECT_EQ(e.blocks, (nocc + block - 1) / block);
    std::int64_t panels = 3 * nocc;  // written, then read and written by the solve
    for (std::int64_t i = 0; i < nocc; i += block) panels += nocc - i;
    EXPECT_EQ(e.streamed_bytes, panels * panel);
  }
  expect_message([&] { (void)run(1000, -1); }, "blocks of -1 occupied orbitals");
}

TEST(PanelStore, FileAndMemoryHoldTheSame) {
  for (const auto place : {PanelStore<double>::Place::Memory, PanelStore<double>::Place::File}) {
    PanelStore<double> store(place, 3, 4, 5, "/tmp");
    EXPECT_EQ(store.memory() == nullptr, place == PanelStore<double>::Place::File);
    std::vector<double> values(60), back(40);
    for (std::size_t i = 0; i < 60; ++i) values[i] = static_cast<double>(i);
    for (std::int64_t panel = 2; panel >= 0; --panel) {
      store.write(panel, 2, 2, values.data() + panel * 20 + 10);
      store.write(panel, 0, 2, values.data() + panel * 20);
    }
    store.read(1, 2, back.data());
    EXPECT_EQ(back, std::vector<double>(values.begin() + 20, values.end()));
  }
  expect_message([] { PanelStore<float>(PanelStore<float>::Place::File, 1, 1, 1, "/nowhere"); },
                 "cannot make a temporary file in '/nowhere': No such file");
}

TEST(DfMp2, RefusesWhatItCannotDo) {
  const System s("h2o", "STO-3G");
  const Executor host = Executor::host();
  expect_message([&] { (void)df_mp2(host, s.scf, s.orbital, s.fitting, {.precision = static_cast<Mode>(6)}); },
                 "mp2: Mode is 6, which is none of its values 0 to 5");
  expect_message([&] { (void)df_mp2(host, s.scf, s.orbital, s.fitting, {.fit = static_cast<FitPrecision>(2)}); },
                 "mp2: FitPrecision is 2, which is none of its values 0 to 1");
  expect_message([&] { (void)df_mp2(host, s.scf, s.orbital, s.fitting, {.frozen = 5}); },
                 "5 of 5 occupied orbitals are frozen");
  expect_message<NotImplemented>([&] { (void)df_mp2(host, s.scf, s.orbital, s.fitting, {.precision = Mode::Tf32x3}); },
                                 "the host computes in float64, not in tf32x3");
  expect_message<InvalidArgument>(
      [&] { (void)df_mp2(host, s.scf, s.orbital, s.fitting, {.precision = Precision::target(1e-20)}); },
      "above the target 1e-20");
  Mp2Options options;
  options.basis = "STO-3G";
  options.frozen_core = true;
  options.jk_kind = JkKind::Exact;
  const Molecule lithium = parse_xyz("1\n\nLi 0 0 0\n", "li", {.charge = 1});
  expect_message([&] { (void)run(lithium, options); }, "all 1 occupied orbitals of Li(+1) are core orbitals");
  options.frozen_core = false;
  options.basis = "cc-pvqz";
  expect_message([&] { (void)run(lithium, options); }, "basis set 'cc-pvqz' is not known");
  options.executor = "sim:trn9";
  expect_message([&] { (void)run(lithium, options); }, "sim:trn1, sim:trn2, sim:trn3");
  const Molecule helium = parse_xyz("1\n\nHe 0 0 0\n", "he");
  Mp2Options minimal;
  minimal.basis = "STO-3G";
  minimal.jk_kind = JkKind::Exact;
  expect_message([&] { (void)run(helium, minimal); }, "without virtual orbitals there is no correlation");
}

}  // namespace
}  // namespace trn::mp2::test
