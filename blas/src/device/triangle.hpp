// Triangles of HBM matrices: copying one without touching the other, and making a whole operand from a triangle of it.
#pragma once

#include <trn/tile/builder.hpp>

#include "scheme.hpp"

namespace trn::blas::device {

// tiles is (n / 128 rounded up, 128, 128[, 2]), matrix (n, n[, 2]): copies the triangle of every diagonal block, from the matrix or back into it.
// whole_diagonal false: of a complex diagonal the real parts only.
void copy_diagonal_triangles(tile::Builder& b, const tile::Access& tiles, const tile::Access& matrix, std::int64_t n, Region triangle,
                             bool whole_diagonal, bool into_matrix);

// Zeros into (tiles, 128, 128[, 2]).
void fill_zero(tile::Builder& b, const tile::Access& tiles);

}  // namespace trn::blas::device
