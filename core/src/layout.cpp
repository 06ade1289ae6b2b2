// The searches of layout.hpp.
#include <algorithm>
#include <array>

#include <trn/core/layout.hpp>

namespace trn::layout {
namespace {

Wide gcd(Wide a, Wide b) {
  while (b != 0) {
    const Wide r = a % b;
    a = b;
    b = r;
  }
  return a < 0 ? -a : a;
}
// For b > 0.
Wide floor_quotient(Wide a, Wide b) { return a / b - (a % b < 0 ? 1 : 0); }
Wide ceiling_quotient(Wide a, Wide b) { return a / b + (a % b > 0 ? 1 : 0); }

struct Search {
  std::vector<Term> terms;            // strides > 0, falling
  std::vector<Wide> low, high, step;  // what the terms from k on reach, and the divisor of all they reach
  std::int64_t budget = 200'000;

  bool from(std::size_t k, Wide target) {
    if (k == terms.size()) return target == 0;
    if (target < low[k] || target > high[k] || target % step[k] != 0) return false;
    const Term& t = terms[k];
    const Wide first = std::max(t.low, ceiling_quotient(target - high[k + 1], t.stride));
    const Wide last = std::min(t.high, floor_quotient(target - low[k + 1], t.stride));
    for (Wide i = first; i <= last; ++i) {
      if (--budget < 0 || from(k + 1, target - t.stride * i)) return true;
    }
    return false;
  }
};

}  // namespace

bool reaches(std::vector<Term> terms, Wide target) {
  Search s;
  for (Term& t : terms) {
    if (t.low > t.high) return false;
    if (t.stride < 0) t = {-t.stride, -t.high, -t.low};
  }
  std::sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.stride > b.stride; });
  for (const Term& t : terms) {
    if (t.stride == 0) continue;
    if (!s.terms.empty() && s.terms.back().stride == t.stride) {  // one index with the sum of both ranges
      s.terms.back().low += t.low;
      s.terms.back().high += t.high;
    } else {
      s.terms.push_back(t);
    }
  }
  const std::size_t n = s.terms.size();
  s.low.assign(n + 1, 0);
  s.high.assign(n + 1, 0);
  s.step.assign(n + 1, 0);
  for (std::size_t k = n; k-- > 0;) {
    s.low[k] = s.low[k + 1] + s.terms[k].stride * s.terms[k].low;
    s.high[k] = s.high[k + 1] + s.terms[k].stride * s.terms[k].high;
    s.step[k] = gcd(s.terms[k].stride, s.step[k + 1]);
  }
  return s.from(0, target);
}

Span span(std::span<const Dim> dims) {
  Span s{0, 0};
  for (const Dim& d : dims) {
    if (d.extent == 0) return {};
    (d.stride < 0 ? s.low : s.high) += Wide{d.extent - 1} * d.stride;
  }
  return s;
}

bool repeats(std::span<const Dim> dims) {
  // Sorted by stride, a stride beyond everything that the smaller ones reach settles it: the usual case, and without
  // an allocation for the usual ranks.
  constexpr std::size_t kUsual = 8;
  std::array<Dim, kUsual> few;
  std::vector<Dim> many(dims.size() > kUsual ? dims.size() : 0);
  Dim* const first = many.empty() ? few.data() : many.data();
  Dim* last = first;
  for (const Dim& x : dims) {
    if (x.extent == 0) return false;
    if (x.extent > 1) *last++ = {x.extent, x.stride < 0 ? -x.stride : x.stride};
  }
  std::sort(first, last, [](const Dim& a, const Dim& b) { return a.stride < b.stride; });
  Wide reach = 0;
  bool apart = true;
  for (const Dim* x = first; x != last; ++x) {
    apart = apart && x->stride > reach;
    reach += Wide{x->stride} * (x->extent - 1);
  }
  if (apart) return false;
  // Otherwise: a difference of two index tuples whose first non-zero entry k is positive and whose place is 0.
  for (const Dim* k = first; k != last; ++k) {
    std::vector<Term> terms{{k->stride, 1, k->extent - 1}};
    for (const Dim* j = k + 1; j != last; ++j) terms.push_back({j->stride, 1 - j->extent, j->extent - 1});
    if (reaches(terms, 0)) return true;
  }
  return false;
}

bool overlap(const Region& a, const Region& b) {
  const Span sa = span(a.dims), sb = span(b.dims);
  if (sa.high < sa.low || sb.high < sb.low) return false;
  const Wide from_a = Wide{a.address} + sa.low * a.bytes, to_a = Wide{a.address} + (sa.high + 1) * a.bytes;
  const Wide from_b = Wide{b.address} + sb.low * b.bytes, to_b = Wide{b.address} + (sb.high + 1) * b.bytes;
  if (to_a <= from_b || to_b <= from_a) return false;
  std::vector<Term> terms{{1, 0, a.bytes - 1}, {1, 1 - b.bytes, 0}};
  for (const Dim& d : a.dims) terms.push_back({Wide{d.stride} * a.bytes, 0, d.extent - 1});
  for (const Dim& d : b.dims) terms.push_back({Wide{d.stride} * b.bytes, 1 - d.extent, 0});
  return reaches(terms, Wide{b.address} - Wide{a.address});
}

}  // namespace trn::layout
