// Twiddles between two steps: see two_steps.hpp.
#include "two_steps.hpp"

#include <algorithm>
#include <trn/core/error.hpp>

namespace trn::fft::device {

using namespace trn::tile;

void TwoStepKernel::declare_twiddles(std::int64_t rows, std::int64_t columns) {
  cos_ = constant("twiddle_cos", rows, columns, DType::Float32, 1);
  sin_ = constant("twiddle_sin", rows, columns, DType::Float32, 1);
}

void TwoStepKernel::for_pieces(const BlockLayout& layout, std::int64_t deepest, std::int64_t together,
                               const BlockLayout::Run& body) {
  std::int64_t products = 0;
  for (const BlockPiece& p : layout.pieces(0, 0, deepest)) products += p.deep;
  if (s_.lines.size() < 2 || 2 * products > deepest * together) {
    return for_outer_lines(
        [&](const Affine& in, const Affine& out) { layout.runs(b_, in, out, deepest, together, body); });
  }
  const LineDim& d = s_.lines[s_.lines.size() - 2];
  const std::int64_t most = std::min(d.count, deepest * together / products);
  const auto several = [&](const Affine& in, const Affine& out, const Affine& first, std::int64_t count) {
    std::vector<BlockPiece> pieces;
    for (std::int64_t i = 0; i < count; ++i) {
      for (BlockPiece& p : layout.pieces(in + (first + i) * d.in, out + (first + i) * d.out, deepest))
        pieces.push_back(std::move(p));
    }
    body(pieces);
  };
  for_outer_lines(
      [&](const Affine& in, const Affine& out) {
        const std::int64_t whole = d.count / most;
        b_.parallel("block", whole, [&](Affine i) { several(in, out, i * most, most); });
        if (d.count % most > 0) several(in, out, whole * most, d.count % most);
      },
      2);
}

TwoStepKernel::TwiddleTiles TwoStepKernel::twiddle_tiles(std::int64_t rows, std::int64_t deep, std::int64_t columns) {
  const std::int64_t most = std::min(kTogether, deep) * columns, slots = words_.count > 1 ? 3 : 2;
  return {Ring(b_.sbuf("z_cos", rows, {slots, most}, DType::Float32), slots),
          Ring(b_.sbuf("z_sin", rows, {2, most}, DType::Float32), 2),
          Ring(b_.sbuf("z_tile", rows, {lag_ + 2, words_.count * most}, words_.dtype), lag_ + 2)};
}

TwoStepKernel::Turned TwoStepKernel::twiddle(const Access& z, std::int64_t count, std::int64_t columns,
                                             TwiddleTiles& tiles, Engine sum) {
  const std::int64_t rows = z.partitions;
  const auto here = [&](Ring& ring) { return ring.next()(ds(0, rows), all); };
  const Access straight = here(tiles.straight), crossed = here(tiles.crossed), turned = here(tiles.turned);
  const auto each = [&](const Access& t, std::int64_t distance) {
    return pattern(t, 0, {{distance, count}, {1, columns}});
  };
  for (std::int64_t part = 0; part < 2; ++part) {  // the other part of z
    b_.tensor_tensor(pattern(crossed, part, {{columns, count}, {2, columns / 2}}),
                     pattern(z, 1 - part, {{pitch(), count}, {2, columns / 2}}),
                     pattern(word(sin_, 0, rows, columns), part, {{0, count}, {2, columns / 2}}), AluOp::Multiply,
                     Engine::Vector);
  }
  // Where two operands in SBUF take turns, the other product stays in PSUM.
  const bool in_place = sum == Engine::Vector && machine_.vector_elements_per_cycle_fp32 < 2;
  const Access product = in_place ? each(z, pitch()) : each(straight, columns);
  b_.tensor_tensor(product, each(z, pitch()), each(word(cos_, 0, rows, columns), 0), AluOp::Multiply, Engine::Vector);
  const auto flat = [&](const Access& t) { return pattern(t, 0, {{1, count * columns}}); };
  const bool words = words_.dtype != DType::Float32;
  b_.tensor_tensor(flat(words ? straight : turned), in_place ? product : flat(straight), flat(crossed), AluOp::Add,
                   sum);
  if (!words) return {turned, {}, 0};
  b_.activation(flat(turned), ActFunction::Copy, flat(straight));
  return {turned, flat(straight), count * columns};
}

void TwoStepKernel::finish(const Turned& z) {
  if (words_.count == 1) return;
  const auto word_of = [&](std::int64_t w) { return pattern(z.words, w * z.size, {{1, z.size}}); };
  if (words_.count == 2) return b_.tensor_tensor(word_of(1), z.sum, word_of(0), AluOp::Subtract, Engine::Vector);
  b_.tensor_tensor(z.sum, z.sum, word_of(0), AluOp::Subtract, Engine::Vector);
  b_.activation(word_of(1), ActFunction::Copy, z.sum);
  b_.tensor_tensor(word_of(2), z.sum, word_of(1), AluOp::Subtract, Engine::Vector);
}

Access TwoStepKernel::split_ahead(TilePool& pool, const Access& src, std::int64_t stride, std::int64_t size) {
  const Access split = pool.take("x_words", src.partitions, words_.count * size, words_.dtype);
  split_words(
      b_, words_,
      [&](std::int64_t w) {
        return pattern(split, w * size, {{1, size}});
      },
      pattern(src, 0, {{stride, size}}), Engine::GpSimd, Engine::GpSimd);
  return split;
}

Access TilePool::take(const std::string& name, std::int64_t partitions, std::int64_t size, DType dtype,
                      std::int64_t slots) {
  auto found = rings_.find(name);
  if (slots == 0) slots = slots_;
  if (found == rings_.end())
    found = rings_.emplace(name, Ring(b_.sbuf(name, partitions, {slots, size}, dtype), slots)).first;
  const Access slot = found->second.next();
  ensure(partitions <= slot.partitions && size <= slot.free_size(), "fft: the first piece is not the largest");
  return pattern(slot(ds(0, partitions), all), 0, {{1, size}});
}

}  // namespace trn::fft::device
