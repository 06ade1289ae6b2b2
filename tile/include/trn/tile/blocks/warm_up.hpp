// Warming the Tensor Engine while the first loads are on their way.
//
// On trn2 and trn3 the array runs at half rate until it has been busy for about 3 us. The first operands need about that
// long to arrive from HBM, so transposing zeros meanwhile costs nothing and the first real matmul runs at full rate.
#pragma once

#include <trn/tile/builder.hpp>

namespace trn::tile::blocks {

// Records as many passes as fill the time until `first_operand_s`; nothing on a machine without a limiter.
void warm_tensor_engine(Builder& b, double first_operand_s);

}  // namespace trn::tile::blocks
