// Sums of matrices, the density of atoms side by side, and orbitals of a density that no orbitals made.
#include "scf_parts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>

namespace trn::mp2 {

double trace_product(const Dense& a, const Dense& b) {  // both symmetric
  double sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) sum += a.values[i] * b.values[i];
  return sum;
}

double largest(const Dense& a) {
  double most = 0;
  for (const double x : a.values) most = std::max(most, std::abs(x));
  return most;
}

// The atoms' densities side by side; ghosts have none.
Dense atoms_density(const Molecule& molecule, const Basis& basis) {
  Dense density(basis.size(), basis.size());
  std::map<int, Dense> atoms;
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a) {
    if (molecule.atoms[a].ghost) continue;
    const int number = molecule.atoms[a].number;
    if (!atoms.contains(number)) atoms.emplace(number, atom_density(number, basis.set(), basis.functions()));
    const Dense& d = atoms.at(number);
    const auto first = std::ranges::find(basis.shells(), static_cast<std::int64_t>(a), &Shell::atom)->first;
    for (std::int64_t i = 0; i < d.rows; ++i) {
      for (std::int64_t j = 0; j < d.rows; ++j) density(first + i, first + j) = d(i, j);
    }
  }
  return density;
}

// C with D = C C^T, for a density that no set of orbitals made.
Dense pseudo_orbitals(const Executor& executor, const Dense& density) {
  const Eigen e = eigh(executor, density);
  const auto first = static_cast<std::int64_t>(std::ranges::upper_bound(e.values, 1e-12) - e.values.begin());
  Dense c = e.vectors.columns_from(first, density.rows - first);
  for (std::int64_t k = 0; k < c.columns; ++k) {
    const double root = std::sqrt(e.values[static_cast<std::size_t>(first + k)]);
    for (std::int64_t i = 0; i < c.rows; ++i) c(i, k) *= root;
  }
  return c;
}

double screening_bound(double threshold, const Dense& alpha, const Dense& beta) {
  double a = 0, b = 0;
  for (const double x : alpha.values) a += std::abs(x);
  for (const double x : beta.values) b += std::abs(x);
  return threshold * ((a + b) * (a + b) / 2 + (a * a + b * b) / 2);
}

std::string not_converged(int iterations, const ScfIteration& step, const ScfOptions& options) {
  return fmt::format(
      "not converged after {} iterations: the energy still changes by {:.1e} hartree (limit {:.0e}) and the commutator "
      "is {:.1e} (limit {:.0e}); try "
      "another --guess or more --iterations",
      iterations, step.change, options.energy_change, step.commutator, options.commutator);
}

}  // namespace trn::mp2
