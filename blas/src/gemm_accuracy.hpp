// What a gemm's door knows of accuracy: norms of the operands, the bound of a mode for them, and the cheapest mode for a target.
#pragma once

#include <optional>
#include <vector>

#include <trn/blas/gemm.hpp>

#include "kernels.hpp"

namespace trn::blas {

// Euclidean norms of the rows of op(A) and the columns of op(B).
struct GemmNorms {
  std::vector<double> a, b;  // m, n
};

// Reads the operands wherever they live.
[[nodiscard]] GemmNorms gemm_norms(const Executor& executor, const GemmArgs& g);

// Tensor Engine (or host) products per multiplication of the formula; Exact chooses its own.
[[nodiscard]] int passes_of(Mode mode);

// Refuses the modes that the operands' type does not have: NotImplemented with the list of those it has.
void require_mode(const char* operation, Mode mode, DType in, Family family);

// gemm_error_bound plus what underflow adds for these norms: a product may lose 2^-149, a split word too. Infinity when a sum
// may overflow fp32.
[[nodiscard]] double bound_with_range(Family family, const GemmArgs& g, Mode mode, const GemmNorms& norms);

// The cheapest of the modes other than Exact whose bound for these operands is at most `target`; none when there is none.
[[nodiscard]] std::optional<Accuracy> cheapest_mode(Family family, const GemmArgs& g, const GemmNorms& norms, double target);

// out(i, j) = bound * (|alpha| ||a_i|| ||b_j|| + |beta c_ij|), rounded up. `c` are the magnitudes of C before the product, m x n
// row-major, empty when beta is 0.
void write_componentwise(const MatrixView<double>& out, double bound, const GemmArgs& g, const GemmNorms& norms, const std::vector<double>& c);
[[nodiscard]] std::vector<double> magnitudes_of_c(const Executor& executor, const GemmArgs& g);

}  // namespace trn::blas
