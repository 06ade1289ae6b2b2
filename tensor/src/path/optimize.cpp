// optimize(): which searches run for a method and an effort, and the paths of other notations.
#include <trn/tensor/path.hpp>

#include <algorithm>
#include <cmath>

#include <trn/core/error.hpp>

#include "path/optimizer.hpp"

namespace trn::tensor {

namespace {

constexpr int kExhaustiveMax = 8, kExhaustiveAuto = 4, kDpAuto = 16;

std::vector<PathStep> checked(int operands, const std::vector<PathStep>& steps) {
  require(static_cast<int>(steps.size()) == operands - 1,
          "tensor.optimize: the given path has {} steps; {} operands take {}", steps.size(), operands, operands - 1);
  std::vector<bool> used(static_cast<std::size_t>(2 * operands - 1));
  for (std::size_t s = 0; s < steps.size(); ++s) {
    for (const int operand : {steps[s].left, steps[s].right}) {
      const int next = operands + static_cast<int>(s);
      require(operand >= 0 && operand < next,
              "tensor.optimize: step {} of the given path names operand {}; there are {}", s, operand, next);
      require(!used[static_cast<std::size_t>(operand)],
              "tensor.optimize: step {} of the given path uses operand {} again", s, operand);
      used[static_cast<std::size_t>(operand)] = true;
    }
  }
  return steps;
}

double time_limit(const PathOptions& options) {
  if (options.seconds > 0) return options.seconds;
  return options.effort == Effort::Low ? 0.1 : options.effort == Effort::Normal ? 1 : 15;
}

}  // namespace

Optimizer::Optimizer(const Network& network, const PathOptions& options)
    : network_(network), options_(options), model_(options), deadline_(time_limit(options)), random_(options.seed) {}

Tree Optimizer::run() {
  if (options_.method == PathMethod::Given) return Tree(network_, checked(network_.operands, options_.fixed));
  const int n = network_.operands;
  require(options_.method != PathMethod::Exhaustive || n <= kExhaustiveMax,
          "tensor.optimize: {} operands; the exhaustive search takes at most {}, the others more", n, kExhaustiveMax);
  require(options_.method != PathMethod::Dp || n <= kSubsetsMax,
          "tensor.optimize: {} operands; dynamic programming takes at most {}, Auto any number", n, kSubsetsMax);
  Tree tree(network_, greedy_steps(network_, {}, random_));
  model_.set_scale(largest_step(network_, tree));
  if (n < 3) return tree;
  switch (options_.method) {
    case PathMethod::Greedy:
      method_ = "greedy";
      return tree;
    case PathMethod::Exhaustive:
    case PathMethod::BranchAndBound:
      return by_pairs(std::move(tree));
    case PathMethod::Dp:
      return by_subsets(std::move(tree));
    case PathMethod::RandomGreedy:
      return random_greedy(std::move(tree));
    case PathMethod::Partition:
      return partitioned(std::move(tree));
    case PathMethod::Anneal:
      return annealed(random_greedy(std::move(tree)));
    default:
      break;
  }
  if (n <= kExhaustiveAuto) return by_pairs(std::move(tree));
  if (n <= kDpAuto) return by_subsets(std::move(tree));
  tree = random_greedy(std::move(tree));
  if (options_.effort == Effort::High) tree = partitioned(std::move(tree));
  return options_.effort == Effort::Low ? tree : annealed(std::move(tree));
}

bool Optimizer::keep_better(Tree& best, Tree& other) const {
  const bool better = measure(network_, model_, other) < measure(network_, model_, best);
  if (better) best = other;
  return better;
}

Tree Optimizer::by_pairs(Tree tree) {
  const bool prune = options_.method == PathMethod::BranchAndBound;
  method_ = prune ? "branch-and-bound" : "exhaustive";
  if (prune) reconfigure(network_, model_, 8, tree, deadline_);
  const std::vector<PathStep> start = path_of(network_, options_, tree).steps;
  return Tree(network_, search_pairs(network_, model_, prune, start, deadline_));
}

Tree Optimizer::by_subsets(Tree tree) {
  method_ = "dp";
  reconfigure(network_, model_, 8, tree, deadline_);  // the bound
  SubsetProblem problem{{}, network_.output.data()};
  for (int i = 0; i < network_.operands; ++i) problem.rows.push_back(network_.row(i));
  const Measure bound = measure(network_, model_, tree);
  const auto found = best_of_subsets(network_, model_, problem, bound, &deadline_);
  return found ? Tree(network_, found->steps) : tree;
}

// The greedy path and the best of `tries` random ones, reconfigured. One in three tries has the plain balance.
Tree Optimizer::random_greedy(Tree tree) {
  method_ = "random-greedy";
  constexpr std::size_t kFinalists = 4;
  const int by_effort = options_.effort == Effort::Low ? 16 : options_.effort == Effort::Normal ? 64 : 512;
  const int tries = options_.tries > 0 ? options_.tries : by_effort;
  std::vector<std::pair<Measure, Tree>> best{{measure(network_, model_, tree), tree}};
  for (int i = 0; i < tries && !deadline_.passed(); ++i) {
    GreedyScore score;
    score.balance = i % 3 == 0 ? 1 : std::exp(1.4 * (random_.uniform() - 0.5));
    score.temperature = options_.temperature > 0 ? options_.temperature : std::exp2(7 * random_.uniform() - 6);
    Tree other(network_, greedy_steps(network_, score, random_));
    const Measure m = measure(network_, model_, other);
    if (best.size() == kFinalists && !(m < best.back().first)) continue;
    const auto place = std::find_if(best.begin(), best.end(), [&](const auto& b) { return m < b.first; });
    best.insert(place, {m, std::move(other)});
    if (best.size() > kFinalists) best.pop_back();
  }
  for (auto& [m, candidate] : best) {
    reconfigure(network_, model_, 8, candidate, deadline_);
    (void)keep_better(tree, candidate);
  }
  return tree;
}

Tree Optimizer::partitioned(Tree tree) {
  const int tries = options_.effort == Effort::Low ? 2 : options_.effort == Effort::Normal ? 8 : 32;
  bool better = false;
  for (int i = 0; i < tries && !deadline_.passed(); ++i) {
    Tree other(network_, bisection_steps(network_, 0.02 + 0.4 * random_.uniform(), random_));
    reconfigure(network_, model_, 8, other, deadline_);
    better |= keep_better(tree, other);
  }
  if (better || method_.empty()) method_ = "partition";
  return tree;
}

// Chains from the best tree, each followed by reconfiguration; the last window is wider.
Tree Optimizer::annealed(Tree tree) {
  const bool high = options_.effort == Effort::High;
  const double rotations = options_.effort == Effort::Low ? 2e5 : high ? 5e6 : 1e6;
  const int sweeps = static_cast<int>(std::clamp(rotations / network_.operands, 100.0, 20000.0));
  bool better = false;
  for (int chain = 0; chain < (high ? 12 : 3) && !deadline_.passed(); ++chain) {
    Tree other = tree;
    anneal(network_, model_, sweeps, chain % 3 == 0 ? 2.0 : chain % 3 == 1 ? 0.5 : 0.15, random_, other, deadline_);
    reconfigure(network_, model_, 8, other, deadline_);
    better |= keep_better(tree, other);
  }
  Tree other = tree;
  reconfigure(network_, model_, high ? 12 : 10, other, deadline_);
  better |= keep_better(tree, other);
  if (better) method_ += method_.empty() ? "anneal" : ", anneal";
  return tree;
}

Deadline Optimizer::deadline_of_the_same_length() const { return Deadline(time_limit(options_)); }

Path Optimizer::finish(const Tree& tree) const {
  Path path = path_of(network_, options_, tree);
  path.interrupted = deadline_.was_passed();
  path.method = method_;
  return path;
}

Path optimize(const Expression& expression, const Sizes& sizes, const PathOptions& options) {
  require(options.element_bytes > 0, "tensor.optimize: element_bytes is {}; it must be positive",
          options.element_bytes);
  const Network network(expression, sizes);
  Optimizer optimizer(network, options);
  return optimizer.finish(optimizer.run());
}

std::vector<PathStep> from_positions(int operands, const std::vector<std::pair<int, int>>& positions) {
  std::vector<int> left;
  for (int i = 0; i < operands; ++i) left.push_back(i);
  std::vector<PathStep> steps;
  for (const auto& [i, j] : positions) {
    const auto count = static_cast<int>(left.size());
    require(i >= 0 && j >= 0 && i < count && j < count && i != j,
            "tensor.optimize: step {} of the path names the positions {} and {} of {} operands", steps.size(), i, j,
            count);
    const int first = left[static_cast<std::size_t>(i)], second = left[static_cast<std::size_t>(j)];
    steps.push_back({first, second});
    std::erase(left, first);
    std::erase(left, second);
    left.push_back(operands + static_cast<int>(steps.size()) - 1);
  }
  return checked(operands, steps);
}

std::vector<std::pair<int, int>> to_positions(int operands, const std::vector<PathStep>& steps) {
  std::vector<int> left;
  for (int i = 0; i < operands; ++i) left.push_back(i);
  std::vector<std::pair<int, int>> positions;
  for (const PathStep& step : checked(operands, steps)) {
    const auto place = [&](int operand) {
      return static_cast<int>(std::find(left.begin(), left.end(), operand) - left.begin());
    };
    positions.push_back(std::minmax(place(step.left), place(step.right)));
    std::erase(left, step.left);
    std::erase(left, step.right);
    left.push_back(operands + static_cast<int>(positions.size()) - 1);
  }
  return positions;
}

}  // namespace trn::tensor
