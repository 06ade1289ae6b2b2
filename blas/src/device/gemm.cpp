// gemm on the device: the program and its launch.
//
// The Tensor Engine multiplies a stationary (K, M) tile by a moving (K, N) tile, so both operands need k on partitions.
//
//   for each block row of C (bm rows):            A panel (k, bm) loaded once, resident in SBUF
//     for each block column (bn columns):         all PSUM banks hold one bm x bn block of sums
//       for each chunk of k:                      B chunk (k, bn) streamed, several buffers ahead
//         bm/128 * bn/512 matmuls per 128 of k
//       scale, round, store                       two engines share the eviction; the store has its own DMA ring
//
// Traffic: A once, B once per block row, C once (twice when beta != 0). With 8 banks, 128 of k cost 8 * 522 cycles of the
// Tensor Engine and 128 * bn elements of B: on trn2 in bf16, 1.74 us against 262 KB, 151 GB/s of the 416 GB/s there are.
//
// An operand whose k is the contiguous dimension must be turned: by dma_transpose where the machine does that fast (2-byte
// types on trn2 and later), otherwise on the Tensor Engine: A panel by panel on its way in, B once into HBM scratch.
#include <algorithm>
#include <limits>

#include <trn/core/array.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/blocks/transpose.hpp>
#include <trn/tile/blocks/warm_up.hpp>
#include <trn/tile/device.hpp>

#include "../kernels.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;

namespace {

// How an operand reaches SBUF with k on partitions.
enum class Route { Direct, DmaTranspose, TensorTranspose };

Route route(DType dtype, std::int64_t k_stride, std::int64_t k, std::int64_t other_stride, std::int64_t other, const Machine& machine) {
  const bool k_contiguous = k_stride == 1 && k > 1, other_contiguous = other_stride == 1 || other == 1;
  if (other_contiguous || !k_contiguous) return Route::Direct;
  return machine.dma_transpose && size_bytes(dtype) == 2 ? Route::DmaTranspose : Route::TensorTranspose;
}

struct Blocking {
  std::int64_t bm, bn;       // block of C
  std::int64_t kc;           // tiles of 128 k per chunk
  std::int64_t a_buffers;    // panels in SBUF; 0: A is streamed like B
  std::int64_t b_buffers;
};

class GemmKernel {
 public:
  GemmKernel(const GemmShape& shape, const Machine& machine)
      : g_(shape), m_(machine), b_("blas_gemm", machine), side_(machine.partitions), bank_(blocks::bank_columns(machine)),
        bytes_(size_bytes(shape.in)),
        a_route_(route(shape.in, shape.ak, shape.k, shape.am, shape.m, machine)),
        b_route_(route(shape.in, shape.bk, shape.k, shape.bn, shape.n, machine)), block_(choose_blocking()) {}

  Program build() {
    a_ = b_.input("a", g_.in, {g_.m, g_.k}, {g_.am, g_.ak}).permute({1, 0});  // (k, m)
    bm_ = b_.input("b", g_.in, {g_.k, g_.n}, {g_.bk, g_.bn});                 // (k, n)
    if (reads_c()) c_in_ = b_.input("c_in", g_.out, {g_.m, g_.n}, {g_.cm, g_.cn});
    alpha_ = factor("alpha", g_.alpha);
    beta_ = factor("beta", g_.beta);
    c_ = b_.output("c", g_.out, {g_.m, g_.n}, {g_.cm, g_.cn});
    // Worth it when there is much more work than the warm-up itself.
    if (matmuls() >= 16) blocks::warm_tensor_engine(b_, first_operand_s());
    if (b_route_ == Route::TensorTranspose) turn_b_in_hbm();
    for_blocks(b_, "mb", g_.m, block_.bm, LoopKind::Parallel, [&](const Affine& m0, std::int64_t rows) { block_row(m0, rows); });
    return b_.finish();
  }

 private:
  bool reads_c() const { return g_.beta != Factor::Zero; }

  // Full-size matmuls in the product.
  double matmuls() const {
    return static_cast<double>(g_.m) * static_cast<double>(g_.n) * static_cast<double>(g_.k) / static_cast<double>(side_ * side_ * bank_);
  }

  // A number, or a (128, 1) tile with the input's value in every partition.
  ScalarOrTile factor(const std::string& name, Factor kind) {
    if (kind != Factor::Input) return kind == Factor::One ? 1.0 : 0.0;
    return blocks::scalar_input(b_, name);
  }
  // The same for the `height` partitions of one piece.
  static ScalarOrTile top(const ScalarOrTile& factor, std::int64_t height) {
    if (const Access* tile = std::get_if<Access>(&factor)) return (*tile)(ds(0, height), all);
    return factor;
  }

  // When the first chunks of both operands have arrived.
  double first_operand_s() const {
    const Timing& t = m_.timing;
    return t.dma_start_s + t.dma_end_s + 1.5 * t.dge_hardware_s;
  }

  std::int64_t k_tiles() const { return ceil_div(g_.k, side_); }

  // The block shape whose loads keep up best: all banks, 1, 2 or 4 of them side by side. Two banks stay free where A is
  // turned on the Tensor Engine.
  Blocking choose_blocking() const {
    const std::int64_t banks = m_.psum_banks - (a_route_ == Route::TensorTranspose ? 2 : 0);
    const std::int64_t row_tiles = ceil_div(g_.m, side_), column_banks = ceil_div(g_.n, bank_);
    Blocking best{};
    double best_s = std::numeric_limits<double>::infinity();
    for (std::int64_t wide : {2, 1, 4}) {
      wide = std::min(wide, column_banks);
      const std::int64_t tall = std::min(banks / wide, row_tiles);
      const Blocking candidate = blocking(tall, std::min(banks / tall, column_banks));
      const double s = seconds_per_element(candidate);
      if (s < 0.98 * best_s) {  // a later candidate must be better, not equal
        best_s = s;
        best = candidate;
      }
    }
    return best;
  }

  // Chunks and buffers for blocks of `tall` times 128 rows and `wide` banks of columns.
  Blocking blocking(std::int64_t tall, std::int64_t wide) const {
    Blocking b{std::min(tall * side_, g_.m), std::min(wide * bank_, g_.n), 1, 0, 1};
    // Chunks long enough that a DMA moves data for as long as its descriptors take; rows that are turned on the Tensor
    // Engine are read kTurnedRowBytes at a time.
    const double worthwhile = 0.9 * m_.timing.dge_hardware_s * m_.dma_bytes_per_s();
    if (a_route_ == Route::TensorTranspose) b.kc = kTurnedRowBytes / (side_ * bytes_);
    else while (b.kc < 16 && static_cast<double>(b.kc * side_ * b.bn * bytes_) < worthwhile) b.kc *= 2;
    b.kc = std::min(b.kc, k_tiles());
    // SBUF per partition. The peeled first block column has tiles of its own; two panels are worth having only when both
    // sets fit beside them, one panel also when the sets must share (the allocator sees to that).
    const std::int64_t out = 2 * tall * b.bn * (size_bytes(g_.out) + (reads_c() ? size_bytes(g_.out) + size_bytes(DType::Float32) : 0));
    const std::int64_t staging = a_route_ == Route::TensorTranspose ? 3 * kTurnedRowBytes : 0;
    const std::int64_t a_chunk = b.kc * b.bm * bytes_, b_chunk = b.kc * b.bn * bytes_, panel = k_tiles() * b.bm * bytes_;
    const std::int64_t last = b.kc < 4 ? 2 * 4 / b.kc * b_chunk : 0;  // two buffers of a last chunk of four tiles
    const std::int64_t one_set = out + staging + last, all_bytes = m_.sbuf_bytes_per_partition;
    if (2 * panel + 2 * (one_set + 2 * b_chunk) <= all_bytes) b.a_buffers = 2;
    else if (panel + one_set + 2 * b_chunk <= all_bytes) b.a_buffers = 1;
    const std::int64_t streamed = b.a_buffers == 0 ? a_chunk + b_chunk : b_chunk;
    const std::int64_t room = all_bytes - b.a_buffers * panel;
    b.b_buffers = std::clamp<std::int64_t>((room - 2 * one_set) / 2 / streamed, std::min<std::int64_t>(2, std::max<std::int64_t>(1, (room - one_set) / streamed)), 6);
    return b;
  }

  // The slower of arithmetic and loads for one block, per element of C and unit of k. Loads count half as much again: they
  // come in bursts, with A at the start of a block row.
  double seconds_per_element(const Blocking& b) const {
    const auto bm = static_cast<double>(b.bm), bn = static_cast<double>(b.bn), bytes = static_cast<double>(bytes_);
    const auto columns_of_blocks = static_cast<double>(ceil_div(g_.n, b.bn));
    const double arithmetic = 2 / m_.tensor_flops(g_.in);
    const double a_loads = bm * bytes / (b.a_buffers > 0 ? columns_of_blocks : 1), b_loads = bn * bytes;
    return std::max(arithmetic, 1.5 * (a_loads + b_loads) / (bm * bn) / m_.dma_bytes_per_s());
  }

  // Rows of B that are turned into scratch are read this many k tiles at a time.
  static constexpr std::int64_t kRowTiles = 8;
  static constexpr std::int64_t kTurnedRowBytes = 2048;

  // `tiles` tiles of `depth` k each, from tile `first` on: depth is 128 except in the last, ragged chunk.
  struct Chunk { Affine first; std::int64_t tiles, depth; };
  std::int64_t whole_chunks() const { return (g_.k / side_ - last_tiles()) / block_.kc; }
  Chunk whole_chunk(const Affine& i) const { return {i * block_.kc, block_.kc, side_}; }
  // The last whole tiles form one chunk of at least four where there are many: multiplied piece by piece, its pieces finish
  // far enough apart for the eviction to keep up.
  std::int64_t last_tiles() const {
    const std::int64_t whole = g_.k / side_, least = block_.kc < 4 && whole >= 8 ? 4 : 0;
    return least + (whole - least) % block_.kc;
  }
  std::vector<Chunk> last_chunks() const {
    std::vector<Chunk> chunks;
    const std::int64_t whole = g_.k / side_, rest = g_.k % side_;
    if (last_tiles() > 0) chunks.push_back({Affine(whole - last_tiles()), last_tiles(), side_});
    if (rest > 0) chunks.push_back({Affine(whole), 1, rest});
    return chunks;
  }

  // dst (depth, tiles, x) from a (k, x) view of HBM.
  void load(const Access& dst, const Access& src, Route how, const Chunk& c, const Affine& x0, std::int64_t x) {
    const Access block = src(ds(c.first * side_, c.tiles * c.depth), ds(x0, x)).split(0, c.depth);  // (tiles, depth, x)
    if (how == Route::DmaTranspose) b_.dma_transpose(dst, block.permute({2, 0, 1}));  // (x, tiles, depth) -> (depth, tiles, x)
    else b_.dma_copy(dst, block.permute({1, 0, 2}));
  }

  // b (n rows of contiguous k) -> scratch (k, n).
  void turn_b_in_hbm() {
    const Access turned = b_.scratch("b_turned", g_.in, {g_.k, g_.n});
    const Access rows_of_b = bm_.permute({1, 0});  // (n, k)
    const std::int64_t wide = kRowTiles * side_;
    for_blocks(b_, "nt", g_.n, side_, LoopKind::Parallel, [&](const Affine& n0, std::int64_t columns) {
      for_blocks(b_, "kt", g_.k, wide, LoopKind::Parallel, [&](const Affine& k0, std::int64_t depth) {
        const Access rows = b_.sbuf("b_rows", columns, {depth}, g_.in, 2);
        b_.dma_copy(rows, rows_of_b(ds(n0, columns), ds(k0, depth)));
        const std::int64_t tiles = ceil_div(depth, side_), whole = depth / side_;
        const Access piece = b_.sbuf("b_piece", std::min(side_, depth), {tiles, columns}, g_.in, 2);
        blocks::transpose_pieces(b_, piece, rows);
        if (whole > 0) {
          b_.dma_copy(turned(ds(k0, whole * side_), ds(n0, columns)).split(0, side_).permute({1, 0, 2}), piece(all, ds(0, whole), all));
        }
        if (depth % side_ > 0) {
          b_.dma_copy(turned(ds(k0 + whole * side_, depth % side_), ds(n0, columns)),
                      drop(piece(ds(0, depth % side_), ds(whole, 1), all)));
        }
      });
    });
    bm_ = turned;
    b_route_ = Route::Direct;
  }

  // The free dimension of size 1 in front removed.
  static Access drop(Access access) {
    access.dims.erase(access.dims.begin());
    return access;
  }

  void block_row(const Affine& m0, std::int64_t rows) {
    Access panel;
    if (block_.a_buffers > 0) {
      panel = b_.sbuf("a_panel", std::min(side_, g_.k), {k_tiles(), rows}, g_.in, block_.a_buffers);
    }
    // The first block column also brings the panel in, chunk by chunk with B, so the first matmul waits for one chunk only.
    const std::int64_t first = std::min(block_.bn, g_.n), rest = g_.n - first;
    block_of_c(panel, panel.present(), m0, rows, Affine(0), first);
    for_blocks(b_, "nb", rest, block_.bn, LoopKind::Parallel,
               [&](const Affine& n0, std::int64_t columns) { block_of_c(panel, false, m0, rows, n0 + first, columns); });
  }

  void block_of_c(const Access& panel, bool load_panel, const Affine& m0, std::int64_t rows, const Affine& n0, std::int64_t columns) {
    const blocks::Accumulator acc = blocks::accumulator(b_, "sums", rows, columns);
    const auto part_of_panel = [&](const Chunk& c) { return panel(ds(0, c.depth), ds(c.first, c.tiles), all); };
    const auto multiply = [&](const Chunk& c, bool bring_a) {
      // Chunks outside the recorded loop come once per block: two buffers let the next block's run ahead.
      const std::int64_t buffers = c.first.is_constant() ? std::min<std::int64_t>(2, block_.b_buffers) : block_.b_buffers;
      const Access b_chunk = b_.sbuf("b_chunk", c.depth, {c.tiles, columns}, g_.in, buffers);
      load(b_chunk, bm_, b_route_, c, n0, columns);
      Access a_chunk;
      if (panel.present()) {
        a_chunk = part_of_panel(c);
      } else {
        a_chunk = b_.sbuf("a_chunk", c.depth, {c.tiles, rows}, g_.in, buffers);
      }
      if (bring_a) load_a(a_chunk, c, m0, rows);
      blocks::multiply_into(b_, acc, a_chunk, b_chunk, c.first);
    };
    if (load_panel && a_route_ == Route::TensorTranspose && whole_chunks() > 1) {
      // Chunk i + 1 of A is turned before chunk i multiplies, so that leaving PSUM overlaps the matmuls.
      const auto turn = [&](const Chunk& c) { load_a(part_of_panel(c), c, m0, rows); };
      turn(whole_chunk(0));
      b_.sequential("kc", whole_chunks() - 1, [&](Affine i) {
        turn(whole_chunk(i + 1));
        multiply(whole_chunk(i), false);
      });
      multiply(whole_chunk(whole_chunks() - 1), false);
    } else {
      b_.sequential("kc", whole_chunks(), [&](Affine i) { multiply(whole_chunk(i), load_panel || !panel.present()); });
    }
    for (const Chunk& c : last_chunks()) multiply(c, load_panel || !panel.present());
    store(acc, m0, n0);
  }

  // (depth, tiles, rows) of A's chunk, by the route its layout demands.
  void load_a(const Access& dst, const Chunk& c, const Affine& m0, std::int64_t rows) {
    if (a_route_ != Route::TensorTranspose) return load(dst, a_, a_route_, c, m0, rows);
    const Access rows_of_a = a_.permute({1, 0});  // (m, k)
    for_blocks(b_, "mt", rows, side_, LoopKind::Parallel, [&](const Affine& m1, std::int64_t height) {
      const Access strip = b_.sbuf("a_rows", height, {c.tiles * c.depth}, g_.in, 3);
      b_.dma_copy(strip, rows_of_a(ds(m0 + m1, height), ds(c.first * side_, c.tiles * c.depth)));
      blocks::transpose_pieces(b_, dst(all, all, ds(m1, height)), strip);
    });
  }

  // c = alpha * sums + beta * c_in. Vector and Scalar Engine share the work by their speed.
  void store(const blocks::Accumulator& acc, const Affine& m0, const Affine& n0) {
    double vector_s = 0, scalar_s = 0;
    const auto next_engine = [&](std::int64_t columns) {
      const double v = vector_s + static_cast<double>(columns) / m_.vector_hz + m_.timing.vector_fixed_s;
      const double s = scalar_s + static_cast<double>(columns) / m_.scalar_hz + m_.timing.scalar_fixed_s;
      (s <= v ? scalar_s : vector_s) = std::min(s, v);
      return s <= v ? Engine::Scalar : Engine::Vector;
    };
    for (std::int64_t i = 0; i < acc.row_pieces(); ++i) {
      for (std::int64_t j = 0; j < acc.column_pieces(); ++j) {
        const std::int64_t height = acc.rows_of(i), width = acc.columns_of(j);
        const auto here = [&](const Access& c) { return c(ds(m0 + i * acc.piece_rows, height), ds(n0 + j * acc.piece_columns, width)); };
        const Access out = b_.sbuf("c_new", height, {width}, g_.out, 2);
        if (reads_c()) {
          const Access old = b_.sbuf("c_old", height, {width}, g_.out, 2);
          b_.dma_copy(old, here(c_in_));
          blocks::scale_add(b_, out, acc.piece(i, j), top(alpha_, height), old, top(beta_, height));
        } else {
          blocks::scale(b_, out, acc.piece(i, j), top(alpha_, height), next_engine(width));
        }
        b_.dma_copy(here(c_), out);
      }
    }
  }

  GemmShape g_;
  const Machine& m_;
  Builder b_;
  std::int64_t side_, bank_, bytes_;
  Route a_route_, b_route_;
  Blocking block_;
  Access a_, bm_, c_in_, c_;
  ScalarOrTile alpha_ = 1.0, beta_ = 0.0;
};

}  // namespace

tile::Program gemm_program(const GemmShape& shape, const Machine& machine) {
  for (const DType dtype : {shape.in, shape.out}) {
    const bool known = dtype == DType::Float32 || dtype == DType::TFloat32 || dtype == DType::BFloat16 || dtype == DType::Float16;
    if (!known) {
      fail<NotImplemented>("blas.gemm: no device kernel for {} on {}; use float32, tfloat32, bfloat16 or float16{}", name(dtype), machine.name,
                           dtype == DType::Float64 ? ", or the host executor" : "");
    }
  }
  require(shape.m >= 1 && shape.n >= 1 && shape.k >= 1, "blas.gemm: a program needs m, n, k >= 1, got {} x {} x {}", shape.m, shape.n, shape.k);
  for (const auto& [rows, columns] : {std::pair(shape.m, shape.k), std::pair(shape.k, shape.n), std::pair(shape.m, shape.n)}) {
    require(byte_count({rows, columns}, size_bytes(shape.in)) <= machine.hbm_bytes_per_chip,
            "blas.gemm: an operand of {} x {} {} is larger than the {} bytes of HBM of {}; split the product", rows, columns, name(shape.in),
            machine.hbm_bytes_per_chip, machine.name);
  }
  require(shape.alpha != Factor::Zero, "blas.gemm: a program with alpha = 0 would not read A and B; scale C instead");
  return GemmKernel(shape, machine).build();
}

namespace device {

namespace {

// C = beta * C, for k == 0 or alpha == 0: A and B are not read.
struct ScaleShape {
  DType dtype;
  std::int64_t m, n, cm, cn;
  Factor beta;
  bool operator==(const ScaleShape&) const = default;
};

Program scale_program(const ScaleShape& s, const Machine& machine) {
  constexpr std::int64_t kColumns = 4096;  // a block that needs little SBUF in any dtype and moves long rows
  Builder b("blas_gemm_scale", machine);
  Access c_in, beta;
  if (s.beta != Factor::Zero) {
    c_in = b.input("c_in", s.dtype, {s.m, s.n}, {s.cm, s.cn});
    beta = blocks::scalar_input(b, "beta");
  }
  const Access c = b.output("c", s.dtype, {s.m, s.n}, {s.cm, s.cn});
  for_blocks(b, "mb", s.m, machine.partitions, LoopKind::Parallel, [&](const Affine& m0, std::int64_t rows) {
    for_blocks(b, "nb", s.n, kColumns, LoopKind::Parallel, [&](const Affine& n0, std::int64_t columns) {
      const Access t = b.sbuf("t", rows, {columns}, s.dtype, 2);
      if (s.beta == Factor::Zero) {
        b.memset(t, 0);
      } else {
        b.dma_copy(t, c_in(ds(m0, rows), ds(n0, columns)));
        b.tensor_scalar(t, t, AluOp::Multiply, beta(ds(0, rows), all));
      }
      b.dma_copy(c(ds(m0, rows), ds(n0, columns)), t);
    });
  });
  return b.finish();
}

Factor kind_of(float value) { return value == 0 ? Factor::Zero : value == 1 ? Factor::One : Factor::Input; }

// Runs `program` with C bound as output and, where it is read, as input, and with the factors it asks for.
void launch(const Executor& executor, const Program& program, const GemmArgs& g, std::vector<Binding> bindings) {
  Device& device = device_of(executor);
  bindings.push_back({"c", g.c});
  std::vector<Buffer> factors;  // on the device while the program runs
  for (const TensorDecl& tensor : program.tensors()) {
    if (tensor.name == "c_in") bindings.push_back({"c_in", g.c});
    if (tensor.name != "alpha" && tensor.name != "beta") continue;
    const auto value = static_cast<float>((tensor.name == "alpha" ? g.alpha : g.beta).real());
    factors.emplace_back(executor, static_cast<std::int64_t>(sizeof value));
    device.copy_in(factors.back().data(), &value, sizeof value);
    bindings.push_back({tensor.name, factors.back().data()});
  }
  device.run(program, bindings);
}

}  // namespace

void gemm(const Executor& executor, const GemmArgs& args) {
  // Where C's columns are the contiguous direction, compute its transpose: the kernel stores rows.
  const GemmArgs g = args.cm == 1 && args.cn != 1 && args.n > 1 ? transposed(args) : args;
  Device& device = device_of(executor);
  const Machine& machine = device.machine();
  const Factor alpha = kind_of(static_cast<float>(g.alpha.real())), beta = kind_of(static_cast<float>(g.beta.real()));
  if (real_of(g.in) != DType::Float64 && !is_complex(g.in) && (g.k == 0 || alpha == Factor::Zero)) {
    if (beta == Factor::One) return;
    const ScaleShape shape{g.out, g.m, g.n, g.cm, g.cn, beta};
    return launch(executor, *device.programs().get(shape, [&](const ScaleShape& s) { return scale_program(s, machine); }), g, {});
  }
  const GemmShape shape{g.in, g.out, g.m, g.n, g.k, g.am, g.ak, g.bk, g.bn, g.cm, g.cn, alpha, beta};
  launch(executor, *device.programs().get(shape, [&](const GemmShape& s) { return gemm_program(s, machine); }), g,
         {{"a", const_cast<void*>(g.a)}, {"b", const_cast<void*>(g.b)}});
}

}  // namespace device

}  // namespace trn::blas
