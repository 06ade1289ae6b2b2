// Reductions of a tile: along the free dimension, and from there across partitions.
#pragma once

#include <trn/tile/builder.hpp>

namespace trn::tile::blocks {

// dst (P, 1) = op over the free dimension of src (P, N).
void reduce_rows(Builder& b, const Access& dst, AluOp op, const Access& src);

// dst (1, N) = sum over the partitions of src (P, N) fp32, as a matmul with a column of ones: up to N = one PSUM bank,
// at the Tensor Engine's speed. The sum runs in partition order.
void sum_partitions(Builder& b, const Access& dst, const Access& src);

}  // namespace trn::tile::blocks
