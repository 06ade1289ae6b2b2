// Device programs of trntensor: the steps of a plan as one program, launched once.
//
// A step's tensors are numbered memories. Operands of the plan are inputs, D is the output, intermediates are scratch;
// each tensor is declared with the extents and strides of its first step. The shape of a program is the key of the
// device's program cache; numbers that change from call to call (alpha, beta, scales) are inputs.
#pragma once

#include <array>
#include <variant>
#include <vector>

#include <trn/blas/product_program.hpp>
#include <trn/tile/program.hpp>

#include "../host/pointwise.hpp"

namespace trn::tensor::device {

using blas::Factor;

// A permutation without arithmetic: strides a and d of the group.
struct MoveArgs {
  DType dtype = DType::Float32;
  Group group;
  friend bool operator==(const MoveArgs&, const MoveArgs&) = default;
};

// D[m, r] = alpha sum X[m, p, q] Y[p, r] Z[q, r] + beta C[m, r]; strides of an index in each tensor, 0 where it is not.
// X lies at 0, Y at 1, C at 2, D at 3 and Z at 4.
struct MttkrpArgs {
  struct Index {
    std::int64_t extent = 1, x = 0, y = 0, z = 0, c = 0, d = 0;
    friend bool operator==(const Index&, const Index&) = default;
  };
  Index m, p, q, r;
  friend bool operator==(const MttkrpArgs&, const MttkrpArgs&) = default;
};

struct Memory {
  enum class Kind : std::uint8_t { Input, Scratch, Output };
  Kind kind = Kind::Input;
  DType dtype = DType::Float32;
  Shape shape;
  Strides strides;
  int over = -1;  // the input whose memory an output continues
  friend bool operator==(const Memory&, const Memory&) = default;
};

// Memories by number, -1 where there is none. Pointwise: terms 0 to 2 and D; the others: A, B, C and D, and a third
// operand.
struct StepShape {
  std::array<int, 5> at{-1, -1, -1, -1, -1};
  std::array<Factor, 3> factors{Factor::One, Factor::One, Factor::One};  // scales of terms; or alpha and beta
  std::array<int, 3> factor_at{-1, -1, -1};                              // numbers of those that are inputs
  std::variant<host::PointwiseArgs, host::ReduceArgs, MoveArgs, blas::ProductShape, MttkrpArgs> work;
  friend bool operator==(const StepShape&, const StepShape&) = default;
};

struct PlanShape {
  std::vector<Memory> memories;
  std::vector<StepShape> steps;
  friend bool operator==(const PlanShape&, const PlanShape&) = default;
};

// Tensors "t0", "t1", ... by memory; factors that are inputs "f0", "f1", ... by number.
[[nodiscard]] tile::Program plan_program(const PlanShape& shape, const tile::Machine& machine);

// What a step is recorded from.
using Tensors = std::array<tile::Access, 5>;
using Factors = std::array<tile::Access, 3>;  // (P, 1) or (P, 2) tiles of those that are inputs
void record_pointwise(tile::Builder& b, const host::PointwiseArgs& args, const Tensors& at,
                      const std::array<Factor, 3>& kinds, const Factors& factors);
void record_reduce(tile::Builder& b, const host::ReduceArgs& args, const Tensors& at,
                   const std::array<Factor, 3>& kinds, const Factors& factors);
void record_mttkrp(tile::Builder& b, const MttkrpArgs& args, const Tensors& at, const std::array<Factor, 3>& kinds,
                   const Factors& factors);
void record_move(tile::Builder& b, const MoveArgs& args, const Tensors& at);

// Throw NotImplemented for types and operators that have no kernel.
void check_pointwise(const host::PointwiseArgs& args);
void check_reduce(const host::ReduceArgs& args);
// Whether the kernel takes these extents and is worth its program.
[[nodiscard]] bool suits_mttkrp(const MttkrpArgs& args, const tile::Machine& machine);
[[nodiscard]] double mttkrp_bound(const MttkrpArgs& args, const tile::Machine& machine);
// Roundings that a term of the sum meets at most.
[[nodiscard]] double sum_roundings(const host::ReduceArgs& args);

// Real numbers that an element is made of as programs see it: (re, im), or the 32-bit words of a wide type.
[[nodiscard]] std::int64_t words_of(DType dtype);
[[nodiscard]] DType word_type(DType dtype);

}  // namespace trn::tensor::device
