// Stores in 16 or 8 bits on the device: y = round(alpha x + beta y), the rounding to nearest by the engines' own
// conversion, or stochastically, bit for bit as on the host; and copies of such numbers to float32.
//
// Stochastic rounding of fp32 numbers v, random words W from Philox (trn/tile/blocks/philox.hpp). A format that keeps p
// of the 23 fraction bits drops s = 23 - p: adding the upper s bits of W to v's pattern (GpSimd adds integers exactly)
// carries into the kept bits exactly when the rule of trn/core/rounding.hpp says up; the dropped bits are then cleared
// and the engine's conversion has nothing left to round. An infinity has no bits that could carry. NaN is put back.
//
// Formats with fewer exponents than fp32 have one unit 2^-q below their smallest normal number 2^e. There, with y = |v|
// 2^q < 2^p, k = y rounded to an integer (adding and subtracting 2^23), d = y - k exactly and r = floor(W / 2^8) 2^-24,
// the integer is k - 1 + [-r <= d] + [1 - r <= d]: for d >= 0 the first bracket is 1 and the second is the rule for the
// fraction d; for d < 0 the second is 0 and the first is the rule for the fraction 1 + d. All are exact in fp32.
//
// Elements lie on partitions in runs of whole blocks of four words. A matrix whose rows follow one another without a
// gap in whole blocks is one long row. Otherwise rows lie on partitions, 128 at a time; rows that are too long for that
// are taken one by one. Making the words costs most: ten rounds of two 32-bit products for four elements, so the kernel
// is bound by Vector and GpSimd, at 2 % of what DMA could move.
#include <cmath>
#include <functional>
#include <optional>

#include <trn/blas/narrow_program.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/philox.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "../kernels/narrow.hpp"
#include "vectors.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;

namespace {

constexpr std::int64_t kWords = 4;  // of a block
constexpr std::int64_t kColumnStep = 64;
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 32;  // numbers of blocks stay below 2^31

// What the kernel has to know of a format.
struct Format {
  int fraction;  // bits
  int least;     // exponent of the smallest normal number
  [[nodiscard]] bool has_float_range() const { return least == -126; }
};
Format format_of(DType dtype) {
  switch (dtype) {
    case DType::BFloat16:
      return {7, -126};
    case DType::Float16:
      return {10, -14};
    case DType::Float8E5M2:
      return {2, -14};
    default:
      return {3, -6};
  }
}

class NarrowKernel {
 public:
  NarrowKernel(const NarrowShape& shape, const Machine& machine)
      : s_(shape), b_("blas_narrow", machine), format_(format_of(shape.y)), most_(most_blocks(machine)) {}

  Program build() {
    const Shape extents = one_row() ? Shape{s_.n} : Shape{s_.m, s_.n};
    const auto strides = [&](std::int64_t row, std::int64_t column) {
      return one_row() ? Strides{column} : Strides{row, column};
    };
    if (s_.adds_x) x_ = b_.input("x", s_.x, extents, strides(s_.xr, s_.xc));
    if (s_.adds_y) y_in_ = b_.input("y_in", s_.y, extents, strides(s_.yr, s_.yc));
    y_ = s_.adds_y ? b_.output_over("y", y_in_) : b_.output("y", s_.y, extents, strides(s_.yr, s_.yc));
    factors_.emplace(b_, 2);
    if (s_.stochastic) words_.emplace(b_, b_.input("parameters", DType::UInt32, {blocks::kPhiloxParameters}));
    if (one_row()) {
      line([](const Access& t) { return t; });
    } else if (ceil_div(s_.n, kWords) <= most_) {
      rows();
    } else {
      b_.sequential("row", s_.m, [&](const Affine& i) {
        line([i](const Access& t) {
          Access row = t(ds(i, 1), all);
          row.dims.erase(row.dims.begin());
          return row;
        });
      });
    }
    return tile::static_stores(b_.finish());
  }

 private:
  using Region = std::function<Access(const Access&)>;

  bool one_row() const { return s_.m == 1; }

  // Blocks of a partition at a time: what the planes of a tile leave room for.
  static std::int64_t most_blocks(const Machine& machine) {
    constexpr std::int64_t kPlane = 4 * kWords;  // bytes of four fp32 numbers
    const std::int64_t bytes = blocks::PhiloxTiles::kPlanes * 4 + kPlane * 12;
    return machine.sbuf_bytes_per_partition / bytes / kColumnStep * kColumnStep;
  }

  // n elements one after the other: whole tiles, one with fewer columns, and what is left, less than 128 blocks and
  // perhaps a part of one, in one partition. Together they take every block once.
  void line(const Region& of) {
    const std::int64_t side = b_.machine().partitions, blocks = ceil_div(s_.n, kWords), tile = side * most_;
    const std::int64_t full = s_.n / kWords, whole = full / tile, columns = full % tile / side;
    const auto piece = [&](const Affine& first, std::int64_t rows, std::int64_t width) {
      return [=](const Access& t) { return of(t)(ds(first, rows * width * kWords)).split(0, width * kWords); };
    };
    if (whole > 0) shape(side, most_);
    b_.sequential("tile", whole, [&](const Affine& i) {
      one_tile(piece(i * (tile * kWords), side, most_), side, most_, most_ * kWords);
    });
    const std::int64_t done = whole * tile + columns * side;
    if (columns > 0) {
      shape(side, columns);
      one_tile(piece(Affine(whole * tile * kWords), side, columns), side, columns, columns * kWords);
    }
    if (blocks > done) {
      const std::int64_t first = done * kWords, count = s_.n - first;
      shape(1, blocks - done);
      one_tile([=](const Access& t) { return of(t)(ds(Affine(first), count)).split(0, count); }, 1, blocks - done,
               count);
    }
  }

  // Rows on partitions.
  void rows() {
    const std::int64_t side = b_.machine().partitions, blocks = ceil_div(s_.n, kWords), whole = s_.m / side;
    const auto strip = [&](const Affine& first, std::int64_t count) {
      one_tile([=](const Access& t) { return t(ds(first, count), all); }, count, blocks, s_.n);
    };
    if (whole > 0) shape(side, blocks);
    b_.sequential("strip", whole, [&](const Affine& i) { strip(i * side, side); });
    if (const std::int64_t rest = s_.m % side; rest > 0) {
      shape(rest, blocks);
      strip(Affine(whole * side), rest);
    }
  }

  void shape(std::int64_t rows, std::int64_t blocks) {
    if (words_) words_->set_shape(rows, blocks);
  }

  // `rows` runs of `blocks` blocks each, of whose elements the first `count` exist.
  void one_tile(const Region& of, std::int64_t rows, std::int64_t blocks, std::int64_t count) {
    const std::int64_t width = blocks * kWords;
    const auto loaded = [&](const char* name, DType dtype, const Access& tensor) {
      const Access t = b_.sbuf(name, rows, {width}, dtype, 2);
      if (count < width) b_.memset(t, 0, Engine::Vector);
      b_.dma_copy(t(all, ds(0, count)), of(tensor));
      return t;
    };
    const Access value = b_.sbuf("value", rows, {width}, DType::Float32);
    const auto scaled = [&](const Access& t, std::int64_t factor) {
      b_.tensor_scalar(value, t, AluOp::Multiply, (*factors_)(factor, rows), {.engine = Engine::Vector});
    };
    if (s_.adds_y) scaled(loaded("y_tile", s_.y, y_in_), 1);
    if (s_.adds_x) {
      const Access x = loaded("x_tile", s_.x, x_);
      if (s_.adds_y)
        b_.scalar_tensor_tensor(value, x, AluOp::Multiply, (*factors_)(0, rows), AluOp::Add, value);
      else
        scaled(x, 0);
    }
    const Access out = b_.sbuf("out_tile", rows, {width}, s_.y, 2);
    b_.tensor_copy(out, s_.stochastic ? rounded(value) : value, Engine::Vector);
    b_.dma_copy(of(y_), out(all, ds(0, count)));
  }

  void scalar(const Access& dst, const Access& x, AluOp op, double operand, AluOp op1 = AluOp::None,
              double operand1 = 0) {
    b_.tensor_scalar(dst, x, op, operand, {.op1 = op1, .operand1 = operand1, .engine = Engine::Vector});
  }
  void pair(const Access& dst, const Access& x, const Access& y, AluOp op) {
    b_.tensor_tensor(dst, x, y, op, Engine::Vector);
  }
  Access plane(const char* name, const Access& like, DType dtype) {
    return b_.sbuf(name, like.partitions, {like.free_size()}, dtype);
  }

  // fp32 numbers that y's type has, chosen at random.
  Access rounded(const Access& v) {
    const blocks::WordPlanes words = words_->next();
    const Access random = plane("random", v, DType::UInt32);  // 24 bits
    for (std::int64_t w = 0; w < kWords; ++w)
      scalar(random.split(0, kWords)(all, all, ds(w, 1)), words[static_cast<std::size_t>(w)], AluOp::RightShift, 8);
    const int dropped = 23 - format_.fraction;
    const Access bits = plane("bits", v, DType::UInt32), result = bits.view(DType::Float32);
    scalar(bits, random, AluOp::RightShift, 24 - dropped);
    b_.tensor_tensor(bits, v.view(DType::UInt32), bits, AluOp::Add, Engine::GpSimd);
    scalar(bits, bits, AluOp::BitwiseAnd, static_cast<double>(~std::uint32_t{0} >> dropped << dropped));
    if (!format_.has_float_range()) below_normal(result, v, random);
    const Access chosen = plane("is_nan", v, DType::UInt8);
    pair(chosen, v, v, AluOp::NotEqual);
    b_.tensor_copy_predicated(result, v, chosen);
    return result;
  }

  // result where |v| is below the smallest normal number of the format.
  void below_normal(const Access& result, const Access& v, const Access& random) {
    const double unit = std::ldexp(1.0, format_.least - format_.fraction), whole = 0x1p23;
    const Access d = plane("fraction", v, DType::Float32), k = plane("integer", v, DType::Float32),
                 up = plane("up", v, DType::Float32), sign = up.view(DType::UInt32),
                 small = plane("is_small", v, DType::UInt8);
    scalar(d, v, AluOp::Abs, 0, AluOp::Multiply, 1 / unit);
    scalar(k, d, AluOp::Add, whole, AluOp::Subtract, whole);
    pair(d, d, k, AluOp::Subtract);
    b_.scalar_tensor_tensor(up, random, AluOp::Multiply, -0x1p-24, AluOp::LessEqual, d);
    pair(k, k, up, AluOp::Add);
    scalar(up, random, AluOp::Multiply, -0x1p-24, AluOp::Add, 1);
    pair(up, up, d, AluOp::LessEqual);
    pair(k, k, up, AluOp::Add);
    scalar(k, k, AluOp::Subtract, 1, AluOp::Multiply, unit);
    scalar(sign, v.view(DType::UInt32), AluOp::BitwiseAnd, 0x1p31);
    pair(k.view(DType::UInt32), k.view(DType::UInt32), sign, AluOp::BitwiseOr);
    scalar(small, v, AluOp::Abs, 0, AluOp::Less, std::ldexp(1.0, format_.least));
    b_.tensor_copy_predicated(result, k, small);
  }

  NarrowShape s_;
  Builder b_;
  Format format_;
  std::int64_t most_;
  Access x_, y_in_, y_;
  std::optional<device::Factors> factors_;
  std::optional<blocks::PhiloxTiles> words_;
};

// Numbers of elements of a matrix, gaps between the rows' numbers included.
std::int64_t numbers(std::int64_t m, std::int64_t n) { return m * ceil_div(n, kWords) * kWords; }

}  // namespace

tile::Program narrow_program(const NarrowShape& shape, const Machine& machine) {
  if ((shape.y == DType::Float8E4M3FN || (shape.adds_x && shape.x == DType::Float8E4M3FN)) && !machine.float8_e4m3fn)
    fail<NotImplemented>("blas: {} has no float8_e4m3fn; use float8_e4m3", machine.name);
  require(shape.m >= 1 && shape.n >= 1 && (shape.adds_x || shape.adds_y),
          "blas: a program of narrow stores needs m, n >= 1 and a term, got {} x {}", shape.m, shape.n);
  return NarrowKernel(shape, machine).build();
}

std::vector<std::uint32_t> narrow_parameters(const Rounding& rounding) {
  return blocks::philox_parameters(philox::counter(0, rounding.step()), philox::key(rounding.seed()));
}

void device::narrow(const Executor& executor, const NarrowArgs& g) {
  NarrowShape s{.x = g.x ? g.x_type : g.y_type,
                .y = g.y_type,
                .m = g.m,
                .n = g.n,
                .xr = g.x ? g.xr : 1,
                .xc = g.x ? g.xc : 1,
                .yr = g.yr,
                .yc = g.yc,
                .adds_x = g.x != nullptr,
                .adds_y = g.beta != 0 || !g.x,
                .stochastic = g.rounding.is_stochastic()};
  if (numbers(s.m, s.n) > kMostNumbers)
    fail<NotImplemented>("blas: one call stores at most 2^32 narrow elements on executor '{}', not {} x {}; split it",
                         executor.name(), s.m, s.n);
  // Rows of whole blocks without a gap between them are one row.
  if (s.n % kWords == 0 && s.yr == s.n * s.yc && (!g.x || s.xr == s.n * s.xc)) s.n *= s.m, s.m = 1;
  if (s.m == 1) s.xr = s.yr = 1;
  std::vector<Argument> arguments{{"y", g.y}, constant("factors", std::vector<float>{g.alpha, g.beta})};
  if (g.x) arguments.emplace_back("x", g.x);
  if (s.stochastic) arguments.push_back(constant("parameters", narrow_parameters(g.rounding)));
  launch(executor, narrow_program, s, arguments);
}

}  // namespace trn::blas
