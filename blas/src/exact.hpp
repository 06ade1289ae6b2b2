// Precision Exact: products of float64 (and float32) matrices, real or complex, from exact integer arithmetic.
//
// The rows of op(A) and the columns of op(B) are scaled to integers of at most 62 bits; the product of the integer matrices is
// exact (device: modulo many small numbers; host: limbs in double), and the result is rounded once. The only errors are those
// of scaling and that rounding, both known element by element. docs/precision.md derives the bounds.
#pragma once

#include <functional>
#include <optional>
#include <span>

#include <trn/blas/exact_program.hpp>
#include <trn/blas/gemm.hpp>

#include "exact_integers.hpp"
#include "kernels.hpp"

namespace trn::blas {

// The integer product: real operands of rows x depth and columns x depth, in host memory and (for the device) where g says.
struct ExactArgs {
  GemmArgs g;
  int moduli;
  std::int64_t rows, columns, depth;
  std::span<const double> a, b;            // op(A) by rows, op(B) by columns, real (complex: the planes of ExactShape); finite
  std::span<const std::int32_t> shift_a, shift_b;
  // Receives each row of the product once, `columns` integers; from several threads.
  std::function<void(std::int64_t row, const exact::Wide* x)> sink;
  bool lower = false;  // columns beyond the row (modulo m) are not wanted: what they receive is open
};

namespace host {
void exact_product(const Executor& executor, const ExactArgs& args);
}
namespace device {
void exact_product(const Executor& executor, const ExactArgs& args);
}

// Which elements of C exist: all, or the lower triangle; of a Hermitian one the diagonal's imaginary parts are zero and never read.
// Terms: which products an element is the sum of, all or those with a triangle of op(A); it matters for infinities and NaN only,
// because the rest of op(A) is zero.
struct ExactRegion {
  enum class Terms { All, Lower, Upper };
  bool lower = false, hermitian = false;
  Terms terms = Terms::All;
};

// A checked product in Mode::Exact. target > 0: as few moduli as keep the bound at or below it; InvalidArgument when none do.
// `operation` is the name of the dispatch event.
Accuracy exact_gemm(const char* operation, const Executor& executor, const GemmArgs& g, const std::optional<MatrixView<double>>& componentwise,
                    double target, const ExactRegion& region = {});

}  // namespace trn::blas
