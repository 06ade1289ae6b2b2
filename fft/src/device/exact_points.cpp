// Point by point in double precision: y_k = x_k t_k for numbers of three words, and zeros behind. The chirps of
// Bluestein's algorithm in mode exact; about 160 operations of the Vector Engine per complex point, which is the limit.
#include <trn/core/error.hpp>
#include <trn/fft/points_program.hpp>
#include <trn/tile/stores.hpp>

#include "in_place.hpp"
#include "point_tiles.hpp"
#include "triple_arithmetic.hpp"

namespace trn::fft {

using namespace trn::tile;
using namespace device;

namespace {

class ExactPoints : private TripleArithmetic {
 public:
  ExactPoints(const PointwiseShape& shape, const Machine& machine)
      : TripleArithmetic("fft_exact_points", machine), s_(shape), tiles_(b_, shape.lines) {
    for (int word = 0; word < kWords; ++word) {
      x_[word] = declare_side(b_, fmt::format("x_{}", kWordNames[word]).c_str(), s_.in, s_.lines, true);
      y_[word] = declare_side(b_, fmt::format("y_{}", kWordNames[word]).c_str(), s_.out, s_.lines, false);
    }
    table_ = b_.input("table", DType::Float32, {kTableParts, both(), 2});
  }

  Program build() {
    const LineDim& d = s_.lines.back();
    tiles_.each(
        0, both(), [&](const PointTile& t) { return load_table(t); },
        [&](const PointTile& t, const Access& table) {
          PointData words[kWords];
          for (int word = 0; word < kWords; ++word) {
            words[word] = point_data(b_, kWordNames[word], t, x_[word]);
            load(b_, words[word], t, x_[word], t.in + t.point * s_.in.stride, d.in);
          }
          const std::int64_t columns = 2 * t.length;
          turn(
              {words[0].tile, words[1].tile, words[2].tile},
              [&](std::int64_t part, std::int64_t which) {
                return pattern(table(ds(0, t.partitions), all), part * columns + which, {{0, t.lines}, {2, t.length}});
              },
              t.lines, columns);
          for (int word = 0; word < kWords; ++word)
            store(b_, words[word], t, y_[word], t.out + t.point * s_.out.stride, d.out);
        });
    for (const SideTensors& y : y_) clear_points(b_, tiles_, y, both(), s_.out.points - both(), d.out);
    return tile::static_stores(b_.finish());
  }

 private:
  [[nodiscard]] std::int64_t both() const { return std::min(s_.in.points, s_.out.points); }
  Access load_table(const PointTile& t) {
    const std::int64_t partitions = t.by_points ? t.partitions : b_.machine().partitions, columns = 2 * t.length;
    const Access tile = b_.sbuf("table_tile", partitions, {kTableParts, columns}, DType::Float32);
    b_.dma_copy(tile, pattern(table_, t.point * 2,
                              {{t.by_points ? columns : 0, partitions}, {2 * both(), kTableParts}, {1, columns}}));
    return tile;
  }

  const PointwiseShape s_;
  PointTiles tiles_;
  SideTensors x_[kWords], y_[kWords];
  Access table_;
};

}  // namespace

Program exact_pointwise_program(const PointwiseShape& s, const Machine& machine) {
  const auto whole = [](const PointLayout& p) { return !p.real && p.format == Format::Interleaved; };
  require(whole(s.in) && whole(s.out) && s.table, "fft: points in mode exact are interleaved and have a table");
  Program program = ExactPoints(s, machine).build();
  return s.in_place ? in_place(program) : program;
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
