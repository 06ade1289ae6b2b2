// Printing of expressions, literals and calls. Numbers round-trip: Python reads back exactly the double that was given.
#include "nki/text.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <cmath>

namespace trn::neuron::nki {

namespace {
constexpr std::size_t kLineWidth = 116;

// "k", "k*128": the coefficient is positive.
std::string product(const std::string& name, std::int64_t coefficient) {
  return coefficient == 1 ? name : fmt::format("{}*{}", name, coefficient);
}
}  // namespace

std::string expression(const Names& names, const tile::Affine& value) {
  std::string text;
  for (const tile::Affine::Term& t : value.terms()) {
    const bool negative = t.coefficient < 0;
    const std::string term =
        product(names.loops[static_cast<std::size_t>(t.variable)], negative ? -t.coefficient : t.coefficient);
    if (text.empty()) {
      text = negative ? "-" + term : term;
    } else {
      text += (negative ? " - " : " + ") + term;
    }
  }
  const std::int64_t c = value.constant();
  if (text.empty()) return std::to_string(c);
  if (c > 0) text += fmt::format(" + {}", c);
  if (c < 0) text += fmt::format(" - {}", -c);
  return text;
}

std::string float_literal(double value) {
  if (std::isnan(value)) return "float('nan')";
  if (std::isinf(value)) return value > 0 ? "float('inf')" : "-float('inf')";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string tuple(const Shape& values) {
  return values.size() == 1 ? fmt::format("({},)", values.front()) : fmt::format("({})", fmt::join(values, ", "));
}

std::string pattern(const std::vector<tile::Dim>& dims) {
  std::string text;
  for (const tile::Dim& d : dims) text += fmt::format("{}[{}, {}]", text.empty() ? "" : ", ", d.stride, d.size);
  return "[" + text + "]";
}

std::string dtype_name(DType dtype) { return fmt::format("nl.{}", name(dtype)); }

Call& Call::argument(std::string_view keyword, std::string value) {
  arguments_.push_back(fmt::format("{}={}", keyword, value));
  return *this;
}

std::string Call::text(std::size_t indent) const {
  const std::string arguments = fmt::format("{}", fmt::join(arguments_, ", "));
  if (indent + function_.size() + arguments.size() + 2 <= kLineWidth)
    return fmt::format("{}({})", function_, arguments);
  const std::string outer(indent, ' '), inner(indent + 4, ' ');
  if (inner.size() + arguments.size() <= kLineWidth)
    return fmt::format("{}(\n{}{}\n{})", function_, inner, arguments, outer);
  std::string lines = function_ + "(\n";
  for (const std::string& a : arguments_) lines += inner + a + ",\n";
  return lines + outer + ")";
}

}  // namespace trn::neuron::nki
