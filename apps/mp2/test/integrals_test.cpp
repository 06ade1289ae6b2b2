// Integrals against closed forms for s functions in long double, and against identities that hold for any angular
// momentum.
#include "mp2_support.hpp"

#include <cmath>

#include <trn/mp2/integrals.hpp>

namespace trn::mp2::test {
namespace {

using Real = long double;
constexpr Real kPi = 3.141592653589793238462643383279502884L;

// Hydrogens with two contracted s shells each.
constexpr const char* kSet = "****\nH 0\nS 3 1.0\n3.4 0.15\n0.6 0.53\n0.17 0.44\nS 1 1.0\n0.09 1.0\n****\n";
const Molecule& hydrogens() {
  static const Molecule m = parse_xyz("4\n\nH 0 0 0\nH 0.4 0.5 0.6\nH -0.9 0.2 0.1\nH 0.3 -1.1 2.0\n", "h4");
  return m;
}

struct Primitive {
  Real exponent, weight;  // weight: coefficient, normalisation of the primitive and of the contraction
};
struct Function {
  std::vector<Primitive> parts;
  Real at[3];
};

Real norm2(const Function& f) {
  Real sum = 0;
  for (const Primitive& p : f.parts) {
    for (const Primitive& q : f.parts) sum += p.weight * q.weight * std::pow(kPi / (p.exponent + q.exponent), 1.5L);
  }
  return sum;
}

std::vector<Function> functions() {
  std::vector<Function> all;
  const BasisSet set = parse_gaussian94(kSet, "s");
  for (const Atom& atom : hydrogens().atoms) {
    for (const Contraction& c : set.elements.at(1)) {
      Function f{{}, {atom.position[0], atom.position[1], atom.position[2]}};
      for (std::size_t k = 0; k < c.exponents.size(); ++k) {
        const Real a = c.exponents[k];
        f.parts.push_back({a, c.coefficients[k] * std::pow(2 * a / kPi, 0.75L)});
      }
      const Real scale = 1 / std::sqrt(norm2(f));
      for (Primitive& p : f.parts) p.weight *= scale;
      all.push_back(std::move(f));
    }
  }
  return all;
}

Real boys0(Real t) { return t < 1e-12L ? 1 - t / 3 : std::sqrt(kPi / t) / 2 * std::erf(std::sqrt(t)); }

// The product of two s primitives: exponent, centre and prefactor.
struct Pair {
  Real exponent, at[3], factor;
};
std::vector<Pair> product_of(const Function& f, const Function& g) {
  std::vector<Pair> all;
  Real r2 = 0;
  for (int k = 0; k < 3; ++k) r2 += (f.at[k] - g.at[k]) * (f.at[k] - g.at[k]);
  for (const Primitive& p : f.parts) {
    for (const Primitive& q : g.parts) {
      const Real e = p.exponent + q.exponent;
      Pair pair{e, {}, p.weight * q.weight * std::exp(-p.exponent * q.exponent / e * r2)};
      for (int k = 0; k < 3; ++k) pair.at[k] = (p.exponent * f.at[k] + q.exponent * g.at[k]) / e;
      all.push_back(pair);
    }
  }
  return all;
}
Real coulomb(const std::vector<Pair>& x, const std::vector<Pair>& y) {
  Real sum = 0;
  for (const Pair& p : x) {
    for (const Pair& q : y) {
      Real r2 = 0;
      for (int k = 0; k < 3; ++k) r2 += (p.at[k] - q.at[k]) * (p.at[k] - q.at[k]);
      const Real rho = p.exponent * q.exponent / (p.exponent + q.exponent);
      sum += p.factor * q.factor * 2 * std::pow(kPi, 2.5L) /
             (p.exponent * q.exponent * std::sqrt(p.exponent + q.exponent)) * boys0(rho * r2);
    }
  }
  return sum;
}
std::vector<Pair> alone(const Function& f) {
  std::vector<Pair> all;
  for (const Primitive& p : f.parts) all.push_back({p.exponent, {f.at[0], f.at[1], f.at[2]}, p.weight});
  return all;
}

TEST(Integrals, OneElectronClosedForms) {
  const Basis basis(parse_gaussian94(kSet, "s"), hydrogens());
  const std::vector<Function> f = functions();
  const Dense s = overlap(basis), t = kinetic(basis), v = nuclear_attraction(basis, hydrogens());
  for (std::int64_t i = 0; i < basis.size(); ++i) {
    for (std::int64_t j = 0; j < basis.size(); ++j) {
      const Function &x = f[static_cast<std::size_t>(i)], &y = f[static_cast<std::size_t>(j)];
      Real r2 = 0;
      for (int k = 0; k < 3; ++k) r2 += (x.at[k] - y.at[k]) * (x.at[k] - y.at[k]);
      Real so = 0, ke = 0, nu = 0;
      for (const Primitive& p : x.parts) {
        for (const Primitive& q : y.parts) {
          const Real e = p.exponent + q.exponent, mu = p.exponent * q.exponent / e;
          const Real one = p.weight * q.weight * std::pow(kPi / e, 1.5L) * std::exp(-mu * r2);
          so += one;
          ke += one * mu * (3 - 2 * mu * r2);
        }
      }
      for (const Pair& p : product_of(x, y)) {
        for (const Atom& atom : hydrogens().atoms) {
          Real d2 = 0;
          for (int k = 0; k < 3; ++k)
            d2 += (p.at[k] - atom.position[static_cast<std::size_t>(k)]) *
                  (p.at[k] - atom.position[static_cast<std::size_t>(k)]);
          nu -= atom.number * p.factor * 2 * kPi / p.exponent * boys0(p.exponent * d2);
        }
      }
      EXPECT_NEAR(s(i, j), static_cast<double>(so), 1e-14) << i << " " << j;
      EXPECT_NEAR(t(i, j), static_cast<double>(ke), 1e-13) << i << " " << j;
      EXPECT_NEAR(v(i, j), static_cast<double>(nu), 1e-13) << i << " " << j;
    }
  }
}

TEST(Integrals, CoulombClosedForms) {
  const Basis basis(parse_gaussian94(kSet, "s"), hydrogens());
  const std::vector<Function> f = functions();
  const std::int64_t n = basis.size();
  const Dense two = coulomb_metric(basis);
  std::vector<double> three(static_cast<std::size_t>(n * n * n));
  ThreeCentre(basis, basis).compute(0, static_cast<std::int64_t>(basis.shells().size()), three.data());
  for (std::int64_t p = 0; p < n; ++p) {
    const auto bra = alone(f[static_cast<std::size_t>(p)]);
    for (std::int64_t i = 0; i < n; ++i) {
      EXPECT_NEAR(two(p, i), static_cast<double>(coulomb(bra, alone(f[static_cast<std::size_t>(i)]))), 1e-12)
          << p << " " << i;
      for (std::int64_t j = 0; j < n; ++j) {
        const double exact = static_cast<double>(
            coulomb(bra, product_of(f[static_cast<std::size_t>(i)], f[static_cast<std::size_t>(j)])));
        EXPECT_NEAR(three[static_cast<std::size_t>((p * n + i) * n + j)], exact, 1e-13) << p << " " << i << " " << j;
      }
    }
  }
  // J and K of a density, integral by integral; kept and computed again alike.
  Dense d(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) d(i, j) = 1.0 / static_cast<double>(1 + i + j);
  }
  FourCentre kept(basis, 1 << 30), direct(basis, kept.bytes_to_keep() - 1);
  EXPECT_TRUE(kept.kept());
  EXPECT_FALSE(direct.kept());
  (void)kept(d);
  const CoulombExchange jk = kept(d), again = direct(d);
  EXPECT_EQ(jk.coulomb.values, again.coulomb.values);
  EXPECT_EQ(jk.exchange.values, again.exchange.values);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Real cj = 0, ck = 0;
      for (std::int64_t k = 0; k < n; ++k) {
        for (std::int64_t l = 0; l < n; ++l) {
          const auto g = [&](std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t e) {
            const auto at = [&](std::int64_t q) -> const Function& { return f[static_cast<std::size_t>(q)]; };
            return coulomb(product_of(at(a), at(b)), product_of(at(c), at(e)));
          };
          cj += g(i, j, k, l) * d(k, l);
          ck += g(i, k, j, l) * d(k, l);
        }
      }
      EXPECT_NEAR(jk.coulomb(i, j), static_cast<double>(cj), 1e-11) << i << " " << j;
      EXPECT_NEAR(jk.exchange(i, j), static_cast<double>(ck), 1e-11) << i << " " << j;
    }
  }
}

// Higher angular momentum: normalised functions, and the trace of S D for any orthonormal rotation of the frame is the
// same, so are energies; here the whole molecule is turned.
TEST(Integrals, DoNotDependOnTheFrame) {
  const std::string first = "3\n\nO 0 0 0\nH 0.758602 0 0.504284\nH -0.758602 0 0.504284\n";
  // The same molecule turned about x by arccos 0.6 and moved.
  const std::string second = "3\n\nO 1 2 3\nH 1.758602 1.5965728 3.3025704\nH 0.241398 1.5965728 3.3025704\n";
  Mp2Options options;
  options.basis = "cc-pvtz";
  const Mp2 a = run(parse_xyz(first, "a"), options), b = run(parse_xyz(second, "b"), options);
  EXPECT_NEAR(a.scf.energy, b.scf.energy, 1e-10);
  EXPECT_NEAR(a.mp2->energy(), b.mp2->energy(), 1e-10);
  const Dense s = overlap(Basis(bundled_basis("cc-pVTZ"), parse_xyz(first, "a")));
  for (std::int64_t i = 0; i < s.rows; ++i) EXPECT_NEAR(s(i, i), 1, 1e-13);
}

}  // namespace
}  // namespace trn::mp2::test
