// Density-fitted Coulomb and exchange matrices. With J = (P|Q) = L L^T and B = L^-1 (P|mn),
//
//   J_mn = sum_Q B_Qmn d_Q,  d_Q = sum_ls B_Qls D_ls,      K_mn = sum_Qi X_Qim X_Qin,  X_Qi = C_i^T B_Q  for D = C C^T.
//
// B is kept as triangles (m >= n): naux n (n + 1) / 2 numbers.
#pragma once

#include <trn/mp2/integrals.hpp>

namespace trn::mp2 {

class FittedJk {
 public:
  // InvalidArgument when B does not fit in `memory_bytes`, or (P|Q) is not positive definite.
  FittedJk(const Basis& orbital, const Basis& fitting, std::int64_t memory_bytes);

  // For D = C C^T with the columns of C the occupied orbitals.
  [[nodiscard]] CoulombExchange operator()(const Dense& occupied) const;
  [[nodiscard]] static std::int64_t bytes(const Basis& orbital, const Basis& fitting);

 private:
  std::int64_t n_, triangle_, naux_;
  std::vector<double> b_;  // (naux, triangle)
};

}  // namespace trn::mp2
