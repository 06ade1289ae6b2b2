// Loops over an extent in blocks: the whole blocks as one recorded loop, the ragged rest peeled, so every body has
// constant shapes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include <trn/tile/builder.hpp>

namespace trn::tile::blocks {

// body(start, size): size == block in the recorded loop, the remainder in the peeled one.
using BlockBody = std::function<void(const Affine& start, std::int64_t size)>;

void for_blocks(Builder& b, const std::string& variable, std::int64_t extent, std::int64_t block, LoopKind kind,
                const BlockBody& body);

[[nodiscard]] constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace trn::tile::blocks
