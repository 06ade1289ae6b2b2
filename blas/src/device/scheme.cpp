// Words, planes and terms of every mode, and the error that each of them commits.
//
// Splitting. x = w0 + w1 (+ w2) + r, w0 = round(x), w1 = round(x - w0), ...; the differences are exact in fp32.
//   tfloat32 (p = 11 bits): x - w0 has at most 12 bits below half a unit of w0, so w1 misses it by at most 2^-23 |x|.
//   bfloat16 (p = 8): 24 = 3 * 8 bits, and a rounding to nearest gains one bit per word by its sign: r = 0.
// Over- and underflow: a leading word overflows when |x| rounds beyond the type's largest number, from 2^128 (1 - 2^-12) on for
// tfloat32 and 2^128 (1 - 2^-9) for bfloat16. Then, and for x = Inf or NaN, x - w0 is NaN and so are the elements of C that x enters.
// Words below the type's smallest denormal vanish: 2^-136 for tfloat32, 2^-133 for bfloat16, so r grows by up to half of that, absolutely.
//
// Products. Tf32x3: w0 w0' + (w0 w1' + w1 w0'); what is left out, w1 w1' and the r, is below (2^-22 + 2 * 2^-23) |x||y| = 2^-21 |x||y|.
// Bf16x6: the six products up to w1 w1', w0 w2', w2 w0'; |w1| <= 2^-8 |x|, |w2| <= 2^-17 |x| to first order, so what is left out,
// w1 w2' + w2 w1' + w2 w2', is below 2^-23 |x||y|.
//
// Sums. A matmul adds up to 128 products in fp32 and adds the result to PSUM: (min(k, 128) + ceil(k / 128)) u, u = 2^-24. Leading and
// other products have accumulators of their own: the second are smaller by 2^-10 (2^-7), so that their many additions cost
// little, and only the leading ones round at full size. Leading sums leave PSUM every eight (four) tiles of k and are added up there: k /
// 1024 additions of the whole instead of k / 128, which more than pays for what splitting loses: Tf32x3 errs less than fp32 operands do. In
// Bf16x6 the leading products have 16 bits, a matmul of 64 of them rounds only where a product is tiny, and Kahan's compensated summation
// adds the groups, 2u in all: (64 + 8 + 2) u and a few more for what joins them. Complex: two such products per part, |Re| + |Im| <=
// sqrt(2) |z| on each side. Three products: Im = (Ar + Ai)(Br + Bi) - P - Q cancels; its error is that of sums of size 2 ||a|| ||b||, so it
// is bounded by norms only.
#include "scheme.hpp"

#include <algorithm>
#include <cmath>
#include <trn/core/error.hpp>

#include "words.hpp"

namespace trn::blas::device {

namespace {

// Tiles of k per group, so many that adding groups up takes the Vector Engine no longer than their products take the Tensor Engine.
constexpr std::int64_t kTf32GroupTiles = 8, kBf16GroupTiles = 4;
constexpr std::int64_t kLeadingDepth = 64;  // of Bf16x6: halves the longest chain of additions at full size, for a sixth more matmuls

// A product of planes, before they are split into words.
struct PlaneTerm {
  int value, a, b;
};

// (A + i sa A')(B + i sb B'), p = sa sb:  Re = AB - p A'B',  Im = sb (A B' + p A' B), or with P = AB, Q = A'B',
// R = (A + sa A')(B + sb B'):  Re = P - p Q,  Im = R - P - p Q.
std::vector<PlaneTerm> planes(const GemmShape& shape, Scheme& s) {
  if (!s.complex) {
    s.a = s.b = {Part::Value};
    s.parts = {{{0, 1}}};
    return {{0, 0, 0}};
  }
  const double sa = shape.conj_a ? -1 : 1, sb = shape.conj_b ? -1 : 1, p = sa * sb;
  if (shape.three_products) {
    s.a = {Part::Re, Part::Im, sa > 0 ? Part::Sum : Part::Difference};
    s.b = {Part::Re, Part::Im, sb > 0 ? Part::Sum : Part::Difference};
    s.values = 3;
    s.parts = {{{0, 1}, {1, -p}}, {{0, -1}, {1, -p}, {2, 1}}};
    return {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}};
  }
  s.a = {Part::Re, Part::Im, Part::NegIm};
  s.b = {Part::Re, Part::Im};
  s.values = 2;
  s.parts = {{{0, 1}}, {{1, sb}}};
  const int minus_p = p > 0 ? 2 : 1, plus_p = p > 0 ? 1 : 2;  // the planes -p A' and p A'
  return {{0, 0, 0}, {0, minus_p, 1}, {1, 0, 1}, {1, plus_p, 0}};
}

}  // namespace

bool Scheme::all_as_loaded(const std::vector<Part>& side) const {
  return std::all_of(side.begin(), side.end(), [&](Part p) { return as_loaded(p); });
}
bool Scheme::any_as_loaded(const std::vector<Part>& side) const {
  return std::any_of(side.begin(), side.end(), [&](Part p) { return as_loaded(p); });
}
std::int64_t Scheme::made_words(const std::vector<Part>& side) const {
  return words * std::count_if(side.begin(), side.end(), [&](Part p) { return !as_loaded(p); });
}

Scheme scheme(const GemmShape& shape) {
  Scheme s;
  s.complex = is_complex(shape.in);
  s.real = real_of(shape.in);
  const Words w = words_of(shape.mode, "blas.gemm");
  s.word = shape.mode == Mode::Native ? s.real : w.dtype;
  s.words = static_cast<int>(w.count);
  if (shape.mode == Mode::Tf32x3) s.group_tiles = kTf32GroupTiles;
  if (shape.mode == Mode::Bf16x6) s.group_tiles = kBf16GroupTiles, s.leading_depth = kLeadingDepth, s.compensated = true;
  const std::vector<PlaneTerm> products = planes(shape, s);
  for (std::size_t i = 0; i < w.products.size(); ++i) {  // smallest products first; all but the last are low
    const bool leading = i + 1 == w.products.size();
    for (const PlaneTerm& t : products) {
      const int sum = leading ? s.high_sum(t.value) : s.low_sum(t.value);
      s.terms.push_back({sum, t.a * s.words + static_cast<int>(w.products[i].first), t.b * s.words + static_cast<int>(w.products[i].second)});
    }
  }
  return s;
}

}  // namespace trn::blas::device

namespace trn::blas {

double product_error_bound(Mode mode, DType in, bool three_products, std::int64_t k) {
  const double u = 0x1p-24;
  const std::int64_t side = tile::machines().front().partitions;  // products that one matmul sums; the same on every machine
  const double inside = static_cast<double>(std::min(k, side)), outside = static_cast<double>((k + side - 1) / side);
  const double plain = (inside + outside + 3) * u;
  double bound = 0;
  switch (mode) {
    case Mode::Native:
      bound = plain;
      break;
    case Mode::Tf32:
      bound = plain + 2 * unit_roundoff(DType::TFloat32);
      break;
    case Mode::Bf16:
      bound = plain + 2 * unit_roundoff(DType::BFloat16);
      break;
    // The low sums have twice (five times) as many terms of relative size 2^-10 (2^-7); two more additions join them.
    case Mode::Tf32x3:
      bound = plain + 2 * u + 2 * 0x1p-11 * plain * 2 + 0x1p-21;
      break;
    case Mode::Bf16x6:
      bound = (std::min(inside, 64.0) + 8 + 2 + 6) * u + 5 * 0x1p-8 * plain * 2 + 0x1p-23;
      break;
    case Mode::Exact:
      fail<InvalidArgument>("blas: the bound of mode exact depends on the data; it is not this kernel's");
  }
  if (!is_complex(in)) return bound;
  // Four products: each part two products of parts, |x'y'| + |x''y''| <= |x||y| <= ..., alpha times it likewise: 2 sqrt(2).
  // Three: the sums themselves are rounded (2u), R is up to 2 |x||y| and three sums of that size meet: 8.
  return three_products ? 8 * (bound + 4 * u) : 2 * std::sqrt(2.0) * (bound + 2 * u);
}

}  // namespace trn::blas
