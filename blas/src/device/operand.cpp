// Loading, turning and splitting operands.
//
// Complex pairs are loaded as they lie, long rows of (re, im), and the engines pick a part with a stride of two
// elements, which costs them nothing. Words are made by the Scalar Engine (roundings) and GpSimd (differences): the
// Vector Engine is left to the sums that leave PSUM, so that the words of the next block never wait behind those.
#include "operand.hpp"

#include <algorithm>
#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/transpose.hpp>

#include "element_function.hpp"
#include "words.hpp"

namespace trn::blas::device {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;

namespace {

constexpr std::int64_t kRowTiles = 8;  // rows that are turned into scratch are read this many tiles of k at a time

// Free dimension d, of which `index` is taken, removed.
Access at(Access access, std::size_t d, std::int64_t index) {
  access.offset = access.offset + Affine(index * access.dims[d].stride);
  access.dims.erase(access.dims.begin() + static_cast<std::ptrdiff_t>(d));
  return access;
}

const char* name_of(Part part) {
  switch (part) {
    case Part::Value:
      return "";
    case Part::Re:
      return "_re";
    case Part::Im:
      return "_im";
    case Part::NegIm:
      return "_negim";
    case Part::Sum:
    case Part::Difference:
      return "_sum";
  }
  return "";
}

}  // namespace

Route route(DType real, std::int64_t k_stride, std::int64_t k, std::int64_t other_stride, std::int64_t other,
            const Machine& machine) {
  const bool k_contiguous = k_stride == 1 && k > 1, other_contiguous = other_stride == 1 || other == 1;
  if (other_contiguous || !k_contiguous) return Route::Direct;
  return machine.dma_transpose && size_bytes(real) == 2 ? Route::DmaTranspose : Route::TensorTranspose;
}

Operand::Operand(Builder& b, std::string name, Access hbm, Route route, const Scheme& scheme,
                 const std::vector<Part>& parts)
    : b_(b),
      name_(std::move(name)),
      hbm_(std::move(hbm)),
      route_(route),
      scheme_(scheme),
      parts_(parts),
      side_(b.machine().partitions) {}

Access Operand::raw_tile(const std::string& name, std::int64_t partitions, std::int64_t tiles, std::int64_t x,
                         std::int64_t buffers) const {
  const Shape shape = !scheme_.complex ? Shape{tiles, x} : planar() ? Shape{tiles, 2, x} : Shape{tiles, x, 2};
  return b_.sbuf(name, partitions, shape, scheme_.real, buffers);
}

Access Operand::plane(const Access& raw, int part) const {
  return scheme_.complex ? at(raw, planar() ? 1 : 2, part) : raw;
}

Held Operand::hold(const std::string& name, std::int64_t partitions, std::int64_t tiles, std::int64_t x,
                   std::int64_t buffers) const {
  Held held;
  if (scheme_.any_as_loaded(parts_)) held.raw = raw_tile(name, partitions, tiles, x, buffers);
  for (const Part part : parts_) {
    if (scheme_.as_loaded(part)) continue;
    for (int w = 0; w < scheme_.words; ++w) {
      const std::string word = scheme_.words == 1 ? std::string() : fmt::format("_{}", w);
      held.made.push_back(b_.sbuf(name + name_of(part) + word, partitions, {tiles, x}, scheme_.word,
                                  std::min<std::int64_t>(3, buffers)));
    }
  }
  return held;
}

Held Operand::part(const Held& held, const Chunk& c, const Affine& first) const {
  Held result;
  const auto cut = [&](const Access& tile) { return tile(ds(0, c.depth), ds(c.first - first, c.tiles)); };
  if (held.raw.present()) result.raw = cut(held.raw);
  for (const Access& word : held.made) result.made.push_back(cut(word));
  return result;
}

Held Operand::narrow(const Held& held, std::int64_t from, std::int64_t size) const {
  Held result;
  if (held.raw.present()) {
    result.raw = planar() ? held.raw(all, all, all, ds(from, size)) : held.raw(all, all, ds(from, size));
  }
  for (const Access& word : held.made) result.made.push_back(word(all, all, ds(from, size)));
  return result;
}

std::vector<Access> Operand::words(const Held& held) const {
  std::vector<Access> result;
  auto made = held.made.begin();
  for (const Part part : parts_) {
    if (scheme_.as_loaded(part)) {
      result.push_back(plane(held.raw, part == Part::Im ? 1 : 0));
      continue;
    }
    for (int w = 0; w < scheme_.words; ++w) result.push_back(*made++);
  }
  return result;
}

void Operand::bring(const Held& held, const Chunk& c, const Affine& x0, std::int64_t x,
                    std::int64_t raw_buffers) const {
  const Access raw = held.raw.present() ? held.raw : raw_tile(name_ + "_raw", c.depth, c.tiles, x, raw_buffers);
  if (route_ == Route::TensorTranspose)
    turn(raw, c, x0, x);
  else
    load(raw, c, x0, x);
  if (function_.present()) record_function(b_, function_, raw, raw);
  if (!held.made.empty()) make_words(held, raw);
}

void Operand::load(const Access& raw, const Chunk& c, const Affine& x0, std::int64_t x) const {
  const Access block =
      hbm_(ds(c.first * side_, c.tiles * c.depth), ds(x0, x)).split(0, c.depth);  // (tiles, depth, x[, 2])
  if (route_ == Route::DmaTranspose)
    return b_.dma_transpose(raw, block.permute({2, 0, 1}));  // (x, tiles, depth) -> (depth, tiles, x)
  if (!scheme_.complex)
    b_.dma_copy(raw, block.permute({1, 0, 2}));
  else
    b_.dma_copy(raw, planar() ? block.permute({1, 0, 3, 2}) : block.permute({1, 0, 2, 3}));
}

// Rows of contiguous k, 128 at a time, through PSUM.
void Operand::turn(const Access& raw, const Chunk& c, const Affine& x0, std::int64_t x) const {
  for_blocks(b_, "mt", x, side_, LoopKind::Parallel, [&](const Affine& x1, std::int64_t height) {
    const std::int64_t depth = c.tiles * c.depth;
    const Shape shape = !scheme_.complex ? Shape{depth} : planar() ? Shape{2, depth} : Shape{depth, 2};
    const Access strip = b_.sbuf(name_ + "_rows", height, shape, scheme_.real, row_buffers_);
    Access rows = hbm_(ds(c.first * side_, depth), ds(x0 + x1, height));
    std::swap(rows.dims[0], rows.dims[1]);  // (x, k[, 2])
    b_.dma_copy(strip, planar() ? rows.permute({0, 2, 1}) : rows);
    for (int p = 0; p < planes(); ++p) {
      const Access from = !scheme_.complex ? strip : at(strip, planar() ? 0 : 1, p);
      blocks::transpose_pieces(b_, plane(raw, p)(all, all, ds(x1, height)), from);
    }
  });
}

void Operand::bring(const Held& held, const BoxChunk& c, std::int64_t raw_buffers) const {
  const std::int64_t x = blocks::extent_of(c.x);
  const Access raw = held.raw.present() ? held.raw : raw_tile(name_ + "_raw", c.depth, c.tiles, x, raw_buffers);
  if (route_ == Route::TensorTranspose)
    turn(raw, c);
  else
    load(raw, c);
  if (function_.present()) record_function(b_, function_, raw, raw);
  if (!held.made.empty()) make_words(held, raw);
}

namespace {

// The elements of two boxes as a pattern in HBM; of complex ones (re, im) innermost.
Access pattern(const BoxChunk& c, const blocks::SubBox& outer, const blocks::SubBox& inner, bool complex) {
  Access hbm = c.hbm;
  hbm.offset = hbm.offset + Affine(outer.offset[c.number] + inner.offset[c.number]);
  hbm.dims.clear();
  blocks::append_dims(hbm.dims, outer.box, c.number);
  blocks::append_dims(hbm.dims, inner.box, c.number);
  if (complex) hbm.dims.push_back({1, 2});
  if (hbm.dims.empty()) hbm.dims.push_back({1, 1});
  return hbm;
}

}  // namespace

// One copy per tile of k and box of it; all tiles in one copy where k is one index.
void Operand::load(const Access& raw, const BoxChunk& c) const {
  const std::int64_t x = blocks::extent_of(c.x);
  const blocks::SubBox columns{0, x, {}, c.x};
  if (c.k.size() == 1) {
    const blocks::BoxIndex& k = c.k.front();
    blocks::SubBox rows{0, c.tiles * c.depth, {}, {}};
    for (std::size_t i = 0; i < blocks::kBoxOperands; ++i) rows.offset[i] = c.k0 * k.stride[i];
    blocks::BoxIndex by_tile{c.tiles, k.stride};
    for (std::int64_t& stride : by_tile.stride) stride *= c.depth;
    rows.box = {by_tile, {c.depth, k.stride}};  // (depth, tiles)
    return b_.dma_copy(raw, pattern(c, rows, columns, scheme_.complex));
  }
  for (std::int64_t t = 0; t < c.tiles; ++t) {
    for (const blocks::SubBox& rows : blocks::sub_boxes(c.k, c.k0 + t * c.depth, c.depth)) {
      const Access to = raw(ds(rows.start - c.k0 - t * c.depth, rows.size), ds(t, 1));
      b_.dma_copy(to, pattern(c, rows, columns, scheme_.complex));
    }
  }
}

void Operand::turn(const Access& raw, const BoxChunk& c) const {
  const std::int64_t x = blocks::extent_of(c.x), depth = c.tiles * c.depth;
  const std::vector<blocks::SubBox> inner = blocks::sub_boxes(c.k, c.k0, depth);
  for (std::int64_t x1 = 0; x1 < x; x1 += side_) {
    const std::int64_t height = std::min(side_, x - x1);
    Access strip;
    if (rows_.present()) {
      strip = at(rows_(ds(0, height), all, ds(0, depth)), 0, next_row_++ % rows_.dims[0].size);
    } else {
      strip = b_.sbuf(name_ + "_rows", height, scheme_.complex ? Shape{depth, 2} : Shape{depth}, scheme_.real, 2);
    }
    for (const blocks::SubBox& rows : blocks::sub_boxes(c.x, x1, height)) {
      for (const blocks::SubBox& k : inner) {
        b_.dma_copy(strip(ds(rows.start - x1, rows.size), ds(k.start - c.k0, k.size)),
                    pattern(c, rows, k, scheme_.complex));
      }
    }
    for (int p = 0; p < planes(); ++p) {
      blocks::transpose_pieces(b_, plane(raw, p)(all, all, ds(x1, height)), scheme_.complex ? at(strip, 1, p) : strip);
    }
  }
}

void Operand::make_words(const Held& held, const Access& raw) const {
  const auto part_of = [&](int p) { return plane(raw, p); };
  auto made = held.made.begin();
  std::vector<Access> im;
  for (const Part part : parts_) {
    if (scheme_.as_loaded(part)) continue;
    const std::vector<Access> words(made, made + scheme_.words);
    made += scheme_.words;
    if (part == Part::Im) im = words;
    if (part == Part::NegIm) {  // the words of -x are those of x, negated
      for (int w = 0; w < scheme_.words; ++w) {
        blocks::scale(b_, words[static_cast<std::size_t>(w)], im.empty() ? part_of(1) : im[static_cast<std::size_t>(w)],
                      -1.0, Engine::Scalar);
      }
    } else if (part == Part::Sum || part == Part::Difference) {
      const AluOp op = part == Part::Sum ? AluOp::Add : AluOp::Subtract;
      const bool whole = scheme_.words == 1 && scheme_.word == DType::Float32;
      const Access& like = words.front();
      const Access sum =
          whole ? like
                : b_.sbuf(name_ + "_part", like.partitions, {like.dims[0].size, like.dims[1].size}, DType::Float32, 2);
      b_.tensor_tensor(sum, part_of(0), part_of(1), op, Engine::GpSimd);
      if (!whole) split(words, sum);
    } else {
      split(words, part_of(part == Part::Im ? 1 : 0));
    }
  }
}

void Operand::split(const std::vector<Access>& words, const Access& x) const {
  split_words(b_, words, x, {Engine::Scalar, Engine::GpSimd, name_ + "_rest"});
}

void Operand::turn_in_hbm() {
  const std::int64_t k = hbm_.dims[0].size, x = hbm_.dims[1].size;
  const Access turned = b_.scratch(name_ + "_turned", scheme_.real, scheme_.complex ? Shape{k, x, 2} : Shape{k, x});
  Access rows_of_x = hbm_;
  std::swap(rows_of_x.dims[0], rows_of_x.dims[1]);  // (x, k[, 2])
  const std::int64_t wide = kRowTiles * side_;
  const auto shape = [&](Shape s) {
    if (scheme_.complex) s.push_back(2);
    return s;
  };
  for_blocks(b_, "nt", x, side_, LoopKind::Parallel, [&](const Affine& x0, std::int64_t columns) {
    for_blocks(b_, "kt", k, wide, LoopKind::Parallel, [&](const Affine& k0, std::int64_t depth) {
      const Access rows = b_.sbuf(name_ + "_rows", columns, shape({depth}), scheme_.real, 4);
      b_.dma_copy(rows, rows_of_x(ds(x0, columns), ds(k0, depth)));
      const std::int64_t tiles = ceil_div(depth, side_), whole = depth / side_;
      const Access piece = b_.sbuf(name_ + "_piece", std::min(side_, depth), shape({tiles, columns}), scheme_.real, 4);
      for (int p = 0; p < planes(); ++p) {
        if (scheme_.complex)
          blocks::transpose_pieces(b_, at(piece, 2, p), at(rows, 1, p));
        else
          blocks::transpose_pieces(b_, piece, rows);
      }
      const auto order = scheme_.complex ? std::vector<std::size_t>{1, 0, 2, 3} : std::vector<std::size_t>{1, 0, 2};
      if (whole > 0) {
        b_.dma_copy(turned(ds(k0, whole * side_), ds(x0, columns)).split(0, side_).permute(order),
                    piece(all, ds(0, whole), all));
      }
      if (depth % side_ > 0) {
        b_.dma_copy(turned(ds(k0 + whole * side_, depth % side_), ds(x0, columns)),
                    at(piece(ds(0, depth % side_)), 0, whole));
      }
    });
  });
  replace(turned);
}

void Operand::replace(Access hbm) {
  hbm_ = std::move(hbm);
  route_ = Route::Direct;
}

}  // namespace trn::blas::device
