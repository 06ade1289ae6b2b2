// The choice of moduli, bits and shifts.
#include "plan.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "../exact_integers.hpp"

namespace trn::blas::exact {

namespace {

Reach::Side worst_rows(const Operand& s) {
  Reach::Side worst{0, 0, s.span};
  for (std::size_t i = 0; i < s.norms.size(); ++i) {
    const Norms& n = s.norms[i];
    if (n.two == 0 || s.special[i] != 0) continue;
    worst.ratio = std::max(worst.ratio, static_cast<double>(n.one / n.two));
    worst.inverse = std::max(worst.inverse, static_cast<double>(1 / n.two));
  }
  return worst;
}

struct Bits {
  int a = 0, b = 0;
};

// The bits that `moduli` have room for: depth 2^(a + b) <= 0.499 P.
Bits bits_for(int moduli, std::int64_t terms, const Reach& reach, bool even) {
  const auto depth = static_cast<double>(std::max<std::int64_t>(1, terms));
  const int budget = static_cast<int>(std::floor(log2_product(moduli) - 1.003 - std::log2(depth)));
  const int span_a = std::max(1, reach.a.span), span_b = std::max(1, reach.b.span);
  Bits bits;
  bits.a = std::min({span_a, kBitsMax, std::max(budget / 2, budget - span_b)});
  bits.b = std::min({span_b, kBitsMax, budget - bits.a});
  bits.a = std::min({span_a, kBitsMax, budget - bits.b});
  if (even) bits.a = bits.b = std::min(bits.a, bits.b);
  return bits;
}

// The shift never exceeds the one that makes every number of the type an integer. Beyond it a subnormal's leading bits
// would lie in lower pieces of its significand than slice() expects them, and nothing would be gained.
std::vector<std::int32_t> shifts(const Operand& s, int bits) {
  const int most = s.wide() ? 1074 : 149;
  std::vector<std::int32_t> shift(s.exponent.size());
  for (std::size_t i = 0; i < shift.size(); ++i)
    shift[i] = s.special[i] != 0 ? kVanish : std::min(bits - s.exponent[i], most);
  return shift;
}

}  // namespace

Reach reach_of(const Operand& a, const Operand& b) { return {worst_rows(a), worst_rows(b)}; }

Plan make_plan(const Operand& a, const Operand& b, const Reach& reach, double allowed, bool even) {
  const Reach::Side &wa = reach.a, &wb = reach.b;
  Plan plan;
  for (plan.moduli = 1;; ++plan.moduli) {
    const Bits bits = bits_for(plan.moduli, a.depth(), reach, even);
    plan.bits_a = bits.a, plan.bits_b = bits.b;
    plan.scaling = std::numeric_limits<double>::infinity();
    if (bits.a >= 1 && bits.b >= 1) {
      // |C - C'| <= unit_a ||b||_1 + unit_b ||a'||_1, ||a'||_1 <= ||a||_1 + depth unit_a, all relative to the rows'
      //   powers of two.
      const double unit_a = bits.a >= wa.span ? 0 : std::ldexp(kRounding, -bits.a),
                   unit_b = bits.b >= wb.span ? 0 : std::ldexp(kRounding, -bits.b);
      plan.scaling = unit_a * wa.inverse * wb.ratio +
                     unit_b * wb.inverse * (wa.ratio + static_cast<double>(a.depth()) * unit_a * wa.inverse);
    }
    if (plan.scaling <= allowed || plan.moduli == kModuliMax) break;
  }
  plan.shift_a = shifts(a, plan.bits_a);
  plan.shift_b = shifts(b, plan.bits_b);
  return plan;
}

}  // namespace trn::blas::exact
