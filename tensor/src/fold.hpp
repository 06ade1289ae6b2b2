// The folded form of a contraction: four groups of indices, each index with its extent and its stride in every operand.
//
//   H in A, B and D     M in A and D     N in B and D     K not in D: summed
//
// An index of extent 1 is dropped, a label that an operand repeats has the sum of its strides (the diagonal), and
// neighbours that are one index in every operand are merged. Pure: no executor, no data.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <trn/tensor/expression.hpp>

namespace trn::tensor {

// Strides are 0 in operands that do not have the index.
struct FoldedIndex {
  std::int64_t extent = 1;
  std::int64_t a = 0, b = 0, c = 0, d = 0;
  friend bool operator==(const FoldedIndex&, const FoldedIndex&) = default;
};
using Group = std::vector<FoldedIndex>;  // innermost first

[[nodiscard]] std::int64_t extent_of(const Group& group);  // product of the extents, saturated at 2^63 - 1

struct Folded {
  Group h, m, n, k;
  friend bool operator==(const Folded&, const Folded&) = default;
};

// An operand as the fold sees it: labels, extents and strides by axis. An axis of extent 1 whose label is longer is
// repeated.
struct FoldOperand {
  std::span<const Label> labels;
  std::span<const std::int64_t> shape, strides;
};

// D is the result; C has D's labels in any order, or is null. B is null for one operand: then M is kept and K summed.
[[nodiscard]] Folded fold(const Sizes& sizes, const FoldOperand& a, const FoldOperand* b, const FoldOperand* c,
                          const FoldOperand& d);

// "H - | M 24x16 | N 8 | K 72".
[[nodiscard]] std::string to_string(const Folded& folded);

// Sorts by the size of a stride, indices without it last, and merges neighbours.
void sort_and_merge(Group& group, std::int64_t FoldedIndex::*stride);

}  // namespace trn::tensor
