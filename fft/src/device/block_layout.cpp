// Tiles of the two-step kernels: see block_layout.hpp.
#include "block_layout.hpp"

#include <algorithm>
#include <cstdlib>

namespace trn::fft::device {

using namespace trn::tile;

namespace {
bool pairs(const PointLayout& p) { return p.format == Format::Interleaved && !p.real; }
}  // namespace

BlockLayout::BlockLayout(const LinesShape& s, const Machine& machine)
    : in(s.in),
      out(s.out),
      last(s.lines.back()),
      n1(s.n1),
      n2(s.n2),
      above(lines_together(s.n1, machine)),
      beside(lines_together(s.n2, machine)),
      inner_in(last.count > 1 && std::abs(last.in) < std::abs(in.stride)),
      inner_out(last.count > 1 && std::abs(last.out) < std::abs(out.stride)) {}

BlockPlaces BlockLayout::x_places(std::int64_t lines) const {
  const std::int64_t parts = in.real ? 1 : 2, unit = pairs(in) ? 2 : 1;
  return {parts * lines * n2, pairs(in) ? 1 : lines * n2, unit * (inner_in ? 1 : n2), unit * (inner_in ? lines : 1), 0};
}

BlockPlaces BlockLayout::y_places(std::int64_t above_here, std::int64_t deep) const {
  const std::int64_t parts = out.real ? 1 : 2, unit = pairs(out) ? 2 : 1, all_of = deep * above_here * n1;
  if (inner_out) return {parts * all_of, pairs(out) ? 1 : all_of, unit, unit * deep * above_here, unit * deep};
  return {parts * all_of, pairs(out) ? 1 : all_of, unit * above_here * n1, unit, unit * n1};
}

std::vector<BlockPiece> BlockLayout::pieces(const Affine& in_at, const Affine& out_at, std::int64_t deepest,
                                            std::int64_t first) const {
  const std::int64_t share = above * beside, deep = std::min(deepest, std::max<std::int64_t>(1, last.count / share));
  std::vector<BlockPiece> all;
  const auto take = [&](std::int64_t above_here, std::int64_t beside_here, std::int64_t deep_here) {
    if (above_here * beside_here * deep_here == 0) return;
    all.push_back({in_at + first * last.in, out_at + first * last.out, above_here, beside_here, deep_here});
    first += above_here * beside_here * deep_here;
  };
  while (last.count - first >= share * deep) take(above, beside, deep);
  take(above, beside, (last.count - first) / share);
  take((last.count - first) / beside, beside, 1);
  take(1, last.count - first, 1);
  return all;
}

void BlockLayout::runs(Builder& b, const Affine& in_at, const Affine& out_at, std::int64_t deepest,
                       std::int64_t together, const Run& body) const {
  const std::int64_t share = above * beside, deep = std::min(deepest, std::max<std::int64_t>(1, last.count / share));
  const std::int64_t each_run = together * share * deep, whole = last.count / each_run;
  b.parallel("block", whole, [&](Affine i) {
    std::vector<BlockPiece> here;
    for (std::int64_t t = 0; t < together; ++t) {
      const Affine line = i * each_run + t * share * deep;
      here.push_back({in_at + line * last.in, out_at + line * last.out, above, beside, deep});
    }
    body(here);
  });
  const std::vector<BlockPiece> rest = pieces(in_at, out_at, deepest, whole * each_run);
  if (!rest.empty()) body(rest);
}

void BlockLayout::each(Builder& b, const Affine& in_at, const Affine& out_at, std::int64_t deepest,
                       const Body& body) const {
  runs(b, in_at, out_at, deepest, 1, [&](const std::vector<BlockPiece>& pieces) {
    for (const BlockPiece& p : pieces) body(p.in, p.out, p.above, p.beside, p.deep);
  });
}

void BlockLayout::load(Builder& b, const SideTensors& x, const Access& tile, const Affine& at, std::int64_t above_here,
                       std::int64_t lines) const {
  const Dim line{last.in, lines}, point{in.stride, n2};
  for (int t = 0; t < x.tensors(); ++t) {
    std::vector<Dim> dims{
        {lines * last.in, above_here}, {n2 * in.stride, n1}, inner_in ? point : line, inner_in ? line : point};
    if (x.pairs()) dims.push_back({1, 2});
    const std::int64_t reals = lines * n2 * (x.pairs() ? 2 : 1);
    b.dma_copy(pattern(tile, t * reals, {{1, reals}}), pattern(x.tensor[t], at, dims));
  }
}

void BlockLayout::store(Builder& b, const SideTensors& y, const Access& tile, const Affine& at, std::int64_t above_here,
                        std::int64_t beside_here, std::int64_t deep) const {
  const std::int64_t full = out.points / n1, part = out.points % n1;
  if (out.points == n1 * n2) return store_rows(b, y, tile, at, above_here, beside_here, deep, n2, n1, beside_here);
  for (std::int64_t g = 0; g < beside_here; ++g) {  // rows of y that are kept, line by line
    const Access rows = tile(ds(g * n2, n2), all);
    const Affine first = at + g * deep * last.out;
    if (full > 0) store_rows(b, y, rows(ds(0, full), all), first, above_here, 1, deep, full, n1, beside_here);
    if (part > 0)
      store_rows(b, y, rows(ds(full, 1), all), first + full * n1 * out.stride, above_here, 1, deep, 1, part,
                 beside_here);
  }
}

// `rows` values of k2 and the first `wide` of k1, for `beside_here` lines of the `all_beside` that lie beside one
// another.
void BlockLayout::store_rows(Builder& b, const SideTensors& y, const Access& tile, const Affine& at,
                             std::int64_t above_here, std::int64_t beside_here, std::int64_t deep, std::int64_t rows,
                             std::int64_t wide, std::int64_t all_beside) const {
  const BlockPlaces py = y_places(above_here, deep);
  const std::int64_t stride = out.stride, d = last.out, group = all_beside * deep * d;
  for (int t = 0; t < y.tensors(); ++t) {
    std::vector<Dim> hbm{{deep * d, beside_here}, {n1 * stride, rows}}, free;
    const auto add = [&](Dim h, Dim s) { hbm.push_back(h), free.push_back(s); };
    if (inner_out) {
      add({stride, wide}, {py.point, wide}), add({group, above_here}, {py.group, above_here}),
          add({d, deep}, {py.line, deep});
    } else {
      add({d, deep}, {py.line, deep}), add({group, above_here}, {py.group, above_here}),
          add({stride, wide}, {py.point, wide});
    }
    if (y.pairs()) add({1, 2}, {1, 2});
    b.dma_copy(pattern(y.tensor[t], at, hbm), pattern(tile, t * py.part, free));
  }
}

}  // namespace trn::fft::device
