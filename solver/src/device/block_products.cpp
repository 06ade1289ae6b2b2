// Products of matrices in SBUF: see block_products.hpp.
//
// PSUM: four banks for sums and two for what is turned, which take turns, so that the Tensor Engine goes on while the
// Vector and Scalar Engines empty the last ones.
#include "device/block_products.hpp"

#include <algorithm>

#include <trn/tile/blocks/elementwise.hpp>

namespace trn::solver::device {

using namespace trn::tile;

namespace {
constexpr std::int64_t kSums = 4, kTurning = 2;

// Entry i of the first free dimension.
Access entry(const Access& x, std::int64_t i) {
  Access one = x.is_tile() ? x(all, ds(i, 1)) : x(ds(i, 1));
  one.dims.erase(one.dims.begin());
  return one;
}
}  // namespace

BlockProducts::BlockProducts(Builder& builder)
    : b_(builder), side_(builder.machine().partitions), strip_(builder.machine().psum_bank_bytes / 4) {
  unit_ = b_.sbuf("unit", side_, {side_}, DType::Float32);
  ones_ = b_.sbuf("ones", side_, {side_}, DType::Float32);
  half_ = b_.sbuf("half", side_, {2, side_}, DType::Float32);
  terms_ = b_.sbuf("terms", side_, {2, strip_}, DType::Float32);
  sums_ = b_.psum("sums", side_, {kSums, strip_});
  turning_ = b_.psum("turning", side_, {kTurning, strip_});
  b_.memset(ones_, 1, Engine::Vector);
  b_.affine_select(unit_, {{-1, side_}}, 0, 1, AluOp::Equal, ones_, 0);
}

Access BlockProducts::matrix(const std::string& name, std::int64_t rows, std::int64_t columns) {
  return b_.sbuf(name, side_, {rows / side_, columns}, DType::Float32);
}
void BlockProducts::load(const Access& x, const Access& from) {
  b_.dma_copy(x, from.split(0, side_).permute({1, 0, 2}));
}
void BlockProducts::store(const Access& to, const Access& x) { b_.dma_copy(to.split(0, side_).permute({1, 0, 2}), x); }

Access BlockProducts::part(const Access& x, const RowStrip& piece) {
  return entry(x, piece.row)(all, ds(piece.first, piece.columns));
}

void BlockProducts::product(const Access& x, const Access& y, bool upper, const Evict& evict) {
  const std::int64_t blocks = x.dims[0].size, rows = x.dims[1].size, columns = y.dims[1].size;
  for (std::int64_t i = 0; i < rows / side_; ++i) {
    for (std::int64_t c = upper ? i * side_ : 0; c < columns; c += strip_) {
      const RowStrip piece{i, c, std::min(strip_, columns - c)};
      const Access sums = entry(sums_, product_++ % kSums)(all, ds(0, piece.columns));
      for (std::int64_t k = 0; k < blocks; ++k) {
        b_.nc_matmul(sums, entry(x, k)(all, ds(i * side_, side_)), part(y, {k, c, piece.columns}),
                     {.accumulate = k > 0 ? 1 : 0});
      }
      evict(piece, sums);
    }
  }
}

Access BlockProducts::next_turning() { return entry(turning_, turn_++ % kTurning); }

void BlockProducts::mirror(const Access& x, const RowStrip& piece) {
  const std::int64_t first = std::max(piece.row + 1, piece.first / side_);
  const std::int64_t count = (piece.first + piece.columns) / side_ - first;
  if (count <= 0) return;
  const Access turning = next_turning()(all, ds(0, count * side_));
  for (std::int64_t j = 0; j < count; ++j) {
    b_.nc_transpose(turning(all, ds(j * side_, side_)), part(x, {piece.row, (first + j) * side_, side_}));
  }
  blocks::scale(b_, x(all, ds(first, count), ds(piece.row * side_, side_)), turning.split(0, side_), 1.0,
                Engine::Scalar);
}

void BlockProducts::symmetrise(const Access& x, const RowStrip& piece) {
  if (piece.first > piece.row * side_) return;
  const Access block = part(x, {piece.row, piece.row * side_, side_}), half = entry(half_, turn_ % 2);
  const Access turning = next_turning()(all, ds(0, side_));
  b_.nc_transpose(turning, block);
  blocks::scale(b_, half, block, 0.5, Engine::Scalar);
  b_.scalar_tensor_tensor(block, turning, AluOp::Multiply, 0.5, AluOp::Add, half);
}

void BlockProducts::turn(const Access& y, const Access& x) {
  const std::int64_t rows = x.dims[0].size, columns = x.dims[1].size / side_, group = strip_ / side_;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; j += group) {
      const std::int64_t count = std::min(group, columns - j);
      const Access turning = next_turning()(all, ds(0, count * side_));
      for (std::int64_t k = 0; k < count; ++k) {
        b_.nc_transpose(turning(all, ds(k * side_, side_)), part(x, {i, (j + k) * side_, side_}));
      }
      blocks::scale(b_, y(all, ds(j, count), ds(i * side_, side_)), turning.split(0, side_), 1.0, Engine::Scalar);
    }
  }
}

void BlockProducts::diagonal(const Access& diagonal, const Access& x) {
  for (std::int64_t i = 0; i < x.dims[0].size; ++i) {
    const Access terms = entry(terms_, i % 2)(all, ds(0, side_));
    b_.tensor_tensor(terms, part(x, {i, i * side_, side_}), unit_, AluOp::Multiply, Engine::Vector);
    b_.tensor_reduce(diagonal(all, ds(i, 1)), AluOp::Add, terms);
  }
}

void BlockProducts::squares(const Access& sums, const Access& x) {
  const std::int64_t columns = x.dims[1].size, strips = (columns + strip_ - 1) / strip_;
  const Access partial = b_.sbuf("partial_sums", side_, {strips}, DType::Float32, 2);
  for (std::int64_t i = 0; i < x.dims[0].size; ++i) {
    for (std::int64_t s = 0; s < strips; ++s) {
      const RowStrip piece{i, s * strip_, std::min(strip_, columns - s * strip_)};
      const Access terms = entry(terms_, s % 2)(all, ds(0, piece.columns)), from = part(x, piece);
      b_.tensor_tensor(terms, from, from, AluOp::Multiply, Engine::Vector);
      b_.tensor_reduce(strips == 1 ? sums(all, ds(i, 1)) : partial(all, ds(s, 1)), AluOp::Add, terms);
    }
    if (strips > 1) b_.tensor_reduce(sums(all, ds(i, 1)), AluOp::Add, partial);
  }
}

}  // namespace trn::solver::device
