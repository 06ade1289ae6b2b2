// Slicing: an einsum in several passes, each with some labels confined to a block of their extents, so that the
// intermediates fit a memory budget. The passes are summed, or fill blocks of the output where a label is in it.
#pragma once

#include <cstdint>
#include <vector>

#include <trn/tensor/path.hpp>

namespace trn::tensor {

// Each pass takes `block` values of the label; the last block may be shorter.
struct Slice {
  Label label = 0;
  std::int64_t block = 1;
  friend bool operator==(const Slice&, const Slice&) = default;
};

struct SliceSet {
  std::vector<Slice> slices;  // empty: one pass
  Path path;                  // of one full pass: its flops, largest and live are of a pass
  double passes = 1;
  double multiplications = 0;  // of all passes together: at most passes times the path's
  [[nodiscard]] bool sliced() const { return !slices.empty(); }
};

// The path of optimize() where its intermediates fit `live_elements`. Otherwise labels are sliced one after the other:
// the one that makes the whole cheapest, the tree reconfigured after each, and the last block as long as it fits.
// Memory is the largest live set of intermediates, as Path::live: inputs and output are not counted. Throws
// InvalidArgument when the budget is below what one element of each intermediate takes.
[[nodiscard]] SliceSet slice(const Expression& expression, const Sizes& sizes, double live_elements,
                             const PathOptions& options = {});

}  // namespace trn::tensor
