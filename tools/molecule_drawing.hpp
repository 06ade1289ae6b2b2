// Pictures for the page of an MP2 run, as inline SVG: the molecule, and how its SCF converged.
#pragma once

#include <string>
#include <vector>

#include <trn/mp2/mp2.hpp>

namespace trn::tools {

// Atoms and bonds seen along the axis in which the molecule is thinnest. A bond is drawn where two atoms are closer
// than 1.3 times the sum of their covalent radii.
[[nodiscard]] std::string molecule_svg(const mp2::Molecule& molecule);

// The energy's change and the commutator of every iteration, on a logarithmic scale, with the limits of convergence.
[[nodiscard]] std::string convergence_svg(const std::vector<mp2::ScfIteration>& iterations,
                                          const mp2::ScfOptions& limits);

}  // namespace trn::tools
