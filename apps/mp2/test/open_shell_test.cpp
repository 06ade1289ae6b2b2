// Unrestricted references: UHF and DF-MP2 of radicals and triplets against Psi4 1.3.2 (test/data/psi4_open_shells.json,
// made by psi4_references.py), the spin's expectation value, spin-scaled energies, the formula in long double, closed
// shells by both ways, and what is refused.
#include "mp2_support.hpp"

#include <omp.h>

#include <cmath>
#include <cstdio>

#include <trn/mp2/uhf.hpp>

namespace trn::mp2::test {
namespace {

constexpr double kScf = 1e-8, kNanohartree = 1e-9;

struct OpenShell {
  std::string molecule, basis;
  int charge, multiplicity;
  Mp2Options options;
  nlohmann::json expected;
};

std::vector<OpenShell> open_shells() {
  std::vector<OpenShell> all;
  const auto file = nlohmann::json::parse(std::ifstream(data_path("psi4_open_shells.json")));
  for (const auto& r : file.at("results")) {
    OpenShell s{r["molecule"], r["basis"], r["charge"], r["multiplicity"], {}, r};
    s.options.basis = s.basis;
    s.options.multiplicity = s.multiplicity;
    s.options.jk_kind = r["scf_type"] == "pk" ? JkKind::Exact : JkKind::Fitted;
    s.options.frozen_core = r["freeze_core"];
    all.push_back(s);
  }
  EXPECT_EQ(all.size(), 11u);
  return all;
}

Molecule charged(const std::string& name, int charge) {
  return read_xyz(data_path(name + ".xyz"), {.charge = charge, .bohr_in_angstrom = kPsi4Bohr});
}

void expect_psi4(const OpenShell& s, const Mp2& result) {
  SCOPED_TRACE(fmt::format("{} charge {} multiplicity {} {} on {}", s.molecule, s.charge, s.multiplicity, s.basis,
                           result.executor));
  ASSERT_TRUE(result.scf.converged) << result.scf.reason;
  ASSERT_TRUE(result.scf.beta && result.mp2);
  const DfMp2& m = *result.mp2;
  EXPECT_NEAR(result.scf.energy, s.expected["E_scf"].get<double>(), kScf);
  EXPECT_NEAR(result.scf.spin_squared, s.expected["S2"].get<double>(), 1e-6);
  EXPECT_NEAR(m.energy(), s.expected["E_mp2_corr"].get<double>(), kScf);
  EXPECT_NEAR(m.same_spin, s.expected["E_ss"].get<double>(), kScf);
  EXPECT_NEAR(m.opposite_spin, s.expected["E_os"].get<double>(), kScf);
  EXPECT_NEAR(m.scs().energy, s.expected["E_scs_corr"].get<double>(), kScf);
  EXPECT_EQ(m.alpha_alpha + m.beta_beta, m.same_spin);
  std::printf("%s %+d %d %s: SCF %+.1e, correlation %+.1e, <S^2> %+.1e, %d iterations\n", s.molecule.c_str(), s.charge,
              s.multiplicity, s.basis.c_str(), result.scf.energy - s.expected["E_scf"].get<double>(),
              m.energy() - s.expected["E_mp2_corr"].get<double>(),
              result.scf.spin_squared - s.expected["S2"].get<double>(), result.scf.iterations);
}

TEST(OpenShells, AgreeWithPsi4) {
  for (const OpenShell& s : open_shells()) expect_psi4(s, run(charged(s.molecule, s.charge), s.options));
}

// The same kernels on a device: within a nanohartree of the host in float64, within the bound in float32.
TEST(OpenShells, DevicesAgreeWithTheHost) {
  OpenShell s = open_shells().at(0);
  ASSERT_EQ(s.molecule, "oh");
  s.options.precision = Mode::Exact;
  const Mp2 host = run(charged("oh", 0), s.options);
  for (const char* name : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    s.options.executor = name;
    s.options.precision = Precision::target(kNanohartree);
    const Mp2 sim = run(charged("oh", 0), s.options);
    expect_psi4(s, sim);
    EXPECT_LE(sim.mp2->bound, kNanohartree);
    EXPECT_NEAR(sim.mp2->alpha_alpha, host.mp2->alpha_alpha, 1e-12);
    EXPECT_NEAR(sim.mp2->beta_beta, host.mp2->beta_beta, 1e-12);
    EXPECT_NEAR(sim.mp2->opposite_spin, host.mp2->opposite_spin, 1e-12);
    for (const Stage& stage : sim.stages) {
      const bool device =
          stage.name == "metric" || stage.name == "transform" || stage.name == "fit" || stage.name == "pair_energy";
      EXPECT_EQ(stage.executor, device ? name : "host") << stage.name;
    }
  }
  s.options.executor = "sim:trn2";
  s.options.precision = Mode::Tf32x3;
  const Mp2 narrow = run(charged("oh", 0), s.options);
  const double error = std::abs(narrow.mp2->energy() - host.mp2->energy());
  EXPECT_LE(error, narrow.mp2->bound);
  EXPECT_LE(error, 1e-6 * std::abs(host.mp2->energy()));
  EXPECT_GT(error, 0);
}

// E from antisymmetrised integrals by plain loops over all spin orbitals, 1/4 sum |<ij||ab>|^2 / D, in long double.
long double formula(const Scf& scf, const Basis& orbital, const Basis& fitting) {
  using Real = long double;
  const std::int64_t n = orbital.size(), naux = fitting.size();
  std::vector<double> three(static_cast<std::size_t>(naux * n * n));
  ThreeCentre(orbital, fitting).compute(0, static_cast<std::int64_t>(fitting.shells().size()), three.data());
  const Dense l = fitting_factor(fitting, "");
  struct SpinOrbital {
    int spin;
    Real energy;
    std::vector<Real> c;
  };
  std::vector<SpinOrbital> occupied, virtuals;
  for (const int spin : {0, 1}) {
    const Dense& c = spin == 0 ? scf.orbitals : scf.beta->orbitals;
    const auto& e = spin == 0 ? scf.orbital_energies : scf.beta->energies;
    for (std::int64_t k = 0; k < c.columns; ++k) {
      SpinOrbital one{spin, e[static_cast<std::size_t>(k)], {}};
      for (std::int64_t m = 0; m < n; ++m) one.c.push_back(c(m, k));
      (k < (spin == 0 ? scf.occupied : scf.beta->occupied) ? occupied : virtuals).push_back(one);
    }
  }
  const std::size_t no = occupied.size(), nv = virtuals.size();
  std::vector<std::vector<Real>> b(no * nv, std::vector<Real>(static_cast<std::size_t>(naux)));
  for (std::size_t i = 0; i < no; ++i) {
    for (std::size_t a = 0; a < nv; ++a) {
      if (occupied[i].spin != virtuals[a].spin) continue;
      std::vector<Real>& x = b[i * nv + a];
      for (std::int64_t p = 0; p < naux; ++p) {
        Real sum = 0;
        for (std::int64_t m = 0; m < n; ++m) {
          for (std::int64_t k = 0; k < n; ++k)
            sum += occupied[i].c[static_cast<std::size_t>(m)] * virtuals[a].c[static_cast<std::size_t>(k)] *
                   static_cast<Real>(three[static_cast<std::size_t>((p * n + m) * n + k)]);
        }
        for (std::int64_t q = 0; q < p; ++q) sum -= static_cast<Real>(l(p, q)) * x[static_cast<std::size_t>(q)];
        x[static_cast<std::size_t>(p)] = sum / static_cast<Real>(l(p, p));
      }
    }
  }
  const auto coulomb = [&](std::size_t i, std::size_t a, std::size_t j, std::size_t c) {
    Real sum = 0;
    for (std::size_t p = 0; p < static_cast<std::size_t>(naux); ++p) sum += b[i * nv + a][p] * b[j * nv + c][p];
    return sum;
  };
  Real energy = 0;
  for (std::size_t i = 0; i < no; ++i) {
    for (std::size_t j = 0; j < no; ++j) {
      for (std::size_t a = 0; a < nv; ++a) {
        for (std::size_t c = 0; c < nv; ++c) {
          const Real v = coulomb(i, a, j, c) - coulomb(i, c, j, a);
          energy += v * v / 4 / (occupied[i].energy + occupied[j].energy - virtuals[a].energy - virtuals[c].energy);
        }
      }
    }
  }
  return energy;
}

TEST(OpenShells, IsTheFormula) {
  const Molecule m = charged("oh", 0);
  const Basis orbital(bundled_basis("STO-3G"), m), fitting(bundled_basis("cc-pVDZ-RI"), m);
  Scf scf = uhf(m, orbital, nullptr, spin_counts(m, 2), {});
  ASSERT_TRUE(scf.converged);
  const double exact = static_cast<double>(formula(scf, orbital, fitting));
  const DfMp2 e = df_mp2(Executor::host(), scf, orbital, fitting, {});
  EXPECT_LT(exact, -1e-3);
  EXPECT_NEAR(e.energy(), exact, 1e-13);
  EXPECT_LE(std::abs(e.energy() - exact), e.bound);
  // Energies of spin beta far from those of spin alpha change nothing but a rounding, and the bound knows.
  for (double& x : scf.beta->energies) x += 40;
  const DfMp2 moved = df_mp2(Executor::host(), scf, orbital, fitting, {});
  EXPECT_NEAR(moved.energy(), exact, 1e-13);
  EXPECT_LE(std::abs(moved.energy() - exact), moved.bound);
}

// A closed shell by both ways.
TEST(OpenShells, ClosedShellsAreThoseOfRestrictedOrbitals) {
  Mp2Options options;
  const Mp2 rhf = run(molecule("h2o"), options);
  options.unrestricted = true;
  const Mp2 uhf = run(molecule("h2o"), options);
  ASSERT_TRUE(uhf.scf.beta);
  EXPECT_NEAR(uhf.scf.energy, rhf.scf.energy, 1e-9);
  EXPECT_NEAR(uhf.scf.spin_squared, 0, 1e-9);
  EXPECT_NEAR(uhf.mp2->same_spin, rhf.mp2->same_spin, kNanohartree);
  EXPECT_NEAR(uhf.mp2->opposite_spin, rhf.mp2->opposite_spin, kNanohartree);
  EXPECT_NEAR(uhf.mp2->alpha_alpha, uhf.mp2->beta_beta, kNanohartree);
  EXPECT_EQ(rhf.mp2->alpha_alpha, rhf.mp2->same_spin / 2);
}

TEST(OpenShells, BitsDependOnNeitherThreadsNorMemory) {
  const Molecule m = charged("o2", 0);
  const Basis orbital(bundled_basis("STO-3G"), m), fitting(bundled_basis("cc-pVDZ-RI"), m);
  const Scf scf = uhf(m, orbital, nullptr, spin_counts(m, 3), {});
  ASSERT_TRUE(scf.converged);
  for (const char* name : {"host", "sim:trn2"}) {
    const Executor executor = Executor::open(name);
    DfMp2Options options;
    options.precision = std::string(name) == "host" ? Mode::Native : Mode::Exact;
    const DfMp2 whole = df_mp2(executor, scf, orbital, fitting, options);
    EXPECT_EQ(whole.blocks, 1);
    const int before = omp_get_max_threads();
    omp_set_num_threads(3);
    options.memory_bytes = 1000;
    options.memory_bytes =
        least_memory([&] { (void)df_mp2(executor, scf, orbital, fitting, options); }, "give at least ");
    options.block = 2;
    const DfMp2 parts = df_mp2(executor, scf, orbital, fitting, options);
    omp_set_num_threads(before);
    EXPECT_TRUE(parts.streamed);
    EXPECT_GT(parts.streamed_bytes, 0);
    EXPECT_GT(parts.blocks, 1);
    EXPECT_EQ(parts.alpha_alpha, whole.alpha_alpha) << name;
    EXPECT_EQ(parts.beta_beta, whole.beta_beta) << name;
    EXPECT_EQ(parts.opposite_spin, whole.opposite_spin) << name;
  }
}

// One electron has no correlation; two of the same spin have one kind of pair.
TEST(OpenShells, SpinsWithoutElectrons) {
  Mp2Options options;
  options.multiplicity = 2;
  const Mp2 atom = run(parse_xyz("1\n\nH 0 0 0\n", "h"), options);
  ASSERT_TRUE(atom.scf.converged) << atom.scf.reason;
  EXPECT_NEAR(atom.scf.energy, -0.49927840341, 1e-6);  // the basis's energy of the atom: one-electron integrals alone
  EXPECT_NEAR(atom.scf.spin_squared, 0.75, 1e-12);
  EXPECT_NEAR(atom.mp2->energy(), 0, 1e-15);
  EXPECT_EQ(atom.mp2->correlated_beta, 0);
  options.multiplicity = 3;
  options.frozen_core = true;
  const Mp2 triplet = run(parse_xyz("2\n\nH 0 0 0\nH 0 0 1.5\n", "h2"), options);
  ASSERT_TRUE(triplet.scf.converged) << triplet.scf.reason;
  EXPECT_LT(triplet.mp2->alpha_alpha, -1e-5);
  EXPECT_EQ(triplet.mp2->beta_beta, 0);
  EXPECT_EQ(triplet.mp2->opposite_spin, 0);
}

TEST(OpenShells, RefusesWhatCannotBe) {
  const Molecule h = parse_xyz("1\n\nH 0 0 0\n", "h"), oh = charged("oh", 0);
  expect_message([&] { (void)spin_counts(oh, 1); },
                 "oh with charge +0 has 9 electrons, an odd number, which does not go with multiplicity 1; give an "
                 "even --multiplicity");
  expect_message([&] { (void)spin_counts(molecule("h2o"), 2); },
                 "10 electrons, an even number, which does not go with multiplicity 2");
  expect_message([&] { (void)spin_counts(h, 4); }, "has 1 electrons, too few for multiplicity 4; the highest is 2");
  expect_message([&] { (void)spin_counts(h, 0); }, "multiplicity 0; it is the number of unpaired electrons and one");
  Mp2Options options;
  options.multiplicity = 2;
  options.basis = "STO-3G";
  expect_message([&] { (void)run(h, options); }, "without virtual orbitals there is no correlation");
  options.basis = "cc-pVDZ";
  options.frozen_core = true;
  options.jk_kind = JkKind::Exact;
  expect_message([&] { (void)run(parse_xyz("1\n\nLi 0 0 0\n", "li", {.charge = 2}), options); },
                 "nothing is left to correlate");
  ScfOptions few;
  few.iterations = 2;
  const Basis basis(bundled_basis("cc-pVDZ"), oh);
  const Scf scf = uhf(oh, basis, nullptr, spin_counts(oh, 2), few);
  EXPECT_FALSE(scf.converged);
  EXPECT_NE(scf.reason.find("not converged after 2 iterations"), std::string::npos);
  expect_message([&] { (void)uhf(oh, basis, nullptr, {4, 5}, {}); }, "no fewer than beta");
}

TEST(OpenShells, LinearDependenceIsHandled) {
  const std::string once = "H 0\nS 2 1.0\n3.4 0.3\n0.5 0.7\nS 1 1.0\n0.12 1.0\nP 1 1.0\n0.8 1.0\n", end = "****\n";
  const Molecule h2 = parse_xyz("2\n\nH 0 0 0\nH 0 0 1.5\n", "h2");
  const Basis plain(parse_gaussian94(once + end, "once"), h2),
      doubled(parse_gaussian94(once + "S 1 1.0\n0.12 1.0\n" + end, "twice"), h2);
  const Scf a = uhf(h2, plain, nullptr, {2, 0}, {}), b = uhf(h2, doubled, nullptr, {2, 0}, {});
  ASSERT_TRUE(a.converged && b.converged);
  EXPECT_EQ(b.dependent, 2);
  EXPECT_NEAR(a.energy, b.energy, 1e-8);
}

}  // namespace
}  // namespace trn::mp2::test
