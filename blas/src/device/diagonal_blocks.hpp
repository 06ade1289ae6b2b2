// Triangular blocks on the device: reading one out of HBM, its inverse, and the real form of complex blocks.
//
// Complex matrices are computed in real arithmetic: Z stands as E(Z) = [[Zr, -Zi], [Zi, Zr]], real rows first. E(YZ) =
// E(Y) E(Z), and a block of 64 complex rows fills the 128 partitions; four real products per complex one, none wasted.
// E(Z)^T = E(Z^H).
#pragma once

#include <span>
#include <trn/tile/builder.hpp>

namespace trn::blas::device {

// How a triangular matrix T lies in HBM. Strides in elements of its own type.
struct TriangleLayout {
  bool complex = false, lower = true, unit = false, conj = false;
  std::int64_t row_stride = 1, column_stride = 1;
};

// dst (128, tiles, 2, 64) = E(Z)^T of `tiles` blocks given as re, im (rows, tiles, columns) with partition = column of
// Z and free index = row of Z, in SBUF or PSUM; conj: of conj(Z). Blocks smaller than 64 leave the rest of dst
// untouched.
void embed(tile::Builder& b, const tile::Access& dst, const tile::Access& re, const tile::Access& im, bool conj);

// Partitions that a block of this order takes: 128 for complex ones, else the next of 16, 32, 64, 128.
[[nodiscard]] std::int64_t block_side(const tile::Machine& machine, bool complex, std::int64_t order);

// What a solve with a diagonal block needs, each (side, blocks, side) with the contracted index on partitions:
// stationary operands.
struct DiagonalBlocks {
  tile::Access turned;     // [j, b, i] = T_b(i, j), zeros outside the triangle
  tile::Access inverse;    // [j, b, i] = (T_b^-1)(i, j); beyond the block's order the identity
  tile::Access row_scale;  // (side, blocks, 1): 1 / max_j |T_b(i, j)|
  tile::Access
      poison;  // (side, blocks, 1): infinity for rows that depend on a zero pivot or a non-finite element, else 0
};

// Copies one triangle of `blocks` square blocks from HBM to HBM: dst and src are (blocks, lines, elements[, 2]), line l
// of the triangle its elements 0 .. l (head) or l .. order - 1. Nothing else is read or written, nor a Unit diagonal.
// 19 DMAs for blocks of 128, however many.
void copy_triangles(tile::Builder& b, const tile::Access& dst, const tile::Access& src, bool head, bool unit);

// How many blocks are inverted together at most: two PSUM banks of them.
[[nodiscard]] std::int64_t blocks_together(const tile::Machine& machine, bool complex, std::int64_t order);

// Reads and inverts diagonal blocks of one order (at most 128 real or 64 complex rows). `blocks` are HBM accesses
// (order, order) of T, for complex types (order, order, 2). They are loaded whole; values outside the triangle, and of
// a Unit diagonal, never matter.
//
// The inverse: triangles of 16 rows by forward substitution on the Vector Engine, one column of the inverse per
// partition, then doubling on the Tensor Engine, inv([A 0; C B]) = [A' 0; -B' C A' B'] for all pairs of a level at
// once. A zero on the diagonal and non-finite elements count as 0 there: the inverse is finite unless it overflows, and
// `poison` says which rows of a solution are not.
[[nodiscard]] DiagonalBlocks invert_diagonal(tile::Builder& b, const TriangleLayout& layout,
                                             std::span<const tile::Access> blocks, std::int64_t order);

}  // namespace trn::blas::device
