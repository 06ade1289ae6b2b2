// The rounds of both algorithms as instructions on planes: (rows, columns) tiles of uint32, one block per element.
//
// What the engines offer: GpSimd multiplies and adds integers exactly modulo 2^32; the Vector Engine shifts and
// combines bits, and adds through fp32, exact below 2^24. A uint32 plane viewed as uint16 gives its halves without an
// instruction.
#pragma once

#include <functional>
#include <trn/rand/word_tiles.hpp>
#include <trn/tile/builder.hpp>
#include <vector>

#include "algorithms.hpp"

namespace trn::rand::device {

using Planes = WordPlanes;
// Called with 0 .. kBetween - 1 in the course of the rounds: a consumer's own instructions between them.
using Between = std::function<void(int)>;

// One number per partition, repeated over `columns`.
[[nodiscard]] inline tile::Access spread(const tile::Access& column, std::int64_t columns) {
  return column.broadcast(1, columns);
}

// The engine for moving bits and scaling floats: the Scalar Engine, otherwise idle, where it can.
[[nodiscard]] inline tile::Engine mover(const tile::Machine& machine) {
  return machine.scalar_tensor_copy ? tile::Engine::Scalar : tile::Engine::Vector;
}

// Word 0 of the parameters is where the plane `count` starts; count(i) = word 0 + (number of the block since the
// first). `parameters` has as many partitions as the planes.
[[nodiscard]] Planes philox_blocks(tile::Builder& b, const tile::Access& parameters, const tile::Access& count,
                                   const Between& between = {});
[[nodiscard]] Planes threefry_blocks(tile::Builder& b, const tile::Access& parameters, const tile::Access& count,
                                     const Between& between = {});

// The words of `parameters` for a first block with this counter under this key.
[[nodiscard]] std::vector<std::uint32_t> philox_parameters(const Words4& counter, const Words4& key);
[[nodiscard]] std::vector<std::uint32_t> threefry_parameters(const Words4& counter, const Words4& key);

}  // namespace trn::rand::device
