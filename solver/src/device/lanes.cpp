// One matrix in each partition: see lanes.hpp.
#include "device/lanes.hpp"

#include <trn/tile/blocks/loops.hpp>

namespace trn::solver::device {

using namespace trn::tile;

Lanes::Lanes(Builder& b, const BatchProgramShape& shape)
    : b_(b), s_(shape), turned_(shape.row == 1 && shape.column != 1 && shape.m > 1) {}

Access Lanes::input(const char* name) {
  return b_.input(name, DType::Float32, {s_.count, s_.m, s_.n}, {s_.stride, s_.row, s_.column});
}
Access Lanes::turned(const Access& tensor) const { return turned_ ? tensor.permute({0, 2, 1}) : tensor; }
Access Lanes::matrix(const Access& loaded) const { return turned_ ? loaded.permute({1, 0}) : loaded; }

void Lanes::for_groups(const std::function<void(const Affine&, std::int64_t)>& body) {
  blocks::for_blocks(b_, "group", s_.count, b_.machine().partitions, LoopKind::Sequential, body);
}

Access Lanes::lower(std::int64_t n) {
  const std::int64_t side = b_.machine().partitions;
  const Access ones = b_.sbuf("ones", side, {n, n}, DType::Float32),
               mask = b_.sbuf("lower", side, {n, n}, DType::UInt8);
  b_.memset(ones, 1, Engine::Vector);
  b_.affine_select(ones, {{1, n}, {-1, n}}, 0, 0, AluOp::GreaterEqual, ones, 0);
  b_.tensor_copy(mask, ones, Engine::Vector);
  return mask;
}

Access Lanes::loaded(std::int64_t count) {
  return tile("loaded", count, turned_ ? Shape{s_.n, s_.m} : Shape{s_.m, s_.n});
}
Access Lanes::tile(const char* name, std::int64_t count, Shape free) {
  return b_.sbuf(name, count, std::move(free), DType::Float32);
}

Access Lanes::falling() {
  const std::int64_t side = b_.machine().partitions, size = s_.m * s_.n;
  const Access numbers = b_.sbuf("numbers_of_elements", side, {s_.m, s_.n}, DType::Int32),
               falling = tile("falling_elements", side, {s_.m, s_.n});
  b_.iota(numbers, {{-s_.n, s_.m}, {-1, s_.n}}, size);
  b_.tensor_copy(falling, numbers, Engine::Vector);
  return falling;
}

// 0 x is NaN where x is not finite, and nothing equals NaN.
void Lanes::flag(const Access& flag, const Access& x, const Access& scratch, const Access& falling) {
  b_.tensor_scalar(scratch, x, AluOp::Multiply, 0.0, {.engine = Engine::Vector});
  b_.scalar_tensor_tensor(scratch, scratch, AluOp::Equal, 0.0, AluOp::Multiply, falling);
  b_.tensor_tensor(scratch, falling, scratch, AluOp::Subtract, Engine::Vector);
  b_.tensor_reduce(flag, AluOp::Maximum, scratch, 2);
}

void Lanes::inverse_root(const Access& y, const Access& x, const Access& t) {
  b_.tensor_scalar(y, x, AluOp::Power, -0.5, {.engine = Engine::Vector});
  b_.tensor_tensor(t, x, y, AluOp::Multiply, Engine::Vector);
  b_.tensor_tensor(t, t, y, AluOp::Multiply, Engine::Vector);
  b_.tensor_scalar(t, t, AluOp::Multiply, -0.5, {.op1 = AluOp::Add, .operand1 = 1.5, .engine = Engine::Vector});
  b_.tensor_tensor(y, y, t, AluOp::Multiply, Engine::Vector);
}

void Lanes::power_of_two(const Access& scale, const Access& inverse, const Access& x, const Access& scratch) {
  b_.tensor_scalar(scratch, x, AluOp::Abs, 0.0, {.engine = Engine::Vector});
  b_.tensor_reduce(scale, AluOp::Maximum, scratch, static_cast<std::int64_t>(scratch.dims.size()));
  b_.tensor_scalar(scale, scale, AluOp::Maximum, 0x1p-100,
                   {.op1 = AluOp::Minimum, .operand1 = 0x1p126, .engine = Engine::Vector});
  const Access bits = scale.view(DType::UInt32);
  b_.tensor_scalar(bits, bits, AluOp::BitwiseAnd, double{0x7f800000}, {.engine = Engine::Vector});
  b_.reciprocal(inverse, scale);
}

Access column_of(const Access& x, std::int64_t j, std::int64_t first, std::int64_t rows) {
  Access part = x(all, ds(first, rows), ds(j, 1));
  part.dims.pop_back();
  return part;
}
Access row_of(const Access& x, std::int64_t i, std::int64_t first, std::int64_t columns) {
  Access part = x(all, ds(i, 1), ds(first, columns));
  part.dims.erase(part.dims.begin());
  return part;
}
Access element_of(const Access& x, std::int64_t i, std::int64_t j) { return row_of(x, i, j, 1); }
Access diagonal_of(const Access& x, std::int64_t i, std::int64_t j, std::int64_t count) {
  Access part = x(all, ds(i, count), ds(j, count));
  const std::int64_t step = part.dims[0].stride + part.dims[1].stride;
  part.dims = {{step, count}};
  return part;
}

}  // namespace trn::solver::device
