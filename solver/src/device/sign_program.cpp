// The sign function of a small symmetric matrix: see sign_program.hpp.
//
// A step is three products of the Tensor Engine in float32, M = X X, T = M M, P = X Q, and as many evictions that
// combine: Q = c T + b M, Y = P + a X. Then X = (Y + Y^T) / 2: in exact arithmetic Y is symmetric, but an antisymmetric
// rounding would grow by a factor of up to 7 a step, because the Tensor Engine multiplies by X^T.
#include <trn/solver/sign_program.hpp>

#include <vector>

#include <trn/core/error.hpp>
#include <trn/tile/blocks/elementwise.hpp>
#include <trn/tile/stores.hpp>

#include "device/sign_schedule.hpp"

namespace trn::solver {

using namespace trn::tile;

namespace {

std::vector<device::SignStep> steps_of(SignStage stage) {
  using namespace device;
  std::vector<SignStep> steps;
  if (stage == SignStage::First) {
    steps.assign(kFirst.begin(), kFirst.end());
    steps.insert(steps.begin() + 2, kFirst[2]);  // the norm of a small matrix is known less well: one step more
  }
  if (stage == SignStage::Short) {
    steps.assign(kShort.begin(), kShort.end());
    const double r = kRescale;
    steps.front() = {steps.front().a * r, steps.front().b * r * r * r, steps.front().c * r * r * r * r * r};
  }
  return steps;
}

}  // namespace

Program sign_program(const SignShape& shape, const Machine& machine) {
  const std::int64_t n = shape.n;
  require(n >= 1 && n <= machine.partitions, "solver.sign: order {}; it must be between 1 and {}", n,
          machine.partitions);
  Builder b("solver_sign", machine);
  const Access x_in = b.input("x", DType::Float32, {n, n}), s = b.output("s", DType::Float32, {n, n}),
               departure = b.output("departure", DType::Float32, {n});
  const auto tile = [&](const char* name) { return b.sbuf(name, n, {n}, DType::Float32); };
  const Access x = tile("x_tile"), m = tile("m"), q = tile("q"), y = tile("y"), unit = tile("unit"),
               ones = tile("ones");
  const Access sums = b.sbuf("sums", n, {1}, DType::Float32);
  const Access m_sums = b.psum("m_sums", n, {n}), t_sums = b.psum("t_sums", n, {n}), p_sums = b.psum("p_sums", n, {n}),
               turned = b.psum("turned", n, {n});
  const Access factor = blocks::scalar_input(b, "scale")(ds(0, n));
  b.memset(ones, 1, Engine::Vector);
  b.affine_select(unit, {{-1, n}}, 0, 1, AluOp::Equal, ones, 0);
  b.dma_copy(x, x_in);
  blocks::scale(b, x, x, factor);
  // X <- X (a I + b M + c M^2) with M in `m`.
  const auto apply = [&](const device::SignStep& p) {
    b.nc_matmul(t_sums, m, m);
    blocks::scale_add(b, q, t_sums, p.c, m, p.b);
    b.nc_matmul(p_sums, x, q);
    blocks::scale_add(b, y, p_sums, 1.0, x, p.a);
    b.nc_transpose(turned, y);
    blocks::scale_add(b, x, turned, 0.5, y, 0.5);
  };
  for (const device::SignStep& p : steps_of(shape.stage)) {
    b.nc_matmul(m_sums, x, x);
    b.tensor_copy(m, m_sums, Engine::Vector);
    apply(p);
  }
  b.nc_matmul(m_sums, x, x);
  b.tensor_tensor(m, m_sums, unit, AluOp::Subtract, Engine::Vector);  // D
  b.tensor_tensor(q, m, m, AluOp::Multiply, Engine::Vector);
  b.tensor_reduce(sums, AluOp::Add, q);
  b.dma_copy(departure.split(0, 1), sums);
  apply(device::about_one(device::kClosing));
  b.dma_copy(s, x);
  return static_stores(b.finish());
}

}  // namespace trn::solver
