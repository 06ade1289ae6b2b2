// A contraction tree: leaves are operands, each inner node the result of contracting its two children. The labels of a
// node are those of its children that its sibling or its parent has, so a change below a node never changes the node.
#pragma once

#include <span>
#include <vector>

#include <trn/tensor/path.hpp>

#include "path/cost.hpp"
#include "path/network.hpp"

namespace trn::tensor {

// Nodes 0 .. n-1 are the operands, the others inner nodes in no particular order.
class Tree {
 public:
  Tree(const Network& network, std::span<const PathStep> steps);

  int leaves = 0, words = 0, root = 0;
  std::vector<int> left, right, parent;  // -1: none
  std::vector<Word> rows;                // nodes x words
  std::vector<double> log2_elements;

  [[nodiscard]] int nodes() const { return 2 * leaves - 1; }
  [[nodiscard]] bool is_leaf(int node) const { return node < leaves; }
  [[nodiscard]] const Word* row(int node) const { return rows.data() + offset(node); }
  [[nodiscard]] Word* row(int node) { return rows.data() + offset(node); }
  [[nodiscard]] StepLogs step(const Network& network, int node) const;
  // Labels and size of `node` from its children, its sibling's and its parent's labels.
  void set_children(const Network& network, int node, int l, int r, const Word* kept);
  // After the extents of labels changed.
  void set_extents(const Network& network);

 private:
  [[nodiscard]] std::size_t offset(int node) const {
    return static_cast<std::size_t>(node) * static_cast<std::size_t>(words);
  }
};

// The logarithms of contracting x with y where the labels `kept(w)` survive.
template <class Kept>
StepLogs step_logs(const Network& network, const Word* x, const Word* y, double log2_x, double log2_y, Kept kept) {
  StepLogs logs{log2_x, log2_y, 0, 0};
  for (int w = 0; w < network.words; ++w) {
    const Word both = x[w] & y[w];
    if (both == 0) continue;
    const Word stay = kept(w);
    for (Word rest = both; rest != 0; rest &= rest - 1) {
      const double extent = network.log2_extent[static_cast<std::size_t>(64 * w + std::countr_zero(rest))];
      (stay & rest & -rest ? logs.h : logs.k) += extent;
    }
  }
  return logs;
}

[[nodiscard]] Measure measure(const Network& network, const CostModel& model, const Tree& tree);
// log2 of the products of the most expensive step.
[[nodiscard]] double largest_step(const Network& network, const Tree& tree);

// Steps in the order that keeps fewest elements alive, with the figures of Path. Intermediates count, inputs and the
// output do not. For two children with peaks p, q and sizes s, t the one with the larger p - s goes first.
[[nodiscard]] Path path_of(const Network& network, const PathOptions& options, const Tree& tree);

}  // namespace trn::tensor
