// BlockTiles: a square matrix as 128 x 128 tiles in the memory of a device, the way the Tensor Engine takes it. What
// sparse matrices hand to methods that keep a whole matrix in SBUF, whoever made the tiles.
#pragma once

#include <cstdint>
#include <vector>

namespace trn {

// The matrix is cut into windows of 128 rows and as many block columns; tiles without entries are absent. `tiles` is
// (128, count, 128) float32, row-major: element (k, t, m) is A(128 w + m, 128 blocks[t] + k) for a tile t of window w,
// and zero where that lies outside of A. It belongs to who made the tiles, and must outlive their use.
struct BlockTiles {
  std::int64_t order = 0;             // rows and columns
  std::vector<std::int64_t> offsets;  // the tiles of window w are offsets[w] .. offsets[w + 1] - 1
  std::vector<std::int32_t> blocks;   // block column of each tile
  const float* tiles = nullptr;
};

}  // namespace trn
