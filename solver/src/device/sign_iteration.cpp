// The sign function of a symmetric matrix: see sign_iteration.hpp.
//
// A symmetric matrix lies in two buffers: `low`, whose lower triangle products write and add to, and `full`, which the
// next product reads. So nothing is copied: M = X X into low, then c M M + b M onto the same low, then X Q + a X onto
// the low of X.
#include "device/sign_iteration.hpp"

#include <cmath>

namespace trn::solver::device {

namespace {

constexpr int kMostRounds = 7;

class SignIteration {
 public:
  SignIteration(const Executor& executor, const Matrix<float>& x, std::int64_t k)
      : executor_(executor),
        x_(x),
        k_(k),
        x_low_(executor, x.rows(), x.rows()),
        m_low_(executor, x.rows(), x.rows()),
        m_(executor, x.rows(), x.rows()) {}

  Iterated run(double negligible) {
    Iterated done;
    const double whole = frobenius(x_);
    if (!(whole > 0)) return done;
    const double power = std::ldexp(1.0, -std::ilogb(whole));  // M must neither over- nor underflow
    scale(x_, power);
    blas::copy<float>(executor_, flat(x_), flat(x_low_));
    square();
    const double size = std::sqrt(frobenius(m_)) * (1 + 0x1p-12);  // ||X||_2 = ||M||_2^(1/2) <= this
    done.size = size / power;
    if (done.size <= negligible) return done;
    const double s = 1 / size;
    apply({kFirst[0].a * s, kFirst[0].b * s * s * s, kFirst[0].c * s * s * s * s * s});
    for (std::size_t i = 1; i < kFirst.size(); ++i) step(kFirst[i]);
    done.steps = static_cast<int>(kFirst.size());
    for (int round = 0; round < kMostRounds; ++round) {
      double distance = departure();
      while (distance < 0.5) {  // every eigenvalue is near 1 or -1
        apply(about_one(kClosing));
        ++done.steps;
        if (distance < 0.04) {
          done.converged = true;
          return done;
        }
        distance = departure();
      }
      if (!std::isfinite(distance)) return done;
      for (std::size_t i = 0; i < kShort.size(); ++i) {
        const double r = i == 0 ? kRescale : 1;
        const SignStep p{kShort[i].a * r, kShort[i].b * r * r * r, kShort[i].c * r * r * r * r * r};
        if (i == 0)
          apply(about_one(p));
        else
          step(p);
      }
      done.steps += static_cast<int>(kShort.size());
    }
    return done;
  }

 private:
  // In terms of D = M - I: a + b M + c M^2 = (a + b + c) + (b + 2 c) D + c D^2.
  static SignStep about_one(const SignStep& p) { return {p.a + p.b + p.c, p.b + 2 * p.c, p.c}; }

  void square() {
    symmetric_product(executor_, Op::N, 1, x_, x_, 0, m_low_);
    expand(executor_, m_low_, m_);
  }
  // M becomes D = X X - I; its norm.
  double departure() {
    square();
    std::vector<float> d = diagonal_of(m_low_, k_);
    for (float& value : d) value -= 1;
    set_diagonal(m_low_, d);
    set_diagonal(m_, d);
    return frobenius(m_);
  }
  // X <- X (a + b M + c M^2) with the M that is there.
  void apply(const SignStep& p) {
    symmetric_product(executor_, Op::N, p.c, m_, m_, p.b, m_low_);
    expand(executor_, m_low_, m_);
    symmetric_product(executor_, Op::N, 1, x_, m_, p.a, x_low_);
    expand(executor_, x_low_, x_);
  }
  void step(const SignStep& p) {
    square();
    apply(p);
  }

  const Executor& executor_;
  const Matrix<float>& x_;
  std::int64_t k_;
  Matrix<float> x_low_, m_low_, m_;
};

}  // namespace

Iterated sign(const Executor& executor, const Matrix<float>& x, std::int64_t k, double negligible) {
  return SignIteration(executor, x, k).run(negligible);
}

}  // namespace trn::solver::device
