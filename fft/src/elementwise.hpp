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

// y *= x elementwise for interleaved arrays of one shape (conjugate: y *= conj(x)); y dense.
template <class T> void multiply_in_place(const Executor& e, const View<std::complex<T>>& y, const View<const std::complex<T>>& x, bool conjugate) {
  const auto side = [](void* data, const Strides& s) {
    Strides strides = s;
    for (std::int64_t& v : strides) v *= 2;
    return ElementwiseSide{data, static_cast<T*>(data) + 1, strides};
  };
  const ElementwiseSide ys = side(y.data(), y.strides()), xs = side(const_cast<std::complex<T>*>(x.data()), x.strides());
  dispatch(kElementwise, e, ElementwiseArgs{conjugate ? ComplexOp::MultiplyConjugate : ComplexOp::Multiply, dtype_of<T>, y.shape(), ys, xs, ys});
}

}  // namespace trn::fft
