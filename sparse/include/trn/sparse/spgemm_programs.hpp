// The device program of products of two matrices of 128 x 128 blocks, for tools and tests that print, emit, profile or
// estimate it.
//
// A block of A is transposed once, so that it is the stationary operand, and meets neighbouring blocks of B's row, 512
// columns at most. Four blocks of C share a bank of PSUM.
//
// Tensors: "a", "b", "c" (blocks, 128, 128) float32 in the order of their patterns, "alpha" (1).
#pragma once

#include <cstdint>
#include <vector>

#include <trn/sparse/spgemm.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::sparse {

struct BlockSpgemmShape {
  // Block t of A times blocks [b, b + count) of B into blocks [c, c + count) of C.
  struct Product {
    std::int32_t a = 0, b = 0, c = 0, count = 0;
    bool first = false;  // nothing was added to these blocks of C before
    bool operator==(const Product&) const = default;
  };
  // Up to four neighbouring blocks of C in a row of blocks.
  struct Group {
    std::int32_t c = 0, count = 0;
    std::vector<Product> products;
    bool operator==(const Group&) const = default;
  };
  std::int64_t a = 0, b = 0, c = 0;  // blocks
  bool scaled = false;               // alpha is not 1
  std::vector<Group> groups;
  bool operator==(const BlockSpgemmShape&) const = default;
};
// For patterns of blocks on the host; c is that of the product.
[[nodiscard]] BlockSpgemmShape block_spgemm_shape(const Pattern<>& a, const Pattern<>& b, const Pattern<>& c);
[[nodiscard]] tile::Program block_spgemm_program(const BlockSpgemmShape& shape, const tile::Machine& machine);

}  // namespace trn::sparse
