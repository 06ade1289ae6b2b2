// C = beta * C on the device, of a triangle too: what a product is when nothing is multiplied.
//
// Rows on partitions, 128 at a time, up to 4096 numbers of a row; bytes moved: C twice, once when beta is 0. The
// triangles of diagonal blocks go through scratch (triangle.hpp).
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/stores.hpp>

#include "launch.hpp"
#include "triangle.hpp"

namespace trn::blas::device {

using namespace trn::tile;
using blocks::for_blocks;

namespace {

constexpr std::int64_t kColumns = 4096;  // a block that needs little SBUF in any dtype and moves long rows

class ScaleKernel {
 public:
  ScaleKernel(const ScaleShape& shape, const Machine& machine)
      : s_(shape), b_("blas_gemm_scale", machine), side_(machine.partitions), parts_(is_complex(shape.dtype) ? 2 : 1) {}

  Program build() {
    const Shape extents = parts_ == 2 ? Shape{s_.m, s_.n, 2} : Shape{s_.m, s_.n};
    const Strides strides = parts_ == 2 ? Strides{s_.cm, s_.cn, 1} : Strides{s_.cm, s_.cn};
    const DType real = real_of(s_.dtype);
    const bool continues = s_.beta != Factor::Zero || s_.region != Region::All;
    if (continues) c_in_ = b_.input("c_in", real, extents, strides);
    if (s_.beta == Factor::Input) beta_ = blocks::scalar_input(b_, "beta");
    if (s_.beta == Factor::ComplexInput) {
      beta_ = b_.sbuf("beta_tile", side_, {2}, DType::Float32);
      b_.dma_copy(beta_, b_.input("beta", DType::Float32, {2}).broadcast(0, side_));
      minus_ = b_.sbuf("beta_minus", side_, {1}, DType::Float32);
      b_.tensor_scalar(minus_, beta_(all, ds(1, 1)), AluOp::Multiply, -1.0);
    }
    c_ = !continues                 ? b_.output("c", real, extents, strides)
         : s_.region == Region::All ? b_.output_over("c", c_in_)
                                    : b_.partial_output("c", c_in_);
    if (s_.region == Region::All) {
      for_blocks(b_, "mb", s_.m, side_, LoopKind::Parallel,
                 [&](const Affine& m0, std::int64_t rows) { strip(m0, rows, 0, s_.n); });
    } else {
      triangle();
    }
    return tile::static_stores(b_.finish());
  }

 private:
  // Columns [begin, end) of rows [m0, m0 + rows).
  void strip(const Affine& m0, std::int64_t rows, std::int64_t begin, std::int64_t end) {
    if (end <= begin) return;
    for_blocks(b_, "nb", end - begin, kColumns / parts_, LoopKind::Parallel,
               [&](const Affine& n0, std::int64_t columns) {
                 const auto here = [&](const Access& c) { return c(ds(m0, rows), ds(n0 + begin, columns)); };
                 scaled(here(c_), s_.beta == Factor::Zero ? Access{} : here(c_in_));
               });
  }

  // dst = beta * src, both (rows, columns[, 2]) in HBM.
  void scaled(const Access& dst, const Access& src) {
    const std::int64_t rows = dst.dims[0].size, columns = dst.dims[1].size;
    const Access t = b_.sbuf("t", rows, {columns * parts_}, real_of(s_.dtype), 2);
    Access result = t;
    if (s_.beta == Factor::Zero)
      b_.memset(t, 0);
    else
      b_.dma_copy(t, src);
    if (s_.beta == Factor::Input) b_.tensor_scalar(t, t, AluOp::Multiply, beta_(ds(0, rows), all));
    if (s_.beta == Factor::ComplexInput) {
      result = b_.sbuf("result", rows, {columns * 2}, DType::Float32, 2);
      const Access work = b_.sbuf("work", rows, {columns}, DType::Float32, 2);
      const auto part = [&](const Access& x, std::int64_t p) {
        Access one = x.split(0, 2);  // (columns, 2)
        one.offset = one.offset + Affine(p);
        one.dims.pop_back();
        return one;
      };
      const Access re = beta_(ds(0, rows), ds(0, 1)), im = beta_(ds(0, rows), ds(1, 1)),
                   minus = minus_(ds(0, rows), all);
      for (const std::int64_t p : {0, 1}) {  // re = br r - bi i, im = br i + bi r
        b_.tensor_scalar(work, part(t, p), AluOp::Multiply, re);
        b_.scalar_tensor_tensor(part(result, p), part(t, 1 - p), AluOp::Multiply, p == 0 ? minus : im, AluOp::Add,
                                work);
      }
    }
    b_.dma_copy(dst, result);
  }

  void triangle() {
    const std::int64_t tiles = blocks::ceil_div(s_.m, side_);
    for (std::int64_t i = 0; i < tiles; ++i) {
      const std::int64_t m0 = i * side_, rows = std::min(side_, s_.m - m0);
      if (s_.region == Region::Lower)
        strip(m0, rows, 0, m0);
      else
        strip(m0, rows, m0 + rows, s_.n);
    }
    const Shape shape = parts_ == 2 ? Shape{tiles, side_, side_, 2} : Shape{tiles, side_, side_};
    const Access out = b_.scratch("diagonal_out", real_of(s_.dtype), shape);
    Access in;
    if (s_.beta != Factor::Zero) {
      in = b_.scratch("diagonal_in", real_of(s_.dtype), shape);
      fill_zero(b_, in);
      copy_diagonal_triangles(b_, in, c_in_, s_.m, s_.region, !s_.hermitian, false);
    }
    b_.parallel("tile", tiles, [&](Affine i) {
      const auto tile = [&](const Access& x) {
        Access one = x(ds(i, 1));
        one.dims.erase(one.dims.begin());
        return one;
      };
      scaled(tile(out), in.present() ? tile(in) : Access{});
    });
    copy_diagonal_triangles(b_, out, c_, s_.m, s_.region, true, true);
  }

  ScaleShape s_;
  Builder b_;
  std::int64_t side_, parts_;
  Access c_in_, c_, beta_, minus_;
};

}  // namespace

Program scale_program(const ScaleShape& shape, const Machine& machine) { return ScaleKernel(shape, machine).build(); }

}  // namespace trn::blas::device
