// Arithmetic on affine index expressions: sums merge terms of the same loop variable and drop zero coefficients.
#include <trn/tile/affine.hpp>

#include <algorithm>

namespace trn::tile {

Affine Affine::variable(std::int32_t id, std::int64_t trip) { return from_parts(0, {{id, trip, 1}}); }

Affine Affine::from_parts(std::int64_t constant, std::vector<Term> terms) {
  Affine a(constant);
  a.terms_ = std::move(terms);
  return a;
}

std::int64_t Affine::min() const {
  std::int64_t value = constant_;
  for (const Term& t : terms_) value += std::min<std::int64_t>(0, t.coefficient * (t.trip - 1));
  return value;
}

std::int64_t Affine::max() const {
  std::int64_t value = constant_;
  for (const Term& t : terms_) value += std::max<std::int64_t>(0, t.coefficient * (t.trip - 1));
  return value;
}

Affine operator+(const Affine& a, const Affine& b) {
  Affine sum(a.constant_ + b.constant_);
  auto i = a.terms_.begin();
  auto j = b.terms_.begin();
  while (i != a.terms_.end() || j != b.terms_.end()) {
    const bool take_a = j == b.terms_.end() || (i != a.terms_.end() && i->variable <= j->variable);
    const bool take_b = i == a.terms_.end() || (j != b.terms_.end() && j->variable <= i->variable);
    Affine::Term term = take_a ? *i : *j;
    if (take_a && take_b) term.coefficient += j->coefficient;
    if (take_a) ++i;
    if (take_b) ++j;
    if (term.coefficient != 0) sum.terms_.push_back(term);
  }
  return sum;
}

Affine operator*(const Affine& a, std::int64_t factor) {
  Affine product(a.constant_ * factor);
  if (factor == 0) return product;
  product.terms_ = a.terms_;
  for (Affine::Term& t : product.terms_) t.coefficient *= factor;
  return product;
}

Affine operator-(const Affine& a, const Affine& b) { return a + b * -1; }

}  // namespace trn::tile
