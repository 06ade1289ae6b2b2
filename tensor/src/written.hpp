// What a caller wrote, before labels get numbers: letters of a text or integers of the interleaved form.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <trn/tensor/expression.hpp>

namespace trn::tensor {

struct WrittenLabel {
  std::int64_t key = 0;  // a code point, an integer; kEllipsis
  std::size_t column = 0;
};
using WrittenLabels = std::vector<WrittenLabel>;

struct Written {
  std::vector<WrittenLabels> inputs;
  std::optional<WrittenLabels> output;
  std::vector<std::size_t> columns;  // where each operand begins
  std::string text;                  // what carets point into
  std::function<std::string(std::int64_t)> name;
};

// Numbers the labels and puts axes in the place of ellipses.
[[nodiscard]] Expression number(const Written& written, std::span<const std::int64_t> ranks);

}  // namespace trn::tensor
