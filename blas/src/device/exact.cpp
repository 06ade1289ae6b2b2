// Precision Exact on the device: the program that slices, multiplies modulo every p and reduces, and its launch.
//
// Rows of op(A) and columns of op(B) are treated alike, as rows of `depth` numbers with the row on partitions.
//
//   limbs      the words of each number become four fp32 limbs (exact_integers.cpp does the same steps on the host): bits by the
//              Vector Engine, half of the differences by GpSimd
//   residues   per modulus: limb sums with 2^(16 l) mod p on Vector, Scalar and GpSimd, minus p times the nearest integer of the
//              quotient (Scalar rounds it by storing int32, Vector subtracts): |r| <= 90, bfloat16
//   product    per modulus and block of C: up to 2048 products are exact in a PSUM sum, because 2048 * 90^2 < 2^24; then the sum
//              leaves PSUM reduced mod p (Scalar and Vector again), and chunks of k are added by GpSimd
//
// Columns of op(B) are made residues once, before the products; the limbs of A go to HBM scratch, and the residues of a block row
// are made while the block row before it multiplies, a step between any two blocks, so that no engine's queue holds up another.
// Digits go to HBM as int16; recombining them (Chinese remainders), scaling and the one rounding to float64 are integer work of
// the launch, on the host side.
//
// Modelled time on trn2 at 4096^3 with 16 moduli: 45.5 ms, 3.0 TF/s. Limbs of A 3.3 ms and residues of B 10.5 ms are bound by the Vector
// Engine (85 % busy), the products, 29.5 ms, by the Tensor Engine (96 %).
#include <algorithm>
#include <cmath>
#include <optional>

#include <trn/core/array.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/device.hpp>

#include "../exact.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;

namespace {

enum Row { kC1, kC2, kC3, kInverse, kMinusP, kTableRows };

// The dimension d of size 1 removed.
Access drop(Access access, std::size_t d) {
  access.dims.erase(access.dims.begin() + static_cast<std::ptrdiff_t>(d));
  return access;
}

class ExactKernel {
 public:
  ExactKernel(const ExactShape& shape, const Machine& machine)
      : s_(shape), b_("blas_exact", machine), side_(machine.partitions), bank_(blocks::bank_columns(machine)),
        wide_(real_of(shape.in) == DType::Float64), words_(wide_ ? 2 : 1), rows_(shape.rows()), depth_(shape.depth()),
        k_tiles_(ceil_div(depth_, side_)) {
    // The block rows whose panel of A leaves room for the rest.
    const std::int64_t room = machine.sbuf_bytes_per_partition / 5 * 2, two = size_bytes(DType::BFloat16);
    block_ = 4 * side_;
    while (block_ > side_ && k_tiles_ * block_ * two > room / 2) block_ /= 2;
    panel_buffers_ = 2 * k_tiles_ * block_ * two <= room ? 2 : 1;
    if (k_tiles_ * block_ * two > room) {
      fail<NotImplemented>("blas.gemm: precision 'exact' takes products of up to {} terms on {}, this one has {}; split k", room / two / side_ * side_,
                           machine.name, depth_);
    }
  }

  Program build() {
    const std::int64_t all_words = words_ * (is_complex(s_.in) ? 2 : 1);
    const Access a = b_.input("a", DType::UInt32, {s_.m, s_.k, all_words}, {s_.am * all_words, s_.ak * all_words, 1});
    const Access b = b_.input("b", DType::UInt32, {s_.n, s_.k, all_words}, {s_.bn * all_words, s_.bk * all_words, 1});
    const Access offset_a = b_.input("offset_a", DType::Float32, {rows_, 1}), offset_b = b_.input("offset_b", DType::Float32, {s_.n, 1});
    const Access table = b_.input("table", DType::Float32, {kTableRows, s_.moduli});
    digits_ = b_.output("digits", DType::Int16, {s_.moduli, rows_, s_.n});
    a_limbs_ = b_.scratch("a_limbs", DType::Float32, {4, rows_, depth_});
    a_residues_ = b_.scratch("a_residues", DType::BFloat16, {s_.moduli, rows_, depth_});
    b_residues_ = b_.scratch("b_residues", DType::BFloat16, {s_.moduli, s_.n, depth_});
    table_ = b_.sbuf("constants", side_, {kTableRows, s_.moduli}, DType::Float32);
    b_.dma_copy(table_, table.broadcast(0, side_));

    const bool complex = is_complex(s_.in);
    const auto keep = [&](const Access& four, const Affine& r0, const Affine& k0) {
      b_.dma_copy(a_limbs_(all, ds(r0, four.partitions), ds(k0, four.dims[1].size)).permute({1, 0, 2}), four);
    };
    slice(a, {0, false, 0, 0}, offset_a, keep);
    if (complex) {
      slice(a, {words_, !s_.conj_a, 0, s_.k}, offset_a, keep);
      slice(a, {words_, s_.conj_a, s_.m, 0}, offset_a, keep);
      slice(a, {0, false, s_.m, s_.k}, offset_a, keep);
    }
    const auto reduce_b = [&](const Access& four, const Affine& r0, const Affine& k0) {
      residues_of(four, b_residues_, r0, k0);
    };
    slice(b, {0, false, 0, 0}, offset_b, reduce_b);
    if (complex) slice(b, {words_, s_.conj_b, 0, s_.k}, offset_b, reduce_b);

    const std::int64_t whole = rows_ / block_, rest = rows_ % block_;
    b_.parallel("i", s_.moduli, [&](Affine i) { prepare(i, {0, std::min(block_, rows_)}, 0, depth_, 2); });
    b_.sequential("mb", std::max<std::int64_t>(0, whole - 1), [&](Affine mb) {
      b_.parallel("i", s_.moduli, [&](Affine i) { product(i, {mb * block_, block_}, Rows{(mb + 1) * block_, block_}); });
    });
    if (whole > 0) {
      b_.parallel("i", s_.moduli, [&](Affine i) {
        product(i, {(whole - 1) * block_, block_}, rest > 0 ? std::optional(Rows{whole * block_, rest}) : std::nullopt);
      });
    }
    if (rest > 0) b_.parallel("i", s_.moduli, [&](Affine i) { product(i, {whole * block_, rest}, std::nullopt); });
    return b_.finish();
  }

 private:
  // Where a plane of an operand starts in an element, whether it is negated, and where it goes.
  struct Plane { std::int64_t word; bool negated; std::int64_t row, column; };

  // A (rows, 1) constant of modulus i.
  Access constant(Row row, const Affine& i, std::int64_t rows) const { return drop(table_(ds(0, rows), ds(row, 1), ds(i, 1)), 0); }

  struct Rows { Affine first; std::int64_t count; };

  // Calls use(limbs (rows, 4, width), first row, first column) for every tile of a plane.
  template <class Use> void slice(const Access& x, const Plane& plane, const Access& offsets, const Use& use) {
    const std::int64_t rows_of_x = x.dims[0].size, columns = x.dims[1].size;
    for_blocks(b_, "r", rows_of_x, side_, LoopKind::Parallel, [&](const Affine& r0, std::int64_t rows) {
      const Access offset = b_.sbuf("offset", rows, {1}, DType::Float32, 2);
      b_.dma_copy(offset, offsets(ds(r0 + plane.row, rows), all));
      for_blocks(b_, "k", columns, kLimbColumns, LoopKind::Parallel, [&](const Affine& k0, std::int64_t width) {
        const Access raw = b_.sbuf("raw", rows, {width, words_}, DType::UInt32, 2);
        b_.dma_copy(raw, x(ds(r0, rows), ds(k0, width), ds(plane.word, words_)));
        use(limbs_of(raw, offset, plane.negated), r0 + plane.row, k0 + plane.column);
      });
    });
  }

  // raw (rows, width, words) -> (rows, 4, width).
  Access limbs_of(const Access& raw, const Access& offset, bool negated) {
    const std::int64_t rows = raw.partitions, width = raw.dims[0].size;
    const auto tile = [&](const char* name, DType dtype) { return b_.sbuf(name, rows, {width}, dtype); };
    const auto real = [&](const char* name) { return tile(name, DType::Float32); };
    const auto word = [&](std::int64_t w) { return drop(raw(all, all, ds(w, 1)), 1); };
    const auto bits = [&](const char* name, const Access& from, AluOp op0, double x, AluOp op1 = AluOp::None, double y = 0) {
      const Access to = tile(name, DType::UInt32);
      TensorScalarOptions options{.engine = Engine::Vector};
      options.op1 = op1;
      if (op1 != AluOp::None) options.operand1 = y;
      b_.tensor_scalar(to, from, op0, x, options);
      return to;
    };
    // The nearest multiple of 2^unit.
    const auto multiple = [&](const char* name, const Access& x, int unit) {
      const Access to = real(name);
      const double magic = std::ldexp(1.5, unit + 23);
      b_.tensor_scalar(to, x, AluOp::Add, magic, {.op1 = AluOp::Subtract, .operand1 = magic, .engine = Engine::Vector});
      return to;
    };
    const auto keep = [&](const Access& four, std::int64_t l) { return drop(four(all, ds(l, 1), all), 0); };

    const Access high = word(words_ - 1);
    const int mantissa = wide_ ? 20 : 23;
    const Access field = bits("field", high, AluOp::RightShift, mantissa, AluOp::BitwiseAnd, wide_ ? 0x7ff : 0xff);
    const Access fraction = bits("fraction", high, AluOp::BitwiseAnd, std::ldexp(1.0, mantissa) - 1);
    const Access sign = bits("sign", high, AluOp::BitwiseAnd, 0x1p31, negated ? AluOp::BitwiseXor : AluOp::None, 0x1p31);
    const Access top = real("top");  // the leading bit, then the significand's top piece, then that piece scaled
    b_.tensor_scalar(top, field, AluOp::Minimum, 1.0, {.op1 = AluOp::Multiply, .operand1 = std::ldexp(1.0, mantissa), .engine = Engine::Vector});
    b_.tensor_tensor(top, fraction, top, AluOp::Add, Engine::Vector);
    const Access exponent = tile("exponent", DType::Int32), scale = exponent.view(DType::UInt32), factor = exponent.view(DType::Float32);
    b_.tensor_scalar(exponent, field, AluOp::Maximum, 1.0, {.op1 = AluOp::Add, .operand1 = offset, .engine = Engine::Vector});
    b_.tensor_scalar(exponent, exponent, AluOp::Maximum, 0.0, {.engine = Engine::Vector});
    b_.tensor_scalar(scale, scale, AluOp::LeftShift, 23.0, {.engine = Engine::Vector});
    b_.tensor_tensor(scale, scale, sign, AluOp::BitwiseOr, Engine::Vector);
    const Access& f2 = top;
    b_.tensor_tensor(f2, top, factor, AluOp::Multiply, Engine::Vector);

    const Access four = b_.sbuf("limbs", rows, {4, width}, DType::Float32);
    const auto take = [&](std::int64_t l, const Access& x, int unit) {
      const double magic = std::ldexp(1.5, unit + 23);
      b_.tensor_scalar(keep(four, l), x, AluOp::Add, magic, {.op1 = AluOp::Subtract, .operand1 = magic, .engine = Engine::Vector});
    };
    take(3, f2, 48);
    const Access& r3 = top;  // what is left of it
    b_.tensor_tensor(r3, f2, keep(four, 3), AluOp::Subtract, Engine::Vector);
    if (!wide_) {
      for (std::int64_t l = 2; l >= 0; --l) {
        take(l, r3, static_cast<int>(16 * l));
        if (l > 0) b_.tensor_tensor(r3, r3, keep(four, l), AluOp::Subtract, Engine::Vector);
      }
      return four;
    }
    const Access middle = bits("middle", word(0), AluOp::RightShift, 16), low = bits("low", word(0), AluOp::BitwiseAnd, 0xffff);
    const Access f1 = real("f1"), f0 = real("f0");
    b_.scalar_tensor_tensor(f1, middle, AluOp::Multiply, 0x1p-16, AluOp::Multiply, factor);
    b_.scalar_tensor_tensor(f0, low, AluOp::Multiply, 0x1p-32, AluOp::Multiply, factor);
    // What Vector waits for is its own; GpSimd does the rest beside it. Differences take their minuend's place.
    const auto combine = [&](const Access& to, const Access& x, const Access& y, AluOp op, Engine engine) { b_.tensor_tensor(to, x, y, op, engine); };
    constexpr AluOp kMinus = AluOp::Subtract, kPlus = AluOp::Add;
    const Access g2 = multiple("g2", f1, 32), u1 = multiple("u1", f0, 16);
    combine(f1, f1, g2, kMinus, Engine::GpSimd);
    combine(f0, f0, u1, kMinus, Engine::GpSimd);
    const Access h2 = multiple("h2", r3, 32);
    combine(r3, r3, h2, kMinus, Engine::Vector);
    const Access h1 = multiple("h1", r3, 16), g1 = multiple("g1", f1, 16);
    combine(f1, f1, g1, kMinus, Engine::GpSimd);
    combine(f1, f1, f0, kPlus, Engine::GpSimd);
    combine(r3, r3, h1, kMinus, Engine::Vector);
    combine(keep(four, 2), h2, g2, kPlus, Engine::GpSimd);
    combine(g1, h1, g1, kPlus, Engine::GpSimd);
    combine(keep(four, 1), g1, u1, kPlus, Engine::GpSimd);
    combine(r3, f1, r3, kPlus, Engine::Vector);
    take(0, r3, 0);
    return four;
  }

  // One tile of limbs, the modulus, and where its first number lies.
  struct Task { Access four; Affine i, row, column; };

  // Tiles for the work of one task at a time, as wide as the widest.
  struct Slot { Access top, lower, sum[2], quotient[2], residue; };

  // Residues of several tiles, a group at a time: the sums of one group, then the quotients of the group before it, so that no
  // engine waits for another. Every other task leaves one more step to Scalar and GpSimd, which evens their load out.
  void residues(const std::vector<Task>& tasks, const Access& out) {
    const auto count = static_cast<std::int64_t>(tasks.size());
    std::vector<Slot> slots;
    for (std::int64_t t = 0; t < std::min(kGroup, count); ++t) {
      const auto tile = [&](const char* name, DType dtype) { return b_.sbuf(name, tasks.front().four.partitions, {tasks.front().four.dims[1].size}, dtype); };
      const auto real = [&](const char* name) { return tile(name, DType::Float32); };
      Slot slot{real("c3"), real("c1"), {real("c"), {}}, {tile("q", DType::Int32), {}}, tile("residue", DType::BFloat16)};
      if (count > kGroup) slot.sum[1] = real("c"), slot.quotient[1] = tile("q", DType::Int32);
      slots.push_back(slot);
    }
    struct Operands { const Task& task; Access top, lower, sum; };
    const auto operands = [&](std::int64_t t) {
      const Task& task = tasks[static_cast<std::size_t>(t)];
      const Slot& slot = slots[static_cast<std::size_t>(t % kGroup)];
      const Slice rows = ds(0, task.four.partitions);
      return Operands{task, slot.top(rows, all), slot.lower(rows, all), slot.sum[t / kGroup % 2](rows, all)};
    };
    const auto limb = [&](const Task& task, std::int64_t l) { return drop(task.four(all, ds(l, 1), all), 0); };
    const auto shares = [](std::int64_t t) { return t % 2 == 1; };
    const auto begin = [&](std::int64_t t) {
      const auto [task, top, lower, sum] = operands(t);
      b_.activation(top, ActFunction::Copy, limb(task, 3), {.scale = constant(kC3, task.i, top.partitions)});
      if (!shares(t)) return;
      b_.activation(lower, ActFunction::Copy, limb(task, 1), {.scale = constant(kC1, task.i, top.partitions)});
      b_.tensor_tensor(lower, lower, limb(task, 0), AluOp::Add, Engine::GpSimd);
    };
    const auto add = [&](std::int64_t t) {
      const auto [task, top, lower, sum] = operands(t);
      if (!shares(t)) b_.scalar_tensor_tensor(lower, limb(task, 1), AluOp::Multiply, constant(kC1, task.i, top.partitions), AluOp::Add, limb(task, 0));
      b_.scalar_tensor_tensor(lower, limb(task, 2), AluOp::Multiply, constant(kC2, task.i, top.partitions), AluOp::Add, lower);
      b_.tensor_tensor(sum, lower, top, AluOp::Add, Engine::GpSimd);
    };
    const auto quotient = [&](std::int64_t t) {
      const Slot& slot = slots[static_cast<std::size_t>(t % kGroup)];
      const Task& task = tasks[static_cast<std::size_t>(t)];
      const Slice rows = ds(0, task.four.partitions);
      divide(slot.quotient[t / kGroup % 2](rows, all), slot.sum[t / kGroup % 2](rows, all), task.i);
    };
    const auto finish = [&](std::int64_t t) {
      const Task& task = tasks[static_cast<std::size_t>(t)];
      const Slot& slot = slots[static_cast<std::size_t>(t % kGroup)];
      const std::int64_t rows = task.four.partitions;
      const Access residue = slot.residue(ds(0, rows), all);
      subtract(residue, slot.sum[t / kGroup % 2](ds(0, rows), all), slot.quotient[t / kGroup % 2](ds(0, rows), all), task.i);
      b_.dma_copy(drop(out(ds(task.i, 1), ds(task.row, rows), ds(task.column, task.four.dims[1].size)), 0), residue);
    };
    const auto each = [&](std::int64_t first, const auto& step) {
      for (std::int64_t t = std::max<std::int64_t>(0, first); t < std::min(first + kGroup, count); ++t) step(t);
    };
    for (std::int64_t first = 0; first < count + kGroup; first += kGroup) {
      each(first, begin);
      each(first, [&](std::int64_t t) { if (!shares(t)) add(t); });
      each(first, [&](std::int64_t t) { if (shares(t)) add(t); });
      each(first - kGroup, quotient);
      each(first - kGroup, finish);
    }
  }

  // Residues of one tile modulo every p.
  void residues_of(const Access& four, const Access& out, const Affine& row, const Affine& column) {
    std::vector<Task> tasks;
    for (std::int64_t i = 0; i < s_.moduli; ++i) tasks.push_back({four, i, row, column});
    residues(tasks, out);
  }

  // Residues of A modulo p_i: columns [k0, k0 + columns) of a block row, from the limbs in scratch. Their loads have a ring of
  // their own.
  void prepare(const Affine& i, const Rows& block, const Affine& k0, std::int64_t columns, std::int64_t buffers = 1) {
    for_blocks(b_, "k", columns, kResidueColumns, LoopKind::Parallel, [&](const Affine& k1, std::int64_t width) {
      std::vector<Task> tasks;
      for (std::int64_t r1 = 0; r1 < block.count; r1 += side_) {
        const std::int64_t rows = std::min(side_, block.count - r1);
        const Affine row = block.first + r1, column = k0 + k1;
        const Access four = b_.sbuf("four", rows, {4, width}, DType::Float32, buffers);
        b_.dma_copy(four, a_limbs_(all, ds(row, rows), ds(column, width)).permute({1, 0, 2}), {.dge = DgeMode::Static});
        tasks.push_back({four, i, row, column});
      }
      residues(tasks, a_residues_);
    });
  }

  // round(x / p), at most 2^18: the Scalar Engine multiplies by 1/p, and storing an int32 rounds to nearest.
  void divide(const Access& q, const Access& x, const Affine& i) {
    b_.activation(q, ActFunction::Copy, x, {.scale = constant(kInverse, i, x.partitions)});
  }
  // dst = x - p q
  void subtract(const Access& dst, const Access& x, const Access& q, const Affine& i) {
    b_.scalar_tensor_tensor(dst, q, AluOp::Multiply, constant(kMinusP, i, x.partitions), AluOp::Add, x);
  }

  // dst (128, tiles, rows) <- residues of rows [r0, r0 + rows), tiles [first, first + tiles) of k; the last tile of all may be
  // shorter.
  void load(const Access& dst, const Access& from, const Affine& i, const Affine& r0, std::int64_t rows, const Affine& first, std::int64_t tiles) {
    const Access plane = drop(from(ds(i, 1), all, all), 0);
    const std::int64_t rest = short_tile(first, tiles), whole = tiles - (rest > 0 ? 1 : 0);
    if (whole > 0) {
      const Access src = plane(ds(r0, rows), ds(first * side_, whole * side_)).split(1, side_);  // (rows, tiles, 128)
      b_.dma_transpose(dst(all, ds(0, whole), all), src);
    }
    if (rest > 0) {
      const Access src = plane(ds(r0, rows), ds((first + whole) * side_, rest)).split(1, rest);
      b_.dma_transpose(dst(ds(0, rest), ds(whole, 1), all), src);
    }
  }

  // The depth of the last of these tiles when it is the short one at the end of k, else 0.
  std::int64_t short_tile(const Affine& first, std::int64_t tiles) const {
    return first.is_constant() && first.constant() + tiles == k_tiles_ ? depth_ % side_ : 0;
  }

  // digits = A(block row) B mod p_i. The residues of the next block row are made in steps between the blocks.
  void product(const Affine& i, const Rows& rows, const std::optional<Rows>& next) {
    const std::int64_t shared = next ? std::min(s_.n / bank_, depth_ / kResidueColumns) : 0;
    const Access panel = b_.sbuf("a_panel", std::min(side_, depth_), {k_tiles_, rows.count}, DType::BFloat16, panel_buffers_);
    load(panel, a_residues_, i, rows.first, rows.count, 0, k_tiles_);
    if (next && shared * kResidueColumns < depth_) prepare(i, *next, shared * kResidueColumns, depth_ - shared * kResidueColumns);
    b_.parallel("nb", shared, [&](Affine nb) {
      prepare(i, *next, nb * kResidueColumns, kResidueColumns);
      block(panel, i, rows.first, rows.count, nb * bank_, bank_);
    });
    for_blocks(b_, "nb", s_.n - shared * bank_, bank_, LoopKind::Parallel, [&](const Affine& n0, std::int64_t columns) {
      block(panel, i, rows.first, rows.count, n0 + shared * bank_, columns);
    });
  }

  void block(const Access& panel, const Affine& i, const Affine& m0, std::int64_t rows, const Affine& n0, std::int64_t columns) {
    const std::int64_t pieces = ceil_div(rows, side_), height = std::min(rows, side_), whole = depth_ / exact::kTermsMax;
    const std::int64_t tiles = exact::kTermsMax / side_, rest = k_tiles_ - whole * tiles;
    const bool single = whole + (rest > 0 ? 1 : 0) == 1;
    const Access digits = b_.sbuf("digit", height, {pieces, columns}, DType::Int16, 2);
    if (!single) b_.memset(digits, 0, Engine::GpSimd);
    const auto chunk = [&](const Affine& first, std::int64_t count) {
      const Access b_chunk = b_.sbuf("b_chunk", std::min(side_, depth_), {count, columns}, DType::BFloat16, 2);
      load(b_chunk, b_residues_, i, n0, columns, first, count);
      const Access sums = b_.psum("sums", height, {pieces, bank_}, DType::Float32, 2);
      for (std::int64_t piece = 0; piece < pieces; ++piece) {
        multiply(drop(sums(ds(0, rows_of(piece, rows)), ds(piece, 1), ds(0, columns)), 0), panel, b_chunk, piece, rows, first, count);
      }
      // All pieces at once when they are equally high.
      const bool even = rows % side_ == 0 || pieces == 1;
      const Access quotient = b_.sbuf("quotient", height, {pieces, columns}, DType::Int32, 2);
      const Access part = single ? digits : b_.sbuf("part", height, {pieces, columns}, DType::Int16, 2);
      for (std::int64_t piece = 0; piece < (even ? 1 : pieces); ++piece) {
        const auto here = [&](const Access& x) { return x(ds(0, even ? height : rows_of(piece, rows)), ds(piece, even ? pieces : 1), ds(0, columns)); };
        const Access q = here(quotient);
        divide(q, here(sums), i);
        subtract(here(part), here(sums), q, i);
        if (!single) b_.tensor_tensor(here(digits), here(digits), here(part), AluOp::Add, Engine::GpSimd);
      }
    };
    b_.sequential("kc", whole, [&](Affine c) { chunk(c * tiles, tiles); });
    if (rest > 0) chunk(Affine(whole * tiles), rest);
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const std::int64_t tall = rows_of(piece, rows);
      b_.dma_copy(drop(digits_(ds(i, 1), ds(m0 + piece * side_, tall), ds(n0, columns)), 0), drop(digits(ds(0, tall), ds(piece, 1), all), 0));
    }
  }

  std::int64_t rows_of(std::int64_t piece, std::int64_t rows) const { return std::min(side_, rows - piece * side_); }

  void multiply(const Access& sums, const Access& panel, const Access& b_chunk, std::int64_t piece, std::int64_t rows, const Affine& first,
                std::int64_t tiles) {
    const std::int64_t rest = short_tile(first, tiles);
    const auto one = [&](const Affine& t, std::int64_t deep) {
      b_.nc_matmul(sums, drop(panel(ds(0, deep), ds(t + first, 1), ds(piece * side_, rows_of(piece, rows))), 0),
                   drop(b_chunk(ds(0, deep), ds(t, 1), all), 0), {.accumulate = t});
    };
    b_.sequential("kt", tiles - (rest > 0 ? 1 : 0), [&](Affine t) { one(t, side_); });
    if (rest > 0) one(Affine(tiles - 1), rest);
  }

  static constexpr std::int64_t kLimbColumns = 1024, kResidueColumns = 512, kGroup = 4;

  ExactShape s_;
  Builder b_;
  std::int64_t side_, bank_;
  bool wide_;
  std::int64_t words_, rows_, depth_, k_tiles_, block_ = 0, panel_buffers_ = 1;
  Access digits_, a_limbs_, a_residues_, b_residues_, table_;
};

}  // namespace

tile::Program exact_program(const ExactShape& shape, const Machine& machine) {
  require(shape.m >= 1 && shape.n >= 1 && shape.k >= 1, "blas.gemm: a program needs m, n, k >= 1, got {} x {} x {}", shape.m, shape.n, shape.k);
  require(shape.moduli >= 1 && shape.moduli <= exact::kModuliMax, "blas.gemm: {} moduli; there are {}", shape.moduli, exact::kModuliMax);
  const DType real = real_of(shape.in);
  require(real == DType::Float64 || real == DType::Float32, "blas.gemm: precision 'exact' takes float64 and float32, not {}", name(shape.in));
  return ExactKernel(shape, machine).build();
}

std::vector<float> exact_table(int moduli) {
  std::vector<float> table(static_cast<std::size_t>(kTableRows * moduli));
  for (int i = 0; i < moduli; ++i) {
    const int p = exact::moduli()[static_cast<std::size_t>(i)];
    const auto at = [&](Row row) -> float& { return table[static_cast<std::size_t>(row * moduli + i)]; };
    std::int64_t power = 1;
    for (int l = 1; l <= 3; ++l) {
      power = (power << 16) % p;
      const std::int64_t balanced = 2 * power > p ? power - p : power;
      at(static_cast<Row>(kC1 + l - 1)) = std::ldexp(static_cast<float>(balanced), -16 * l);
    }
    at(kInverse) = 1.0F / static_cast<float>(p);
    at(kMinusP) = -static_cast<float>(p);
  }
  return table;
}

namespace device {

void exact_product(const Executor& executor, const ExactArgs& args) {
  const GemmArgs& g = args.g;
  std::vector<exact::Wide> row(static_cast<std::size_t>(args.columns));
  if (args.depth == 0) {
    for (std::int64_t i = 0; i < args.rows; ++i) args.sink(i, row.data());
    return;
  }
  Device& device = device_of(executor);
  const ExactShape shape{g.in, args.moduli, g.m, g.n, g.k, g.am, g.ak, g.bk, g.bn, g.conj_a, g.conj_b};
  const auto program = device.programs().get(shape, [&](const ExactShape& s) { return exact_program(s, device.machine()); });
  const bool wide = real_of(g.in) == DType::Float64;
  const auto upload = [&](std::span<const std::int32_t> shift) {
    std::vector<float> offset;
    for (const std::int32_t s : shift) offset.push_back(static_cast<float>(exact::exponent_offset(wide, s)));
    return Array<float>::from_host(executor, {static_cast<std::int64_t>(offset.size())}, offset);
  };
  const Array<float> offset_a = upload(args.shift_a), offset_b = upload(args.shift_b);
  const Array<float> table = Array<float>::from_host(executor, {kTableRows * args.moduli}, exact_table(args.moduli));
  const std::int64_t plane = args.rows * args.columns;
  const Array<std::int16_t> digits(executor, {args.moduli * plane});
  device.run(*program, std::vector<Binding>{{"a", const_cast<void*>(g.a)}, {"b", const_cast<void*>(g.b)}, {"offset_a", offset_a.data()},
                                            {"offset_b", offset_b.data()}, {"table", table.data()}, {"digits", digits.data()}});
  const std::vector<std::int16_t> host = digits.to_host();
  const exact::Chinese chinese(args.moduli);
#pragma omp parallel for firstprivate(row) if (plane > 1 << 12)
  for (std::int64_t i = 0; i < args.rows; ++i) {
    for (std::int64_t j = 0; j < args.columns; ++j) row[static_cast<std::size_t>(j)] = chinese.combine(host.data() + i * args.columns + j, plane);
    args.sink(i, row.data());
  }
}

}  // namespace device

}  // namespace trn::blas
