// Complex functions of tiles: see tile_functions.hpp.
//
// The Vector Engine computes fp32 with one rounding per operator and sends integers through fp32, so that multiples of
// 2^23 below 2^32, exponents in their place in a float, add exactly. Errors below are in u = 2^-24 and assume what the
// simulator does: reciprocal and square root right to u.
#include "tile_functions.hpp"

#include <algorithm>
#include <limits>

namespace trn::fft::device {

using namespace trn::tile;

namespace {

constexpr double kExponentBits = 0x7f800000, kSignBit = 0x80000000, kQuietNan = 0x7fc00000;
constexpr double kField = 1 << 23;  // one step of the exponent
constexpr double kLargest = std::numeric_limits<float>::max();

Access as_bits(const Access& a) { return a.view(DType::UInt32); }
Access as_float(const Access& a) { return a.view(DType::Float32); }

}  // namespace

Access TileFunctions::combine(const Access& a, AluOp op, const Access& b) {
  const Access to = fresh(a.dtype);
  b_.tensor_tensor(to, a, b, op, Engine::Vector);
  return to;
}
Access TileFunctions::with(const Access& a, AluOp op, double operand) {
  const Access to = fresh();
  b_.tensor_scalar(to, a, op, operand, {.engine = Engine::Vector});
  return to;
}
Access TileFunctions::with(const Access& a, AluOp op0, double x, AluOp op1, double y) {
  const Access to = fresh();
  b_.tensor_scalar(to, a, op0, x, {.op1 = op1, .operand1 = y, .engine = Engine::Vector});
  return to;
}
Access TileFunctions::fused(const Access& a, AluOp op0, double x, AluOp op1, const Access& b) {
  const Access to = fresh();
  b_.scalar_tensor_tensor(to, a, op0, x, op1, b);
  return to;
}
Access TileFunctions::bits(const Access& a, AluOp op0, double x, AluOp op1, double y) {
  const Access to = fresh(DType::UInt32);
  TensorScalarOptions options{.engine = Engine::Vector};
  if (op1 != AluOp::None) options.op1 = op1, options.operand1 = y;
  b_.tensor_scalar(to, as_bits(a), op0, x, options);
  return to;
}
// All bits but the sign: shifted out and back in. A mask of 31 ones is no fp32 number, and an immediate is one.
Access TileFunctions::size(const Access& a) { return as_float(bits(a, AluOp::LeftShift, 1, AluOp::RightShift, 1)); }

void TileFunctions::scale(const Parts& a, const Access& factor) {
  b_.tensor_tensor(a.re, a.re, factor, AluOp::Multiply, Engine::Vector);
  b_.tensor_tensor(a.im, a.im, factor, AluOp::Multiply, Engine::Vector);
}

// Four products and two sums; products of imaginary parts on GpSimd.
void TileFunctions::multiply(const Parts& out, const Parts& a, const Parts& b, Conjugate conjugate) {
  const auto product = [&](const Access& x, const Access& y, Engine engine) {
    const Access p = b_.sbuf("product", partitions_, {free_}, DType::Float32, 2);
    b_.tensor_tensor(p, x, y, AluOp::Multiply, engine);
    return p;
  };
  const Access rr = product(a.re, b.re, Engine::Vector), ii = product(a.im, b.im, Engine::GpSimd);
  const Access ri = product(a.re, b.im, Engine::Vector), ir = product(a.im, b.re, Engine::GpSimd);
  const bool second = conjugate == Conjugate::Second;
  b_.tensor_tensor(out.re, rr, ii, second ? AluOp::Add : AluOp::Subtract, Engine::Vector);
  b_.tensor_tensor(out.im, ir, ri, second ? AluOp::Subtract : AluOp::Add, Engine::Vector);
}

Access TileFunctions::scale_field(const Access& largest) {
  const Access exponent = bits(largest, AluOp::BitwiseAnd, kExponentBits), field = fresh(DType::UInt32);
  b_.tensor_scalar(field, exponent, AluOp::Subtract, 255 * kField,
                   {.op1 = AluOp::Minimum, .operand1 = 253 * kField, .reverse0 = true, .engine = Engine::Vector});
  b_.tensor_scalar(field, field, AluOp::Maximum, kField, {.engine = Engine::Vector});
  return field;
}
Access TileFunctions::inverse_field(const Access& field) {
  const Access to = fresh(DType::UInt32);
  b_.tensor_scalar(to, field, AluOp::Subtract, 254 * kField, {.reverse0 = true, .engine = Engine::Vector});
  return as_float(to);
}

Access TileFunctions::box(const Parts& a) {
  const auto infinite = [&](const Access& x) {
    const Access to = fresh(DType::UInt32);
    b_.tensor_scalar(to, size(x), AluOp::Greater, kLargest, {.engine = Engine::Vector});
    return to;
  };
  const Access re = infinite(a.re), im = infinite(a.im), any = fresh(DType::UInt32);
  b_.tensor_tensor(any, re, im, AluOp::Maximum, Engine::Vector);
  for (const auto& [part, flag] : {std::pair{a.re, re}, std::pair{a.im, im}}) {
    const Access one = with(flag, AluOp::Multiply, 1), sign = bits(part, AluOp::BitwiseAnd, kSignBit);
    b_.tensor_tensor(as_bits(one), as_bits(one), sign, AluOp::BitwiseOr, Engine::Vector);
    b_.tensor_copy_predicated(part, one, any);
  }
  return any;
}

// q = a/b with both scaled to moduli near 1; the exponents come back in two halves, so that neither overflows where q
// does not. The products err by sqrt(8), |b|^2 by 2, its reciprocal and the last product by 1 each: 7 u together.
//   b = 0         |b|^2 has the reciprocal infinity; a itself is the numerator
//   a infinite    boxed, and q multiplied out of range
//   b infinite    boxed, and q multiplied by 0
void TileFunctions::divide(const Parts& out, const Parts& a, const Parts& b) {
  const Access a_infinite = box(a), b_infinite = box(b);
  const Access a_size = combine(size(a.re), AluOp::Maximum, size(a.im)),
               b_size = combine(size(b.re), AluOp::Maximum, size(b.im));
  const Access a_field = scale_field(a_size), b_field = scale_field(b_size);
  scale(a, as_float(a_field));
  scale(b, as_float(b_field));
  const Access squares =
      combine(combine(b.re, AluOp::Multiply, b.re), AluOp::Add, combine(b.im, AluOp::Multiply, b.im));
  const Access inverse = fresh(), c = fused(b_size, AluOp::Equal, 0, AluOp::Add, b.re);
  b_.reciprocal(inverse, squares);
  const Parts q{combine(combine(a.re, AluOp::Multiply, c), AluOp::Add, combine(a.im, AluOp::Multiply, b.im)),
                combine(combine(a.im, AluOp::Multiply, c), AluOp::Subtract, combine(a.re, AluOp::Multiply, b.im))};
  scale(q, inverse);

  // The biased exponents of a's inverse factor and b's factor, halved.
  const Access both = fresh(DType::UInt32), second = fresh(DType::UInt32);
  b_.scalar_tensor_tensor(both, b_field, AluOp::Add, 254 * kField, AluOp::Subtract, a_field);
  const Access first = bits(both, AluOp::RightShift, 1, AluOp::BitwiseAnd, kSignBit + kExponentBits);
  b_.tensor_tensor(second, both, first, AluOp::Subtract, Engine::Vector);
  for (const auto& [part, to] : {std::pair{q.re, out.re}, std::pair{q.im, out.im}}) {
    b_.tensor_copy_predicated(part, with(part, AluOp::Multiply, 0x1p127, AluOp::Multiply, 0x1p127), a_infinite);
    b_.tensor_copy_predicated(part, with(part, AluOp::Multiply, 0), b_infinite);
    b_.tensor_tensor(part, part, as_float(first), AluOp::Multiply, Engine::Vector);
    b_.tensor_tensor(to, part, as_float(second), AluOp::Multiply, Engine::Vector);
  }
}

// sqrt(re^2 + im^2) of the scaled parts: 1 u from the squares under the root, 1 u from the root. The limits keep the
// Scalar Engine's root in its domain and turn into 0 and infinity when the exponent comes back.
void TileFunctions::modulus(const Access& out, const Parts& a) {
  const Access field = scale_field(combine(size(a.re), AluOp::Maximum, size(a.im))), factor = as_float(field);
  const auto square = [&](const Access& x) {
    const Access scaled = combine(x, AluOp::Multiply, factor);
    return combine(scaled, AluOp::Multiply, scaled);
  };
  const Access sum = combine(square(a.re), AluOp::Add, square(a.im)), root = fresh();
  b_.activation(root, ActFunction::Sqrt, with(sum, AluOp::Maximum, 0x1p-100, AluOp::Minimum, 0x1p100));
  b_.tensor_tensor(out, root, inverse_field(field), AluOp::Multiply, Engine::Vector);
}

// ((c_0 z + c_1) z + ...) z.
Access TileFunctions::polynomial(const Access& z, std::initializer_list<double> highest_first) {
  Access h = with(z, AluOp::Multiply, *highest_first.begin());
  for (const double* c = highest_first.begin() + 1; c != highest_first.end(); ++c)
    h = fused(h, AluOp::Add, *c, AluOp::Multiply, z);
  return h;
}

// atan of the smaller over the larger part, at most 1, by a polynomial with relative error 0.05 u; then the octant:
//   r = pi/2 - r where |im| > |re|,   r = pi - r where re has its sign bit,   the sign of im.
// The quotient errs by 2 u, the polynomial's sums by 3, the last product and sums by 2, the constants by 1: 8 u
// together.
void TileFunctions::angle(const Access& out, const Parts& a) {
  (void)box(a);
  const Access x = size(a.re), y = size(a.im), larger = combine(x, AluOp::Maximum, y),
               smaller = combine(x, AluOp::Minimum, y);
  const Access factor = as_float(scale_field(larger)), inverse = fresh();
  b_.reciprocal(inverse, with(combine(larger, AluOp::Multiply, factor), AluOp::Maximum, 0x1p-100));
  const Access t = combine(combine(smaller, AluOp::Multiply, factor), AluOp::Multiply, inverse),
               z = combine(t, AluOp::Multiply, t);
  const Access h = polynomial(z, {-0x1.d62f7ep-10, 0x1.65a62p-7, -0x1.fed12ap-6, 0x1.dac9cap-5, -0x1.58348ap-4,
                                  0x1.c099fcp-4, -0x1.2421b4p-3, 0x1.9991fep-3, -0x1.55553ep-2});
  Access r = combine(t, AluOp::Add, combine(t, AluOp::Multiply, h));
  const auto fold = [&](const Access& flag, double from) {  // flag ? from - r : r
    const Access sign = with(flag, AluOp::Multiply, -2, AluOp::Add, 1);
    r = fused(flag, AluOp::Multiply, from, AluOp::Add, combine(r, AluOp::Multiply, sign));
  };
  fold(combine(y, AluOp::Greater, x), 0x1.921fb6p0);
  fold(bits(a.re, AluOp::RightShift, 31), 0x1.921fb6p1);
  const Access sign = bits(a.im, AluOp::BitwiseAnd, kSignBit);
  b_.tensor_tensor(as_bits(r), as_bits(r), sign, AluOp::BitwiseOr, Engine::Vector);
  b_.tensor_copy(out, r, Engine::Vector);
}

// angle = k pi/2 + r, |r| <= pi/4. pi/2 is a sum of three numbers of 9 bits and a rest: k < 2^14 times any of them is
// exact, and so are the first two differences. Sine and cosine of r are polynomials with errors of 0.07 u; their sums
// and the last product err by 3 u together.
void TileFunctions::from_polar(const Parts& out, const Access& modulus, const Access& angle) {
  constexpr double kRound = 0x1.8p23;  // a sum with this is rounded to a whole number, which is in its last bits
  const Access shifted = with(angle, AluOp::Multiply, 0x1.45f306p-1, AluOp::Add, kRound),
               k = with(shifted, AluOp::Subtract, kRound);
  Access r = angle;
  for (const double part : {0x1.92p0, 0x1.fbp-12, 0x1.51p-22, 0x1.0b4612p-34})
    r = fused(k, AluOp::Multiply, -part, AluOp::Add, r);
  const Access z = combine(r, AluOp::Multiply, r);
  const Access s = polynomial(z, {-0x1.994b3ep-13, 0x1.110756p-7, -0x1.555546p-3});
  const Access sine = combine(r, AluOp::Add, combine(r, AluOp::Multiply, s));
  const Access cosine = with(polynomial(z, {0x1.99ff4p-16, -0x1.6c0c82p-10, 0x1.55554ap-5, -0.5}), AluOp::Add, 1);

  const Access odd = bits(shifted, AluOp::BitwiseAnd, 1), half = bits(shifted, AluOp::RightShift, 1);
  const Access quarter = combine(as_bits(shifted), AluOp::BitwiseXor, half);
  const Access too_large = fresh(DType::UInt32);  // a NaN's bits where the reduction is not exact
  b_.tensor_scalar(too_large, size(angle), AluOp::Greater, 0x1p14,
                   {.op1 = AluOp::Multiply, .operand1 = kQuietNan, .engine = Engine::Vector});
  const auto part = [&](const Access& to, const Access& even_value, const Access& odd_value,
                        const Access& sign_source) {
    const Access value = fresh();
    b_.tensor_copy(value, even_value, Engine::Vector);
    b_.tensor_copy_predicated(value, odd_value, odd);
    const Access sign = bits(sign_source, AluOp::BitwiseAnd, 1, AluOp::LeftShift, 31);
    b_.tensor_tensor(as_bits(value), as_bits(value), sign, AluOp::BitwiseXor, Engine::Vector);
    b_.tensor_tensor(as_bits(value), as_bits(value), too_large, AluOp::BitwiseOr, Engine::Vector);
    b_.tensor_tensor(to, value, modulus, AluOp::Multiply, Engine::Vector);
  };
  part(out.re, cosine, sine, quarter);
  part(out.im, sine, cosine, half);
}

}  // namespace trn::fft::device
