// Elementwise complex arithmetic and copies on strided operands: what complex_arithmetic.hpp, the convolutions and the
// short-time transforms share.
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
// to = from for elements of `words` 32-bit words; a null `from` is zeros. Strides count words. No `to` overlaps another
// move's memory.
struct MoveArgs {
  struct One {
    Shape shape;
    const void* from = nullptr;
    Strides from_strides;
    void* to = nullptr;
    Strides to_strides;
    std::int64_t words = 1;
  };
  std::vector<One> moves;
};

namespace host {
void elementwise(const Executor& executor, const ElementwiseArgs& args);
}  // namespace host
namespace device {
void elementwise(const Executor& executor, const ElementwiseArgs& args);
void move(const Executor& executor, const MoveArgs& args);
}  // namespace device

inline constexpr KernelTable<ElementwiseArgs> kElementwise{"fft.elementwise", host::elementwise, device::elementwise};
// On the host a move is copy(); on a device contiguous ones are the executor's own copies, the others one program.
inline constexpr KernelTable<MoveArgs> kMove{"fft.move", nullptr, device::move};

}  // namespace trn::fft
