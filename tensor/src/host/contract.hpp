// One binary contraction on the host: which algorithm, its workspace, its execution.
#pragma once

#include <utility>

#include <trn/core/precision.hpp>

#include "direct.hpp"
#include "pointwise.hpp"

namespace trn::tensor::host {

enum class Algorithm : std::uint8_t { Gemm, Direct, Dot };

// D = result(alpha sum_k a(A) b(B) + beta C). Of complex operands there are Identity and Conj.
struct Operators {
  Unary a = Unary::Identity, b = Unary::Identity, result = Unary::Identity;
};

struct Contraction {
  Algorithm algorithm = Algorithm::Direct;
  Folded folded;
  DType compute = DType::Float32;
  bool conj_a = false, conj_b = false, c_like_d = true;
  DirectArgs direct;
  ReduceArgs dot;        // also what is left when nothing is summed
  PointwiseArgs copy_c;  // D = C, for Gemm
};

// C and D have the compute type; A and B too, or 16 bits.
[[nodiscard]] Contraction prepare(const Folded& folded, DType compute, DType a_type, DType b_type,
                                  const Operators& operators);
// Whether operators of A and B would be computed for the same element more than twice: functions that take long and an
// operand that is packed again and again.
[[nodiscard]] std::pair<bool, bool> repeats_work(const Contraction& contraction);
[[nodiscard]] std::int64_t workspace_bytes(const Contraction& contraction, int threads);
void contract(const Contraction& contraction, const ContractCall& call);
[[nodiscard]] const char* name(Algorithm algorithm);

}  // namespace trn::tensor::host
