// Messages with a caret under the labels they speak of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <trn/tensor/expression.hpp>

namespace trn::tensor {

// Two lines below a message: the text, and carets under these columns (code points from 0).
[[nodiscard]] std::string with_carets(std::string_view text, const std::vector<std::size_t>& columns);

// Label number `position` of an operand; operand = number of inputs: of the output.
struct Place {
  std::size_t operand, position;
};
[[nodiscard]] std::string with_carets(const Expression& expression, const std::vector<Place>& places);

}  // namespace trn::tensor
