// Batched gemm on the device: one program for all products.
//
// Small products (m, k <= 128, n <= 512) go in rounds of as many as fill two PSUM banks, 16 of 64 x 64 x 64:
//
//   A (k, products, m) and B (k, products, n)   one load each in a strided batch, one per matrix in a listed one
//   sums (m, products, n)                       a matmul per product; one per bank where all share A
//   C (m, products, n)                          a bank at a time on the Vector and the Scalar Engine; one store
//
// An operand whose k is contiguous comes with its rows on partitions, as many matrices as fit into 128 on top of one
// another, and one transpose turns them all. Products are not packed into one matmul along k, although two of 64 would
// fit: that takes zeros beside each of them, and 0 * NaN of one product would reach its neighbour. A batch of 64^3 in
// fp32 moves 48 KiB per 0.5 Mflop: DMA limits it.
//
// Larger products: blocks of C of up to 384 x 1024 in six banks, chunks of A and B streamed.
#include <algorithm>
#include <trn/blas/gemm_batched_program.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/blocks/transpose.hpp>
#include <trn/tile/stores.hpp>

#include "views.hpp"
#include "words.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;
using device::entry;
using device::Words;

namespace {

// The matrices of one operand of a group: one tensor, or one for each.
class Matrices {
 public:
  Matrices() = default;
  explicit Matrices(Access batch) : batch_(std::move(batch)) {}
  explicit Matrices(std::vector<Access> list) : list_(std::move(list)) {}

  // output(number, tensor) in the place of every tensor.
  template <class Output> [[nodiscard]] Matrices over(Output output) const {
    if (list_.empty()) return Matrices(output(0, batch_));
    std::vector<Access> list;
    for (std::size_t i = 0; i < list_.size(); ++i) list.push_back(output(i, list_[i]));
    return Matrices(std::move(list));
  }
  // move(slice of products, HBM (products, x, y)) for products [p, p + count); each alone when they are listed.
  template <class Move> void visit(const Affine& p, std::int64_t count, Move move) const {
    if (list_.empty()) return move(ds(0, count), batch_(ds(p, count)));
    for (std::int64_t i = 0; i < count; ++i) {
      Access matrix = list_[static_cast<std::size_t>(p.constant() + i)];
      matrix.dims.insert(matrix.dims.begin(), {0, 1});
      move(ds(i, 1), matrix);
    }
  }
  // (x, y) of product p.
  [[nodiscard]] Access matrix(const Affine& p) const {
    if (!list_.empty()) return list_[static_cast<std::size_t>(p.constant())];
    Access m = batch_(ds(p, 1));
    m.dims.erase(m.dims.begin());
    return m;
  }

 private:
  Access batch_;
  std::vector<Access> list_;
};

class BatchKernel {
 public:
  BatchKernel(const GemmBatchedShape& shape, const Machine& machine)
      : s_(shape),
        machine_(machine),
        b_("blas_gemm_batched", machine),
        words_(device::words_of(shape.mode, "blas.gemm_batched")),
        side_(machine.partitions),
        bank_(blocks::bank_columns(machine)) {}

  Program build() {
    std::int64_t first = 0;
    for (std::size_t i = 0; i < s_.groups.size(); ++i) {
      const BatchedProducts& g = s_.groups[i];
      group(i, first);
      first += g.count;
    }
    return tile::static_stores(b_.finish());
  }

 private:
  void group(std::size_t number, std::int64_t first) {
    g_ = s_.groups[number];
    const bool multiplies = g_.k > 0 && g_.alpha != Factor::Zero;
    if (!multiplies && g_.beta == Factor::One) return;
    // Rows of C are what a store moves: where its columns are contiguous, C^T = B^T A^T is computed.
    std::string a = "a", b = "b";
    if (g_.cm == 1 && g_.cn != 1 && g_.n > 1) {
      std::swap(a, b);
      std::swap(g_.m, g_.n);
      std::swap(g_.stride_a, g_.stride_b);
      const BatchedProducts old = g_;
      g_.am = old.bn, g_.ak = old.bk, g_.bk = old.ak, g_.bn = old.am, g_.cm = old.cn, g_.cn = old.cm;
    }
    if (multiplies) {
      a_in_ = matrices(a, first, g_.m, g_.k, g_.am, g_.ak, g_.stride_a, true);
      b_in_ = matrices(b, first, g_.k, g_.n, g_.bk, g_.bn, g_.stride_b, true);
    }
    const bool continues = g_.beta != Factor::Zero;
    if (continues) c_in_ = matrices("c_in", first, g_.m, g_.n, g_.cm, g_.cn, g_.stride_c, true);
    alpha_ = multiplies ? factor("alpha", number, g_.alpha) : ScalarOrTile(0.0);
    beta_ = factor("beta", number, g_.beta);
    if (continues)
      c_ = c_in_.over([&](std::size_t i, const Access& old) {
        return b_.output_over(s_.listed ? fmt::format("c{}", first + static_cast<std::int64_t>(i)) : "c", old);
      });
    else
      c_ = matrices("c", first, g_.m, g_.n, g_.cm, g_.cn, g_.stride_c, false);
    if (!multiplies) return scale_only();
    const bool turn_a = g_.k > 1 && g_.ak == 1 && g_.am != 1, turn_b = g_.k > 1 && g_.bk == 1 && g_.bn != 1;
    if (g_.m <= side_ && g_.k <= side_ && g_.n <= bank_ && (g_.n <= side_ || !turn_b))
      small(turn_a, turn_b);
    else
      for_products(in_step(), [&](const Affine& p, std::int64_t count) {
        if (in_step() > 1) return several(p, count, turn_a, turn_b);
        large(p, turn_a, turn_b);
      });
  }

  Matrices matrices(const std::string& name, std::int64_t first, std::int64_t rows, std::int64_t columns,
                    std::int64_t rs, std::int64_t cs, std::int64_t stride, bool input) {
    const auto declare = [&](const std::string& n, Shape shape, Strides strides) {
      return input ? b_.input(n, s_.dtype, std::move(shape), std::move(strides))
                   : b_.output(n, s_.dtype, std::move(shape), std::move(strides));
    };
    if (!s_.listed) return Matrices(declare(name, {g_.count, rows, columns}, {stride, rs, cs}));
    std::vector<Access> list;
    for (std::int64_t p = 0; p < g_.count; ++p)
      list.push_back(declare(fmt::format("{}{}", name, first + p), {rows, columns}, {rs, cs}));
    return Matrices(std::move(list));
  }

  ScalarOrTile factor(const char* name, std::size_t number, Factor kind) {
    if (kind != Factor::Input) return kind == Factor::One ? 1.0 : 0.0;
    return blocks::scalar_input(b_, fmt::format("{}{}", name, number));
  }
  static ScalarOrTile top(const ScalarOrTile& factor, std::int64_t height) {
    if (const Access* tile = std::get_if<Access>(&factor)) return (*tile)(ds(0, height), all);
    return factor;
  }

  // body(p, count): a recorded loop over a strided batch; written out for a listed one, whose tensors have names of
  // their own.
  template <class Body> void for_products(std::int64_t round, Body body) {
    if (!s_.listed) return for_blocks(b_, "p", g_.count, round, LoopKind::Parallel, body);
    for (std::int64_t p = 0; p < g_.count; p += round) body(Affine(p), std::min(round, g_.count - p));
  }

  // A tile (k, words, products, x); Native keeps it as it came.
  struct Operand {
    Access tile;
    [[nodiscard]] Access word(std::int64_t w) const { return entry(tile, w); }
  };

  // (k, products, x) of an operand whose HBM is (products, k, x): permute says where k is in (products, ., .).
  Operand load(const std::string& name, const Matrices& from, const Affine& p, std::int64_t count, std::int64_t x,
               bool turned, bool x_first) {
    Access fp32;
    const bool words = words_.dtype != s_.dtype;
    Operand operand;
    operand.tile = b_.sbuf(name, g_.k, {words_.count, count, x}, words_.dtype, buffers_);
    fp32 = words ? b_.sbuf(name + "_fp32", g_.k, {count, x}, s_.dtype, buffers_) : operand.word(0);
    if (turned) {
      turn_in(name, fp32, from, p, count, x, x_first);
    } else {
      from.visit(p, count, [&](const Slice& which, const Access& hbm) {
        b_.dma_copy(fp32(all, which), x_first ? hbm.permute({2, 0, 1}) : hbm.permute({1, 0, 2}));
      });
    }
    if (words)
      device::split_words(
          b_, words_, [&](std::int64_t w) { return operand.word(w); }, fp32);
    return operand;
  }

  // Matrices with k contiguous: rows x of `stack` matrices on the partitions, one transpose for all of them.
  void turn_in(const std::string& name, const Access& dst, const Matrices& from, const Affine& p, std::int64_t count,
               std::int64_t x, bool x_first) {
    const std::int64_t stack = std::min(count, side_ / x), whole = count / stack, rest = count % stack;
    const Access raw = b_.sbuf(name + "_rows", stack * x, {whole + (rest > 0 ? 1 : 0), g_.k}, s_.dtype, buffers_);
    const auto rows_first = [&](const Access& hbm) {
      return x_first ? hbm : hbm.permute({0, 2, 1});
    };  // (products, x, k)
    if (!s_.listed) {
      from.visit(p, count, [&](const Slice&, const Access& hbm) {
        const Access rows = rows_first(hbm);
        if (whole > 0)
          b_.dma_copy(raw(all, ds(0, whole)), rows(ds(0, whole * stack)).split(0, stack).permute({1, 2, 0, 3}));
        if (rest > 0) b_.dma_copy(entry(raw, whole)(ds(0, rest * x)), rows(ds(whole * stack, rest)));
      });
    } else {
      from.visit(p, count, [&](const Slice& which, const Access& hbm) {
        const std::int64_t i = which.start.constant();
        b_.dma_copy(entry(raw, i / stack)(ds(i % stack * x, x)), rows_first(hbm));
      });
    }
    // Several transposes to a bank, then out.
    const Access flat = merged(dst);  // (k, products * x)
    const std::int64_t group = std::max<std::int64_t>(1, bank_ / (stack * x));
    const std::int64_t stacks = whole + (rest > 0 ? 1 : 0);
    for (std::int64_t f = 0; f < stacks; f += group) {
      const std::int64_t end = std::min(stacks, f + group);
      const std::int64_t columns = std::min(end * stack, count) * x - f * stack * x;
      const Access bank = b_.psum("turned", g_.k, {columns}, s_.dtype, 2);
      for (std::int64_t i = f; i < end; ++i) {
        const std::int64_t wide = (i < whole ? stack : rest) * x;
        b_.nc_transpose(bank(all, ds((i - f) * stack * x, wide)), entry(raw, i)(ds(0, wide)));
      }
      b_.tensor_copy(flat(all, ds(f * stack * x, columns)), bank);
    }
  }
  // (P, products, x), contiguous, as (P, products * x).
  static Access merged(Access x) {
    const std::int64_t n = x.free_size();
    x.dims = {{1, n}};
    return x;
  }

  void small(bool turn_a, bool turn_b) {
    const std::int64_t per_bank = std::max<std::int64_t>(1, bank_ / g_.n);
    const std::int64_t bytes = 4 * (2 + words_.count) * (g_.m + 2 * g_.n);  // of a product in all its tiles, one buffer
    const std::int64_t round =
        std::min(g_.count, std::clamp<std::int64_t>(machine_.sbuf_bytes_per_partition / (4 * bytes), 1, 2 * per_bank));
    buffers_ = 3;
    const bool share_a = !s_.listed && g_.stride_a == 0, share_b = !s_.listed && g_.stride_b == 0;
    Operand a, b;
    if (share_a) a = load("a_shared", a_in_, 0, 1, g_.m, turn_a, true);
    if (share_b) b = load("b_shared", b_in_, 0, 1, g_.n, turn_b, false);
    for_products(round, [&](const Affine& p, std::int64_t count) {
      if (!share_a) a = load("a_tile", a_in_, p, count, g_.m, turn_a, true);
      if (!share_b) b = load("b_tile", b_in_, p, count, g_.n, turn_b, false);
      const std::int64_t banks = ceil_div(count, per_bank);
      const Access sums = b_.psum("sums", g_.m, {banks, bank_}, DType::Float32, 2);
      const Access out = b_.sbuf("c_new", g_.m, {count, g_.n}, s_.dtype, buffers_);
      Access old;
      if (g_.beta != Factor::Zero) {
        old = b_.sbuf("c_old", g_.m, {count, g_.n}, s_.dtype, buffers_);
        c_in_.visit(p, count, [&](const Slice& which, const Access& hbm) {
          b_.dma_copy(old(all, which), hbm.permute({1, 0, 2}));
        });
      }
      for (std::int64_t k = 0; k < banks; ++k) {
        const std::int64_t first = k * per_bank, here = std::min(per_bank, count - first);
        const Access bank = entry(sums, k)(all, ds(0, here * g_.n));
        if (share_a && !share_b) {
          multiply(
              bank, [&](std::int64_t w) { return entry(a.word(w), 0); },
              [&](std::int64_t w) { return merged(b.word(w)(all, ds(first, here))); });
        } else {
          b_.parallel("q", here, [&](Affine q) {
            multiply(
                bank(all, ds(q * g_.n, g_.n)),
                [&](std::int64_t w) { return entry(a.word(w), share_a ? Affine(0) : q + first); },
                [&](std::int64_t w) { return entry(b.word(w), share_b ? Affine(0) : q + first); });
          });
        }
        finish(merged(out(all, ds(first, here))), bank, old.present() ? merged(old(all, ds(first, here))) : Access{},
               k);
      }
      c_.visit(p, count, [&](const Slice& which, const Access& hbm) {
        b_.dma_copy(hbm.permute({1, 0, 2}), out(all, which));
      });
    });
  }

  // The words' products of one matmul, summed in PSUM.
  template <class A, class B> void multiply(const Access& dst, A a, B b) {
    for (std::size_t i = 0; i < words_.products.size(); ++i) {
      const auto [wa, wb] = words_.products[i];
      b_.nc_matmul(dst, a(wa), b(wb), {.accumulate = static_cast<std::int64_t>(i)});
    }
  }

  // out = alpha * sums + beta * old. Without old the engines take turns.
  void finish(const Access& out, const Access& sums, const Access& old, std::int64_t turn) {
    const std::int64_t rows = out.partitions;
    if (old.present()) return blocks::scale_add(b_, out, sums, top(alpha_, rows), old, top(beta_, rows));
    blocks::scale(b_, out, sums, top(alpha_, rows), turn % 2 == 0 ? Engine::Scalar : Engine::Vector);
  }

  // One product in blocks of C.
  void large(const Affine& p, bool turn_a, bool turn_b) {
    constexpr std::int64_t kTiles = kChunkTiles;
    const Access a = a_in_.matrix(p).permute({1, 0}), b = b_in_.matrix(p);  // (k, m), (k, n)
    const std::int64_t wide = std::min<std::int64_t>(2, ceil_div(g_.n, bank_)),
                       tall = std::min<std::int64_t>((machine_.psum_banks - 2) / wide, ceil_div(g_.m, side_));
    for_blocks(b_, "mb", g_.m, tall * side_, LoopKind::Parallel, [&](const Affine& m0, std::int64_t rows) {
      for_blocks(b_, "nb", g_.n, wide * bank_, LoopKind::Parallel, [&](const Affine& n0, std::int64_t columns) {
        const blocks::Accumulator acc = blocks::accumulator(b_, "block", rows, columns);
        const auto chunk = [&](const Affine& first, std::int64_t tiles, std::int64_t depth) {
          const Access ta = chunk_of("a_chunk", a, first, tiles, depth, m0, rows, turn_a);
          const Access tb = chunk_of("b_chunk", b, first, tiles, depth, n0, columns, turn_b);
          accumulate(acc, ta, tb, first, tiles);
        };
        const std::int64_t whole = g_.k / side_, rest = g_.k % side_;
        b_.sequential("kc", whole / kTiles, [&](Affine i) { chunk(i * kTiles, kTiles, side_); });
        if (whole % kTiles > 0) chunk(Affine(whole - whole % kTiles), whole % kTiles, side_);
        if (rest > 0) chunk(Affine(whole), 1, rest);
        store(p, acc, m0, n0);
      });
    });
  }

  // The block of C at (m0, n0), piece by piece.
  void store(const Affine& p, const blocks::Accumulator& acc, const Affine& m0, const Affine& n0) {
    std::int64_t turn = 0;
    for (std::int64_t i = 0; i < acc.row_pieces(); ++i) {
      for (std::int64_t j = 0; j < acc.column_pieces(); ++j) {
        const auto here = [&](const Access& c) {
          return c(ds(m0 + i * acc.piece_rows, acc.rows_of(i)), ds(n0 + j * acc.piece_columns, acc.columns_of(j)));
        };
        const Access out = b_.sbuf("c_new", acc.rows_of(i), {acc.columns_of(j)}, s_.dtype, 2);
        Access old;
        if (g_.beta != Factor::Zero) {
          old = b_.sbuf("c_old", acc.rows_of(i), {acc.columns_of(j)}, s_.dtype, 2);
          b_.dma_copy(old, here(c_in_.matrix(p)));
        }
        finish(out, acc.piece(i, j), old, turn++);
        b_.dma_copy(here(c_.matrix(p)), out);
      }
    }
  }

  // Products of one block and one chunk of k are taken several at a time: the Tensor Engine turns the operands of all
  // of them before it multiplies the first, so that it need not wait for what it has turned to leave PSUM.
  std::int64_t in_step() const {
    const std::int64_t pieces = ceil_div(g_.m, side_) * ceil_div(g_.n, bank_);
    const bool fits = g_.k <= kChunkTiles * side_ && g_.k % side_ == 0;
    return fits ? std::clamp<std::int64_t>((machine_.psum_banks - 2) / pieces, 1, kInStep) : 1;
  }
  void several(const Affine& p, std::int64_t count, bool turn_a, bool turn_b) {
    const std::int64_t tiles = g_.k / side_;
    std::vector<Access> a, b;
    for (std::int64_t i = 0; i < count; ++i) {
      a.push_back(chunk_of("a_chunk", a_in_.matrix(p + i).permute({1, 0}), 0, tiles, side_, 0, g_.m, turn_a));
      b.push_back(chunk_of("b_chunk", b_in_.matrix(p + i), 0, tiles, side_, 0, g_.n, turn_b));
    }
    for (std::int64_t i = 0; i < count; ++i) {
      const blocks::Accumulator acc = blocks::accumulator(b_, "block", g_.m, g_.n);
      accumulate(acc, a[static_cast<std::size_t>(i)], b[static_cast<std::size_t>(i)], 0, tiles);
      store(p + i, acc, 0, 0);
    }
  }

  // (depth, words, tiles, x) of a (k, x) operand.
  Access chunk_of(const std::string& name, const Access& from, const Affine& first, std::int64_t tiles,
                  std::int64_t depth, const Affine& x0, std::int64_t x, bool turned) {
    const Access tile = b_.sbuf(name, depth, {words_.count, tiles, x}, words_.dtype, 2);
    const bool words = words_.dtype != s_.dtype;
    const Access fp32 = words ? b_.sbuf(name + "_fp32", depth, {tiles, x}, s_.dtype, 2) : entry(tile, 0);
    if (turned) {
      const Access rows = from.permute({1, 0});  // (x, k)
      const Slice columns = ds(first * side_, tiles * depth);
      if (x % side_ == 0) {  // one load
        const Access strips = b_.sbuf(name + "_rows", side_, {x / side_, tiles * depth}, s_.dtype, 2);
        b_.dma_copy(strips, rows(ds(x0, x), columns).split(0, side_).permute({1, 0, 2}));
        for (std::int64_t i = 0; i < x / side_; ++i)
          blocks::transpose_pieces(b_, fp32(all, all, ds(i * side_, side_)), entry(strips, i), 1);
      } else
        for_blocks(b_, "xt", x, side_, LoopKind::Parallel, [&](const Affine& x1, std::int64_t height) {
          const Access strip = b_.sbuf(name + "_rows", height, {tiles * depth}, s_.dtype, 2);
          b_.dma_copy(strip, rows(ds(x0 + x1, height), columns));
          blocks::transpose_pieces(b_, fp32(all, all, ds(x1, height)), strip, 1);
        });
    } else {
      b_.dma_copy(fp32, from(ds(first * side_, tiles * depth), ds(x0, x)).split(0, depth).permute({1, 0, 2}));
    }
    if (words)
      device::split_words(
          b_, words_, [&](std::int64_t w) { return entry(tile, w); }, fp32);
    return tile;
  }

  void accumulate(const blocks::Accumulator& acc, const Access& a, const Access& b, const Affine& first,
                  std::int64_t tiles) {
    const auto products = static_cast<std::int64_t>(words_.products.size());
    for (std::int64_t i = 0; i < acc.row_pieces(); ++i) {
      for (std::int64_t j = 0; j < acc.column_pieces(); ++j) {
        b_.sequential("k", tiles, [&](Affine t) {
          for (std::int64_t q = 0; q < products; ++q) {
            const auto [wa, wb] = words_.products[static_cast<std::size_t>(q)];
            b_.nc_matmul(acc.piece(i, j), entry(entry(a, wa), t)(all, ds(i * acc.piece_rows, acc.rows_of(i))),
                         entry(entry(b, wb), t)(all, ds(j * acc.piece_columns, acc.columns_of(j))),
                         {.accumulate = (first + t) * products + q});
          }
        });
      }
    }
  }

  // C_p = beta C_p.
  void scale_only() {
    constexpr std::int64_t kColumns = 4096;
    for_products(1, [&](const Affine& p, std::int64_t) {
      for_blocks(b_, "mb", g_.m, side_, LoopKind::Parallel, [&](const Affine& m0, std::int64_t rows) {
        for_blocks(b_, "nb", g_.n, kColumns, LoopKind::Parallel, [&](const Affine& n0, std::int64_t columns) {
          const Access t = b_.sbuf("t", rows, {columns}, s_.dtype, 2);
          if (g_.beta == Factor::Zero) {
            b_.memset(t, 0);
          } else {
            b_.dma_copy(t, c_in_.matrix(p)(ds(m0, rows), ds(n0, columns)));
            b_.tensor_scalar(t, t, AluOp::Multiply, top(beta_, rows));
          }
          b_.dma_copy(c_.matrix(p)(ds(m0, rows), ds(n0, columns)), t);
        });
      });
    });
  }

  static constexpr std::int64_t kChunkTiles = 4;  // of k in a chunk
  static constexpr std::int64_t kInStep = 3;

  const GemmBatchedShape& s_;
  const Machine& machine_;
  Builder b_;
  Words words_;
  std::int64_t side_, bank_, buffers_ = 3;
  BatchedProducts g_;  // the current group, transposed where need be
  Matrices a_in_, b_in_, c_in_, c_;
  ScalarOrTile alpha_ = 1.0, beta_ = 0.0;
};

}  // namespace

tile::Program gemm_batched_program(const GemmBatchedShape& shape, const Machine& machine) {
  if (shape.dtype != DType::Float32) {
    fail<NotImplemented>("blas.gemm_batched: no device kernel for {} on {}; use float32, or the host executor",
                         name(shape.dtype), machine.name);
  }
  require(shape.listed || shape.groups.size() == 1, "blas.gemm_batched: a strided program has one group, got {}",
          shape.groups.size());
  for (const BatchedProducts& g : shape.groups) {
    require(g.m >= 1 && g.n >= 1 && g.k >= 0 && g.count >= 1,
            "blas.gemm_batched: a program needs m, n, count >= 1 and k >= 0, got {} of {} x {} x {}", g.count, g.m, g.n,
            g.k);
  }
  return BatchKernel(shape, machine).build();
}

}  // namespace trn::blas
