// Affine: constant + sum of coefficient * loop variable. The only index arithmetic a recorded program can hold, which
// is what lets a pass know every value an index takes without running the loop.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace trn::tile {

class Affine {
 public:
  // A loop variable runs over 0 .. trip-1; the trip count travels with the term so that bounds need no context.
  struct Term {
    std::int32_t variable = 0;
    std::int64_t trip = 1;
    std::int64_t coefficient = 0;
    bool operator==(const Term&) const = default;
    template <class Self, class V> static void visit(Self& self, V&& v) {
      v("variable", self.variable);
      v("trip", self.trip);
      v("coefficient", self.coefficient);
    }
  };

  Affine() = default;
  Affine(std::int64_t constant) : constant_(constant) {}
  Affine(int constant) : constant_(constant) {}
  // The loop variable itself.
  [[nodiscard]] static Affine variable(std::int32_t id, std::int64_t trip);
  [[nodiscard]] static Affine from_parts(std::int64_t constant, std::vector<Term> terms);

  [[nodiscard]] std::int64_t constant() const { return constant_; }
  [[nodiscard]] const std::vector<Term>& terms() const { return terms_; }
  [[nodiscard]] bool is_constant() const { return terms_.empty(); }
  [[nodiscard]] std::int64_t min() const;
  [[nodiscard]] std::int64_t max() const;

  // The value for given loop variables, indexed by variable id.
  [[nodiscard]] std::int64_t at(std::span<const std::int64_t> variables) const {
    std::int64_t value = constant_;
    for (const Term& t : terms_) value += t.coefficient * variables[static_cast<std::size_t>(t.variable)];
    return value;
  }

  friend Affine operator+(const Affine& a, const Affine& b);
  friend Affine operator-(const Affine& a, const Affine& b);
  friend Affine operator*(const Affine& a, std::int64_t factor);
  friend Affine operator*(std::int64_t factor, const Affine& a) { return a * factor; }
  bool operator==(const Affine&) const = default;

  template <class Self, class V> static void visit(Self& self, V&& v) {
    v("constant", self.constant_);
    v("terms", self.terms_);
  }

 private:
  std::int64_t constant_ = 0;
  std::vector<Term> terms_;  // sorted by variable, no zero coefficients
};

}  // namespace trn::tile
