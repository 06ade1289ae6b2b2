// The device kernels of complex arithmetic and of copies as values: programs over strided operands, for tools that
// print, emit, profile or estimate them.
#pragma once

#include <trn/core/shape.hpp>
#include <trn/fft/complex_arithmetic.hpp>
#include <trn/tile/program.hpp>

namespace trn::tile {
struct Machine;
}

namespace trn::fft {

// Real numbers; real and imaginary parts in two tensors; pairs.
enum class ElementForm : std::uint8_t { Real, Planar, Interleaved };
struct ElementSide {
  ElementForm form = ElementForm::Real;
  Strides strides;  // in reals; 0 repeats an element
  bool operator==(const ElementSide&) const = default;
};
// out = a op b, float32. Operations on one operand have no b. A real a or b counts as complex with imaginary part 0
// only where all three are real: Add, Subtract and Multiply; FromPolar has two real operands, Abs and Angle have a real
// result.
struct ElementwiseShape {
  ComplexOp op = ComplexOp::Add;
  Shape shape;
  ElementSide a, b, out;
  bool over_a = false, over_b = false;  // out is the memory of that operand, with its form and strides
  bool operator==(const ElementwiseShape&) const = default;
};
// Tensors "a" (pairs or real) or "a_re" and "a_im", "b" and "out" likewise. out is memory of its own, or
// declared as that of a or b (of both: then there is no "b").
[[nodiscard]] tile::Program elementwise_program(const ElementwiseShape& shape, const tile::Machine& machine);

// to = from, or 0 without a source, for elements of `words` neighbouring 32-bit words; strides count words.
struct Move {
  Shape shape;
  Strides from, to;
  std::int64_t words = 1;
  bool zeros = false;
  bool operator==(const Move&) const = default;
};
struct MoveShape {
  std::vector<Move> moves;
  bool operator==(const MoveShape&) const = default;
};
// Tensors "x0" (unless zeros) and "y0", "x1" and "y1", ... of the moves; no y may overlap another move's tensors.
// Through SBUF, so that long runs are shared by the DMA engines.
[[nodiscard]] tile::Program move_program(const MoveShape& shape, const tile::Machine& machine);

}  // namespace trn::fft
