// Three-centre integrals against libint's, which come by another way (recursions over centres instead of Hermite
// Gaussians), for every angular momentum; Boys' function against its series in long double.
#include "mp2_support.hpp"

#include <cmath>

#include <omp.h>
#include <libint2.hpp>

#include <trn/mp2/integrals.hpp>

#include "boys.hpp"
#include "hermite.hpp"

namespace trn::mp2::test {
namespace {

std::vector<libint2::Shell> shells_of(const Basis& basis) {
  std::vector<libint2::Shell> shells;
  for (const Shell& s : basis.shells()) {
    const Contraction& c = *s.contraction;
    shells.push_back({libint2::svector<double>(c.exponents.begin(), c.exponents.end()),
                      {{s.l, basis.functions() == Functions::Spherical,
                        libint2::svector<double>(c.coefficients.begin(), c.coefficients.end())}},
                      s.centre});
  }
  return shells;
}

// (P|mn) for all P, m, n.
std::vector<double> by_libint(const Basis& orbital, const Basis& fitting) {
  libint2::initialize(false);
  const auto shells = shells_of(orbital), aux = shells_of(fitting);
  std::size_t primitives = 1;
  int momentum = 0;
  for (const auto* list : {&shells, &aux}) {
    for (const auto& s : *list) {
      primitives = std::max(primitives, s.nprim());
      momentum = std::max(momentum, s.contr[0].l);
    }
  }
  libint2::Engine engine(libint2::Operator::coulomb, primitives, momentum, 0, 1e-30,
                         libint2::operator_traits<libint2::Operator::coulomb>::default_params(),
                         libint2::BraKet::xs_xx);
  const std::int64_t n = orbital.size();
  std::vector<double> out(static_cast<std::size_t>(fitting.size() * n * n));
  for (std::size_t p = 0; p < aux.size(); ++p) {
    for (std::size_t a = 0; a < shells.size(); ++a) {
      for (std::size_t b = 0; b < shells.size(); ++b) {
        engine.compute2<libint2::Operator::coulomb, libint2::BraKet::xs_xx, 0>(aux[p], libint2::Shell::unit(),
                                                                               shells[a], shells[b]);
        const double* v = engine.results()[0];
        const Shell &sp = fitting.shells()[p], &sa = orbital.shells()[a], &sb = orbital.shells()[b];
        for (std::int64_t k = 0; v != nullptr && k < sp.size * sa.size * sb.size; ++k) {
          const std::int64_t j = k % sb.size, i = k / sb.size % sa.size, f = k / sb.size / sa.size;
          out[static_cast<std::size_t>(((sp.first + f) * n + sa.first + i) * n + sb.first + j)] = v[k];
        }
      }
    }
  }
  return out;
}

void expect_same(const Basis& orbital, const Basis& fitting) {
  const std::int64_t n = orbital.size(), naux = fitting.size(),
                     shells = static_cast<std::int64_t>(fitting.shells().size());
  const std::vector<double> expected = by_libint(orbital, fitting);
  std::vector<double> squares(expected.size()), columns(expected.size());
  const ThreeCentre integrals(orbital, fitting);
  integrals.compute(0, shells, squares.data());
  integrals.compute_columns(0, shells, columns.data());
  double most = 1;
  for (const double x : expected) most = std::max(most, std::abs(x));
  for (std::int64_t p = 0; p < naux; ++p) {
    for (std::int64_t k = 0; k < n * n; ++k) {
      const double x = squares[static_cast<std::size_t>(p * n * n + k)];
      ASSERT_NEAR(x, expected[static_cast<std::size_t>(p * n * n + k)], 2e-13 * most)
          << p << " " << k / n << " " << k % n;
      ASSERT_EQ(x, columns[static_cast<std::size_t>(k * naux + p)]) << p << " " << k;
    }
  }
}

TEST(ThreeCentre, AgreesWithLibintInBundledSets) {
  const Molecule water = molecule("h2o");
  for (const char* name : {"6-31G*", "cc-pVTZ", "aug-cc-pVDZ"}) {
    SCOPED_TRACE(name);
    const Basis orbital(bundled_basis(name), water);
    for (const std::string& set : {fitting_sets(orbital.set()).ri, fitting_sets(orbital.set()).jk}) {
      const Basis fitting(bundled_basis(set), water, orbital.functions());
      expect_same(orbital, fitting);
      expect_same(orbital, fitting.by_momentum());
    }
  }
}

// Every angular momentum there is, contracted fitting functions, exponents shared and not; and an atom so far away that
// Boys' function takes its form for large arguments.
TEST(ThreeCentre, AgreesWithLibintForEveryMomentum) {
  std::string orbital = "H 0\n", fitting = "H 0\n";
  for (const char* l : {"S", "P", "D", "F", "G"})
    orbital += fmt::format("{} 2 1.0\n1.3 0.4\n0.45 0.7\n{} 1 1.0\n0.45 1.0\n", l, l);
  for (const char* l : {"S", "P", "D", "F", "G", "H"})
    fitting += fmt::format("{} 2 1.0\n2.1 0.3\n0.6 0.8\n{} 1 1.0\n0.35 1.0\n", l, l);
  const Molecule near = parse_xyz("2\n\nH 0.1 -0.2 0.3\nH 0.5 0.4 -0.6\n", "near");
  const Molecule far = parse_xyz("2\n\nH 0 0 0\nH 9 7 -12\n", "far");
  for (const Functions functions : {Functions::Spherical, Functions::Cartesian}) {
    for (const Molecule* m : {&near, &far}) {
      SCOPED_TRACE(m->name);
      expect_same(Basis(parse_gaussian94(orbital + "****\n", "orbital"), *m, functions),
                  Basis(parse_gaussian94(fitting + "****\n", "fitting"), *m, functions));
    }
  }
}

TEST(ThreeCentre, BitsDoNotDependOnThreads) {
  const Molecule water = molecule("h2o");
  const Basis orbital(bundled_basis("cc-pVDZ"), water), fitting(bundled_basis("cc-pVDZ-RI"), water);
  const ThreeCentre integrals(orbital, fitting);
  const std::int64_t n = orbital.size(), shells = static_cast<std::int64_t>(fitting.shells().size());
  std::vector<double> one(static_cast<std::size_t>(fitting.size() * n * n)), three(one.size());
  const int before = omp_get_max_threads();
  omp_set_num_threads(1);
  integrals.compute(0, shells, one.data());
  omp_set_num_threads(3);
  integrals.compute(0, shells, three.data());
  omp_set_num_threads(before);
  EXPECT_EQ(one, three);
}

TEST(ThreeCentre, RefusesMomentaItHasNoTablesFor) {
  const Molecule h = parse_xyz("1\n\nH 0 0 0\n", "h");
  BasisSet set = parse_gaussian94("H 0\nS 1 1.0\n1.0 1.0\n****\n", "s");
  const Basis orbital(set, h);
  set.elements[1][0].l = 7;
  const Basis high(set, h);
  expect_message([&] { ThreeCentre(orbital, high); }, "basis set s has angular momentum 7; the limit is 6");
}

// Taylor terms from the nearest grid point, against the series.
TEST(BoysTable, ReproducesTheSeries) {
  constexpr int kOrder = kMostOrder;
  const BoysTable table(kOrder);
  for (double t = 0; t <= BoysTable::kFar; t += 0.37) {
    const double point = std::nearbyint(t * BoysTable::kPerUnit), step = point / BoysTable::kPerUnit - t;
    for (int order = 0; order <= kOrder; ++order) {
      long double term = 1 / static_cast<long double>(2 * order + 1), sum = 0;
      for (int i = 1; term > sum * 1e-21L; ++i) {
        sum += term;
        term *= 2 * static_cast<long double>(t) / static_cast<long double>(2 * (order + i) + 1);
      }
      const double* terms = table.terms(order) + static_cast<std::int64_t>(point) * BoysTable::kTerms;
      double value = 0;
      for (int k = BoysTable::kTerms - 1; k >= 0; --k) value = value * step + terms[k];
      const double exact = static_cast<double>(sum * std::exp(-static_cast<long double>(t)));
      EXPECT_NEAR(value, exact, 4e-16 * exact) << order << " " << t;
    }
  }
}

}  // namespace
}  // namespace trn::mp2::test
