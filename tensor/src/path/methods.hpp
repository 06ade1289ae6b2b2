// The searches for contraction trees. Each is a pure function of its arguments and its random numbers.
#pragma once

#include <chrono>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "path/tree.hpp"

namespace trn::tensor {

// When to stop, asked often.
class Deadline {
 public:
  explicit Deadline(double seconds)
      : end_(std::chrono::steady_clock::now() +
             std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds))) {}
  // Remembers that it has passed.
  [[nodiscard]] bool passed() {
    if (!passed_) passed_ = std::chrono::steady_clock::now() >= end_;
    return passed_;
  }
  [[nodiscard]] bool was_passed() const { return passed_; }

 private:
  std::chrono::steady_clock::time_point end_;
  bool passed_ = false;
};

// How a greedy choice scores a pair of operands with a and b elements and a result of c:
// c / balance - balance (a + b), the smallest first; with a temperature, the logarithm of that, with its sign, plus
// temperature times a Gumbel number.
struct GreedyScore {
  double balance = 1, temperature = 0;
};
[[nodiscard]] std::vector<PathStep> greedy_steps(const Network& network, const GreedyScore& score, Random& random);

// Contracting the tensors with these rows of labels so that `kept` remains (the labels of what comes out).
struct SubsetProblem {
  std::vector<const Word*> rows;
  const Word* kept = nullptr;
};
// The best tree by dynamic programming over all subsets, if it is better than `bound`: steps as in Path. At most
// kSubsetsMax tensors. The limit of time, when given, ends it without a result.
inline constexpr int kSubsetsMax = 20;
struct SubsetSolution {
  std::vector<PathStep> steps;
  Measure measure;
};
[[nodiscard]] std::optional<SubsetSolution> best_of_subsets(const Network& network, const CostModel& model,
                                                            const SubsetProblem& problem, const Measure& bound,
                                                            Deadline* deadline = nullptr);

// All orders of pairs, depth first and the cheapest pair first, except those whose partial cost reaches the best whole
// one's (`prune`), until the deadline.
[[nodiscard]] std::vector<PathStep> search_pairs(const Network& network, const CostModel& model, bool prune,
                                                 std::vector<PathStep> best, Deadline& deadline);

// Subtree reconfiguration: windows of up to `window` subtrees under one node are put together in the best way, until no
// window improves.
void reconfigure(const Network& network, const CostModel& model, int window, Tree& tree, Deadline& deadline);

// Simulated annealing by rotations ((a b) c) -> ((a c) b), `sweeps` over all nodes, from temperature `hot` to 0.02 (in
// log2 of the cost of the two steps that change). The tree becomes the best one seen.
void anneal(const Network& network, const CostModel& model, int sweeps, double hot, Random& random, Tree& tree,
            Deadline& deadline);

// Recursive bisection: multilevel, with Fiduccia and Mattheyses' refinement. Sides have at least half - imbalance of
// the operands.
[[nodiscard]] std::vector<PathStep> bisection_steps(const Network& network, double imbalance, Random& random);

}  // namespace trn::tensor
