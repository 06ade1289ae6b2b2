// The product kernel of the device: C = alpha * op(A) * op(B) + beta * C, and everything that is this with operands in
// several planes, an operand known by one triangle, or a triangular C. Scheme says what is multiplied, Operand how it
// arrives, Eviction how it leaves.
//
// The Tensor Engine multiplies a stationary (K, M) tile by a moving (K, N) tile, so both operands need k on partitions.
//
//   for each block row of C (bm rows):            A panel (k, bm) loaded once, resident in SBUF
//     for each block column (bn columns):         all PSUM banks hold one bm x bn block of sums
//       for each chunk of k:                      B chunk (k, bn) streamed, several buffers ahead
//         bm/128 * bn/512 * terms matmuls per 128 of k
//       scale, round, store                       the store has its own DMA ring
//
// Traffic: A once, B once per block row, C once (twice when beta != 0). An operand whose k is the contiguous dimension
// must be turned: by dma_transpose where the machine does that fast (2-byte types on trn2 and later), otherwise on the
// Tensor Engine: A panel by panel on its way in, B once into HBM scratch.
//
// Where C is a triangle, block rows are unrolled: each has its blocks beside the diagonal in a loop and those on it
// after, of which only the pieces that meet the triangle are computed. Where an operand is triangular, the chunks of k
// on its diagonal come first, the one that covers most rows (columns) ahead, and the chunks where it is zero not at
// all.
#include <algorithm>
#include <optional>
#include <trn/core/error.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/stores.hpp>

#include "array_rows.hpp"
#include "blocking.hpp"
#include "eviction.hpp"
#include "skinny_product.hpp"
#include "triangle.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;

namespace device {

namespace {

class ProductKernel {
 public:
  ProductKernel(const GemmShape& shape, const Machine& machine)
      : g_(shape),
        m_(machine),
        b_("blas_gemm", machine),
        side_(machine.partitions),
        bank_(blocks::bank_columns(machine)),
        scheme_(scheme(shape)),
        rows_(shape, scheme_, machine) {}

  Program build() {
    const bool complex = scheme_.complex;
    const auto operand = [&](const char* name, std::int64_t rows, std::int64_t columns, std::int64_t rs,
                             std::int64_t cs, std::int64_t im) {
      return complex ? b_.input(name, scheme_.real, {rows, columns, 2}, {rs, cs, im})
                     : b_.input(name, scheme_.real, {rows, columns}, {rs, cs});
    };
    const std::int64_t unit = complex && g_.a_im == 1 ? 2 : 1, b_unit = complex && g_.b_im == 1 ? 2 : 1;
    Access a = operand("a", g_.m, g_.k, g_.am, g_.ak, g_.a_im);
    std::swap(a.dims[0], a.dims[1]);  // (k, m[, 2])
    Access bb = a;                    // op(B) = op(A)^T has the same (k, n) view
    if (!g_.same_operand) bb = operand("b", g_.k, g_.n, g_.bk, g_.bn, g_.b_im);
    const auto way = [&](const Access& x, std::int64_t pair) {
      return route(scheme_.real, x.dims[0].stride / pair, g_.k, x.dims[1].stride / pair, x.dims[1].size, m_);
    };
    a_.emplace(b_, "a", a, way(a, unit), scheme_, scheme_.a);
    bm_.emplace(b_, "b", bb, way(bb, g_.same_operand ? unit : b_unit), scheme_, scheme_.b);
    const bool turn_b = bm_->how() == Route::TensorTranspose, share = turn_b && g_.same_operand;
    // Where words are made, turning A beforehand leaves all banks and the Tensor Engine's time to the many products.
    const bool whole_a = g_.a_structure != Structure::General, whole_b = g_.b_structure != Structure::General;
    const bool turn_a = a_->how() == Route::TensorTranspose && !share && !whole_a && (scheme_.low() || g_.in_place);
    const bool beforehand = share || turn_a || whole_a || rows_.parts() > 1;
    block_ = choose_blocking(g_, scheme_, beforehand ? Route::Direct : a_->how(), m_);
    if (rows_.parts() > 1) block_.a_buffers = 0;
    a_->read_ahead(block_.row_buffers);
    // In place C takes the memory of the general operand; with beta or in another layout it has its own declaration.
    const bool as_b = g_.bk == g_.cm && g_.bn == g_.cn && g_.b_im == g_.c_im,
               as_a = g_.am == g_.cm && g_.ak == g_.cn && g_.a_im == g_.c_im;
    const bool over = g_.in_place && g_.in == g_.out && g_.beta == Factor::Zero && (whole_a ? as_b : as_a);
    out_.emplace(b_, g_, scheme_, !over ? Access{} : whole_a ? bb : a);
    // The (k, m) view of op(A) shows the other triangle.
    if (whole_a) a_->replace(whole_operand(b_, "a", a_->hbm(), other(g_.stored), g_.a_structure, g_.unit_diagonal));
    if (whole_b) bm_->replace(whole_operand(b_, "b", bm_->hbm(), g_.stored, g_.b_structure, g_.unit_diagonal));
    if (g_.in_place && whole_b && !turn_a) a_->replace(copy_of(b_, "a", a_->hbm()));
    if (g_.in_place && whole_a && !turn_b) bm_->replace(copy_of(b_, "b", bm_->hbm()));
    if (turn_a) a_->turn_in_hbm();
    if (turn_b && !whole_b) bm_->turn_in_hbm();
    if (share) a_->replace(bm_->hbm());
    out_->open_triangles();
    if (rows_.parts() > 1) load_side_by_side();
    block_rows();
    out_->close_triangles();
    return tile::static_stores(b_.finish());
  }

 private:
  // The chunks of a block: `head` in order, then the tiles [begin, end / 128) and the ragged rest up to element `end`
  // of k.
  struct Depth {
    std::vector<Chunk> head;
    std::int64_t begin, end;
  };

  static Region other(Region r) { return r == Region::Lower ? Region::Upper : Region::Lower; }
  bool triangular_a() const { return g_.a_structure == Structure::Triangular; }
  bool triangular_b() const { return g_.b_structure == Structure::Triangular; }

  std::int64_t k_tiles() const { return ceil_div(g_.k, side_); }

  void block_rows() {
    if (g_.region == Region::All && triangular_a()) {
      for (std::int64_t m0 = 0; m0 < g_.m; m0 += block_.bm) block_row(m0, std::min(block_.bm, g_.m - m0));
    } else if (g_.region == Region::All) {
      for_blocks(b_, "mb", g_.m, block_.bm, LoopKind::Parallel,
                 [&](const Affine& m0, std::int64_t rows) { block_row(m0, rows); });
    } else {
      for (std::int64_t m0 = 0; m0 < g_.m; m0 += block_.bm) triangle_row(m0, std::min(block_.bm, g_.m - m0));
    }
  }

  Held panel(std::int64_t rows) const {
    return block_.a_buffers > 0 ? a_->hold("a_panel", std::min(side_, g_.k), k_tiles(), rows, block_.a_buffers)
                                : Held{};
  }
  static bool present(const Held& held) { return held.raw.present() || !held.made.empty(); }

  void block_row(const Affine& m0, std::int64_t rows) {
    const Held panel_of_a = panel(rows);
    bool load = present(panel_of_a);
    if (!triangular_b()) return columns_of_blocks(panel_of_a, load, m0, rows, 0, g_.n);
    // Block columns with a depth of their own, the deepest first: it needs all of the panel.
    const std::int64_t count = ceil_div(g_.n, block_.bn);
    for (std::int64_t i = 0; i < count; ++i, load = false) {
      const std::int64_t n0 = (g_.stored == Region::Lower ? i : count - 1 - i) * block_.bn;
      block_of_c(panel_of_a, load, m0, rows, n0, std::min(block_.bn, g_.n - n0));
    }
  }

  // Where a triangular operand is not zero. Its diagonal meets rows (columns) [first, first + size) in the chunks of
  // the head.
  Depth depth_of(const Affine& m0, std::int64_t rows, const Affine& n0, std::int64_t columns) const {
    if (!triangular_a() && !triangular_b()) return {{}, 0, g_.k};
    const std::int64_t first = (triangular_a() ? m0 : n0).constant(), size = triangular_a() ? rows : columns,
                       end = first + size;
    // Rows m >= k of a lower A and columns n >= k of an upper B, or the opposite.
    const bool behind = triangular_a() == (g_.stored == Region::Lower);
    Depth d{{}, behind ? 0 : ceil_div(end, side_), behind ? first : g_.k};
    d.end = std::max(d.end, d.begin * side_);
    const std::int64_t count = ceil_div(size, side_);
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t t = first / side_ + (behind ? i : count - 1 - i), k0 = t * side_,
                         depth = std::min(side_, g_.k - k0);
      const std::int64_t from = behind ? k0 - first : 0, to = behind ? size : std::min(size, k0 + depth - first);
      d.head.push_back({Affine(t), 1, depth, from, to - from});
    }
    return d;
  }

  // The first block column also brings the panel in, chunk by chunk with B, so the first matmul waits for one chunk
  // only.
  void columns_of_blocks(const Held& panel_of_a, bool load_panel, const Affine& m0, std::int64_t rows,
                         std::int64_t begin, std::int64_t end) {
    const std::int64_t first = std::min(block_.bn, end - begin);
    if (first <= 0) return;
    block_of_c(panel_of_a, load_panel, m0, rows, Affine(begin), first);
    for_blocks(b_, "nb", end - begin - first, block_.bn, LoopKind::Parallel,
               [&](const Affine& n0, std::int64_t columns) {
                 block_of_c(panel_of_a, false, m0, rows, n0 + begin + first, columns);
               });
  }

  // The part of a triangular C in rows [m0, m0 + rows): beside the diagonal, then on it.
  void triangle_row(std::int64_t m0, std::int64_t rows) {
    const Held panel_of_a = panel(rows);
    const std::int64_t begin = g_.region == Region::Lower ? 0 : m0 + rows, end = g_.region == Region::Lower ? m0 : g_.n;
    bool load = present(panel_of_a);
    columns_of_blocks(panel_of_a, load, m0, rows, begin, end);
    load = load && begin >= end;
    for (std::int64_t n0 = m0; n0 < m0 + rows; n0 += block_.bn, load = false) {
      block_of_c(panel_of_a, load, m0, rows, n0, std::min(block_.bn, m0 + rows - n0), true);
    }
  }
  // Of A A^T the panel of A is both operands of the blocks on the diagonal: its leading planes are those of B.
  bool panel_is_b() const {
    return g_.same_operand && block_.a_buffers > 0 && scheme_.b.size() <= scheme_.a.size() &&
           std::equal(scheme_.b.begin(), scheme_.b.end(), scheme_.a.begin());
  }

  // The pieces of a block; of one on the diagonal of a triangular C those that meet the triangle, no wider than they
  // need be.
  std::vector<BankRectangle> pieces(const Affine& m0, std::int64_t rows, const Affine& n0, std::int64_t columns,
                                    bool diagonal) const {
    std::vector<BankRectangle> result;
    for (std::int64_t i = 0; i * side_ < rows; ++i) {
      for (std::int64_t j = 0; j * bank_ < columns; ++j) {
        BankRectangle p{
            i, j, i * side_, std::min(side_, rows - i * side_), j * bank_, std::min(bank_, columns - j * bank_)};
        if (diagonal) {
          const std::int64_t corner =
              m0.constant() + p.row -
              n0.constant();  // the column of the block where the diagonal enters the piece's rows
          const std::int64_t begin = g_.region == Region::Lower ? p.column : std::max(p.column, corner);
          const std::int64_t end =
              g_.region == Region::Lower ? std::min(p.column + p.width, corner + p.height) : p.column + p.width;
          if (begin >= end) continue;
          p.column = begin;
          p.width = end - begin;
          if (corner >= begin && corner < end) p.diagonal = corner - begin;
        }
        result.push_back(p);
      }
    }
    return result;
  }

  void block_of_c(const Held& panel_of_a, bool load_panel, const Affine& m0, std::int64_t rows, const Affine& n0,
                  std::int64_t columns, bool diagonal = false) {
    const Block block = out_->begin(m0, n0, rows, columns, pieces(m0, rows, n0, columns, diagonal));
    if (rows_.parts() > 1)
      side_by_side(block);
    else
      multiply_all(block, panel_of_a, load_panel, depth_of(m0, rows, n0, columns), diagonal && panel_is_b());
    out_->store(block);
  }

  // The tiles [begin, ...) in chunks of kc. The last whole tiles form one chunk of at least `last` where there are
  // many: multiplied piece by piece, its pieces finish far enough apart for the eviction to keep up.
  std::int64_t last_tiles(const Depth& d) const {
    const std::int64_t whole = std::max<std::int64_t>(0, d.end / side_ - d.begin),
                       least = block_.kc < block_.last && whole >= 2 * block_.last ? block_.last : 0;
    return least + (whole - least) % block_.kc;
  }
  std::vector<Chunk> last_chunks(const Depth& d) const {
    std::vector<Chunk> chunks;
    const std::int64_t whole = d.end / side_, rest = d.end % side_;
    if (last_tiles(d) > 0) chunks.push_back({Affine(whole - last_tiles(d)), last_tiles(d), side_});
    if (rest > 0 && whole >= d.begin) chunks.push_back({Affine(whole), 1, rest});
    return chunks;
  }

  void multiply_all(const Block& block, const Held& panel_of_a, bool load_panel, const Depth& d, bool from_panel) {
    const std::int64_t whole = std::max<std::int64_t>(0, (d.end / side_ - d.begin - last_tiles(d)) / block_.kc);
    const auto chunk = [&](const Affine& i) { return Chunk{i * block_.kc + d.begin, block_.kc, side_}; };
    const bool bring = load_panel || !present(panel_of_a), grouped = scheme_.group_tiles > 0;
    const std::int64_t per_group = grouped ? std::max<std::int64_t>(1, scheme_.group_tiles / block_.kc) : 1;
    // `before`: tiles summed into the accumulators so far; `in_group`: since the last fold.
    const auto step = [&](const Chunk& c, const Affine& before, const Affine& in_group, bool bring_a,
                          const std::optional<Chunk>& ahead, std::vector<Access> b_words = {}) {
      if (!from_panel && b_words.empty()) b_words = bring_b(c, block);
      if (ahead) a_->bring(a_->part(panel_of_a, *ahead, 0), *ahead, block.m0, block.rows);
      const Held a_chunk = present(panel_of_a) ? a_->part(panel_of_a, c, 0)
                                               : a_->hold("a_chunk", c.depth, c.tiles, block.rows, buffers(c));
      if (bring_a && c.size > 0 && triangular_a())
        a_->bring(a_->narrow(a_chunk, c.from, c.size), c, block.m0 + c.from, c.size);
      else if (bring_a)
        a_->bring(a_chunk, c, block.m0, block.rows);
      if (from_panel) b_words = a_->words(a_->narrow(a_chunk, (block.n0 - block.m0).constant(), block.columns));
      multiply(block, a_->words(a_chunk), b_words, c, before, grouped ? in_group : before);
    };
    // The long last chunk of words arrives at the start of the block: at its end it would come too late, for shorter
    // ones do not run so far ahead.
    const std::vector<Chunk> last = last_chunks(d);
    std::vector<std::vector<Access>> words_of_last(last.size());
    const bool early = whole > 0 && !from_panel && !scheme_.low() && !scheme_.all_as_loaded(scheme_.b) &&
                       block_.b_buffers > 1;  // one buffer: the tiles of a block share bytes
    for (std::size_t i = 0; early && i < last.size(); ++i) words_of_last[i] = bring_b(last[i], block);
    const auto in_head = static_cast<std::int64_t>(d.head.size());
    for (std::int64_t h = 0; h < in_head; ++h) step(d.head[static_cast<std::size_t>(h)], h, h, bring, std::nullopt);
    if (grouped && in_head > 0) out_->fold(block);
    const auto loop = [&](std::int64_t from, std::int64_t count, bool bring_a, bool run_ahead) {
      const auto body = [&](const Affine& i, const Affine& in_group) {
        step(chunk(i), i * block_.kc + in_head, in_group, bring_a,
             run_ahead ? std::optional<Chunk>(chunk(i + 1)) : std::nullopt);
      };
      if (!grouped) return b_.sequential("kc", count, [&](Affine i) { body(i + from, 0); });
      if (per_group == 1) return b_.sequential("kc", count, [&](Affine i) { body(i + from, 0), out_->fold(block); });
      b_.sequential("kg", count / per_group, [&](Affine g) {
        b_.sequential("kc", per_group, [&](Affine i) { body(g * per_group + i + from, i * block_.kc); });
        out_->fold(block);
      });
      if (count % per_group == 0) return;
      b_.sequential("kc", count % per_group,
                    [&](Affine i) { body(i + (from + count / per_group * per_group), i * block_.kc); });
      out_->fold(block);
    };
    if (load_panel && a_->how() == Route::TensorTranspose && whole > 1) {
      // Chunk i + 1 of A is turned before chunk i multiplies, so that leaving PSUM overlaps the matmuls.
      a_->bring(a_->part(panel_of_a, chunk(0), 0), chunk(0), block.m0, block.rows);
      loop(0, whole - 1, false, true);
      loop(whole - 1, 1, false, false);
    } else {
      loop(0, whole, bring, false);
    }
    Affine before = whole * block_.kc + in_head;
    for (std::size_t i = 0; i < last.size(); ++i) {
      step(last[i], before, 0, bring, std::nullopt, words_of_last[i]);
      if (grouped) out_->fold(block);
      before = before + last[i].tiles;
    }
  }

  // Products of few terms, side by side in parts of the array: all of k is one chunk, both operands are loaded once.
  void load_side_by_side() {
    const std::int64_t deep = rows_.partitions(g_.k);
    a_parts_ = a_->hold("a_parts", deep, 1, g_.m, 1), b_parts_ = bm_->hold("b_parts", deep, 1, g_.n, 1);
    for (std::int64_t part = 0; part < rows_.parts(); ++part)
      bm_->bring(rows_.of(b_parts_, part, g_.k), {0, 1, g_.k}, 0, g_.n);
    a_->bring(rows_.of(a_parts_, 0, g_.k), {0, 1, g_.k}, 0, g_.m);
    for (std::int64_t part = 1; part < rows_.parts(); ++part)
      b_.dma_copy(rows_.of(a_parts_, part, g_.k).raw, rows_.of(a_parts_, 0, g_.k).raw);
  }
  void side_by_side(const Block& block) {
    const auto tile = [](const Held& held, const Affine& from, std::int64_t size) {
      Access one = held.raw(all, ds(0, 1), ds(from, size));
      one.dims.erase(one.dims.begin());
      return one;
    };
    for (std::size_t i = 0; i < block.pieces.size(); ++i) {
      const BankRectangle& p = block.pieces[i];
      const std::int64_t part = static_cast<std::int64_t>(i) % rows_.parts();
      b_.nc_matmul(block.bank(0, p, p.column, p.width),
                   tile(rows_.of(a_parts_, part, g_.k), block.m0 + p.row, p.height),
                   tile(rows_.of(b_parts_, part, g_.k), block.n0 + p.column, p.width), {.tile = rows_.tile(part)});
    }
  }

  // Chunks outside the recorded loop come once per block: two buffers let the next block's run ahead.
  std::int64_t buffers(const Chunk& c) const {
    return c.first.is_constant() ? std::min<std::int64_t>(2, block_.b_buffers) : block_.b_buffers;
  }

  std::vector<Access> bring_b(const Chunk& c, const Block& block) const {
    const Held chunk = bm_->hold("b_chunk", c.depth, c.tiles, block.columns, buffers(c));
    const std::int64_t raw = std::min<std::int64_t>(3, buffers(c));
    if (c.size > 0 && triangular_b())
      bm_->bring(bm_->narrow(chunk, c.from, c.size), c, block.n0 + c.from, c.size, raw);
    else
      bm_->bring(chunk, c, block.n0, block.columns, raw);
    return bm_->words(chunk);
  }

  // Piece by piece, so that the first piece is complete, and can be moved out, while the others still multiply; leading
  // products of all pieces first, so that their sums join the totals during the low ones. The first matmul into a sum
  // overwrites it.
  void multiply(const Block& block, const std::vector<Access>& a, const std::vector<Access>& bw, const Chunk& c,
                const Affine& before, const Affine& in_group) {
    const auto tile = [](const Access& operand, const Affine& t, std::int64_t from, std::int64_t size) {
      Access one = operand(all, ds(t, 1), ds(from, size));
      one.dims.erase(one.dims.begin());
      return one;
    };
    const auto terms = [&](const BankRectangle& p, bool leading) {
      std::vector<bool> started(block.sums.size(), false);
      for (const Term& term : scheme_.terms) {
        if (scheme_.leading(term) != leading) continue;
        const auto s = static_cast<std::size_t>(term.sum);
        const std::int64_t slice = leading && scheme_.leading_depth > 0 ? scheme_.leading_depth : c.depth;
        b_.sequential("k", c.tiles, [&](Affine t) {
          const Affine first = (leading ? in_group : before) + t;
          const Access x = tile(a[static_cast<std::size_t>(term.a)], t, p.row, p.height),
                       y = tile(bw[static_cast<std::size_t>(term.b)], t, p.column, p.width);
          for (std::int64_t k0 = 0; k0 < c.depth; k0 += slice) {
            const Slice part = ds(k0, std::min(slice, c.depth - k0));
            b_.nc_matmul(block.bank(term.sum, p, p.column, p.width), x(part), y(part),
                         {.accumulate = started[s] || k0 > 0 ? Affine(1) : first});
          }
        });
        started[s] = true;
      }
    };
    for (const bool leading : {true, false}) {
      if (!leading && !scheme_.low()) continue;
      for (BankRectangle p : block.pieces) {
        const std::int64_t end = c.from + c.size;
        if (c.size > 0 && triangular_a() && (p.row + p.height <= c.from || p.row >= end)) continue;
        if (c.size > 0 && triangular_b()) {
          const std::int64_t right = std::min(p.column + p.width, end);
          p.column = std::max(p.column, c.from);
          p.width = right - p.column;
          if (p.width <= 0) continue;
        }
        terms(p, leading);
      }
    }
  }

  GemmShape g_;
  const Machine& m_;
  Builder b_;
  std::int64_t side_, bank_;
  Scheme scheme_;
  ArrayRows rows_;
  Blocking block_{};
  std::optional<Operand> a_, bm_;
  Held a_parts_, b_parts_;
  std::optional<Eviction> out_;
};

}  // namespace

}  // namespace device

tile::Program gemm_program(const GemmShape& shape, const Machine& machine) {
  for (const DType dtype : {shape.in, shape.out}) {
    const bool known = dtype == DType::Float32 || dtype == DType::TFloat32 || dtype == DType::BFloat16 ||
                       dtype == DType::Float16 || dtype == DType::Complex64;
    if (!known) {
      fail<NotImplemented>(
          "blas.gemm: no device kernel for {} on {}; use float32, tfloat32, bfloat16, float16 or complex64{}",
          name(dtype), machine.name, real_of(dtype) == DType::Float64 ? ", Precision Exact, or the host executor" : "");
    }
  }
  require(is_complex(shape.in) == is_complex(shape.out),
          "blas.gemm: {} in and {} out; complex operands have a complex result", name(shape.in), name(shape.out));
  if (shape.mode != Mode::Native && shape.mode != Mode::Exact && real_of(shape.in) != DType::Float32) {
    fail<NotImplemented>("blas.gemm: mode {} is for float32 and complex64 operands, these are {}; use native",
                         name(shape.mode), name(shape.in));
  }
  require(shape.m >= 1 && shape.n >= 1 && shape.k >= 1, "blas.gemm: a program needs m, n, k >= 1, got {} x {} x {}",
          shape.m, shape.n, shape.k);
  for (const auto& [rows, columns] :
       {std::pair(shape.m, shape.k), std::pair(shape.k, shape.n), std::pair(shape.m, shape.n)}) {
    require(byte_count({rows, columns}, size_bytes(shape.in)) <= machine.hbm_bytes_per_stack(),
            "blas.gemm: an operand of {} x {} {} is larger than the {} bytes of HBM of {}; split the product", rows,
            columns, name(shape.in), machine.hbm_bytes_per_stack(), machine.name);
  }
  require(shape.alpha != Factor::Zero, "blas.gemm: a program with alpha = 0 would not read A and B; scale C instead");
  const bool a_known = shape.a_structure != Structure::General, b_known = shape.b_structure != Structure::General;
  require(!(a_known && b_known) && (shape.region == Region::All || !(a_known || b_known)),
          "blas.gemm: one operand with structure and a whole C, or operands without and a triangle; not both");
  require((!a_known || (shape.m == shape.k && shape.stored != Region::All)) &&
              (!b_known || (shape.k == shape.n && shape.stored != Region::All)),
          "blas.gemm: an operand with structure is square and names its triangle, got {} x {} x {}", shape.m, shape.n,
          shape.k);
  require(!shape.in_place || a_known || b_known, "blas.gemm: in place needs an operand with structure");
  require(shape.region == Region::All || shape.m == shape.n, "blas.gemm: a triangle of C needs m = n, got {} x {}",
          shape.m, shape.n);
  if (auto skinny = device::skinny_gemm_program(shape, machine)) return *std::move(skinny);
  return device::ProductKernel(shape, machine).build();
}

}  // namespace trn::blas
