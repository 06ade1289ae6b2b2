// A molecule: nuclei and a charge, read from an .xyz file.
//
// The file: the number of atoms; a comment line; then one line per atom: element symbol, x, y, z in angstrom, and
// nothing else: more columns are refused. An element with '@' before it is a ghost: its basis functions are there, its
// charge and electrons are not. Empty lines at the end are left alone. Every message names the file and the line.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace trn::mp2 {

inline constexpr double kBohrInAngstrom = 0.529177210544;  // CODATA 2022

// A ghost lends its functions to a part of a complex, whose energy then lacks nothing that the whole one's has (the
// counterpoise correction of Boys and Bernardi).
struct Atom {
  int number = 1;                       // of the element
  std::array<double, 3> position = {};  // bohr
  bool ghost = false;

  [[nodiscard]] int charge() const { return ghost ? 0 : number; }
};
[[nodiscard]] std::string label(const Atom& atom);  // as in the file: "C", "@C"

struct Molecule {
  std::string name;
  std::vector<Atom> atoms;
  int charge = 0;

  [[nodiscard]] std::int64_t electrons() const;
  [[nodiscard]] double nuclear_repulsion() const;  // hartree
  [[nodiscard]] int core_orbitals() const;         // summed over atoms; ghosts have none
  [[nodiscard]] std::string formula() const;       // Hill order: C, H, then the alphabet; without ghosts
};

struct XyzOptions {
  int charge = 0;
  double bohr_in_angstrom = kBohrInAngstrom;
};

// Two nuclei closer than this are a mistake in the file.
inline constexpr double kClosestAngstrom = 0.1;

// `source` is what messages call the text. Throws InvalidArgument for everything that is not as above, for nuclei
// closer than kClosestAngstrom and for more positive charge than there are electrons.
[[nodiscard]] Molecule parse_xyz(const std::string& text, const std::string& source, const XyzOptions& options = {});
[[nodiscard]] Molecule read_xyz(const std::string& path, const XyzOptions& options = {});

// Electrons of either spin, alpha - beta = multiplicity - 1; equal numbers are a closed shell. Throws InvalidArgument
// where the electrons' number is odd and the multiplicity, too, or both are even, for more unpaired electrons than
// there are, and for more electrons than an int counts.
struct SpinCounts {
  int alpha = 0, beta = 0;
};
[[nodiscard]] SpinCounts spin_counts(const Molecule& molecule, int multiplicity);

// A whole text file; InvalidArgument with the system's reason when it cannot be read.
[[nodiscard]] std::string read_text(const std::string& path);

}  // namespace trn::mp2
