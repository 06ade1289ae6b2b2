// Basis sets: Gaussian94 text, the bundled sets, and their sizes against Psi4's.
#include "mp2_support.hpp"

namespace trn::mp2::test {
namespace {

BasisSet parse(const std::string& text) { return parse_gaussian94(text, "b.gbs"); }

TEST(Gaussian94, ReadsShells) {
  const BasisSet set = parse(
      "! comment\ncartesian\n****\nH 0\nS 2 1.0\n 1.5D+01 0.5\n2.0 0.25\n****\n-C 0\nSP 1 2.0\n3.0 1.0 -2.0\nD 1\n4.0 "
      "1.0\n****\nFe 0\nS 1 1\n1 1\n****\n");
  EXPECT_EQ(set.name, "b");
  EXPECT_EQ(set.functions, Functions::Cartesian);
  ASSERT_EQ(set.elements.size(), 2u);  // iron is beyond argon
  const auto& h = set.elements.at(1);
  ASSERT_EQ(h.size(), 1u);
  EXPECT_EQ(h[0].exponents, (std::vector<double>{15, 2}));
  EXPECT_EQ(h[0].coefficients, (std::vector<double>{0.5, 0.25}));
  const auto& c = set.elements.at(6);
  ASSERT_EQ(c.size(), 3u);
  EXPECT_EQ(c[0].l, 0);
  EXPECT_EQ(c[0].exponents[0], 12);  // scaled by 2^2
  EXPECT_EQ(c[1].l, 1);
  EXPECT_EQ(c[1].coefficients[0], -2);
  EXPECT_EQ(c[2].l, 2);
}

TEST(Gaussian94, MessagesNameTheLine) {
  expect_message([] { (void)parse("H 0\nS 1 1.0\n1.0\n****\n"); },
                 "b.gbs:3: expected primitive 1 of 1: an exponent and 1 coefficient");
  expect_message([] { (void)parse("H 0\nQ 1 1.0\n1.0 1.0\n****\n"); }, "b.gbs:2: 'Q' is not an angular momentum");
  expect_message([] { (void)parse("H 0\nS x 1.0\n"); }, "b.gbs:2: 'x' is not a number");
  expect_message([] { (void)parse("H 0\nS 0 1.0\n****\n"); }, "b.gbs:2: '0' is not a number of primitives");
  expect_message([] { (void)parse("H 0\nS 1 1.0\n-1.0 1.0\n****\n"); },
                 "b.gbs:3: exponent -1.0; expected a positive number");
  expect_message([] { (void)parse("H 0\nS 1 1.0\n1.0 1.0\n"); }, "b.gbs:3: the file ends inside an element");
  expect_message([] { (void)parse("Hello world\n"); }, "b.gbs:1: expected an element, 'C 0', or '****'");
  expect_message([] { (void)parse("H 0\nS 1 1.0\n1.0 0.0\n****\n"); },
                 "b.gbs:3: every coefficient of the shell is zero");
  expect_message([] { (void)parse("! nothing\n"); }, "no basis functions");
  expect_message([] { (void)parse("H 0\nS 1 1.0\n1.0 1.0\n****\nH 0\nS 1 1.0\n1.0 1.0\n****\n"); },
                 "element H comes twice");
}

// Numbers that would overflow, vanish or cancel in a norm, and counts that no machine can hold.
TEST(Gaussian94, RefusesFunctionsWithoutANorm) {
  expect_message([] { (void)parse("H 0\nS 1 1e200\n1e200 1.0\n****\n"); },
                 "b.gbs:2: scale factor 1e+200; expected a positive number, at most 1000");
  expect_message([] { (void)parse("H 0\nS 1 1.0\n1e300 1.0\n****\n"); },
                 "b.gbs:3: exponent 1e300; expected a positive number, 1e-10 to");
  expect_message([] { (void)parse("H 0\nS 1 1.0\n1e-320 1.0\n****\n"); },
                 "b.gbs:3: exponent 1e-320; expected a positive number");
  expect_message([] { (void)parse("H 0\nS 1 1.0\n1.0 1e308\n****\n"); },
                 "b.gbs:3: coefficient 1e308; expected a number of size");
  expect_message([] { (void)parse("H 0\nS 2 1.0\n1.0 0.5\n1.0 -0.5\n****\n"); },
                 "b.gbs:4: the primitives of the shell cancel each other");
  expect_message([] { (void)parse("H 0\nS 1000 1.0\n1.0 0.5\n"); },
                 "b.gbs:2: '1000' is not a number of primitives; expected 1 to 100");
  expect_message([] { (void)parse("H 0\n" + std::string(1000, 'S') + " 1 1.0\n"); },
                 "SSS...' is not an angular momentum");
}

TEST(Bundled, EverySetCanBeReadAndCoversWhatItShould) {
  for (const std::string& name : bundled_basis_names()) {
    const BasisSet& set = bundled_basis(name);
    EXPECT_EQ(set.name, name);
    for (const int z : {1, 5, 6, 7, 8, 9, 10, 13, 14, 15, 16, 17, 18})
      EXPECT_TRUE(set.elements.contains(z)) << name << " " << z;
    EXPECT_EQ(set.functions, name == "6-31G*" ? Functions::Cartesian : Functions::Spherical) << name;
  }
  EXPECT_EQ(&bundled_basis("6-31g(d)"), &bundled_basis("6-31G*"));
  EXPECT_EQ(fitting_sets(bundled_basis("cc-pvtz")).ri, "cc-pVTZ-RI");
  EXPECT_EQ(fitting_sets(bundled_basis("aug-cc-pvdz")).jk, "aug-cc-pVDZ-JKFIT");
  expect_message([] { (void)bundled_basis("cc-pv5z"); },
                 "basis set 'cc-pv5z' is not known; choose one of STO-3G, 6-31G*, cc-pVDZ");
}

TEST(Bundled, SizesArePsi4s) {
  for (const Reference& r : references()) {
    const Basis orbital(bundled_basis(r.basis), molecule(r.molecule));
    EXPECT_EQ(orbital.size(), r.functions) << label(r);
    EXPECT_EQ(Basis(bundled_basis(r.basis + "-ri"), molecule(r.molecule)).size(), r.fitting) << label(r);
  }
  EXPECT_EQ(Basis(bundled_basis("6-31G*"), molecule("h2o")).size(), 19);  // oxygen 3 s, 2 p and six d; hydrogen 2 s
  expect_message([] { (void)Basis(bundled_basis("cc-pVDZ-JKFIT"), parse_xyz("1\n\nHe 0 0 0\n", "he")); },
                 "basis set cc-pVDZ-JKFIT has no functions for He (it has H, B, C, N, O, F, Ne, Al, Si, P, S, Cl, Ar); "
                 "choose another set, or --exact-jk");
}

}  // namespace
}  // namespace trn::mp2::test
