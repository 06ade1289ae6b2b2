// Triangles of HBM matrices: copying one without touching the other, and making a whole operand from a triangle of it.
#pragma once

#include <trn/tile/builder.hpp>

#include "scheme.hpp"

namespace trn::blas::device {

// tiles is (n / 128 rounded up, 128, 128[, 2]), matrix (n, n[, 2]): copies the triangle of every diagonal block, from
// the matrix or back into it. whole_diagonal false: of a complex diagonal the real parts only.
void copy_diagonal_triangles(tile::Builder& b, const tile::Access& tiles, const tile::Access& matrix, std::int64_t n,
                             Region triangle, bool whole_diagonal, bool into_matrix);

// The same without the diagonal, from the matrix; elements may be any number of words, (tiles, 128, 128, words) and (n,
// n, words).
void copy_strict_triangles(tile::Builder& b, const tile::Access& tiles, const tile::Access& matrix, std::int64_t n,
                           Region triangle);

// Zeros into (tiles, 128, 128[, words]).
void fill_zero(tile::Builder& b, const tile::Access& tiles);

// x is (n, n[, 2]) of which one triangle is stored. A scratch matrix of the same shape with rows that are contiguous:
// symmetric and Hermitian ones whole, of triangular ones the stored triangle, zeros in the rest of the diagonal blocks,
// and nothing elsewhere.
[[nodiscard]] tile::Access whole_operand(tile::Builder& b, const std::string& name, const tile::Access& x,
                                         Region stored, Structure structure, bool unit_diagonal);

// A copy in scratch, rows contiguous.
[[nodiscard]] tile::Access copy_of(tile::Builder& b, const std::string& name, const tile::Access& x);

}  // namespace trn::blas::device
