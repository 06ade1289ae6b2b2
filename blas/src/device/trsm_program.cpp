// trsm on the device: the program.
//
// Rows of T come in blocks of 128 (64 complex ones, as 128 real ones: diagonal_blocks.hpp), in the order they are
// solved: top down for a lower T, bottom up for an upper one; the ragged block is the last. T_t is diagonal block t,
// T_ts the block left to be multiplied by X_s.
//
//   once:        T_t^-1 for all t, four at a time, into HBM scratch; T_ts turned so that its columns are on
//                partitions, split into the mode's words, into scratch too (trsm_blocks.hpp)
//   per panel of right-hand sides, at most 1024 wide, X resident in SBUF:
//     for t:     S_t = sum_s T_ts X_s          PSUM; all but the last term is summed during step t - 1
//                R = alpha B_t - S_t
//                X' = T_t^-1 R,  D = R - T_t X',  X_t = X' + T_t^-1 D     one step of refinement with the block itself
//                V = R - T_t X_t               measured: max |V| over rows, for the bound
//
// Products with inverses alone leave residuals that grow with |T_t| |T_t^-1|; after the refinement they are those of
// substitution while that growth stays below 1/u. Zero pivots and non-finite elements of T_t are kept out of the
// products, where 0 * infinity would reach rows that do not depend on them; infinity is added afterwards to the rows
// that do (DiagonalBlocks::poison). For the same reason non-finite elements of D count as 0.
//
// The Tensor Engine never waits for the three hops through PSUM of step t: between them it sums S_(t+1) over X_0 ..
// X_(t-1), and the panel is two halves that take turns. Work per panel column and block row: t + 4 products; of 4096
// rows 624 of 128 x 128 where 528 would do.
#include <algorithm>
#include <limits>
#include <trn/core/array.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/stores.hpp>

#include "trsm_blocks.hpp"
#include "trsm_columns.hpp"
#include "trsm_kernel.hpp"
#include "views.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;
using device::entry;
using device::TriangleBlocks;
using device::word_of;
using device::Words;

namespace {

constexpr std::int64_t kChunkSlots = 3;  // loads ahead of the Tensor Engine
constexpr std::int64_t kParts = 4;       // pieces the look-ahead is cut into
constexpr std::int64_t kDiagonalSlots = 3;

class TrsmKernel {
 public:
  TrsmKernel(Builder& builder, const TrsmShape& shape, const device::TrsmOperands& operands)
      : g_(shape),
        machine_(builder.machine()),
        b_(builder),
        io_(operands),
        blocks_(builder, shape, operands.a),
        words_(blocks_.words()),
        side_(machine_.partitions),
        bank_(blocks::bank_columns(machine_)),
        steps_(blocks_.steps()),
        columns_(builder, operands.b, operands.x, is_complex(shape.dtype), shape.bm, shape.bn, shape.m > 1) {}

  void solve() {
    blocks_.prepare();
    for_blocks(b_, "panel", g_.n, panel_columns(), LoopKind::Parallel,
               [&](const Affine& c0, std::int64_t columns) { panel(c0, columns); });
  }

 private:
  struct Half {  // of a panel
    std::int64_t first, columns;
  };

  [[nodiscard]] bool measures() const { return io_.residual.present(); }

  // Columns per panel: what SBUF holds of X and of the temporaries of two halves, and no more than two banks.
  std::int64_t panel_columns() const {
    const std::int64_t word = size_bytes(words_.dtype) * words_.count;
    const std::int64_t fixed =
        kChunkSlots * TriangleBlocks::kChunk * side_ * word + kDiagonalSlots * (2 * side_ + 2) * 4 + 8192;
    const std::int64_t per_column = steps_ * word + (words_.count == 1 && words_.dtype == DType::Float32 ? 0 : 8) +
                                    columns_.bytes_per_column() + 4 * 13;
    const std::int64_t room = (machine_.sbuf_bytes_per_partition - fixed) / per_column;
    require(
        room >= 2,
        "blas.trsm: {} rows leave no room for a right-hand side in the {} bytes of a partition of {}; split the system",
        g_.m, machine_.sbuf_bytes_per_partition, machine_.name);
    // As few panels as fit, all about as wide.
    std::int64_t wide = std::min(2 * bank_, room >= 64 ? room / 64 * 64 : room);
    const std::int64_t even = ceil_div(g_.n, ceil_div(g_.n, wide));
    return std::min({wide, g_.n, ceil_div(even, 64) * 64});
  }

  static std::vector<Half> halves(std::int64_t columns, std::int64_t bank) {
    if (columns < 64) return {{0, columns}};
    const std::int64_t first = std::min(bank, ceil_div(columns, 2));
    return {{0, first}, {first, columns - first}};
  }

  void panel(const Affine& c0, std::int64_t columns) {
    halves_ = halves(columns, bank_);
    const std::int64_t tall = blocks_.tile_rows(0);
    const auto sbuf = [&](const char* name, Shape free, DType dtype = DType::Float32) {
      return b_.sbuf(name, tall, std::move(free), dtype);
    };
    x_ = b_.sbuf("x_panel", tall, {steps_, words_.count, columns}, words_.dtype);
    sums_ = b_.psum("sums", tall, {2, static_cast<std::int64_t>(halves_.size()), bank_});
    chain_ = b_.psum("chain", tall, {static_cast<std::int64_t>(halves_.size()), bank_});
    chunks_ = b_.sbuf("blocks_of_t", side_, {kChunkSlots, TriangleBlocks::kChunk, words_.count, side_}, words_.dtype);
    diagonals_ = b_.sbuf("diagonal_block", side_, {kDiagonalSlots, 2 * side_ + 2}, DType::Float32);
    rhs_ = sbuf("rhs", {columns});
    first_ = sbuf("x_first", {columns});
    rest_ = sbuf("rest", {columns});
    clean_ = sbuf("clean", {columns});
    finite_ = sbuf("finite", {columns}, DType::UInt8);
    if (split()) solution_ = sbuf("x_new", {2, columns});
    if (measures()) {
      magnitude_ = sbuf("magnitude", {columns});
      worst_ = b_.sbuf("worst", tall, {columns}, DType::Float32, 2);
      peak_ = b_.sbuf("peak", tall, {columns}, DType::Float32, 2);
      b_.memset(worst_, 0, Engine::GpSimd);
      b_.memset(peak_, 0, Engine::GpSimd);
    }
    slot_ = 0;
    columns_.begin(c0, columns, tall);
    load_step(0);
    for (std::int64_t t = 0; t < steps_; ++t) step(t);
    if (!measures()) return;
    for (const auto& [tile, to] : {std::pair(worst_, io_.residual), std::pair(peak_, io_.largest)}) {
      const Access top = b_.sbuf("over_rows", 1, {columns}, DType::Float32, 2);
      b_.tensor_partition_reduce(top, AluOp::Maximum, tile);
      b_.dma_copy(to(all, ds(c0, columns)), top);
    }
  }

  bool split() const { return words_.count > 1 || words_.dtype != DType::Float32; }

  void load_step(std::int64_t t) {
    blocks_.load_diagonal(entry(diagonals_, t % kDiagonalSlots), t);
    columns_.load(t, blocks_.start_of(t), blocks_.rows_of(t));
  }

  // S_t += sum of T_ts X_s for s in [from, to).
  void accumulate(std::int64_t t, std::int64_t from, std::int64_t to) {
    for (std::int64_t s0 = from; s0 < to; s0 += TriangleBlocks::kChunk) {
      const std::int64_t count = std::min(TriangleBlocks::kChunk, to - s0), wide = blocks_.tile_rows(t);
      const Access chunk = entry(chunks_, slot_++ % kChunkSlots)(all, ds(0, count), all, ds(0, wide));
      blocks_.load(chunk, t, s0, count);
      const auto products = static_cast<std::int64_t>(words_.products.size());
      for (std::size_t h = 0; h < halves_.size(); ++h) {
        const Access sums = sums_of(t, h);
        b_.sequential("s", count, [&](Affine s) {
          for (std::int64_t p = 0; p < products; ++p) {
            const auto [wa, wx] = words_.products[static_cast<std::size_t>(p)];
            b_.nc_matmul(sums, entry(word_of(chunk, wa), blocks_.place(s, count)),
                         piece(entry(word_of(x_, wx), s + s0), h), {.accumulate = (s + s0) * products + p});
          }
        });
      }
    }
  }

  Access sums_of(std::int64_t t, std::size_t h) const {
    return entry(entry(sums_, t % 2), static_cast<std::int64_t>(h))(ds(0, blocks_.tile_rows(t)),
                                                                    ds(0, halves_[h].columns));
  }
  // Columns of half h of a (P, columns) access.
  Access piece(const Access& x, std::size_t h) const { return x(all, ds(halves_[h].first, halves_[h].columns)); }

  void step(std::int64_t t) {
    const std::int64_t rows = blocks_.tile_rows(t);
    if (t + 1 < steps_) load_step(t + 1);
    if (t > 0) accumulate(t, t - 1, t);
    const Access diagonal = entry(diagonals_, t % kDiagonalSlots)(ds(0, rows));
    const Access block = diagonal(all, ds(0, rows)), inverse = diagonal(all, ds(side_, rows)),
                 scale = diagonal(all, ds(2 * side_, 1)), poison = diagonal(all, ds(2 * side_ + 1, 1));
    const auto each = [&](auto f) {
      for (std::size_t h = 0; h < halves_.size(); ++h) f(h);
    };
    const auto top = [&](const Access& x, std::size_t h) { return piece(x(ds(0, rows)), h); };
    const auto chain = [&](std::size_t h) {
      return entry(chain_, static_cast<std::int64_t>(h))(ds(0, rows), ds(0, halves_[h].columns));
    };
    const auto ahead = [&](std::int64_t part) {
      if (t + 1 < steps_) accumulate(t + 1, part * t / kParts, (part + 1) * t / kParts);
    };
    const Access right = columns_.scaled(t, rows, io_.alpha);
    each([&](std::size_t h) {
      const Access b = piece(right, h);
      if (t > 0)
        b_.tensor_tensor(top(rhs_, h), b, sums_of(t, h), AluOp::Subtract, Engine::Vector);
      else
        b_.tensor_copy(top(rhs_, h), b);
    });
    ahead(0);
    each([&](std::size_t h) {
      b_.nc_matmul(chain(h), inverse, top(rhs_, h));
      blocks::scale(b_, top(first_, h), chain(h), 1.0, Engine::Scalar);
    });
    ahead(1);
    each([&](std::size_t h) {
      b_.memset(top(clean_, h), 0, Engine::GpSimd);
      b_.nc_matmul(chain(h), block, top(first_, h));
      b_.tensor_tensor(top(rest_, h), top(rhs_, h), chain(h), AluOp::Subtract, Engine::Vector);
      b_.tensor_scalar(top(finite_, h), top(rest_, h), AluOp::Abs, 0.0,
                       {.op1 = AluOp::LessEqual,
                        .operand1 = static_cast<double>(std::numeric_limits<float>::max()),
                        .engine = Engine::Vector});
      b_.tensor_copy_predicated(top(clean_, h), top(rest_, h), top(finite_, h));
    });
    ahead(2);
    const Access x = split() ? entry(solution_, t % 2)(ds(0, rows)) : entry(word_of(x_, 0), t)(ds(0, rows));
    each([&](std::size_t h) {
      b_.nc_matmul(chain(h), inverse, top(clean_, h));
      b_.scalar_tensor_tensor(piece(x, h), top(first_, h), AluOp::Add, poison, AluOp::Add, chain(h));
      if (split())
        device::split_words(
            b_, words_, [&](std::int64_t w) { return piece(entry(word_of(x_, w), t)(ds(0, rows)), h); }, piece(x, h));
    });
    columns_.store(blocks_.start_of(t), blocks_.rows_of(t), x);
    ahead(3);
    if (!measures()) return;
    each([&](std::size_t h) {
      b_.nc_matmul(chain(h), block, piece(x, h));
      b_.tensor_tensor(top(rest_, h), top(rhs_, h), chain(h), AluOp::Subtract, Engine::Vector);
      b_.activation(top(magnitude_, h), ActFunction::Abs, top(rest_, h));
      b_.scalar_tensor_tensor(top(worst_, h), top(magnitude_, h), AluOp::Multiply, scale, AluOp::Maximum,
                              top(worst_, h));
      b_.activation(top(magnitude_, h), ActFunction::Abs, piece(x, h));
      b_.tensor_tensor(top(peak_, h), top(peak_, h), top(magnitude_, h), AluOp::Maximum, Engine::Vector);
    });
  }

  TrsmShape g_;
  const Machine& machine_;
  Builder& b_;
  device::TrsmOperands io_;
  TriangleBlocks blocks_;
  Words words_;
  std::int64_t side_, bank_, steps_;
  device::ColumnBlocks columns_;
  // of the current panel
  std::vector<Half> halves_;
  Access x_, sums_, chain_, chunks_, diagonals_, rhs_, first_, rest_, clean_, finite_, magnitude_, worst_, peak_,
      solution_;
  std::int64_t slot_ = 0;
};

}  // namespace

namespace device {

void solve_triangular(Builder& b, const TrsmShape& shape, const TrsmOperands& operands) {
  TrsmKernel(b, shape, operands).solve();
}

Access alpha_input(Builder& b, bool complex) {
  const std::int64_t planes = complex ? 2 : 1, side = b.machine().partitions;
  const Access tile = b.sbuf("alpha_tile", side, {planes}, DType::Float32);
  b.dma_copy(tile, b.input("alpha", DType::Float32, {planes}).broadcast(0, side));
  return tile;
}

void require_kernel_dtype(DType dtype, const Machine& machine, const char* operation) {
  if (dtype == DType::Float32 || dtype == DType::Complex64) return;
  fail<NotImplemented>("{}: no device kernel for {} on {}; use float32 or complex64, or the host executor", operation,
                       name(dtype), machine.name);
}

}  // namespace device

tile::Program trsm_program(const TrsmShape& shape, const Machine& machine) {
  device::require_kernel_dtype(shape.dtype, machine, "blas.trsm");
  require(shape.m >= 1 && shape.n >= 1, "blas.trsm: a program needs m, n >= 1, got {} x {}", shape.m, shape.n);
  require(shape.alpha != Factor::Zero, "blas.trsm: a program with alpha = 0 would not read A; set B to zero instead");
  Builder b("blas_trsm", machine);
  const bool complex = is_complex(shape.dtype);
  const std::int64_t planes = complex ? 2 : 1;
  const auto matrix = [&](const char* name, std::int64_t columns, std::int64_t rs, std::int64_t cs) {
    Shape extents{shape.m, columns};
    Strides strides{rs * planes, cs * planes};
    if (complex) extents.push_back(2), strides.push_back(1);
    return b.input(name, DType::Float32, extents, strides);
  };
  device::TrsmOperands io;
  io.a = matrix("a", shape.m, shape.am, shape.an);
  io.b = matrix("b", shape.n, shape.bm, shape.bn);
  if (shape.alpha == Factor::Input) io.alpha = device::alpha_input(b, complex);
  io.x = b.output_over("x", io.b);
  io.residual = b.output("residual", DType::Float32, {1, shape.n});
  io.largest = b.output("largest", DType::Float32, {1, shape.n});
  device::solve_triangular(b, shape, io);
  return tile::static_stores(b.finish());
}

}  // namespace trn::blas
