// In which order to contract the operands of an einsum, two at a time. opt_einsum: contract_path; cotengra:
// HyperOptimizer.
//
//   Path path = optimize(expression, sizes);                       // pure: no executor, no global state
//   Path best = optimize(expression, sizes, {.effort = Effort::High});
//
// A label stays in a result while the output or another operand has it, so hyperedges, batches and outer products need
// no special treatment. Labels of one operand alone that are not in the output are summed out before the first step,
// and diagonals taken: neither is counted. An extent of 0 counts as 1.
//
// Costs are sums of 2^(log2 of extents - log2 of the greedy path's largest step), so that nothing overflows: a path so
// bad that its cost is infinite is only known to be worse than greedy's. No path is worse than Greedy's in what
// `minimize` names. The same arguments give the same path on every machine, unless the time limit ended the search.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <trn/core/executor.hpp>
#include <trn/tensor/expression.hpp>

namespace trn::tensor {

// Operand numbers: inputs 0 .. n-1, results n, n+1, ... in order of steps.
struct PathStep {
  int left = 0, right = 0;
  friend bool operator==(const PathStep&, const PathStep&) = default;
};

struct Path {
  std::vector<PathStep> steps;  // one fewer than operands
  double flops = 0;             // a multiplication and an addition for each product where a step sums, else one
  double largest = 0;           // elements of the largest result, the output included
  double live = 0;              // elements of results that exist at one time, at most; the output is not counted
  double multiplications = 0;   // products in all steps; infinite beyond 1e308
  double log10_multiplications = 0;
  double seconds = 0;        // of the steps, by the model of `family`
  bool interrupted = false;  // the time limit ended the search
  std::string method = {};   // what found it: "dp", "random-greedy, anneal", ...
};

enum class PathMethod : std::uint8_t {
  Auto,        // Exhaustive to 4 operands, Dp to 16, then RandomGreedy; Anneal too with effort Normal, Partition High
  Given,       // `fixed`
  Exhaustive,  // every order, to 8 operands
  Dp,          // the optimum by dynamic programming over subsets, outer products included, to 20 operands
  BranchAndBound,  // depth first, the cheapest pair first, cut where a partial cost exceeds the best whole one
  Greedy,          // the pair whose result is smallest less its operands; nothing else
  RandomGreedy,    // `tries` greedy paths with random scores, the best then reconfigured
  Partition,       // recursive bisection, then reconfigured
  Anneal           // random rotations of the tree from the best of the others, then reconfigured
};

enum class Minimize : std::uint8_t {
  Flops,  // products
  Time,   // the model of `family`
  Size    // the largest result; among equals, products
};

enum class Effort : std::uint8_t { Low, Normal, High };  // milliseconds; at most 1 s; at most 15 s, for networks of 200

struct PathOptions {
  PathMethod method = PathMethod::Auto;
  std::vector<PathStep> fixed = {};  // for Given
  Minimize minimize = Minimize::Flops;
  Effort effort = Effort::Normal;
  std::uint64_t seed = 0;
  int tries = 0;                 // of RandomGreedy; 0: 16, 64 or 512 by effort
  double temperature = 0;        // of RandomGreedy's scores; 0: another one for each try
  double seconds = 0;            // limit of the search; 0: 0.1, 1 or 15 by effort. Greedy always finishes.
  Family family = Family::Host;  // whose model Time takes
  int element_bytes = 4;         // of all tensors, for Time
  friend bool operator==(const PathOptions&, const PathOptions&) = default;
};

// Throws InvalidArgument for a path that is not one, and for methods with too many operands.
[[nodiscard]] Path optimize(const Expression& expression, const Sizes& sizes, const PathOptions& options = {});

// Paths in the notation of NumPy and opt_einsum: each step names two positions in the list of operands that are left,
// takes them out and appends the result.
[[nodiscard]] std::vector<PathStep> from_positions(int operands, const std::vector<std::pair<int, int>>& positions);
[[nodiscard]] std::vector<std::pair<int, int>> to_positions(int operands, const std::vector<PathStep>& steps);

}  // namespace trn::tensor
