// The product kernel for groups of indices (product_program.hpp).
//
// A block of D is a block of M (its panel of A resident in SBUF where it fits) times a block of N; indices outside the
// blocks are recorded loops, H around everything. Once a panel is on chip its indices are one flat axis: tiles of 128
// rows and banks of 512 columns respect no borders, and what leaves PSUM is copied to D box by box.
//
//   for h, for each block of M:           A panel (k, bm), loaded with the first block of N
//     for each block of N:                PSUM holds the bm x bn sums
//       for each part of K:               parts of several indices are unrolled, one index is a recorded loop
//         chunks of B (k, bn)             rotating tiles, so that loads run ahead
//       scale, round, store
//
// k on partitions is any mixture of indices: a tile of 128 of the flat k is a few boxes, one DMA each. N is the operand
// that owns D's unit stride, so that a row of the result is a run in D. An operand whose unit stride is in K is turned
// on the Tensor Engine on its way in.
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <trn/blas/product_program.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/stores.hpp>

#include "array_rows.hpp"
#include "blocking.hpp"
#include "eviction.hpp"
#include "skinny_product.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::BoxGroup;
using blocks::BoxIndex;
using blocks::BoxPart;
using blocks::ceil_div;
using blocks::Cut;
using blocks::extent_of;
using blocks::for_parts;
using blocks::sub_boxes;
using blocks::SubBox;

namespace {

constexpr std::size_t kA = 0, kB = 1, kC = 2, kD = 3;
// Tiles of a part of K whose chunks are written out.
constexpr std::int64_t kPartTiles = 64;
// Chunks that are turned before the products of one, and rows that are on their way to that.
constexpr std::int64_t kAhead = 1, kRows = 12;

bool has_unit(const BoxGroup& group, std::size_t operand) {
  return std::any_of(group.begin(), group.end(),
                     [operand](const BoxIndex& i) { return i.extent > 1 && std::abs(i.stride[operand]) == 1; });
}

void sort_by(BoxGroup& group, std::size_t operand) {
  std::stable_sort(group.begin(), group.end(), [operand](const BoxIndex& x, const BoxIndex& y) {
    const std::int64_t sx = std::abs(x.stride[operand]), sy = std::abs(y.stride[operand]);
    return (sx == 0) != (sy == 0) ? sy == 0 : sx < sy;
  });
}

// M, N and operands change places where D's unit stride is A's.
ProductShape arranged(ProductShape s, ProductTensors& t) {
  if (has_unit(s.m, kD) && !has_unit(s.n, kD)) {
    std::swap(s.m, s.n);
    std::swap(s.conj_a, s.conj_b);
    std::swap(s.of_a, s.of_b);
    std::swap(t.a, t.b);
    for (BoxGroup* g : {&s.h, &s.m, &s.n, &s.k}) {
      for (BoxIndex& i : *g) std::swap(i.stride[kA], i.stride[kB]);
    }
  }
  sort_by(s.m, kA);
  sort_by(s.n, kD);
  return s;
}

// The product of the same extents of two matrices: what its factors, words and sums are.
GemmShape gemm_of(const ProductShape& s) {
  GemmShape g{s.in, s.out, extent_of(s.m), extent_of(s.n), extent_of(s.k)};
  g.alpha = s.alpha, g.beta = s.beta, g.mode = s.mode;
  g.conj_a = s.conj_a, g.conj_b = s.conj_b;
  return g;
}

class GroupKernel {
 public:
  GroupKernel(Builder& b, const ProductShape& shape, const ProductTensors& tensors)
      : b_(b),
        t_(tensors),
        s_(arranged(shape, t_)),
        side_(b.machine().partitions),
        bank_(blocks::bank_columns(b.machine())) {
    // Strides of complex tensors in real numbers.
    if (is_complex(s_.in)) {
      for (BoxGroup* g : {&s_.h, &s_.m, &s_.n, &s_.k}) {
        for (BoxIndex& i : *g) {
          for (std::int64_t& stride : i.stride) stride *= 2;
        }
      }
    }
    g_ = gemm_of(s_);
    scheme_ = device::scheme(g_);
  }

  void record() {
    if (device::is_skinny(s_, scheme_, b_.machine())) return device::record_skinny_product(b_, s_, t_, g_, scheme_);
    const std::size_t unit = is_complex(s_.in) ? 2 : 1;
    const auto way = [&](const BoxGroup& x, std::size_t operand) {
      const auto contiguous = [&](const BoxGroup& group) {
        return std::any_of(group.begin(), group.end(), [&](const BoxIndex& i) {
          return i.extent > 1 && static_cast<std::size_t>(std::abs(i.stride[operand])) == unit;
        });
      };
      return contiguous(s_.k) && !contiguous(x) && extent_of(x) > 1 ? device::Route::TensorTranspose
                                                                    : device::Route::Direct;
    };
    const device::Route a_way = way(s_.m, kA), b_way = way(s_.n, kB);
    // Where k is one operand's unit, its indices in that order make long rows to turn.
    if (a_way == device::Route::TensorTranspose)
      sort_by(s_.k, kA);
    else if (b_way == device::Route::TensorTranspose)
      sort_by(s_.k, kB);
    turned_ = a_way == device::Route::TensorTranspose || b_way == device::Route::TensorTranspose;
    const std::int64_t depth = g_.k;
    g_.k = side_ * ceil_div(depth, side_);
    block_ = device::choose_blocking(g_, scheme_, turned_ ? device::Route::TensorTranspose : device::Route::Direct,
                                     b_.machine());
    g_.k = depth;
    grouped_ = scheme_.group_tiles > 0;
    // Chunks of several indices are written out. A's panel comes with the first of several blocks of N then, chunk by
    // chunk, unless it is small beside them.
    written_ = s_.k.size() > 1;
    const bool later = written_ && !scheme_.low() && g_.n > 2 * block_.bn && 2 * block_.bm > bank_;
    k_part_ = side_ * (written_ ? kPartTiles : grouped_ ? scheme_.group_tiles : block_.kc);
    k_cut_ = blocks::cut_of(s_.k, k_part_);
    tiles_ = blocks::units_of(s_.k, k_cut_, side_);
    rows_ = device::ArrayRows(g_, scheme_, b_.machine());
    // Side by side one row of full banks at a time: all of both operands is on chip.
    const bool reads_c = g_.beta != Factor::Zero;
    if (reads_c && 4 * (g_.m + g_.n) * size_bytes(scheme_.real) > b_.machine().sbuf_bytes_per_partition) rows_ = {};
    const bool aside = rows_.parts() > 1;
    const Cut m_cut = blocks::cut_of(s_.m, aside ? side_ : block_.bm, side_),
              n_cut = blocks::cut_of(s_.n, aside ? b_.machine().psum_banks * bank_ : block_.bn, aside ? bank_ : 64);
    choose_slots(later, blocks::box_size(s_.m, m_cut), blocks::box_size(s_.n, n_cut));
    const auto memory = [](Access hbm) {
      hbm.dims = {{0, 1}, {0, 1}, {1, 2}};  // pairs side by side; the rest is in the boxes
      return hbm;
    };
    a_.emplace(b_, "a", memory(t_.a), a_way, scheme_, scheme_.a);
    bm_.emplace(b_, "b", memory(t_.b), b_way, scheme_, scheme_.b);
    out_.emplace(
        b_, g_, scheme_,
        [this](const device::BankRectangle& p, const Access& tile, bool store) { move(p, tile, store); }, t_.alpha,
        t_.beta);
    a_->apply(s_.of_a), bm_->apply(s_.of_b);
    out_->apply(s_.of_d, s_.of_a.present() || s_.of_b.present());
    for_parts(b_, "h", s_.h, {0, 1}, LoopKind::Parallel, 1, [&](const BoxPart& h) {
      h_ = h;
      if (rows_.parts() > 1) load_side_by_side();
      for_parts(b_, "m", s_.m, m_cut, LoopKind::Parallel, 1, [&](const BoxPart& m) {
        m_ = m;
        const device::Held panel = aside ? device::Held{} : resident(!later);
        const auto columns = [&](const BoxPart& n, bool load) { n_ = n, block(panel, load); };
        if (!later || !present(panel)) {
          for_parts(b_, "n", s_.n, n_cut, LoopKind::Parallel, 1, [&](const BoxPart& n) { columns(n, false); });
        } else {
          blocks::for_parts_after_first(b_, "n", s_.n, n_cut, LoopKind::Parallel, 1, columns);
        }
      });
    });
  }

 private:
  // A chunk of a part of K: `tiles` whole tiles, or a ragged one.
  struct Chunk {
    std::int64_t k0, tiles, depth;
  };
  std::vector<Chunk> chunks(std::int64_t size, std::int64_t most) const {
    std::vector<Chunk> list;
    const std::int64_t whole = size / side_;
    for (std::int64_t t = 0; t < whole; t += most) list.push_back({t * side_, std::min(most, whole - t), side_});
    if (size % side_ > 0) list.push_back({whole * side_, 1, size % side_});
    return list;
  }
  bool present(const device::Held& held) const { return held.raw.present() || !held.made.empty(); }

  device::BoxChunk box_chunk(std::size_t operand, const BoxPart& k, const Chunk& c) const {
    const BoxPart& x = operand == kA ? m_ : n_;
    device::BoxChunk chunk{operand == kA ? t_.a : t_.b, operand, k.box, x.box, c.k0, c.tiles, c.depth};
    chunk.hbm.offset = chunk.hbm.offset + h_.offset[operand] + x.offset[operand] + k.offset[operand];
    return chunk;
  }
  // The tiles of `held` from `first` on that a chunk fills.
  static device::Held part(const device::Operand& o, const device::Held& held, const Affine& first, const Chunk& c) {
    return o.part(held, {first, c.tiles, c.depth}, 0);
  }

  // A's panel; with `load` all of it at once.
  device::Held resident(bool load) const {
    if (block_.a_buffers == 0) return {};
    const device::Held panel = a_->hold("a_panel", std::min(side_, g_.k), tiles_, m_.size, block_.a_buffers);
    if (!load) return panel;
    for_parts(b_, "kp", s_.k, k_cut_, LoopKind::Sequential, side_, [&](const BoxPart& k) {
      for (const Chunk& c : chunks(k.size, block_.kc))
        a_->bring(part(*a_, panel, k.units + c.k0 / side_, c), box_chunk(kA, k, c));
    });
    return panel;
  }

  // Chunks that are on chip at the same time where they are written out: they take turns in one tile. The next block
  // begins in the first place again, so the last chunk had better be in a late one, where there is room for more places
  // than the blocking counts on.
  void choose_slots(bool later, std::int64_t bm, std::int64_t bn) {
    if (!written_) return;
    slots_ = std::max<std::int64_t>(2, block_.b_buffers);
    const bool plain = scheme_.all_as_loaded(scheme_.a) && scheme_.all_as_loaded(scheme_.b) && !grouped_;
    if (!plain) return;
    // A panel that comes chunk by chunk may take the place of the last one in the same way.
    if (later) block_.a_buffers = std::min<std::int64_t>(1, block_.a_buffers);
    const std::int64_t raw = size_bytes(scheme_.real) * (scheme_.complex ? 2 : 1),
                       panel = block_.a_buffers * tiles_ * bm, streamed = bn + (panel == 0 ? bm : 0),
                       out = (g_.beta == Factor::Zero ? 2 : 6) * bn * ceil_div(bm, side_);
    // Two bodies, of whole blocks and of what they leave or of the first, have tiles of their own.
    const std::int64_t kc = block_.kc;
    const std::int64_t count = ceil_div(std::min(g_.k, k_part_), kc * side_),
                       least = std::max<std::int64_t>(turned_ ? kAhead + 2 : 2, block_.b_buffers);
    const auto free = [&](std::int64_t places) { return (count + places - 1) % places; };
    const std::int64_t wanted = free(least) >= free(least + 1) || count <= 2 * least ? least : least + 1;
    const std::int64_t turning = turned_ && !scheme_.complex ? kRows * kc * side_ : 0;
    roomy_ = (panel + 2 * wanted * kc * streamed + (later ? 1 : 2) * turning + out) * raw <=
             b_.machine().sbuf_bytes_per_partition;
    if (roomy_) slots_ = wanted;
  }

  // A chunk of both operands on chip, and how many tiles came before it, in all and in its group.
  struct Stage {
    Chunk chunk;
    std::vector<Access> a, b;
    Affine before, in_group;
  };

  void block(const device::Held& panel, bool load) {
    std::vector<device::BankRectangle> pieces;
    for (std::int64_t i = 0; i * side_ < m_.size; ++i) {
      for (std::int64_t j = 0; j * bank_ < n_.size; ++j) {
        pieces.push_back(
            {i, j, i * side_, std::min(side_, m_.size - i * side_), j * bank_, std::min(bank_, n_.size - j * bank_)});
      }
    }
    const device::Block sums = out_->begin(0, 0, m_.size, n_.size, std::move(pieces));
    if (rows_.parts() > 1) return side_by_side(sums);
    const std::int64_t slots = slots_;
    device::Held b_ring, a_ring;
    if (slots > 0) {
      b_ring = bm_->hold("b_ring", std::min(side_, g_.k), slots * block_.kc, n_.size, 1);
      if (!present(panel)) a_ring = a_->hold("a_ring", std::min(side_, g_.k), slots * block_.kc, m_.size, 1);
    }
    const auto turning = [&](device::Operand& o, const char* name, bool comes) {
      if (roomy_ && comes && !scheme_.complex && o.how() == device::Route::TensorTranspose)
        o.rows_in(b_.sbuf(name, side_, {kRows, block_.kc * side_}, scheme_.real));
    };
    turning(*a_, "a_turning", load || !present(panel));
    turning(*bm_, "b_turning", true);
    for_parts(b_, "k", s_.k, k_cut_, LoopKind::Sequential, side_, [&](const BoxPart& k) {
      const std::vector<Chunk> list = chunks(k.size, block_.kc);
      std::int64_t number = 0, in_group = 0;
      const auto bring = [&](const Chunk& c) {
        const Affine first = k.units + c.k0 / side_;
        const auto held = [&](const device::Operand& o, const device::Held& ring, const char* name, std::int64_t x) {
          if (slots > 0) return part(o, ring, number % slots * block_.kc, c);
          return o.hold(name, c.depth, c.tiles, x, k.units.is_constant() ? 2 : block_.b_buffers);
        };
        const device::Held b_chunk = held(*bm_, b_ring, "b_chunk", n_.size);
        bm_->bring(b_chunk, box_chunk(kB, k, c), std::min<std::int64_t>(3, block_.b_buffers));
        const device::Held a_chunk =
            present(panel) ? part(*a_, panel, first, c) : held(*a_, a_ring, "a_chunk", m_.size);
        if (load || !present(panel)) a_->bring(a_chunk, box_chunk(kA, k, c));
        ++number;
        return Stage{c, a_->words(a_chunk), bm_->words(b_chunk), first, first};
      };
      // What is turned comes a chunk ahead of the products, so that it leaves PSUM meanwhile; the last chunks are
      // multiplied piece by piece, so that evicting the first pieces keeps up with the products of the others.
      const std::int64_t ahead = roomy_ && turned_ && (load || !present(panel)) ? kAhead : 0;
      const std::int64_t last = slots == 0 || grouped_ || m_.size <= side_
                                    ? 1
                                    : std::clamp<std::int64_t>(block_.last / block_.kc, 1, slots - ahead);
      std::vector<Stage> stages;
      for (std::size_t i = 0; i < list.size();) {
        const std::size_t end = list.size() - i <= static_cast<std::size_t>(last) ? list.size() : i + 1;
        const std::size_t brought = std::min(list.size(), end + static_cast<std::size_t>(ahead));
        while (stages.size() < brought) stages.push_back(bring(list[stages.size()]));
        if (grouped_) stages[i].in_group = in_group;
        multiply(sums, stages, i, end);
        in_group += list[i].tiles;
        i = end;
        if (grouped_ && (in_group >= scheme_.group_tiles || i == list.size())) out_->fold(sums), in_group = 0;
      }
    });
    a_->rows_in({}), bm_->rows_in({});
    out_->store(sums);
  }

  // As gemm's: few terms, side by side in parts of the array; both operands are on chip once for every part.
  void load_side_by_side() {
    const std::int64_t deep = rows_.partitions(g_.k);
    a_parts_ = a_->hold("a_parts", deep, 1, g_.m, 1), b_parts_ = bm_->hold("b_parts", deep, 1, g_.n, 1);
    for (const std::size_t operand : {kA, kB}) {
      const device::Operand& o = operand == kA ? *a_ : *bm_;
      const device::Held& held = operand == kA ? a_parts_ : b_parts_;
      for (std::int64_t part = 0; part < rows_.parts(); ++part) {
        if (part > 0 && (operand == kA || o.how() == device::Route::TensorTranspose)) {
          b_.dma_copy(rows_.of(held, part, g_.k).raw, rows_.of(held, 0, g_.k).raw);
          continue;
        }
        device::BoxChunk chunk{operand == kA ? t_.a : t_.b, operand, s_.k, operand == kA ? s_.m : s_.n, 0, 1, g_.k};
        chunk.hbm.offset = chunk.hbm.offset + h_.offset[operand];
        o.bring(rows_.of(held, part, g_.k), chunk);
      }
    }
  }
  void side_by_side(const device::Block& block) {
    const auto tile = [](const device::Held& held, const Affine& from, std::int64_t size) {
      Access one = held.raw(all, ds(0, 1), ds(from, size));
      one.dims.erase(one.dims.begin());
      return one;
    };
    for (std::size_t i = 0; i < block.pieces.size(); ++i) {
      const device::BankRectangle& p = block.pieces[i];
      const std::int64_t part = static_cast<std::int64_t>(i) % rows_.parts();
      b_.nc_matmul(block.bank(0, p, p.column, p.width),
                   tile(rows_.of(a_parts_, part, g_.k), m_.units + p.row, p.height),
                   tile(rows_.of(b_parts_, part, g_.k), n_.units + p.column, p.width), {.tile = rows_.tile(part)});
    }
    out_->store_rows(block);
  }

  // As gemm's: piece by piece, leading products first; the first matmul into a sum overwrites it. Stages [begin, end).
  void multiply(const device::Block& block, const std::vector<Stage>& stages, std::size_t begin, std::size_t end) {
    const auto tile = [](const Access& operand, const Affine& t, std::int64_t from, std::int64_t size) {
      Access one = operand(all, ds(t, 1), ds(from, size));
      one.dims.erase(one.dims.begin());
      return one;
    };
    for (const bool leading : {true, false}) {
      if (!leading && !scheme_.low()) continue;
      for (const device::BankRectangle& p : block.pieces) {
        for (std::size_t i = begin; i < end; ++i) {
          const Stage& stage = stages[i];
          const Chunk& c = stage.chunk;
          std::vector<bool> started(block.sums.size(), false);
          for (const device::Term& term : scheme_.terms) {
            if (scheme_.leading(term) != leading) continue;
            const auto s = static_cast<std::size_t>(term.sum);
            const std::int64_t slice = leading && scheme_.leading_depth > 0 ? scheme_.leading_depth : c.depth;
            b_.sequential("t", c.tiles, [&](Affine t) {
              const Affine first = (leading ? stage.in_group : stage.before) + t;
              const Access x = tile(stage.a[static_cast<std::size_t>(term.a)], t, p.row, p.height),
                           y = tile(stage.b[static_cast<std::size_t>(term.b)], t, p.column, p.width);
              for (std::int64_t k0 = 0; k0 < c.depth; k0 += slice) {
                const Slice rows = ds(k0, std::min(slice, c.depth - k0));
                b_.nc_matmul(block.bank(term.sum, p, p.column, p.width), x(rows), y(rows),
                             {.accumulate = started[s] || k0 > 0 ? Affine(1) : first});
              }
            });
            started[s] = true;
          }
        }
      }
    }
  }

  // Between a tile (height, width[, 2]) and C or D, box by box.
  void move(const device::BankRectangle& p, const Access& tile, bool store) {
    const std::size_t operand = store ? kD : kC;
    for (const SubBox& rows : sub_boxes(m_.box, p.row, p.height)) {
      for (const SubBox& columns : sub_boxes(n_.box, p.column, p.width)) {
        Access hbm = store ? t_.d : t_.c;
        hbm.offset = hbm.offset + h_.offset[operand] + m_.offset[operand] + n_.offset[operand] +
                     Affine(rows.offset[operand] + columns.offset[operand]);
        hbm.dims.clear();
        blocks::append_dims(hbm.dims, rows.box, operand);
        blocks::append_dims(hbm.dims, columns.box, operand);
        if (scheme_.complex) hbm.dims.push_back({1, 2});
        if (hbm.dims.empty()) hbm.dims.push_back({1, 1});
        const Access here = tile(ds(rows.start - p.row, rows.size), ds(columns.start - p.column, columns.size));
        store ? b_.dma_copy(hbm, here) : b_.dma_copy(here, hbm);
      }
    }
  }

  Builder& b_;
  ProductTensors t_;
  ProductShape s_;
  std::int64_t side_, bank_;
  GemmShape g_;
  device::Scheme scheme_;
  device::Blocking block_{};
  bool grouped_ = false, turned_ = false, written_ = false, roomy_ = false;
  std::int64_t slots_ = 0;
  std::int64_t k_part_ = 0;  // elements of k whose chunks are in one body
  Cut k_cut_;
  std::int64_t tiles_ = 1;
  BoxPart h_, m_, n_;
  std::optional<device::Operand> a_, bm_;
  std::optional<device::Eviction> out_;
  device::ArrayRows rows_;
  device::Held a_parts_, b_parts_;
};

}  // namespace

void record_product(Builder& builder, const ProductShape& shape, const ProductTensors& tensors) {
  for (const DType dtype : {shape.in, shape.out}) {
    const bool known =
        dtype == DType::Float32 || dtype == DType::BFloat16 || dtype == DType::Float16 || dtype == DType::Complex64;
    if (!known) {
      fail<NotImplemented>("blas.product: no device kernel for {} on {}; use float32, bfloat16, float16 or complex64{}",
                           name(dtype), builder.machine().name,
                           real_of(dtype) == DType::Float64 ? ", Precision Exact, or the host executor" : "");
    }
  }
  require(is_complex(shape.in) == is_complex(shape.out),
          "blas.product: {} in and {} out; complex operands have a complex result", name(shape.in), name(shape.out));
  if (shape.mode != Mode::Native && real_of(shape.in) != DType::Float32) {
    fail<NotImplemented>("blas.product: mode {} is for float32 and complex64 operands, these are {}; use native",
                         name(shape.mode), name(shape.in));
  }
  const bool functions = shape.of_a.present() || shape.of_b.present() || shape.of_d.present();
  if (functions && (shape.in != DType::Float32 || shape.out != DType::Float32)) {
    fail<NotImplemented>("blas.product: functions of elements are for float32, these are {} and {}", name(shape.in),
                         name(shape.out));
  }
  for (const BoxGroup* g : {&shape.h, &shape.m, &shape.n, &shape.k})
    for (const BoxIndex& i : *g) require(i.extent >= 1, "blas.product: an extent is {}; it must be >= 1", i.extent);
  require(shape.alpha != Factor::Zero,
          "blas.product: a program with alpha = 0 would not read A and B; scale C instead");
  GroupKernel(builder, shape, tensors).record();
}

tile::Program product_program(const ProductShape& shape, const Machine& machine) {
  Builder b("blas_product", machine);
  const auto dims = [&](std::size_t operand, std::initializer_list<const BoxGroup*> groups) {
    std::pair<Shape, Strides> r;
    const std::int64_t unit = is_complex(shape.in) ? 2 : 1;
    for (const BoxGroup* g : groups) {
      for (auto i = g->rbegin(); i != g->rend(); ++i)
        r.first.push_back(i->extent), r.second.push_back(unit * i->stride[operand]);
    }
    if (unit == 2) r.first.push_back(2), r.second.push_back(1);
    if (r.first.empty()) r.first.push_back(1), r.second.push_back(1);
    return r;
  };
  ProductTensors t;
  const auto [as, at] = dims(kA, {&shape.h, &shape.m, &shape.k});
  const auto [bs, bt] = dims(kB, {&shape.h, &shape.k, &shape.n});
  const auto [ds_, dt] = dims(kD, {&shape.h, &shape.m, &shape.n});
  t.a = b.input("a", real_of(shape.in), as, at);
  t.b = b.input("b", real_of(shape.in), bs, bt);
  if (shape.beta != Factor::Zero) {
    t.c = b.input("c_in", real_of(shape.out), ds_, dt);
    t.d = b.output_over("c", t.c);
  } else {
    t.d = b.output("c", real_of(shape.out), ds_, dt);
  }
  record_product(b, shape, t);
  return tile::static_stores(b.finish());
}

bool product_is_skinny(const ProductShape& shape, const Machine& machine) {
  return device::is_skinny(shape, device::scheme(gemm_of(shape)), machine);
}

// A part of several indices holds more than half of the longest and leaves its last tile less than full, and so does
// the rest of the index that is cut: two tiles for each part.
std::int64_t product_depth(const BoxGroup& k, const Machine& machine) {
  const std::int64_t side = machine.partitions, depth = extent_of(k), longest = kPartTiles * side;
  if (k.size() <= 1 || depth <= longest) return depth;
  return depth + 2 * side * ceil_div(2 * depth, longest);
}

}  // namespace trn::blas
