// Arithmetic on three words of fp32: see triple_arithmetic.hpp.
#include "triple_arithmetic.hpp"

#include <cmath>

namespace trn::fft::device {

using namespace trn::tile;

namespace {
constexpr int kDigit = 12;
}

void table_entry(long double w, float* entry, std::int64_t plane) {
  float digit[5];
  long double rest = w;
  for (int i = 0; i < 4; ++i) {
    const int bits = kDigit * (i + 1) - 1;
    const long double d = std::ldexp(std::nearbyint(std::ldexp(rest, bits)), -bits);
    digit[i] = static_cast<float>(d);
    rest -= d;
  }
  digit[4] = static_cast<float>(rest);
  for (int i = 0; i < 5; ++i) entry[i * plane] = digit[i];
  entry[5 * plane] = digit[0] + digit[1];
  entry[6 * plane] = digit[2] + digit[3];
}

Access TripleArithmetic::op(const Access& a, const Access& b, AluOp which) {
  const Access c = fresh(a);
  b_.tensor_tensor(c, a, b, which, Engine::Vector);
  return c;
}

void TripleArithmetic::cut_to(const Access& to, const Access& x, int bits) {
  const double shift = 1.5 * std::ldexp(1.0, 23 - bits);
  b_.tensor_scalar(to, x, AluOp::Add, shift, {.op1 = AluOp::Subtract, .operand1 = shift, .engine = Engine::Vector});
}
Access TripleArithmetic::cut(const Access& x, int bits) {
  const Access c = fresh(x);
  cut_to(c, x, bits);
  return c;
}

Access TripleArithmetic::dot(const Terms& terms) {
  Access sum;
  for (const auto& [x, y] : terms) sum = sum.present() ? add(sum, multiply(x, y)) : multiply(x, y);
  return sum;
}

void TripleArithmetic::turned(const Triple& to, const Digits& x, const Entry& u, const Digits& y, const Entry& v,
                              AluOp sign) {
  const auto level0 = [&](const Digits& z, const Entry& w) { return multiply(z.a0, w.w0); };
  const auto level1 = [&](const Digits& z, const Entry& w) { return dot({{z.a0, w.w1}, {z.a1, w.w0}}); };
  const auto level2 = [&](const Digits& z, const Entry& w) { return dot({{z.a0, w.w2}, {z.a1, w.w1}, {z.b0, w.w0}}); };
  const auto level3 = [&](const Digits& z, const Entry& w) {
    return dot({{z.a0, w.w3}, {z.a1, w.w2}, {z.b0, w.w1}, {z.b1, w.w0}});
  };
  const auto rest = [&](const Digits& z, const Entry& w) {
    return dot({{z.hi, w.w4}, {z.a1, w.w3}, {z.mid, w.w23}, {z.b1, w.w1}, {z.lo, w.w01}});
  };
  Access low = op(rest(x, u), rest(y, v), sign);
  const Access x3 = level3(x, u), y3 = level3(y, v), x3_up = cut(x3, 4 * kDigit), y3_up = cut(y3, 4 * kDigit);
  low = add(low, op(subtract(x3, x3_up), subtract(y3, y3_up), sign));
  const Access x2 = add(level2(x, u), x3_up), y2 = add(level2(y, v), y3_up), x2_up = cut(x2, 3 * kDigit),
               y2_up = cut(y2, 3 * kDigit);
  const Access middle = op(subtract(x2, x2_up), subtract(y2, y2_up), sign);
  const Access one = op(add(op(level1(x, u), level1(y, v), sign), x2_up), y2_up, sign), one_up = cut(one, kHiBits),
               low_up = cut(low, kMidBits);
  const Access top = op(level0(x, u), level0(y, v), sign), below = add(subtract(one, one_up), middle);
  b_.tensor_tensor(to.hi, top, one_up, AluOp::Add, Engine::Vector);
  b_.tensor_tensor(to.mid, below, low_up, AluOp::Add, Engine::Vector);
  b_.tensor_tensor(to.lo, low, low_up, AluOp::Subtract, Engine::Vector);
}

void TripleArithmetic::turn(const Triple& z, const Table& table, std::int64_t count, std::int64_t columns) {
  const Access a0 = cut(z.hi, kDigit + 1), a1 = subtract(z.hi, a0), b0 = cut(z.mid, 3 * kDigit + 1),
               b1 = subtract(z.mid, b0);
  const auto half = [&](const Access& t, std::int64_t part) {
    return pattern(t, part, {{columns, count}, {2, columns / 2}});
  };
  const auto digits = [&](std::int64_t part) {
    return Digits{half(a0, part),   half(a1, part),    half(b0, part),  half(b1, part),
                  half(z.hi, part), half(z.mid, part), half(z.lo, part)};
  };
  const auto entry = [&](std::int64_t which) {
    return Entry{table(0, which), table(1, which), table(2, which), table(3, which),
                 table(4, which), table(5, which), table(6, which)};
  };
  const Digits re = digits(0), im = digits(1);
  const Entry c = entry(0), s = entry(1);
  // Both results before either is written: they read the same words.
  const auto into = [&](std::int64_t part) { return Triple{half(z.hi, part), half(z.mid, part), half(z.lo, part)}; };
  const Triple first{fresh(half(z.hi, 0)), fresh(half(z.hi, 0)), fresh(half(z.hi, 0))};
  turned(first, re, c, im, s, AluOp::Subtract);
  turned(into(1), re, s, im, c, AluOp::Add);
  const Triple to = into(0);
  b_.activation(to.hi, ActFunction::Copy, first.hi);
  b_.activation(to.mid, ActFunction::Copy, first.mid);
  b_.activation(to.lo, ActFunction::Copy, first.lo);
}

}  // namespace trn::fft::device
