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
#include "scf_parts.hpp"

namespace trn::mp2 {

using blas::Op;

Scf rhf(const Molecule& molecule, const Basis& basis, const Basis* fitting, std::int64_t occupied,
        const ScfOptions& options) {
  operands::check_enumerator("mp2", "Guess", options.guess, Guess::Core);
  require(options.iterations >= 1, "mp2: {} iterations; give at least one", options.iterations);
  const Executor& on = options.executor;
  (void)eigen_workspace(basis.size());  // refuses a basis too large for it before the integrals are computed
  const Dense s = overlap(basis), t = kinetic(basis), v = nuclear_attraction(basis, molecule);
  Dense h = t;
  for (std::size_t i = 0; i < h.values.size(); ++i) h.values[i] += v.values[i];
  const Orthonormal x(on, s);
  Scf scf;
  scf.occupied = occupied;
  scf.dependent = basis.size() - x.functions();
  require(occupied <= x.functions(),
          "mp2: {} has {} occupied orbitals and basis {} only {} independent functions; choose a larger basis",
          molecule.name, occupied, basis.name(), x.functions());
  std::optional<FittedJk> fitted;
  std::optional<FourCentre> exact;
  if (fitting != nullptr)
    fitted.emplace(basis, *fitting, options.memory_bytes, options.scratch, options.executor);
  else
    exact.emplace(basis, options.memory_bytes, options.screening);
  if (exact) scf.quartets = exact->quartets();

  Diis diis;
  Dense c;  // D = C C^T
  if (options.guess == Guess::Atoms)
    c = pseudo_orbitals(on, atoms_density(molecule, basis));
  else
    c = x.eigenvectors(h).vectors.columns_from(0, occupied);
  ScfIteration step;
  for (step.number = 1; step.number <= options.iterations; ++step.number) {
    const Dense d = product(on, c, c, Op::N, Op::T);
    const CoulombExchange jk = fitted ? (*fitted)(c) : (*exact)(d);
    Dense f = h;
    for (std::size_t i = 0; i < f.values.size(); ++i) f.values[i] += 2 * jk.coulomb.values[i] - jk.exchange.values[i];
    Dense sum = h;
    for (std::size_t i = 0; i < sum.values.size(); ++i) sum.values[i] += f.values[i];
    const double energy = trace_product(d, sum) + molecule.nuclear_repulsion();
    const Dense fds = product(on, product(on, f, d), s);
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
    // The density of the guess does not come from orbitals: the first energy means nothing.
    const bool converged =
        step.number > 1 && std::abs(step.change) < options.energy_change && step.commutator < options.commutator;
    const Eigen next = x.eigenvectors(converged ? f : diis.extrapolate(f, error));
    c = next.vectors.columns_from(0, occupied);
    if (exact) scf.screening_bound = screening_bound(options.screening, d, d);
    if (converged || step.number == options.iterations) {
      scf.converged = converged;
      scf.orbital_energies = next.values;
      scf.orbitals = next.vectors;
    }
    if (converged) return scf;
  }
  scf.reason = not_converged(scf.iterations, step, options);
  return scf;
}

}  // namespace trn::mp2
