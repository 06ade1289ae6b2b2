// Half lines in tiles: see half_layout.hpp.
#include "half_layout.hpp"

#include <algorithm>
#include <cstdlib>

namespace trn::fft::device {

using namespace trn::tile;

HalfLayout::HalfLayout(const LinesShape& s, const Machine& machine) : block(s, machine), n1(s.n1), n2(s.n2) {
  const bool input = s.in.points < s.n();
  const LineDim& last = s.lines.back();
  half = input ? s.in : s.out;
  distance = input ? last.in : last.out;
  inner = input ? block.inner_in : block.inner_out;
  lone = n2 % 2 == 0 && half.points == s.n() / 2 + 1;
  const std::int64_t points = half.points - (lone ? 1 : 0), limit = machine.partitions / 2;
  whole = points / n1;
  rest = points % n1;
  rows = whole + (rest > 0 ? 1 : 0);
  block.beside = std::clamp<std::int64_t>(std::min(block.beside, limit / rows), 1, last.count);
  upper = part_rows() <= limit / 2 ? limit / 2 : limit;
}

HalfLayout::Row HalfLayout::row(std::int64_t p) const {
  const std::int64_t part = p >= upper ? 1 : 0, r = p - part * upper;
  return {r < part_rows(), part, r / block.beside, r % block.beside};
}

BlockPlaces HalfLayout::places(std::int64_t above_here, std::int64_t deep, std::int64_t together) const {
  const std::int64_t points = deep * above_here * n1;
  if (inner) return {together * points, 0, together, together * deep * above_here, together * deep};
  return {together * points, 0, together * above_here * n1, together, together * n1};
}

void HalfLayout::transfer(Builder& b, Way way, const SideTensors& side, int tensor, const Access& tile,
                          std::int64_t tile_at, const BlockPlaces& places, const Affine& at, std::int64_t above_here,
                          std::int64_t beside_here, std::int64_t deep) const {
  const auto move = [&](std::int64_t first, std::int64_t count, std::int64_t wide) {
    if (count * wide == 0) return;
    rows_of(b, way, side.tensor[tensor], side.pairs(), tile, tile_at, places, at, first, count, wide, above_here,
            beside_here, deep);
  };
  if (beside_here == block.beside) {
    move(0, whole, n1);
  } else {
    for (std::int64_t r = 0; r < whole; ++r) move(r, 1, n1);
  }
  move(whole, 1, rest);
}

void HalfLayout::rows_of(Builder& b, Way way, const Access& hbm, bool pairs, const Access& tile, std::int64_t tile_at,
                         const BlockPlaces& p, const Affine& at, std::int64_t first, std::int64_t count,
                         std::int64_t wide, std::int64_t above_here, std::int64_t beside_here,
                         std::int64_t deep) const {
  const std::int64_t stride = half.stride, d = distance, group = beside_here * deep * d;
  std::vector<Dim> there{{n1 * stride, count}, {deep * d, beside_here}}, free;
  const auto add = [&](Dim h, Dim f) { there.push_back(h), free.push_back(f); };
  if (inner) {
    add({stride, wide}, {p.point, wide}), add({group, above_here}, {p.group, above_here}),
        add({d, deep}, {p.line, deep});
  } else {
    add({d, deep}, {p.line, deep}), add({group, above_here}, {p.group, above_here}),
        add({stride, wide}, {p.point, wide});
  }
  if (pairs) add({1, 2}, {1, 2});
  const Access here = pattern(tile(ds(first * block.beside, count * beside_here), all), tile_at, free),
               memory = pattern(hbm, at + first * n1 * stride, there);
  if (way == Way::Load)
    b.dma_copy(here, memory);
  else
    b.dma_copy(memory, here);
}

}  // namespace trn::fft::device
