// Subtree reconfiguration. A window is a node with the subtrees reached from it by opening the dearest steps first; its
// best tree comes from dynamic programming, and what is outside it does not change.
#include <algorithm>
#include <unordered_set>

#include "path/methods.hpp"

namespace trn::tensor {

namespace {

class Reconfigure {
 public:
  Reconfigure(const Network& network, const CostModel& model, int window, Tree& tree)
      : network_(network), model_(model), window_(window), tree_(tree) {
    Random random(17);
    for (int i = 0; i < tree.leaves; ++i) name_.push_back(random.bits());
    name_.resize(static_cast<std::size_t>(tree.nodes()));
    cost_.resize(name_.size());
    for (const int node : order()) refresh(node);
  }

  void run(Deadline& deadline) {
    for (bool better = true; better;) {
      better = false;
      for (const int node : order()) {
        if (deadline.passed()) return;
        better |= improve(node);
      }
    }
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // Inner nodes, children before parents.
  [[nodiscard]] std::vector<int> order() const {
    std::vector<int> nodes{tree_.root};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (const int child : {tree_.left[at(nodes[i])], tree_.right[at(nodes[i])]}) {
        if (!tree_.is_leaf(child)) nodes.push_back(child);
      }
    }
    std::reverse(nodes.begin(), nodes.end());
    return nodes;
  }

  void refresh(int node) {
    name_[at(node)] = name_[at(tree_.left[at(node)])] ^ name_[at(tree_.right[at(node)])];
    cost_[at(node)] = model_(tree_.step(network_, node));
  }

  // The measure of what is inside the window as it is.
  [[nodiscard]] Measure present(const std::vector<int>& inner) const {
    Measure m;
    for (const int node : inner) accumulate(model_, tree_.step(network_, node), m);
    return m;
  }

  bool improve(int top) {
    std::vector<int> inner{top}, frontier{tree_.left[at(top)], tree_.right[at(top)]};
    while (static_cast<int>(frontier.size()) < window_) {
      const auto dearest = std::max_element(frontier.begin(), frontier.end(), [&](int x, int y) {
        return (tree_.is_leaf(x) ? -1 : cost_[at(x)]) < (tree_.is_leaf(y) ? -1 : cost_[at(y)]);
      });
      if (tree_.is_leaf(*dearest)) break;
      const int opened = *dearest;
      inner.push_back(opened);
      *dearest = tree_.left[at(opened)];
      frontier.push_back(tree_.right[at(opened)]);
    }
    if (frontier.size() < 3) return false;
    std::uint64_t key = 0;
    for (const int node : frontier) key += (name_[at(node)] ^ 0x9E3779B97F4A7C15u) * 0xBF58476D1CE4E5B9u;
    if (!tried_.insert(key).second) return false;
    SubsetProblem problem{{}, tree_.row(top)};
    for (const int node : frontier) problem.rows.push_back(tree_.row(node));
    const Measure now = present(inner);
    // Better by more than rounding, or the search might not end.
    const Measure bound{model_.minimize() == Minimize::Size ? now.first : now.first * (1 - 1e-12),
                        now.second * (1 - 1e-12)};
    const auto found = best_of_subsets(network_, model_, problem, bound);
    if (!found) return false;
    rebuild(top, inner, frontier, found->steps);
    return true;
  }

  // The inner nodes of the window are used again; the top keeps its number and its labels.
  void rebuild(int top, std::vector<int> inner, std::vector<int> nodes, const std::vector<PathStep>& steps) {
    std::erase(inner, top);
    const int leaves = static_cast<int>(nodes.size());
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) nodes.push_back(inner[i]);
    nodes.push_back(top);
    const auto words = at(tree_.words);
    // What the others have, from the top down: a child keeps what its sibling or its parent has.
    std::vector<Word> under(nodes.size() * words), kept(nodes.size() * words);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      for (std::size_t w = 0; w < words; ++w) {
        under[i * words + w] = i < at(leaves) ? tree_.row(nodes[i])[w]
                                              : under[at(steps[i - at(leaves)].left) * words + w] |
                                                    under[at(steps[i - at(leaves)].right) * words + w];
      }
    }
    for (std::size_t w = 0; w < words; ++w) kept[(nodes.size() - 1) * words + w] = tree_.row(top)[w];
    for (std::size_t s = steps.size(); s-- > 0;) {
      const std::size_t node = s + at(leaves), l = at(steps[s].left), r = at(steps[s].right);
      for (std::size_t w = 0; w < words; ++w) {
        kept[l * words + w] = under[r * words + w] | kept[node * words + w];
        kept[r * words + w] = under[l * words + w] | kept[node * words + w];
      }
    }
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const int node = nodes[s + at(leaves)];
      tree_.set_children(network_, node, nodes[at(steps[s].left)], nodes[at(steps[s].right)],
                         kept.data() + (s + at(leaves)) * words);
      refresh(node);
    }
  }

  const Network& network_;
  const CostModel& model_;
  int window_;
  Tree& tree_;
  std::vector<std::uint64_t> name_;  // by node: of its set of leaves
  std::vector<double> cost_;
  std::unordered_set<std::uint64_t> tried_;
};

}  // namespace

void reconfigure(const Network& network, const CostModel& model, int window, Tree& tree, Deadline& deadline) {
  if (tree.leaves < 3) return;
  Reconfigure(network, model, window, tree).run(deadline);
}

}  // namespace trn::tensor
