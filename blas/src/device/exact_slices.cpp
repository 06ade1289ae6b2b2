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

// Tiles are reused once what they held is spent: `top` holds the leading bit, then the significand's top piece, then
// that piece scaled, then what is left of it; `middle` and `low` the other pieces of the significand as integers, then
// scaled, then what is left of them.
struct Slices::Work {
  Access field, fraction, sign, top, exponent, middle, low, g2, u1, g1;

  Work(Builder& b, std::int64_t rows, std::int64_t width, bool wide) {
    const auto tile = [&](const char* name, DType dtype) { return b.sbuf(name, rows, {width}, dtype); };
    field = tile("field", DType::UInt32), fraction = tile("fraction", DType::UInt32),
    sign = tile("sign", DType::UInt32);
    top = tile("top", DType::Float32), exponent = tile("exponent", DType::Int32);
    if (!wide) return;
    middle = tile("middle", DType::UInt32), low = tile("low", DType::UInt32);
    g2 = tile("g2", DType::Float32), u1 = tile("u1", DType::Float32), g1 = tile("g1", DType::Float32);
  }
};

struct Slices::Panel {
  Work work;
  Access four;
  std::vector<Access> words;
  Access offset;
  Plane plane;
};

Slices::Slices(Builder& b, const ExactShape& shape, const Numbers& numbers, const Access& offsets, const Access& table,
               bool spare)
    : b_(b),
      side_(b.machine().partitions),
      wide_(real_of(shape.in) == DType::Float64),
      words_(wide_ ? 2 : 1),
      spare_(spare),
      numbers_(numbers),
      offsets_(offsets) {
  table_ = b_.sbuf("constants", side_, {kTableRows, shape.moduli}, DType::Float32);
  b_.dma_copy(table_, table.broadcast(0, side_));
  if (!wide_) return;  // the Scalar Engine rounds to multiples for wide numbers alone
  magic_ = b_.sbuf("magic", side_, {2 * kMagics}, DType::Float32);
  for (int l = 0; l < kMagics; ++l) {
    b_.memset(magic_(all, ds(2 * l, 1)), magic(16 * l));
    b_.memset(magic_(all, ds(2 * l + 1, 1)), -magic(16 * l));
  }
}

Access Slices::constant(ExactConstant row, const Affine& i, std::int64_t rows) const {
  return drop(table_(ds(0, rows), ds(row, 1), ds(i, 1)), 0);
}

void Slices::limbs(const std::vector<Source>& sources) {
  const auto body = [&](const std::vector<Source>& together, const Affine& r0, std::int64_t rows) {
    std::vector<Access> offsets;  // what the exponents are added to, and the lowest sum
    for (const Source& s : together) {
      offsets.push_back(b_.sbuf("offset", rows, {2}, DType::Float32, 2));
      const Access first = offsets.back()(all, ds(0, 1));
      b_.dma_copy(first, offsets_(ds(r0 + s.plane.row, rows), all));
      b_.tensor_scalar(offsets.back()(all, ds(1, 1)), first, AluOp::Add, 1.0,
                       {.op1 = AluOp::Maximum, .operand1 = 0.0, .engine = Engine::Vector});
    }
    for_blocks(
        b_, "k", together.front().x.dims[1].size, kLimbColumns, LoopKind::Parallel,
        [&](const Affine& k0, std::int64_t width) {
          std::vector<Panel> pieces;
          for (std::size_t s = 0; s < together.size(); ++s) {
            const Access four = b_.sbuf("limbs", rows, {4, width}, DType::Float32);
            pieces.push_back({Work(b_, rows, width, wide_), four, load(together[s], r0, rows, k0, width), offsets[s],
                              together[s].plane});
          }
          for (const Panel& p : pieces) begin(p);
          for (const Panel& p : pieces) {
            if (wide_) lower_pieces(p);
          }
          for (const Panel& p : pieces) {
            finish(p);
            b_.dma_copy(
                numbers_.limbs(all, ds(r0 + p.plane.row, rows), ds(k0 + p.plane.column, width)).permute({1, 0, 2}),
                p.four);
          }
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

// The words of a piece of x, low word first, (rows, width) each. Where neighbours in memory belong to neighbouring
// rows, the Tensor Engine turns what DMA brings in long runs, without touching a bit; Scalar moves it out of PSUM.
std::vector<Access> Slices::load(const Source& source, const Affine& r0, std::int64_t rows, const Affine& k0,
                                 std::int64_t width) {
  const Access from = source.x(ds(r0, rows), ds(k0, width), ds(source.plane.word, words_));
  std::vector<Access> words;
  const bool turned = b_.machine().pass_through_transpose && from.dims[0].stride == words_ &&
                      from.dims[1].stride > words_ && width % side_ == 0;
  if (!turned) {
    const Access raw = b_.sbuf("raw", rows, {width, words_}, DType::UInt32, 2);
    b_.dma_copy(raw, from);
    for (std::int64_t w = 0; w < words_; ++w) words.push_back(drop(raw(all, all, ds(w, 1)), 1));
    return words;
  }
  const std::int64_t tiles = width / side_;
  const Access natural = b_.sbuf("natural", side_, {tiles, rows, words_}, DType::UInt32, 2);
  b_.dma_copy(natural, from.split(1, side_).permute({2, 1, 0, 3}));
  const Access raw = b_.sbuf("raw", rows, {words_, width}, DType::UInt32, 2);
  for (std::int64_t w = 0; w < words_; ++w) {
    const Access sums = b_.psum("turned", rows, {width}, DType::Float32, 2);
    for (std::int64_t t = 0; t < tiles; ++t) {
      b_.nc_transpose(sums(all, ds(t * side_, side_)),
                      drop(drop(natural(all, ds(t, 1), all, ds(w, 1)), 2), 0).view(DType::Float32));
    }
    words.push_back(drop(raw(all, ds(w, 1), all), 0));
    b_.tensor_copy(words.back().view(DType::Float32), sums, Engine::Scalar);
  }
  return words;
}

double Slices::magic(int unit) { return std::ldexp(1.5, unit + 23); }

// to = the multiple of 2^unit nearest to x: one Vector instruction, or two of the Scalar Engine.
void Slices::multiple(const Access& to, const Access& x, int unit, Engine engine) {
  if (engine == Engine::Vector) {
    b_.tensor_scalar(to, x, AluOp::Add, magic(unit),
                     {.op1 = AluOp::Subtract, .operand1 = magic(unit), .engine = Engine::Vector});
    return;
  }
  const auto bias = [&](std::int64_t sign) { return magic_(ds(0, x.partitions), ds(unit / 8 + sign, 1)); };
  b_.activation(to, ActFunction::Copy, x, {.bias = bias(0)});
  b_.activation(to, ActFunction::Copy, to, {.bias = bias(1)});
}

namespace {
Access limb(const Access& four, std::int64_t l) { return drop(four(all, ds(l, 1), all), 0); }
constexpr AluOp kMinus = AluOp::Subtract, kPlus = AluOp::Add;
}  // namespace

// The words taken apart; limb 3, and the multiples of 2^32 and 2^16 next to what the top piece leaves, in the tiles of
// field and fraction. All on the Vector Engine.
void Slices::begin(const Panel& p) {
  const auto bits = [&](const Access& to, const Access& from, AluOp op0, double x, AluOp op1 = AluOp::None,
                        double y = 0) {
    TensorScalarOptions options{.engine = Engine::Vector};
    options.op1 = op1;
    if (op1 != AluOp::None) options.operand1 = y;
    b_.tensor_scalar(to, from, op0, x, options);
  };
  const auto combine = [&](const Access& to, const Access& x, const Access& y, AluOp op) {
    b_.tensor_tensor(to, x, y, op, Engine::Vector);
  };
  const Work& w = p.work;
  const Access& high = p.words.back();
  const int mantissa = wide_ ? 20 : 23;
  if (wide_) {
    bits(w.middle, p.words.front(), AluOp::RightShift, 16);
    bits(w.low, p.words.front(), AluOp::BitwiseAnd, 0xffff);
  }
  bits(w.field, high, AluOp::RightShift, mantissa, AluOp::BitwiseAnd, wide_ ? 0x7ff : 0xff);
  bits(w.sign, high, AluOp::BitwiseAnd, 0x1p31, p.plane.negated ? AluOp::BitwiseXor : AluOp::None, 0x1p31);
  const Access scale = w.exponent.view(DType::UInt32), factor = w.exponent.view(DType::Float32);
  b_.tensor_scalar(w.exponent, w.field, AluOp::Add, p.offset(all, ds(0, 1)),
                   {.op1 = AluOp::Maximum, .operand1 = p.offset(all, ds(1, 1)), .engine = Engine::Vector});
  bits(scale, scale, AluOp::LeftShift, 23);
  combine(scale, scale, w.sign, AluOp::BitwiseOr);
  bits(w.fraction, high, AluOp::BitwiseAnd, std::ldexp(1.0, mantissa) - 1);
  b_.tensor_scalar(w.top, w.field, AluOp::Minimum, 1.0,
                   {.op1 = AluOp::Multiply, .operand1 = std::ldexp(1.0, mantissa), .engine = Engine::Vector});
  combine(w.top, w.fraction, w.top, kPlus);
  combine(w.top, w.top, factor, AluOp::Multiply);
  multiple(limb(p.four, 3), w.top, 48, Engine::Vector);
  combine(w.top, w.top, limb(p.four, 3), kMinus);
  const Access h2 = w.field.view(DType::Float32), h1 = w.fraction.view(DType::Float32);
  if (!wide_) return;
  multiple(h2, w.top, 32, Engine::Vector);
  combine(w.top, w.top, h2, kMinus);
  multiple(h1, w.top, 16, Engine::Vector);
  combine(w.top, w.top, h1, kMinus);
}

// What the other two pieces of a float64 significand add to limbs 2 and 1, and what they leave: Scalar and GpSimd,
// beside Vector.
void Slices::lower_pieces(const Panel& p) {
  const Work& w = p.work;
  const Access f1 = w.middle.view(DType::Float32), f0 = w.low.view(DType::Float32),
               factor = w.exponent.view(DType::Float32);
  const auto combine = [&](const Access& to, const Access& x, const Access& y, AluOp op) {
    b_.tensor_tensor(to, x, y, op, Engine::GpSimd);
  };
  b_.activation(f1, ActFunction::Copy, w.middle, {.scale = 0x1p-16});
  b_.activation(f0, ActFunction::Copy, w.low, {.scale = 0x1p-32});
  combine(f1, f1, factor, AluOp::Multiply);
  combine(f0, f0, factor, AluOp::Multiply);
  multiple(w.g2, f1, 32, Engine::Scalar);
  multiple(w.u1, f0, 16, Engine::Scalar);
  combine(f1, f1, w.g2, kMinus);
  combine(f0, f0, w.u1, kMinus);
  multiple(w.g1, f1, 16, Engine::Scalar);
  combine(limb(p.four, 2), w.field.view(DType::Float32), w.g2, kPlus);
  combine(f1, f1, w.g1, kMinus);
  combine(f1, f1, f0, kPlus);
  combine(w.g1, w.fraction.view(DType::Float32), w.g1, kPlus);
  combine(limb(p.four, 1), w.g1, w.u1, kPlus);
}

void Slices::finish(const Panel& p) {
  const Work& w = p.work;
  if (wide_) {
    b_.tensor_tensor(w.top, w.middle.view(DType::Float32), w.top, kPlus, Engine::Vector);
    multiple(limb(p.four, 0), w.top, 0, Engine::Vector);
    return;
  }
  for (std::int64_t l = 2; l >= 0; --l) {
    multiple(limb(p.four, l), w.top, static_cast<int>(16 * l), Engine::Vector);
    if (l > 0) b_.tensor_tensor(w.top, w.top, limb(p.four, l), kMinus, Engine::Vector);
  }
}

// c3 times its limb comes from the Scalar Engine, c2's from Vector, c1's from both in turn, which evens their load out;
// all sums are below 2^24 in magnitude. A group at a time: the sums of one group, then the quotients of the group
// before it, so that no engine waits for another.
void Slices::run(const std::vector<Task>& tasks) {
  const auto count = static_cast<std::int64_t>(tasks.size());
  std::vector<Slot> slots;
  for (std::int64_t t = 0; t < std::min(kTasks, count); ++t) {
    const auto tile = [&](const char* name, DType dtype) {
      return b_.sbuf(name, tasks.front().four.partitions, {tasks.front().four.dims[1].size}, dtype);
    };
    const auto real = [&](const char* name) { return tile(name, DType::Float32); };
    Slot slot{real("c3"), real("c1"), {real("c"), {}}, {tile("q", DType::Int32), {}}};
    if (count > kTasks) slot.sum[1] = real("c"), slot.quotient[1] = tile("q", DType::Int32);
    slots.push_back(slot);
  }
  const std::int64_t width = tasks.front().four.dims[1].size;
  std::vector<Access> residues;  // of one group, and of the next where there is room
  for (std::int64_t t = 0; t < std::min((spare_ ? 2 : 1) * kTasks, count); t += kTasks)
    residues.push_back(
        b_.sbuf("residue", tasks.front().four.partitions, {std::min(kTasks, count), width}, DType::BFloat16));
  const auto residue = [&](std::int64_t t, std::int64_t rows, std::int64_t together) {
    return residues[static_cast<std::size_t>(t / kTasks) % residues.size()](ds(0, rows), ds(t % kTasks, together), all);
  };
  struct Operands {
    const Task& task;
    std::int64_t rows;
    Access top, lower, sum, quotient, residue;
  };
  const auto operands = [&](std::int64_t t) {
    const Task& task = tasks[static_cast<std::size_t>(t)];
    const Slot& slot = slots[static_cast<std::size_t>(t % kTasks)];
    const Slice rows = ds(0, task.four.partitions);
    const auto turn = static_cast<std::size_t>(t / kTasks % 2);
    return Operands{task,
                    task.four.partitions,
                    slot.top(rows, all),
                    slot.lower(rows, all),
                    slot.sum[turn](rows, all),
                    slot.quotient[turn](rows, all),
                    drop(residue(t, task.four.partitions, 1), 0)};
  };
  const auto shares = [](std::int64_t t) { return t % 4 != 0; };
  const auto begin = [&](std::int64_t t) {
    const Operands o = operands(t);
    if (shares(t)) {
      b_.activation(o.lower, ActFunction::Copy, limb(o.task.four, 1), {.scale = constant(kC1, o.task.i, o.rows)});
      b_.tensor_tensor(o.lower, o.lower, limb(o.task.four, 0), AluOp::Add, Engine::GpSimd);
    }
    b_.activation(o.top, ActFunction::Copy, limb(o.task.four, 3), {.scale = constant(kC3, o.task.i, o.rows)});
  };
  const auto add = [&](std::int64_t t) {
    const Operands o = operands(t);
    if (!shares(t)) {
      b_.scalar_tensor_tensor(o.lower, limb(o.task.four, 1), AluOp::Multiply, constant(kC1, o.task.i, o.rows),
                              AluOp::Add, limb(o.task.four, 0));
    }
    b_.scalar_tensor_tensor(o.top, limb(o.task.four, 2), AluOp::Multiply, constant(kC2, o.task.i, o.rows), AluOp::Add,
                            o.top);
    b_.tensor_tensor(o.sum, o.lower, o.top, AluOp::Add, Engine::GpSimd);
  };
  const auto quotient = [&](std::int64_t t) {
    const Operands o = operands(t);
    divide(o.quotient, o.sum, o.task.i);
  };
  const auto finish = [&](std::int64_t t) {
    const Operands o = operands(t);
    subtract(o.residue, o.sum, o.quotient, o.task.i);
  };
  // One store for the moduli of a tile of limbs that are finished together, where they need not wait for one another's
  // stores: a descriptor costs GpSimd as much as a third of a residue.
  const auto store = [&](std::int64_t first) {
    for (std::int64_t t = first; t < std::min(first + kTasks, count);) {
      const Task& task = tasks[static_cast<std::size_t>(t)];
      std::int64_t together = 1;
      while (spare_ && t + together < std::min(first + kTasks, count) &&
             tasks[static_cast<std::size_t>(t + together)].row == task.row)
        ++together;
      const std::int64_t rows = task.four.partitions;
      b_.dma_copy(
          numbers_.residues(ds(task.i, together), ds(task.row, rows), ds(task.column, width)).permute({1, 0, 2}),
          residue(t, rows, together), apart(b_.machine()));
      t += together;
    }
  };
  const auto each = [&](std::int64_t first, const auto& step) {
    for (std::int64_t t = std::max<std::int64_t>(0, first); t < std::min(first + kTasks, count); ++t) step(t);
  };
  for (std::int64_t first = 0; first < count + kTasks; first += kTasks) {
    each(first, begin);
    each(first, [&](std::int64_t t) {
      if (!shares(t)) add(t);
    });
    each(first, [&](std::int64_t t) {
      if (shares(t)) add(t);
    });
    each(first - kTasks, quotient);
    each(first - kTasks, finish);
    if (first >= kTasks) store(first - kTasks);
  }
}

void Slices::residues(const Moduli& moduli, const Rows& rows, const Affine& k0, std::int64_t columns) {
  const std::int64_t tiles = std::clamp<std::int64_t>(2 * kTasks / moduli.count, 1, 2);
  for_blocks(b_, "r", rows.count, tiles * side_, LoopKind::Parallel, [&](const Affine& r0, std::int64_t high) {
    for_blocks(b_, "k", columns, kResidueColumns, LoopKind::Parallel, [&](const Affine& k1, std::int64_t width) {
      std::vector<Task> tasks;
      for (std::int64_t r1 = 0; r1 < high; r1 += side_) {
        const std::int64_t count = std::min(side_, high - r1);
        const Affine row = rows.first + r0 + r1, column = k0 + k1;
        const Access four = b_.sbuf("four", count, {4, width}, DType::Float32, tiles * moduli.count > kTasks ? 1 : 2);
        b_.dma_copy(four, numbers_.limbs(all, ds(row, count), ds(column, width)).permute({1, 0, 2}),
                    {.dge = DgeMode::Static});
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
