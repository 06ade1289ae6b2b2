// Groups of indices: a flat index made of several, each with a stride in up to four operands, and how it is cut into
// blocks and boxes. A box is what one access pattern describes.
//
// A block of a group is a range of one of its indices times everything inside it; the indices outside become recorded
// loops, so that a block has a constant shape and an affine offset. A range of a flat index that respects no border is
// a few boxes (sub_boxes): heads and tails of every level.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <trn/tile/builder.hpp>

namespace trn::tile::blocks {

inline constexpr std::size_t kBoxOperands = 4;

struct BoxIndex {
  std::int64_t extent = 1;
  std::array<std::int64_t, kBoxOperands> stride{};
  friend bool operator==(const BoxIndex&, const BoxIndex&) = default;
};
using BoxGroup = std::vector<BoxIndex>;  // innermost first

[[nodiscard]] std::int64_t extent_of(const BoxGroup& group);

// Blocks of a group: everything of the indices before `index`, `count` values of that one. An empty group is one block.
struct Cut {
  std::size_t index = 0;
  std::int64_t count = 1;
};
// The largest blocks of at most `most` elements. With `grain` the blocks whose sizes, rounded up to grains, are the
// least in all.
[[nodiscard]] Cut cut_of(const BoxGroup& group, std::int64_t most, std::int64_t grain = 1);

// Elements of a whole block.
[[nodiscard]] std::int64_t box_size(const BoxGroup& group, const Cut& cut);

using Offsets = std::array<Affine, kBoxOperands>;

// One block: its indices (innermost first) and where it begins in every operand.
struct BoxPart {
  BoxGroup box;
  std::int64_t size = 1;  // elements
  Offsets offset;
  Affine units = 0;  // of the blocks before it
};
// body(part) for every block, in recorded loops named after `variable`. `unit`: a block of s elements counts ceil(s /
// unit) units.
void for_parts(Builder& b, const std::string& variable, const BoxGroup& group, const Cut& cut, LoopKind kind,
               std::int64_t unit, const std::function<void(const BoxPart&)>& body);
// The same with the first block in a body of its own: body(part, true), then the others, body(part, false).
void for_parts_after_first(Builder& b, const std::string& variable, const BoxGroup& group, const Cut& cut,
                           LoopKind kind, std::int64_t unit, const std::function<void(const BoxPart&, bool)>& body);
// Units of all blocks together.
[[nodiscard]] std::int64_t units_of(const BoxGroup& group, const Cut& cut, std::int64_t unit);

// A range of the flat index of a box as boxes, in order.
struct SubBox {
  std::int64_t start, size;                         // in the flat index
  std::array<std::int64_t, kBoxOperands> offset{};  // of its first element
  BoxGroup box;                                     // innermost first
};
[[nodiscard]] std::vector<SubBox> sub_boxes(const BoxGroup& box, std::int64_t from, std::int64_t size);

// The dimensions of a box in one operand, outermost first, appended to a pattern.
void append_dims(std::vector<Dim>& dims, const BoxGroup& box, std::size_t operand);

}  // namespace trn::tile::blocks
