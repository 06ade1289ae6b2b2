// mx_gemm and mx_quantize on the device: the programs, and their launches.
//
// nc_matmul_mx contracts 512 values: four in an element, 128 partitions, k = 4p + q in natural order. Operands lie in
// HBM as the engine wants them (MxMatrix), so loads are rows; the scales of a quadrant's four groups go to its
// partitions 0 to 3. A block of C is 1024 x 512, all PSUM banks: its rows of A stay in SBUF where they fit, and B is
// streamed, so that 1024 products wait for each value of B that is loaded.
//
// quantize_mx wants the four neighbours of an element side by side along the free dimension and k on partitions:
// dma_transpose takes (rows, q, p), stride 4 along p, to (p, q, rows), and the instruction reads (rows, q) of that.
#include <array>
#include <optional>
#include <trn/blas/mx_program.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "../kernels/mx.hpp"
#include "launch.hpp"
#include "views.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;
using device::without;

namespace {

constexpr std::int64_t kBlockRows = 1024, kBlockColumns = 512, kChunkTiles = 4;
constexpr std::int64_t kPanelBytes = 80 << 10;                    // of a partition, for rows of A that stay
constexpr std::int64_t kPacked = 4, kQuadrant = 32, kGroups = 4;  // values in an element; groups in a quadrant

std::int64_t even(std::int64_t x) { return (x + 1) / 2 * 2; }
std::int64_t padded_depth(std::int64_t k) { return ceil_div(k, kQuadrant * kPacked) * kQuadrant * kPacked; }
DType packed_dtype(MxType type) { return type == MxType::Float4E2M1FN ? DType::UInt16 : DType::UInt32; }
MxFormat format_of(MxType type) {
  return type == MxType::Float8E4M3FN ? MxFormat::Float8E4M3FN
         : type == MxType::Float8E5M2 ? MxFormat::Float8E5M2
                                      : MxFormat::Float4E2M1FN;
}

void require_mx(const char* operation, const Machine& machine) {
  if (!machine.microscaling)
    fail<NotImplemented>("{}: {} has no microscaling formats; trn3 has", operation, machine.name);
}

// One operand: its elements (k / 4, x) and scales (k / 32, x) in HBM.
struct MxOperand {
  Access data, scale;
  std::string name;

  MxOperand(Builder& b, std::string which, MxType type, std::int64_t rows, std::int64_t k)
      : data(b.input(which, packed_dtype(type), {padded_depth(k) / kPacked, even(rows)})),
        scale(b.input(which + "_scale", DType::UInt8, {padded_depth(k) / kMxGroup, even(rows)})),
        name(std::move(which)) {}

  struct Tiles {
    Access data, scale;  // (partitions, tiles, width)
    [[nodiscard]] Access data_of(const Affine& t, std::int64_t from, std::int64_t width) const {
      return without(data(all, ds(t, 1), ds(from, width)), 0);
    }
    [[nodiscard]] Access scale_of(const Affine& t, std::int64_t from, std::int64_t width) const {
      return without(scale(all, ds(t, 1), ds(from, width)), 0);
    }
  };
  // Tiles t0 ... of `partitions` elements along k, columns [x0, x0 + width).
  Tiles load(Builder& b, const Affine& t0, std::int64_t tiles, std::int64_t whole, std::int64_t partitions,
             const Affine& x0, std::int64_t width, const char* suffix = "", std::int64_t buffers = 2) const {
    Tiles r{b.sbuf(name + "_tile" + suffix, partitions, {tiles, width}, data.dtype, buffers),
            b.sbuf(name + "_scale_tile" + suffix, partitions, {tiles, width}, DType::UInt8, buffers)};
    b.dma_copy(r.data, data(ds(t0 * whole, tiles * partitions), ds(x0, width)).split(0, partitions).permute({1, 0, 2}));
    const std::int64_t rows = partitions / kQuadrant * kGroups;
    const Access from =
        scale(ds(t0 * (whole / kQuadrant * kGroups), tiles * rows), ds(x0, width)).split(0, rows).permute({1, 0, 2});
    for (std::int64_t q = 0; q < partitions / kQuadrant; ++q)
      b.dma_copy(r.scale(ds(q * kQuadrant, kGroups)), from(ds(q * kGroups, kGroups)));
    return r;
  }
};

class MxKernel {
 public:
  MxKernel(const MxGemmShape& shape, const Machine& machine)
      : s_(shape),
        b_("blas_mx_gemm", machine),
        side_(machine.partitions),
        bank_(blocks::bank_columns(machine)),
        x_(b_, "a", shape.a, shape.m, shape.k),
        y_(b_, "b", shape.b, shape.n, shape.k) {}

  Program build() {
    if (s_.alpha == Factor::Input) alpha_ = blocks::scalar_input(b_, "alpha");
    if (s_.beta == Factor::Input) beta_ = blocks::scalar_input(b_, "beta");
    if (s_.beta != Factor::Zero) c_in_ = b_.input("c_in", s_.out, {s_.m, s_.n}, {s_.cm, s_.cn});
    c_ = s_.beta == Factor::Zero ? b_.output("c", s_.out, {s_.m, s_.n}, {s_.cm, s_.cn}) : b_.output_over("c", c_in_);
    for_blocks(b_, "mb", s_.m, kBlockRows, LoopKind::Parallel, [&](const Affine& m0, std::int64_t rows) {
      const Panel panel = panel_of(m0, rows);
      for_blocks(b_, "nb", s_.n, kBlockColumns, LoopKind::Parallel,
                 [&](const Affine& n0, std::int64_t columns) { block(panel, m0, rows, n0, columns); });
    });
    return tile::static_stores(b_.finish());
  }

 private:
  std::int64_t whole_tiles() const { return padded_depth(s_.k) / kPacked / side_; }
  std::int64_t rest() const { return padded_depth(s_.k) / kPacked % side_; }

  // Rows of A for all of k: whole tiles and the last one; absent where they do not fit.
  struct Panel {
    std::optional<MxOperand::Tiles> whole, rest;
  };
  Panel panel_of(const Affine& m0, std::int64_t rows) {
    const std::int64_t bytes = (whole_tiles() + 1) * even(rows) * (size_bytes(x_.data.dtype) + 1);
    if (bytes > kPanelBytes) return {};
    const std::int64_t buffers = 2 * bytes <= kPanelBytes ? 2 : 1;
    Panel p;
    if (whole_tiles() > 0) p.whole = x_.load(b_, 0, whole_tiles(), side_, side_, m0, even(rows), "_panel", buffers);
    if (rest() > 0) p.rest = x_.load(b_, whole_tiles(), 1, side_, rest(), m0, even(rows), "_last", buffers);
    return p;
  }

  // The engine wants an even number of rows: the padding is multiplied and not stored.
  void block(const Panel& panel, const Affine& m0, std::int64_t rows, const Affine& n0, std::int64_t columns) {
    const blocks::Accumulator sums = blocks::accumulator(b_, "sums", even(rows), columns);
    const auto chunk = [&](const Affine& t0, std::int64_t tiles, std::int64_t partitions) {
      const std::optional<MxOperand::Tiles>& held = partitions == side_ ? panel.whole : panel.rest;
      const Affine first = held && partitions == side_ ? t0 : Affine(0);
      const MxOperand::Tiles a = held ? *held : x_.load(b_, t0, tiles, side_, partitions, m0, even(rows)),
                             b = y_.load(b_, t0, tiles, side_, partitions, n0, columns);
      for (std::int64_t t = 0; t < tiles; ++t) {
        for (std::int64_t i = 0; i < sums.row_pieces(); ++i) {
          for (std::int64_t j = 0; j < sums.column_pieces(); ++j) {
            const std::int64_t height = sums.rows_of(i), width = sums.columns_of(j);
            b_.nc_matmul_mx(sums.piece(i, j), a.data_of(first + t, i * side_, height), b.data_of(t, j * bank_, width),
                            a.scale_of(first + t, i * side_, height), b.scale_of(t, j * bank_, width),
                            {.stationary = format_of(s_.a), .moving = format_of(s_.b), .accumulate = t0 + t});
          }
        }
      }
    };
    for_blocks(b_, "kb", whole_tiles(), kChunkTiles, LoopKind::Sequential,
               [&](const Affine& t0, std::int64_t tiles) { chunk(t0, tiles, side_); });
    if (rest() > 0) chunk(whole_tiles(), 1, rest());
    for (std::int64_t i = 0; i < sums.row_pieces(); ++i) {
      for (std::int64_t j = 0; j < sums.column_pieces(); ++j) {
        const std::int64_t height = std::min(side_, rows - i * side_), width = sums.columns_of(j);
        store(sums.piece(i, j)(ds(0, height)), m0 + i * side_, n0 + j * bank_, height, width);
      }
    }
  }

  // C = beta C + alpha sum; pieces go to the Vector and the Scalar Engine in turn where one pass does it.
  void store(const Access& sum, const Affine& m, const Affine& n, std::int64_t height, std::int64_t width) {
    const auto factor = [&](Factor kind, const Access& tile) {
      return kind == Factor::Input ? ScalarOrTile(tile(ds(0, height), all)) : ScalarOrTile(1.0);
    };
    const Access out = b_.sbuf("out", height, {width}, s_.out, 3), c = c_(ds(m, height), ds(n, width));
    if (s_.beta == Factor::Zero) {
      blocks::scale(b_, out, sum, factor(s_.alpha, alpha_), turn_ ? Engine::Scalar : Engine::Vector);
      turn_ = !turn_;
    } else {
      const Access old = b_.sbuf("old", height, {width}, s_.out, 3),
                   product = b_.sbuf("product", height, {width}, DType::Float32, 3);
      b_.dma_copy(old, c_in_(ds(m, height), ds(n, width)));
      blocks::scale(b_, product, sum, factor(s_.alpha, alpha_), Engine::Scalar);
      b_.scalar_tensor_tensor(out, old, AluOp::Multiply, factor(s_.beta, beta_), AluOp::Add, product);
    }
    b_.dma_copy(c, out);
  }

  MxGemmShape s_;
  Builder b_;
  std::int64_t side_, bank_;
  MxOperand x_, y_;
  Access alpha_, beta_, c_in_, c_;
  bool turn_ = false;
};

class MxQuantizeKernel {
 public:
  MxQuantizeKernel(const MxQuantizeShape& shape, const Machine& machine)
      : s_(shape), b_("blas_mx_quantize", machine), side_(machine.partitions) {}

  Program build() {
    x_ = b_.input("x", s_.in, {s_.rows, s_.depth}, {s_.xr, s_.xk});
    data_ = b_.output("data", DType::UInt32, {padded_depth(s_.depth) / kPacked, even(s_.rows)});
    scale_ = b_.output("scale", DType::UInt8, {padded_depth(s_.depth) / kMxGroup, even(s_.rows)});
    const std::int64_t deep = side_ * kPacked, whole = s_.depth / deep, rest = s_.depth % deep;
    for_blocks(b_, "rows", s_.rows, kRows, LoopKind::Parallel, [&](const Affine& r0, std::int64_t rows) {
      b_.parallel("tile", whole, [&](Affine t) { tile_of(r0, rows, t, deep); });
      if (rest > 0) tile_of(r0, rows, whole, rest);
    });
    return tile::static_stores(b_.finish());
  }

 private:
  static constexpr std::int64_t kRows = 256;

  void tile_of(const Affine& r0, std::int64_t rows, const Affine& t, std::int64_t depth) {
    const std::int64_t used = padded_depth(depth) / kPacked, full = depth / kPacked, ragged = depth % kPacked,
                       width = even(rows);
    const Access values = b_.sbuf("values", used, {kPacked, width}, s_.in, 2);
    if (full < used || rows < width) b_.memset(values, 0, Engine::GpSimd);
    const Access from = x_(ds(r0, rows), ds(t * (side_ * kPacked), depth));
    if (full > 0) {
      b_.dma_transpose(values(ds(0, full), all, ds(0, rows)),
                       from(all, ds(0, full * kPacked)).split(1, kPacked).permute({0, 2, 1}));
    }
    for (std::int64_t q = 0; q < ragged; ++q) {
      b_.dma_copy(without(values(ds(full, 1), ds(q, 1), ds(0, rows)), 0),
                  from(all, ds(full * kPacked + q, 1)).permute({1, 0}));
    }
    const Access packed = b_.sbuf("packed", used, {width}, DType::UInt32, 2),
                 scales = b_.sbuf("scales", used, {width}, DType::UInt8, 2);
    b_.quantize_mx(packed, values.permute({1, 0}), scales, format_of(s_.type));
    b_.dma_copy(data_(ds(t * side_, used), ds(r0, width)), packed);
    for (std::int64_t q = 0; q < used / kQuadrant; ++q) {
      b_.dma_copy(scale_(ds(t * (side_ / kQuadrant * kGroups) + q * kGroups, kGroups), ds(r0, width)),
                  scales(ds(q * kQuadrant, kGroups)));
    }
  }

  MxQuantizeShape s_;
  Builder b_;
  std::int64_t side_;
  Access x_, data_, scale_;
};

}  // namespace

tile::Program mx_gemm_program(const MxGemmShape& shape, const Machine& machine) {
  require_mx("blas.mx_gemm", machine);
  require(shape.m >= 1 && shape.n >= 1 && shape.k >= 1, "blas.mx_gemm: a program needs m, n, k >= 1, got {}, {}, {}",
          shape.m, shape.n, shape.k);
  return MxKernel(shape, machine).build();
}

tile::Program mx_quantize_program(const MxQuantizeShape& shape, const Machine& machine) {
  require_mx("blas.mx_quantize", machine);
  if (shape.type == MxType::Float4E2M1FN)
    fail<NotImplemented>("blas.mx_quantize: {} makes 8-bit formats only; quantise on the host and copy with on()",
                         machine.name);
  require(shape.rows >= 1 && shape.depth >= 1, "blas.mx_quantize: a program needs rows, depth >= 1, got {} x {}",
          shape.rows, shape.depth);
  return MxQuantizeKernel(shape, machine).build();
}

namespace device {

void mx_gemm(const Executor& executor, const MxGemmArgs& args) {
  MxGemmShape s = args.shape;
  const std::vector<Argument> factors{constant("alpha", std::array{args.alpha}),
                                      constant("beta", std::array{args.beta})};
  if (s.k == 0 || s.alpha == Factor::Zero) {
    if (s.beta == Factor::One) return;
    const ScaleShape scale{s.out, s.m, s.n, s.cm, s.cn, s.beta};
    return launch(executor, scale_program, scale, {{"c", args.c}, factors[1]});
  }
  const MxMatrix *a = args.a, *b = args.b;
  // Rows are stored, so where columns are the contiguous direction of C its transpose is computed.
  if (s.cm == 1 && s.cn != 1 && s.n > 1) {
    std::swap(s.a, s.b), std::swap(s.m, s.n), std::swap(s.cm, s.cn), std::swap(a, b);
  }
  const void *x = a->data().data(), *x_scale = a->scales().data(), *y = b->data().data(), *y_scale = b->scales().data();
  launch(executor, mx_gemm_program, s,
         {{"a", x}, {"a_scale", x_scale}, {"b", y}, {"b_scale", y_scale}, {"c", args.c}, factors[0], factors[1]});
}

void mx_quantize(const Executor& executor, const MxQuantizeArgs& args) {
  void *data = args.to->data().data(), *scale = args.to->scales().data();
  launch(executor, mx_quantize_program, args.shape, {{"x", args.x}, {"data", data}, {"scale", scale}});
}

}  // namespace device

}  // namespace trn::blas
