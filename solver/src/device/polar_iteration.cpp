// The polar factor of a rectangular matrix: see polar_iteration.hpp.
#include "device/polar_iteration.hpp"

#include <cmath>

#include "device/sign_schedule.hpp"

namespace trn::solver::device {

namespace {

constexpr int kMostRounds = 12;

class PolarIteration {
 public:
  PolarIteration(const Executor& executor, Matrix<float>& x, std::int64_t n)
      : executor_(executor),
        x_(x),
        n_(n),
        next_(executor, x.rows(), x.columns()),
        m_low_(executor, x.columns(), x.columns()),
        m_(executor, x.columns(), x.columns()) {}

  Polar run() {
    Polar done;
    const double whole = frobenius(x_);
    if (!(whole > 0)) {
      done.converged = true, done.null = n_;
      return done;
    }
    scale(x_, std::ldexp(1.0, -std::ilogb(whole)));
    square();
    const double s = 1 / (std::sqrt(frobenius(m_)) * (1 + 0x1p-12));
    apply({kFirst[0].a * s, kFirst[0].b * s * s * s, kFirst[0].c * s * s * s * s * s});
    for (std::size_t i = 1; i < kFirst.size(); ++i) step(kFirst[i]);
    done.steps = static_cast<int>(kFirst.size());
    double before = INFINITY;
    for (int round = 0; round < kMostRounds; ++round) {
      double distance = departure();
      if (!std::isfinite(distance)) return done;
      // M is a projector when its distance from I, squared, and n - trace(M) are the same whole number.
      auto null = std::llround(distance * distance);
      const auto rest = [&] { return std::sqrt(std::abs(distance * distance - static_cast<double>(null))); };
      while (rest() < 0.5 && std::abs(-trace_ - static_cast<double>(null)) < 0.25) {
        // Twice more than the sign function: U itself must be orthogonal to working precision.
        const bool last = rest() < (null == 0 ? 0.004 : 0.04) || rest() > before / 2;
        before = rest();
        apply(about_one(kClosing));
        ++done.steps;
        if (last) {
          done.converged = true, done.null = null;
          return done;
        }
        distance = departure();
        null = std::llround(distance * distance);
      }
      for (std::size_t i = 0; i < kShort.size(); ++i) {
        const double r = i == 0 ? kRescale : 1;
        const SignStep p{kShort[i].a * r, kShort[i].b * r * r * r, kShort[i].c * r * r * r * r * r};
        if (i == 0)
          apply(about_one(p));
        else
          step(p);
      }
      done.steps += static_cast<int>(kShort.size());
      before = INFINITY;
    }
    return done;
  }

 private:
  void square() {
    symmetric_product(executor_, Op::T, 1, x_, x_, 0, m_low_);
    expand(executor_, m_low_, m_);
  }
  // M becomes D = X^T X - I; its norm, and its trace.
  double departure() {
    square();
    std::vector<float> d = diagonal_of(m_low_, n_);
    trace_ = 0;
    for (float& value : d) trace_ += (value -= 1);
    set_diagonal(m_low_, d);
    set_diagonal(m_, d);
    return frobenius(m_);
  }
  void apply(const SignStep& p) {
    symmetric_product(executor_, Op::N, p.c, m_, m_, p.b, m_low_);
    expand(executor_, m_low_, m_);
    blas::copy<float>(executor_, flat(x_), flat(next_));
    product(executor_, Op::N, Op::N, 1, x_.view(), m_.view(), p.a, next_.view());
    std::swap(x_, next_);
  }
  void step(const SignStep& p) {
    square();
    apply(p);
  }

  const Executor& executor_;
  Matrix<float>& x_;
  std::int64_t n_;
  Matrix<float> next_, m_low_, m_;
  double trace_ = 0;
};

}  // namespace

Polar polar_factor(const Executor& executor, Matrix<float>& x, std::int64_t n) {
  return PolarIteration(executor, x, n).run();
}

}  // namespace trn::solver::device
