// Error bounds of Cholesky's factorisation on devices.
#pragma once

#include <cstdint>

namespace trn::solver::device {

// float: |A - U^T U| <= bound |U^T||U|, elementwise and to first order.
//
// An element right of a diagonal block is A less a sum of products of the Tensor Engine (min(k, 128) + 2 ceil(k /
// 128) + 3 roundings, tile/words.hpp), one difference, and a solve with the block whose residual after a step of
// refinement is that of one more such sum of 128 products and six roundings. Inside a block the sums run over at most
// 112 products there and 16 steps of elimination, each a product of two roundings and a difference, with the
// reciprocal's error twice. D^-1/2 with its Newton step errs by 3 u, twice in a product.
[[nodiscard]] double cholesky_bound(std::int64_t n);

}  // namespace trn::solver::device
