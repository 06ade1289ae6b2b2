// The gather kernel: a window's distinct columns in tiles of 128, rows of B fetched by their numbers.
//
// Partitions: the columns of a tile (the contraction), then rows of the window. A tile costs one gather, 0.58 us of
// GpSimd's queue on trn2, 64 KiB of A in fp32 (178 ns of all DMA engines) and its matmuls; up to some 300 columns of B
// the gathers bind. The first tile of a window is loaded plainly where its columns are the window's own rows. The
// numbers come in one load where there are few, otherwise in one for each run of windows.
//
// A short program is written out, with rings of places as in resident.cpp. In a long one a run of windows is a loop
// with tiles of its own, and the engines wait for one another between two runs.
#include <algorithm>
#include <map>

#include <trn/tile/stores.hpp>

#include "tile_product.hpp"

namespace trn::sparse {

using namespace trn::tile;
using device::at;

namespace {

constexpr std::int64_t kWindowBytes = 16384;  // of A per partition that one load brings
constexpr std::int64_t kNumbersAtOnce = 4096;

class Gather {
 public:
  Gather(const GatherShape& shape, const Machine& machine)
      : s_(shape), b_("sparse_gather", machine), t_(b_, shape.product, tiles_of(shape, machine)) {
    std::int64_t gathered = 0, first = 0;
    for (const GatherRun& r : s_.runs) {
      gathered += r.windows * (r.tiles - plain(first, r));
      first += r.windows;
    }
    if (gathered > 0) index_ = b_.input("index", DType::UInt32, {t_.side, gathered});
    if (gathered > 0 && gathered <= kNumbersAtOnce) {
      numbers_ = b_.sbuf("all_numbers", t_.side, {gathered}, DType::UInt32);
      b_.dma_copy(numbers_, index_);
    }
  }

  Program build() {
    blocks::for_blocks(b_, "panel", s_.product.n, blocks::bank_columns(b_.machine()), LoopKind::Parallel,
                       [&](const Affine& n0, std::int64_t width) {
                         n0_ = n0, width_ = width;
                         rings_.clear();
                         std::int64_t window = 0, tile = 0, number = 0;
                         for (const GatherRun& r : s_.runs) {
                           run(r, window, tile, number);
                           number += r.windows * (r.tiles - plain(window, r));
                           window += r.windows, tile += r.windows * r.tiles;
                         }
                       });
    return static_stores(b_.finish());
  }

 private:
  static std::int64_t tiles_of(const GatherShape& s, const Machine&) {
    std::int64_t tiles = 0;
    for (const GatherRun& r : s.runs) tiles += r.windows * r.tiles;
    return tiles;
  }
  // A tile of (partitions, shape) that is used for a short time: `places` of them take turns. Written out, they are
  // places in one tile that is large enough for all that are asked for by this name.
  Access turn(const std::string& name, Space space, std::int64_t partitions, const Shape& shape, DType dtype,
              std::int64_t places, std::int64_t largest) {
    if (!s_.written_out)
      return space == Space::Psum ? b_.psum(name, partitions, shape, dtype, places)
                                  : b_.sbuf(name, partitions, shape, dtype, places);
    auto found = rings_.find(name);
    if (found == rings_.end()) {
      const Access ring = space == Space::Psum ? b_.psum(name, t_.side, {places, largest}, dtype)
                                               : b_.sbuf(name, t_.side, {places, largest}, dtype);
      found = rings_.emplace(name, Ring{ring, 0}).first;
    }
    Access place =
        at(found->second.tile, 0, found->second.next++ % places)(ds(0, partitions), ds(0, element_count(shape)));
    for (std::size_t d = shape.size(); d-- > 1;) {  // (a b c) becomes (a b, c), then (a, b, c)
      place = place.split(0, shape[d]);
    }
    return place;
  }
  std::int64_t rows_of(std::int64_t window) const { return std::min(t_.side, s_.product.rows - window * t_.side); }
  // Tiles of each window of a run that are loaded plainly.
  std::int64_t plain(std::int64_t first, const GatherRun& r) const {
    return s_.own && r.tiles > 0 && rows_of(first) == t_.side ? 1 : 0;
  }

  void run(const GatherRun& r, std::int64_t first, std::int64_t first_tile, std::int64_t first_number) {
    const std::int64_t rows = rows_of(first), own = plain(first, r), gathered = r.tiles - own;
    Access numbers;
    if (numbers_.present() && gathered > 0) {
      numbers = numbers_(all, ds(first_number, r.windows * gathered));
    } else if (gathered > 0) {
      numbers = b_.sbuf("numbers", t_.side, {r.windows * gathered}, DType::UInt32);
      b_.dma_copy(numbers, index_(all, ds(first_number, r.windows * gathered)));
    }
    const bool whole = r.tiles * t_.words.count * t_.side * size_bytes(t_.words.dtype) <= kWindowBytes;
    each("window", r.windows, LoopKind::Parallel, [&](const Affine& i) {
      const Affine row = (i + first) * t_.side, tile = i * r.tiles + first_tile;
      const Access result = turn("result", Space::Sbuf, rows, {width_}, DType::Float32, 3, width_);
      const auto c = [&](const Access& tensor) { return tensor(ds(row, rows), ds(n0_, width_)); };
      Access old;
      if (s_.product.added) {
        old = turn("old", Space::Sbuf, rows, {width_}, DType::Float32, 3, width_);
        b_.dma_copy(old, c(t_.c_in));
      }
      if (r.tiles == 0) {
        t_.evict_nothing(result, old);
        b_.dma_copy(c(t_.c), result);
        return;
      }
      Access a;
      if (whole) {
        a = turn("a_window", Space::Sbuf, t_.side, {r.tiles, t_.words.count, t_.side}, t_.words.dtype, 3,
                 kWindowBytes / size_bytes(t_.words.dtype));
        b_.dma_copy(a, t_.a(all, ds(tile, r.tiles)));
      }
      const Access sums =
          turn("sums", Space::Psum, rows, {width_}, DType::Float32, 4, blocks::bank_columns(b_.machine()));
      const auto multiply = [&](const Affine& j, const Affine& accumulate, const auto& load) {
        Access a_tile;
        if (whole) {
          a_tile = at(a, 0, j);
        } else {
          a_tile = turn("a_tile", Space::Sbuf, t_.side, {t_.words.count, t_.side}, t_.words.dtype, 4,
                        t_.words.count * t_.side);
          b_.dma_copy(a_tile, at(t_.a(all, ds(tile + j, 1)), 1, 0));
        }
        const Access rows_of_b = turn("b_rows", Space::Sbuf, t_.side, {width_}, DType::Float32, 8, width_);
        load(rows_of_b);
        multiply_words(sums, a_tile, rows_of_b, accumulate, rows);
      };
      if (own > 0) {
        multiply(0, 0, [&](const Access& to) { b_.dma_copy(to, t_.b(ds(row, t_.side), ds(n0_, width_))); });
      }
      each("tile", gathered, LoopKind::Sequential, [&](const Affine& j) {
        multiply(j + own, own > 0 ? Affine(1) : j, [&](const Access& to) {
          b_.dma_gather(to, t_.b(all, ds(n0_, width_)), numbers(all, ds(i * gathered + j, 1)));
        });
      });
      t_.evict(result, sums, old, turns_++ % 2 == 0 ? Engine::Vector : Engine::Scalar);
      b_.dma_copy(c(t_.c), result);
    });
  }

  template <class Body> void each(const char* variable, std::int64_t trip, LoopKind kind, const Body& body) {
    if (s_.written_out) {
      for (std::int64_t i = 0; i < trip; ++i) body(Affine(i));
    } else if (kind == LoopKind::Parallel) {
      b_.parallel(variable, trip, body);
    } else {
      b_.sequential(variable, trip, body);
    }
  }

  void multiply_words(const Access& sums, const Access& a, const Access& b, const Affine& accumulate,
                      std::int64_t rows) {
    std::vector<Access> words{b};
    if (s_.product.mode != Mode::Native) {
      words.clear();
      for (int w = 0; w < t_.words.count; ++w)
        words.push_back(turn("b_word" + std::to_string(w), Space::Sbuf, t_.side, {width_}, t_.words.dtype, 3, width_));
      const Access rest =
          t_.words.count == 3 ? turn("b_rest", Space::Sbuf, t_.side, {width_}, DType::Float32, 2, width_) : Access{};
      device::split_words(
          b_, t_.words, [&](int w) { return words[static_cast<std::size_t>(w)]; }, b, rest, Engine::Scalar);
    }
    bool first = true;
    for (const WordProduct& p : t_.words.products) {
      b_.nc_matmul(sums, at(a, 0, p.stationary)(all, ds(0, rows)), words[static_cast<std::size_t>(p.moving)],
                   {.accumulate = first ? accumulate : Affine(1)});
      first = false;
    }
  }

  struct Ring {
    Access tile;
    std::int64_t next;
  };
  const GatherShape& s_;
  Builder b_;
  std::map<std::string, Ring> rings_;
  device::ProductTensors t_;
  Access index_, numbers_;
  Affine n0_ = 0;
  std::int64_t width_ = 0, turns_ = 0;
};

}  // namespace

Program gather_program(const GatherShape& shape, const Machine& machine) { return Gather(shape, machine).build(); }

}  // namespace trn::sparse
