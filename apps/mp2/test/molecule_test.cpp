// Reading molecules: what is understood, what is refused and with which words, and numbers that follow from nuclei
// alone.
#include "mp2_support.hpp"

#include <limits>

#include <trn/mp2/element.hpp>

namespace trn::mp2::test {
namespace {

Molecule parse(const std::string& text, int charge = 0) { return parse_xyz(text, "m.xyz", {.charge = charge}); }

TEST(Xyz, ReadsAtomsInBohr) {
  const Molecule m = parse("2\n hydrogen fluoride \nh 0 0 +0.5  \r\nF 0.0 1e0 -0.5\n\n");
  ASSERT_EQ(m.atoms.size(), 2u);
  EXPECT_EQ(m.atoms[0].number, 1);
  EXPECT_EQ(m.atoms[1].number, 9);
  EXPECT_EQ(m.atoms[1].position[1], 1 / 0.529177210544);
  EXPECT_EQ(m.name, "m");
  EXPECT_EQ(m.formula(), "FH");
  EXPECT_EQ(m.electrons(), 10);
  // 9 / (sqrt(2) angstrom in bohr)
  EXPECT_NEAR(m.nuclear_repulsion(), 9 / (std::sqrt(2.0) / 0.529177210544), 1e-14);
}

// Basis functions without a nucleus.
TEST(Xyz, GhostsHaveNeitherChargeNorElectrons) {
  const Molecule m = parse("4\n\nO 0 0 0\n@H 0 0 1\n@c 0 0 3\nH 0 1 0\n", -1);
  ASSERT_EQ(m.atoms.size(), 4u);
  EXPECT_TRUE(m.atoms[1].ghost && m.atoms[2].ghost);
  EXPECT_EQ(m.atoms[2].number, 6);
  EXPECT_EQ(m.electrons(), 10);
  EXPECT_EQ(m.core_orbitals(), 1);
  EXPECT_EQ(m.formula(), "HO(-1)");
  EXPECT_EQ(mp2::label(m.atoms[2]), "@C");
  EXPECT_NEAR(m.nuclear_repulsion(), 8 * 0.529177210544, 1e-14);
  expect_message([] { (void)parse("1\n\n@Fe 0 0 0\n"); }, "m.xyz:3: element '@Fe' is not known");
  expect_message([] { (void)parse("1\n\n@ 0 0 0\n"); }, "m.xyz:3: element '@' is not known");
  expect_message([] { (void)parse("1\n\n@He 0 0 0\n"); }, "charge +0 leaves 0 electrons");
  expect_message([] { (void)parse("2\n\nHe 0 0 0\n@He 0 0 0\n"); }, "atom 2 (@He) is 0.0000 angstrom from atom 1 (He)");
}

// As some editors and Fortran programs write them.
TEST(Xyz, ReadsAByteOrderMarkAndFortranExponents) {
  const Molecule m = parse(
      "\xef\xbb\xbf"
      "2\n\nH 0 0 0.5D0\nH 0 0 -5.0d-01\n");
  ASSERT_EQ(m.atoms.size(), 2u);
  EXPECT_EQ(m.atoms[0].position[2], 0.5 / 0.529177210544);
  EXPECT_EQ(m.atoms[1].position[2], -0.5 / 0.529177210544);
}

TEST(Xyz, MessagesNameTheLineAndWhatWasExpected) {
  expect_message([] { (void)parse(""); }, "m.xyz:1: the file is empty; expected the number of atoms");
  expect_message([] { (void)parse("two\n\n"); }, "m.xyz:1: 'two' is not a number of atoms");
  expect_message([] { (void)parse("0\n\n"); },
                 "m.xyz:1: '0' is not a number of atoms; expected a positive whole number");
  expect_message([] { (void)parse("2 3\n\n"); }, "m.xyz:1: '2 3'");
  expect_message([] { (void)parse("-1\n\n"); }, "m.xyz:1: '-1'");
  expect_message([] { (void)parse("1\n\nH 0 0\n"); }, "m.xyz:3: 'H 0 0' has 3 columns; expected 'symbol x y z'");
  expect_message([] { (void)parse("1\n\nH 0 0 0 0.5\n"); },
                 "m.xyz:3: 'H 0 0 0 0.5' has 5 columns; expected 'symbol x y z'");
  expect_message([] { (void)parse("1\n\nH 0 0 0 # on the left\n"); }, "m.xyz:3: 'H 0 0 0 # on the left' has 8 columns");
  expect_message([] { (void)parse("1\n\nH 0 zero 0\n"); }, "m.xyz:3: 'zero' is not a coordinate");
  expect_message([] { (void)parse("1\n\nH 0 0 nan\n"); }, "m.xyz:3: 'nan' is not a coordinate");
  expect_message([] { (void)parse("1\n\nH 0 0 1e999\n"); }, "m.xyz:3: '1e999' is not a coordinate");
  expect_message([] { (void)parse("2\n\nH 0 0 0\n"); }, "m.xyz:4: the file ends after 1 of 2 atoms");
  expect_message([] { (void)parse("1\n\nHe 0 0 0\nHe 0 0 1\n"); },
                 "m.xyz:4: 'He 0 0 1' comes after the last of 1 atoms");
  expect_message([] { (void)parse("1\n\nFe 0 0 0\n"); },
                 "m.xyz:3: element 'Fe' is not known; expected one of H, He, Li");
  expect_message([] { (void)parse("3\n\nO 0 0 0\nH 0 0 1\nH 0 0 1.01\n"); },
                 "m.xyz:5: atom 3 (H) is 0.0100 angstrom from atom 2 (H) of line 4; expected at least 0.1 angstrom");
  expect_message([] { (void)parse("1\n\nHe 0 0 0\n", 2); }, "charge +2 leaves 0 electrons");
  expect_message([] { (void)parse_xyz("1\n\nHe 0 0 0\n", "m.xyz", {.bohr_in_angstrom = 1}); },
                 "one bohr is 1 angstrom");
  expect_message([] { (void)read_xyz("/nowhere/m.xyz"); }, "cannot read '/nowhere/m.xyz': No such file");
  expect_message([] { (void)read_xyz("/tmp"); }, "cannot read '/tmp': it is a directory");
}

// Distances that overflow, charges whose negative does not exist, files that never end, words that would fill a screen.
TEST(Xyz, RefusesWhatNoMoleculeHas) {
  expect_message([] { (void)parse("1\n\nH 0 0 1.7e308\n"); }, "m.xyz:3: '1.7e308' is beyond 1000000 angstrom");
  expect_message([] { (void)parse("1\n\nH 0 0 -2e6\n"); }, "m.xyz:3: '-2e6' is beyond 1000000 angstrom");
  expect_message([] { (void)parse("1\n\nHe 0 0 0\n", std::numeric_limits<int>::min()); },
                 "charge -2147483648; expected at most 1000000 in size");
  expect_message([] { (void)parse("1\n\nHe 0 0 0\n", std::numeric_limits<int>::max()); },
                 "charge +2147483647; expected at most 1000000 in size");
  expect_message([] { (void)read_xyz("/dev/zero"); }, "cannot read '/dev/zero': it is a device");
  try {
    (void)parse("1\n\n" + std::string(5000, 'x') + "\x1b 0 0 0\n");
    FAIL() << "accepted";
  } catch (const InvalidArgument& e) {
    EXPECT_LT(std::string(e.what()).size(), 300u);
    EXPECT_EQ(std::string(e.what()).find('\x1b'), std::string::npos);
  }
}

TEST(Molecule, ElectronsOfEitherSpin) {
  const auto counts = [](const Molecule& m, int multiplicity) {
    const SpinCounts c = spin_counts(m, multiplicity);
    return std::pair{c.alpha, c.beta};
  };
  EXPECT_EQ(counts(parse("1\n\nLi 0 0 0\n", 1), 1), std::pair(1, 1));
  EXPECT_EQ(counts(parse("1\n\nLi 0 0 0\n"), 2), std::pair(2, 1));
  EXPECT_EQ(counts(parse("1\n\nO 0 0 0\n"), 3), std::pair(5, 3));
  EXPECT_EQ(counts(parse("1\n\nLi 0 0 0\n"), 4), std::pair(3, 0));
  // Sums that an int does not hold.
  const int most = std::numeric_limits<int>::max();
  Molecule m = parse("1\n\nHe 0 0 0\n");
  m.charge = 2 - (most - 1);
  EXPECT_EQ(m.electrons(), most - 1);
  EXPECT_EQ(counts(m, most), std::pair(most - 1, 0));
  m.charge = std::numeric_limits<int>::min();
  expect_message([&] { (void)spin_counts(m, 1); }, "has 2147483650 electrons; expected at most 2147483647");
}

TEST(Molecule, NuclearRepulsionIsPsi4s) {
  for (const Reference& r : references())
    EXPECT_NEAR(molecule(r.molecule).nuclear_repulsion(), r.nuclear, 2e-9 * r.nuclear) << label(r);
}

TEST(Element, SymbolsAndCores) {
  for (int z = 1; z <= kLastElement; ++z) EXPECT_EQ(atomic_number(symbol(z)), z);
  EXPECT_EQ(atomic_number("CL"), 17);
  EXPECT_EQ(atomic_number("X"), 0);
  EXPECT_EQ(core_orbitals(2), 0);
  EXPECT_EQ(core_orbitals(3), 1);
  EXPECT_EQ(core_orbitals(10), 1);
  EXPECT_EQ(core_orbitals(11), 5);
}

}  // namespace
}  // namespace trn::mp2::test
