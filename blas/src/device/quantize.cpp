// quantize on the device: the program, and its launch.
//
// Rows on partitions. The largest magnitude m of a group is a maximum along a row. Its exponent e and fraction f are
// bits of the number, so the scale's exponent is e - top + (f > fraction of the format's largest number), in integers
// that fp32 holds exactly, held between 1 and 253; a shift makes it a number, 254 minus it the inverse. m - m, which is
// NaN where m is not finite, is added to the scale.
//
// One scale for the matrix takes two passes over x: row maxima first, which meet through HBM.
#include <bit>
#include <trn/blas/quantize.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/launch.hpp>
#include <trn/tile/stores.hpp>

#include "../kernels/scaled.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;

namespace {

constexpr std::int64_t kColumns = 2048;  // of a tile

class QuantizeKernel {
 public:
  QuantizeKernel(const QuantizeShape& shape, const Machine& machine)
      : s_(shape), b_("blas_quantize", machine), side_(machine.partitions) {}

  Program build() {
    const bool whole = s_.sr == 0 && s_.rows > 1;
    x_ = b_.input("x", DType::Float32, {s_.rows, s_.columns}, {s_.xr, s_.xc});
    q_ = b_.output("q", s_.q, {s_.rows, s_.columns}, {s_.qr, s_.qc});
    scale_ = b_.output("scale", DType::Float32, {s_.sr == 0 ? 1 : s_.rows, s_.sg == 0 ? 1 : groups()},
                       {s_.sr == 0 ? 1 : s_.sr, s_.sg == 0 ? 1 : s_.sg});
    if (whole) {
      one_scale();
    } else {
      for_blocks(b_, "rows", s_.rows, side_, LoopKind::Parallel, [&](const Affine& r0, std::int64_t rows) {
        s_.sg == 0 ? row_scales(r0, rows) : group_scales(r0, rows);
      });
    }
    return tile::static_stores(b_.finish());
  }

 private:
  std::int64_t groups() const { return ceil_div(s_.columns, kScaleBlock); }

  Access column(const char* name, std::int64_t rows, std::int64_t count = 1, DType dtype = DType::Float32) {
    return b_.sbuf(name, rows, {count}, dtype, 2);
  }

  Access load(const Affine& r0, std::int64_t rows, const Affine& c0, std::int64_t columns) {
    const Access x = b_.sbuf("x_tile", rows, {columns}, DType::Float32, 2);
    b_.dma_copy(x, x_(ds(r0, rows), ds(c0, columns)));
    return x;
  }

  // most (rows, groups): the largest magnitude in each `wide` neighbours of x.
  void largest(const Access& most, const Access& x, std::int64_t wide) {
    const std::int64_t columns = x.dims[0].size;
    const Access magnitude = b_.sbuf("magnitude", x.partitions, {columns}, DType::Float32, 2);
    b_.tensor_scalar(magnitude, x, AluOp::Abs, 0.0, {.engine = Engine::Vector});
    const std::int64_t whole = columns / wide;
    if (whole > 0)
      b_.tensor_reduce(most(all, ds(0, whole)), AluOp::Maximum, magnitude(all, ds(0, whole * wide)).split(0, wide));
    if (whole * wide < columns)
      b_.tensor_reduce(most(all, ds(whole, 1)), AluOp::Maximum,
                       magnitude(all, ds(whole * wide, columns - whole * wide)));
  }

  // The scales and their inverses for largest magnitudes.
  struct Scales {
    Access scale, inverse;
  };
  Scales scales_of(const Access& most) {
    const std::int64_t rows = most.partitions, count = most.dims[0].size;
    const auto largest = std::bit_cast<std::uint32_t>(static_cast<float>(float8_limits(s_.q).largest));
    const auto words = [&](const char* name) { return column(name, rows, count, DType::Int32); };
    const auto floats = [&](const char* name) { return column(name, rows, count); };
    const Access exponent = words("exponent"), fraction = words("fraction"), above = words("above"),
                 scale = floats("scale_tile"), inverse = floats("inverse"), poison = floats("poison");
    const auto scalar = [&](const Access& dst, const Access& x, AluOp op, double operand, AluOp op1 = AluOp::None,
                            double operand1 = 0, bool reverse1 = false) {
      b_.tensor_scalar(dst, x, op, operand,
                       {.op1 = op1, .operand1 = operand1, .reverse1 = reverse1, .engine = Engine::Vector});
    };
    const Access bits = most.view(DType::Int32);
    scalar(exponent, bits, AluOp::RightShift, 23);
    scalar(fraction, bits, AluOp::BitwiseAnd, 0x7fffff);
    scalar(above, fraction, AluOp::Greater, static_cast<double>(largest & 0x7fffff), AluOp::Add,
           127.0 - static_cast<double>(largest >> 23));
    b_.tensor_tensor(exponent, exponent, above, AluOp::Add, Engine::Vector);
    scalar(exponent, exponent, AluOp::Maximum, 1, AluOp::Minimum, 253);
    scalar(above, exponent, AluOp::Multiply, -1, AluOp::Add, 254);
    scalar(scale.view(DType::Int32), exponent, AluOp::LeftShift, 23);
    scalar(inverse.view(DType::Int32), above, AluOp::LeftShift, 23);
    b_.tensor_tensor(poison, most, most, AluOp::Subtract, Engine::Vector);
    b_.tensor_tensor(scale, scale, poison, AluOp::Add, Engine::Vector);
    return {scale, inverse};
  }

  // Where x is a whole row in SBUF it is read once.
  void row_scales(const Affine& r0, std::int64_t rows) {
    if (s_.columns <= kColumns) {
      const Access x = load(r0, rows, 0, s_.columns), most = column("most", rows);
      largest(most, x, s_.columns);
      const Scales scales = scales_of(most);
      b_.dma_copy(scale_(ds(r0, rows), all), scales.scale);
      store(r0, rows, 0, x, scales.inverse);
      return;
    }
    const Access most = row_largest(r0, rows);
    const Scales scales = scales_of(most);
    b_.dma_copy(scale_(ds(r0, rows), all), scales.scale);
    second_pass(r0, rows, scales.inverse);
  }

  Access row_largest(const Affine& r0, std::int64_t rows) {
    const Access most = column("most", rows);
    b_.memset(most, 0, Engine::Vector);
    for_blocks(b_, "first", s_.columns, kColumns, LoopKind::Sequential, [&](const Affine& c0, std::int64_t columns) {
      const Access here = column("here", rows);
      largest(here, load(r0, rows, c0, columns), columns);
      b_.tensor_tensor(most, most, here, AluOp::Maximum, Engine::Vector);
    });
    return most;
  }

  void second_pass(const Affine& r0, std::int64_t rows, const Access& inverse) {
    for_blocks(b_, "second", s_.columns, kColumns, LoopKind::Parallel, [&](const Affine& c0, std::int64_t columns) {
      store(r0, rows, c0, load(r0, rows, c0, columns), inverse);
    });
  }

  void store(const Affine& r0, std::int64_t rows, const Affine& c0, const Access& x, const Access& inverse) {
    const std::int64_t columns = x.dims[0].size;
    const Access q = b_.sbuf("q_tile", rows, {columns}, s_.q, 2);
    b_.tensor_scalar(q, x, AluOp::Multiply, inverse(ds(0, rows), all), {.engine = Engine::Vector});
    b_.dma_copy(q_(ds(r0, rows), ds(c0, columns)), q);
  }

  void group_scales(const Affine& r0, std::int64_t rows) {
    for_blocks(b_, "columns", s_.columns, kColumns, LoopKind::Parallel, [&](const Affine& c0, std::int64_t columns) {
      const std::int64_t count = ceil_div(columns, kScaleBlock), whole = columns / kScaleBlock;
      const Access x = load(r0, rows, c0, columns), most = column("most", rows, count);
      largest(most, x, kScaleBlock);
      const Scales scales = scales_of(most);
      // kColumns is a multiple of the block, so c0 / 128 is affine: through a view of the scales by columns.
      store_scales(r0, rows, c0, count, scales.scale);
      const Access q = b_.sbuf("q_tile", rows, {columns}, s_.q, 2);
      const auto times = [&](std::int64_t from, std::int64_t groups, std::int64_t wide) {
        const Access part = x(all, ds(from * kScaleBlock, groups * wide)),
                     out = q(all, ds(from * kScaleBlock, groups * wide));
        b_.tensor_tensor(out.split(0, wide), part.split(0, wide),
                         scales.inverse(all, ds(from, groups)).broadcast(1, wide), AluOp::Multiply, Engine::Vector);
      };
      if (whole > 0) times(0, whole, kScaleBlock);
      if (whole < count) times(whole, 1, columns - whole * kScaleBlock);
      b_.dma_copy(q_(ds(r0, rows), ds(c0, columns)), q);
    });
  }

  // Scales of the groups that begin at column c0.
  void store_scales(const Affine& r0, std::int64_t rows, const Affine& c0, std::int64_t count, const Access& scales) {
    std::vector<Affine::Term> terms = c0.terms();
    for (Affine::Term& t : terms) t.coefficient /= kScaleBlock;
    const Affine g0 = Affine::from_parts(c0.constant() / kScaleBlock, terms);
    b_.dma_copy(scale_(ds(r0, rows), ds(g0, count)), scales);
  }

  void one_scale() {
    const std::int64_t strips = ceil_div(s_.rows, side_);
    const Access maxima = b_.scratch("maxima", DType::Float32, {strips * side_});
    const std::int64_t missing = strips * side_ - s_.rows;
    if (missing > 0) {
      const Access zero = column("zero", 1, missing);
      b_.memset(zero, 0);
      b_.dma_copy(maxima(ds(s_.rows, missing)), zero);
    }
    for_blocks(b_, "strips", s_.rows, side_, LoopKind::Parallel,
               [&](const Affine& r0, std::int64_t rows) { b_.dma_copy(maxima(ds(r0, rows)), row_largest(r0, rows)); });
    // Every partition takes all the maxima: strips of them, at most kColumns at a time.
    const Access most = column("most", side_);
    b_.memset(most, 0, Engine::Vector);
    for_blocks(b_, "meet", strips * side_, kColumns, LoopKind::Sequential, [&](const Affine& i0, std::int64_t count) {
      const Access here = b_.sbuf("maxima_tile", side_, {count}, DType::Float32, 2), top = column("top", side_);
      b_.dma_copy(here, maxima(ds(i0, count)).broadcast(0, side_));
      b_.tensor_reduce(top, AluOp::Maximum, here);
      b_.tensor_tensor(most, most, top, AluOp::Maximum, Engine::Vector);
    });
    const Scales scales = scales_of(most);
    b_.dma_copy(scale_, scales.scale(ds(0, 1), all));
    for_blocks(b_, "rows", s_.rows, side_, LoopKind::Parallel,
               [&](const Affine& r0, std::int64_t rows) { second_pass(r0, rows, scales.inverse); });
  }

  QuantizeShape s_;
  Builder b_;
  std::int64_t side_;
  Access x_, q_, scale_;
};

}  // namespace

tile::Program quantize_program(const QuantizeShape& shape, const Machine& machine) {
  if (shape.q == DType::Float8E4M3FN && !machine.float8_e4m3fn)
    fail<NotImplemented>("blas.quantize: {} has no float8_e4m3fn; use float8_e4m3", machine.name);
  require(shape.rows >= 1 && shape.columns >= 1, "blas.quantize: a program needs rows, columns >= 1, got {} x {}",
          shape.rows, shape.columns);
  return QuantizeKernel(shape, machine).build();
}

void device::quantize(const Executor& executor, const QuantizeArgs& args) {
  launch(executor, quantize_program, args.shape, {{"x", args.x}, {"q", args.q}, {"scale", args.scale}});
}

}  // namespace trn::blas
