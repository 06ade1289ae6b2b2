// y_k = x_k t_k, and zeros behind: the chirps of Bluestein's algorithm. Four products and two sums per complex point, shared by the Vector and the GpSimd Engine; DMA
// moves 16 bytes for each: for 1024 points a partition 2.5 us of DMA, 6.4 of Vector and 3.7 of GpSimd (products of real parts stay with the Vector Engine).
#include <algorithm>

#include <trn/fft/points_program.hpp>

#include "point_tiles.hpp"

namespace trn::fft {

using namespace trn::tile;
using namespace device;

namespace {

// dst = a op b, parts of a tile of points; b may be a table, the same for every line.
Access over_table(const Access& table, const PointTile& t, std::int64_t part) { return pattern(table, part, {{0, t.lines}, {2, t.length}}); }

}  // namespace

Program pointwise_program(const PointwiseShape& s, const Machine& machine) {
  tile::Builder b("fft_pointwise", machine);
  const SideTensors x = declare_side(b, "x", s.in, s.lines, true), y = declare_side(b, "y", s.out, s.lines, false);
  const std::int64_t both = std::min(s.in.points, s.out.points);
  Access table_tensor;
  if (s.table) table_tensor = b.input("table", DType::Float32, {both, 2});
  PointTiles tiles(b, s.lines);
  const std::int64_t in = s.lines.back().in, out = s.lines.back().out;
  const auto prepare = [&](const PointTile& t) {
    if (!s.table) return Access{};
    const std::int64_t partitions = t.by_points ? t.partitions : machine.partitions;
    const Access table = b.sbuf("table_tile", partitions, {2 * t.length}, DType::Float32, 2);
    b.dma_copy(table, pattern(table_tensor, t.point * 2, {{t.by_points ? 2 * t.length : 0, partitions}, {1, 2 * t.length}}));
    return table;
  };
  tiles.each(0, both, prepare, [&](const PointTile& t, const Access& whole_table) {
    const PointData from = point_data(b, "x_tile", t, x), to = point_data(b, "y_tile", t, y);
    load(b, from, t, x, t.in + t.point * s.in.stride, in, 1);
    const Access re = from.part(0, t), im = s.in.real ? Access{} : from.part(1, t);
    if (!s.table) {
      b.tensor_copy(to.part(0, t), re, Engine::Vector);
      if (!s.out.real && s.in.real) b.memset(to.part(1, t), 0, Engine::Vector);
      if (!s.out.real && !s.in.real) b.tensor_copy(to.part(1, t), im, Engine::Vector);
    } else {
      const Access table = whole_table(ds(0, t.partitions), all), c = over_table(table, t, 0), d = over_table(table, t, 1);
      const auto product = [&](const Access& u, const Access& v, Engine engine) {
        const Access p = b.sbuf("product", t.partitions, {t.lines, t.length}, DType::Float32, 2);
        b.tensor_tensor(p, u, v, AluOp::Multiply, engine);
        return p;
      };
      if (s.in.real) {
        b.tensor_tensor(to.part(0, t), re, c, AluOp::Multiply, Engine::Vector);
        if (!s.out.real) b.tensor_tensor(to.part(1, t), re, d, AluOp::Multiply, Engine::Vector);
      } else {
        b.tensor_tensor(to.part(0, t), product(re, c, Engine::Vector), product(im, d, Engine::GpSimd), AluOp::Subtract, Engine::Vector);
        if (!s.out.real) b.tensor_tensor(to.part(1, t), product(re, d, Engine::Vector), product(im, c, Engine::GpSimd), AluOp::Add, Engine::Vector);
      }
    }
    store(b, to, t, y, t.out + t.point * s.out.stride, out);
  });
  const auto zeros = [&](const PointTile& t) {
    const Access zero = b.sbuf("zeros", machine.partitions, {2 * t.length}, DType::Float32, 2);
    b.memset(zero, 0, Engine::Vector);
    return zero;
  };
  tiles.each(both, s.out.points - both, zeros, [&](const PointTile& t, const Access& zero) {
    // One row of zeros for every line of the tile.
    for (int i = 0; i < y.tensors(); ++i) {
      const std::int64_t reals = t.length * (y.pairs() ? 2 : 1);
      b.dma_copy(pattern(y.tensor[i], t.out + t.point * s.out.stride, hbm_dims(t, y, out, 1)), pattern(zero(ds(0, t.partitions), all), 0, {{0, t.lines}, {1, reals}}));
    }
  });
  return b.finish();
}

}  // namespace trn::fft
