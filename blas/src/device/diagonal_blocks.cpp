// The inverse of triangular blocks: see diagonal_blocks.hpp.
//
// The work is done on Lw, lower triangular: T itself, or T^H for an upper T. Wl = Lw^T has columns of Lw on partitions.
// With M the inverse of Lw, Y = M^T is what forward substitution leaves when each partition computes one column of M:
//
//   (I + N) M = D^-1, D = diag(Lw), N = D^-1 Lw - I:   Y(c, i) -= N(i, j) Y(c, j)   for j = 0, 1, ..., i > j
//
// N(., j) has to be on every partition: a core of 16 x 16 is broadcast to the 16 partitions of its columns by the load.
// Doubling from blocks of s to 2 s, with C the part of Lw that joins them and M, Y the block diagonal inverses so far:
//
//   P = C M,  M <- M - M P,  Y <- Y - P^T Y
//
// Engines: Vector substitutes and leaves PSUM; GpSimd masks; Tensor multiplies and turns.
#include "diagonal_blocks.hpp"

#include <algorithm>
#include <limits>
#include <trn/core/error.hpp>

#include "views.hpp"

namespace trn::blas::device {

using namespace trn::tile;

namespace {

constexpr std::int64_t kCore = 16;
constexpr double kLargest = std::numeric_limits<float>::max();
constexpr double kSmallest = 0x1p-126;  // keeps 1 / (largest element of a row) finite

class Inverter {
 public:
  Inverter(Builder& b, const TriangleLayout& layout, std::span<const Access> blocks, std::int64_t order)
      : b_(b),
        t_(layout),
        blocks_(blocks),
        order_(order),
        count_(static_cast<std::int64_t>(blocks.size())),
        side_(block_side(b.machine(), layout.complex, order)),
        planes_(layout.complex ? 2 : 1),
        half_(side_ / planes_),
        cores_(half_ / kCore) {
    // Lw(r, c) = T(r, c), or conj(T(c, r)).
    row_ = t_.lower ? t_.row_stride : t_.column_stride;
    column_ = t_.lower ? t_.column_stride : t_.row_stride;
    conj_ = t_.conj != (t_.complex && !t_.lower);
    turned_ = order > 1 && row_ != 1 && column_ == 1;
    // Equally spaced blocks are loaded together.
    if (count_ == 1) return;
    const Affine step = blocks[1].offset - blocks[0].offset;
    together_ = step.is_constant() && step.constant() > 0;
    for (std::size_t i = 1; i < blocks.size(); ++i)
      together_ = together_ && blocks[i].id == blocks[0].id && blocks[i].offset - blocks[i - 1].offset == step;
    spacing_ = together_ ? step.constant() : 0;
  }

  DiagonalBlocks run() {
    load_triangles();
    substitute();
    double_up();
    DiagonalBlocks result;
    result.turned = t_.lower ? wl_ : lw_;
    result.inverse = t_.lower ? y_ : m_;
    const Access largest = row_maximum(t_.lower ? lw_ : wl_);
    result.poison = poison(largest);
    result.row_scale = tile("row_scale", {count_, 1});
    b_.tensor_scalar(result.row_scale, largest, AluOp::Maximum, kSmallest, {.engine = Engine::Vector});
    b_.reciprocal(result.row_scale, result.row_scale);
    return result;
  }

 private:
  Access tile(const std::string& name, Shape free) { return b_.sbuf(name, side_, std::move(free), DType::Float32, 2); }
  Access half_tile(const std::string& name, Shape free) {
    return b_.sbuf(name, half_, std::move(free), DType::Float32, 2);
  }

  // HBM elements of one block, or of all when they are loaded together: `across` go to partitions, then the blocks,
  // then `along`. Strides count elements of T; `first` is a row of the diagonal.
  Access pattern(std::int64_t block, std::vector<Dim> across, const std::vector<Dim>& along,
                 std::int64_t first = 0) const {
    Access a = blocks_[static_cast<std::size_t>(block)];
    a.offset = a.offset + first * (row_ + column_) * planes_;
    a.dims.clear();
    for (const Dim& d : across) a.dims.push_back({d.stride * planes_, d.size});
    if (together_) a.dims.push_back({spacing_, count_});
    for (const Dim& d : along) a.dims.push_back({d.stride * planes_, d.size});
    if (t_.complex) a.dims.push_back({1, 2});
    return a;
  }
  // load(block, tile of that block), or once for all of them.
  template <class Load> void for_loads(const Access& tile, Load load) const {
    if (together_) return load(0, tile);
    for (std::int64_t i = 0; i < count_; ++i) load(i, entry(tile, i));
  }
  // (partitions, blocks where they are together, x, y[, 2]).
  Access part(const Access& tile, const Slice& partitions, const Slice& x, const Slice& y) const {
    return together_ ? tile.slice({partitions, all, x, y}) : tile.slice({partitions, x, y});
  }

  // dst (c, blocks, r) = src (r, blocks, c) for square blocks of `n`.
  void turn(const Access& dst, const Access& src, std::int64_t n) {
    const Access bank = b_.psum("turned", n, {count_, n}, DType::Float32, 2);
    for (std::int64_t i = 0; i < count_; ++i) b_.nc_transpose(entry(bank, i), entry(src, i));
    b_.tensor_copy(dst, bank);
  }

  // Wl and Lw, zeros outside the triangle.
  void load_triangles() {
    wl_ = tile("wl", {count_, side_});
    lw_ = tile("lw", {count_, side_});
    const Access raw = half_tile("raw", t_.complex ? Shape{count_, half_, 2} : Shape{count_, half_});
    if (order_ < half_) b_.memset(raw, 0);
    for_loads(raw, [&](std::int64_t i, const Access& to) {
      const Dim r{row_, order_}, c{column_, order_};
      const Slice square = ds(0, order_);
      const Access here = together_ ? to(square, all, square) : to(square, square);
      b_.dma_copy(here, turned_ ? pattern(i, {r}, {c}) : pattern(i, {c}, {r}));
    });
    // r - c >= 0 keeps an element (> 0 when the diagonal is not read).
    const std::int64_t step = turned_ ? -1 : 1;
    std::vector<Dim> affine{{0, count_}, {step, half_}};
    if (t_.complex) affine.push_back({0, 2});
    b_.affine_select(raw, affine, 0, -step, t_.unit ? AluOp::Greater : AluOp::GreaterEqual, raw, 0);
    const auto plane = [&](const Access& x, std::int64_t p) {  // (half, count, half) of an interleaved tile
      Access one = x(all, all, all, ds(p, 1));
      one.dims.pop_back();
      return one;
    };
    const Access real = t_.complex ? plane(raw, 0) : raw;
    if (t_.unit) b_.affine_select(real, {{0, count_}, {step, half_}}, 0, -step, AluOp::NotEqual, real, 1);
    if (!t_.complex) {
      b_.tensor_copy(turned_ ? lw_ : wl_, raw);
    } else if (!turned_) {
      embed(b_, wl_.split(1, half_), real, plane(raw, 1), conj_);
    } else {
      const Access parts = half_tile("parts", {2, count_, half_});
      for (std::int64_t p = 0; p < 2; ++p) turn(entry(parts, p), plane(raw, p), half_);
      embed(b_, wl_.split(1, half_), entry(parts, 0), entry(parts, 1), conj_);
    }
    if (turned_ && !t_.complex)
      turn(wl_, lw_, side_);
    else
      turn(lw_, wl_, side_);
  }

  // g_(p, block, j, i) = Lw(i, j) of the core that partition p belongs to; identity beyond the order.
  void load_cores() {
    const bool rows_inner = !turned_;
    Shape free{count_, kCore, kCore};
    if (t_.complex) free.push_back(2);
    const Access memory = half_tile("cores", free);
    if (order_ < half_) {
      b_.memset(memory, 0);
      Access diagonal = memory;
      diagonal.dims = {memory.dims[0], {(kCore + 1) * planes_, kCore}};
      b_.memset(diagonal, 1);
    }
    const std::int64_t whole = order_ / kCore, rest = order_ % kCore;
    const std::int64_t x = rows_inner ? column_ : row_, y = rows_inner ? row_ : column_;
    for_loads(memory, [&](std::int64_t i, const Access& to) {
      if (whole > 0) {
        b_.dma_copy(part(to, ds(0, whole * kCore), all, all),
                    pattern(i, {{kCore * (row_ + column_), whole}, {0, kCore}}, {{x, kCore}, {y, kCore}}));
      }
      if (rest > 0) {
        b_.dma_copy(part(to, ds(whole * kCore, kCore), ds(0, rest), ds(0, rest)),
                    pattern(i, {{0, kCore}}, {{x, rest}, {y, rest}}, whole * kCore));
      }
    });
    for (std::int64_t p = 0; p < planes_; ++p) {
      Access g = memory;
      g.offset = g.offset + p;
      g.dims.resize(3);
      cores_of_[p] = rows_inner ? g : g.permute({0, 2, 1});
      diagonal_[p] = g;
      diagonal_[p].dims = {g.dims[0], {(kCore + 1) * planes_, kCore}};
    }
  }

  // dinv_ (half, blocks, 16) = 1 / diagonal; nn_ (half, blocks, j, i) = -N(i, j).
  void scale_rows() {
    for (std::int64_t p = 0; p < planes_; ++p) {
      dinv_[p] = half_tile("dinv", {count_, kCore});
      nn_[p] = half_tile("nn", {count_, kCore, kCore});
    }
    const double imaginary = conj_ ? -1 : 1;
    if (t_.unit) {
      b_.memset(dinv_[0], 1);
      b_.tensor_scalar(nn_[0], cores_of_[0], AluOp::Multiply, -1.0, {.engine = Engine::Vector});
      if (t_.complex) {
        b_.memset(dinv_[1], 0);
        b_.tensor_scalar(nn_[1], cores_of_[1], AluOp::Multiply, -imaginary, {.engine = Engine::Vector});
      }
      return;
    }
    const auto along_rows = [](const Access& d) { return d.broadcast(1, kCore); };
    if (!t_.complex) {
      b_.reciprocal(dinv_[0], diagonal_[0]);
      b_.scalar_tensor_tensor(nn_[0], cores_of_[0], AluOp::Multiply, -1.0, AluOp::Multiply, along_rows(dinv_[0]));
      return;
    }
    // 1 / (x + iy) with s = max(|x|, |y|), so that squares neither overflow nor vanish: (x/s - iy/s) / (s ((x/s)^2 +
    // (y/s)^2)).
    const auto temporary = [&](const char* name) { return half_tile(name, {count_, kCore}); };
    const Access s = temporary("largest_part"), x = temporary("x"), y = temporary("y"), q = temporary("q");
    b_.tensor_scalar(x, diagonal_[0], AluOp::Abs, 0.0, {.engine = Engine::Vector});
    b_.tensor_scalar(y, diagonal_[1], AluOp::Abs, 0.0, {.engine = Engine::Vector});
    b_.tensor_tensor(s, x, y, AluOp::Maximum);
    b_.reciprocal(s, s);
    b_.tensor_tensor(x, diagonal_[0], s, AluOp::Multiply);
    b_.tensor_tensor(y, diagonal_[1], s, AluOp::Multiply);
    b_.tensor_tensor(q, x, x, AluOp::Multiply);
    const Access q2 = temporary("q2");
    b_.tensor_tensor(q2, y, y, AluOp::Multiply);
    b_.tensor_tensor(q, q, q2, AluOp::Add);
    b_.reciprocal(q, q);
    b_.tensor_tensor(q, q, s, AluOp::Multiply);
    b_.tensor_tensor(dinv_[0], x, q, AluOp::Multiply);
    b_.scalar_tensor_tensor(dinv_[1], y, AluOp::Multiply, -imaginary, AluOp::Multiply, q);
    // -(g d): the sign of g's imaginary part is that of conj.
    const Access u = half_tile("u", {count_, kCore, kCore}), v = half_tile("v", {count_, kCore, kCore});
    b_.scalar_tensor_tensor(u, cores_of_[0], AluOp::Multiply, -1.0, AluOp::Multiply, along_rows(dinv_[0]));
    b_.scalar_tensor_tensor(v, cores_of_[1], AluOp::Multiply, imaginary, AluOp::Multiply, along_rows(dinv_[1]));
    b_.tensor_tensor(nn_[0], u, v, AluOp::Add);
    b_.scalar_tensor_tensor(u, cores_of_[0], AluOp::Multiply, -1.0, AluOp::Multiply, along_rows(dinv_[1]));
    b_.scalar_tensor_tensor(v, cores_of_[1], AluOp::Multiply, -imaginary, AluOp::Multiply, along_rows(dinv_[0]));
    b_.tensor_tensor(nn_[1], u, v, AluOp::Add);
  }

  // y (half, blocks, i > j) += sign n(i, j) y_j.
  void eliminate(const Access& y, const Access& n, const Access& y_j, AluOp sign) {
    if (count_ == 1 && sign == AluOp::Add) {
      const Access factor = drop(y_j);
      return b_.scalar_tensor_tensor(y, n, AluOp::Multiply, factor, AluOp::Add, y);
    }
    const Access product = half_tile("product", {count_, y.dims.back().size});
    b_.tensor_tensor(product, n, drop(y_j).broadcast(1, y.dims.back().size), AluOp::Multiply, Engine::Vector);
    b_.tensor_tensor(y, y, product, sign, Engine::Vector);
  }
  // (P, blocks, 1) -> (P, blocks).
  static Access drop(Access x) {
    x.dims.pop_back();
    return x;
  }

  void substitute() {
    load_cores();
    scale_rows();
    Access y[2];
    for (std::int64_t p = 0; p < planes_; ++p) {
      // D^-1 where the partition's own column is: partition - 16 core - i = 0.
      const Access start = half_tile("start", {count_, cores_, kCore});
      b_.affine_select(start, {{0, count_}, {-kCore, cores_}, {-1, kCore}}, 0, 1, AluOp::Equal,
                       dinv_[p].broadcast(1, cores_), 0);
      y[p] = half_tile("y", {count_, kCore});
      b_.tensor_reduce(y[p], AluOp::Add, start.permute({0, 2, 1}));
    }
    // |1 / pivot| of each partition's own row: not finite where the pivot is unusable.
    pivot_ = half_tile("pivot", {count_, 1});
    for (std::int64_t p = 0; p < planes_; ++p) {
      const Access own = half_tile("own", {count_, kCore}), largest = half_tile("own_maximum", {count_, 1});
      b_.activation(own, ActFunction::Abs, y[p]);
      b_.tensor_reduce(p == 0 ? pivot_ : largest, AluOp::Maximum, own);
      if (p > 0) b_.tensor_tensor(pivot_, pivot_, largest, AluOp::Maximum);
    }
    for (std::int64_t p = 0; p < planes_; ++p) {
      clean(y[p]);
      clean(nn_[p]);
    }
    for (std::int64_t j = 0; j + 1 < kCore; ++j) {
      const Slice below = ds(j + 1, kCore - 1 - j), here = ds(j, 1);
      const auto n = [&](std::int64_t p) {
        Access column = nn_[p](all, all, here, below);
        column.dims.erase(column.dims.begin() + 1);
        return column;
      };
      eliminate(y[0](all, all, below), n(0), y[0](all, all, here), AluOp::Add);
      if (!t_.complex) continue;
      eliminate(y[0](all, all, below), n(1), y[1](all, all, here), AluOp::Subtract);
      eliminate(y[1](all, all, below), n(0), y[1](all, all, here), AluOp::Add);
      eliminate(y[1](all, all, below), n(1), y[0](all, all, here), AluOp::Add);
    }
    // Block diagonal: core q of the free dimension holds the partitions 16 q .. 16 q + 15.
    y_ = tile("y_t", {count_, side_});
    Access wide[2];
    for (std::int64_t p = 0; p < planes_; ++p) {
      wide[p] = t_.complex ? half_tile("wide", {count_, half_}) : y_;
      const Access w = wide[p].split(1, kCore);
      b_.affine_select(w, {{0, count_}, {-kCore, cores_}, {0, kCore}}, 0, 1, AluOp::GreaterEqual,
                       y[p].broadcast(1, cores_), 0);
      b_.affine_select(w, {{0, count_}, {kCore, cores_}, {0, kCore}}, kCore - 1, -1, AluOp::GreaterEqual, w, 0);
    }
    if (t_.complex) embed(b_, y_.split(1, half_), wide[0], wide[1], false);
    if (t_.lower && half_ <= kCore) return;  // nobody reads M
    m_ = tile("m", {count_, side_});
    turn(m_, y_, side_);
  }

  void double_up() {
    const Access joins = tile("joins", {count_, side_});
    for (std::int64_t s = kCore; s < half_; s *= 2) {
      // [c, r] of C: rows in the second half of a block of 2 s, columns in the first half of the same block.
      const std::int64_t pairs = half_ / (2 * s);
      const auto second = [&](const Access& x, std::int64_t plane) {  // (half, blocks * planes, pairs, s)
        Access part = x(ds(plane * half_, half_));
        part.offset = part.offset + s;
        part.dims = {{half_, count_ * planes_}, {2 * s, pairs}, {1, s}};
        return part;
      };
      b_.memset(joins, 0);
      for (std::int64_t plane = 0; plane < planes_; ++plane) {
        const Access to = second(joins, plane);
        b_.affine_select(to, {{0, count_ * planes_}, {-2 * s, pairs}, {0, s}}, 0, 1, AluOp::GreaterEqual,
                         second(wl_, plane), 0);
        b_.affine_select(to, {{0, count_ * planes_}, {2 * s, pairs}, {0, s}}, s - 1, -1, AluOp::GreaterEqual, to, 0);
      }
      const bool last = 2 * s == half_;
      const auto product = [&](const char* name, const Access& stationary, const Access& moving) {
        const Access sums = b_.psum(name, side_, {count_, side_});
        for (std::int64_t i = 0; i < count_; ++i) b_.nc_matmul(entry(sums, i), entry(stationary, i), entry(moving, i));
        return sums;
      };
      clean(joins);
      const Access p = tile("p", {count_, side_});
      b_.tensor_copy(p, product("p_sums", joins, m_));
      Access mp, pty;
      if (!last || !t_.lower) mp = product("mp_sums", y_, p);
      if (!last || t_.lower) pty = product("pty_sums", p, y_);
      if (mp.present()) b_.tensor_tensor(m_, m_, mp, AluOp::Subtract, Engine::Vector);
      if (pty.present()) b_.tensor_tensor(y_, y_, pty, AluOp::Subtract, Engine::Vector);
    }
  }

  // max |row| of `rows` (row of T on partitions).
  Access row_maximum(const Access& rows) {
    const Access magnitude = tile("magnitude", {count_, side_}), largest = tile("row_maximum", {count_, 1});
    b_.activation(magnitude, ActFunction::Abs, rows);
    b_.tensor_reduce(largest, AluOp::Maximum, magnitude);
    return largest;
  }

  // Infinity in the rows from the first bad one on, in the order of solution. How many bad rows come before is a
  // product with ones.
  Access poison(const Access& largest) {
    const Access bad = tile("bad", {count_, 1}), before = tile("before", {side_}), p = tile("poison", {count_, 1});
    for (std::int64_t half = 0; half < planes_; ++half) {  // pivot_ is on the first half's partitions
      b_.tensor_tensor(bad(ds(half * half_, half_)), largest(ds(half * half_, half_)), pivot_, AluOp::Maximum);
    }
    b_.tensor_scalar(bad, bad, AluOp::LessEqual, kLargest,
                     {.op1 = AluOp::Equal, .operand1 = 0.0, .engine = Engine::Vector});
    b_.memset(before, 1);
    const std::int64_t step = t_.lower ? 1 : -1;  // keeps i - j >= 0, or <= 0
    for (std::int64_t half = 0; half < planes_; ++half) {
      const Access part = before(ds(half * half_, half_)).split(0, half_);
      b_.affine_select(part, {{0, planes_}, {step, half_}}, 0, -step, AluOp::GreaterEqual, part, 0);
    }
    const Access count = b_.psum("bad_before", side_, {count_});
    b_.nc_matmul(count, before, drop(bad));
    b_.tensor_scalar(drop(p), count, AluOp::Equal, 0.0, {.engine = Engine::Vector});  // 1 or 0
    b_.reciprocal(p, p);
    b_.tensor_scalar(p, p, AluOp::Subtract, 1.0, {.engine = Engine::Vector});
    return p;
  }

  // Non-finite elements become 0.
  void clean(const Access& x) {
    Shape free;
    for (const Dim& d : x.dims) free.push_back(d.size);
    const Access finite = b_.sbuf("finite", x.partitions, free, DType::UInt8, 2),
                 copy = b_.sbuf("copy", x.partitions, free, DType::Float32, 2);
    b_.tensor_copy(copy, x);
    b_.tensor_scalar(finite, x, AluOp::Abs, 0.0,
                     {.op1 = AluOp::LessEqual, .operand1 = kLargest, .engine = Engine::Vector});
    b_.memset(x, 0);
    b_.tensor_copy_predicated(x, copy, finite);
  }

  Builder& b_;
  TriangleLayout t_;
  std::span<const Access> blocks_;
  std::int64_t order_, count_, side_, planes_, half_, cores_;
  std::int64_t row_, column_;  // strides of Lw
  bool conj_, turned_;         // turned_: HBM has the columns of Lw contiguous
  bool together_ = false;      // the blocks are `spacing_` apart
  std::int64_t spacing_ = 0;
  Access wl_, lw_, y_, m_;
  Access cores_of_[2], diagonal_[2], dinv_[2], nn_[2], pivot_;
};

}  // namespace

std::int64_t block_side(const Machine& machine, bool complex, std::int64_t order) {
  std::int64_t side = machine.partitions;
  while (!complex && side / 2 >= std::max(kCore, order)) side /= 2;
  return side;
}

std::int64_t blocks_together(const Machine& machine, bool complex, std::int64_t order) {
  return 2 * machine.psum_bank_bytes / size_bytes(DType::Float32) / block_side(machine, complex, order);
}

DiagonalBlocks invert_diagonal(Builder& b, const TriangleLayout& layout, std::span<const Access> blocks,
                               std::int64_t order) {
  const std::int64_t most = blocks_together(b.machine(), layout.complex, order);
  ensure(!blocks.empty() && static_cast<std::int64_t>(blocks.size()) <= most && order >= 1 &&
             order <= b.machine().partitions / (layout.complex ? 2 : 1),
         "triangle inverse: {} blocks of order {}", blocks.size(), order);
  return Inverter(b, layout, blocks, order).run();
}

}  // namespace trn::blas::device
