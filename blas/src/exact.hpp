// Precision Exact: products of float64 (and float32) matrices, real or complex, from exact integer arithmetic.
//
// The rows of op(A) and the columns of op(B) are scaled to integers of at most 62 bits; the product of the integer
// matrices is exact (device: modulo many small numbers; host: limbs in double), alpha, beta and everything else are
// added without error, and the result is rounded once. The only errors are those of scaling and that rounding, both
// known element by element. docs/precision.md derives the bounds. The work is in exact/: operand (statistics), plan,
// scaling (its errors), product (a block with what was lost), sum (one rounding), finish (alpha, beta, bounds).
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include <trn/blas/exact_program.hpp>
#include <trn/blas/gemm.hpp>

#include "exact/blocks.hpp"
#include "exact/operand.hpp"
#include "exact/plan.hpp"
#include "exact_integers.hpp"
#include "gemm_accuracy.hpp"
#include "kernels.hpp"

namespace trn::blas {

// The integer product: real operands of planes x m rows and n columns, `depth` deep, read by the host kernel through
// `a` and `b`, by the device kernel where g says.
struct ExactArgs {
  GemmArgs g;
  int moduli, bits;  // bits: of the larger integers of both operands
  const exact::Operand &a, &b;
  std::span<const std::int32_t> shift_a, shift_b;  // per row of op(A) (both planes), per column of op(B)
  bool lower = false;                              // columns beyond the row are not wanted: what they receive is open
  exact::Partition partition;                      // blocks that are fetched lie inside its panels
  // Called once, with the product.
  std::function<void(exact::Source&)> consume;
};

namespace host {
void exact_product(const Executor& executor, const ExactArgs& args);
}
namespace device {
void exact_product(const Executor& executor, const ExactArgs& args);
}

// Which elements of C exist: all, or the lower triangle; of a Hermitian one the diagonal's imaginary parts are zero and
// never read. Terms: which products an element is the sum of, all or those with a triangle of op(A); it matters for
// infinities and NaN only, because the rest of op(A) is zero.
// mirrored: with P = op(A) op(B), n x n, C = alpha P + alpha P^T + beta C, hermitian: alpha P + conj(alpha) P^H + beta
// C.
struct ExactRegion {
  enum class Terms { All, Lower, Upper };
  bool lower = false, hermitian = false;
  Terms terms = Terms::All;
  bool mirrored = false;
};

// The operands of a product, measured: one pass over each, and one for both where op(B) is op(A) transposed.
struct ExactOperands {
  ExactOperands(const Executor& executor, const GemmArgs& g);
  // op(A) from a row-major copy in host memory, written out in full.
  ExactOperands(const Executor& executor, const GemmArgs& g, std::vector<std::byte> a_in_full);
  ExactOperands(ExactOperands&&) = default;
  ExactOperands& operator=(ExactOperands&&) = default;

  std::vector<std::byte> in_full;  // which `a` reads
  exact::Operand a, b;
};
// The norms of those operands, as a choice of mode needs them.
[[nodiscard]] GemmNorms norms_of(const ExactOperands& operands);

// A checked product in Mode::Exact. target > 0: as few moduli as keep the bound at or below it; InvalidArgument, and C
// as it was, when none do or when the result underflows so far that the bound is above it. `operation` is the name of
// the dispatch event. The bound is relative to
// |alpha| ||a_i|| ||b_j|| + |beta c_ij|, mirrored: |alpha| (||a_i|| ||b_j|| + ||b_i|| ||a_j||) + |beta c_ij|, underflow
// included, barring results too large for the type; norms of a row with infinities or NaN are those of its finite
// numbers. It is the largest over all elements of (cost of scaling + rounding) / those norms, and so within a few times
// of the largest error there is (ExactCertificate.BoundsAreTight: 4). No single number is near the error of every
// element: roundings follow |c_ij|, which in random products is an eighth of the largest in the median, and far less
// where sums cancel. Certificates of elements are `componentwise`.
Accuracy exact_gemm(const char* operation, const Executor& executor, const GemmArgs& g,
                    const std::optional<MatrixView<double>>& componentwise, double target,
                    const ExactRegion& region = {});
// The same with operands that were measured before; g says where the kernel reads them.
Accuracy exact_gemm(const char* operation, const Executor& executor, const GemmArgs& g, const ExactOperands& operands,
                    const std::optional<MatrixView<double>>& componentwise, double target,
                    const ExactRegion& region = {});
// A part of a larger product, whose operands reach this far: its elements have the bits they have in the whole. even:
// the whole is a product of a matrix with its own transpose, of which a triangle is wanted.
Accuracy exact_gemm_part(const char* operation, const Executor& executor, const GemmArgs& g,
                         const ExactOperands& operands, const exact::Reach& reach, bool even);

// Pieces of exact_gemm, for a product whose k is divided among ranks (dist/layers.cpp): what scaling may cost relative
// to the norms where nobody asks for a target; DeviceError where the executor cannot form integers exactly; the integer
// product by the executor's kernel.
[[nodiscard]] double allowed_scaling(DType in);
void require_exactness(const char* operation, const Executor& executor);
void exact_product(const char* operation, const Executor& executor, const ExactArgs& args);

}  // namespace trn::blas
