// Slices of float64 panels: see panel_slices.hpp. P is on partitions, `tiles` times 128 rows to a piece.
#include "panel_slices.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/stores.hpp>

#include "vectors.hpp"

namespace trn::blas::device {

using namespace trn::tile;
using blocks::ceil_div;

namespace {

constexpr std::int64_t kPieceElements =
    1024;                                    // in a partition: some twenty words of them fit in SBUF with their buffers
constexpr double kRoundingMagic = 0x1.8p23;  // x + magic - magic is x rounded to an integer

// Rows of one panel in pieces: body(first row, tiles, rows of a tile). One after the other: the pieces add to one row
// of sums.
void for_row_pieces(Builder& b, const PanelShape& s,
                    const std::function<void(const Affine&, std::int64_t, std::int64_t)>& body) {
  const std::int64_t side = b.machine().partitions, whole = s.naux / side;
  const std::int64_t tiles = std::clamp<std::int64_t>(kPieceElements / s.nvir, 1, std::max<std::int64_t>(1, whole));
  b.sequential("piece", whole / tiles, [&](Affine p) { body(p * (tiles * side), tiles, side); });
  if (whole % tiles > 0) body(Affine(whole / tiles * tiles * side), whole % tiles, side);
  if (s.naux % side > 0) body(Affine(whole * side), 1, s.naux % side);
}

// (depth, tiles, nvir, ...) of rows [first, first + tiles * depth) of panel i.
Access rows_of(const Access& panels, const Affine& i, const Affine& first, std::int64_t tiles, std::int64_t depth) {
  const Access rows = drop(panels(ds(i, 1), ds(first, tiles * depth))).split(0, depth);
  return panels.dims.size() == 4 ? rows.permute({1, 0, 2, 3}) : rows.permute({1, 0, 2});
}

void bits(Builder& b, const Access& dst, const Access& src, AluOp op0, double operand0, AluOp op1 = AluOp::None,
          double operand1 = 0) {
  b.tensor_scalar(dst, src, op0, operand0, {.op1 = op1, .operand1 = operand1, .engine = Engine::Vector});
}

// 64 b / s in two words of 21 and 24 bits.
struct Decoded {
  Access x, rest;
};
Decoded decode(Builder& b, const Access& raw, const Access& exponents, const std::function<Access(DType)>& fresh) {
  const Access low = part(raw, 0), high = part(raw, 1);
  const Access field = fresh(DType::UInt32), number = fresh(DType::Float32), shifted = fresh(DType::UInt32);
  bits(b, field, high, AluOp::RightShift, 20, AluOp::BitwiseAnd, 0x7ff);
  b.tensor_tensor(number, field, exponents, AluOp::Add, Engine::Vector);
  bits(b, shifted, number, AluOp::Maximum, 0);
  bits(b, shifted, shifted, AluOp::LeftShift, 23);
  const Access sign = fresh(DType::UInt32), scale = fresh(DType::Float32);  // +-1, +-2^(exponent - e - 1)
  bits(b, sign, high, AluOp::BitwiseAnd, 0x80000000, AluOp::BitwiseOr, 0x3f800000);
  b.tensor_tensor(scale, sign.view(DType::Float32), shifted.view(DType::Float32), AluOp::Multiply, Engine::Vector);
  const Access mantissa = fresh(DType::UInt32), x = fresh(DType::Float32), rest = fresh(DType::Float32);
  bits(b, mantissa, high, AluOp::BitwiseAnd, 0xfffff, AluOp::LeftShift, 3);
  bits(b, mantissa, mantissa, AluOp::BitwiseOr, 0x3f800000);
  b.scalar_tensor_tensor(x, mantissa.view(DType::Float32), AluOp::Multiply, 64.0, AluOp::Multiply, scale);
  const Access tail = fresh(DType::UInt32), fraction = fresh(DType::Float32);
  bits(b, tail, low, AluOp::RightShift, 8);
  b.tensor_copy(fraction, tail, Engine::Vector);
  b.scalar_tensor_tensor(rest, fraction, AluOp::Multiply, 0x1p-38, AluOp::Multiply, scale);  // 64 * 2^-44
  return {x, rest};
}

}  // namespace

Program column_exponent_program(const PanelShape& s, const Machine& machine) {
  Builder b("blas_pair_energy_exponents", machine);
  const Access words = b.input("b", DType::UInt32, {s.nocc, s.naux, s.nvir, 2});
  const Access out = b.output("largest", DType::Float32, {s.nocc, s.nvir});
  const std::int64_t side = machine.partitions;
  b.parallel("i", s.nocc, [&](Affine i) {
    const Access most = b.sbuf("most", side, {s.nvir}, DType::Float32, 2);
    b.memset(most, 0, Engine::GpSimd);
    for_row_pieces(b, s, [&](const Affine& first, std::int64_t tiles, std::int64_t depth) {
      const Access raw = b.sbuf("raw", depth, {tiles, s.nvir, 2}, DType::UInt32, 2),
                   field = b.sbuf("field", depth, {tiles * s.nvir}, DType::UInt32, 2);
      b.dma_copy(raw, rows_of(words, i, first, tiles, depth));
      bits(b, field, part(raw, 1), AluOp::BitwiseAnd, double{0x7ff00000});
      const Access rows = most(ds(0, depth), all);
      for (std::int64_t t = 0; t < tiles; ++t)
        b.tensor_tensor(rows, rows, field(all, ds(t * s.nvir, s.nvir)), AluOp::Maximum, Engine::Vector);
    });
    for (std::int64_t a = 0; a < s.nvir; a += side) {
      const std::int64_t columns = std::min(side, s.nvir - a);
      const Access turned = b.psum("turned", columns, {side}, DType::Float32, 2),
                   top = b.sbuf("top", columns, {1}, DType::Float32, 2);
      b.nc_transpose(turned, most(all, ds(a, columns)));
      b.tensor_reduce(top, AluOp::Maximum, turned);
      b.dma_copy(drop(out(ds(i, 1), ds(a, columns))).split(0, 1), top);
    }
  });
  return tile::static_stores(b.finish());
}

std::vector<Access> slice_panels(Builder& b, const PanelShape& s, const Access& words, const Access& exponents,
                                 const Access& norms) {
  const std::int64_t side = b.machine().partitions;
  std::vector<Access> slices;
  for (int k = 0; k < kSlices; ++k)
    slices.push_back(b.scratch("slice" + std::to_string(k), DType::BFloat16, {s.nocc, s.naux, s.nvir}));
  const Access ones = b.sbuf("ones", side, {1}, DType::BFloat16);
  b.memset(ones, 1);
  b.parallel("i", s.nocc, [&](Affine i) {
    const Access exponent = b.sbuf("exponent", side, {s.nvir}, DType::Float32, 2),
                 norm = b.sbuf("norm", 1, {s.nvir}, DType::Float32, 2);
    b.dma_copy(exponent, drop(exponents(ds(i, 1), all)).broadcast(0, side));
    b.memset(norm, 0, Engine::GpSimd);
    for_row_pieces(b, s, [&](const Affine& first, std::int64_t tiles, std::int64_t depth) {
      const auto fresh = [&](DType dtype) { return b.sbuf("piece", depth, {tiles * s.nvir}, dtype); };
      const Access raw = b.sbuf("raw", depth, {tiles, s.nvir, 2}, DType::UInt32, 2);
      b.dma_copy(raw, rows_of(words, i, first, tiles, depth));
      Access spread = exponent(ds(0, depth), all);
      spread.dims = {{0, tiles}, {1, s.nvir}};
      const auto [x, rest] = decode(b, raw, spread, fresh);
      const Access squares = fresh(DType::BFloat16), sums = b.psum("squares", 1, {s.nvir}, DType::Float32, 2);
      b.activation(squares, ActFunction::Square, x);
      for (std::int64_t t = 0; t < tiles; ++t)
        b.nc_matmul(sums, ones(ds(0, depth), all), squares(all, ds(t * s.nvir, s.nvir)),
                    {.accumulate = Affine(t > 0 ? 1 : 0)});
      b.tensor_tensor(norm, norm, sums, AluOp::Add, Engine::Vector);
      // The integer next to each word is cut off; 128 times the rest goes on.
      const auto cut = [&](const Access& word) {
        const Access whole = fresh(DType::Float32);
        b.tensor_scalar(whole, word, AluOp::Add, kRoundingMagic,
                        {.op1 = AluOp::Subtract, .operand1 = kRoundingMagic, .engine = Engine::Vector});
        b.tensor_tensor(word, word, whole, AluOp::Subtract, Engine::Vector);
        return whole;
      };
      for (int k = 0; k < kSlices; ++k) {
        const Access digit = b.sbuf("digit", depth, {tiles, s.nvir}, DType::BFloat16, 2);
        b.tensor_tensor(flat(digit), cut(x), cut(rest), AluOp::Add, Engine::Vector);
        b.dma_copy(rows_of(slices[static_cast<std::size_t>(k)], i, first, tiles, depth), digit);
        if (k + 1 == kSlices) break;
        for (const Access& word : {x, rest})
          b.tensor_scalar(word, word, AluOp::Multiply, 0x1p7, {.engine = Engine::Vector});
      }
    });
    b.dma_copy(norms(ds(i, 1), all), norm);
  });
  return slices;
}

}  // namespace trn::blas::device
