// The device programs of sampled products, alpha (A B)(i,j) + beta S(i,j) on the pattern of S, for tools and tests that
// print, emit, profile or estimate them. Both cut S into windows of 128 rows.
//
//   picked     The columns that a window has entries in, as runs of neighbours, are multiplied as far as they go; on
//              their way out of PSUM the entries of each row are picked by their places, and rows that have equally
//              many and follow one another leave in one copy.
//   fetched    Blocks of 128 x 128 that hold an entry are computed whole, go to memory, and the entries are fetched
//              from there by their numbers, 128 at a time: gathers of single elements, 0.58 us each on trn2. For
//              patterns whose rows would need too many copies; not on trn1.
//
// Tensors: "a" (rows, k), "b" (k, columns), "s" and "values" (nnz), "alpha", "beta" (1). "index", uint32: picked (128,
// places), the place of each entry of a row among the columns of its group; fetched (128, ceil(nnz / 128)), the place
// of entry p * ceil(nnz / 128) + q among the blocks' elements.
#pragma once

#include <cstdint>
#include <vector>

#include <trn/sparse/pattern.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::sparse {

struct SddmmOperands {
  std::int64_t rows = 0, columns = 0, k = 0, nnz = 0;
  std::int64_t a_row = 1, a_column = 1, b_row = 1, b_column = 1;  // strides
  bool scaled = false, added = false;                             // alpha is not 1, beta is not 0
  bool operator==(const SddmmOperands&) const = default;
};

struct SddmmShape {
  SddmmOperands operands;
  std::vector<std::int64_t> offsets;  // blocks of window w: offsets[w] .. offsets[w + 1] - 1
  std::vector<std::int32_t> blocks;   // block column of each
  bool operator==(const SddmmShape&) const = default;
};
// For a pattern on the host, contiguous rows of A and B, alpha = 1 and beta = 0.
[[nodiscard]] SddmmShape sddmm_shape(const Pattern<>& pattern, std::int64_t k);
[[nodiscard]] tile::Program sddmm_program(const SddmmShape& shape, const tile::Machine& machine);

struct PickedShape {
  struct Run {  // of columns
    std::int64_t first = 0, size = 0;
    bool operator==(const Run&) const = default;
  };
  struct Copy {  // rows [row, row + rows) of the window, `size` entries each, `step` entries apart from `entry` on
    std::int64_t row = 0, rows = 0, size = 0, entry = 0, step = 0;
    bool operator==(const Copy&) const = default;
  };
  struct Group {  // columns of a window that are in SBUF together
    std::int64_t window = 0, places = 0;
    std::vector<Run> runs;
    std::vector<Copy> copies;
    bool operator==(const Group&) const = default;
  };
  SddmmOperands operands;
  std::vector<Group> groups;
  [[nodiscard]] std::int64_t places() const;
  [[nodiscard]] std::int64_t copies() const;
  bool operator==(const PickedShape&) const = default;
};
// As sddmm_shape.
[[nodiscard]] PickedShape picked_shape(const Pattern<>& pattern, std::int64_t k);
// The content of "index": (128, places).
[[nodiscard]] std::vector<std::uint32_t> picked_places(const Pattern<>& pattern, const PickedShape& shape);
[[nodiscard]] tile::Program picked_program(const PickedShape& shape, const tile::Machine& machine);

// Whether sddmm() picks: always where there are no gathers, otherwise up to this many copies.
inline constexpr std::int64_t kMostPickedCopies = 6000;
[[nodiscard]] bool picks(const PickedShape& shape, const tile::Machine& machine);

}  // namespace trn::sparse
