// Direct contraction: panels packed straight from the tensors, whatever their strides, into a register tile; D is
// written in place. No tensor is transposed.
#pragma once

#include <complex>
#include <cstdint>
#include <utility>

#include <trn/core/dtype.hpp>
#include <trn/tensor/types.hpp>

#include "../fold.hpp"

namespace trn::tensor::host {

// Addresses and scalars of one execution. D = alpha sum_k op(A) op(B) + beta C.
struct ContractCall {
  const void *a, *b, *c;
  void* d;
  std::complex<double> alpha = 1, beta = 0;
  void* workspace = nullptr;
  int threads = 1;
};

// A contraction made ready: V is the operand that owns D's innermost stride (M after an exchange), W the other one.
// Element types: A and B of the compute type, or 16-bit types that are converted while they are packed.
struct DirectArgs {
  DType compute = DType::Float32;  // of C and D: Float32, Float64, Complex64, Complex128
  DType a_type = DType::Float32, b_type = DType::Float32;
  bool conj_a = false, conj_b = false;
  bool exchanged = false;   // V is the caller's B
  Group h, v, w, k;         // a is V's stride, b is W's
  std::int64_t turned = 0;  // groups of V rows per step of V's own unit index, when rows are turned in registers
  Unary v_op = Unary::Identity, w_op = Unary::Identity;  // of real numbers, applied to packed panels
  Unary result = Unary::Identity;                        // of real numbers, applied to D as it is finished
};

[[nodiscard]] DirectArgs prepare_direct(const Folded& folded, DType compute, DType a_type, DType b_type, bool conj_a,
                                        bool conj_b);
[[nodiscard]] std::int64_t direct_workspace(const DirectArgs& args, int threads);
// Whether V's or W's operator takes long and its operand is packed more than twice.
[[nodiscard]] std::pair<bool, bool> direct_repeats(const DirectArgs& args);
void direct(const DirectArgs& args, const ContractCall& call);

}  // namespace trn::tensor::host
