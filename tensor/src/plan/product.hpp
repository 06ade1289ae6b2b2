// A contraction by blas::gemm: for the modes other than Native, and on devices. Operands whose groups are more than one
// index are permuted into matrices once (on the host; on a device that is not implemented).
#pragma once

#include <trn/core/executor.hpp>
#include <trn/core/precision.hpp>
#include <trn/tensor/types.hpp>

#include "../fold.hpp"
#include "../host/pointwise.hpp"

namespace trn::tensor {

struct Product {
  Folded folded;
  Mode mode = Mode::Native;
  DType compute = DType::Float32;
  bool conj_a = false, conj_b = false, c_like_d = true;
  bool pack_a = false, pack_b = false, unpack_d = false;
  std::int64_t a_bytes = 0, b_bytes = 0, d_bytes = 0;  // of the packed matrices
  host::PointwiseArgs a_packing, b_packing, d_unpacking, c_copy;
};

// Throws NotImplemented for a device whose groups are not matrices in place.
[[nodiscard]] Product prepare_product(Family family, const Folded& folded, Mode mode, DType compute, DType a_type,
                                      DType b_type, bool conj_a, bool conj_b);
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
