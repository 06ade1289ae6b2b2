// Limbs and residues: the instructions. exact_integers.cpp holds the same steps for the host, number by number.
#include "exact_slices.hpp"

#include <algorithm>
#include <cmath>

#include <trn/tile/blocks/loops.hpp>

namespace trn::blas::device {

using namespace trn::tile;
using blocks::for_blocks;

Access drop(Access access, std::size_t d) {
  access.dims.erase(access.dims.begin() + static_cast<std::ptrdiff_t>(d));
  return access;
}

// Tiles are reused once what they held is spent: `top` holds the leading bit, then the significand's top piece, then that piece
// scaled, then what is left of it.
struct Slices::Work {
  Access field, fraction, sign, top, exponent, middle, low, f1, f0, g2, u1, h2, h1, g1;

  Work(Builder& b, std::int64_t rows, std::int64_t width, bool wide) {
    const auto tile = [&](const char* name, DType dtype) { return b.sbuf(name, rows, {width}, dtype); };
    field = tile("field", DType::UInt32), fraction = tile("fraction", DType::UInt32), sign = tile("sign", DType::UInt32);
    top = tile("top", DType::Float32), exponent = tile("exponent", DType::Int32);
    if (!wide) return;
    middle = tile("middle", DType::UInt32), low = tile("low", DType::UInt32);
    f1 = tile("f1", DType::Float32), f0 = tile("f0", DType::Float32), g2 = tile("g2", DType::Float32), u1 = tile("u1", DType::Float32);
    h2 = tile("h2", DType::Float32), h1 = tile("h1", DType::Float32), g1 = tile("g1", DType::Float32);
  }
};

Slices::Slices(Builder& b, const ExactShape& shape, const Numbers& numbers, const Access& offsets, const Access& table)
    : b_(b), side_(b.machine().partitions), wide_(real_of(shape.in) == DType::Float64), words_(wide_ ? 2 : 1), numbers_(numbers), offsets_(offsets) {
  table_ = b_.sbuf("constants", side_, {kTableRows, shape.moduli}, DType::Float32);
  b_.dma_copy(table_, table.broadcast(0, side_));
}

Access Slices::constant(ExactConstant row, const Affine& i, std::int64_t rows) const {
  return drop(table_(ds(0, rows), ds(row, 1), ds(i, 1)), 0);
}

void Slices::limbs(const std::vector<Source>& sources) {
  const auto body = [&](const std::vector<Source>& together, const Affine& r0, std::int64_t rows) {
    std::vector<Access> offsets;
    for (const Source& s : together) {
      offsets.push_back(b_.sbuf("offset", rows, {1}, DType::Float32, 2));
      b_.dma_copy(offsets.back(), offsets_(ds(r0 + s.plane.row, rows), all));
    }
    for_blocks(b_, "k", together.front().x.dims[1].size, kLimbColumns, LoopKind::Parallel, [&](const Affine& k0, std::int64_t width) {
      const Work work(b_, rows, width, wide_);
      for (std::size_t s = 0; s < together.size(); ++s) limb_piece(together[s], work, offsets[s], r0, k0);
    });
  };
  std::int64_t common = sources.front().x.dims[0].size / side_;
  for (const Source& s : sources) common = std::min(common, s.x.dims[0].size / side_);
  b_.parallel("r", common, [&](Affine r) { body(sources, r * side_, side_); });
  for (const Source& s : sources) {
    for_blocks(b_, "r", s.x.dims[0].size - common * side_, side_, LoopKind::Parallel,
               [&](const Affine& r0, std::int64_t rows) { body({s}, r0 + common * side_, rows); });
  }
}

void Slices::limb_piece(const Source& source, const Work& work, const Access& offset, const Affine& r0, const Affine& k0) {
  const std::int64_t rows = offset.partitions, width = work.top.dims[0].size;
  const Access raw = b_.sbuf("raw", rows, {width, words_}, DType::UInt32, 2);
  b_.dma_copy(raw, source.x(ds(r0, rows), ds(k0, width), ds(source.plane.word, words_)));
  const Access four = b_.sbuf("limbs", rows, {4, width}, DType::Float32, 2);
  limbs_of(work, four, raw, offset, source.plane.negated);
  b_.dma_copy(numbers_.limbs(all, ds(r0 + source.plane.row, rows), ds(k0 + source.plane.column, width)).permute({1, 0, 2}), four);
}

// raw (rows, width, words) -> four (rows, 4, width).
void Slices::limbs_of(const Work& work, const Access& four, const Access& raw, const Access& offset, bool negated) {
  const auto word = [&](std::int64_t w) { return drop(raw(all, all, ds(w, 1)), 1); };
  const auto bits = [&](const Access& to, const Access& from, AluOp op0, double x, AluOp op1 = AluOp::None, double y = 0) {
    TensorScalarOptions options{.engine = Engine::Vector};
    options.op1 = op1;
    if (op1 != AluOp::None) options.operand1 = y;
    b_.tensor_scalar(to, from, op0, x, options);
  };
  // to = the multiple of 2^unit nearest to x
  const auto multiple = [&](const Access& to, const Access& x, int unit) {
    const double magic = std::ldexp(1.5, unit + 23);
    b_.tensor_scalar(to, x, AluOp::Add, magic, {.op1 = AluOp::Subtract, .operand1 = magic, .engine = Engine::Vector});
  };
  const auto limb = [&](std::int64_t l) { return drop(four(all, ds(l, 1), all), 0); };
  const auto combine = [&](const Access& to, const Access& x, const Access& y, AluOp op, Engine engine) { b_.tensor_tensor(to, x, y, op, engine); };
  constexpr AluOp kMinus = AluOp::Subtract, kPlus = AluOp::Add;

  const Access high = word(words_ - 1);
  const int mantissa = wide_ ? 20 : 23;
  const auto& [field, fraction, sign, top, exponent, middle, low, f1, f0, g2, u1, h2, h1, g1] = work;
  bits(field, high, AluOp::RightShift, mantissa, AluOp::BitwiseAnd, wide_ ? 0x7ff : 0xff);
  bits(fraction, high, AluOp::BitwiseAnd, std::ldexp(1.0, mantissa) - 1);
  bits(sign, high, AluOp::BitwiseAnd, 0x1p31, negated ? AluOp::BitwiseXor : AluOp::None, 0x1p31);
  b_.tensor_scalar(top, field, AluOp::Minimum, 1.0, {.op1 = AluOp::Multiply, .operand1 = std::ldexp(1.0, mantissa), .engine = Engine::Vector});
  combine(top, fraction, top, kPlus, Engine::Vector);
  const Access scale = exponent.view(DType::UInt32), factor = exponent.view(DType::Float32);
  b_.tensor_scalar(exponent, field, AluOp::Maximum, 1.0, {.op1 = AluOp::Add, .operand1 = offset, .engine = Engine::Vector});
  b_.tensor_scalar(exponent, exponent, AluOp::Maximum, 0.0, {.engine = Engine::Vector});
  b_.tensor_scalar(scale, scale, AluOp::LeftShift, 23.0, {.engine = Engine::Vector});
  b_.tensor_tensor(scale, scale, sign, AluOp::BitwiseOr, Engine::Vector);
  combine(top, top, factor, AluOp::Multiply, Engine::Vector);
  multiple(limb(3), top, 48);
  combine(top, top, limb(3), kMinus, Engine::Vector);
  if (!wide_) {
    for (std::int64_t l = 2; l >= 0; --l) {
      multiple(limb(l), top, static_cast<int>(16 * l));
      if (l > 0) combine(top, top, limb(l), kMinus, Engine::Vector);
    }
    return;
  }
  bits(middle, word(0), AluOp::RightShift, 16);
  bits(low, word(0), AluOp::BitwiseAnd, 0xffff);
  b_.scalar_tensor_tensor(f1, middle, AluOp::Multiply, 0x1p-16, AluOp::Multiply, factor);
  b_.scalar_tensor_tensor(f0, low, AluOp::Multiply, 0x1p-32, AluOp::Multiply, factor);
  // What Vector waits for is its own; GpSimd does the rest beside it. Differences take their minuend's place.
  multiple(g2, f1, 32);
  multiple(u1, f0, 16);
  combine(f1, f1, g2, kMinus, Engine::GpSimd);
  combine(f0, f0, u1, kMinus, Engine::GpSimd);
  multiple(h2, top, 32);
  combine(top, top, h2, kMinus, Engine::Vector);
  multiple(h1, top, 16);
  multiple(g1, f1, 16);
  combine(f1, f1, g1, kMinus, Engine::GpSimd);
  combine(f1, f1, f0, kPlus, Engine::GpSimd);
  combine(top, top, h1, kMinus, Engine::Vector);
  combine(limb(2), h2, g2, kPlus, Engine::GpSimd);
  combine(g1, h1, g1, kPlus, Engine::GpSimd);
  combine(limb(1), g1, u1, kPlus, Engine::GpSimd);
  combine(top, f1, top, kPlus, Engine::Vector);
  multiple(limb(0), top, 0);
}

// c3 and c1 times their limbs come from the Scalar Engine, c2's from Vector, sums from GpSimd: all below 2^24 in magnitude.
// Every task takes one step before any takes the next, so that no engine waits for another.
void Slices::run(const std::vector<Task>& tasks) {
  std::vector<Slot> slots;
  for (const Task& task : tasks) {
    const auto tile = [&](const char* name, DType dtype) { return b_.sbuf(name, task.four.partitions, {task.four.dims[1].size}, dtype); };
    const auto real = [&](const char* name) { return tile(name, DType::Float32); };
    slots.push_back({real("c3"), real("c1"), real("c"), tile("q", DType::Int32), tile("residue", DType::BFloat16)});
  }
  const auto limb = [&](const Task& task, std::int64_t l) { return drop(task.four(all, ds(l, 1), all), 0); };
  const auto each = [&](const auto& step) {
    for (std::size_t t = 0; t < tasks.size(); ++t) step(tasks[t], slots[t], tasks[t].four.partitions);
  };
  each([&](const Task& task, const Slot& slot, std::int64_t rows) {
    b_.activation(slot.lower, ActFunction::Copy, limb(task, 1), {.scale = constant(kC1, task.i, rows)});
    b_.tensor_tensor(slot.lower, slot.lower, limb(task, 0), AluOp::Add, Engine::GpSimd);
    b_.activation(slot.top, ActFunction::Copy, limb(task, 3), {.scale = constant(kC3, task.i, rows)});
  });
  each([&](const Task& task, const Slot& slot, std::int64_t rows) {
    b_.scalar_tensor_tensor(slot.top, limb(task, 2), AluOp::Multiply, constant(kC2, task.i, rows), AluOp::Add, slot.top);
    b_.tensor_tensor(slot.sum, slot.lower, slot.top, AluOp::Add, Engine::GpSimd);
  });
  each([&](const Task& task, const Slot& slot, std::int64_t) { divide(slot.quotient, slot.sum, task.i); });
  each([&](const Task& task, const Slot& slot, std::int64_t rows) {
    subtract(slot.residue, slot.sum, slot.quotient, task.i);
    b_.dma_copy(drop(numbers_.residues(ds(task.i, 1), ds(task.row, rows), ds(task.column, task.four.dims[1].size)), 0), slot.residue);
  });
}

void Slices::residues(const Moduli& moduli, const Rows& rows, const Affine& k0, std::int64_t columns) {
  for_blocks(b_, "r", rows.count, kRowTiles * side_, LoopKind::Parallel, [&](const Affine& r0, std::int64_t high) {
    for_blocks(b_, "k", columns, kResidueColumns, LoopKind::Parallel, [&](const Affine& k1, std::int64_t width) {
      std::vector<Task> tasks;
      for (std::int64_t r1 = 0; r1 < high; r1 += side_) {
        const std::int64_t count = std::min(side_, high - r1);
        const Affine row = rows.first + r0 + r1, column = k0 + k1;
        const Access four = b_.sbuf("four", count, {4, width}, DType::Float32, 2);
        b_.dma_copy(four, numbers_.limbs(all, ds(row, count), ds(column, width)).permute({1, 0, 2}), {.dge = DgeMode::Static});
        for (std::int64_t i = 0; i < moduli.count; ++i) tasks.push_back({four, moduli.first + i, row, column});
      }
      run(tasks);
    });
  });
}

void Slices::divide(const Access& q, const Access& x, const Affine& i) {
  b_.activation(q, ActFunction::Copy, x, {.scale = constant(kInverse, i, x.partitions)});
}

void Slices::subtract(const Access& dst, const Access& x, const Access& q, const Affine& i) {
  b_.scalar_tensor_tensor(dst, q, AluOp::Multiply, constant(kMinusP, i, x.partitions), AluOp::Add, x);
}

}  // namespace trn::blas::device
