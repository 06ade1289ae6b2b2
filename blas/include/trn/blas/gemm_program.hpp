// The device kernel of gemm as a value: the program for one shape, for tools that print, emit, profile or estimate it.
#pragma once

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::blas {

// How a factor enters the program: as itself when that saves work, else as a one-element input, so that a new value needs
// no new program.
enum class Factor : std::uint8_t { Zero, One, Input };

// op(A) is m x k with strides (am, ak), op(B) is k x n with (bk, bn), C is m x n with (cm, cn), in elements: a transpose
// is a swap of two strides. All extents >= 1.
struct GemmShape {
  DType in = DType::Float32, out = DType::Float32;
  std::int64_t m = 1, n = 1, k = 1;
  std::int64_t am = 1, ak = 1, bk = 1, bn = 1, cm = 1, cn = 1;
  Factor alpha = Factor::One, beta = Factor::Zero;
  bool operator==(const GemmShape&) const = default;
};

// Tensors: inputs "a" (m x k), "b" (k x n), when beta is not Zero also "c_in" (m x n, same memory as c), and "alpha", "beta"
// (float32, one element each) where the factor is an Input; output "c" (m x n). alpha is not Zero.
// Throws NotImplemented for dtypes the Tensor Engine lacks, InvalidArgument for operands larger than the machine's HBM.
[[nodiscard]] tile::Program gemm_program(const GemmShape& shape, const tile::Machine& machine);

}  // namespace trn::blas
