// Point by point in double precision: y_k = x_k t_k for pairs hi + lo, and zeros behind. The chirps of Bluestein's algorithm in mode exact;
// about 80 operations of the Vector Engine per complex point, which is the limit.
#include <trn/core/error.hpp>
#include <trn/fft/points_program.hpp>

#include "pair_arithmetic.hpp"
#include "point_tiles.hpp"

namespace trn::fft {

using namespace trn::tile;
using namespace device;

namespace {

class ExactPoints : private PairArithmetic {
 public:
  ExactPoints(const PointwiseShape& shape, const Machine& machine)
      : PairArithmetic("fft_exact_points", machine), s_(shape), tiles_(b_, shape.lines) {
    for (int word = 0; word < 2; ++word) {
      x_[word] = declare_side(b_, word == 0 ? "x_hi" : "x_lo", s_.in, s_.lines, true);
      y_[word] = declare_side(b_, word == 0 ? "y_hi" : "y_lo", s_.out, s_.lines, false);
    }
    table_ = b_.input("table", DType::Float32, {kTableParts, both(), 2});
  }

  Program build() {
    const LineDim& d = s_.lines.back();
    tiles_.each(
        0, both(), [&](const PointTile& t) { return load_table(t); },
        [&](const PointTile& t, const Access& table) {
          const PointData hi = point_data(b_, "hi", t, x_[0]), lo = point_data(b_, "lo", t, x_[1]);
          load(b_, hi, t, x_[0], t.in + t.point * s_.in.stride, d.in);
          load(b_, lo, t, x_[1], t.in + t.point * s_.in.stride, d.in);
          const std::int64_t columns = 2 * t.length;
          turn(
              {hi.tile, lo.tile},
              [&](std::int64_t part, std::int64_t which) {
                return pattern(table(ds(0, t.partitions), all), part * columns + which, {{0, t.lines}, {2, t.length}});
              },
              t.lines, columns);
          store(b_, hi, t, y_[0], t.out + t.point * s_.out.stride, d.out);
          store(b_, lo, t, y_[1], t.out + t.point * s_.out.stride, d.out);
        });
    for (const SideTensors& y : y_) clear_points(b_, tiles_, y, both(), s_.out.points - both(), d.out);
    return b_.finish();
  }

 private:
  [[nodiscard]] std::int64_t both() const { return std::min(s_.in.points, s_.out.points); }
  Access load_table(const PointTile& t) {
    const std::int64_t partitions = t.by_points ? t.partitions : b_.machine().partitions, columns = 2 * t.length;
    const Access tile = b_.sbuf("table_tile", partitions, {kTableParts, columns}, DType::Float32);
    b_.dma_copy(tile, pattern(table_, t.point * 2, {{t.by_points ? columns : 0, partitions}, {2 * both(), kTableParts}, {1, columns}}));
    return tile;
  }

  const PointwiseShape s_;
  PointTiles tiles_;
  SideTensors x_[2], y_[2];
  Access table_;
};

}  // namespace

Program exact_pointwise_program(const PointwiseShape& s, const Machine& machine) {
  const auto whole = [](const PointLayout& p) { return !p.real && p.format == Format::Interleaved; };
  require(whole(s.in) && whole(s.out) && s.table, "fft: points in mode exact are interleaved and have a table");
  return ExactPoints(s, machine).build();
}

Constant exact_pointwise_table(const std::vector<std::complex<long double>>& table) {
  const auto plane = static_cast<std::int64_t>(2 * table.size());
  Constant c{"table", std::vector<std::byte>(static_cast<std::size_t>(kTableParts * plane) * sizeof(float))};
  auto* entry = reinterpret_cast<float*>(c.bytes.data());
  for (const auto& w : table) {
    table_entry(w.real(), entry++, plane);
    table_entry(w.imag(), entry++, plane);
  }
  return c;
}

}  // namespace trn::fft
