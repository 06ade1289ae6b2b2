// One operand of a product on its way to the Tensor Engine: loaded from HBM with k on partitions, turned where its
// layout demands it, and made into the words of a Scheme.
#pragma once

#include <string>
#include <trn/blas/product_program.hpp>
#include <trn/tile/blocks/boxes.hpp>
#include <trn/tile/builder.hpp>
#include <vector>

#include "scheme.hpp"

namespace trn::blas::device {

// How an operand reaches SBUF with k on partitions.
enum class Route : std::uint8_t { Direct, DmaTranspose, TensorTranspose };

[[nodiscard]] Route route(DType real, std::int64_t k_stride, std::int64_t k, std::int64_t other_stride,
                          std::int64_t other, const tile::Machine& machine);

// Rows that are turned on the Tensor Engine on their way in are read this many bytes at a time.
inline constexpr std::int64_t kTurnedRowBytes = 2048;

// `tiles` tiles of `depth` k each, from tile `first` on: depth is 128 except in the last, ragged chunk. Of the operand
// whose zeros are known only `from` .. `from + size` is used (size 0: everything).
struct Chunk {
  tile::Affine first;
  std::int64_t tiles = 1, depth = 128;
  std::int64_t from = 0, size = 0;
};

// A block of an operand whose k and x are groups of indices: `number` is the operand among the strides of the boxes and
// `hbm` its memory, beginning at the block. Element k of the chunk is element k0 + k of the box `k`.
struct BoxChunk {
  tile::Access hbm;
  std::size_t number = 0;
  tile::blocks::BoxGroup k, x;
  std::int64_t k0 = 0, tiles = 1, depth = 128;
};

// A part of an operand on chip.
struct Held {
  tile::Access raw;                // as loaded: (K, tiles, x), of pairs (K, tiles, x, 2), of planes (K, tiles, 2, x)
  std::vector<tile::Access> made;  // (K, tiles, x): the words that are not views of raw
};

class Operand {
 public:
  // hbm is (k, x), of a complex matrix (k, x, 2).
  Operand(tile::Builder& b, std::string name, tile::Access hbm, Route route, const Scheme& scheme,
          const std::vector<Part>& parts);

  [[nodiscard]] Route how() const { return route_; }
  [[nodiscard]] const tile::Access& hbm() const { return hbm_; }

  // Tiles for `tiles` tiles of k and x columns. A raw tile only where words are views of it: else each chunk has its
  // own.
  [[nodiscard]] Held hold(const std::string& name, std::int64_t partitions, std::int64_t tiles, std::int64_t x,
                          std::int64_t buffers) const;
  // The part of it that a chunk fills; `first` is the tile of k that comes first in `held`.
  [[nodiscard]] Held part(const Held& held, const Chunk& chunk, const tile::Affine& first) const;
  // All words of the scheme, each (K, tiles, x).
  [[nodiscard]] std::vector<tile::Access> words(const Held& held) const;

  // Loads columns x0 .. x0 + x of the chunk and makes its words. `held` has that many columns.
  void bring(const Held& held, const Chunk& chunk, const tile::Affine& x0, std::int64_t x,
             std::int64_t raw_buffers = 3) const;
  // The same for a block of groups of indices; all of x.
  void bring(const Held& held, const BoxChunk& chunk, std::int64_t raw_buffers = 3) const;
  // `held` reduced to the columns [from, from + size).
  [[nodiscard]] Held narrow(const Held& held, std::int64_t from, std::int64_t size) const;

  // What becomes of each element as soon as it is on chip, before its words are made.
  void apply(const ElementFunction& function) { function_ = function; }
  // How many pieces of rows are loaded before the Tensor Engine turns the first.
  void read_ahead(std::int64_t buffers) { row_buffers_ = buffers; }
  // Rows that are turned on their way in take turns in `tile` (rows, places, k) from now on, where it is present: what
  // is written out has no buffers of its own.
  void rows_in(tile::Access tile) { rows_ = std::move(tile), next_row_ = 0; }
  // An operand whose k is contiguous: turned once by the Tensor Engine, into HBM scratch.
  void turn_in_hbm();
  // The same operand from other memory with k on its rows.
  void replace(tile::Access hbm);

 private:
  [[nodiscard]] bool planar() const { return scheme_.complex && hbm_.dims[2].stride != 1; }
  [[nodiscard]] int planes() const { return scheme_.complex ? 2 : 1; }
  [[nodiscard]] tile::Access raw_tile(const std::string& name, std::int64_t partitions, std::int64_t tiles,
                                      std::int64_t x, std::int64_t buffers) const;
  [[nodiscard]] tile::Access plane(const tile::Access& raw, int part) const;  // (K, tiles, x)
  void load(const tile::Access& raw, const Chunk& chunk, const tile::Affine& x0, std::int64_t x) const;
  void turn(const tile::Access& raw, const Chunk& chunk, const tile::Affine& x0, std::int64_t x) const;
  void load(const tile::Access& raw, const BoxChunk& chunk) const;
  void turn(const tile::Access& raw, const BoxChunk& chunk) const;
  void make_words(const Held& held, const tile::Access& raw) const;
  void split(const std::vector<tile::Access>& words, const tile::Access& x) const;

  tile::Builder& b_;
  std::string name_;
  tile::Access hbm_;
  Route route_;
  const Scheme& scheme_;
  const std::vector<Part>& parts_;
  std::int64_t side_, row_buffers_ = 3;
  ElementFunction function_;
  tile::Access rows_;
  mutable std::int64_t next_row_ = 0;
};

}  // namespace trn::blas::device
