// The stochastic estimate: its quadrature against 1/x, its operator's trace against the exact energy, the interval's
// coverage over many seeds, its bits, and what is refused.
#include "mp2_support.hpp"

#include <omp.h>

#include <cmath>
#include <cstdio>

#include <trn/mp2/stochastic.hpp>
#include <trn/mp2/uhf.hpp>

namespace trn::mp2::test {
namespace {

TEST(Stochastic, QuadratureKeepsItsBound) {
  for (const double most : {1.0, 30.0, 3000.0}) {
    for (const double error : {1e-3, 1e-6, 1e-10, 1e-13}) {
      const Laplace q = laplace_quadrature(0.5, most, error);
      EXPECT_LE(q.error, error);
      double worst = 0;
      for (int k = 0; k <= 400; ++k) {
        const long double x = 0.5L * std::pow(static_cast<long double>(most) / 0.5L, k / 400.0L);
        long double sum = 0;
        for (std::size_t i = 0; i < q.nodes.size(); ++i)
          sum += static_cast<long double>(q.weights[i]) * std::exp(-static_cast<long double>(q.nodes[i]) * x);
        worst = std::max(worst, static_cast<double>(std::abs(x * sum - 1)));
      }
      EXPECT_LE(worst, q.error) << most << " " << error;
      EXPECT_GE(worst, q.error / 30) << most << " " << error;  // and is not far from it
    }
  }
}

// Ranges whose nodes are not numbers of double, and errors below its roundings.
TEST(Stochastic, QuadratureRefusesWhatDoubleCannotDo) {
  const double nan = std::nan("");
  for (const double least : {0.0, -1.0, 5e-324, 1e-310, 1e-295, nan})
    expect_message([&] { (void)laplace_quadrature(least, 1, 1e-6); }, "<= least <= most <= ");
  for (const double most : {0.25, 1e300, std::numeric_limits<double>::infinity(), nan})
    expect_message([&] { (void)laplace_quadrature(0.5, most, 1e-6); }, "<= least <= most <= ");
  for (const double error : {0.0, -1e-6, 1.0, nan})
    expect_message([&] { (void)laplace_quadrature(0.5, 1, error); }, "0 < error < 1");
  for (const double error : {1e-15, 1e-17, 1e-300, 5e-324})
    expect_message([&] { (void)laplace_quadrature(0.5, 1, error); }, "double reaches ");
  for (const double edge : {1e-290, 1e290}) {
    const Laplace q = laplace_quadrature(edge, edge, 1e-6);
    double sum = 0;
    for (std::size_t i = 0; i < q.nodes.size(); ++i) sum += edge * q.weights[i] * std::exp(-q.nodes[i] * edge);
    EXPECT_NEAR(sum, 1, 1e-6) << edge;
  }
}

struct System {
  Molecule m = molecule("h2o");
  Basis orbital{bundled_basis("STO-3G"), m}, fitting{bundled_basis("cc-pVDZ-RI"), m};
  Scf scf = rhf(m, orbital, nullptr, 5, {});
  DfMp2 exact = df_mp2(Executor::host(), scf, orbital, fitting, {});
};

// So many samples that the low-rank part is everything: what is left is the quadrature's error.
TEST(Stochastic, TheTraceIsTheEnergy) {
  const System s;
  ASSERT_TRUE(s.scf.converged);
  for (const std::int64_t frozen : {0, 1}) {
    const double exact = df_mp2(Executor::host(), s.scf, s.orbital, s.fitting, {.frozen = frozen}).energy();
    for (const double error : {1e-3, 1e-9}) {
      const StochasticMp2 all = stochastic_mp2(
          s.scf, s.orbital, s.fitting, {.samples = 3 * s.fitting.size() + 30, .frozen = frozen, .quadrature = error});
      EXPECT_LE(std::abs(all.energy - exact), all.quadrature * std::abs(exact) + 1e-13);
      EXPECT_LE(std::abs(all.energy - exact), all.interval);
      EXPECT_EQ(all.standard_error, 0);
      EXPECT_LE(all.quadrature_error, 1.01 * error * std::abs(exact));
      EXPECT_LE(all.rounding_error, 1e-10);
      EXPECT_LE(all.quadrature, error);
    }
  }
}

// The 95 % interval holds the exact energy for 95 % of seeds or more: of 150, at least 134 (at a true coverage of 95 %
// fewer happen once in a thousand). It is not too wide: its half width is at most three times the spread. The mean of
// all estimates is the energy: unbiased.
TEST(Stochastic, IntervalsCoverTheEnergy) {
  const Molecule m = parse_xyz("2\n\nH 0 0 0\nF 0 0 0.917\n", "hf");
  const Basis orbital(bundled_basis("6-31G*"), m), fitting(bundled_basis("cc-pVDZ-RI"), m, orbital.functions());
  const Scf scf = rhf(m, orbital, nullptr, 5, {});
  const DfMp2 exact = df_mp2(Executor::host(), scf, orbital, fitting, {});
  const int seeds = 150;
  int covered = 0;
  double sum = 0, squares = 0, errors = 0, widths = 0;
  for (int seed = 0; seed < seeds; ++seed) {
    const StochasticMp2 e = stochastic_mp2(
        scf, orbital, fitting, {.samples = 30, .seed = static_cast<std::uint64_t>(seed), .quadrature = 1e-5});
    const double off = e.energy - exact.energy();
    covered += std::abs(off) <= e.interval ? 1 : 0;
    widths += e.interval;
    sum += off;
    squares += off * off;
    errors += e.standard_error * e.standard_error;
  }
  const double mean = sum / seeds, spread = std::sqrt(squares / seeds);
  std::printf("covered %d of %d; mean off by %.1e, spread %.1e, standard error %.1e, energy %.6f\n", covered, seeds,
              mean, spread, std::sqrt(errors / seeds), exact.energy());
  EXPECT_GE(covered, 134);
  EXPECT_LE(widths / seeds, 3 * spread);
  EXPECT_LE(std::abs(mean), 4 * spread / std::sqrt(seeds));
  EXPECT_LE(spread, 0.05 * std::abs(exact.energy()));
}

// Where Hutch++ captures all of A but one or two eigenvalues, or all of it (water in STO-3G: rank 10), what is left is
// far from normal, or nothing. Of 200 seeds at least 180, of 100 at least 88: fewer happen once in a thousand at 95 %.
TEST(Stochastic, IntervalsCoverTheEnergyOfFewOrbitals) {
  struct Case {
    const char* geometry;
    std::int64_t samples;
    int seeds, least;
  };
  const char *water = "3\n\nO 0 0 .1\nH 0 .76 -.48\nH .1 -.75 -.5\n", *h2 = "2\n\nH 0 0 0\nH 0 0 .74\n";
  for (const Case& c : {Case{water, 24, 100, 88}, {water, 27, 200, 180}, {water, 36, 20, 20}, {h2, 18, 20, 20}}) {
    const Molecule m = parse_xyz(c.geometry, "x");
    const Basis orbital(bundled_basis("STO-3G"), m), fitting(bundled_basis("cc-pVDZ-RI"), m);
    const Scf scf = rhf(m, orbital, nullptr, static_cast<int>(m.electrons() / 2), {});
    const double exact = df_mp2(Executor::host(), scf, orbital, fitting, {}).energy();
    int covered = 0;
    double widest = 0;
    for (int seed = 0; seed < c.seeds; ++seed) {
      const StochasticMp2 e =
          stochastic_mp2(scf, orbital, fitting, {.samples = c.samples, .seed = static_cast<std::uint64_t>(seed)});
      covered += std::abs(e.energy - exact) <= e.interval ? 1 : 0;
      widest = std::max(widest, e.interval);
    }
    std::printf("%lld products: covered %d of %d, widest %.1e\n", static_cast<long long>(c.samples), covered, c.seeds,
                widest);
    EXPECT_GE(covered, c.least) << c.samples;
    EXPECT_LE(widest, c.least == c.seeds ? 1e-7 : 0.1) << c.samples;
  }
}

TEST(Stochastic, BitsDoNotDependOnThreads) {
  const Molecule m = molecule("h2o");
  const Basis orbital(bundled_basis("cc-pVDZ"), m), fitting(bundled_basis("cc-pVDZ-RI"), m);
  const Scf scf = rhf(m, orbital, nullptr, 5, {});
  const int before = omp_get_max_threads();
  std::vector<StochasticMp2> all;
  for (const int threads : {1, 2, 3}) {
    omp_set_num_threads(threads);
    all.push_back(stochastic_mp2(scf, orbital, fitting, {.samples = 60, .seed = 3}));
  }
  omp_set_num_threads(before);
  for (const StochasticMp2& e : all) {
    EXPECT_EQ(e.energy, all[0].energy);
    EXPECT_EQ(e.interval, all[0].interval);
  }
}

TEST(Stochastic, SeedsAreReproducible) {
  const System s;
  const auto run = [&](std::uint64_t seed) {
    return stochastic_mp2(s.scf, s.orbital, s.fitting, {.samples = 18, .seed = seed});
  };
  EXPECT_EQ(run(7).energy, run(7).energy);
  EXPECT_EQ(run(7).interval, run(7).interval);
  EXPECT_NE(run(7).energy, run(8).energy);
}

TEST(Stochastic, RefusesWhatItCannotDo) {
  const System s;
  expect_message([&] { (void)stochastic_mp2(s.scf, s.orbital, s.fitting, {.samples = 17}); },
                 "17 samples; the interval needs at least 18");
  expect_message([&] { (void)stochastic_mp2(s.scf, s.orbital, s.fitting, {.frozen = 5}); },
                 "leave nothing to correlate");
  expect_message([&] { (void)stochastic_mp2(s.scf, s.orbital, s.fitting, {.memory_bytes = 1000}); },
                 "too little for the stochastic estimate");
  StochasticOptions little{.samples = 18, .memory_bytes = 1000};
  const auto run = [&] { (void)stochastic_mp2(s.scf, s.orbital, s.fitting, little); };
  little.memory_bytes = least_memory(run, "give at least ");
  EXPECT_LE(little.memory_bytes, 16 << 20);  // that of this molecule, not of the largest
  EXPECT_NO_THROW(run());
  Scf open = s.scf;
  open.beta.emplace();
  expect_message([&] { (void)stochastic_mp2(open, s.orbital, s.fitting, {}); }, "one of closed shells");
}

}  // namespace
}  // namespace trn::mp2::test
