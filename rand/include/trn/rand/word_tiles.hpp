// Random words in SBUF, made where another kernel uses them: a block for any tile program.
//
//   Builder b("sum_of_noise", machine);
//   const Access input = b.input("parameters", DType::UInt32, {fill_parameter_count(algorithm)});
//   WordTiles tiles(b, algorithm, input);
//   tiles.set_shape(128, 512);                        // 128 x 512 blocks of four words at a time
//   b.sequential("i", n, [&](Affine) {
//     const WordPlanes words = tiles.next();          // four (128, 512) planes of uint32
//     ...                                             // consume them
//   });
//
// Tile t holds the blocks t R C .. (t + 1) R C - 1 after the first; block (p, c) is number p C + c of them, and its
// word w, in words[w](p, c), is word number 4 (t R C + p C + c) + w of a draw that starts at a multiple of four.
// `parameters` is the program's input: fill_parameters(state) for the first block. The planes are free again when the
// next tile begins.
//
// Engines: see src/device/philox.cpp and threefry.cpp. While the words of a tile are being made, Vector and GpSimd are
// busy; a consumer that wants its own instructions among them passes `between`, which is called kBetween times in the
// course of next().
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <trn/rand/generator.hpp>
#include <trn/tile/builder.hpp>

namespace trn::rand {

using WordPlanes = std::array<tile::Access, 4>;

[[nodiscard]] std::int64_t fill_parameter_count(Algorithm algorithm);

class WordTiles {
 public:
  static constexpr int kBetween = 20;
  // Uint32 planes of a tile's shape that next() needs, the four words among them: Philox's twenty, the index and the
  // count.
  static constexpr std::int64_t kPlanes = 22;

  // `parameters` is an HBM tensor of at least fill_parameter_count words. Its copy in SBUF, (partitions, words), is
  // parameters(): a consumer may append words of its own.
  WordTiles(tile::Builder& b, Algorithm algorithm, const tile::Access& parameters);
  [[nodiscard]] const tile::Access& parameters() const { return parameters_; }

  // From the next tile on.
  void set_shape(std::int64_t rows, std::int64_t columns);
  [[nodiscard]] WordPlanes next(const std::function<void(int)>& between = {});

 private:
  tile::Builder& b_;
  Algorithm algorithm_;
  std::int64_t rows_ = 0, columns_ = 0;
  tile::Access parameters_, start_, step_, index_;
};

}  // namespace trn::rand
