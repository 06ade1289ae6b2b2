// Dynamic programming over subsets: the best tree for each set S of tensors is the best split S = A + B,
//
//   cost(S) = min over A of cost(A) + cost(S - A) + step(A, S - A),
//
// 3^n / 2 splits, outer products included. Labels with the same holders are one label with the product of the extents.
// A set is dropped when its result alone, written once and read once, costs more than the bound.
#include <algorithm>
#include <cmath>

#include "path/methods.hpp"

namespace trn::tensor {

namespace {

// A class of labels: the tensors that hold it, whether it survives, log2 of the product of extents.
struct LabelClass {
  std::uint32_t holders;
  bool kept;
  double log2_extent;
};

std::vector<LabelClass> classes_of(const Network& network, const SubsetProblem& problem) {
  std::vector<LabelClass> classes;
  for (int w = 0; w < network.words; ++w) {
    Word any = 0;
    for (const Word* row : problem.rows) any |= row[w];
    for (; any != 0; any &= any - 1) {
      const int bit = std::countr_zero(any);
      LabelClass found{0, (problem.kept[w] >> bit & 1) != 0,
                       network.log2_extent[static_cast<std::size_t>(64 * w + bit)]};
      for (std::size_t i = 0; i < problem.rows.size(); ++i) {
        found.holders |= static_cast<std::uint32_t>(problem.rows[i][w] >> bit & 1) << i;
      }
      const auto same = std::find_if(classes.begin(), classes.end(), [&](const LabelClass& c) {
        return c.holders == found.holders && c.kept == found.kept;
      });
      if (same != classes.end()) {
        same->log2_extent += found.log2_extent;
      } else if (found.log2_extent > 0) {
        classes.push_back(found);
      }
    }
  }
  return classes;
}

// One cost, or two of which the first is a maximum (Minimize::Size).
struct Sum {
  static double none() { return std::numeric_limits<double>::infinity(); }
  using Cost = double;
  static Cost bound(const Measure& m) { return m.first; }
  static Cost join(Cost a, Cost b) { return a + b; }
  static Cost add(const CostModel& model, Cost both, const StepLogs& step) { return both + model(step); }
  static bool hopeless(const CostModel& model, double log2_result, Cost bound) {
    return model.minimize() == Minimize::Flops && 2 * model.elements(log2_result) > bound;
  }
  static Measure measure(Cost c) { return {c, 0}; }
};
struct Largest {
  static Measure none() { return {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()}; }
  using Cost = Measure;
  static Cost bound(const Measure& m) { return m; }
  static Cost join(const Cost& a, const Cost& b) { return {std::max(a.first, b.first), a.second + b.second}; }
  static Cost add(const CostModel& model, const Cost& both, const StepLogs& step) {
    return {std::max(both.first, model.elements(step.result())), both.second + model.products(step)};
  }
  static bool hopeless(const CostModel& model, double log2_result, const Cost& bound) {
    return model.elements(log2_result) > bound.first;
  }
  static Measure measure(const Cost& c) { return c; }
};

template <class Policy> class SubsetSearch {
  using Cost = typename Policy::Cost;
  using Set = std::uint32_t;

 public:
  SubsetSearch(const Network& network, const CostModel& model, const SubsetProblem& problem)
      : model_(model),
        n_(static_cast<int>(problem.rows.size())),
        classes_(classes_of(network, problem)),
        words_((classes_.size() + 63) / 64) {}

  std::optional<SubsetSolution> run(const Measure& limit, Deadline* deadline) {
    const Set all = (Set(1) << n_) - 1;
    const Cost bound = Policy::bound(limit);
    rows_.assign(words_ << n_, 0);
    log2_.assign(std::size_t(1) << n_, 0);
    cost_.assign(std::size_t(1) << n_, Policy::none());
    split_.assign(std::size_t(1) << n_, 0);
    for (Set s = 1; s <= all; ++s) {
      if (deadline && s % 256 == 0 && deadline->passed()) return std::nullopt;
      set_labels(s);
      if (std::has_single_bit(s)) {
        cost_[s] = Cost{};
      } else if (s == all || !Policy::hopeless(model_, log2_[s], bound)) {
        split(s, bound);
      }
    }
    if (!(cost_[all] < bound)) return std::nullopt;
    SubsetSolution solution{{}, Policy::measure(cost_[all])};
    emit(all, solution.steps);
    return solution;
  }

 private:
  // A label is in the result of s while a tensor outside s holds it or it is kept.
  void set_labels(Set s) {
    const Set low = s & -s, rest = s ^ low;
    for (std::size_t w = 0; w < words_; ++w) {
      Word bits = 0;
      if (rest == 0) {
        for (std::size_t c = 64 * w; c < std::min(classes_.size(), 64 * w + 64); ++c) {
          if (classes_[c].holders & s) bits |= Word(1) << (c % 64);
        }
      } else {
        const Word x = rows_[low * words_ + w], y = rows_[rest * words_ + w];
        bits = x | y;
        for (Word both = x & y; both != 0; both &= both - 1) {
          const LabelClass& c = classes_[64 * w + static_cast<std::size_t>(std::countr_zero(both))];
          if (!c.kept && (c.holders & ~s) == 0) bits &= ~(both & -both);
        }
      }
      rows_[s * words_ + w] = bits;
      for (; bits != 0; bits &= bits - 1) {
        log2_[s] += classes_[64 * w + static_cast<std::size_t>(std::countr_zero(bits))].log2_extent;
      }
    }
  }

  StepLogs logs(Set a, Set b) const {
    StepLogs step{log2_[a], log2_[b], 0, 0};
    for (std::size_t w = 0; w < words_; ++w) {
      const Word stay = rows_[(a | b) * words_ + w];
      for (Word both = rows_[a * words_ + w] & rows_[b * words_ + w]; both != 0; both &= both - 1) {
        const double extent = classes_[64 * w + static_cast<std::size_t>(std::countr_zero(both))].log2_extent;
        (stay & both & -both ? step.h : step.k) += extent;
      }
    }
    return step;
  }

  void split(Set s, const Cost& bound) {
    const Set low = s & -s, rest = s ^ low;
    Cost best = bound;
    Set best_half = 0;
    for (Set part = (rest - 1) & rest;; part = (part - 1) & rest) {  // A = low + part, B is the rest and not empty
      const Set a = low | part, b = s ^ a;
      const Cost both = Policy::join(cost_[a], cost_[b]);
      if (both < best) {
        const Cost whole = Policy::add(model_, both, logs(a, b));
        if (whole < best) best = whole, best_half = a;
      }
      if (part == 0) break;
    }
    if (best_half != 0) cost_[s] = best, split_[s] = best_half;
  }

  int emit(Set s, std::vector<PathStep>& steps) const {
    if (std::has_single_bit(s)) return std::countr_zero(s);
    const int l = emit(split_[s], steps), r = emit(s ^ split_[s], steps);
    steps.push_back({l, r});
    return n_ + static_cast<int>(steps.size()) - 1;
  }

  const CostModel& model_;
  int n_;
  std::vector<LabelClass> classes_;
  std::size_t words_;
  std::vector<Word> rows_;    // by set: its labels
  std::vector<double> log2_;  // by set: its elements
  std::vector<Cost> cost_;    // by set; none: dropped
  std::vector<Set> split_;    // by set: one half of the best split
};

}  // namespace

std::optional<SubsetSolution> best_of_subsets(const Network& network, const CostModel& model,
                                              const SubsetProblem& problem, const Measure& bound, Deadline* deadline) {
  if (problem.rows.size() < 2) return std::nullopt;
  if (model.minimize() == Minimize::Size) return SubsetSearch<Largest>(network, model, problem).run(bound, deadline);
  return SubsetSearch<Sum>(network, model, problem).run(bound, deadline);
}

}  // namespace trn::tensor
