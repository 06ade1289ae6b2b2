// axpy, copy, swap, scal, rot and rotm on the device.
//
// A vector is spread over all partitions (vectors.hpp), loaded, computed by the Vector Engine and stored; loads,
// arithmetic and stores of different pieces overlap. DMA binds: axpy moves 12 bytes per element, 31 ps on trn2, while
// one scalar_tensor_tensor over 128 lanes takes 8 ps. A complex product costs four passes over the real parts, still
// less than its 24 bytes.
//
// A changed vector is two tensors of one memory, which the dependency analysis does not know: each store therefore
// comes after an instruction that has read every tile loaded from the piece's memory.
#include <optional>

#include <trn/blas/vector_programs.hpp>
#include <trn/tile/stores.hpp>

#include "../kernels.hpp"
#include "vectors.hpp"

namespace trn::blas {

using namespace trn::tile;
using device::Factors;
using device::flat;
using device::part;
using device::VectorPiece;

namespace {

constexpr std::int64_t kBuffers = 3;  // a piece arriving, one in work, one leaving

// dst = f data + add, on the Vector Engine; dst may be data or add.
void multiply_add(Builder& b, const Access& dst, const Access& data, const Access& f, const Access& add) {
  b.scalar_tensor_tensor(dst, data, AluOp::Multiply, f, AluOp::Add, add);
}
void multiply(Builder& b, const Access& dst, const Access& data, const Access& f) {
  b.tensor_scalar(dst, data, AluOp::Multiply, f, {.engine = Engine::Vector});
}

class VectorKernel {
 public:
  VectorKernel(const VectorShape& shape, const Machine& machine) : s_(shape), b_("blas_vector", machine) {}

  Program build() {
    const bool changes_x = s_.operation != VectorOperation::Axpy && s_.operation != VectorOperation::Copy;
    const bool zero = s_.operation == VectorOperation::Zero;
    const bool has_y = s_.operation != VectorOperation::Scal && s_.operation != VectorOperation::ScalReal && !zero;
    const bool reads_y = has_y && s_.operation != VectorOperation::Copy;
    if (!zero && !s_.x_is_y) x_in_ = device::vector_input(b_, changes_x ? "x_in" : "x", s_.complex, s_.n, s_.incx);
    if (reads_y) y_in_ = device::vector_input(b_, "y_in", s_.complex, s_.n, s_.incy);
    if (s_.x_is_y) x_in_ = y_in_;
    if (changes_x)
      x_out_ = zero ? device::vector_output(b_, "x", s_.complex, s_.n, s_.incx) : b_.output_over("x", x_in_);
    if (has_y)
      y_out_ = reads_y ? b_.output_over("y", y_in_) : device::vector_output(b_, "y", s_.complex, s_.n, s_.incy);
    const std::int64_t factors = factor_count();
    std::optional<Factors> f;
    if (factors > 0) f.emplace(b_, factors);
    device::for_pieces(b_, s_.n, device::piece_width(s_.complex), [&](const VectorPiece& p) {
      const auto factor = [&](std::int64_t i) { return (*f)(i, p.partitions); };
      switch (s_.operation) {
        case VectorOperation::Zero: {
          const Access zeros = p.tile(b_, "zeros", s_.complex, 1);
          b_.memset(zeros, 0);
          b_.dma_copy(p.of(x_out_), zeros);
          break;
        }
        case VectorOperation::Copy:
          b_.dma_copy(in_runs(p.of(y_out_)), in_runs(p.of(x_in_)));
          break;
        case VectorOperation::Swap:
          swap(p);
          break;
        case VectorOperation::Axpy:
          axpy(p, factor);
          break;
        case VectorOperation::Scal:
          scal(p, factor);
          break;
        case VectorOperation::ScalReal:
          scal_real(p, factor);
          break;
        case VectorOperation::Mix:
          mix(p, factor);
          break;
        case VectorOperation::MixComplex:
          mix_complex(p, factor);
          break;
      }
    });
    return tile::static_stores(b_.finish());
  }

 private:
  using FactorOf = std::function<Access(std::int64_t)>;

  std::int64_t factor_count() const {
    switch (s_.operation) {
      case VectorOperation::Zero:
      case VectorOperation::Copy:
      case VectorOperation::Swap:
        return 0;
      case VectorOperation::Axpy:
      case VectorOperation::Scal:
        return s_.complex ? 3 : 1;
      case VectorOperation::ScalReal:
        return 1;
      case VectorOperation::Mix:
        return 4;
      case VectorOperation::MixComplex:
        return 5;
    }
    return 0;
  }

  // HBM to HBM: the halves of a piece alternate, so that it stays a list of runs which the DMA engines share, and does
  // not become one long run for a single engine.
  static Access in_runs(const Access& piece) {
    if (piece.dims.front().size % 2 != 0) return piece;
    const Access halves = piece.split(0, piece.dims.front().size / 2);
    return halves.dims.size() == 4 ? halves.permute({1, 0, 2, 3}) : halves.permute({1, 0, 2});
  }

  // One tile holds x and y, one instruction reads both, so that neither store can overtake a load.
  void swap(const VectorPiece& p) {
    const std::int64_t c = p.columns * (s_.complex ? 2 : 1);
    const Access both = b_.sbuf("both", p.partitions, {2, c}, DType::Float32, kBuffers),
                 changed = b_.sbuf("changed", p.partitions, {2, c}, DType::Float32, kBuffers);
    const auto half = [&](const Access& t, std::int64_t i) {
      Access one = t(all, ds(i, 1), all);
      one.dims.erase(one.dims.begin());
      return s_.complex ? one.split(0, 2) : one;
    };
    b_.dma_copy(half(both, 0), p.of(y_in_));
    b_.dma_copy(half(both, 1), p.of(x_in_));
    b_.tensor_copy(changed, both, Engine::Vector);
    b_.dma_copy(p.of(x_out_), half(changed, 0));
    b_.dma_copy(p.of(y_out_), half(changed, 1));
  }

  // y += alpha x; complex: re += ar xr - ai xi, im += ar xi + ai xr.
  void axpy(const VectorPiece& p, const FactorOf& f) {
    const Access x = p.load(b_, "x", x_in_, kBuffers);
    const Access y = s_.x_is_y ? p.tile(b_, "sum", s_.complex, kBuffers) : p.load(b_, "y", y_in_, kBuffers);
    multiply_add(b_, flat(y), flat(x), f(0), flat(s_.x_is_y ? x : y));
    if (s_.complex) {
      multiply_add(b_, part(y, 0), part(x, 1), f(2), part(y, 0));
      multiply_add(b_, part(y, 1), part(x, 0), f(1), part(y, 1));
    }
    b_.dma_copy(p.of(y_out_), y);
  }

  void scal(const VectorPiece& p, const FactorOf& f) {
    if (!s_.complex) return scal_real(p, f);
    const Access x = p.load(b_, "x", x_in_, kBuffers), y = p.tile(b_, "scaled", true, kBuffers);
    multiply(b_, part(y, 0), part(x, 1), f(2));
    multiply(b_, part(y, 1), part(x, 0), f(1));
    multiply_add(b_, flat(y), flat(x), f(0), flat(y));
    b_.dma_copy(p.of(x_out_), y);
  }
  void scal_real(const VectorPiece& p, const FactorOf& f) {
    const Access x = p.load(b_, "x", x_in_, kBuffers);
    multiply(b_, flat(x), flat(x), f(0));
    b_.dma_copy(p.of(x_out_), x);
  }

  // x = h11 x + h12 y, y = h21 x + h22 y; complex vectors part by part.
  void mix(const VectorPiece& p, const FactorOf& f) {
    const Access x = p.load(b_, "x", x_in_, kBuffers), y = p.load(b_, "y", y_in_, kBuffers);
    const Access u = p.tile(b_, "u", s_.complex, kBuffers), v = p.tile(b_, "v", s_.complex, kBuffers);
    multiply(b_, flat(u), flat(y), f(1));
    multiply_add(b_, flat(u), flat(x), f(0), flat(u));
    multiply(b_, flat(v), flat(x), f(2));
    multiply_add(b_, flat(v), flat(y), f(3), flat(v));
    b_.dma_copy(p.of(x_out_), u);
    b_.dma_copy(p.of(y_out_), v);
  }

  // x = c x + s y, y = c y - conj(s) x. Factors: c, re s, im s, -re s, -im s.
  void mix_complex(const VectorPiece& p, const FactorOf& f) {
    const Access x = p.load(b_, "x", x_in_, 2), y = p.load(b_, "y", y_in_, 2);
    const Access u = p.tile(b_, "u", true, 2), v = p.tile(b_, "v", true, 2);
    multiply(b_, flat(u), flat(y), f(1));
    multiply_add(b_, part(u, 0), part(y, 1), f(4), part(u, 0));
    multiply_add(b_, part(u, 1), part(y, 0), f(2), part(u, 1));
    multiply_add(b_, flat(u), flat(x), f(0), flat(u));
    multiply(b_, flat(v), flat(x), f(3));
    multiply_add(b_, part(v, 0), part(x, 1), f(4), part(v, 0));
    multiply_add(b_, part(v, 1), part(x, 0), f(2), part(v, 1));
    multiply_add(b_, flat(v), flat(y), f(0), flat(v));
    b_.dma_copy(p.of(x_out_), u);
    b_.dma_copy(p.of(y_out_), v);
  }

  VectorShape s_;
  Builder b_;
  Access x_in_, y_in_, x_out_, y_out_;
};

}  // namespace

tile::Program vector_program(const VectorShape& shape, const Machine& machine) {
  require(shape.n >= 1, "blas: a vector program needs n >= 1, got {}", shape.n);
  require(!shape.x_is_y || (shape.operation == VectorOperation::Axpy && shape.incx == shape.incy),
          "blas: only axpy is given one vector twice");
  return VectorKernel(shape, machine).build();
}

namespace device {

namespace {

void run(const Executor& executor, VectorOperation operation, DType dtype, const Vectors& v,
         std::initializer_list<double> factors) {
  const bool x_is_y = v.x == v.y;  // axpy alone comes so far with one vector twice
  const VectorShape shape{operation, is_complex(dtype), v.n, x_is_y ? v.incy : v.incx, v.y ? v.incy : 1, x_is_y};
  launch(executor, vector_program, shape, {{"x", x_is_y ? nullptr : v.x}, {"y", v.y}, factors_of(factors)});
}

}  // namespace

void axpy(const Executor& executor, const AxpyArgs& g) {
  require_single("blas.axpy", executor, g.dtype);
  const Vectors v(g.dtype, g.n, g.x, g.incx, g.y, g.incy);
  if (is_complex(g.dtype))
    run(executor, VectorOperation::Axpy, g.dtype, v, {g.alpha.real(), g.alpha.imag(), -g.alpha.imag()});
  else
    run(executor, VectorOperation::Axpy, g.dtype, v, {g.alpha.real()});
}

void zero(const Executor& executor, DType dtype, std::int64_t n, void* x, std::int64_t incx) {
  run(executor, VectorOperation::Zero, dtype, {dtype, n, x, incx, nullptr, 1}, {});
}

void copy(const Executor& executor, const AxpyArgs& g) {
  require_single("blas.copy", executor, g.dtype);
  run(executor, VectorOperation::Copy, g.dtype, {g.dtype, g.n, g.x, g.incx, g.y, g.incy}, {});
}

void swap(const Executor& executor, const SwapArgs& g) {
  require_single("blas.swap", executor, g.dtype);
  run(executor, VectorOperation::Swap, g.dtype, {g.dtype, g.n, g.x, g.incx, g.y, g.incy}, {});
}

void scal(const Executor& executor, const ScalArgs& g) {
  require_single("blas.scal", executor, g.dtype);
  const Vectors v(g.dtype, g.n, g.x, g.incx, nullptr, 1);
  if (is_complex(g.dtype) && !g.real_alpha)
    run(executor, VectorOperation::Scal, g.dtype, v, {g.alpha.real(), g.alpha.imag(), -g.alpha.imag()});
  else
    run(executor, VectorOperation::ScalReal, g.dtype, v, {g.alpha.real()});
}

void rot(const Executor& executor, const RotArgs& g) {
  require_single("blas.rot", executor, g.dtype);
  const Vectors v(g.dtype, g.n, g.x, g.incx, g.y, g.incy);
  const double sr = g.s.real(), si = g.s.imag();
  if (g.real_s || !is_complex(g.dtype))
    run(executor, VectorOperation::Mix, g.dtype, v, {g.c, sr, -sr, g.c});
  else
    run(executor, VectorOperation::MixComplex, g.dtype, v, {g.c, sr, si, -sr, -si});
}

// The entries that a flag implies are 1 and -1: multiplying by them is exact.
void rotm(const Executor& executor, const RotmArgs& g) {
  require_single("blas.rotm", executor, g.dtype);
  const Vectors v(g.dtype, g.n, g.x, g.incx, g.y, g.incy);
  if (g.flag < 0)
    run(executor, VectorOperation::Mix, g.dtype, v, {g.h11, g.h12, g.h21, g.h22});
  else if (g.flag == 0)
    run(executor, VectorOperation::Mix, g.dtype, v, {1, g.h12, g.h21, 1});
  else
    run(executor, VectorOperation::Mix, g.dtype, v, {g.h11, 1, -1, g.h22});
}

}  // namespace device

}  // namespace trn::blas
