// A contraction by blas::gemm: on the host for the modes other than Native, on devices for Exact. Operands whose groups
// are more than one index are permuted into matrices once, C and D too; alpha and beta are gemm's, so that Exact gives
// the same bits everywhere.
#pragma once

#include <trn/core/executor.hpp>
#include <trn/core/precision.hpp>
#include <trn/tensor/types.hpp>

#include "../fold.hpp"
#include "../host/pointwise.hpp"

namespace trn::tensor {

// Sums of Exact that are longer are added up in parts of this length, on every executor, so that the bits are the same:
// what every machine's sums hold.
inline constexpr std::int64_t kExactDepth = 1 << 15;

struct Product {
  Folded folded;
  Mode mode = Mode::Native;
  DType compute = DType::Float32;
  bool conj_a = false, conj_b = false, c_like_d = true;
  bool pack_a = false, pack_b = false, unpack_d = false;
  std::int64_t a_bytes = 0, b_bytes = 0, d_bytes = 0;                // of the packed matrices
  host::PointwiseArgs a_packing, b_packing, c_packing, d_unpacking;  // c_packing: C where gemm finds D
};

[[nodiscard]] Product prepare_product(const Folded& folded, Mode mode, DType compute, DType a_type, DType b_type,
                                      bool conj_a, bool conj_b);
[[nodiscard]] inline std::int64_t workspace_bytes(const Product& p) { return p.a_bytes + p.b_bytes + p.d_bytes; }

struct ProductCall {
  const void *a, *b, *c;
  void *d, *workspace;
  Scalars scalars;
  int threads;
};
// The bound of blas::gemm, the largest over the batch.
double multiply(const Executor& executor, const Product& product, const ProductCall& call);

}  // namespace trn::tensor
