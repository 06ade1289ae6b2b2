// Numbering of labels, ellipses, extents of labels: what holds for both ways to write an expression.
#include <algorithm>
#include <map>

#include <trn/core/error.hpp>
#include <trn/tensor/expression.hpp>

#include "caret.hpp"
#include "written.hpp"

namespace trn::tensor {

namespace {

constexpr std::string_view kDots = "...";

bool is_ellipsis_axis(const std::string& name) { return name.starts_with(kDots); }

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

// The text of an expression, and the column of every label on request.
struct Printer {
  const Expression& expression;
  std::string text = {};
  std::vector<std::vector<std::size_t>> columns = {};

  void add(const std::vector<Label>& labels) {
    std::vector<std::size_t> at;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      const std::string& name = expression.names.at(static_cast<std::size_t>(labels[i]));
      const bool axis = is_ellipsis_axis(name);
      // The axes of an ellipsis are neighbours and are one "...".
      const bool again = axis && i > 0 && is_ellipsis_axis(expression.names[static_cast<std::size_t>(labels[i - 1])]);
      at.push_back(again ? at.back() : code_points(text));
      if (!again) text += axis ? std::string(kDots) : name;
    }
    columns.push_back(std::move(at));
  }
  void add_all() {
    for (std::size_t i = 0; i < expression.inputs.size(); ++i) {
      if (i > 0) text += ", ";
      add(expression.inputs[i]);
    }
    text += " -> ";
    add(expression.output);
  }
};

class Numbering {
 public:
  Numbering(const Written& written, std::span<const std::int64_t> ranks) : written_(written), ranks_(ranks) {}

  Expression run() {
    check_ranks();
    for (std::size_t i = 0; i < written_.inputs.size(); ++i) {
      std::vector<Label> labels;
      for (const WrittenLabel& w : written_.inputs[i]) {
        if (w.key == kEllipsis) {
          for (std::int64_t axis = axes_[i]; axis > 0; --axis) labels.push_back(number_of(-axis, w));
        } else {
          labels.push_back(number_of(w.key, w));
        }
      }
      result_.inputs.push_back(std::move(labels));
    }
    written_.output ? explicit_output() : implicit_output();
    return std::move(result_);
  }

 private:
  // Ellipsis axes have the keys -1 (the last), -2, ...
  Label number_of(std::int64_t key, const WrittenLabel&) {
    const auto [at, is_new] = numbers_.try_emplace(key, static_cast<Label>(result_.names.size()));
    if (is_new) result_.names.push_back(key < 0 ? fmt::format("...[{}]", key) : written_.name(key));
    return at->second;
  }

  void check_ranks() {
    const std::size_t count = written_.inputs.size();
    require(ranks_.size() == count, "tensor.einsum: the expression has {} operand{} and {} {} given{}", count,
            count == 1 ? "" : "s", ranks_.size(), ranks_.size() == 1 ? "is" : "are", with_carets(written_.text, {}));
    for (std::size_t i = 0; i < count; ++i) {
      const WrittenLabels& labels = written_.inputs[i];
      const auto dots = std::count_if(labels.begin(), labels.end(), [](auto& w) { return w.key == kEllipsis; });
      std::vector<std::size_t> columns;
      for (const WrittenLabel& w : labels) {
        if (w.key == kEllipsis) columns.push_back(w.column);
      }
      require(dots <= 1, "tensor.einsum: operand {} has {} ellipses; it may have one{}", i + 1, dots,
              with_carets(written_.text, columns));
      const std::int64_t named = static_cast<std::int64_t>(labels.size()) - dots, left = ranks_[i] - named;
      require(dots == 1 ? left >= 0 : left == 0,
              "tensor.einsum: operand {} has rank {} and {} label{}; give one label per axis, or '...'{}", i + 1,
              ranks_[i], named, named == 1 ? "" : "s", with_carets(written_.text, {written_.columns[i]}));
      axes_.push_back(dots == 1 ? left : 0);
      most_axes_ = std::max(most_axes_, axes_.back());
    }
  }

  void explicit_output() {
    std::map<std::int64_t, std::size_t> seen;  // key -> column
    for (const WrittenLabel& w : *written_.output) {
      const std::string shown = w.key == kEllipsis ? std::string(kDots) : written_.name(w.key);
      const auto [first, is_new] = seen.try_emplace(w.key, w.column);
      require(is_new, "tensor.einsum: label '{}' is twice in the output; an output label occurs once{}", shown,
              with_carets(written_.text, {first->second, w.column}));
      if (w.key == kEllipsis) {
        add_ellipsis();
        continue;
      }
      const auto at = numbers_.find(w.key);
      require(at != numbers_.end(),
              "tensor.einsum: output label '{}' is in no operand; every output label is an input's{}", shown,
              with_carets(written_.text, {w.column}));
      result_.output.push_back(at->second);
    }
    if (most_axes_ > 0 && !seen.contains(kEllipsis)) {
      std::vector<std::size_t> columns;
      for (const WrittenLabels& labels : written_.inputs) {
        for (const WrittenLabel& w : labels) {
          if (w.key == kEllipsis) columns.push_back(w.column);
        }
      }
      fail<InvalidArgument>(
          "tensor.einsum: the ellipsis stands for {} ax{}s that the output lacks; write '...' in the output{}",
          most_axes_, most_axes_ == 1 ? "i" : "e", with_carets(written_.text, columns));
    }
  }

  void add_ellipsis() {
    for (std::int64_t axis = most_axes_; axis > 0; --axis) result_.output.push_back(numbers_.at(-axis));
  }

  // Labels that occur once, sorted by key.
  void implicit_output() {
    add_ellipsis();
    std::map<std::int64_t, int> occurrences;
    for (const WrittenLabels& labels : written_.inputs) {
      for (const WrittenLabel& w : labels) ++occurrences[w.key];
    }
    for (const auto& [key, times] : occurrences) {
      if (key != kEllipsis && times == 1) result_.output.push_back(numbers_.at(key));
    }
  }

  const Written& written_;
  std::span<const std::int64_t> ranks_;
  std::vector<std::int64_t> axes_;  // of each operand's ellipsis
  std::int64_t most_axes_ = 0;
  std::map<std::int64_t, Label> numbers_;
  Expression result_;
};

}  // namespace

Expression number(const Written& written, std::span<const std::int64_t> ranks) {
  return Numbering(written, ranks).run();
}

std::string with_carets(std::string_view text, const std::vector<std::size_t>& columns) {
  std::string carets;
  for (const std::size_t c : columns) {
    if (carets.size() <= c) carets.resize(c + 1, ' ');
    carets[c] = '^';
  }
  return fmt::format("\n  {}{}{}", text, carets.empty() ? "" : "\n  ", carets);
}

std::string with_carets(const Expression& expression, const std::vector<Place>& places) {
  Printer printer{expression};
  printer.add_all();
  std::vector<std::size_t> columns;
  for (const Place& p : places) columns.push_back(printer.columns[p.operand][p.position]);
  return with_carets(printer.text, columns);
}

std::string to_string(const Expression& expression) {
  Printer printer{expression};
  printer.add_all();
  return printer.text;
}

Sizes sizes_of(const Expression& expression, std::span<const Shape> shapes) {
  require(shapes.size() == expression.inputs.size(), "tensor.einsum: the expression has {} operands and {} are given{}",
          expression.inputs.size(), shapes.size(), with_carets(expression, {}));
  Sizes sizes(expression.names.size(), 1);
  std::vector<Place> owner(sizes.size());  // who gave the extent that is not 1
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const std::vector<Label>& labels = expression.inputs[i];
    require(shapes[i].size() == labels.size(),
            "tensor.einsum: operand {} has rank {} and {} labels; give one label per axis{}", i + 1, shapes[i].size(),
            labels.size(), with_carets(expression, {}));
    (void)element_count(shapes[i]);
    for (std::size_t d = 0; d < labels.size(); ++d) {
      const auto label = static_cast<std::size_t>(labels[d]);
      const std::int64_t extent = shapes[i][d];
      if (extent == 1) continue;
      if (sizes[label] == 1) {
        sizes[label] = extent;
        owner[label] = {i, d};
      }
      require(extent == sizes[label],
              "tensor.einsum: label '{}' has extent {} in operand {} and {} in operand {}; "
              "extents must agree or be 1{}",
              expression.names[label], sizes[label], owner[label].operand + 1, extent, i + 1,
              with_carets(expression, {owner[label], {i, d}}));
    }
  }
  return sizes;
}

}  // namespace trn::tensor
