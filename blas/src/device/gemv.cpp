// gemv and ger on the device. Both are bound by the bytes of A, so A is read along its contiguous direction and the
// engine follows:
//
//   gemv, rows contiguous      m on partitions. Vector: A * x, x in every partition; Scalar: sums along the row.
//                              On trn2 128 x 2048 elements arrive in 2.5 us; Vector takes 2.3, Scalar 1.8 us.
//   gemv, columns contiguous   n on partitions. Tensor: A's 128 x 128 tiles stationary, x moving (one column, two for
//     complex types):
//                              53 ns of fp32 matmul per tile that takes 158 ns to arrive.
//   ger                        m on partitions of a row-major A (a column-major one is the transposed problem): one
//                              scalar_tensor_tensor with alpha x_i per partition and y in every partition. A comes and
//                                goes: 8 bytes
//                              an element, 19 ps, against 8 ps on the Vector Engine.
//
// Complex A stays interleaved. With x twice, as (xr, -xi) and (xi, xr), row sums of A * x are the real and the
// imaginary part of y; conjugated A: (xr, xi) and (xi, -xr).
#include <algorithm>
#include <optional>

#include <trn/blas/vector_programs.hpp>
#include <trn/tile/blocks/loops.hpp>
#include <trn/tile/blocks/matmul.hpp>
#include <trn/tile/stores.hpp>

#include "../kernels.hpp"
#include "vectors.hpp"

namespace trn::blas {

using namespace trn::tile;
using blocks::ceil_div;
using blocks::for_blocks;
using device::Factors;
using device::flat;
using device::part;

namespace {

constexpr std::int64_t kChunk = 2048;       // numbers per partition of one load of A
constexpr std::int64_t kPanelBlocks = 512;  // row blocks whose results wait in SBUF together

Access drop(Access access) {
  access.dims.erase(access.dims.begin());
  return access;
}
void negate(Builder& b, const Access& dst, const Access& src) {
  b.tensor_scalar(dst, src, AluOp::Multiply, -1.0, {.engine = Engine::Vector});
}

// Elements [first, first + rows * blocks) of a vector tensor: element b rows + p in partition p, block b.
Access down(const Access& vector, const Affine& first, std::int64_t rows, std::int64_t blocks) {
  const Access split = vector(ds(first, rows * blocks)).split(0, rows);  // (blocks, rows[, 2])
  return split.dims.size() == 3 ? split.permute({1, 0, 2}) : split.permute({1, 0});
}

// A (m x n) as an input tensor: (m, n) or (m, n, 2).
Access matrix(Builder& b, const std::string& name, bool complex, std::int64_t m, std::int64_t n, std::int64_t am,
              std::int64_t an) {
  const Shape shape = complex ? Shape{m, n, 2} : Shape{m, n};
  const Strides strides = complex ? Strides{2 * am, 2 * an, 1} : Strides{am, an};
  return b.input(name, DType::Float32, shape, strides);
}

class GemvKernel {
 public:
  GemvKernel(const GemvShape& shape, const Machine& machine)
      : s_(shape), b_("blas_gemv", machine), side_(machine.partitions), parts_(shape.complex ? 2 : 1) {}

  Program build() {
    a_ = matrix(b_, "a", s_.complex, s_.m, s_.n, s_.am, s_.an);
    x_ = device::vector_input(b_, "x", s_.complex, s_.n, s_.incx);
    if (s_.beta) y_in_ = device::vector_input(b_, "y_in", s_.complex, s_.m, s_.incy);
    y_ = s_.beta ? b_.output_over("y", y_in_) : device::vector_output(b_, "y", s_.complex, s_.m, s_.incy);
    factors_.emplace(b_, 2 * parts_ + (s_.complex ? 2 : 0));
    const bool columns = (s_.am == 1 || s_.am == -1) && s_.m > 1 && !(s_.an == 1 && s_.n > 1);
    if (columns) load_moving();
    const std::int64_t whole = s_.m / side_, rest = s_.m % side_;
    for_blocks(b_, "panel", whole, columns ? kChunk / side_ / parts_ : kPanelBlocks, LoopKind::Parallel,
               [&](const Affine& first, std::int64_t blocks) { panel(columns, first * side_, side_, blocks); });
    if (rest > 0) panel(columns, Affine(whole * side_), rest, 1);
    return tile::static_stores(b_.finish());
  }

 private:
  // Rows [m0, m0 + rows * blocks) of y.
  void panel(bool columns, const Affine& m0, std::int64_t rows, std::int64_t blocks) {
    const Access sums = b_.sbuf("sums", rows, s_.complex ? Shape{blocks, 2} : Shape{blocks}, DType::Float32);
    if (columns)
      by_columns(sums, m0, rows, blocks);
    else
      by_rows(sums, m0, rows, blocks);
    store(sums, m0, rows, blocks);
  }

  // sums(p, b) = row m0 + b rows + p of A, times x.
  void by_rows(const Access& sums, const Affine& m0, std::int64_t rows, std::int64_t blocks) {
    const auto chunk = [&](const Affine& n0, std::int64_t columns, bool first) {
      const std::vector<Access> x = row_of_x(n0, columns, rows);
      const Access added =
          first ? sums : b_.sbuf("added", rows, s_.complex ? Shape{blocks, 2} : Shape{blocks}, DType::Float32, 2);
      b_.parallel("mb", blocks, [&](Affine mb) {
        const Access a = b_.sbuf("a_rows", rows, {columns * parts_}, DType::Float32, 3);
        const Access from = a_(ds(m0 + mb * rows, rows), ds(n0, columns));
        b_.dma_copy(s_.complex ? a.split(0, 2) : a, from);
        for (std::int64_t i = 0; i < parts_; ++i) {
          const Access product = b_.sbuf("product", rows, {columns * parts_}, DType::Float32, 2);
          b_.tensor_tensor(product, a, x[static_cast<std::size_t>(i)], AluOp::Multiply, Engine::Vector);
          b_.activation(product, ActFunction::Copy, product, {.reduce_res = element(added, mb, i)});
        }
      });
      if (!first) b_.tensor_tensor(flat(sums), flat(sums), flat(added), AluOp::Add, Engine::Vector);
    };
    const std::int64_t width = kChunk / parts_, first = std::min(width, s_.n);
    chunk(Affine(0), first, true);
    for_blocks(b_, "nb", s_.n - first, width, LoopKind::Sequential,
               [&](const Affine& n0, std::int64_t columns) { chunk(n0 + first, columns, false); });
  }
  Access element(const Access& sums, const Affine& block, std::int64_t i) const {
    Access one = s_.complex ? sums(all, ds(block, 1), ds(i, 1)) : sums(all, ds(block, 1));
    one.dims = {one.dims.back()};
    return one;
  }

  // A chunk of x in `rows` partitions; complex: what A is multiplied by for the real and for the imaginary part.
  std::vector<Access> row_of_x(const Affine& n0, std::int64_t columns, std::int64_t rows) {
    const Access x = b_.sbuf("x_row", rows, {columns * parts_}, DType::Float32, 2);
    b_.dma_copy(s_.complex ? x.split(0, 2) : x, x_(ds(n0, columns)).broadcast(0, rows));
    if (!s_.complex) return {x};
    const Access pairs = x.split(0, 2), re = b_.sbuf("x_re", rows, {columns, 2}, DType::Float32, 2),
                 im = b_.sbuf("x_im", rows, {columns, 2}, DType::Float32, 2);
    rotate(pairs, re, im);
    return {flat(re), flat(im)};
  }
  // re = (xr, -xi), im = (xi, xr); with conj (xr, xi), (xi, -xr).
  void rotate(const Access& x, const Access& re, const Access& im) {
    b_.tensor_copy(part(re, 0), part(x, 0), Engine::Vector);
    b_.tensor_copy(part(im, 0), part(x, 1), Engine::Vector);
    if (s_.conj) {
      b_.tensor_copy(part(re, 1), part(x, 1), Engine::Vector);
      negate(b_, part(im, 1), part(x, 0));
    } else {
      negate(b_, part(re, 1), part(x, 1));
      b_.tensor_copy(part(im, 1), part(x, 0), Engine::Vector);
    }
  }

  // x down the partitions, k tile by k tile; complex: (tiles, 2) to go with the real and with the imaginary parts of A.
  void load_moving() {
    const std::int64_t tiles = ceil_div(s_.n, side_), whole = s_.n / side_, rest = s_.n % side_;
    const Access x =
        b_.sbuf("x_down", std::min(side_, s_.n), s_.complex ? Shape{tiles, 2} : Shape{tiles}, DType::Float32);
    if (s_.n > side_ && rest > 0) b_.memset(x, 0);
    if (whole > 0) b_.dma_copy(x(ds(0, side_), ds(0, whole)), down(x_, 0, side_, whole));
    if (rest > 0) b_.dma_copy(x(ds(0, rest), ds(whole, 1)), down(x_, Affine(whole * side_), rest, 1));
    moving_ = {x};
    if (!s_.complex) return;
    // A_re (xr, xi) + A_im (-xi, xr); conjugated: A_re (xr, xi) + A_im (xi, -xr)
    const Access with_im = b_.sbuf("x_turned", x.partitions, {tiles, 2}, DType::Float32);
    if (s_.conj) {
      b_.tensor_copy(part(with_im, 0), part(x, 1), Engine::Vector);
      negate(b_, part(with_im, 1), part(x, 0));
    } else {
      negate(b_, part(with_im, 0), part(x, 1));
      b_.tensor_copy(part(with_im, 1), part(x, 0), Engine::Vector);
    }
    moving_.push_back(with_im);
  }

  void by_columns(const Access& sums, const Affine& m0, std::int64_t rows, std::int64_t blocks) {
    const Access bank = b_.psum("bank", rows, s_.complex ? Shape{blocks, 2} : Shape{blocks}, DType::Float32, 2);
    const auto tile = [&](const Affine& k, std::int64_t depth) {
      const Access a =
          b_.sbuf("a_columns", depth, s_.complex ? Shape{blocks * rows, 2} : Shape{blocks * rows}, DType::Float32, 4);
      const Access from = a_(ds(m0, blocks * rows), ds(k * side_, depth));
      b_.dma_copy(a, s_.complex ? from.permute({1, 0, 2}) : from.permute({1, 0}));
      for (std::int64_t block = 0; block < blocks; ++block) {
        for (std::int64_t i = 0; i < parts_; ++i) {
          const Access stationary = (s_.complex ? part(a, i) : a)(all, ds(block * rows, rows));
          const Access& x = moving_[static_cast<std::size_t>(i)];
          const Access to = s_.complex ? drop(bank(all, ds(block, 1), all)) : bank(all, ds(block, 1));
          b_.nc_matmul(to, stationary, s_.complex ? drop(x(ds(0, depth), ds(k, 1), all)) : x(ds(0, depth), ds(k, 1)),
                       {.accumulate = i == 0 ? k : Affine(1)});
        }
      }
    };
    b_.sequential("k", s_.n / side_, [&](Affine k) { tile(k, side_); });
    if (s_.n % side_ > 0) tile(Affine(s_.n / side_), s_.n % side_);
    b_.tensor_copy(sums, bank, Engine::Vector);
  }

  // y = alpha sums + beta y_in.
  void store(const Access& sums, const Affine& m0, std::int64_t rows, std::int64_t blocks) {
    const auto fresh = [&](const char* name) {
      return b_.sbuf(name, rows, s_.complex ? Shape{blocks, 2} : Shape{blocks}, DType::Float32);
    };
    const Access y = fresh("y_new");
    scaled(y, sums, 0, rows);
    if (s_.beta) {
      const Access old = fresh("y_old"), kept = fresh("y_kept");
      b_.dma_copy(old, down(y_in_, m0, rows, blocks));
      scaled(kept, old, s_.complex ? 3 : 1, rows);
      b_.tensor_tensor(flat(y), flat(y), flat(kept), AluOp::Add, Engine::Vector);
    }
    b_.dma_copy(down(y_, m0, rows, blocks), y);
  }
  // dst = f data; complex: factors re, im, -im.
  void scaled(const Access& dst, const Access& data, std::int64_t f, std::int64_t rows) {
    const auto times = [&](const Access& to, const Access& of, std::int64_t i) {
      b_.tensor_scalar(to, of, AluOp::Multiply, (*factors_)(i, rows), {.engine = Engine::Vector});
    };
    if (!s_.complex) return times(dst, data, f);
    times(part(dst, 0), part(data, 1), f + 2);
    times(part(dst, 1), part(data, 0), f + 1);
    b_.scalar_tensor_tensor(flat(dst), flat(data), AluOp::Multiply, (*factors_)(f, rows), AluOp::Add, flat(dst));
  }

  GemvShape s_;
  Builder b_;
  std::int64_t side_, parts_;
  Access a_, x_, y_in_, y_;
  std::optional<Factors> factors_;
  std::vector<Access> moving_;
};

class GerKernel {
 public:
  GerKernel(const GerShape& shape, const Machine& machine)
      : s_(shape), b_("blas_ger", machine), side_(machine.partitions), parts_(shape.complex ? 2 : 1) {}

  Program build() {
    x_ = device::vector_input(b_, "x", s_.complex, s_.m, s_.incx);
    y_ = device::vector_input(b_, "y", s_.complex, s_.n, s_.incy);
    a_in_ = matrix(b_, "a_in", s_.complex, s_.m, s_.n, s_.am, s_.an);
    a_ = b_.output_over("a", a_in_);
    factors_.emplace(b_, s_.complex ? 3 : 1);
    const std::int64_t whole = s_.m / side_, rest = s_.m % side_;
    for_blocks(b_, "panel", whole, kPanelBlocks, LoopKind::Parallel,
               [&](const Affine& first, std::int64_t blocks) { panel(first * side_, side_, blocks); });
    if (rest > 0) panel(Affine(whole * side_), rest, 1);
    return tile::static_stores(b_.finish());
  }

 private:
  void panel(const Affine& m0, std::int64_t rows, std::int64_t blocks) {
    const Access w = weights(m0, rows, blocks);
    for_blocks(b_, "nb", s_.n, kChunk / parts_, LoopKind::Parallel, [&](const Affine& n0, std::int64_t columns) {
      const std::vector<Access> y = row_of_y(n0, columns, rows);
      b_.parallel("mb", blocks, [&](Affine mb) {
        const Access a = b_.sbuf("a_rows", rows, {columns * parts_}, DType::Float32, 3),
                     pairs = s_.complex ? a.split(0, 2) : a;
        b_.dma_copy(pairs, a_in_(ds(m0 + mb * rows, rows), ds(n0, columns)));
        for (std::int64_t i = 0; i < parts_; ++i) {
          Access one = s_.complex ? w(all, ds(mb, 1), ds(i, 1)) : w(all, ds(mb, 1));
          one.dims = {one.dims.back()};
          b_.scalar_tensor_tensor(a, y[static_cast<std::size_t>(i)], AluOp::Multiply, one, AluOp::Add, a);
        }
        b_.dma_copy(a_(ds(m0 + mb * rows, rows), ds(n0, columns)), pairs);
      });
    });
  }

  // alpha x down the partitions.
  Access weights(const Affine& m0, std::int64_t rows, std::int64_t blocks) {
    const Shape shape = s_.complex ? Shape{blocks, 2} : Shape{blocks};
    const Access x = b_.sbuf("x_down", rows, shape, DType::Float32), w = b_.sbuf("w", rows, shape, DType::Float32);
    b_.dma_copy(x, down(x_, m0, rows, blocks));
    const auto times = [&](const Access& to, const Access& of, std::int64_t i) {
      b_.tensor_scalar(to, of, AluOp::Multiply, (*factors_)(i, rows), {.engine = Engine::Vector});
    };
    if (!s_.complex) {
      times(w, x, 0);
      return w;
    }
    if (s_.conj_x) negate(b_, part(x, 1), part(x, 1));
    times(part(w, 0), part(x, 1), 2);
    times(part(w, 1), part(x, 0), 1);
    b_.scalar_tensor_tensor(flat(w), flat(x), AluOp::Multiply, (*factors_)(0, rows), AluOp::Add, flat(w));
    return w;
  }

  // y in every partition; complex: (yr, yi) to go with the real part of alpha x and (-yi, yr) to go with its imaginary
  // part.
  std::vector<Access> row_of_y(const Affine& n0, std::int64_t columns, std::int64_t rows) {
    const Access y = b_.sbuf("y_row", rows, {columns * parts_}, DType::Float32, 2);
    b_.dma_copy(s_.complex ? y.split(0, 2) : y, y_(ds(n0, columns)).broadcast(0, rows));
    if (!s_.complex) return {y};
    const Access pairs = y.split(0, 2), turned = b_.sbuf("y_turned", rows, {columns, 2}, DType::Float32, 2);
    if (s_.conj_y) negate(b_, part(pairs, 1), part(pairs, 1));
    negate(b_, part(turned, 0), part(pairs, 1));
    b_.tensor_copy(part(turned, 1), part(pairs, 0), Engine::Vector);
    return {y, flat(turned)};
  }

  GerShape s_;
  Builder b_;
  std::int64_t side_, parts_;
  Access x_, y_, a_in_, a_;
  std::optional<Factors> factors_;
};

}  // namespace

tile::Program gemv_program(const GemvShape& shape, const Machine& machine) {
  require(shape.m >= 1 && shape.n >= 1, "blas.gemv: a program needs m, n >= 1, got {} x {}", shape.m, shape.n);
  return GemvKernel(shape, machine).build();
}
tile::Program ger_program(const GerShape& shape, const Machine& machine) {
  require(shape.m >= 1 && shape.n >= 1, "blas.ger: a program needs m, n >= 1, got {} x {}", shape.m, shape.n);
  return GerKernel(shape, machine).build();
}

namespace device {

void gemv(const Executor& executor, const GemvArgs& g) {
  require_single("blas.gemv", executor, g.dtype);
  require_native("blas.gemv", executor, g.mode);
  const bool complex = is_complex(g.dtype);
  if (g.alpha == 0.0) {  // A and x are not read
    if (g.beta == 0.0)
      zero(executor, g.dtype, g.m, g.y, g.incy);
    else
      scal(executor, {g.dtype, g.m, g.y, g.incy, g.beta, !complex});
    return;
  }
  const GemvShape shape{complex, g.conj_a && complex, g.beta != 0.0, g.m, g.n, g.am, g.an, g.incx, g.incy};
  const std::complex<double> alpha = g.alpha, beta = g.beta;
  launch(executor, gemv_program, shape,
         {{"a", g.a},
          {"x", g.x},
          {"y", g.y},
          complex ? factors_of({alpha.real(), alpha.imag(), -alpha.imag(), beta.real(), beta.imag(), -beta.imag()})
                  : factors_of({alpha.real(), beta.real()})});
}

void ger(const Executor& executor, const GerArgs& g) {
  require_single("blas.ger", executor, g.dtype);
  const bool complex = is_complex(g.dtype), turn = g.am == 1 && g.m > 1 && !(g.an == 1 && g.n > 1);
  GerShape shape{complex, false, g.conj_y && complex, g.m, g.n, g.am, g.an, g.incx, g.incy};
  if (turn) shape = {complex, shape.conj_y, false, g.n, g.m, g.an, g.am, g.incy, g.incx};
  launch(executor, ger_program, shape,
         {{"x", turn ? g.y : g.x},
          {"y", turn ? g.x : g.y},
          {"a", g.a},
          complex ? factors_of({g.alpha.real(), g.alpha.imag(), -g.alpha.imag()}) : factors_of({g.alpha.real()})});
}

}  // namespace device

}  // namespace trn::blas
