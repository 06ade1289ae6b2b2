// Random words in SBUF: Philox4x32-10 on planes, (rows, columns) tiles of uint32 with one block of four words per
// element, for any tile program.
//
//   const Access input = b.input("parameters", DType::UInt32, {kPhiloxParameters});
//   PhiloxTiles tiles(b, input);
//   tiles.set_shape(128, 512);                        // 128 x 512 blocks of four words at a time
//   b.sequential("i", n, [&](Affine) {
//     const WordPlanes words = tiles.next();          // four (128, 512) planes of uint32
//     ...                                             // consume them
//   });
//
// Tile t holds the blocks t R C .. (t + 1) R C - 1 after the first; block (p, c) is number p C + c of them, its word w
// is words[w](p, c). `parameters` is the program's input: philox_parameters for the first block. The planes are free
// again when the next tile begins. src/blocks/philox.cpp says what the engines do.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <vector>

#include <trn/core/philox.hpp>
#include <trn/tile/builder.hpp>

namespace trn::tile::blocks {

using WordPlanes = std::array<Access, 4>;

inline constexpr std::int64_t kPhiloxParameters = 5 + 2 * philox::kRounds;
// Uint32 planes of a tile's shape that the rounds need, the four words among them.
inline constexpr std::int64_t kPhiloxPlanes = 20;

// The words of `parameters` for a first block with this counter under this key. One program may count 2^46 blocks from
// there, relative numbers below 2^31.
[[nodiscard]] std::vector<std::uint32_t> philox_parameters(const philox::Words& counter, const philox::Words& key);

// Word 0 of the parameters is where the plane `count` starts; count(i) = word 0 + (number of the block since the
// first). `parameters` has as many partitions as the planes. `between` is called with 0 .. 2 kRounds - 1 in the course
// of the rounds: a consumer's own instructions among them.
[[nodiscard]] WordPlanes philox_blocks(Builder& b, const Access& parameters, const Access& count,
                                       const std::function<void(int)>& between = {});

// Blocks counted from tile to tile.
class PhiloxTiles {
 public:
  static constexpr std::int64_t kPlanes = kPhiloxPlanes + 2;  // and the index and the count

  // `parameters` is an HBM tensor of kPhiloxParameters words.
  PhiloxTiles(Builder& b, const Access& parameters);
  // From the next tile on.
  void set_shape(std::int64_t rows, std::int64_t columns);
  [[nodiscard]] WordPlanes next();

 private:
  Builder& b_;
  std::int64_t rows_ = 0, columns_ = 0;
  Access parameters_, start_, step_, index_;
};

}  // namespace trn::tile::blocks
