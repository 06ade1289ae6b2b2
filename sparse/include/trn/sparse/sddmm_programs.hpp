// The device program of sampled products, alpha (A B)(i,j) + beta S(i,j) on the pattern of S, for tools and tests that
// print, emit, profile or estimate it.
//
// Blocks of 128 x 128 that hold an entry of S are computed whole, go to memory, and the entries are fetched from there
// by their numbers, 128 at a time: gathers of single elements, 0.58 us each on trn2, bind where blocks are not nearly
// empty. Tensors: "a" (rows, k), "b" (k, columns), "s" and "values" (nnz), "index" (128, ceil(nnz / 128)) uint32:
// the place of entry p * ceil(nnz / 128) + q among the blocks' elements; "alpha", "beta" (1).
#pragma once

#include <cstdint>
#include <vector>

#include <trn/sparse/pattern.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::sparse {

struct SddmmShape {
  std::int64_t rows = 0, columns = 0, k = 0, nnz = 0;
  std::int64_t a_row = 1, a_column = 1, b_row = 1, b_column = 1;  // strides
  bool scaled = false, added = false;                             // alpha is not 1, beta is not 0
  std::vector<std::int64_t> offsets;  // blocks of window w: offsets[w] .. offsets[w + 1] - 1
  std::vector<std::int32_t> blocks;   // block column of each
  bool operator==(const SddmmShape&) const = default;
};
// For a pattern on the host, contiguous rows of A and B, alpha = 1 and beta = 0.
[[nodiscard]] SddmmShape sddmm_shape(const Pattern<>& pattern, std::int64_t k);
[[nodiscard]] tile::Program sddmm_program(const SddmmShape& shape, const tile::Machine& machine);

}  // namespace trn::sparse
