// Transposing tiles with the Tensor Engine: SBUF -> PSUM -> SBUF in 128 x 128 pieces, several to a PSUM bank.
#pragma once

#include <trn/tile/builder.hpp>

namespace trn::tile::blocks {

// dst(c, r) = src(r, c). src is (rows <= 128, columns) in SBUF; dst is (128, ceil(columns/128), rows): piece t of dst
// holds source columns [128 t, 128 t + 128) on its partitions. `psum` buffers rotate, so moving one group out overlaps
// the next.
void transpose_pieces(Builder& b, const Access& dst, const Access& src, std::int64_t psum_buffers = 2);

}  // namespace trn::tile::blocks
