// The contraction tree in SVG. Leaves stand in a row in the order of a walk through the tree, so that no two lines
// cross; a contraction stands above the middle of its two operands, as high as the longer way down.
#include "einsum_page.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include <trn/core/output_file.hpp>

#include "output.hpp"
#include "report/format.hpp"
#include "report/page.hpp"

namespace trn::tools {

namespace {

using neuron::report::html_escaped;

constexpr double kColumn = 90, kRow = 74, kMargin = 44, kLargest = 20;

struct Node {
  double x = 0;
  int height = 0;
  std::string labels;
  double seconds = 0;
  int left = -1, right = -1;
};

// A few letters are shown whole, more with a count.
std::string shortened(const std::string& labels) {
  constexpr std::size_t kShown = 10;
  std::string text;
  std::size_t letters = 0;
  for (const char c : labels) {
    const bool first = (static_cast<unsigned char>(c) & 0xC0) != 0x80;  // of a UTF-8 character
    letters += first ? 1 : 0;
    if (letters <= kShown) text += c;
  }
  return labels.empty() ? "1" : letters <= kShown ? text : fmt::format("{}... ({})", text, letters);
}

// Steps of two operands are the contractions, in the order of the path.
std::vector<const tensor::Step*> contractions(const tensor::Plan& plan) {
  std::vector<const tensor::Step*> list;
  for (const tensor::Step& s : plan.steps()) {
    if (s.labels.find(", ") != std::string::npos) list.push_back(&s);
  }
  return list;
}

std::vector<Node> nodes_of(const tensor::Plan& plan) {
  const tensor::Expression& e = plan.description().expression;
  std::vector<Node> nodes(e.inputs.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (const tensor::Label l : e.inputs[i]) nodes[i].labels += e.names[static_cast<std::size_t>(l)];
  }
  const auto& path = plan.slices().path.steps;
  const auto steps = contractions(plan);
  for (std::size_t i = 0; i < path.size(); ++i) {
    Node n;
    n.left = path[i].left, n.right = path[i].right;
    if (i < steps.size()) {
      n.labels = steps[i]->labels.substr(steps[i]->labels.rfind("-> ") + 3);
      n.seconds = steps[i]->seconds;
    }
    nodes.push_back(n);
  }
  double next = kMargin;
  const std::function<void(std::size_t)> place = [&](std::size_t at) {
    if (nodes[at].left < 0) {
      nodes[at].x = next;
      next += kColumn;
      return;
    }
    const auto l = static_cast<std::size_t>(nodes[at].left), r = static_cast<std::size_t>(nodes[at].right);
    place(l), place(r);
    nodes[at].x = (nodes[l].x + nodes[r].x) / 2;
    nodes[at].height = 1 + std::max(nodes[l].height, nodes[r].height);
  };
  place(nodes.size() - 1);
  return nodes;
}

}  // namespace

std::string contraction_tree_svg(const tensor::Plan& plan) {
  const std::vector<Node> nodes = nodes_of(plan);
  const std::size_t leaves = plan.description().expression.inputs.size();
  double total = 0;
  for (const Node& n : nodes) total += n.seconds;
  const int top = nodes.back().height;
  const double width = 2 * kMargin + kColumn * static_cast<double>(leaves - 1) + 60, height = kRow * (top + 1) + 30;
  const auto y = [&](const Node& n) { return kMargin + kRow * (top - n.height); };
  std::string svg = fmt::format(
      "<svg class=\"figure tree\" style=\"max-width:{0:.0f}px\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" "
      "aria-label=\"contraction tree of {2} operands\">\n",
      width, height, leaves);
  for (const Node& n : nodes) {
    for (const int child : {n.left, n.right}) {
      if (child < 0) continue;
      const Node& c = nodes[static_cast<std::size_t>(child)];
      svg += fmt::format("<line stroke=\"#8a94a3\" x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\"/>\n", n.x,
                         y(n), c.x, y(c));
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    const bool leaf = i < leaves;
    const double share = total > 0 ? n.seconds / total : 0;
    const double radius = leaf ? 4 : std::max(4.0, kLargest * std::sqrt(share));
    svg += fmt::format("<circle fill=\"{}\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"{:.1f}\"/>\n", leaf ? "#2a78d6" : "#d97a1f",
                       n.x, y(n), radius);
    const std::string name = html_escaped(shortened(n.labels));
    if (leaf) {
      svg += fmt::format(
          "<text class=\"tick\" x=\"{0:.1f}\" y=\"{1:.1f}\" text-anchor=\"middle\">{2}</text>"
          "<text class=\"tick\" x=\"{0:.1f}\" y=\"{3:.1f}\" text-anchor=\"middle\">operand {4}</text>\n",
          n.x, y(n) + 20, name, y(n) + 38, i + 1);
    } else {
      svg += fmt::format(
          "<text fill=\"currentColor\" x=\"{0:.1f}\" y=\"{1:.1f}\">{2}</text><text class=\"tick\" x=\"{0:.1f}\" "
          "y=\"{3:.1f}\">{4}</text>\n",
          n.x + radius + 5, y(n) - 4, name, y(n) + 14, duration(n.seconds));
    }
  }
  return svg + "</svg>\n";
}

void write_einsum_page(const std::string& path, const EinsumPage& page, const tensor::Plan& plan) {
  OutputFile file("--html", path);
  file.write(neuron::report::page_begin(page.title, page.facts));
  for (const std::string& line : page.lines) file.write("<p class=\"part\">" + html_escaped(line) + "</p>\n");
  file.write(
      "<section class=\"card\"><h2>Contraction tree</h2>\n<p class=\"note\">Blue: operands. Orange: contractions, with "
      "the labels of the result and the time that the plan estimates for the step, to which the area of the disc is "
      "proportional.</p>\n" +
      contraction_tree_svg(plan) + "</section>\n");
  neuron::PageTable table{"Steps",
                          "Groups of indices: H in both operands and the result, M and N in one of them, K "
                          "summed. Times are the plan's estimate.",
                          {{"step", "algorithm, mode", "groups", "work", "bound", "time"}}};
  for (const tensor::Step& s : plan.steps())
    table.rows.push_back({s.labels, fmt::format("{}, {}", s.algorithm, name(s.mode)), s.folded,
                          neuron::report::flops_text(s.flops) + ", " + neuron::report::bytes_text(s.bytes),
                          fmt::format("{:.1e}", s.bound), duration(s.seconds)});
  file.write(neuron::report::table_html(table));
  file.write(neuron::report::page_end());
  file.commit();
}

}  // namespace trn::tools
