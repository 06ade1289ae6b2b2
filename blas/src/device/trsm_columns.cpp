// Right-hand sides of a triangular solve: see trsm_columns.hpp.
#include "trsm_columns.hpp"

#include <algorithm>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>

#include "views.hpp"

namespace trn::blas::device {

using namespace trn::tile;
using blocks::ceil_div;

ColumnBlocks::ColumnBlocks(Builder& builder, const Access& b, const Access& x, bool complex, std::int64_t row_stride,
                           std::int64_t column_stride, bool many_rows)
    : b_(builder),
      in_(b),
      out_(x),
      complex_(complex),
      turned_(many_rows && row_stride == 1 && column_stride != 1),
      side_(builder.machine().partitions),
      half_(side_ / 2),
      bank_(blocks::bank_columns(builder.machine())) {}

std::int64_t ColumnBlocks::bytes_per_column() const {
  if (complex_) return 4 * (2 * 2 + 1 + 1 + 2 * 2);
  return turned_ ? 4 * (2 + 1 + 2) : 4 * 2;
}

std::vector<ColumnBlocks::Group> ColumnBlocks::groups() const {
  std::vector<Group> result;
  for (std::int64_t c = 0; c < columns_; c += side_) result.push_back({c, std::min(side_, columns_ - c), c / side_});
  return result;
}

void ColumnBlocks::begin(const Affine& c0, std::int64_t columns, std::int64_t tall) {
  c0_ = c0;
  columns_ = columns;
  const auto sbuf = [&](const char* name, std::int64_t partitions, Shape free, std::int64_t buffers = 1) {
    return b_.sbuf(name, partitions, std::move(free), DType::Float32, buffers);
  };
  if (!complex_ && !turned_) {
    raw_ = sbuf("b_block", tall, {2, columns});
    return;
  }
  block_ = sbuf("b_block", tall, {columns});
  if (complex_) swapped_ = sbuf("b_swapped", tall, {columns});
  if (!turned_) {
    raw_ = sbuf("b_raw", half_, {2, columns, 2});
    back_ = sbuf("x_raw", half_, {2, columns, 2});
    return;
  }
  const std::int64_t across = std::min(side_, columns), n = ceil_div(columns, side_);
  raw_ = sbuf("b_raw", across, complex_ ? Shape{2, n, half_, 2} : Shape{2, n, tall});
  back_ = sbuf("x_raw", across, complex_ ? Shape{2, n, half_, 2} : Shape{2, n, tall});
  bank_in_ = b_.psum("b_turned", tall, {bank_});
  bank_out_ = b_.psum("x_turned", across, {bank_ / side_, side_});
}

Access ColumnBlocks::raw_slot(std::int64_t t) const { return entry(raw_, t % 2); }

// (rows, columns[, 2]) of HBM as (columns, rows[, 2]).
Access ColumnBlocks::by_columns(const Access& hbm) const {
  return complex_ ? hbm.permute({1, 0, 2}) : hbm.permute({1, 0});
}

namespace {
// Calls move(tile part, HBM part) for the whole groups of 128 columns together and for the rest.
template <class Move>
void for_groups(const Access& tile, const Access& hbm, std::int64_t rows, std::int64_t side, Move move) {
  const std::int64_t columns = hbm.dims[0].size, whole = columns / side, rest = columns % side;
  if (whole > 0) {
    const Access wide = hbm(ds(0, whole * side)).split(0, side);
    std::vector<std::size_t> order{1, 0, 2};
    if (wide.dims.size() == 4) order.push_back(3);
    move(tile(all, ds(0, whole), ds(0, rows)), wide.permute(order));
  }
  if (rest > 0) move(entry(tile, whole)(ds(0, rest), ds(0, rows)), hbm(ds(whole * side, rest)));
}
}  // namespace

void ColumnBlocks::load(std::int64_t t, const Affine& start, std::int64_t rows) {
  const Access from = in_(ds(start, rows), ds(c0_, columns_));
  const Access raw = raw_slot(t);
  loaded_rows_[t % 2] = rows;
  if (!turned_) return b_.dma_copy(raw(ds(0, rows)), from);
  if (complex_ && rows < half_) b_.memset(raw, 0);
  for_groups(raw, by_columns(from), rows, side_, [&](const Access& to, const Access& hbm) { b_.dma_copy(to, hbm); });
}

Access ColumnBlocks::scaled(std::int64_t t, std::int64_t tile_rows, const Access& alpha) {
  const Access raw = raw_slot(t);
  Access block = turned_ || complex_ ? block_(ds(0, tile_rows)) : raw(ds(0, tile_rows));
  if (turned_) {
    const std::int64_t per_bank = bank_ / side_;
    const auto pieces = groups();
    for (std::size_t first = 0; first < pieces.size(); first += static_cast<std::size_t>(per_bank)) {
      const std::size_t end = std::min(pieces.size(), first + static_cast<std::size_t>(per_bank));
      const std::int64_t from = pieces[first].first;
      for (std::size_t i = first; i < end; ++i) {
        const Group& g = pieces[i];
        Access data = entry(raw, g.number)(ds(0, g.columns));
        if (complex_)
          data = data.permute({1, 0});
        else
          data = data(all, ds(0, tile_rows));
        b_.nc_transpose(bank_in_(ds(0, tile_rows), ds(g.first - from, g.columns)), data);
      }
      const std::int64_t columns = pieces[end - 1].first + pieces[end - 1].columns - from;
      b_.tensor_copy(block(all, ds(from, columns)), bank_in_(ds(0, tile_rows), ds(0, columns)));
    }
  } else if (complex_) {
    const std::int64_t rows = loaded_rows_[t % 2];
    if (rows < half_) b_.memset(block, 0);
    b_.tensor_copy(block(ds(0, rows)), plane(raw, 0)(ds(0, rows)));
    b_.tensor_copy(block(ds(half_, rows)), plane(raw, 1)(ds(0, rows)));
  }
  if (alpha.present()) {
    if (complex_)
      multiply_complex(b_, block, swapped_, alpha);
    else
      b_.tensor_scalar(block, block, AluOp::Multiply, alpha(ds(0, tile_rows)), {.engine = Engine::Vector});
  }
  return block;
}

// (x + iy)(u + iv): block * u + i block * v, where i (x + iy) is -y above x.
void multiply_complex(Builder& b, const Access& block, const Access& swapped, const Access& alpha) {
  const std::int64_t half = block.partitions / 2;
  b.tensor_scalar(swapped(ds(0, half)), block(ds(half, half)), AluOp::Multiply, -1.0, {.engine = Engine::Vector});
  b.tensor_copy(swapped(ds(half, half)), block(ds(0, half)));
  b.tensor_scalar(block, block, AluOp::Multiply, alpha(all, ds(0, 1)), {.engine = Engine::Vector});
  b.scalar_tensor_tensor(block, swapped, AluOp::Multiply, alpha(all, ds(1, 1)), AluOp::Add, block);
}

void ColumnBlocks::store(const Affine& start, std::int64_t rows, const Access& x) {
  const Access to = out_(ds(start, rows), ds(c0_, columns_));
  if (!complex_ && !turned_) return b_.dma_copy(to, x);
  const Access back = entry(back_, stored_++ % 2);
  if (!turned_) {
    b_.tensor_copy(plane(back, 0)(ds(0, rows)), x(ds(0, rows)));
    b_.tensor_copy(plane(back, 1)(ds(0, rows)), x(ds(half_, rows)));
    return b_.dma_copy(to, back(ds(0, rows)));
  }
  const std::int64_t tall = x.partitions, per_bank = bank_ / side_;
  const auto pieces = groups();
  for (std::size_t first = 0; first < pieces.size(); first += static_cast<std::size_t>(per_bank)) {
    const std::size_t end = std::min(pieces.size(), first + static_cast<std::size_t>(per_bank));
    for (std::size_t i = first; i < end; ++i) {
      const Group& g = pieces[i];
      const Access turned = entry(bank_out_, static_cast<std::int64_t>(i - first))(ds(0, g.columns), ds(0, tall));
      b_.nc_transpose(turned, x(all, ds(g.first, g.columns)));
      const Access home = entry(back, g.number)(ds(0, g.columns));
      if (complex_)
        b_.tensor_copy(home.permute({1, 0}), turned.split(0, half_));
      else
        b_.tensor_copy(home(all, ds(0, tall)), turned);
    }
  }
  for_groups(back, by_columns(to), rows, side_, [&](const Access& tile, const Access& hbm) { b_.dma_copy(hbm, tile); });
}

}  // namespace trn::blas::device
