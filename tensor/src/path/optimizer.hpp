// The searches of one call: a network, a cost model whose scale the greedy path sets, a clock and random numbers.
#pragma once

#include <string>

#include "path/methods.hpp"

namespace trn::tensor {

class Optimizer {
 public:
  Optimizer(const Network& network, const PathOptions& options);
  [[nodiscard]] Tree run();
  [[nodiscard]] Path finish(const Tree& tree) const;
  [[nodiscard]] const CostModel& model() const { return model_; }
  [[nodiscard]] Deadline deadline_of_the_same_length() const;

 private:
  [[nodiscard]] Tree by_pairs(Tree tree);
  [[nodiscard]] Tree by_subsets(Tree tree);
  [[nodiscard]] Tree random_greedy(Tree tree);
  [[nodiscard]] Tree partitioned(Tree tree);
  [[nodiscard]] Tree annealed(Tree tree);
  bool keep_better(Tree& best, Tree& other) const;

  const Network& network_;
  const PathOptions& options_;
  CostModel model_;
  Deadline deadline_;
  Random random_;
  std::string method_;
};

}  // namespace trn::tensor
