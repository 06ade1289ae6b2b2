// The triangular matrix of a blocked solve, ready for the Tensor Engine: diagonal blocks inverted, the blocks beside
// them with their columns on partitions, in the words of the mode.
//
// Block rows are numbered in the order they are solved: top down for a lower T, bottom up for an upper one; the ragged
// one is the last.
#pragma once

#include <algorithm>
#include <trn/blas/trsm_program.hpp>
#include <trn/tile/builder.hpp>

#include "diagonal_blocks.hpp"
#include "words.hpp"

namespace trn::blas::device {

class TriangleBlocks {
 public:
  static constexpr std::int64_t kChunk = 8;  // blocks of one load at most

  TriangleBlocks(tile::Builder& b, const TrsmShape& shape, const tile::Access& a);

  // Records what is done once: inverses and blocks into HBM scratch. Blocks of a Native solve whose columns are
  // contiguous stay where they are.
  void prepare();

  [[nodiscard]] std::int64_t steps() const { return steps_; }
  [[nodiscard]] const Words& words() const { return words_; }
  [[nodiscard]] std::int64_t rows_of(std::int64_t t) const { return std::min(block_, g_.m - t * block_); }
  // Rows of block t as they stand in PSUM: complex blocks are padded to 2 x 64.
  [[nodiscard]] std::int64_t tile_rows(std::int64_t t) const { return complex_ ? side_ : rows_of(t); }
  // The first row of block t.
  [[nodiscard]] tile::Affine start_of(std::int64_t t) const {
    return g_.lower ? t * block_ : g_.m - rows_of(t) - t * block_;
  }

  // to (128, 2 * 128 + 2): T_t^T, T_t^-T, and the columns row_scale and poison of DiagonalBlocks.
  void load_diagonal(const tile::Access& to, std::int64_t t);
  // chunk (128, count, words, tile rows): T_ts^T for s in [s0, s0 + count), s at place(s - s0, count).
  void load(const tile::Access& chunk, std::int64_t t, std::int64_t s0, std::int64_t count);
  [[nodiscard]] tile::Affine place(const tile::Affine& s, std::int64_t count) const {
    return g_.lower ? s : tile::Affine(count - 1) - s;
  }

 private:
  [[nodiscard]] std::int64_t position(std::int64_t t, std::int64_t s, std::int64_t count) const;
  [[nodiscard]] std::int64_t block_number(std::int64_t t, std::int64_t position) const {
    return t * (t - 1) / 2 + position;
  }
  [[nodiscard]] tile::Access blocks_of_a(std::int64_t t, const tile::Affine& q, std::int64_t count, bool by_rows) const;
  void copy_diagonal();
  void prepare_diagonal();
  void prepare_blocks();
  void prepare_row(std::int64_t t, const tile::Affine& q, std::int64_t count);
  [[nodiscard]] tile::Access turn(const tile::Access& src);

  TrsmShape g_;
  tile::Builder& b_;
  tile::Access a_;
  Words words_;
  bool complex_;
  std::int64_t planes_, side_, block_, steps_;
  TriangleLayout layout_;  // of the diagonal blocks
  bool turned_;            // rows of T are contiguous: its blocks must be turned
  bool direct_;            // blocks of T are used as they lie in HBM
  tile::Access triangles_, diagonal_, ready_;
};

}  // namespace trn::blas::device
