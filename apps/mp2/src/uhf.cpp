// The self-consistent field of two spins.
#include <trn/mp2/uhf.hpp>

#include <array>
#include <cmath>

#include <trn/core/enumerators.hpp>
#include <trn/core/error.hpp>
#include <trn/mp2/fitted_jk.hpp>

#include "diis.hpp"
#include "orthonormal.hpp"
#include "scf_parts.hpp"

namespace trn::mp2 {

namespace {

using blas::Op;
constexpr std::array<std::size_t, 2> kSpins{0, 1};  // alpha, beta
using Both = std::array<Dense, 2>;

// One matrix below the other.
Dense stacked(const Both& m) {
  Dense all(m[0].rows + m[1].rows, m[0].columns);
  std::copy(m[0].values.begin(), m[0].values.end(), all.values.begin());
  std::copy(m[1].values.begin(), m[1].values.end(),
            all.values.begin() + static_cast<std::ptrdiff_t>(m[0].values.size()));
  return all;
}
Both apart(const Dense& all) {
  Both m{Dense(all.rows / 2, all.columns), Dense(all.rows / 2, all.columns)};
  const auto half = static_cast<std::ptrdiff_t>(m[0].values.size());
  std::copy(all.values.begin(), all.values.begin() + half, m[0].values.begin());
  std::copy(all.values.begin() + half, all.values.end(), m[1].values.begin());
  return m;
}

// J and K of one spin; a spin without electrons has none.
class Fields {
 public:
  Fields(const Basis& basis, const Basis* fitting, const ScfOptions& options) : n_(basis.size()) {
    if (fitting != nullptr)
      fitted_.emplace(basis, *fitting, options.memory_bytes, options.scratch, options.executor);
    else
      exact_.emplace(basis, options.memory_bytes, options.screening);
  }
  [[nodiscard]] CoulombExchange operator()(const Dense& c, const Dense& d) {
    if (c.columns == 0) return {Dense(n_, n_), Dense(n_, n_)};
    return fitted_ ? (*fitted_)(c) : (*exact_)(d);
  }
  [[nodiscard]] FourCentre::Quartets quartets() const { return exact_ ? exact_->quartets() : FourCentre::Quartets{}; }
  [[nodiscard]] std::int64_t streamed_bytes() const { return fitted_ ? fitted_->streamed_bytes() : 0; }

 private:
  std::int64_t n_;
  std::optional<FittedJk> fitted_;
  std::optional<FourCentre> exact_;
};

double spin_squared(const Executor& on, const Both& c, const Dense& overlap) {
  const double m = 0.5 * static_cast<double>(c[0].columns - c[1].columns);
  double s = m * (m + 1) + static_cast<double>(c[1].columns);
  if (c[1].columns == 0) return s;
  for (const double x : product(on, c[0], product(on, overlap, c[1]), Op::T).values) s -= x * x;
  return s;
}

}  // namespace

Scf uhf(const Molecule& molecule, const Basis& basis, const Basis* fitting, const SpinCounts& electrons,
        const ScfOptions& options) {
  operands::check_enumerator("mp2", "Guess", options.guess, Guess::Core);
  require(options.iterations >= 1, "mp2: {} iterations; give at least one", options.iterations);
  require(electrons.alpha >= 1 && electrons.beta >= 0 && electrons.beta <= electrons.alpha,
          "mp2: {} electrons of spin alpha and {} of spin beta; alpha must have one, and no fewer than beta",
          electrons.alpha, electrons.beta);
  const Executor& on = options.executor;
  (void)eigen_workspace(basis.size());  // refuses a basis too large for it before the integrals are computed
  const std::array<std::int64_t, 2> occupied{electrons.alpha, electrons.beta};
  const Dense s = overlap(basis), t = kinetic(basis), v = nuclear_attraction(basis, molecule);
  Dense h = t;
  for (std::size_t i = 0; i < h.values.size(); ++i) h.values[i] += v.values[i];
  const Orthonormal x(on, s);
  Scf scf;
  scf.occupied = occupied[0];
  scf.dependent = basis.size() - x.functions();
  require(occupied[0] <= x.functions(),
          "mp2: {} has {} occupied orbitals of spin alpha and basis {} only {} independent functions; choose a larger "
          "basis",
          molecule.name, occupied[0], basis.name(), x.functions());
  Fields fields(basis, fitting, options);
  scf.quartets = fields.quartets();

  Diis diis;
  Both c;  // D = C C^T
  if (options.guess == Guess::Atoms) {
    c[0] = c[1] = pseudo_orbitals(on, atoms_density(molecule, basis));
  } else {
    const Eigen core = x.eigenvectors(h);
    for (const std::size_t k : kSpins) c[k] = core.vectors.columns_from(0, occupied[k]);
  }
  ScfIteration step;
  for (step.number = 1; step.number <= options.iterations; ++step.number) {
    Both d, f, error;
    std::array<CoulombExchange, 2> jk;
    for (const std::size_t k : kSpins) {
      d[k] = c[k].columns == 0 ? Dense(h.rows, h.rows) : product(on, c[k], c[k], Op::N, Op::T);
      jk[k] = fields(c[k], d[k]);
    }
    double energy = 0;
    step.commutator = 0;
    for (const std::size_t k : kSpins) {
      f[k] = h;
      for (std::size_t i = 0; i < h.values.size(); ++i)
        f[k].values[i] += jk[0].coulomb.values[i] + jk[1].coulomb.values[i] - jk[k].exchange.values[i];
      energy += 0.5 * (trace_product(d[k], h) + trace_product(d[k], f[k]));
      const Dense fds = product(on, product(on, f[k], d[k]), s);
      error[k] = Dense(fds.rows, fds.columns);
      for (std::int64_t i = 0; i < fds.rows; ++i) {
        for (std::int64_t j = 0; j < fds.columns; ++j) error[k](i, j) = fds(i, j) - fds(j, i);
      }
      error[k] = x.transform(error[k]);
      step.commutator = std::max(step.commutator, largest(error[k]));
    }
    energy += molecule.nuclear_repulsion();
    step.change = energy - step.energy;
    step.energy = energy;
    if (options.progress) options.progress(step);
    scf.iterations = step.number;
    scf.energy = energy;
    scf.streamed_bytes = fields.streamed_bytes();
    if (!std::isfinite(energy)) break;
    // The density of the guess does not come from orbitals: the first energy means nothing.
    const bool converged =
        step.number > 1 && std::abs(step.change) < options.energy_change && step.commutator < options.commutator;
    const Both fock = converged ? f : apart(diis.extrapolate(stacked(f), stacked(error)));
    std::array<Eigen, 2> next;
    for (const std::size_t k : kSpins) {
      next[k] = x.eigenvectors(fock[k]);
      c[k] = next[k].vectors.columns_from(0, occupied[k]);
    }
    if (fitting == nullptr) scf.screening_bound = screening_bound(options.screening, d[0], d[1]);
    if (converged || step.number == options.iterations) {
      scf.converged = converged;
      scf.orbital_energies = next[0].values;
      scf.orbitals = next[0].vectors;
      scf.beta = SpinOrbitals{occupied[1], next[1].values, next[1].vectors};
      scf.spin_squared = spin_squared(on, c, s);
    }
    if (converged) return scf;
  }
  scf.reason = not_converged(scf.iterations, step, options);
  return scf;
}

}  // namespace trn::mp2
