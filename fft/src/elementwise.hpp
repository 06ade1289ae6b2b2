// Elementwise complex arithmetic on strided operands: what complex_arithmetic.hpp, the convolutions and the short-time transforms share.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/core/dtype.hpp>
#include <trn/core/shape.hpp>
#include <trn/fft/complex_arithmetic.hpp>

namespace trn::fft {

// Element (i0, i1, ...) at strides in reals; a null im is a real operand (or a real result).
struct ElementwiseSide {
  void* re = nullptr;
  void* im = nullptr;
  Strides strides;
};
struct ElementwiseArgs {
  ComplexOp op;
  DType real;
  Shape shape;
  ElementwiseSide a, b, out;
};
// C = A B of planar matrices, strides in reals; out is dense row-major.
struct MatmulArgs {
  DType real;
  std::int64_t m, n, k;
  ElementwiseSide a, b, out;
  Products products;
};

namespace host {
void elementwise(const Executor& executor, const ElementwiseArgs& args);
void matmul(const Executor& executor, const MatmulArgs& args);
}  // namespace host

inline constexpr KernelTable<ElementwiseArgs> kElementwise{"fft.elementwise", host::elementwise, nullptr};
inline constexpr KernelTable<MatmulArgs> kMatmul{"fft.matmul", host::matmul, nullptr};

}  // namespace trn::fft
