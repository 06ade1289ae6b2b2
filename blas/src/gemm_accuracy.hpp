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

// Whether operands of a type have a mode on a family.
[[nodiscard]] bool offers(Mode mode, DType in, Family family);

// Refuses the modes that the operands' type does not have: NotImplemented with the list of those it has.
void require_mode(const char* operation, Mode mode, DType in, Family family);

// gemm_error_bound plus what underflow adds for these norms: a product may lose 2^-149, a split word too. Infinity when a sum
// may overflow fp32.
[[nodiscard]] double bound_with_range(Family family, const GemmArgs& g, Mode mode, const GemmNorms& norms);

// What underflow adds to the bound of a mode for these norms, infinity when a sum may overflow: bound_with_range is the sum of both.
[[nodiscard]] double range_error(DType in, std::int64_t k, const GemmNorms& norms);

// Row norms of the m x m matrix that one stored triangle stands for: symmetric or Hermitian (the lower one is stored), or triangular.
[[nodiscard]] std::vector<double> structured_norms(const Executor& executor, DType dtype, const void* a, std::int64_t m, std::int64_t am,
                                                   std::int64_t an, Structure structure, bool lower, bool unit);

// Throws InvalidArgument: no mode has a bound as small as the target.
[[noreturn]] void refuse_target(const char* operation, DType in, const Executor& executor, double target, double best);

// The cheapest of the modes other than Exact whose bound for these operands is at most `target`; none when there is none.
[[nodiscard]] std::optional<Accuracy> cheapest_mode(Family family, const GemmArgs& g, const GemmNorms& norms, double target);

// out(i, j) = bound * (|alpha| ||a_i|| ||b_j|| + |beta c_ij|), rounded up. `c` are the magnitudes of C before the product, m x n
// row-major, empty when beta is 0.
void write_componentwise(const MatrixView<double>& out, double bound, const GemmArgs& g, const GemmNorms& norms, const std::vector<double>& c);
[[nodiscard]] std::vector<double> magnitudes_of_c(const Executor& executor, const GemmArgs& g);

}  // namespace trn::blas
