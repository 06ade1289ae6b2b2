// Restricted Hartree-Fock: F = H + 2 J - K for D = C C^T over the doubly occupied orbitals, F C = S C e, E = sum D (H +
// F) + nuclear repulsion. Functions are made orthonormal canonically: eigenvectors of S whose eigenvalue is below
// kDependence are left out, and the result says how many. Fock matrices are extrapolated (DIIS) from the commutators F
// D S - S D F of the last eight iterations.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include <trn/mp2/integrals.hpp>

namespace trn::mp2 {

inline constexpr double kDependence = 1e-7;

enum class Guess : std::uint8_t {
  Atoms,  // the sum of spherical atoms' densities
  Core,   // the eigenvectors of H alone
};

struct ScfIteration {
  int number = 0;
  double energy = 0, change = 0, commutator = 0;  // the largest element of F D S - S D F in the orthonormal basis
};

struct ScfOptions {
  Guess guess = Guess::Atoms;
  int iterations = 100;
  double energy_change = 1e-10, commutator = 1e-9;  // converged when both are below
  double screening = kScreening;                    // of four-centre integrals
  std::int64_t memory_bytes = std::int64_t{1} << 31;
  std::string scratch = "";  // folder for the fitted integrals when memory is short; "": the system's
  // Of eigenproblems, Cholesky factors and products of matrices, in float64. Integrals, J and K, the atoms of the guess
  // and the coefficients of DIIS, at most 9 x 9, are the host's.
  Executor executor = Executor::host();
  std::function<void(const ScfIteration&)> progress = {};
};

// Orbitals of one spin.
struct SpinOrbitals {
  std::int64_t occupied = 0;
  std::vector<double> energies;
  Dense orbitals;  // in columns
};

struct Scf {
  bool converged = false;
  std::string reason;  // why not
  int iterations = 0;
  double energy = 0;
  std::int64_t occupied = 0;        // doubly occupied orbitals; of an unrestricted reference those of spin alpha
  std::int64_t dependent = 0;       // functions left out
  std::int64_t streamed_bytes = 0;  // of fitted integrals that went through a file
  // Of four-centre integrals: quartets of shells, and a bound of what screening changes the energy by (integrals.hpp).
  FourCentre::Quartets quartets;
  double screening_bound = 0;
  std::vector<double> orbital_energies;
  Dense orbitals;                    // in columns; of an unrestricted reference those of spin alpha
  std::optional<SpinOrbitals> beta;  // of an unrestricted reference (uhf.hpp)
  double spin_squared = 0;           // <S^2>
};

// With `fitting` J and K are density-fitted, otherwise from four-centre integrals.
[[nodiscard]] Scf rhf(const Molecule& molecule, const Basis& basis, const Basis* fitting, std::int64_t occupied,
                      const ScfOptions& options);

// The density of a spherical atom in its ground configuration: D such that the electrons are 2 D. Used by Guess::Atoms.
[[nodiscard]] Dense atom_density(int atomic_number, const BasisSet& set, Functions functions);

}  // namespace trn::mp2
