// All orders of pairs, depth first: the exhaustive search, and branch and bound.
#include <algorithm>

#include "path/methods.hpp"

namespace trn::tensor {

namespace {

class PairSearch {
 public:
  PairSearch(const Network& network, const CostModel& model, bool prune, std::vector<PathStep> best, Deadline& deadline)
      : network_(network), model_(model), prune_(prune), deadline_(deadline), best_(std::move(best)) {
    best_measure_ = measure(network, model, Tree(network, best_));
  }

  std::vector<PathStep> run() {
    std::vector<Tensor> tensors;
    for (int i = 0; i < network_.operands; ++i) {
      tensors.push_back(
          {i, {network_.row(i), network_.row(i) + network_.words}, network_.log2_elements(network_.row(i))});
    }
    descend(tensors, network_.holders, {});
    return best_;
  }

 private:
  struct Tensor {
    int number;
    std::vector<Word> row;
    double log2_elements;
  };
  struct Pair {
    std::size_t i, j;
    StepLogs logs;
    Measure after;
  };

  void descend(const std::vector<Tensor>& tensors, const std::vector<int>& holders, const Measure& sum) {
    if (tensors.size() == 1) {
      if (sum < best_measure_) best_measure_ = sum, best_ = steps_;
      return;
    }
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      for (std::size_t j = i + 1; j < tensors.size(); ++j) {
        Pair pair{i, j, logs(tensors[i], tensors[j], holders), sum};
        accumulate(model_, pair.logs, pair.after);
        if (!prune_ || pair.after < best_measure_) pairs.push_back(pair);
      }
    }
    std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& x, const Pair& y) { return x.after < y.after; });
    for (const Pair& pair : pairs) {
      if (prune_ && !(pair.after < best_measure_)) break;
      if (deadline_.passed()) return;
      take(tensors, holders, pair);
    }
  }

  void take(const std::vector<Tensor>& tensors, const std::vector<int>& holders, const Pair& pair) {
    const Tensor &x = tensors[pair.i], &y = tensors[pair.j];
    std::vector<int> left = holders;
    std::vector<Tensor> next;
    for (std::size_t t = 0; t < tensors.size(); ++t) {
      if (t != pair.i && t != pair.j) next.push_back(tensors[t]);
    }
    Tensor result{network_.operands + static_cast<int>(steps_.size()), x.row, pair.logs.result()};
    for (int w = 0; w < network_.words; ++w) result.row[at(w)] |= y.row[at(w)];
    for_labels(
        network_.words, [&](int w) { return x.row[at(w)] & y.row[at(w)]; },
        [&](int l) {
          if (--left[at(l)] == 1 && !network_.in_output(l)) result.row[at(l / 64)] &= ~(Word(1) << (l % 64));
        });
    next.push_back(std::move(result));
    steps_.push_back({x.number, y.number});
    descend(next, left, pair.after);
    steps_.pop_back();
  }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  StepLogs logs(const Tensor& x, const Tensor& y, const std::vector<int>& holders) const {
    StepLogs step{x.log2_elements, y.log2_elements, 0, 0};
    for_labels(
        network_.words, [&](int w) { return x.row[at(w)] & y.row[at(w)]; },
        [&](int l) { (holders[at(l)] > 2 || network_.in_output(l) ? step.h : step.k) += network_.log2_extent[at(l)]; });
    return step;
  }

  const Network& network_;
  const CostModel& model_;
  bool prune_;
  Deadline& deadline_;
  std::vector<PathStep> best_, steps_;
  Measure best_measure_;
};

}  // namespace

std::vector<PathStep> search_pairs(const Network& network, const CostModel& model, bool prune,
                                   std::vector<PathStep> best, Deadline& deadline) {
  return PairSearch(network, model, prune, std::move(best), deadline).run();
}

}  // namespace trn::tensor
