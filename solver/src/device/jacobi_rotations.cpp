// Rotations of pairs of rows: see jacobi_rotations.hpp.
#include "device/jacobi_rotations.hpp"

namespace trn::solver::device {

using namespace trn::tile;

JacobiRotations::JacobiRotations(Builder& b, Lanes& lanes, std::int64_t count, std::int64_t order)
    : b_(b), lanes_(lanes), n_(order), half_(order / 2) {
  same_ = lanes.tile("c_less_one", count, {n_}), other_ = lanes.tile("sines", count, {n_});
  for (Access* x : {&d, &g, &square_, &root_, &t_, &c_, &s_}) *x = lanes.tile("angle", count, {half_});
}

void JacobiRotations::binary(const Access& to, const Access& x, AluOp op, const Access& y) {
  b_.tensor_tensor(to, x, y, op, Engine::Vector);
}

void JacobiRotations::angles() {
  binary(square_, d, AluOp::Multiply, d);
  binary(t_, g, AluOp::Multiply, g);
  binary(square_, square_, AluOp::Add, t_);
  b_.tensor_scalar(square_, square_, AluOp::Maximum, 0x1p-120, {.engine = Engine::Vector});
  lanes_.inverse_root(root_, square_, t_);
  binary(root_, root_, AluOp::Multiply, square_);  // sqrt(d^2 + g^2), 2^-60 at least
  b_.tensor_scalar(t_, d, AluOp::Abs, 0.0, {.engine = Engine::Vector});
  binary(root_, root_, AluOp::Add, t_);
  b_.reciprocal(root_, root_);
  binary(t_, g, AluOp::Multiply, root_);
  b_.tensor_scalar(d, d, AluOp::GreaterEqual, 0.0, {.op1 = AluOp::Multiply, .operand1 = 2.0, .engine = Engine::Vector});
  b_.scalar_tensor_tensor(t_, d, AluOp::Subtract, 1.0, AluOp::Multiply, t_);
  binary(square_, t_, AluOp::Multiply, t_);
  b_.tensor_scalar(square_, square_, AluOp::Add, 1.0, {.engine = Engine::Vector});
  lanes_.inverse_root(c_, square_, root_);
  binary(s_, t_, AluOp::Multiply, c_);
  b_.tensor_scalar(root_, c_, AluOp::Add, 1.0, {.engine = Engine::Vector});
  b_.reciprocal(root_, root_);
  binary(root_, root_, AluOp::Multiply, s_);
  const Slice top = ds(0, half_), bottom = ds(half_, half_);
  for (const Slice& part : {top, bottom})
    b_.scalar_tensor_tensor(same_(all, part), root_, AluOp::Multiply, -1.0, AluOp::Multiply, s_);
  b_.tensor_scalar(other_(all, top), s_, AluOp::Multiply, -1.0, {.engine = Engine::Vector});
  b_.tensor_copy(other_(all, bottom), s_, Engine::Vector);
}

void JacobiRotations::apply(const Access& to, const Access& from, const Access& change, const Access& cross,
                            Engine engine) {
  const std::int64_t size = from.dims[1].size;
  const Slice top = ds(0, half_), bottom = ds(half_, half_);
  const auto product = [&](const Access& out, const Access& rows, const Access& factors, Engine by) {
    b_.tensor_tensor(out, rows, along_rows(factors, size), AluOp::Multiply, by);
  };
  product(change, from, same_, engine);
  product(cross(all, top), from(all, bottom), other_(all, top), Engine::GpSimd);
  product(cross(all, bottom), from(all, top), other_(all, bottom), Engine::GpSimd);
  b_.tensor_tensor(change, change, cross, AluOp::Add, engine);
  if (!to.present()) b_.tensor_tensor(change, change, from, AluOp::Add, engine);
  const auto place = [&](std::int64_t there, std::int64_t here, std::int64_t rows) {
    if (rows <= 0) return;
    const Slice out = ds(there, rows), in = ds(here, rows);
    if (to.present())
      b_.tensor_tensor(to(all, out), from(all, in), change(all, in), AluOp::Add, engine);
    else
      b_.tensor_copy(from(all, out), change(all, in), engine);
  };
  if (half_ == 1) return place(0, 0, n_);
  place(0, 0, 1);
  place(1, half_, 1);
  place(2, 1, half_ - 2);
  place(half_, half_ + 1, half_ - 1);
  place(n_ - 1, half_ - 1, 1);
}

}  // namespace trn::solver::device
