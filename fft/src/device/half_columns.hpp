// What the kernels of real columns have in common, RealColumns (real_columns.cpp, which says how tiles lie) and
// ColumnsReal: the columns of a tile, the table's pieces and the loop over them.
#pragma once

#include <algorithm>
#include <vector>

#include <trn/tile/stores.hpp>
#include "line_kernel.hpp"

namespace trn::fft::device {

class HalfColumnsKernel : public LineKernelBase {
 protected:
  HalfColumnsKernel(const char* name, const LinesShape& shape, const tile::Machine& machine)
      : LineKernelBase(name, shape, machine),
        n_(shape.n2),
        groups_(machine.partitions / n_),
        width_(real_columns_width(n_, last().count, machine)),
        across_(shape.lines.size() > 1 ? shape.lines[shape.lines.size() - 2] : LineDim{}) {
    runs_ = std::min(across_.count, bank_ / width_);
    while (across_.count % runs_ != 0) --runs_;
  }

  // (h, g, k; r, w, part), columns `column` and points `point` reals apart.
  [[nodiscard]] std::vector<tile::Dim> rows(std::int64_t column, std::int64_t point, const tile::Dim& runs) const {
    return {{width_ * column, 2}, {2 * width_ * column, groups_}, {point, n_ / 2}, runs, {column, width_}, {1, 2}};
  }

  // tile(in, out, table) for every tile, each piece of the table loaded once for all lines.
  template <class Tile> tile::Program build_tiles(const Tile& one) {
    using namespace trn::tile;
    const Access whole = b_.input("table", DType::Float32, {n_ / 2, last().count, 2});
    const std::int64_t each = 2 * groups_ * width_;
    b_.parallel("piece", last().count / each, [&](Affine i) {
      const Affine line = i * each;
      const Access table = b_.sbuf("table_tile", side_, {2 * width_}, DType::Float32, 2);
      b_.dma_copy(table, pattern(whole, line * 2, rows(2, 2 * last().count, {0, 1})),
                  {.dge = machine_.hardware_dge ? DgeMode::Static : DgeMode::Default});
      for_outer_lines(
          [&](const Affine& in, const Affine& out) {
            b_.parallel("runs", across_.count / runs_, [&](Affine r) {
              one(in + line * last().in + r * (runs_ * across_.in), out + line * last().out + r * (runs_ * across_.out),
                  table);
            });
          },
          2);
    });
    return tile::static_stores(b_.finish());
  }

  const std::int64_t n_, groups_, width_;
  const LineDim across_;
  std::int64_t runs_ = 1;
};

}  // namespace trn::fft::device
