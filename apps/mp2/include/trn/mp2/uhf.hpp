// Spin-unrestricted Hartree-Fock: orbitals of their own for either spin s, with D_s = C_s C_s^T,
//
//   F_s = H + J(D_alpha) + J(D_beta) - K(D_s),    F_s C_s = S C_s e_s,
//   E = 1/2 sum_s D_s (H + F_s) + nuclear repulsion.
//
// Orthonormal functions, guess, convergence and the limits of rhf.hpp. DIIS extrapolates both Fock matrices with the
// same coefficients, from the commutators of both. The determinant is not an eigenfunction of S^2 in general; its
// expectation value is
//
//   <S^2> = m (m + 1) + n_beta - sum_ij |<i_alpha|j_beta>|^2,    m = (n_alpha - n_beta) / 2.
//
// As any such iteration it finds a stationary point, which need not be the lowest one.
#pragma once

#include <trn/mp2/rhf.hpp>

namespace trn::mp2 {

// Result with `beta`; 0 <= beta <= alpha, 1 <= alpha. With `fitting` J and K are density-fitted.
[[nodiscard]] Scf uhf(const Molecule& molecule, const Basis& basis, const Basis* fitting, const SpinCounts& electrons,
                      const ScfOptions& options);

}  // namespace trn::mp2
