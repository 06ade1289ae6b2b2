// The polar factor of a rectangular matrix: see polar_iteration.hpp.
#include "device/polar_iteration.hpp"

#include <cmath>

#include <trn/solver/polar_program.hpp>
#include <trn/tile/launch.hpp>

#include "device/large_steps.hpp"

namespace trn::solver::device {

namespace {

constexpr int kMostRounds = 12;

// How far D = X^T X - I is from minus a projector of some rank: what is left to do, and that rank, which is the number
// of columns that X lacks.
class Progress {
 public:
  // Whether X^T X is a projector, nearly: its distance from I, squared, and n - trace are the same whole number.
  bool near(double distance, double trace) {
    null_ = std::llround(distance * distance);
    rest_ = std::sqrt(std::abs(distance * distance - static_cast<double>(null_)));
    return rest_ < 0.5 && std::abs(-trace - static_cast<double>(null_)) < 0.25;
  }
  // Whether one closing step is enough. Twice more than the sign function: U itself must be orthogonal to working
  // precision.
  bool last() {
    const bool enough = rest_ < (null_ == 0 ? 0.004 : 0.04) || rest_ > before_ / 2;
    before_ = rest_;
    return enough;
  }
  void restart() { before_ = INFINITY; }
  [[nodiscard]] std::int64_t null() const { return null_; }

 private:
  std::int64_t null_ = 0;
  double rest_ = 0, before_ = INFINITY;
};

Polar large(const Executor& executor, Matrix<float>& x, std::int64_t n) {
  Polar done;
  LargeSteps steps(executor, x, n, false);
  if (!steps.begin()) return {.converged = true, .null = n};
  done.steps = static_cast<int>(kFirst.size());
  Progress progress;
  for (int round = 0; round < kMostRounds; ++round) {
    double distance = steps.departure();
    if (!std::isfinite(distance)) return done;
    while (progress.near(distance, steps.trace())) {
      const bool last = progress.last();
      steps.close();
      ++done.steps;
      if (last) {
        done.converged = true, done.null = progress.null();
        return done;
      }
      distance = steps.departure();
    }
    steps.again();
    done.steps += static_cast<int>(kShort.size());
    progress.restart();
  }
  return done;
}

// The same by resident programs, each of which ends with a closing step.
Polar resident(const Executor& executor, Matrix<float>& x, std::int64_t n) {
  Polar done;
  if (!(frobenius(x) > 0)) return {.converged = true, .null = n};
  Matrix<float> next(executor, x.rows(), x.columns());
  const Array<float> departures(executor, {x.columns()}), diagonal(executor, {x.columns()});
  Progress progress;
  SignStage stage = SignStage::First;
  for (int round = 0; round < 2 * kMostRounds; ++round) {
    tile::launch(
        executor, polar_program, PolarShape{x.rows(), x.columns(), stage},
        {{"x", x.data()}, {"u", next.data()}, {"departure", departures.data()}, {"diagonal", diagonal.data()}});
    std::swap(x, next);
    done.steps += 1 + static_cast<int>(stage == SignStage::First   ? kFirst.size()
                                       : stage == SignStage::Short ? kShort.size()
                                                                   : 0);
    double squares = 0, trace = 0;
    const std::vector<float> rows = departures.to_host(), d = diagonal.to_host();
    for (std::int64_t i = 0; i < n; ++i) {
      squares += rows[static_cast<std::size_t>(i)], trace += d[static_cast<std::size_t>(i)];
    }
    if (!std::isfinite(squares)) return done;
    if (!progress.near(std::sqrt(squares), trace)) {
      stage = SignStage::Short;
      progress.restart();
    } else if (progress.last()) {
      done.converged = true, done.null = progress.null();
      return done;
    } else {
      stage = SignStage::Closing;
    }
  }
  return done;
}

}  // namespace

Polar polar_factor(const Executor& executor, Matrix<float>& x, std::int64_t n) {
  const bool fits = polar_resident({x.rows(), x.columns()}, tile::device_of(executor).machine());
  return fits ? resident(executor, x, n) : large(executor, x, n);
}

}  // namespace trn::solver::device
