// Float-float arithmetic on tiles: see double_words.hpp.
#include "double_words.hpp"

#include "vectors.hpp"

namespace trn::blas::device {

using namespace trn::tile;

Access DoubleWords::fresh(const Access& like, DType dtype) { return b_.sbuf("word", like.partitions, {like.free_size()}, dtype); }

Access DoubleWords::combine(const Access& a, const Access& b, AluOp op) {
  const Access c = fresh(a);
  b_.tensor_tensor(c, a, b, op, Engine::Vector);
  return c;
}

Access DoubleWords::scaled_add(const Access& a, double f, const Access& b) {
  const Access c = fresh(a);
  b_.scalar_tensor_tensor(c, a, AluOp::Multiply, f, AluOp::Add, b);
  return c;
}

WordPair DoubleWords::two_sum(const Access& a, const Access& b) {
  const Access s = add(a, b), t = subtract(s, a);
  return {s, add(subtract(a, subtract(s, t)), subtract(b, t))};
}

WordPair DoubleWords::fast_two_sum(const Access& a, const Access& b) {
  const Access s = add(a, b);
  return {s, subtract(b, subtract(s, a))};
}

WordPair DoubleWords::split(const Access& a) {
  const Access high = fresh(a, DType::TFloat32);
  b_.activation(high, ActFunction::Copy, a);
  return {high, subtract(a, high)};
}

WordPair DoubleWords::two_product(const Access& a, const Access& b) {
  const Access p = multiply(a, b);
  const WordPair x = split(a), y = split(b);
  const Access e = subtract(multiply(x.hi, y.hi), p);
  return {p, add(add(add(e, multiply(x.hi, y.lo)), multiply(x.lo, y.hi)), multiply(x.lo, y.lo))};
}

WordPair DoubleWords::add(const WordPair& x, const WordPair& y) {
  const WordPair s = two_sum(x.hi, y.hi), t = two_sum(x.lo, y.lo);
  const WordPair v = fast_two_sum(s.hi, add(s.lo, t.hi));
  return fast_two_sum(v.hi, add(t.lo, v.lo));
}

WordPair DoubleWords::subtract(const WordPair& x, const WordPair& y) {
  const Access hi = fresh(y.hi), lo = fresh(y.lo);
  b_.tensor_scalar(hi, y.hi, AluOp::Multiply, -1.0, {.engine = Engine::Vector});
  b_.tensor_scalar(lo, y.lo, AluOp::Multiply, -1.0, {.engine = Engine::Vector});
  return add(x, {hi, lo});
}

WordPair DoubleWords::multiply(const WordPair& x, const WordPair& y) {
  const WordPair p = two_product(x.hi, y.hi);
  return fast_two_sum(p.hi, add(p.lo, add(multiply(x.hi, y.lo), multiply(x.lo, y.hi))));
}

// r0 = 1 / x.hi rounded; 1 - x r0 is about 2^-24 and known to 2^-46, and 1 / x = r0 (1 + (1 - x r0)) but for its square.
WordPair DoubleWords::reciprocal(const WordPair& x) {
  const Access r = fresh(x.hi), rest = fresh(x.hi);
  b_.reciprocal(r, x.hi);
  const WordPair p = two_product(x.hi, r);
  b_.tensor_scalar(rest, p.hi, AluOp::Multiply, -1.0, {.op1 = AluOp::Add, .operand1 = 1.0, .engine = Engine::Vector});
  const Access left = subtract(rest, add(p.lo, multiply(x.lo, r)));
  return fast_two_sum(r, multiply(r, left));
}

void DoubleWords::sum_row(const Access& to, const WordPair& x) {
  const Access power = b_.sbuf("power", x.hi.partitions, {1}, DType::Float32),
               finer = b_.sbuf("power", x.hi.partitions, {1}, DType::Float32);
  const auto column = [&](std::int64_t i) { return to(all, ds(i, 1)); };
  // 2^11 times the largest number's power of two: 512 numbers stay below it, and sums of multiples of its last bit are exact.
  b_.tensor_reduce(power, AluOp::Maximum, x.hi);
  b_.tensor_scalar(power.view(DType::UInt32), power.view(DType::UInt32), AluOp::BitwiseAnd, double{0x7f800000}, {.engine = Engine::Vector});
  b_.tensor_scalar(power, power, AluOp::Multiply, 0x1p11, {.engine = Engine::Vector});
  b_.tensor_scalar(finer, power, AluOp::Multiply, 0x1p-13, {.engine = Engine::Vector});
  Access rest = x.hi;
  const Access levels[] = {power, finer};
  for (std::int64_t i = 0; i < 2; ++i) {
    const Access cut = fresh(rest);
    b_.tensor_scalar(cut, rest, AluOp::Add, levels[i], {.op1 = AluOp::Subtract, .operand1 = levels[i], .engine = Engine::Vector});
    b_.tensor_reduce(column(i), AluOp::Add, cut);
    rest = subtract(rest, cut);
  }
  device::sum_row(b_, column(2), rest);
  device::sum_row(b_, column(3), x.lo);
}

}  // namespace trn::blas::device
