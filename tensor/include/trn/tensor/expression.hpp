// Einsum expressions as values: which labels each operand has, which ones the result has.
//
//   parse("ijk,kl->lij", ranks)          NumPy's notation: implicit outputs, ellipsis, spaces, any Unicode label
//   interleaved({{0, 1}, {1, 2}}, ...)   labels as integers
//
// Labels are numbered 0, 1, ... in order of first appearance. Every mistake is an InvalidArgument whose message shows
// the expression with a caret under the label.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <trn/core/shape.hpp>

namespace trn::tensor {

using Label = std::int32_t;
using Sizes = std::vector<std::int64_t>;  // by label

struct Expression {
  std::vector<std::vector<Label>> inputs;  // an operand may repeat a label: its diagonal
  std::vector<Label> output;               // no label twice, each in some operand
  std::vector<std::string> names;          // by label, for messages; the axes of an ellipsis are "...[-2]", "...[-1]"
  friend bool operator==(const Expression&, const Expression&) = default;
};

// `ranks` has one entry per operand: what an ellipsis stands for. Without an arrow the output has the labels that occur
// once, in order of their code points, after the ellipsis.
[[nodiscard]] Expression parse(std::string_view text, std::span<const std::int64_t> ranks);
[[nodiscard]] Expression parse(std::string_view text);  // without ellipsis

// Labels are any integers >= 0; kEllipsis stands for the axes without a label. Without an output: as parse().
inline constexpr Label kEllipsis = -1;
[[nodiscard]] Expression interleaved(const std::vector<std::vector<Label>>& inputs,
                                     const std::optional<std::vector<Label>>& output,
                                     std::span<const std::int64_t> ranks);

// The extent of every label. Extents of one label agree or are 1, which is repeated. Throws InvalidArgument.
[[nodiscard]] Sizes sizes_of(const Expression& expression, std::span<const Shape> shapes);

// "abk, kc -> abc".
[[nodiscard]] std::string to_string(const Expression& expression);

}  // namespace trn::tensor
