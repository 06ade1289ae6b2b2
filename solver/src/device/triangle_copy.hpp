// Copies triangles from HBM to HBM, a few DMAs for any number of blocks.
#pragma once

#include <trn/tile/builder.hpp>

namespace trn::solver::device {

// dst and src are (blocks, lines, elements), square blocks. Line l of the triangle has its elements 0 .. l (head) or
// l .. order - 1. Nothing else is read or written. At most 40 DMAs: triangles of 16 lines along the diagonal line by
// line, all of them at once, and a rectangle beside each.
void copy_triangles(tile::Builder& b, const tile::Access& dst, const tile::Access& src, bool head);

}  // namespace trn::solver::device
