// Questions about strided layouts that operations ask of their operands: which places are touched, and whether two sets
// of elements meet.
//
// The answers are exact for every layout that real programs use. An element's address is a sum of stride * index, so
// two sets meet when a linear equation has a solution in a box; a search over the largest stride first leaves at most
// two or three candidates a level when strides are nested.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace trn::layout {

__extension__ using Wide = __int128;  // products and sums of extents and strides

// stride * i for every i in low .. high.
struct Term {
  Wide stride = 0;
  Wide low = 0, high = 0;
};
// Whether some choice of the indices makes the sum of the terms equal to target. "True" also when that is not found out
// in 200,000 steps: such layouts are refused like overlapping ones.
[[nodiscard]] bool reaches(std::vector<Term> terms, Wide target);

// Extent and stride in elements of one dimension of one side.
struct Dim {
  std::int64_t extent = 1, stride = 1;
};
struct Span {
  Wide low = 0, high = -1;  // offsets of the lowest and the highest element; low > high: empty
};
[[nodiscard]] Span span(std::span<const Dim> dims);
// Whether two different index tuples name the same element.
[[nodiscard]] bool repeats(std::span<const Dim> dims);

// Elements of `bytes` bytes at address + stride * bytes.
struct Region {
  std::uintptr_t address = 0;
  std::int64_t bytes = 1;
  std::span<const Dim> dims;  // of the caller, who keeps it
};
[[nodiscard]] bool overlap(const Region& a, const Region& b);

}  // namespace trn::layout
