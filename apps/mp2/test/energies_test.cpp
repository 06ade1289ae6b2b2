// Energies against Psi4 1.3.2 for every case of test/data/psi4_energies.json, on the host and on a simulated trn2.
#include <omp.h>

#include "mp2_support.hpp"

namespace trn::mp2::test {
namespace {

// Integral screening and convergence on both sides leave a few 1e-10.
constexpr double kScf = 1e-8, kNanohartree = 1e-9;

void expect_reference(const Reference& r, const Mp2& result) {
  SCOPED_TRACE(label(r) + " on " + result.executor);
  ASSERT_TRUE(result.scf.converged) << result.scf.reason;
  ASSERT_TRUE(result.mp2.has_value());
  EXPECT_EQ(result.functions, r.functions);
  EXPECT_EQ(result.scf.occupied, r.occupied);
  EXPECT_EQ(result.frozen, r.frozen_core ? r.frozen : 0);
  EXPECT_EQ(result.mp2->fitting, r.fitting);
  EXPECT_NEAR(result.scf.energy, r.scf, kScf);
  EXPECT_NEAR(result.mp2->energy(), r.correlation, kNanohartree);
  EXPECT_NEAR(result.mp2->same_spin, r.same_spin, kNanohartree);
  EXPECT_NEAR(result.mp2->opposite_spin, r.opposite_spin, kNanohartree);
}

// One molecule in one basis with one kind of J and K: a single SCF, then MP2 with and without its core orbitals.
class HostEnergies : public ::testing::TestWithParam<std::tuple<const char*, const char*, JkKind>> {};

TEST_P(HostEnergies, AgreeWithPsi4) {
  const auto& [name, basis, kind] = GetParam();
  const Molecule m = molecule(name);
  Mp2Options options;
  options.basis = basis;
  options.jk_kind = kind;
  Mp2 result = run(m, options);
  int compared = 0;
  for (const Reference& r : references()) {
    if (r.molecule != name || r.basis != basis || r.jk != kind) continue;
    if (r.frozen_core) {
      const Basis orbital(bundled_basis(basis), m), fitting(bundled_basis(r.basis + "-ri"), m);
      result.frozen = m.core_orbitals();
      result.mp2 = df_mp2(Executor::host(), result.scf, orbital, fitting, {.frozen = result.frozen});
    }
    expect_reference(r, result);
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

INSTANTIATE_TEST_SUITE_P(Small, HostEnergies,
                         ::testing::Combine(::testing::Values("h2o", "nh3", "ch4", "benzene"),
                                            ::testing::Values("cc-pvdz"),
                                            ::testing::Values(JkKind::Exact, JkKind::Fitted)));
INSTANTIATE_TEST_SUITE_P(Bases, HostEnergies,
                         ::testing::Combine(::testing::Values("h2o"), ::testing::Values("cc-pvtz", "aug-cc-pvdz"),
                                            ::testing::Values(JkKind::Exact, JkKind::Fitted)));

// The device kernels: on_simulator asserts that they ran.
Mp2 on_simulator(const Reference& r, const std::string& executor, const Precision& precision) {
  Mp2Options options = options_of(r);
  options.executor = executor;
  options.precision = precision;
  const Mp2 result = run(molecule(r.molecule), options);
  for (const Stage& s : result.stages) {
    const bool device = s.name == "metric" || s.name == "transform" || s.name == "fit" || s.name == "pair_energy";
    EXPECT_EQ(s.executor, device ? executor : "host") << s.name;
    EXPECT_EQ(s.modelled_seconds > 0, device) << s.name;
  }
  return result;
}

// Water in cc-pVTZ has tight core functions: columns of B of very different size.
TEST(Energies, SimulatorReachesANanohartreeWithItsBound) {
  int compared = 0;
  for (const Reference& r : references()) {
    // Three of the cases; apps/mp2/compare.py runs them all.
    const bool chosen = r.jk == JkKind::Fitted && (r.molecule == "h2o" ? !r.frozen_core && r.basis != "aug-cc-pvdz"
                                                                       : r.molecule == "ch4" && r.frozen_core);
    if (!chosen) continue;
    const Mp2 result = on_simulator(r, "sim:trn2", Precision::target(kNanohartree));
    expect_reference(r, result);
    EXPECT_LE(result.mp2->bound, 0.2 * kNanohartree) << label(r);
    EXPECT_EQ(result.mp2->accuracy.mode, Mode::Exact);
    Mp2Options host = options_of(r);
    host.precision = Precision::target(kNanohartree);
    const Mp2 there = run(molecule(r.molecule), host);
    EXPECT_LE(there.mp2->bound, 0.01 * kNanohartree) << label(r);
    EXPECT_NEAR(there.mp2->energy(), result.mp2->energy(), 1e-12) << label(r);
    EXPECT_LE(std::abs(there.mp2->energy() - result.mp2->energy()), there.mp2->bound + result.mp2->bound) << label(r);
    ++compared;
  }
  EXPECT_EQ(compared, 3);
}

TEST(Energies, ExactModeAgreesBetweenExecutorsForWater) {
  int compared = 0;
  for (const Reference& r : references()) {
    if (r.basis != "cc-pvdz" || r.jk != JkKind::Fitted || r.molecule != "h2o" || r.frozen_core) continue;
    Mp2Options options = options_of(r);
    options.precision = Mode::Exact;
    const double host = run(molecule(r.molecule), options).mp2->energy();
    for (const char* name : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
      const Mp2 sim = on_simulator(r, name, Mode::Exact);
      EXPECT_NEAR(sim.mp2->energy(), host, 1e-12) << label(r) << " on " << name;
    }
    ++compared;
  }
  EXPECT_EQ(compared, 1);
}

// Small enough for many runs.
Mp2 hydrogen_fluoride(const std::string& executor, const Precision& precision, FitPrecision fit = FitPrecision::Exact) {
  Mp2Options options;
  options.basis = "6-31G*";
  options.executor = executor;
  options.precision = precision;
  options.fit = fit;
  return run(parse_xyz("2\n\nH 0 0 0\nF 0 0 0.917\n", "hf"), options);
}

// Eigenproblems, Cholesky factors and products of the SCF on the device: the same energies, and a modelled time.
TEST(Energies, ScfOnADevice) {
  for (const int multiplicity : {1, 2}) {
    Mp2Options options;
    options.basis = "STO-3G";
    options.multiplicity = multiplicity;
    const Molecule m = parse_xyz(multiplicity == 1 ? "2\n\nH 0 0 0\nF 0 0 0.917\n" : "2\n\nH 0 0 0\nO 0 0 0.97\n", "m");
    const Mp2 host = run(m, options);
    options.executor = "sim:trn2";
    options.precision = Mode::Exact;
    options.scf_place = ScfPlace::Executor;
    const Mp2 device = run(m, options);
    ASSERT_TRUE(device.scf.converged) << device.scf.reason;
    ASSERT_TRUE(device.mp2.has_value());
    EXPECT_NEAR(device.scf.energy, host.scf.energy, 1e-10);
    EXPECT_NEAR(device.mp2->energy(), host.mp2->energy(), 1e-9);
    EXPECT_EQ(device.stages.front().name, "scf");
    EXPECT_EQ(device.stages.front().executor, "sim:trn2");
    EXPECT_GT(device.stages.front().modelled_seconds, 0);
    const int before = omp_get_max_threads();
    omp_set_num_threads(before == 1 ? 2 : 1);
    const Mp2 again = run(m, options);
    omp_set_num_threads(before);
    EXPECT_EQ(again.scf.energy, device.scf.energy);
    EXPECT_EQ(again.mp2->energy(), device.mp2->energy());
  }
}

TEST(Energies, ExactModeAgreesBetweenExecutors) {
  const Mp2 host = hydrogen_fluoride("host", Mode::Exact);
  for (const char* name : {"sim:trn1", "sim:trn2", "sim:trn3"}) {
    const Mp2 sim = hydrogen_fluoride(name, Mode::Exact);
    EXPECT_NEAR(sim.mp2->energy(), host.mp2->energy(), 1e-12) << name;
    EXPECT_NEAR(sim.mp2->same_spin, host.mp2->same_spin, 1e-12) << name;
  }
  // Native float64 on the host differs by rounding only, and its own bound says how much at most.
  const Mp2 native = hydrogen_fluoride("host", Mode::Native);
  EXPECT_NEAR(native.mp2->energy(), host.mp2->energy(), 1e-12);
  EXPECT_LE(std::abs(native.mp2->energy() - host.mp2->energy()), native.mp2->bound);
}

TEST(Energies, Float32ModesStayWithinTheirBounds) {
  const double exact = hydrogen_fluoride("host", Mode::Native).mp2->energy();
  // Relative to the energy: what one rounding of the operands costs, 2^-24 (and as much for the words of tf32x3) or
  // 2^-11, twice; and the bound, whose worst case counts the roundings of every sum over fitting functions.
  const struct {
    Mode mode;
    double usual, bound;
  } cases[] = {{Mode::Tf32x3, 0x1p-22, 1e-4},
               {Mode::Native, 0x1p-23, 1e-4},
               {Mode::Bf16x6, 0x1p-23, 1e-4},
               {Mode::Tf32, 0x1p-10, 1e-2}};
  for (const auto& [mode, usual, bound] : cases) {
    const Mp2 result = hydrogen_fluoride("sim:trn2", mode);
    const double error = std::abs(result.mp2->energy() - exact);
    EXPECT_LE(error, result.mp2->bound) << name(mode);
    EXPECT_LE(error, usual * std::abs(exact)) << name(mode);
    EXPECT_LE(result.mp2->bound, bound * std::abs(exact)) << name(mode);
    EXPECT_EQ(result.mp2->accuracy.mode, mode);
  }
  const Mp2 same = hydrogen_fluoride("sim:trn2", Mode::Native, FitPrecision::Same);
  EXPECT_LE(std::abs(same.mp2->energy() - exact), 1e-6);
  EXPECT_LE(std::abs(same.mp2->energy() - exact), same.mp2->bound);
  // A target costs no more than the mode that meets it.
  const auto modelled = [](const Mp2& result) {
    double seconds = 0;
    for (const Stage& s : result.stages) seconds += s.modelled_seconds;
    return seconds;
  };
  const Mp2 asked = hydrogen_fluoride("sim:trn2", Precision::target(kNanohartree)),
            plain = hydrogen_fluoride("sim:trn2", Mode::Exact);
  EXPECT_EQ(asked.mp2->accuracy.mode, Mode::Exact);
  EXPECT_LE(asked.mp2->bound, kNanohartree);
  EXPECT_LE(modelled(asked), modelled(plain) * (1 + 1e-9));
  // A target that float32 reaches takes float32.
  const Mp2 loose = hydrogen_fluoride("sim:trn2", Precision::target(1e-4));
  EXPECT_EQ(loose.mp2->accuracy.mode, Mode::Tf32x3);
  EXPECT_LE(loose.mp2->bound, 1e-4);
}

}  // namespace
}  // namespace trn::mp2::test
