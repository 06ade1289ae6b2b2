// QR factorisation of a batch by Householder reflections, one matrix in each partition; LAPACK's conventions.
//
// A is scaled by a power of two first, so that squares neither overflow nor vanish beside the largest element. Column
// k, with alpha = W(k,k) and x2 the sum of squares below it: beta = -sign(alpha) sqrt(alpha^2 + x2), v = (1, W(i,k) /
// (alpha - beta)), tau = (beta - alpha) / beta; where x2 is 0 tau = 0 and v = (1, 0). Then W(i,j) -= tau v(i) (v^T
// W)(j) for the columns behind: four Vector instructions of (m - k) (n - k) elements, a score of small ones.
#include <algorithm>

#include <trn/tile/stores.hpp>

#include "device/lanes.hpp"

namespace trn::solver {

using namespace trn::tile;
using namespace device;

namespace {

class Reflections {
 public:
  Reflections(Builder& b, Lanes& lanes, const Access& w, std::int64_t count, std::int64_t m, std::int64_t n)
      : b_(b),
        lanes_(lanes),
        w_(w),
        m_(m),
        n_(n),
        products(lanes.tile("products", count, {m * n})),
        v_(lanes.tile("v", count, {m})),
        squares_(lanes.tile("squares", count, {m})),
        sums_(lanes.tile("sums", count, {n})),
        active8_(b.sbuf("active8", count, {1}, DType::UInt8)) {
    for (Access* x : {&x2_, &norm_, &root_, &t_, &active_, &beta_, &gap_}) *x = lanes.tile("number", count, {1});
  }

  // v, tau and beta of column k; nothing to do for its last row.
  void make(std::int64_t k, const Access& tau) {
    const std::int64_t rows = m_ - k;
    if (rows == 1) return b_.memset(tau, 0, Engine::Vector);
    const Access squares = squares_(all, ds(0, rows)), column = column_of(w_, k, k, rows), alpha = element_of(w_, k, k),
                 below = column_of(w_, k, k + 1, rows - 1), v = v_(all, ds(1, rows - 1));
    multiply(squares, column, column);
    b_.tensor_reduce(x2_, AluOp::Add, squares(all, ds(1, rows - 1)));
    b_.tensor_scalar(active_, x2_, AluOp::Greater, 0.0, {.engine = Engine::Vector});
    b_.tensor_copy(active8_, active_, Engine::Vector);
    b_.tensor_tensor(norm_, x2_, squares(all, ds(0, 1)), AluOp::Add, Engine::Vector);
    b_.tensor_scalar(norm_, norm_, AluOp::Maximum, 0x1p-120, {.engine = Engine::Vector});
    lanes_.inverse_root(root_, norm_, t_);
    multiply(norm_, norm_, root_);
    // -sign(alpha) = 1 - 2 (alpha >= 0)
    b_.tensor_scalar(t_, alpha, AluOp::GreaterEqual, 0.0,
                     {.op1 = AluOp::Multiply, .operand1 = -2.0, .engine = Engine::Vector});
    b_.scalar_tensor_tensor(beta_, t_, AluOp::Add, 1.0, AluOp::Multiply, norm_);
    b_.tensor_tensor(gap_, alpha, beta_, AluOp::Subtract, Engine::Vector);
    b_.reciprocal(t_, beta_);
    multiply(t_, t_, gap_);
    b_.scalar_tensor_tensor(tau, t_, AluOp::Multiply, -1.0, AluOp::Multiply, active_);
    b_.reciprocal(t_, gap_);
    multiply(t_, t_, active_);
    b_.tensor_scalar(v, below, AluOp::Multiply, t_, {.engine = Engine::Vector});
    b_.memset(v_(all, ds(0, 1)), 1, Engine::Vector);
    b_.tensor_copy(below, v, Engine::Vector);
    b_.tensor_copy_predicated(alpha, beta_, active8_);
  }

  void apply(std::int64_t k, const Access& tau) {
    const std::int64_t rows = m_ - k, columns = n_ - k - 1;
    if (columns == 0 || rows == 1) return;
    const Access v = v_(all, ds(0, rows)), rest = w_(all, ds(k, rows), ds(k + 1, columns)),
                 part = products(all, ds(0, rows * columns)), sums = sums_(all, ds(0, columns));
    multiply(part.split(0, rows), rest.permute({1, 0}), along_columns(v, columns));
    b_.tensor_reduce(sums, AluOp::Add, part.split(0, rows));
    b_.scalar_tensor_tensor(part.split(0, columns), along_rows(v, columns), AluOp::Multiply, tau, AluOp::Multiply,
                            along_columns(sums, rows));
    b_.tensor_tensor(rest, rest, part.split(0, columns), AluOp::Subtract, Engine::Vector);
  }

 private:
  void multiply(const Access& to, const Access& x, const Access& y) {
    b_.tensor_tensor(to, x, y, AluOp::Multiply, Engine::Vector);
  }

  Builder& b_;
  Lanes& lanes_;
  Access w_;
  std::int64_t m_, n_;

 public:
  Access products;  // (P, m n)

 private:
  Access v_, squares_, sums_, active8_, x2_, norm_, root_, t_, active_, beta_, gap_;
};

}  // namespace

Program geqrf_batch_program(const BatchProgramShape& s, const Machine& machine) {
  Builder b("solver_geqrf_batch", machine);
  const std::int64_t m = s.m, n = s.n, steps = std::min(m, n), side = machine.partitions;
  Lanes lanes(b, s);
  const Access a = lanes.input("a"), factors = b.output_over("factors", a);
  const Access tau = b.output("tau", DType::Float32, {s.count, steps}),
               flags = b.output("flags", DType::Float32, {s.count, 1});
  // R is what goes back to A's scale: j - i >= 0.
  const Access upper = b.sbuf("upper", side, {m, n}, DType::UInt8), ones = lanes.tile("ones", side, {m, n});
  b.memset(ones, 1, Engine::Vector);
  b.affine_select(ones, {{-1, m}, {1, n}}, 0, 0, AluOp::GreaterEqual, ones, 0);
  b.tensor_copy(upper, ones, Engine::Vector);
  const Access elements = lanes.falling();
  lanes.for_groups([&](const Affine& first, std::int64_t count) {
    const Slice here = ds(first, count);
    const Access loaded = lanes.loaded(count), w = lanes.matrix(loaded), taus = lanes.tile("taus", count, {steps}),
                 flag = lanes.tile("flag", count, {1}), scale = lanes.tile("scale", count, {1}),
                 inverse = lanes.tile("inverse_scale", count, {1});
    Reflections reflections(b, lanes, w, count, m, n);
    const Access products = reflections.products.split(0, n);
    b.dma_copy(loaded, lanes.turned(a(here)));
    lanes.flag(flag, w, products, elements(ds(0, count)));
    lanes.power_of_two(scale, inverse, w, products);
    b.tensor_scalar(w, w, AluOp::Multiply, inverse, {.engine = Engine::Vector});
    for (std::int64_t k = 0; k < steps; ++k) {
      const Access one = taus(all, ds(k, 1));
      reflections.make(k, one);
      reflections.apply(k, one);
    }
    b.tensor_scalar(products, w, AluOp::Multiply, scale, {.engine = Engine::Vector});
    b.tensor_copy_predicated(w, products, upper(ds(0, count)));
    b.dma_copy(lanes.turned(factors(here)), loaded);
    b.dma_copy(tau(here), taus);
    b.dma_copy(flags(here), flag);
  });
  return static_stores(b.finish());
}

}  // namespace trn::solver
