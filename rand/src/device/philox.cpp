// Philox4x32-10 on planes: the block that tile has, with its time. Per element and round, trn2, both products: GpSimd 8
// products at 2 cycles of 1.2 GHz = 13.3 ns; Vector 12 sums and 2 xors at 1 cycle of 0.96 GHz, 2 xors with the key at
// half a cycle = 15.6 ns; Scalar 6 copies at 1 cycle of 1.2 GHz = 5.0 ns. Ten rounds make 4 * 128 values in 156 ns:
// 3.3e9 values/s at best. Limbs of 11, 11 and 10 bits on the Vector Engine alone need about 18 ns per product, 1.4e9
// values/s.
#include <trn/tile/blocks/philox.hpp>

#include "device/rounds.hpp"

namespace trn::rand::device {

static_assert(2 * philox::kRounds == WordTiles::kBetween && tile::blocks::PhiloxTiles::kPlanes == WordTiles::kPlanes);

Planes philox_blocks(tile::Builder& b, const tile::Access& parameters, const tile::Access& count,
                     const Between& between) {
  return tile::blocks::philox_blocks(b, parameters, count, between);
}

std::vector<std::uint32_t> philox_parameters(const Words4& counter, const Words4& key) {
  return tile::blocks::philox_parameters(counter, key);
}

}  // namespace trn::rand::device
