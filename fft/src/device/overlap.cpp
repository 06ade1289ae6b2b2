// Overlapping frames added to a signal.
//
// Point p of the signal is p = q hop + r, 0 <= r < hop. With shift = e hop - s, 0 <= s < hop, it gets from layer l = 0,
// 1, ... the point j = l hop + r - s of frame t = q + e - l: consecutive q take consecutive frames, so a layer is one
// load with q on partitions (k of them behind one another on each) and r along the free dimension, and a store writes k
// hop consecutive points a partition. A layer whose j begins or ends within the frame covers a part of r.
//
// Per point and layer DMA moves 4 bytes, GpSimd multiplies by the window, the Vector Engine adds: for 1024 numbers a
// partition and layer 1.3 us of DMA, 1.6 us of GpSimd, 2.1 us of Vector on trn2: the Vector Engine binds.
#include <algorithm>
#include <trn/core/error.hpp>
#include <trn/fft/overlap_program.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/stores.hpp>

#include "line_kernel.hpp"

namespace trn::fft {

using namespace trn::tile;
using namespace device;
using blocks::ceil_div;

namespace {

constexpr std::int64_t kTileReals = 1024, kWindowReals = 16384;  // per partition
constexpr std::int64_t kBuffers = 4;  // loads and stores of other tiles go on meanwhile: DMA takes 2 us to begin

struct Layers {
  std::int64_t e, s, layers;
  explicit Layers(const OverlapShape& o) {
    e = ceil_div(o.shift, o.hop);
    s = e * o.hop - o.shift;
    layers = ceil_div(o.points + s, o.hop);
  }
};

class OverlapKernel {
 public:
  OverlapKernel(const OverlapShape& shape, const Machine& machine)
      : o_(shape), layers_(shape), rows_(overlap_rows(shape)), b_("fft_overlap", machine) {}

  Program build() {
    const std::int64_t frame = o_.points * o_.frame_step;
    x_ = b_.input("x", DType::Float32, {o_.signals, rows_.rows, frame});
    factor_ = b_.input("factor", DType::Float32, {o_.length});
    if (o_.window) window_ = b_.input("window", DType::Float32, {o_.points});
    y_ = b_.output("y", DType::Float32, {o_.signals, o_.length * o_.parts});
    const std::int64_t whole = o_.length / o_.hop, rest = o_.length % o_.hop;
    const std::int64_t width =
        std::max<std::int64_t>(1, std::min(kTileReals / o_.parts, kWindowReals / layers_.layers));
    if (whole > 0) columns(0, whole, std::min(o_.hop, o_.length), width);
    if (rest > 0) columns(whole, 1, rest, width);
    return tile::static_stores(b_.finish());
  }

 private:
  // Rows q of [first, first + count), columns r of [0, end).
  void columns(std::int64_t first, std::int64_t count, std::int64_t end, std::int64_t width) {
    for (std::int64_t r = 0; r < end; r += width) {
      const std::int64_t size = std::min(width, end - r), side = b_.machine().partitions;
      const Access window = load_window(r, size);
      const std::int64_t each = std::clamp(kTileReals / (size * o_.parts), std::int64_t{1}, ceil_div(count, side)),
                         full = side * each;
      b_.parallel("signal", o_.signals, [&](Affine b) {
        const auto at = [&](const Affine& q, std::int64_t partitions, std::int64_t k) {
          tile(b, q + first, partitions, k, r, size, window);
        };
        const std::int64_t whole = count / full, rest = count % full;
        b_.parallel("rows", whole, [&](Affine i) { at(i * full, side, each); });
        if (rest / each > 0) at(Affine(whole * full), rest / each, each);
        if (rest % each > 0) at(Affine(count - rest % each), 1, rest % each);
      });
    }
  }

  struct Range {
    std::int64_t from, to;  // of r - r0
    [[nodiscard]] std::int64_t size() const { return to - from; }
  };
  [[nodiscard]] Range range(std::int64_t layer, std::int64_t r, std::int64_t size) const {
    const std::int64_t j = layer * o_.hop - layers_.s + r;  // of the first column
    return {std::clamp<std::int64_t>(-j, 0, size), std::clamp<std::int64_t>(o_.points - j, 0, size)};
  }

  // (128, layers, size): the window's values for these columns.
  Access load_window(std::int64_t r, std::int64_t size) {
    if (!o_.window) return {};
    const std::int64_t side = b_.machine().partitions;
    const Access tile = b_.sbuf("window_tile", side, {layers_.layers * size}, DType::Float32);
    for (std::int64_t l = 0; l < layers_.layers; ++l) {
      const Range part = range(l, r, size);
      if (part.size() <= 0) continue;
      b_.dma_copy(pattern(tile, l * size + part.from, {{1, part.size()}}),
                  pattern(window_, l * o_.hop - layers_.s + r + part.from, {{0, side}, {1, part.size()}}));
    }
    return tile;
  }

  // Points (q + i k + m) hop + r + c: partition i, m < k, c < size.
  void tile(const Affine& b, const Affine& q, std::int64_t partitions, std::int64_t k, std::int64_t r,
            std::int64_t size, const Access& window) {
    const std::int64_t parts = o_.parts, frame = o_.points * o_.frame_step;
    const auto numbers = [&](const Access& t, const Range& part) {  // (P, k, columns, parts)
      return pattern(t, part.from * parts, {{size * parts, k}, {1, part.size() * parts}});
    };
    const Access sum = b_.sbuf("sum", partitions, {k * size * parts}, DType::Float32, kBuffers);
    bool begun = false;
    for (std::int64_t l = 0; l < layers_.layers; ++l) {
      const Range part = range(l, r, size);
      if (part.size() <= 0) continue;
      const bool whole = part.size() == size;
      if (!begun && !whole) b_.memset(sum, 0, Engine::Vector), begun = true;
      const Access piece = b_.sbuf("piece", partitions, {k * part.size() * parts}, DType::Float32, kBuffers);
      const Affine row = q + b * rows_.rows + (rows_.first_row + layers_.e - l);
      b_.dma_copy(piece, pattern(x_, row * frame + (l * o_.hop - layers_.s + r + part.from) * o_.frame_step,
                                 {{k * frame, partitions}, {frame, k}, {o_.frame_step, part.size()}, {1, parts}}));
      const Access to = begun ? piece : sum;
      if (o_.window) {
        const Access w =
            pattern(window(ds(0, partitions), all), l * size + part.from, {{0, k}, {1, part.size()}, {0, parts}});
        const Access values = pattern(piece, 0, {{part.size() * parts, k}, {parts, part.size()}, {1, parts}});
        b_.tensor_tensor(begun ? values : pattern(sum, 0, values.dims), values, w, AluOp::Multiply, Engine::GpSimd);
      } else if (!begun) {
        b_.tensor_copy(to, piece, Engine::Vector);
      }
      if (begun)
        b_.tensor_tensor(numbers(sum, part), numbers(sum, part),
                         pattern(piece, 0, {{part.size() * parts, k}, {1, part.size() * parts}}), AluOp::Add,
                         Engine::Vector);
      begun = true;
    }
    if (!begun) b_.memset(sum, 0, Engine::Vector);
    const Access factor = b_.sbuf("factor_tile", partitions, {k * size}, DType::Float32, kBuffers);
    b_.dma_copy(factor, pattern(factor_, q * o_.hop + r, {{k * o_.hop, partitions}, {o_.hop, k}, {1, size}}));
    const Access all_sums = pattern(sum, 0, {{parts, k * size}, {1, parts}});
    b_.tensor_tensor(all_sums, all_sums, pattern(factor, 0, {{1, k * size}, {0, parts}}), AluOp::Multiply,
                     Engine::Vector);
    b_.dma_copy(pattern(y_, b * (o_.length * parts) + (q * o_.hop + r) * parts,
                        {{k * o_.hop * parts, partitions}, {o_.hop * parts, k}, {1, size * parts}}),
                sum);
  }

  const OverlapShape o_;
  const Layers layers_;
  const OverlapRows rows_;
  tile::Builder b_;
  Access x_, factor_, window_, y_;
};

}  // namespace

OverlapRows overlap_rows(const OverlapShape& o) {
  const Layers k(o);
  const std::int64_t last = ceil_div(o.length, o.hop) - 1 + k.e;  // the latest frame that is read
  OverlapRows rows;
  rows.first_row = std::max<std::int64_t>(0, k.layers - 1 - k.e);
  rows.rows = rows.first_row + std::max(o.count, last + 1);
  return rows;
}

Program overlap_program(const OverlapShape& o, const Machine& machine) {
  require(o.points >= 1 && o.hop >= 1 && o.shift >= 0 && o.length >= 1 && o.signals >= 1 && o.frame_step >= o.parts,
          "fft.istft: {} frames of {} points, hop {}, for {} points are not a sum of overlapping frames", o.count,
          o.points, o.hop, o.length);
  if (Layers(o).layers > kWindowReals) {
    fail<NotImplemented>(
        "fft.istft: {} frames of {} points lie over a point; the device adds up to {}: use a larger hop, or the host",
        Layers(o).layers, o.points, kWindowReals);
  }
  return OverlapKernel(o, machine).build();
}

}  // namespace trn::fft
