// Screening of four-centre integrals: what is kept, what it changes the energy by, and the bound on that.
#include "mp2_support.hpp"

#include <cmath>
#include <cstdio>

#include <trn/mp2/uhf.hpp>

namespace trn::mp2::test {
namespace {

Molecule dimer(const std::string& name) {
  return read_xyz(data_path("dimers/" + name + ".xyz"), {.bohr_in_angstrom = kPsi4Bohr});
}

TEST(Screening, EnergyChangesByLessThanItsBound) {
  const Molecule m = dimer("methane_hf");
  const Basis orbital(bundled_basis("STO-3G"), m);
  const Scf all = rhf(m, orbital, nullptr, 10, {.screening = 0});
  ASSERT_TRUE(all.converged);
  EXPECT_EQ(all.screening_bound, 0);
  std::int64_t before = all.quartets.kept;
  double worst = 0;
  for (const double threshold : {1e-12, 1e-8, 1e-6, 1e-4, 1e-3}) {
    const Scf some = rhf(m, orbital, nullptr, 10, {.screening = threshold});
    ASSERT_TRUE(some.converged) << some.reason;
    const double change = std::abs(some.energy - all.energy);
    std::printf("threshold %.0e: %lld of %lld quartets, energy changes by %.1e, bound %.1e\n", threshold,
                static_cast<long long>(some.quartets.kept), static_cast<long long>(some.quartets.all), change,
                some.screening_bound);
    EXPECT_LE(change, some.screening_bound + 1e-9);  // the convergence of both
    EXPECT_GT(some.screening_bound, 0);
    EXPECT_LE(some.quartets.kept, before);
    EXPECT_EQ(some.quartets.all, all.quartets.all);
    before = some.quartets.kept;
    worst = change;
  }
  EXPECT_LT(before, 6 * all.quartets.all / 10);
  EXPECT_GT(worst, 1e-7);  // the screening does something
}

// Every pair of shells of a quartet that is left out is below the threshold: J and K of a density of ones err by at
// most n^2 thresholds.
TEST(Screening, MatricesErrByTheThresholdTimesTheDensity) {
  const Molecule m = dimer("hf_hf");
  const Basis orbital(bundled_basis("6-31G*"), m);
  const std::int64_t n = orbital.size();
  Dense ones(n, n);
  std::fill(ones.values.begin(), ones.values.end(), 1.0);
  const double threshold = 1e-4;
  FourCentre whole(orbital, std::int64_t{1} << 30, 0), some(orbital, std::int64_t{1} << 30, threshold);
  EXPECT_LT(some.quartets().kept, whole.quartets().kept);
  const CoulombExchange a = whole(ones), b = some(ones);
  double most = 0;
  for (std::size_t k = 0; k < a.coulomb.values.size(); ++k) {
    most = std::max({most, std::abs(a.coulomb.values[k] - b.coulomb.values[k]),
                     std::abs(a.exchange.values[k] - b.exchange.values[k])});
  }
  EXPECT_LE(most, static_cast<double>(n * n) * threshold);
  EXPECT_GT(most, threshold);
  expect_message([&] { FourCentre(orbital, std::int64_t{1} << 30, -1); }, "the screening threshold is -1");
}

// Na+: -161.6710654402519 by a radial Hartree-Fock in long double with closed-form Slater integrals, ...2517 by PySCF
// 2.14. Tight contracted p functions show integrals that an engine leaves out on its own.
TEST(Screening, NothingIsLeftOutWithoutThreshold) {
  const Molecule m = parse_xyz("1\nsodium\nNa 0 0 0\n", "na.xyz", {.charge = 1});
  const Scf scf = rhf(m, Basis(bundled_basis("cc-pVDZ"), m), nullptr, 5, {.screening = 0});
  ASSERT_TRUE(scf.converged);
  EXPECT_NEAR(scf.energy, -161.6710654402519, 2e-11);
}

// Ne2 at 3 angstrom in cc-pVDZ: quartets whose product of Schwarz bounds exceeds the threshold, counted from PySCF's
// integrals (ab|ab).
TEST(Screening, QuartetsAreThoseAboveTheThreshold) {
  const Molecule m = parse_xyz("2\nneon\nNe 0 0 0\nNe 0 0 3\n", "ne2.xyz");
  const Basis orbital(bundled_basis("cc-pVDZ"), m);
  for (const auto& [threshold, kept] : {std::pair{1e-8, 1807}, {1e-12, 2226}, {1e-13, 2363}})
    EXPECT_EQ(FourCentre(orbital, std::int64_t{1} << 30, threshold).quartets().kept, kept) << threshold;
  const FourCentre all(orbital, std::int64_t{1} << 30, 0);
  EXPECT_EQ(all.quartets().kept, all.quartets().all);
}

TEST(Screening, OpenShellsAreScreenedToo) {
  const Molecule m = read_xyz(data_path("oh.xyz"), {});
  const Basis orbital(bundled_basis("cc-pVDZ"), m);
  const Scf all = uhf(m, orbital, nullptr, spin_counts(m, 2), {.screening = 0}),
            some = uhf(m, orbital, nullptr, spin_counts(m, 2), {.screening = 1e-3});
  ASSERT_TRUE(all.converged && some.converged);
  EXPECT_LT(some.quartets.kept, all.quartets.kept);
  EXPECT_LE(std::abs(some.energy - all.energy), some.screening_bound);
}

// Interaction energies of dimers of the A24 set, not corrected for superposition: against Psi4 1.3.2 on the same
// geometries (test/data/psi4_dimers.json).
TEST(Dimers, InteractionEnergiesAreThoseOfPsi4) {
  const auto file = nlohmann::json::parse(std::ifstream(data_path("psi4_dimers.json")));
  int compared = 0;
  for (const auto& r : file.at("results")) {
    const std::string name = r["name"];
    if (name != "hf_hf" && name != "water_water") continue;  // apps/mp2/compare.py interactions: all five
    const Molecule whole = dimer(name);
    const auto first = r["first_atoms"].get<std::ptrdiff_t>();
    Molecule one = whole, two = whole;
    one.atoms.assign(whole.atoms.begin(), whole.atoms.begin() + first);
    two.atoms.assign(whole.atoms.begin() + first, whole.atoms.end());
    double ours = 0, theirs = 0, sign = 1;
    for (const auto& [part, m] : {std::pair{"dimer", &whole}, {"first", &one}, {"second", &two}}) {
      Mp2Options options;
      options.basis = r[part]["basis"];
      options.frozen_core = r[part]["freeze_core"];
      const Mp2 result = run(*m, options);
      ASSERT_TRUE(result.mp2) << name << " " << part;
      ours += sign * result.total_energy();
      theirs += sign * (r[part]["E_scf"].get<double>() + r[part]["E_mp2_corr"].get<double>());
      EXPECT_NEAR(result.mp2->scs().energy, r[part]["E_scs_corr"].get<double>(), 1e-9) << name << " " << part;
      sign = -1;
    }
    EXPECT_NEAR(ours, theirs, 1e-9) << name;
    EXPECT_LT(ours, -0.005);
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

// Dimers and monomers of A24, these in their own basis and in that of the dimer, against PySCF 2.14.0
// (test/data/pyscf_dimers.json, made by pyscf_references.py): energies, and the interaction corrected for
// superposition.
TEST(Dimers, CounterpoiseIsThatOfPyscf) {
  const auto file = nlohmann::json::parse(std::ifstream(data_path("pyscf_dimers.json")));
  EXPECT_EQ(file.at("results").size(), 24u);
  int compared = 0;
  for (const auto& r : file.at("results")) {
    const std::string name = r["name"];
    if (name != "hf_hf" && name != "methane_argon") continue;  // apps/mp2/compare.py a24: all of them
    const Molecule whole = read_xyz(data_path("dimers/" + name + ".xyz"));
    const auto first = r["first_atoms"].get<std::size_t>();
    // A monomer: without the other's atoms, or with them as ghosts.
    const auto part = [&](bool second, bool ghosts) {
      Molecule m = whole;
      m.atoms.clear();
      for (std::size_t i = 0; i < whole.atoms.size(); ++i) {
        const bool own = (i >= first) == second;
        if (!own && !ghosts) continue;
        m.atoms.push_back(whole.atoms[i]);
        m.atoms.back().ghost = !own;
      }
      return m;
    };
    double ours = 0, theirs = 0;
    for (const auto& [key, m, sign] : {std::tuple("dimer", whole, 1.0), std::tuple("first", part(false, false), 0.0),
                                       std::tuple("first_in_dimer", part(false, true), -1.0),
                                       std::tuple("second_in_dimer", part(true, true), -1.0)}) {
      SCOPED_TRACE(name + " " + key);
      Mp2Options options;
      options.basis = file["basis"];
      options.frozen_core = true;
      const Mp2 result = run(m, options);
      ASSERT_TRUE(result.mp2);
      EXPECT_EQ(result.functions, r[key]["nbf"].get<std::int64_t>());
      EXPECT_NEAR(result.scf.energy, r[key]["E_scf"].get<double>(), 1e-9);
      EXPECT_NEAR(result.mp2->energy(), r[key]["E_mp2_corr"].get<double>(), 1e-9);
      EXPECT_NEAR(result.mp2->opposite_spin, r[key]["E_os"].get<double>(), 1e-9);
      ours += sign * result.total_energy();
      theirs += sign * (r[key]["E_scf"].get<double>() + r[key]["E_mp2_corr"].get<double>());
    }
    EXPECT_NEAR(ours, theirs, 1e-9);
    EXPECT_LT(ours, 0);
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

// Ghosts alone change no energy by what they carry, only by the functions they lend: more functions, a lower energy
// (Rayleigh and Ritz). Far away they lend nothing.
TEST(Dimers, GhostsLendFunctionsOnly) {
  const std::string atom = "\nHe 0 0 0\n";
  Mp2Options options;
  options.basis = "cc-pVDZ";
  options.jk_kind = JkKind::Exact;
  const Mp2 alone = run(parse_xyz("1\n" + atom, "he"), options),
            near = run(parse_xyz("2\n" + atom + "@he 0 0 1.5\n", "near"), options),
            far = run(parse_xyz("2\n" + atom + "@He 0 0 60\n", "far"), options);
  EXPECT_EQ(near.functions, 2 * alone.functions);
  EXPECT_EQ(near.scf.occupied, 1);
  EXPECT_LT(near.scf.energy, alone.scf.energy - 1e-6);
  EXPECT_NEAR(far.scf.energy, alone.scf.energy, 1e-9);
  EXPECT_NEAR(far.mp2->energy(), alone.mp2->energy(), 1e-9);
}

}  // namespace
}  // namespace trn::mp2::test
