// The sign function of a symmetric matrix: see sign_iteration.hpp.
//
// A symmetric matrix lies in two buffers: `low`, whose lower triangle products write and add to, and `full`, which the
// next product reads. So nothing is copied: M = X X into low, then c M M + b M onto the same low, then X Q + a X onto
// the low of X.
#include "device/sign_iteration.hpp"

#include <cmath>

#include <trn/solver/sign_program.hpp>
#include <trn/tile/launch.hpp>

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

// The same for one tile of the Tensor Engine: a program for each schedule.
Iterated sign_of_tile(const Executor& executor, Matrix<float>& x, std::int64_t k, double negligible) {
  Iterated done;
  const std::int64_t n = x.rows();
  const Matrix<float> values = on_host(x.view());
  double sum = 0, rows = 0;  // ||X||_2 <= min(||X||_F, ||X||_1)
  for (std::int64_t i = 0; i < n; ++i) {
    double row = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      const double value = std::abs(static_cast<double>(values.data()[i * n + j]));
      sum += value * value, row += value;
    }
    rows = std::max(rows, row);
  }
  done.size = std::min(std::sqrt(sum), rows);
  if (!(done.size > negligible)) return done;
  const Array<float> rest(executor, {n});
  Matrix<float> next(executor, n, n);
  const auto run = [&](SignStage stage, double factor, int steps) {
    const std::vector<float> one{static_cast<float>(factor)};
    const Array<float> scale_by = Array<float>::from_host(executor, {1}, one);
    tile::launch(executor, sign_program, SignShape{n, stage},
                 {{"x", x.data()}, {"scale", scale_by.data()}, {"s", next.data()}, {"departure", rest.data()}});
    std::swap(x, next);
    done.steps += steps;
    double squares = 0;
    const std::vector<float> departures = rest.to_host();
    for (std::int64_t i = 0; i < k; ++i) squares += departures[static_cast<std::size_t>(i)];
    return std::sqrt(squares);
  };
  double distance = run(SignStage::First, 1 / (done.size * (1 + 0x1p-12)), static_cast<int>(kFirst.size()) + 2);
  for (int round = 0; round < 2 * kMostRounds && std::isfinite(distance); ++round) {
    if (distance < 0.04) {
      done.converged = true;
      return done;
    }
    const bool near = distance < 0.5;
    distance = run(near ? SignStage::Closing : SignStage::Short, 1, near ? 1 : static_cast<int>(kShort.size()) + 1);
  }
  return done;
}

}  // namespace

Iterated sign(const Executor& executor, Matrix<float>& x, std::int64_t k, double negligible) {
  if (x.rows() <= 128) return sign_of_tile(executor, x, k, negligible);
  return SignIteration(executor, x, k).run(negligible);
}

}  // namespace trn::solver::device
