// The resident kernel: blocks of A as they stream in, times a panel of B that stays in SBUF.
//
// Partitions: columns of a block (the contraction), then rows of its window. B lies as (128, windows, words, columns of
// the panel) and is read once a panel; A once a panel, or once in all when it is pinned. A block of fp32 is 64 KiB: 178
// ns of all DMA engines on trn2 and, with 128 columns of B, 219 ns of the Tensor Engine; with fewer columns the DMA
// binds. Sums of one window need a bank of PSUM or a part of it: windows share a bank while their columns fit. Vector
// and Scalar Engine take turns at emptying banks. Everything that lives for a short time only has a ring of places in
// one tile, so that the program has few tiles however many blocks there are.
#include <algorithm>

#include <trn/core/error.hpp>
#include <trn/tile/stores.hpp>

#include "tile_product.hpp"

namespace trn::sparse {

using namespace trn::tile;
using blocks::ceil_div;
using device::at;

namespace {

constexpr std::int64_t kChunkBytes = 8192;  // of A per partition in one load
constexpr std::int64_t kChunks = 4, kBanks = 6, kResults = 4, kStages = 2;
constexpr std::int64_t kSlack = 4096;  // factors and alignment

struct Sizes {
  std::int64_t windows, block_columns, blocks, word_bytes, chunk, panel;
};

Sizes sizes_of(const ResidentShape& s, const Machine& m) {
  const Words& words = words_of(s.product.mode);
  Sizes z{};
  z.windows = ceil_div(s.product.rows, m.partitions);
  z.block_columns = ceil_div(s.product.columns, m.partitions);
  z.blocks = static_cast<std::int64_t>(s.blocks.size());
  z.word_bytes = words.count * size_bytes(words.dtype);
  z.chunk = std::clamp<std::int64_t>(kChunkBytes / (z.word_bytes * m.partitions), 1, 16);
  const std::int64_t bank = m.psum_bank_bytes, tile_bytes = m.partitions * z.word_bytes;
  const bool stages = s.product.mode != Mode::Native && !s.product.narrow;
  const std::int64_t rings = (s.pinned ? z.blocks : kChunks * z.chunk) * tile_bytes +
                             kResults * bank * (s.product.added ? 2 : 1) +
                             (stages ? kStages * kChunkBytes * (words.count == 3 ? 2 : 1) : 0) + kSlack;
  const std::int64_t room = m.sbuf_bytes_per_partition - rings;
  const std::int64_t most = z.block_columns == 0 ? 0 : room / (z.block_columns * z.word_bytes);
  const std::int64_t widest = std::min({s.product.n, blocks::bank_columns(m), std::max<std::int64_t>(most, 0)});
  if (widest < 1) return z;
  const std::int64_t panels = ceil_div(s.product.n, widest);
  z.panel = std::min(widest, ceil_div(ceil_div(s.product.n, panels), 32) * 32);
  return z;
}

class Resident {
 public:
  Resident(const ResidentShape& shape, const Machine& machine)
      : s_(shape), b_("sparse_resident", machine), z_(sizes_of(shape, machine)), t_(b_, shape.product, z_.blocks) {}

  Program build() {
    require(z_.panel > 0, "sparse: B of {} rows does not fit SBUF with one column; use the gather kernel",
            s_.product.columns);
    if (s_.pinned) {
      pinned_ = b_.sbuf("a_tiles", t_.side, {z_.blocks, t_.words.count, t_.side}, t_.words.dtype);
      for (std::int64_t t = 0; t < z_.blocks; t += z_.chunk) {
        const std::int64_t count = std::min(z_.chunk, z_.blocks - t);
        b_.dma_copy(pinned_(all, ds(t, count)), t_.a(all, ds(t, count)));
      }
    }
    blocks::for_blocks(b_, "panel", s_.product.n, z_.panel, LoopKind::Parallel,
                       [&](const Affine& n0, std::int64_t width) { panel(n0, width); });
    return static_stores(b_.finish());
  }

 private:
  void panel(const Affine& n0, std::int64_t width) {
    n0_ = n0, width_ = width;
    load_b();
    if (!s_.pinned)
      chunks_ = b_.sbuf("a_chunks", t_.side, {kChunks, z_.chunk, t_.words.count, t_.side}, t_.words.dtype);
    const std::int64_t bank = blocks::bank_columns(b_.machine());
    sums_ = b_.psum("sums", t_.side, {kBanks, bank});
    results_ = b_.sbuf("results", t_.side, {kResults, bank}, DType::Float32);
    if (s_.product.added) olds_ = b_.sbuf("olds", t_.side, {kResults, bank}, DType::Float32);
    const std::int64_t shared = std::max<std::int64_t>(1, bank / width);
    const auto filled = [&](std::int64_t w) { return offset(w + 1) > offset(w); };
    std::int64_t group = 0;
    for (std::int64_t w = 0; w < z_.windows;) {
      const std::int64_t rows = rows_of(w);
      std::int64_t end = w + 1;
      while (end < z_.windows && end - w < shared && rows_of(end) == rows && filled(end) == filled(w)) ++end;
      windows(w, end - w, rows, filled(w), group++);
      w = end;
    }
  }

  // Rows [128 first, ...) of B into partitions, in pieces of about kChunkBytes.
  void load_b() {
    const std::int64_t words = t_.words.count, columns = s_.product.columns;
    b_words_ = b_.sbuf("b_words", t_.side, {z_.block_columns, words, width_}, t_.words.dtype);
    const std::int64_t most = std::max<std::int64_t>(1, kChunkBytes / (4 * width_));
    const bool native = s_.product.mode == Mode::Native || s_.product.narrow;  // as it comes
    Access stages, rests;
    if (!native) {
      stages = b_.sbuf("b_stages", t_.side, {kStages, most * width_}, DType::Float32);
      if (words == 3) rests = b_.sbuf("b_rests", t_.side, {kStages, most * width_}, DType::Float32);
    }
    const std::int64_t whole = columns / t_.side;
    std::int64_t piece = 0;
    for (std::int64_t first = 0; first < z_.block_columns; ++piece) {
      const std::int64_t count = first < whole ? std::min(most, whole - first) : 1;
      const std::int64_t rows = first < whole ? t_.side : columns - whole * t_.side;
      const Access from = t_.b(ds(first * t_.side, count * rows), ds(n0_, width_)).split(0, rows).permute({1, 0, 2});
      const Access to = b_words_(ds(0, rows), ds(first, count));
      if (native) {
        b_.dma_copy(at(to, 1, 0), from);
      } else {
        const auto place = [&](const Access& ring) {
          return at(ring, 0, piece % kStages)(ds(0, rows), ds(0, count * width_)).split(0, width_);
        };
        const Access stage = place(stages);
        b_.dma_copy(stage, from);
        device::split_words(
            b_, t_.words, [&](int w) { return at(to, 1, w); }, stage, words == 3 ? place(rests) : Access{},
            piece % 2 == 0 ? Engine::Vector : Engine::Scalar);
      }
      first += count;
    }
  }

  // `count` windows from `first` on, in one bank.
  void windows(std::int64_t first, std::int64_t count, std::int64_t rows, bool filled, std::int64_t group) {
    const auto place = [&](const Access& ring, std::int64_t places) {
      return at(ring, 0, group % places)(ds(0, rows), ds(0, count * width_)).split(0, width_);  // (rows, count, width)
    };
    const Access result = place(results_, kResults);
    Access to = t_.c(ds(first * t_.side, count * rows), ds(n0_, width_)).split(0, rows).permute({1, 0, 2});
    Access old;
    if (s_.product.added) {
      old = place(olds_, kResults);
      b_.dma_copy(old, t_.c_in(ds(first * t_.side, count * rows), ds(n0_, width_)).split(0, rows).permute({1, 0, 2}));
    }
    if (filled) {
      const Access sums = place(sums_, kBanks);
      for (std::int64_t k = 0; k < count; ++k) window(at(sums, 0, k), first + k, rows);
      t_.evict(result, sums, old, group % 2 == 0 ? Engine::Vector : Engine::Scalar);
    } else {
      t_.evict_nothing(result, old);
    }
    b_.dma_copy(to, result);
  }

  void window(const Access& sums, std::int64_t w, std::int64_t rows) {
    bool first = true;
    for (std::int64_t t = offset(w); t < offset(w + 1); ++t) {
      const std::int64_t column = s_.blocks[static_cast<std::size_t>(t)];
      const std::int64_t depth = std::min(t_.side, s_.product.columns - column * t_.side);
      const Access a = tile(t);
      for (const WordProduct& p : t_.words.products) {
        const Access stationary = at(a, 0, p.stationary)(ds(0, depth), ds(0, rows));
        const Access moving = at(at(b_words_, 1, p.moving), 0, column)(ds(0, depth), all);
        b_.nc_matmul(sums, stationary, moving, {.accumulate = first ? 0 : 1});
        first = false;
      }
    }
  }

  // (128, words, 128): block t, which comes with its chunk.
  Access tile(std::int64_t t) {
    if (s_.pinned) return at(pinned_, 0, t);
    const std::int64_t chunk = t / z_.chunk;
    const Access place = at(chunks_, 0, chunk % kChunks);
    if (t % z_.chunk == 0) {
      const std::int64_t count = std::min(z_.chunk, z_.blocks - t);
      b_.dma_copy(place(all, ds(0, count)), t_.a(all, ds(t, count)));
    }
    return at(place, 0, t % z_.chunk);
  }

  std::int64_t offset(std::int64_t w) const { return s_.offsets[static_cast<std::size_t>(w)]; }
  std::int64_t rows_of(std::int64_t w) const { return std::min(t_.side, s_.product.rows - w * t_.side); }

  const ResidentShape& s_;
  Builder b_;
  const Sizes z_;
  device::ProductTensors t_;
  Affine n0_ = 0;
  std::int64_t width_ = 0;
  Access pinned_, chunks_, b_words_, sums_, results_, olds_;
};

}  // namespace

std::int64_t resident_panel(const ResidentShape& shape, const Machine& machine) {
  return sizes_of(shape, machine).panel;
}

Program resident_program(const ResidentShape& shape, const Machine& machine) {
  return Resident(shape, machine).build();
}

}  // namespace trn::sparse
