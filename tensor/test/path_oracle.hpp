// Paths judged without the product's trees and bits: sets of labels, exact counts in long double, all orders.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <vector>

#include <trn/tensor/path.hpp>

namespace trn::tensor::testing {

using Labels = std::set<Label>;

inline long double elements(const Labels& labels, const Sizes& sizes) {
  long double product = 1;
  for (const Label l : labels)
    product *= static_cast<long double>(std::max<std::int64_t>(1, sizes[static_cast<std::size_t>(l)]));
  return product;
}

// The labels of each operand, those that it alone has and the output has not removed.
inline std::vector<Labels> operand_labels(const Expression& e) {
  std::vector<Labels> all;
  for (const auto& input : e.inputs) all.emplace_back(input.begin(), input.end());
  std::vector<Labels> kept(all.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const Label l : all[i]) {
      bool elsewhere = std::find(e.output.begin(), e.output.end(), l) != e.output.end();
      for (std::size_t j = 0; j < all.size(); ++j) elsewhere |= j != i && all[j].count(l) > 0;
      if (elsewhere) kept[i].insert(l);
    }
  }
  return kept;
}

struct OracleStep {
  Labels left, right, result;
};

struct OracleFigures {
  long double products = 0, flops = 0, largest = 0, live = 0;
};

// The result of contracting two of the tensors: what the output or the others still need.
inline Labels result_labels(const Labels& x, const Labels& y, const std::vector<Labels>& others, const Expression& e) {
  Labels needed(e.output.begin(), e.output.end()), result;
  for (const Labels& o : others) needed.insert(o.begin(), o.end());
  for (const Labels* side : {&x, &y}) {
    for (const Label l : *side) {
      if (needed.count(l)) result.insert(l);
    }
  }
  return result;
}

// Walks the steps with a table of live tensors.
inline OracleFigures walk(const Expression& e, const Sizes& sizes, const std::vector<PathStep>& steps,
                          std::vector<OracleStep>* record = nullptr) {
  OracleFigures f;
  std::map<int, Labels> alive;
  const auto operands = operand_labels(e);
  const int n = static_cast<int>(operands.size());
  for (int i = 0; i < n; ++i) alive[i] = operands[static_cast<std::size_t>(i)];
  for (std::size_t s = 0; s < steps.size(); ++s) {
    const Labels x = alive.at(steps[s].left), y = alive.at(steps[s].right);
    std::vector<Labels> others;
    for (const auto& [number, labels] : alive) {
      if (number != steps[s].left && number != steps[s].right) others.push_back(labels);
    }
    const Labels result = result_labels(x, y, others, e);
    Labels both = x;
    both.insert(y.begin(), y.end());
    long double now = 0;  // intermediates alive during the step
    for (const auto& [number, labels] : alive) now += number >= n ? elements(labels, sizes) : 0;
    if (s + 1 < steps.size()) now += elements(result, sizes);
    const bool sums = elements(both, sizes) != elements(result, sizes);
    f.products += elements(both, sizes);
    f.flops += elements(both, sizes) * (sums ? 2 : 1);
    f.largest = std::max(f.largest, elements(result, sizes));
    f.live = std::max(f.live, now);
    if (record) record->push_back({x, y, result});
    alive.erase(steps[s].left), alive.erase(steps[s].right);
    alive[n + static_cast<int>(s)] = result;
  }
  return f;
}

// The least total over all trees of sum or maximum of cost(step), by trying every order of pairs.
struct OracleCost {
  std::function<long double(const OracleStep&)> cost;
  bool maximum = false;
};
inline long double brute_force(const Expression& e, std::vector<Labels> tensors, const OracleCost& c) {
  if (tensors.size() < 2) return 0;
  long double best = std::numeric_limits<long double>::infinity();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    for (std::size_t j = i + 1; j < tensors.size(); ++j) {
      std::vector<Labels> rest;
      for (std::size_t t = 0; t < tensors.size(); ++t) {
        if (t != i && t != j) rest.push_back(tensors[t]);
      }
      const Labels result = result_labels(tensors[i], tensors[j], rest, e);
      const long double step = c.cost({tensors[i], tensors[j], result});
      rest.push_back(result);
      const long double other = brute_force(e, rest, c);
      best = std::min(best, c.maximum ? std::max(step, other) : step + other);
    }
  }
  return best;
}

}  // namespace trn::tensor::testing
