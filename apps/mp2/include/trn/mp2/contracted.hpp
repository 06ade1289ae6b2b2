// The DF-MP2 energy of a closed shell once more, by trntensor: the formula as it is written, without the blocks, the
// pairs and the kernels of df_mp2.hpp, which it checks.
//
//   B(P, ia) = sum_Q L^-1(P, Q) sum_mn (Q|mn) C_mi C_na      an einsum of three operands, a triangular solve
//   T(ia, jb) = sum_P B(P, ia) B(P, jb)                      one contraction
//   E = sum_iajb T(ia, jb) (2 T(ia, jb) - T(ib, ja)) / (e_i + e_j - e_a - e_b)
//
// in float64, on a device by Exact products, the last sum on the host. All of T is in memory, so this is for molecules
// of some ten atoms. L is trnsolver's Cholesky factor.
#pragma once

#include <trn/mp2/df_mp2.hpp>

namespace trn::mp2 {

struct ContractedOptions {
  std::int64_t frozen = 0;
  std::int64_t memory_bytes = std::int64_t{1} << 31;  // for the arrays of the formulas above
};

struct ContractedMp2 {
  double energy = 0;
  std::vector<Stage> stages;
};

// InvalidArgument for an unrestricted reference, no orbital to correlate or no virtual one, and memory that does not
// hold the arrays (the message says what does).
[[nodiscard]] ContractedMp2 contracted_mp2(const Executor& executor, const Scf& scf, const Basis& orbital,
                                           const Basis& fitting, const ContractedOptions& options);

}  // namespace trn::mp2
