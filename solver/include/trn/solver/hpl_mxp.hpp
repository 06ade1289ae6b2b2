// HPL-MxP: a dense system in float64 accuracy from a factorisation in bfloat16. The benchmark of mixed precision: LU
// without pivoting of a diagonally dominant matrix, its trailing updates products of bfloat16 blocks with float32 sums,
// then GMRES in float64 preconditioned by the factors, 2/3 n^3 + 3/2 n^2 flops counted.
//
// A run counts when backward = ||b - A x||_inf / (||A||_inf ||x||_inf + ||b||_inf) / (n 2^-53) < 16; the residual is
// formed with an Exact product. Host; the factors' format is bfloat16 in value, kept in float32 memory.
#pragma once

#include <trn/solver/krylov.hpp>

namespace trn::solver {

// The benchmark's matrix: uniform numbers in [-1/2, 1/2] off the diagonal, the sum of their moduli on it. Philox.
[[nodiscard]] Matrix<double> hpl_mxp_matrix(std::int64_t n, std::uint64_t seed = 0);

struct HplMxpOptions {
  std::int64_t block = 64;    // columns of a panel
  std::int64_t restart = 50;  // of GMRES
  std::int64_t max_iterations = 200;
};

struct HplMxpReport : IterationReport {
  double backward = 0;  // below 16: the run counts
  double flops = 0;     // 2/3 n^3 + 3/2 n^2
  [[nodiscard]] bool counts() const { return outcome.ok() && backward < 16; }
};

// A x = b; A and b are not changed. Singular at the first zero pivot. TargetMissed: backward is 16 or more.
HplMxpReport hpl_mxp(const Executor& executor, const MatrixView<const double>& a, const VectorView<const double>& b,
                     const VectorView<double>& x, const HplMxpOptions& options = {});

}  // namespace trn::solver
