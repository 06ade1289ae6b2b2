// Arithmetic on pairs of fp32: see pair_arithmetic.hpp.
#include "pair_arithmetic.hpp"

#include <trn/core/convert.hpp>

namespace trn::fft::device {

using namespace trn::tile;

void table_entry(long double w, float* entry, std::int64_t plane) {
  const auto hi = static_cast<float>(w);
  const double wide = hi;
  float first = 0;
  from_double(&wide, DType::TFloat32, &first, 1);
  double kept = 0;
  to_double(DType::TFloat32, &first, &kept, 1);
  entry[0] = hi;
  entry[plane] = static_cast<float>(kept);
  entry[2 * plane] = static_cast<float>(wide - kept);
  entry[3 * plane] = static_cast<float>(w - static_cast<long double>(hi));
}

Access PairArithmetic::op(const Access& a, const Access& b, AluOp which, Engine engine) {
  const Access c = fresh(a);
  b_.tensor_tensor(c, a, b, which, engine);
  return c;
}

void PairArithmetic::normal(const Pair& to, const Access& large, const Access& small, Engine engine) {
  b_.tensor_tensor(to.hi, large, small, AluOp::Add, engine);
  b_.tensor_tensor(to.lo, small, subtract(to.hi, large, engine), AluOp::Subtract, engine);
}

PairArithmetic::Factor PairArithmetic::factor(const Pair& z) {
  const Access first = fresh(z.hi, DType::TFloat32);
  b_.activation(first, ActFunction::Copy, z.hi);
  return {z.hi, first, subtract(z.hi, first), z.lo};
}

Pair PairArithmetic::product(const Factor& z, const Factor& w, Engine e) {
  const Access p = multiply(z.hi, w.hi, e);
  Access rest = subtract(multiply(z.first, w.first, e), p, e);
  rest = add(rest, multiply(z.first, w.second, e), e);
  rest = add(rest, multiply(z.second, w.first, e), e);
  rest = add(rest, multiply(z.second, w.second, e), e);
  return {p, add(rest, add(multiply(z.hi, w.lo, e), multiply(z.lo, w.hi, e), e), e)};
}

void PairArithmetic::turn(const Pair& z, const Table& table, std::int64_t count, std::int64_t columns) {
  const auto half = [&](const Access& t, std::int64_t part) { return pattern(t, part, {{columns, count}, {2, columns / 2}}); };
  const auto w = [&](std::int64_t which) { return Factor{table(0, which), table(1, which), table(2, which), table(3, which)}; };
  const Factor re = factor({half(z.hi, 0), half(z.lo, 0)}), im = factor({half(z.hi, 1), half(z.lo, 1)}), c = w(0), s = w(1);
  const Pair rc = product(re, c, Engine::Vector), is = product(im, s, Engine::Vector);
  const Pair rs = product(re, s, Engine::Vector), ic = product(im, c, Engine::Vector);
  // a - b and a + b: the rounded result and, exactly, what it lacks.
  const auto combine = [&](std::int64_t part, const Pair& a, const Pair& b, AluOp which, Engine e) {
    const bool minus = which == AluOp::Subtract;
    const Access sum = op(a.hi, b.hi, which, e), back = subtract(sum, a.hi, e);
    const Access lost_a = subtract(a.hi, subtract(sum, back, e), e), lost_b = minus ? add(b.hi, back, e) : subtract(b.hi, back, e);
    const Access error = op(lost_a, lost_b, which, e), low = op(a.lo, b.lo, which, e);
    normal({half(z.hi, part), half(z.lo, part)}, sum, add(error, low, e), e);
  };
  combine(0, rc, is, AluOp::Subtract, Engine::Vector);
  combine(1, rs, ic, AluOp::Add, Engine::Vector);
}

}  // namespace trn::fft::device
