// The text of an expression to labels: UTF-8, commas, one arrow, ellipses, spaces.
#include <fmt/core.h>

#include <trn/core/error.hpp>
#include <trn/tensor/expression.hpp>

#include "caret.hpp"
#include "written.hpp"

namespace trn::tensor {

namespace {

std::string utf8(std::int64_t point) {
  const auto c = static_cast<std::uint32_t>(point);
  const auto low = [c](int shift) { return static_cast<char>(0x80 | ((c >> shift) & 0x3F)); };
  if (c < 0x80) return {static_cast<char>(c)};
  if (c < 0x800) return {static_cast<char>(0xC0 | (c >> 6)), low(0)};
  if (c < 0x10000) return {static_cast<char>(0xE0 | (c >> 12)), low(6), low(0)};
  return {static_cast<char>(0xF0 | (c >> 18)), low(12), low(6), low(0)};
}

// The code points of a text; refuses bytes that are not UTF-8.
std::vector<std::int64_t> points_of(std::string_view text) {
  std::vector<std::int64_t> points;
  for (std::size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const int more = lead < 0x80 ? 0 : (lead >> 5) == 6 ? 1 : (lead >> 4) == 14 ? 2 : (lead >> 3) == 30 ? 3 : -1;
    std::int64_t point = more <= 0 ? lead : lead & (0x3F >> more);
    bool good = more >= 0 && i + static_cast<std::size_t>(more) < text.size();
    for (int k = 1; good && k <= more; ++k) {
      const auto next = static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]);
      good = (next & 0xC0) == 0x80;
      point = (point << 6) | (next & 0x3F);
    }
    constexpr std::int64_t kLeast[] = {0, 0x80, 0x800, 0x10000};
    good = good && point >= kLeast[more] && point <= 0x10FFFF;
    require(good, "tensor.einsum: byte {} (0x{:02x}) of the expression is not UTF-8", i, lead);
    points.push_back(point);
    i += static_cast<std::size_t>(more) + 1;
  }
  return points;
}

Written read(std::string_view text) {
  const std::vector<std::int64_t> points = points_of(text);
  Written w;
  w.text = text;
  w.name = utf8;
  w.inputs.emplace_back();
  w.columns.push_back(0);
  WrittenLabels* at = &w.inputs.back();
  std::size_t arrow = 0;
  const auto is = [&](std::size_t i, char c) { return i < points.size() && points[i] == c; };
  for (std::size_t i = 0; i < points.size(); ++i) {
    const std::int64_t c = points[i];
    if (c == ' ' || (c >= '\t' && c <= '\r')) continue;
    if (c == ',') {
      require(!w.output, "tensor.einsum: a comma after '->'; there is one output{}", with_carets(w.text, {i}));
      w.inputs.emplace_back();
      w.columns.push_back(i + 1);
      at = &w.inputs.back();
    } else if (c == '-' || c == '>') {
      require(c == '-' && is(i + 1, '>'), "tensor.einsum: '{}' alone; an arrow is '->'{}", utf8(c),
              with_carets(w.text, {i}));
      require(!w.output, "tensor.einsum: two arrows; there is one output{}", with_carets(w.text, {arrow, i}));
      w.output.emplace();
      at = &*w.output;
      arrow = i++;
    } else if (c == '.') {
      require(is(i + 1, '.') && is(i + 2, '.'), "tensor.einsum: a dot alone; an ellipsis is '...'{}",
              with_carets(w.text, {i}));
      at->push_back({kEllipsis, i});
      i += 2;
    } else {
      at->push_back({c, i});
    }
  }
  // The caret of an operand is under its first label.
  for (std::size_t i = 0; i < w.inputs.size(); ++i) {
    if (!w.inputs[i].empty()) w.columns[i] = w.inputs[i].front().column;
  }
  return w;
}

}  // namespace

Expression parse(std::string_view text, std::span<const std::int64_t> ranks) { return number(read(text), ranks); }

Expression parse(std::string_view text) {
  const Written w = read(text);
  std::vector<std::int64_t> ranks;
  for (const WrittenLabels& labels : w.inputs) {
    for (const WrittenLabel& label : labels) {
      require(label.key != kEllipsis, "tensor.einsum: what the ellipsis stands for depends on ranks; give them{}",
              with_carets(w.text, {label.column}));
    }
    ranks.push_back(static_cast<std::int64_t>(labels.size()));
  }
  return number(w, ranks);
}

Expression interleaved(const std::vector<std::vector<Label>>& inputs, const std::optional<std::vector<Label>>& output,
                       std::span<const std::int64_t> ranks) {
  Written w;
  // a, b, ..., z, A, ..., Z as NumPy names them; further ones are numbers.
  w.name = [](std::int64_t key) {
    if (key < 52) return std::string(1, static_cast<char>(key < 26 ? 'a' + key : 'A' + (key - 26)));
    return fmt::format("[{}]", key);
  };
  const auto add = [&](const std::vector<Label>& labels) {
    WrittenLabels list;
    for (const Label label : labels) {
      require(label >= kEllipsis, "tensor.einsum: label {} is negative; labels are >= 0, or kEllipsis", label);
      list.push_back({label, w.text.size()});
      w.text += label == kEllipsis ? "..." : w.name(label);
    }
    return list;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) w.text += ", ";
    w.columns.push_back(w.text.size());
    w.inputs.push_back(add(inputs[i]));
  }
  if (output) {
    w.text += " -> ";
    w.output = add(*output);
  }
  return number(w, ranks);
}

}  // namespace trn::tensor
