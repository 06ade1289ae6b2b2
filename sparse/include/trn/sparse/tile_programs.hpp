// The device programs of sparse times dense, C = alpha A B + beta C, for tools and tests that print, emit, profile or
// estimate them. SpmmPlan makes the shapes and binds the memory.
//
// A matrix is cut into windows of 128 rows (the machine's partitions), and each window into tiles of 128 columns x 128
// rows with the columns on partitions: a tile is the stationary operand as it lies. Two ways to choose its columns:
//
//   resident   128 neighbours, so that a tile is a block of A. B stays in SBUF, a panel of its columns at a time, and
//              the pattern is in the program: one matmul for each block and product of words.
//   gather     the distinct columns of the window, 128 at a time; rows of B are fetched by their numbers. The program
//              knows the numbers of tiles only. A short one is written out; in a long one windows with equally many
//              tiles that follow one another are a recorded loop.
//
// A matrix of few diagonals needs no tiles:
//
//   dia        y(i) = sum over offsets d of a_d(i) x(i + d), multiplied and added by the Vector Engine and GpSimd. Each
//              partition has a stretch of rows that follow one another, and the rows of B that they meet.
//
// and a matrix of a grid whose coefficients are the same at every point needs none of them in memory:
//
//   stencil    planes of the grid on partitions. What comes from the plane itself and its neighbours is one banded
//              matrix for each group of shifts within a plane that have the same three coefficients; the shifted
//              operands of a group are added up first.
//
// Tensors: "a" (128, tiles, words, 128) in the mode's type (dia, stencil: below), "b" (columns, n), "c" (rows, n)
// float32, "c_in" the same memory where beta is read, "alpha", "beta" (1); gather also "index" (128, gathered tiles)
// uint32.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include <trn/sparse/spmm.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::sparse {

// What both kinds of program depend on beside the matrix.
struct TileProduct {
  std::int64_t rows = 0, columns = 0, n = 1;  // A is rows x columns, B has n columns
  std::int64_t b_row = 1, b_column = 1;       // strides of B; DMA is quick where the columns' is 1
  std::int64_t c_row = 1, c_column = 1;
  Mode mode = Mode::Native;
  bool scaled = false;  // alpha is an input, otherwise 1
  bool added = false;   // beta is an input and C is read, otherwise beta is 0
  bool narrow = false;  // B is bfloat16 (resident, in mode bf16)
  bool operator==(const TileProduct&) const = default;
};

struct ResidentShape {
  TileProduct product;
  bool pinned = false;                // A stays in SBUF too, for several panels of B
  std::vector<std::int64_t> offsets;  // blocks of window w are offsets[w] .. offsets[w + 1] - 1
  std::vector<std::int32_t> blocks;   // block column of each
  bool operator==(const ResidentShape&) const = default;
};

// `windows` of `tiles` each, where 0 tiles make beta C or zero of C; the last window of a matrix may have fewer rows
// and then is a run of its own.
struct GatherRun {
  std::int64_t windows = 0, tiles = 0;
  bool operator==(const GatherRun&) const = default;
};
struct GatherShape {
  TileProduct product;
  bool own = false;  // the first tile of a window of 128 rows has the columns of the window's own rows, and no numbers
  bool written_out = false;
  std::vector<GatherRun> runs;
  bool operator==(const GatherShape&) const = default;
};

// Rows i = (tile * 128 + partition) * stretch + k for k < stretch = pieces * piece; rows beyond the matrix are zeros of
// "a" (tiles, pieces, 128, diagonals, piece), whose element is a_d(i) for the diagonals in the order of `offsets`.
struct DiagonalShape {
  TileProduct product;                // Mode::Native
  std::vector<std::int64_t> offsets;  // rising
  std::int64_t tiles = 0, pieces = 0, piece = 0;
  [[nodiscard]] std::int64_t stretch() const { return pieces * piece; }
  bool operator==(const DiagonalShape&) const = default;
};
// Tiles as large as SBUF allows for product.n columns; no tiles where even the smallest do not fit.
[[nodiscard]] DiagonalShape diagonal_shape(const TileProduct& product, const std::vector<std::int64_t>& offsets,
                                           const tile::Machine& machine);
[[nodiscard]] tile::Program diagonal_program(const DiagonalShape& shape, const tile::Machine& machine);

// A grid of nx x ny x nz points, x first; c(point) takes coefficient[dz + 1][dy + 1][dx + 1] of its neighbour, which is
// 0 outside the grid. Grids of two dimensions have ny = 1: their y stands for z.
struct StencilShape {
  struct Group {
    std::vector<std::array<std::int8_t, 2>> shifts;  // (dy, dx)
    bool operator==(const Group&) const = default;
  };
  TileProduct product;  // Mode::Native
  std::int64_t nx = 0, ny = 0, nz = 0;
  std::vector<Group> groups;
  bool operator==(const StencilShape&) const = default;
};
struct Stencil {
  std::int64_t nx = 0, ny = 0, nz = 0;
  std::array<float, 27> coefficients{};
};
// The grid and the coefficients of a matrix on the host that has the same ones at every point of a grid of two or three
// dimensions, for neighbours (up to one step in each direction) inside it; nothing for other matrices.
[[nodiscard]] std::optional<Stencil> stencil_of(const Csr<float>& a);
// Shifts with equal coefficients go together.
[[nodiscard]] StencilShape stencil_shape(const TileProduct& product, const Stencil& stencil);
// Tensor "a" of stencil_program, (128, 2, groups, 128): element (k, e, g, m) is the coefficient with which plane k of a
// tile enters its result m, dz = k - m - 1 (e = 0: the tile begins with a neighbour) or k - m (e = 1).
[[nodiscard]] std::vector<float> stencil_bands(const StencilShape& shape, const Stencil& stencil);
[[nodiscard]] tile::Program stencil_program(const StencilShape& shape, const tile::Machine& machine);

// Columns of B that are in SBUF at a time; 0 when B does not fit even one at a time.
[[nodiscard]] std::int64_t resident_panel(const ResidentShape& shape, const tile::Machine& machine);
[[nodiscard]] tile::Program resident_program(const ResidentShape& shape, const tile::Machine& machine);
[[nodiscard]] tile::Program gather_program(const GatherShape& shape, const tile::Machine& machine);

// What execute() runs on a device for alpha = 1, beta = 0 and contiguous rows of B and C with so many columns.
[[nodiscard]] tile::Program spmm_program(const SpmmPlan<float>& plan, std::int64_t columns);

// The blocks of a plan of the kernels Resident and Pinned for a square matrix: see SparseOperator::block_tiles().
[[nodiscard]] BlockTiles spmm_block_tiles(const SpmmPlan<float>& plan);

// What a program takes when nothing waits: launch, the busiest engine, ring or all DMA engines together, and one DMA's
// latency before and after. The simulator's timing adds the waiting.
[[nodiscard]] double roof_seconds(const tile::Program& program, const tile::Machine& machine);

}  // namespace trn::sparse
