// probe_exactness: does this executor multiply and accumulate small integers exactly? Precision Exact rests on it.
//
// Random integer matrices |a| <= 256 with k = 256 and |a| <= 64 with k = 4096, as bfloat16, against integer arithmetic,
// bit for bit; and the evictions that Exact uses. It fails at once where products or evictions are rounded. Exact runs
// it once per executor and refuses (DeviceError) when it fails.
#pragma once

#include <cstdint>
#include <string>

#include <trn/core/dtype.hpp>
#include <trn/core/executor.hpp>

namespace trn::blas {

struct Exactness {
  bool exact = false;
  std::string reason;  // the first disagreement; empty when there is none
};
[[nodiscard]] Exactness probe_exactness(const Executor& executor);

// Host memory that a product C (m x n) = op(A) (m x k) op(B) in Precision Exact takes besides its operands, at most, in
// bytes. The product is made in panels, so it grows with k, not with m n: 16384^3 in float64 takes 0.9 GB.
// componentwise: such bounds are asked for. On top of it come the buffers of the host's BLAS, the executor's own memory
// on a device, m x n results in trmm in place and with a target, a square matrix written out in symm, hemm and trmm,
// and up to 700 bytes for every element of one block (256 x 1024) that is computed again because its exponents are too
// wide for the integers.
[[nodiscard]] std::int64_t exact_workspace_bytes(DType in, std::int64_t m, std::int64_t n, std::int64_t k,
                                                 bool componentwise);

}  // namespace trn::blas
