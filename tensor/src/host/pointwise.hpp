// Elementwise operations and reductions over strided operands, in one pass.
#pragma once

#include <complex>

#include <trn/tensor/types.hpp>

#include "../fold.hpp"

namespace trn::tensor::host {

// D = ((x op_ab y) op_abc z), x = alpha opA(A) and so on, on every index of the group; terms that are absent are left
// out. Strides of the group: a, b, c of the three terms, d of D.
struct PointwiseArgs {
  DType compute = DType::Float32, out = DType::Float32;
  int terms = 1;
  DType types[3] = {};
  Unary ops[3] = {};
  Binary ab = Binary::Add, abc = Binary::Add;
  Unary result = Unary::Identity;  // of what is written
  Group group;                     // innermost first in D
  friend bool operator==(const PointwiseArgs&, const PointwiseArgs&) = default;
};
struct PointwiseCall {
  const void* data[3] = {};
  std::complex<double> scale[3] = {1, 1, 1};  // a term whose scale is 0 is not read
  void* d = nullptr;
  int threads = 1;
};
void pointwise(const PointwiseArgs& args, const PointwiseCall& call);

// D = result(alpha sum_k x + beta opC(C)), x = opA(A) or opA(A) opB(B), sum meaning `reduce`. The kept group has
// strides of all four; the summed one of a and b. Sums are trees of a fixed shape.
struct ReduceArgs {
  DType compute = DType::Float32, out = DType::Float32;
  Binary reduce = Binary::Add;
  bool product = false;
  DType a_type{}, b_type{}, c_type{};
  Unary a_op{}, b_op{}, c_op{}, result{};
  Group kept, summed;
  friend bool operator==(const ReduceArgs&, const ReduceArgs&) = default;
};
struct ReduceCall {
  const void *a = nullptr, *b = nullptr, *c = nullptr;
  void* d = nullptr;
  std::complex<double> alpha = 1, beta = 0;
  int threads = 1;
};
void reduce(const ReduceArgs& args, const ReduceCall& call);
// Roundings that a term meets in a sum of n.
[[nodiscard]] double tree_roundings(std::int64_t n);

// D = A with its indices in another order; elements of 2, 4, 8 or 16 bytes, moved as they are.
void permute(std::int64_t element_bytes, const Group& group, const void* a, void* d, int threads);

}  // namespace trn::tensor::host
