// The self-consistent field iteration.
#include <trn/mp2/rhf.hpp>

#include <algorithm>
#include <cmath>

#include <trn/core/enumerators.hpp>
#include <trn/core/error.hpp>
#include <trn/mp2/fitted_jk.hpp>
#include <trn/mp2/linear_algebra.hpp>

#include "diis.hpp"
#include "orthonormal.hpp"

namespace trn::mp2 {

namespace {

using blas::Op;

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

// The atoms' densities side by side.
Dense atoms_density(const Molecule& molecule, const Basis& basis) {
  Dense density(basis.size(), basis.size());
  std::map<int, Dense> atoms;
  for (std::size_t a = 0; a < molecule.atoms.size(); ++a) {
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
Dense pseudo_orbitals(const Dense& density) {
  const Eigen e = eigh(density);
  const auto first = static_cast<std::int64_t>(std::ranges::upper_bound(e.values, 1e-12) - e.values.begin());
  Dense c = e.vectors.columns_from(first, density.rows - first);
  for (std::int64_t k = 0; k < c.columns; ++k) {
    const double root = std::sqrt(e.values[static_cast<std::size_t>(first + k)]);
    for (std::int64_t i = 0; i < c.rows; ++i) c(i, k) *= root;
  }
  return c;
}

}  // namespace

Scf rhf(const Molecule& molecule, const Basis& basis, const Basis* fitting, std::int64_t occupied,
        const ScfOptions& options) {
  operands::check_enumerator("mp2", "Guess", options.guess, Guess::Core);
  require(options.iterations >= 1, "mp2: {} iterations; give at least one", options.iterations);
  (void)eigen_workspace(basis.size());  // refuses a basis too large for it before the integrals are computed
  const Dense s = overlap(basis), t = kinetic(basis), v = nuclear_attraction(basis, molecule);
  Dense h = t;
  for (std::size_t i = 0; i < h.values.size(); ++i) h.values[i] += v.values[i];
  const Orthonormal x(s);
  Scf scf;
  scf.occupied = occupied;
  scf.dependent = basis.size() - x.functions();
  require(occupied <= x.functions(),
          "mp2: {} has {} occupied orbitals and basis {} only {} independent functions; choose a larger basis",
          molecule.name, occupied, basis.name(), x.functions());
  std::optional<FittedJk> fitted;
  std::optional<FourCentre> exact;
  if (fitting != nullptr)
    fitted.emplace(basis, *fitting, options.memory_bytes, options.scratch);
  else
    exact.emplace(basis, options.memory_bytes);

  Diis diis;
  Dense c;  // D = C C^T
  if (options.guess == Guess::Atoms)
    c = pseudo_orbitals(atoms_density(molecule, basis));
  else
    c = x.eigenvectors(h).vectors.columns_from(0, occupied);
  ScfIteration step;
  for (step.number = 1; step.number <= options.iterations; ++step.number) {
    const Dense d = product(c, c, Op::N, Op::T);
    const CoulombExchange jk = fitted ? (*fitted)(c) : (*exact)(d);
    Dense f = h;
    for (std::size_t i = 0; i < f.values.size(); ++i) f.values[i] += 2 * jk.coulomb.values[i] - jk.exchange.values[i];
    Dense sum = h;
    for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += f.values[i];
    const double energy = trace_product(d, sum) + molecule.nuclear_repulsion();
    const Dense fds = product(product(f, d), s);
    Dense error(fds.rows, fds.columns);
    for (std::int64_t i = 0; i < fds.rows; ++i) {
      for (std::int64_t j = 0; j < fds.columns; ++j) error(i, j) = fds(i, j) - fds(j, i);
    }
    error = x.transform(error);
    step.change = energy - step.energy;
    step.energy = energy;
    step.commutator = largest(error);
    if (options.progress) options.progress(step);
    scf.iterations = step.number;
    scf.energy = energy;
    if (fitted) scf.streamed_bytes = fitted->streamed_bytes();
    if (!std::isfinite(energy)) break;
    // The density of the guess is no orbitals' density: the first energy means nothing.
    const bool converged =
        step.number > 1 && std::abs(step.change) < options.energy_change && step.commutator < options.commutator;
    const Eigen next = x.eigenvectors(converged ? f : diis.extrapolate(f, error));
    c = next.vectors.columns_from(0, occupied);
    if (converged || step.number == options.iterations) {
      scf.converged = converged;
      scf.orbital_energies = next.values;
      scf.orbitals = next.vectors;
    }
    if (converged) return scf;
  }
  scf.reason = fmt::format(
      "not converged after {} iterations: the energy still changes by {:.1e} hartree (limit {:.0e}) and the commutator "
      "is {:.1e} (limit {:.0e}); try "
      "another --guess or more --iterations",
      scf.iterations, step.change, options.energy_change, step.commutator, options.commutator);
  return scf;
}

}  // namespace trn::mp2
