// Basis sets: contracted Gaussians per element, and their placement on the atoms of a molecule.
//
// Files are in Gaussian94 form: comment lines begin with '!'; a line `spherical` or `cartesian` says which functions of
// angular momentum 2 and more are meant (spherical when it is missing); sections end with '****' and hold an element
// line `C 0` and shells: a line `S 3 1.0` (angular momentum S, P, SP, D, F, G, H or I; number of primitives; scale
// factor of the exponents' square root), then that many lines `exponent coefficient` (two coefficients for SP).
// Exponents may be written with D. Messages name file and line.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <trn/mp2/molecule.hpp>

namespace trn::mp2 {

enum class Functions : std::uint8_t { Spherical, Cartesian };

struct Contraction {
  int l = 0;
  std::vector<double> exponents, coefficients;  // of normalised primitives
};

struct BasisSet {
  std::string name;
  Functions functions = Functions::Spherical;
  std::map<int, std::vector<Contraction>> elements;  // by atomic number
};

// The sets of this program, as they are written: "cc-pVDZ", ...
[[nodiscard]] const std::vector<std::string>& bundled_basis_names();
// By name in any case; "6-31g(d)" is "6-31g*". InvalidArgument with the list of names when there is none.
[[nodiscard]] const BasisSet& bundled_basis(std::string_view name);
[[nodiscard]] BasisSet parse_gaussian94(const std::string& text, const std::string& source);
// A bundled set, or a file when the name ends in ".gbs" or contains a '/'.
[[nodiscard]] BasisSet find_basis(const std::string& name_or_file);

// The fitting sets that belong to a bundled orbital set; "" for a set from a file.
struct FittingSets {
  std::string ri, jk;
};
[[nodiscard]] FittingSets fitting_sets(const BasisSet& orbital);

struct Shell {
  int l = 0;
  std::array<double, 3> centre = {};
  std::int64_t atom = 0, first = 0, size = 0;  // functions [first, first + size)
  const Contraction* contraction = nullptr;    // lives in the Basis
};

// A basis set on a molecule. Moving keeps the shells valid, copying is not offered.
class Basis {
 public:
  // `functions` overrules the set's own: fitting functions follow the orbital basis. InvalidArgument when an element is
  // missing.
  Basis(BasisSet set, const Molecule& molecule, Functions functions);
  Basis(BasisSet set, const Molecule& molecule);
  Basis(Basis&&) = default;
  Basis& operator=(Basis&&) = default;
  Basis(const Basis&) = delete;
  Basis& operator=(const Basis&) = delete;

  [[nodiscard]] const std::string& name() const { return set_.name; }
  [[nodiscard]] const BasisSet& set() const { return set_; }
  [[nodiscard]] Functions functions() const { return functions_; }
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] const std::vector<Shell>& shells() const { return shells_; }
  // The same functions with those of lower angular momentum first. This basis must outlive it.
  [[nodiscard]] Basis by_momentum() const;

 private:
  Basis() = default;
  BasisSet set_;
  Functions functions_ = Functions::Spherical;
  std::vector<Shell> shells_;
  std::int64_t size_ = 0;
};

}  // namespace trn::mp2
