// Building contraction trees from steps, their costs, and steps from trees.
#include "path/tree.hpp"

#include <algorithm>
#include <cmath>

namespace trn::tensor {

Tree::Tree(const Network& network, std::span<const PathStep> steps)
    : leaves(network.operands), words(network.words), root(2 * network.operands - 2) {
  const auto count = static_cast<std::size_t>(nodes());
  left.assign(count, -1), right.assign(count, -1), parent.assign(count, -1);
  rows = network.rows;
  rows.resize(count * static_cast<std::size_t>(words));
  log2_elements.resize(count);
  std::vector<int> holders = network.holders;
  for (int i = 0; i < leaves; ++i) log2_elements[static_cast<std::size_t>(i)] = network.log2_elements(row(i));
  for (int node = leaves; node < nodes(); ++node) {
    const auto [l, r] = steps[static_cast<std::size_t>(node - leaves)];
    left[static_cast<std::size_t>(node)] = l, right[static_cast<std::size_t>(node)] = r;
    parent[static_cast<std::size_t>(l)] = parent[static_cast<std::size_t>(r)] = node;
    Word* const bits = row(node);
    for (int w = 0; w < words; ++w) bits[w] = row(l)[w] | row(r)[w];
    for_labels(
        words, [&](int w) { return row(l)[w] & row(r)[w]; },
        [&](int label) {
          if (--holders[static_cast<std::size_t>(label)] > 1 || network.in_output(label)) return;
          bits[label / 64] &= ~(Word(1) << (label % 64));
        });
    log2_elements[static_cast<std::size_t>(node)] = network.log2_elements(bits);
  }
}

StepLogs Tree::step(const Network& network, int node) const {
  const int l = left[static_cast<std::size_t>(node)], r = right[static_cast<std::size_t>(node)];
  const Word* const kept = row(node);
  return step_logs(network, row(l), row(r), log2_elements[static_cast<std::size_t>(l)],
                   log2_elements[static_cast<std::size_t>(r)], [&](int w) { return kept[w]; });
}

void Tree::set_children(const Network& network, int node, int l, int r, const Word* kept) {
  left[static_cast<std::size_t>(node)] = l, right[static_cast<std::size_t>(node)] = r;
  parent[static_cast<std::size_t>(l)] = parent[static_cast<std::size_t>(r)] = node;
  for (int w = 0; w < words; ++w) row(node)[w] = (row(l)[w] | row(r)[w]) & kept[w];
  log2_elements[static_cast<std::size_t>(node)] = network.log2_elements(row(node));
}

void Tree::set_extents(const Network& network) {
  for (int node = 0; node < nodes(); ++node) {
    log2_elements[static_cast<std::size_t>(node)] = network.log2_elements(row(node));
  }
}

Measure measure(const Network& network, const CostModel& model, const Tree& tree) {
  Measure m;
  for (int node = tree.leaves; node < tree.nodes(); ++node) accumulate(model, tree.step(network, node), m);
  return m;
}

double largest_step(const Network& network, const Tree& tree) {
  double most = 0;
  for (int node = tree.leaves; node < tree.nodes(); ++node) most = std::max(most, tree.step(network, node).products());
  return most;
}

namespace {

// Children before parents.
std::vector<int> bottom_up(const Tree& tree) {
  std::vector<int> order, stack{tree.root};
  while (!stack.empty()) {
    const int node = stack.back();
    stack.pop_back();
    if (tree.is_leaf(node)) continue;
    order.push_back(node);
    stack.push_back(tree.left[static_cast<std::size_t>(node)]);
    stack.push_back(tree.right[static_cast<std::size_t>(node)]);
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

Path path_of(const Network& network, const PathOptions& options, const Tree& tree) {
  Path path;
  const auto at = [](int node) { return static_cast<std::size_t>(node); };
  // peak[v]: elements alive at most while v is computed; its own stay alive afterwards.
  std::vector<double> peak(at(tree.nodes())), size(at(tree.nodes()));
  std::vector<bool> right_first(at(tree.nodes()));
  double most = 0, scaled = 0;
  const std::vector<int> order = bottom_up(tree);
  for (const int node : order) most = std::max(most, tree.step(network, node).products());
  for (const int node : order) {
    const StepLogs step = tree.step(network, node);
    const Word *const x = tree.row(tree.left[at(node)]), *const y = tree.row(tree.right[at(node)]);
    const double elements = network.elements([&](int w) { return tree.row(node)[w]; }),
                 products = network.elements([&](int w) { return x[w] | y[w]; });
    size[at(node)] = node == tree.root ? 0 : elements;
    int first = tree.left[at(node)], second = tree.right[at(node)];
    right_first[at(node)] = peak[at(first)] - size[at(first)] < peak[at(second)] - size[at(second)];
    if (right_first[at(node)]) std::swap(first, second);
    peak[at(node)] = std::max(
        {peak[at(first)], size[at(first)] + peak[at(second)], size[at(first)] + size[at(second)] + size[at(node)]});
    path.multiplications += products;
    path.flops += step.k > 0 ? 2 * products : products;
    path.largest = std::max(path.largest, elements);
    path.seconds += step_seconds(step, options.family, options.element_bytes, 0);
    scaled += std::exp2(step.products() - most);
  }
  path.live = peak[at(tree.root)];
  if (!order.empty()) path.log10_multiplications = (most + std::log2(scaled)) * std::log10(2.0);
  // Depth first, in the chosen order.
  std::vector<int> number(at(tree.nodes()), -1);
  for (int i = 0; i < tree.leaves; ++i) number[at(i)] = i;
  std::vector<std::pair<int, bool>> stack{{tree.root, false}};
  while (!stack.empty()) {
    const auto [node, done] = stack.back();
    stack.pop_back();
    if (tree.is_leaf(node)) continue;
    const int l = tree.left[at(node)], r = tree.right[at(node)];
    if (done) {
      path.steps.push_back({number[at(l)], number[at(r)]});
      number[at(node)] = tree.leaves + static_cast<int>(path.steps.size()) - 1;
      continue;
    }
    stack.push_back({node, true});
    stack.push_back({right_first[at(node)] ? l : r, false});
    stack.push_back({right_first[at(node)] ? r : l, false});
  }
  return path;
}

}  // namespace trn::tensor
