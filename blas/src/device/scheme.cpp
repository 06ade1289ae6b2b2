// Words, planes and terms of every mode, and the error that each of them commits.
//
// Words, products and their errors: trn/tile/words.hpp. Leading products (w0 w0') and the others have accumulators of
// their own: the second are smaller by 2^-10 (2^-7), so that their many additions cost little, and only the leading
// ones round at full size. Leading sums leave PSUM every eight (four) tiles of k and are added up there: k / 1024
// additions of the whole instead of k / 128, which more than pays for what splitting loses: Tf32x3 errs less than fp32
// operands do. In Bf16x6 the leading products have 16 bits, a matmul of 64 of them rounds only where a product is tiny,
// and Kahan's compensated summation adds the groups. Complex: two such products per part, |Re| + |Im| <= sqrt(2) |z| on
// each side. Three products: Im = (Ar + Ai)(Br + Bi) - P - Q cancels; its error is that of sums of size 2 ||a|| ||b||,
// so it is bounded by norms only.
#include "scheme.hpp"

#include <algorithm>
#include <cmath>
#include <trn/core/error.hpp>

#include "words.hpp"

namespace trn::blas::device {

namespace {

// Tiles of k per group, so many that adding groups up takes the Vector Engine no longer than their products take the
// Tensor Engine.
constexpr std::int64_t kTf32GroupTiles = 8, kBf16GroupTiles = 4;
constexpr std::int64_t kLeadingDepth =
    64;  // of Bf16x6: halves the longest chain of additions at full size, for a sixth more matmuls

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
  const Words& w = words_of(shape.mode, "blas.gemm");
  s.word = shape.mode == Mode::Native ? s.real : w.dtype;
  s.words = w.count;
  if (shape.mode == Mode::Tf32x3) s.group_tiles = kTf32GroupTiles;
  if (shape.mode == Mode::Bf16x6)
    s.group_tiles = kBf16GroupTiles, s.leading_depth = kLeadingDepth, s.compensated = true;
  const std::vector<PlaneTerm> products = planes(shape, s);
  for (std::size_t i = 0; i < w.products.size(); ++i) {  // smallest products first; all but the last are low
    const bool leading = i + 1 == w.products.size();
    for (const PlaneTerm& t : products) {
      const int sum = leading ? s.high_sum(t.value) : s.low_sum(t.value);
      s.terms.push_back({sum, t.a * s.words + w.products[i].stationary, t.b * s.words + w.products[i].moving});
    }
  }
  return s;
}

}  // namespace trn::blas::device

namespace trn::blas {

double product_error_bound(Mode mode, DType in, bool three_products, std::int64_t k) {
  require(mode != Mode::Exact, "blas: the bound of mode exact depends on the data; it is not this kernel's");
  const double u = unit_roundoff(DType::Float32), bound = tile::split_sum_error(tile::words_of(mode), k) + 3 * u;
  if (!is_complex(in)) return bound;
  // Four products: each part two products of parts, |x'y'| + |x''y''| <= |x||y|, and alpha times it likewise: 2
  // sqrt(2). Three: the sums themselves are rounded (2u), R is up to 2 |x||y| and three sums of that size meet: 8.
  return three_products ? 8 * (bound + 4 * u) : 2 * std::sqrt(2.0) * (bound + u);
}

}  // namespace trn::blas
