// The device program of triangular solves, for tools and tests that print, emit, profile or estimate it. TriangularPlan
// makes the shape and binds the memory.
//
// A is cut into windows of 128 rows. With D the diagonal block of a window and L the blocks beside it,
//   X_window = D^-1 B_window + sum over earlier windows w of (-D^-1 L_w) X_w,
// whose matrices the host makes in double and rounds once: a window is then one chain of products in PSUM and one copy
// to SBUF, where X takes the place of B. Windows go in the order of levels: those of a level need none of each other.
//
// Tensors: "a" (128, tiles, 128) float32, element (k, t, m) multiplies row k of what product t meets and adds to row m
// of its window; "b", "x" (rows, n) float32; "x_in" the memory of "x" where beta is read; "alpha", "beta" (1).
#pragma once

#include <cstdint>
#include <vector>

#include <trn/sparse/tile_programs.hpp>
#include <trn/sparse/triangular.hpp>

namespace trn::sparse {

struct TriangularShape {
  // In the order in which they are multiplied; the tiles lie in the same order.
  struct Product {
    std::int32_t window = 0;
    std::int32_t source = -1;          // window of X, or -1: the own window of B
    bool first = false, last = false;  // of the window
    bool operator==(const Product&) const = default;
  };
  TileProduct product;    // c is X
  bool in_place = false;  // X is stored where B is
  std::vector<Product> products;
  bool operator==(const TriangularShape&) const = default;
};
// For the pattern of a triangle on the host (entries on the other side of the diagonal are ignored), contiguous rows of
// B and X, alpha = 1 and beta = 0.
[[nodiscard]] TriangularShape triangular_shape(const Pattern<>& pattern, Uplo uplo, std::int64_t columns);
// Columns of B that are in SBUF at a time; 0 when B does not fit even one at a time.
[[nodiscard]] std::int64_t triangular_panel(const TriangularShape& shape, const tile::Machine& machine);
[[nodiscard]] tile::Program triangular_program(const TriangularShape& shape, const tile::Machine& machine);

// What execute() runs on a device for alpha = 1, beta = 0 and contiguous rows of B and X with so many columns.
[[nodiscard]] tile::Program triangular_program(const TriangularPlan<float>& plan, std::int64_t columns);

}  // namespace trn::sparse
