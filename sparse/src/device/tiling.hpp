// A sparse matrix as 128 x 128 tiles, or as diagonals: which blocks or gathered columns there are, and their values in
// the order in which the kernels read them. Host work, once for a plan.
#pragma once

#include <optional>
#include <vector>

#include <trn/sparse/tile_programs.hpp>

#include "../host_data.hpp"

namespace trn::sparse::device {

inline constexpr std::int64_t kSide = 128;  // columns and rows of a tile: the partitions of every machine

using FloatRef = CsrRef<float, std::int32_t>;

// Blocks of neighbouring columns that hold an entry, window by window.
struct BlockTiles {
  std::vector<std::int64_t> offsets;  // windows + 1
  std::vector<std::int32_t> blocks;   // block columns, rising within a window
};
[[nodiscard]] BlockTiles block_tiles(const PatternRef<std::int32_t>& a);

// Distinct columns of each window, 128 to a tile. Unless there are few enough to be written out, windows that follow
// one another form at most 48 runs: where counts of tiles differ, tiles of zeros are added that name columns of the
// same window.
struct GatherTiles {
  bool own = false, written_out = false;
  std::vector<GatherRun> runs;
  std::vector<std::int64_t> first;    // windows + 1: first tile of each window, the added ones counted
  std::vector<std::int64_t> offsets;  // windows + 1: into columns
  std::vector<std::int32_t> columns;  // in tile order; the own ones first where the first tile is the window's own
  std::int64_t filled = 0, most = 0;  // tiles with entries, and the most in a window
  [[nodiscard]] std::int64_t tiles() const { return first.back(); }
  [[nodiscard]] bool has_own(std::int64_t window, std::int64_t rows) const {
    return own && rows - window * kSide >= kSide &&
           first[static_cast<std::size_t>(window) + 1] > first[static_cast<std::size_t>(window)];
  }
};
[[nodiscard]] GatherTiles gather_tiles(const PatternRef<std::int32_t>& a, std::int64_t most_written_out);

// (128, tiles, words, 128): element (k, t, w, r) is word w of the entry in row r of the tile's window and its column k.
[[nodiscard]] std::vector<std::byte> tile_values(const FloatRef& a, const BlockTiles& tiles, Mode mode);
[[nodiscard]] std::vector<std::byte> tile_values(const FloatRef& a, const GatherTiles& tiles, Mode mode);
// (128, gathered tiles): the columns' numbers.
[[nodiscard]] std::vector<std::uint32_t> tile_numbers(const PatternRef<std::int32_t>& a, const GatherTiles& tiles);

// Offsets (column - row) of the diagonals that hold an entry, rising; none where there are more than `most`.
[[nodiscard]] std::vector<std::int64_t> diagonals_of(const PatternRef<std::int32_t>& a, std::int64_t most);
// Tensor "a" of diagonal_program.
[[nodiscard]] std::vector<float> diagonal_values(const FloatRef& a, const DiagonalShape& shape);

[[nodiscard]] std::optional<Stencil> stencil_of(const FloatRef& a);

}  // namespace trn::sparse::device
