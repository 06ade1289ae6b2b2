// Small pieces of Python text: index arithmetic, number literals, tuples and keyword calls.
#pragma once

#include <cstdint>
#include <string>
#include <trn/core/dtype.hpp>
#include <trn/core/shape.hpp>
#include <trn/tile/access.hpp>
#include <utility>
#include <vector>

#include "nki/names.hpp"

namespace trn::neuron::nki {

// "k*128 + 64": a sum without parentheses, so it can stand between commas.
[[nodiscard]] std::string expression(const Names& names, const tile::Affine& value);
// "2.0", "1e-05", "float('inf')": always a Python float.
[[nodiscard]] std::string float_literal(double value);
// "(128, 512)", "(128,)"
[[nodiscard]] std::string tuple(const Shape& values);
// "[[512, 128], [1, 64]]"
[[nodiscard]] std::string pattern(const std::vector<tile::Dim>& dims);
// "nl.bfloat16"
[[nodiscard]] std::string dtype_name(DType dtype);

// One call with keyword arguments in the order they were added.
class Call {
 public:
  explicit Call(std::string function) : function_(std::move(function)) {}
  Call& argument(std::string_view keyword, std::string value);
  // On one line when it fits beside `indent` spaces, else the arguments on a line of their own, else one per line.
  // Ends without a newline.
  [[nodiscard]] std::string text(std::size_t indent) const;

 private:
  std::string function_;
  std::vector<std::string> arguments_;
};

}  // namespace trn::neuron::nki
