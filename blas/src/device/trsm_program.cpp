// trsm on the device: the program.
//
// Rows of T come in blocks of 128 (64 complex ones, as 128 real ones: diagonal_blocks.hpp), in the order they are
// solved: top down for a lower T, bottom up for an upper one; the ragged block is the last. T_t is diagonal block t,
// T_ts the block left to be multiplied by X_s.
//
//   once:        T_t^-1 for all t, four at a time, into HBM scratch; T_ts turned so that its columns are on partitions,
//   split into the
//                mode's words, into scratch too (not needed in Native when memory already is that way round)
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
#include <trn/tile/blocks/warm_up.hpp>

#include "diagonal_blocks.hpp"
#include "trsm_columns.hpp"
#include "trsm_kernel.hpp"
#include "words.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;
using device::Words;

namespace {

constexpr std::int64_t kChunk = 8;       // blocks of T per load
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
        words_(device::words_of(shape.mode, "blas.trsm")),
        complex_(is_complex(shape.dtype)),
        planes_(complex_ ? 2 : 1),
        side_(machine_.partitions),
        block_(side_ / planes_),
        bank_(blocks::bank_columns(machine_)),
        steps_(ceil_div(shape.m, block_)),
        layout_{complex_, shape.lower, shape.unit, shape.conj, shape.am, shape.an},
        turned_(shape.m > 1 && shape.am != 1 && shape.an == 1),
        direct_(!complex_ && shape.mode == Mode::Native && !turned_),
        columns_(builder, operands.b, operands.x, complex_, shape.bm, shape.bn, shape.m > 1) {}

  void solve() {
    prepare_diagonal();
    if (!direct_ && steps_ > 1) prepare_blocks();
    for_blocks(b_, "panel", g_.n, panel_columns(), LoopKind::Parallel,
               [&](const Affine& c0, std::int64_t columns) { panel(c0, columns); });
  }

 private:
  struct Half {
    std::int64_t first, columns;
  };  // of a panel

  [[nodiscard]] bool measures() const { return io_.residual.present(); }

  std::int64_t rows_of(std::int64_t t) const { return std::min(block_, g_.m - t * block_); }
  // Rows of block t as they stand in PSUM: complex blocks are padded to 2 x 64.
  std::int64_t tile_rows(std::int64_t t) const { return complex_ ? side_ : rows_of(t); }
  Affine start_of(const Affine& t, std::int64_t rows) const {
    return g_.lower ? t * block_ : Affine(g_.m - rows) - t * block_;
  }
  // Blocks left of T_t by position in memory: s itself, or t - 1 - s for an upper T, whose X_0 belongs to its last
  // columns.
  std::int64_t position(std::int64_t t, std::int64_t s, std::int64_t count) const {
    return g_.lower ? s : t - s - count;
  }
  std::int64_t block_number(std::int64_t t, std::int64_t position) const { return t * (t - 1) / 2 + position; }

  // HBM access of `count` blocks of block row t from position q on, as (columns, blocks, rows[, 2]) or, by_rows, (rows,
  // blocks, columns[, 2]).
  Access blocks_of_a(std::int64_t t, const Affine& q, std::int64_t count, bool by_rows) const {
    Access v = io_.a;
    const std::int64_t rows = rows_of(t), left = g_.lower ? 0 : g_.m - t * block_;
    v.offset = v.offset + (start_of(t, rows) * g_.am + (q * block_ + left) * g_.an) * planes_;
    const Dim r{g_.am * planes_, rows}, c{g_.an * planes_, block_}, s{block_ * g_.an * planes_, count};
    v.dims = by_rows ? std::vector<Dim>{r, s, c} : std::vector<Dim>{c, s, r};
    if (complex_) v.dims.push_back({1, 2});
    return v;
  }

  // The diagonal blocks' triangles, and nothing but them, with zeros around: (blocks, lines, elements[, 2]) of scratch,
  // whole blocks by position in memory, the ragged one last. Lines are what is contiguous in A.
  void copy_diagonal() {
    const bool by_rows = g_.am != 1;
    const std::int64_t whole = g_.m / block_, rest = g_.m % block_;
    Shape shape{steps_, block_, block_};
    if (complex_) shape.push_back(2);
    triangles_ = b_.scratch("triangles", DType::Float32, shape);
    const Access zeros = b_.sbuf("zeros", block_, {block_ * planes_}, DType::Float32);
    b_.memset(zeros, 0);
    const Access lines = complex_ ? triangles_.permute({1, 0, 2, 3}) : triangles_.permute({1, 0, 2});
    b_.dma_copy(lines, zeros.broadcast(0, steps_));
    const auto copy = [&](std::int64_t first, std::int64_t count, std::int64_t start, std::int64_t order) {
      Access from = io_.a(ds(start, order), ds(start, order));
      if (!by_rows) std::swap(from.dims[0], from.dims[1]);
      from.dims.insert(from.dims.begin(), {block_ * (g_.am + g_.an) * planes_, count});
      device::copy_triangles(b_, triangles_(ds(first, count), ds(0, order), ds(0, order)), from, g_.lower == by_rows,
                             g_.unit);
    };
    if (whole > 0) copy(0, whole, g_.lower ? 0 : rest, block_);
    if (rest > 0) copy(whole, 1, g_.lower ? whole * block_ : 0, rest);
    layout_.row_stride = by_rows ? block_ : 1;
    layout_.column_stride = by_rows ? 1 : block_;
    if (!by_rows) std::swap(triangles_.dims[1], triangles_.dims[2]);  // (blocks, rows, columns[, 2])
  }

  // scratch: per block, partition by partition, [T^T | T^-T | 1 / row maximum | poison].
  void prepare_diagonal() {
    copy_diagonal();
    diagonal_ = b_.scratch("diagonal", DType::Float32, {steps_, side_, 2 * side_ + 2});
    const std::int64_t whole = g_.m / block_;
    const auto group = [&](const Affine& t0, std::int64_t count, std::int64_t rows) {
      std::vector<Access> blocks;
      for (std::int64_t i = 0; i < count; ++i) {
        const Affine number = rows < block_ ? Affine(whole) : g_.lower ? t0 + i : Affine(whole - 1 - i) - t0;
        blocks.push_back(drop(triangles_(ds(number, 1), ds(0, rows), ds(0, rows))));
      }
      const device::DiagonalBlocks d = device::invert_diagonal(b_, layout_, blocks, rows);
      const std::int64_t side = d.turned.partitions;
      const auto to = [&](std::int64_t first, std::int64_t size) {
        return diagonal_(ds(t0, count), ds(0, side), ds(first, size)).permute({1, 0, 2});
      };
      b_.dma_copy(to(0, side), d.turned);
      b_.dma_copy(to(side_, side), d.inverse);
      b_.dma_copy(to(2 * side_, 1), d.row_scale);
      b_.dma_copy(to(2 * side_ + 1, 1), d.poison);
    };
    for_blocks(b_, "diagonal_blocks", whole, 4, LoopKind::Parallel,
               [&](const Affine& t0, std::int64_t count) { group(t0, count, block_); });
    if (g_.m % block_ > 0) group(Affine(whole), 1, g_.m % block_);
  }

  // scratch: block number t (t - 1) / 2 + position as (column, word, row).
  void prepare_blocks() {
    ready_ = b_.scratch("blocks", words_.dtype, {block_number(steps_, 0), side_, words_.count, side_});
    const std::int64_t group = complex_ ? kChunk / 2 : kChunk;  // one bank of turned complex blocks has two planes
    for (std::int64_t t = 1; t < steps_; ++t) {
      for_blocks(b_, "q", t, group, LoopKind::Parallel,
                 [&](const Affine& q, std::int64_t count) { prepare_row(t, q, count); });
    }
  }

  void prepare_row(std::int64_t t, const Affine& q, std::int64_t count) {
    const std::int64_t rows = rows_of(t), wide = tile_rows(t);
    Access fp32 = b_.sbuf("blocks_fp32", side_, {count, wide}, DType::Float32, 2);
    const std::int64_t across = turned_ ? rows : block_, along = turned_ ? block_ : rows;
    const Access raw =
        b_.sbuf("blocks_raw", across, complex_ ? Shape{count, along, 2} : Shape{count, along}, DType::Float32, 2);
    b_.dma_copy(raw, blocks_of_a(t, q, count, turned_));
    const auto plane_of = [&](std::int64_t p) {
      Access one = raw;
      one.offset = one.offset + p;
      one.dims.resize(2);
      return one;
    };
    if (!complex_ && turned_) {
      for_blocks(b_, "turn", count, 4, LoopKind::Parallel, [&](const Affine& k, std::int64_t n) {
        b_.tensor_copy(fp32(all, ds(k, n), all), turn(raw(all, ds(k, n), all)));
      });
    } else if (complex_) {
      if (rows < block_) b_.memset(fp32, 0);
      const Access to = fp32.split(1, block_);
      if (turned_) {
        const Access re = turn(plane_of(0)), im = turn(plane_of(1));
        device::embed(b_, to, re, im, g_.conj);
      } else {
        device::embed(b_, to, plane_of(0), plane_of(1), g_.conj);
      }
    } else {
      fp32 = raw;
    }
    Access out = fp32;
    if (g_.mode != Mode::Native) {
      out = b_.sbuf("blocks_words", side_, {count, words_.count, wide}, words_.dtype, 2);
      device::split_words(
          b_, words_, [&](std::int64_t w) { return word(out, w); }, fp32);
    } else {
      out = out.split(1, wide);
    }
    b_.dma_copy(ready_(ds(q + block_number(t, 0), count), all, all, ds(0, wide)).permute({1, 0, 2, 3}), out);
  }

  // Word w of (P, blocks, words, columns).
  static Access word(const Access& x, std::int64_t w) {
    Access one = x(all, all, ds(w, 1));
    one.dims.erase(one.dims.begin() + 1);
    return one;
  }

  // PSUM (columns, blocks, rows) of (rows, blocks, columns): at most a bank.
  Access turn(const Access& src) {
    const std::int64_t rows = src.partitions, count = src.dims[0].size, columns = src.dims[1].size;
    const Access bank = b_.psum("turned_blocks", columns, {count, rows}, DType::Float32, 2);
    for (std::int64_t k = 0; k < count; ++k) b_.nc_transpose(one(bank, k), one(src, k));
    return bank;
  }
  // Entry k of the first free dimension.
  static Access one(const Access& x, const Affine& k) {
    Access y = x(all, ds(k, 1));
    y.dims.erase(y.dims.begin());
    return y;
  }

  // Columns per panel: what SBUF holds of X and of the temporaries of two halves, and no more than two banks.
  std::int64_t panel_columns() const {
    const std::int64_t word = size_bytes(words_.dtype) * words_.count;
    const std::int64_t fixed = kChunkSlots * kChunk * side_ * word + kDiagonalSlots * (2 * side_ + 2) * 4 + 8192;
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
    const std::int64_t tall = tile_rows(0);
    const auto sbuf = [&](const char* name, Shape free, DType dtype = DType::Float32) {
      return b_.sbuf(name, tall, std::move(free), dtype);
    };
    x_ = b_.sbuf("x_panel", tall, {steps_, words_.count, columns}, words_.dtype);
    sums_ = b_.psum("sums", tall, {2, static_cast<std::int64_t>(halves_.size()), bank_});
    chain_ = b_.psum("chain", tall, {static_cast<std::int64_t>(halves_.size()), bank_});
    chunks_ = b_.sbuf("blocks_of_t", side_, {kChunkSlots, kChunk, words_.count, side_}, words_.dtype);
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
    const std::int64_t side = device::block_side(machine_, complex_, rows_of(t));
    const Access to = one(diagonals_, t % kDiagonalSlots), from = drop(diagonal_(ds(t, 1)));
    if (side == side_) {
      b_.dma_copy(to, from);
    } else {  // a small last block
      for (const auto& [first, size] :
           {std::pair(std::int64_t(0), side), std::pair(side_, side), std::pair(2 * side_, std::int64_t(2))}) {
        b_.dma_copy(to(ds(0, side), ds(first, size)), from(ds(0, side), ds(first, size)));
      }
    }
    columns_.load(t, start_of(t, rows_of(t)), rows_of(t));
  }
  static Access drop(Access x) {
    x.dims.erase(x.dims.begin());
    return x;
  }

  // S_t += sum of T_ts X_s for s in [from, to).
  void accumulate(std::int64_t t, std::int64_t from, std::int64_t to) {
    for (std::int64_t s0 = from; s0 < to; s0 += kChunk) {
      const std::int64_t count = std::min(kChunk, to - s0), wide = tile_rows(t), q = position(t, s0, count);
      const Access chunk = one(chunks_, slot_++ % kChunkSlots)(all, ds(0, count), all, ds(0, wide));
      if (direct_)
        b_.dma_copy(word(chunk, 0), blocks_of_a(t, q, count, false));
      else
        b_.dma_copy(chunk, ready_(ds(block_number(t, q), count), all, all, ds(0, wide)).permute({1, 0, 2, 3}));
      const auto products = static_cast<std::int64_t>(words_.products.size());
      for (std::size_t h = 0; h < halves_.size(); ++h) {
        const Access sums = sums_of(t, h);
        b_.sequential("s", count, [&](Affine s) {
          for (std::int64_t p = 0; p < products; ++p) {
            const auto [wa, wx] = words_.products[static_cast<std::size_t>(p)];
            b_.nc_matmul(sums, one(word(chunk, wa), g_.lower ? s : Affine(count - 1) - s),
                         piece(one(word(x_, wx), s + s0), h), {.accumulate = (s + s0) * products + p});
          }
        });
      }
    }
  }

  Access sums_of(std::int64_t t, std::size_t h) const {
    return one(one(sums_, t % 2), static_cast<std::int64_t>(h))(ds(0, tile_rows(t)), ds(0, halves_[h].columns));
  }
  // Columns of half h of a (P, columns) access.
  Access piece(const Access& x, std::size_t h) const { return x(all, ds(halves_[h].first, halves_[h].columns)); }

  void step(std::int64_t t) {
    const std::int64_t rows = tile_rows(t);
    if (t + 1 < steps_) load_step(t + 1);
    if (t > 0) accumulate(t, t - 1, t);
    const Access diagonal = one(diagonals_, t % kDiagonalSlots)(ds(0, rows));
    const Access block = diagonal(all, ds(0, rows)), inverse = diagonal(all, ds(side_, rows)),
                 scale = diagonal(all, ds(2 * side_, 1)), poison = diagonal(all, ds(2 * side_ + 1, 1));
    const auto each = [&](auto f) {
      for (std::size_t h = 0; h < halves_.size(); ++h) f(h);
    };
    const auto top = [&](const Access& x, std::size_t h) { return piece(x(ds(0, rows)), h); };
    const auto chain = [&](std::size_t h) {
      return one(chain_, static_cast<std::int64_t>(h))(ds(0, rows), ds(0, halves_[h].columns));
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
    const Access x = split() ? one(solution_, t % 2)(ds(0, rows)) : one(word(x_, 0), t)(ds(0, rows));
    each([&](std::size_t h) {
      b_.nc_matmul(chain(h), inverse, top(clean_, h));
      b_.scalar_tensor_tensor(piece(x, h), top(first_, h), AluOp::Add, poison, AluOp::Add, chain(h));
      if (split())
        device::split_words(
            b_, words_, [&](std::int64_t w) { return piece(one(word(x_, w), t)(ds(0, rows)), h); }, piece(x, h));
    });
    columns_.store(start_of(t, rows_of(t)), rows_of(t), x);
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
  Words words_;
  bool complex_;
  std::int64_t planes_, side_, block_, bank_, steps_;
  device::TriangleLayout layout_;
  bool turned_;  // rows of T are contiguous: its blocks must be turned
  bool direct_;  // blocks of T are used as they lie in HBM
  device::ColumnBlocks columns_;
  Access triangles_, diagonal_, ready_;
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
  const auto matrix = [&](const char* name, bool input, std::int64_t columns, std::int64_t rs, std::int64_t cs) {
    Shape extents{shape.m, columns};
    Strides strides{rs * planes, cs * planes};
    if (complex) extents.push_back(2), strides.push_back(1);
    return input ? b.input(name, DType::Float32, extents, strides) : b.output(name, DType::Float32, extents, strides);
  };
  device::TrsmOperands io;
  io.a = matrix("a", true, shape.m, shape.am, shape.an);
  io.b = matrix("b", true, shape.n, shape.bm, shape.bn);
  if (shape.alpha == Factor::Input) io.alpha = device::alpha_input(b, complex);
  io.x = matrix("x", false, shape.n, shape.bm, shape.bn);
  io.residual = b.output("residual", DType::Float32, {1, shape.n});
  io.largest = b.output("largest", DType::Float32, {1, shape.n});
  blocks::warm_tensor_engine(b, 4 * machine.timing.dma_start_s);
  device::solve_triangular(b, shape, io);
  return b.finish();
}

}  // namespace trn::blas
