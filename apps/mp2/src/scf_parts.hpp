// What the restricted and the unrestricted self-consistent field share.
#pragma once

#include <trn/mp2/linear_algebra.hpp>
#include <trn/mp2/rhf.hpp>

namespace trn::mp2 {

[[nodiscard]] double trace_product(const Dense& a, const Dense& b);  // of A B, both symmetric
[[nodiscard]] double largest(const Dense& a);                        // largest |element|

// The densities of spherical atoms side by side.
[[nodiscard]] Dense atoms_density(const Molecule& molecule, const Basis& basis);
// C with D = C C^T, for a density that no set of orbitals made.
[[nodiscard]] Dense pseudo_orbitals(const Executor& executor, const Dense& density);

// What leaving out integrals of at most `threshold` changes the energy of densities of either spin by, at most:
// J: 1/2 (a + b)^2, K: 1/2 (a^2 + b^2), a and b the sums of their elements' absolute values (integrals.hpp).
[[nodiscard]] double screening_bound(double threshold, const Dense& alpha, const Dense& beta);

// Why an SCF that ended with this step did not converge.
[[nodiscard]] std::string not_converged(int iterations, const ScfIteration& step, const ScfOptions& options);

}  // namespace trn::mp2
