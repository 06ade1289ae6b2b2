// Point by point: y_k = x_k t_k and zeros behind, the chirps of Bluestein's algorithm. Four products and two sums per
// complex point, shared by the Vector and the GpSimd Engine; DMA moves 16 bytes for each: for 1024 points a partition
// 2.5 us of DMA, 6.4 of Vector and 3.7 of GpSimd (products of real parts stay with the Vector Engine).
#include <algorithm>
#include <trn/core/error.hpp>
#include <trn/fft/points_program.hpp>
#include <trn/tile/stores.hpp>

#include "in_place.hpp"
#include "point_tiles.hpp"

namespace trn::fft {

using namespace trn::tile;
using namespace device;

namespace {

// dst = a op b, parts of a tile of points; b may be a table, the same for every line.
Access over_table(const Access& table, const PointTile& t, std::int64_t part) {
  return pattern(table, part, {{0, t.lines}, {2, t.length}});
}

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
    b.dma_copy(table,
               pattern(table_tensor, t.point * 2, {{t.by_points ? 2 * t.length : 0, partitions}, {1, 2 * t.length}}));
    return table;
  };
  tiles.each(0, both, prepare, [&](const PointTile& t, const Access& whole_table) {
    const PointData from = point_data(b, "x_tile", t, x), to = point_data(b, "y_tile", t, y);
    load(b, from, t, x, t.in + t.point * s.in.stride, in);
    const Access re = from.part(0, t), im = s.in.real ? Access{} : from.part(1, t);
    if (!s.table) {
      b.tensor_copy(to.part(0, t), re, Engine::Vector);
      if (!s.out.real && s.in.real) b.memset(to.part(1, t), 0, Engine::Vector);
      if (!s.out.real && !s.in.real) b.tensor_copy(to.part(1, t), im, Engine::Vector);
    } else {
      const Access table = whole_table(ds(0, t.partitions), all), c = over_table(table, t, 0),
                   d = over_table(table, t, 1);
      const auto product = [&](const Access& u, const Access& v, Engine engine) {
        const Access p = b.sbuf("product", t.partitions, {t.lines, t.length}, DType::Float32, 2);
        b.tensor_tensor(p, u, v, AluOp::Multiply, engine);
        return p;
      };
      if (s.in.real) {
        b.tensor_tensor(to.part(0, t), re, c, AluOp::Multiply, Engine::Vector);
        if (!s.out.real) b.tensor_tensor(to.part(1, t), re, d, AluOp::Multiply, Engine::Vector);
      } else {
        b.tensor_tensor(to.part(0, t), product(re, c, Engine::Vector), product(im, d, Engine::GpSimd), AluOp::Subtract,
                        Engine::Vector);
        if (!s.out.real)
          b.tensor_tensor(to.part(1, t), product(re, d, Engine::Vector), product(im, c, Engine::GpSimd), AluOp::Add,
                          Engine::Vector);
      }
    }
    store(b, to, t, y, t.out + t.point * s.out.stride, out);
  });
  clear_points(b, tiles, y, both, s.out.points - both, out);
  Program program = tile::static_stores(b.finish());
  return s.in_place ? in_place(program) : program;
}

Program half_line_program(const HalfLineShape& s, const Machine& machine) {
  const std::int64_t n = s.length == 0 ? s.out.points : s.length, half = n / 2 + 1, pairs = (n - 1) / 2;
  require(s.in.points == half && s.out.points >= half && !s.in.real && !s.out.real,
          "fft: {} points are not half of a complex line of {}, or {} are too few for them", s.in.points, n,
          s.out.points);
  tile::Builder b("fft_half_line", machine);
  const SideTensors x = declare_side(b, "x", s.in, s.lines, true), y = declare_side(b, "y", s.out, s.lines, false);
  PointTiles tiles(b, s.lines);
  const std::int64_t in = s.lines.back().in, out = s.lines.back().out;
  tiles.each(
      1, pairs, [](const PointTile&) { return Access{}; },
      [&](const PointTile& t, const Access&) {
        const PointData from = point_data(b, "x_tile", t, x), to = point_data(b, "y_tile", t, y);
        load(b, from, t, x, t.in + t.point * s.in.stride, in);
        for (std::int64_t part = 0; part < 2; ++part) {
          b.tensor_scalar(to.part(part, t), from.part(part, t), AluOp::Multiply, 2.0, {.engine = Engine::Vector});
        }
        store(b, to, t, y, t.out + t.point * s.out.stride, out);
      });
  tiles.each_line([&](const PointTile& t, const Access&) {
    for (std::int64_t point = 0; point < half; point += point == 0 && n % 2 == 0 && n > 1 ? half - 1 : half) {
      const PointData from = point_data(b, "x_end", t, x), to = point_data(b, "y_end", t, y);
      load(b, from, t, x, t.in + point * s.in.stride, in);
      b.tensor_copy(to.part(0, t), from.part(0, t), Engine::GpSimd);
      b.memset(to.part(1, t), 0, Engine::GpSimd);
      store(b, to, t, y, t.out + point * s.out.stride, out);
    }
  });
  clear_points(b, tiles, y, half, s.out.points - half, out);
  return tile::static_stores(b.finish());
}

}  // namespace trn::fft
