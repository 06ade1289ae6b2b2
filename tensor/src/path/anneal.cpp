// Simulated annealing. A rotation at a node p with children x = (a b) and c makes x' = (a c) beside b, or (b c) beside
// a: two steps change, and the labels of x' are those of a or c that b or p has. It is accepted with probability
// min(1, exp(-(change of log2 of the two steps' cost) / temperature)): cheap parts of the tree settle like dear ones.
#include <algorithm>
#include <cmath>

#include "path/methods.hpp"

namespace trn::tensor {

namespace {

class Annealing {
 public:
  Annealing(const Network& network, const CostModel& model, Random& random, Tree& tree)
      : network_(network), model_(model), random_(random), tree_(tree), cost_(at(tree.nodes())), bits_(at(tree.words)) {
    for (int node = tree.leaves; node < tree.nodes(); ++node) cost_[at(node)] = model(tree.step(network, node));
  }

  [[nodiscard]] double total() const {
    double sum = 0;
    for (int node = tree_.leaves; node < tree_.nodes(); ++node) sum += cost_[at(node)];
    return sum;
  }

  void sweep(double temperature) {
    for (int i = tree_.leaves; i < tree_.nodes(); ++i)
      rotate(tree_.leaves + random_.below(tree_.leaves - 1), temperature);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  void rotate(int p, double temperature) {
    const auto choice = random_.bits() >> 62;
    int x = tree_.left[at(p)], c = tree_.right[at(p)];
    if (choice & 1) std::swap(x, c);
    if (tree_.is_leaf(x)) return;
    int a = tree_.left[at(x)], b = tree_.right[at(x)];
    if (choice & 2) std::swap(a, b);
    const Word *const ra = tree_.row(a), *const rb = tree_.row(b), *const rc = tree_.row(c), *const rp = tree_.row(p);
    const StepLogs inner = step_logs(network_, ra, rc, tree_.log2_elements[at(a)], tree_.log2_elements[at(c)],
                                     [&](int w) { return rb[w] | rp[w]; });
    for (int w = 0; w < tree_.words; ++w) bits_[at(w)] = (ra[w] | rc[w]) & (rb[w] | rp[w]);
    const StepLogs outer =
        step_logs(network_, bits_.data(), rb, inner.result(), tree_.log2_elements[at(b)], [&](int w) { return rp[w]; });
    const double cost_x = model_(inner), cost_p = model_(outer);
    const double now = cost_x + cost_p, before = cost_[at(x)] + cost_[at(p)];
    // Uniform u < exp(-d / t) is d < -t ln(u), with d = log2(now / before).
    if (now > before && !(std::log2(now / before) < -temperature * std::log(random_.uniform() + 0x1p-54))) return;
    if (std::isnan(now)) return;
    std::copy(bits_.begin(), bits_.end(), tree_.row(x));
    tree_.log2_elements[at(x)] = inner.result();
    tree_.left[at(x)] = a, tree_.right[at(x)] = c, tree_.parent[at(c)] = x, tree_.parent[at(a)] = x;
    tree_.left[at(p)] = x, tree_.right[at(p)] = b, tree_.parent[at(b)] = p;
    cost_[at(x)] = cost_x, cost_[at(p)] = cost_p;
  }

  const Network& network_;
  const CostModel& model_;
  Random& random_;
  Tree& tree_;
  std::vector<double> cost_;
  std::vector<Word> bits_;
};

}  // namespace

void anneal(const Network& network, const CostModel& model, int sweeps, double hot, Random& random, Tree& tree,
            Deadline& deadline) {
  if (tree.leaves < 3) return;
  constexpr double kCold = 0.02;
  Tree walk = tree;
  Annealing annealing(network, model, random, walk);
  double best = annealing.total();
  for (int i = 0; i < sweeps && !deadline.passed(); ++i) {
    annealing.sweep(hot * std::pow(kCold / hot, static_cast<double>(i) / sweeps));
    const double now = annealing.total();
    if (now < best) best = now, tree = walk;
  }
}

}  // namespace trn::tensor
