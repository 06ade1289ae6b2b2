// What a step of a path costs, from logarithms of extents: log2 of the elements of both operands (a, b), of the labels
// that both and the result have (h), and of those that are summed (k). Then m = a - h - k, n = b - h - k, the step has
// 2^(a + b - h - k) products and 2^(a + b - h - 2 k) results.
#pragma once

#include <algorithm>

#include <trn/core/precision.hpp>
#include <trn/tensor/path.hpp>

namespace trn::tensor {

struct StepLogs {
  double a = 0, b = 0, h = 0, k = 0;
  [[nodiscard]] double products() const { return a + b - h - k; }
  [[nodiscard]] double result() const { return a + b - h - 2 * k; }
};

// Seconds of one step times 2^-scale. `work`: multiplications of words for each product, relative to Native.
[[nodiscard]] double step_seconds(const StepLogs& step, Family family, int element_bytes, double scale,
                                  double work = 1);
// Seconds of a step that is bound by the bytes it moves.
[[nodiscard]] double moving_seconds(double bytes, Family family);
// What a mode costs an engine beside the others: on a device passes of two-byte words, on the host relative to Native.
[[nodiscard]] double mode_work(Mode mode, Family family);

class CostModel {
 public:
  explicit CostModel(const PathOptions& options)
      : minimize_(options.minimize), family_(options.family), element_bytes_(options.element_bytes) {}

  // Costs are relative to 2^scale.
  void set_scale(double scale) { scale_ = scale; }
  [[nodiscard]] double scale() const { return scale_; }
  [[nodiscard]] Minimize minimize() const { return minimize_; }

  // What a path adds up. For Size, where the aim is a maximum, the sum of squares of sizes stands for it in searches
  // that need a sum; `Measure` compares.
  [[nodiscard]] double operator()(const StepLogs& step) const;
  [[nodiscard]] double products(const StepLogs& step) const;
  [[nodiscard]] double elements(double log2_elements) const;

 private:
  Minimize minimize_;
  Family family_;
  int element_bytes_;
  double scale_ = 0;
};

// The two numbers by which whole paths are compared: what is minimised, and what breaks ties.
struct Measure {
  double first = 0, second = 0;
  friend bool operator<(const Measure& x, const Measure& y) {
    return x.first < y.first || (x.first == y.first && x.second < y.second);
  }
};

// One step more.
inline void accumulate(const CostModel& model, const StepLogs& step, Measure& m) {
  if (model.minimize() != Minimize::Size) {
    m.first += model(step);
  } else {
    m.first = std::max(m.first, model.elements(step.result()));
    m.second += model.products(step);
  }
}

}  // namespace trn::tensor
