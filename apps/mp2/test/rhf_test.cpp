// Hartree-Fock: not converging, guesses, linear dependence, threads. Energies against Psi4's are in energies_test.cpp.
#include "mp2_support.hpp"

#include <omp.h>

#include <trn/mp2/fitted_jk.hpp>

namespace trn::mp2::test {
namespace {

Scf water(const ScfOptions& options, const Basis* fitting = nullptr) {
  const Molecule m = molecule("h2o");
  return rhf(m, Basis(bundled_basis("cc-pVDZ"), m), fitting, 5, options);
}

TEST(Rhf, NotConvergingIsAResultWithAReason) {
  const Scf scf = water({.iterations = 3});
  EXPECT_FALSE(scf.converged);
  EXPECT_EQ(scf.iterations, 3);
  EXPECT_NE(scf.reason.find("not converged after 3 iterations: the energy still changes by"), std::string::npos)
      << scf.reason;
  Mp2Options options;
  options.scf.iterations = 2;
  const Mp2 result = run(molecule("h2o"), options);
  EXPECT_FALSE(result.mp2.has_value());
  const auto json = to_json(result);
  EXPECT_EQ(json["converged"], false);
  EXPECT_FALSE(json.contains("correlation_energy"));
  EXPECT_TRUE(json.contains("reason"));
  expect_message([] { (void)water({.iterations = 0}); }, "0 iterations; give at least one");
}

TEST(Rhf, GuessesLeadToTheSameEnergy) {
  std::vector<ScfIteration> steps;
  ScfOptions options;
  options.progress = [&](const ScfIteration& s) { steps.push_back(s); };
  const Scf atoms = water(options);
  ASSERT_TRUE(atoms.converged);
  EXPECT_EQ(static_cast<int>(steps.size()), atoms.iterations);
  EXPECT_EQ(steps.back().energy, atoms.energy);
  EXPECT_LT(steps.back().commutator, 1e-9);
  const Scf core = water({.guess = Guess::Core});
  ASSERT_TRUE(core.converged);
  EXPECT_NEAR(core.energy, atoms.energy, 1e-10);
  EXPECT_LT(atoms.iterations, core.iterations);
}

// The density of an atom has its electrons in it and is the same along x, y and z.
TEST(Rhf, AtomDensities) {
  for (const int z : {1, 4, 6, 9, 12, 14, 18}) {
    Molecule atom;
    atom.atoms.push_back({z, {}});
    const Basis basis(bundled_basis("6-31G*"), atom);
    const Dense d = atom_density(z, basis.set(), basis.functions()), s = overlap(basis);
    double electrons = 0;
    for (std::size_t i = 0; i < d.values.size(); ++i) electrons += 2 * d.values[i] * s.values[i];
    EXPECT_NEAR(electrons, z, 1e-10) << z;
    for (const Shell& shell : basis.shells()) {
      if (shell.l != 1) continue;
      EXPECT_NEAR(d(shell.first, shell.first), d(shell.first + 1, shell.first + 1), 1e-8) << z;
      EXPECT_NEAR(d(shell.first, shell.first), d(shell.first + 2, shell.first + 2), 1e-8) << z;
    }
  }
}

// The same function twice, and one nearly: left out, said, and the energy is that of the basis without them.
TEST(Rhf, LinearDependenceIsHandledAndReported) {
  const std::string once = "H 0\nS 2 1.0\n3.4 0.3\n0.5 0.7\nS 1 1.0\n0.12 1.0\nP 1 1.0\n0.8 1.0\n", end = "****\n";
  const std::string twice = once + "S 1 1.0\n0.12 1.0\nS 1 1.0\n0.1200001 1.0\n";
  const Molecule h2 = parse_xyz("2\n\nH 0 0 0\nH 0 0 0.74\n", "h2");
  const Basis plain(parse_gaussian94(once + end, "once"), h2), doubled(parse_gaussian94(twice + end, "twice"), h2);
  const Scf a = rhf(h2, plain, nullptr, 1, {}), b = rhf(h2, doubled, nullptr, 1, {});
  ASSERT_TRUE(a.converged && b.converged) << b.reason;
  EXPECT_EQ(a.dependent, 0);
  EXPECT_EQ(b.dependent, 4);
  EXPECT_EQ(b.orbitals.columns, plain.size());
  EXPECT_NEAR(a.energy, b.energy, 1e-7);
}

TEST(Rhf, BasisTooSmallIsRefused) {
  const Molecule he = parse_xyz("2\n\nHe 0 0 0\nHe 0 0 1.4\n", "he2");
  const Basis one(parse_gaussian94("He 0\nS 1 1.0\n1.0 1.0\n****\n", "one"), he);
  expect_message([&] { (void)rhf(he, one, nullptr, 3, {}); },
                 "he2 has 3 occupied orbitals and basis one only 2 independent functions");
}

// What the message asks for is enough, goes through a file, and gives the same bits.
TEST(Rhf, FittedJkStreamsWhenMemoryIsShort) {
  const Molecule m = molecule("h2o");
  const Basis orbital(bundled_basis("cc-pVDZ"), m), fitting(bundled_basis("cc-pVDZ-JKFIT"), m);
  const std::int64_t least = least_memory([&] { FittedJk(orbital, fitting, 1000); },
                                          "density-fitted J and K of 116 fitting and 24 orbital functions need ");
  const FittedJk whole(orbital, fitting, std::int64_t{1} << 30), streamed(orbital, fitting, least);
  EXPECT_EQ(whole.streamed_bytes(), 0);
  const std::int64_t all = streamed.streamed_bytes(), n = orbital.size();
  EXPECT_EQ(all, 8 * 128 * n * (n + 1) / 2);
  Dense c(n, 3);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < 3; ++k) c(i, k) = 1.0 / static_cast<double>(1 + i + k);
  }
  for (int times = 1; times <= 2; ++times) {
    const CoulombExchange a = whole(c), b = streamed(c);
    EXPECT_EQ(a.coulomb.values, b.coulomb.values);
    EXPECT_EQ(a.exchange.values, b.exchange.values);
    EXPECT_EQ(streamed.streamed_bytes(), (1 + times) * all);
  }
  const Scf in_memory = water({}, &fitting), through_file = water({.memory_bytes = least}, &fitting);
  EXPECT_EQ(in_memory.streamed_bytes, 0);
  EXPECT_EQ(through_file.streamed_bytes, (1 + through_file.iterations) * all);
  EXPECT_EQ(in_memory.energy, through_file.energy);
  EXPECT_EQ(in_memory.orbitals.values, through_file.orbitals.values);
  expect_message([&] { FittedJk(orbital, fitting, least, "/nowhere"); }, "cannot make a temporary file in '/nowhere'");
}

// More orbitals than fit in one slice, against sums over all integrals.
TEST(Rhf, FittedJkIsTheFormula) {
  const Molecule m = parse_xyz("5\n\nNe 0 0 0\nNe 2.2 0 0\nNe 0 2.4 0\nNe 1 1 2\nNe 1 1 -2\n", "ne5");
  const Basis orbital(bundled_basis("cc-pVDZ"), m),
      fitting(parse_gaussian94("Ne 0\nS 1 1.0\n3.0 1.0\nP 1 1.0\n0.7 1.0\n****\n", "few"), m);
  const std::int64_t n = orbital.size(), naux = fitting.size(), nocc = n - 1;
  ASSERT_GT(nocc, 64);
  std::vector<double> three(static_cast<std::size_t>(naux * n * n));
  ThreeCentre(orbital, fitting).compute(0, static_cast<std::int64_t>(fitting.shells().size()), three.data());
  const Dense l = fitting_factor(fitting, "");
  for (std::int64_t p = 0; p < naux; ++p) {
    for (std::int64_t k = 0; k < n * n; ++k) {
      double& x = three[static_cast<std::size_t>(p * n * n + k)];
      for (std::int64_t q = 0; q < p; ++q) x -= l(p, q) * three[static_cast<std::size_t>(q * n * n + k)];
      x /= l(p, p);
    }
  }
  Dense c(n, nocc);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < nocc; ++k) c(i, k) = std::cos(static_cast<double>(i * nocc + k));
  }
  Dense j(n, n), k(n, n);
  for (std::int64_t p = 0; p < naux; ++p) {
    const double* b = three.data() + p * n * n;
    double d = 0;
    Dense x(nocc, n);
    for (std::int64_t i = 0; i < nocc; ++i) {
      for (std::int64_t s = 0; s < n; ++s) {
        for (std::int64_t t = 0; t < n; ++t) x(i, s) += c(t, i) * b[t * n + s];
        d += x(i, s) * c(s, i);
      }
    }
    for (std::int64_t s = 0; s < n; ++s) {
      for (std::int64_t t = 0; t < n; ++t) {
        j(s, t) += d * b[s * n + t];
        for (std::int64_t i = 0; i < nocc; ++i) k(s, t) += x(i, s) * x(i, t);
      }
    }
  }
  const CoulombExchange jk = FittedJk(orbital, fitting, std::int64_t{1} << 30)(c);
  for (std::size_t e = 0; e < j.values.size(); ++e) {
    EXPECT_NEAR(jk.coulomb.values[e], j.values[e], 1e-9);
    EXPECT_NEAR(jk.exchange.values[e], k.values[e], 1e-9);
  }
}

TEST(Rhf, BitsDoNotDependOnThreads) {
  const Molecule m = molecule("h2o");
  const Basis fitting(bundled_basis("cc-pVDZ-JKFIT"), m);
  const int before = omp_get_max_threads();
  std::vector<Scf> exact, fitted;
  for (const int threads : {1, 2, 5}) {
    omp_set_num_threads(threads);
    exact.push_back(water({}));
    fitted.push_back(water({}, &fitting));
  }
  omp_set_num_threads(before);
  for (std::size_t k = 1; k < exact.size(); ++k) {
    EXPECT_EQ(exact[k].energy, exact[0].energy);
    EXPECT_EQ(exact[k].orbitals.values, exact[0].orbitals.values);
    EXPECT_EQ(fitted[k].energy, fitted[0].energy);
    EXPECT_EQ(fitted[k].orbitals.values, fitted[0].orbitals.values);
  }
}

}  // namespace
}  // namespace trn::mp2::test
