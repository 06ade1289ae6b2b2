// Polynomial steps by trnblas's products: see large_steps.hpp.
#include "device/large_steps.hpp"

#include <cmath>

namespace trn::solver::device {

LargeSteps::LargeSteps(const Executor& executor, Matrix<float>& x, std::int64_t k, bool symmetric)
    : executor_(executor),
      x_(x),
      k_(k),
      symmetric_(symmetric),
      next_(executor, x.rows(), x.columns()),
      m_low_(executor, x.columns(), x.columns()),
      m_(executor, x.columns(), x.columns()) {}

bool LargeSteps::begin() {
  const double whole = frobenius(x_);
  if (!(whole > 0)) return false;
  scale(x_, std::ldexp(1.0, -std::ilogb(whole)));  // M must neither over- nor underflow
  if (symmetric_) blas::copy<float>(executor_, flat(x_), flat(next_));
  square();
  apply(rescaled(kFirst[0], 1 / (std::sqrt(frobenius(m_)) * (1 + 0x1p-12))));  // ||X||_2 = ||M||_2^(1/2) <= this
  for (std::size_t i = 1; i < kFirst.size(); ++i) step(kFirst[i]);
  return true;
}

void LargeSteps::again() {
  apply(about_one(rescaled(kShort[0], kRescale)));
  for (std::size_t i = 1; i < kShort.size(); ++i) step(kShort[i]);
}

double LargeSteps::departure() {
  square();
  std::vector<float> d = diagonal_of(m_low_, k_);
  trace_ = 0;
  for (float& value : d) trace_ += (value -= 1);
  set_diagonal(m_low_, d);
  set_diagonal(m_, d);
  return frobenius(m_);
}

void LargeSteps::square() {
  symmetric_product(executor_, Op::T, 1, x_, x_, 0, m_low_);
  expand(executor_, m_low_, m_);
}

void LargeSteps::apply(const SignStep& p) {
  symmetric_product(executor_, Op::N, p.c, m_, m_, p.b, m_low_);
  expand(executor_, m_low_, m_);
  if (symmetric_) {
    symmetric_product(executor_, Op::N, 1, x_, m_, p.a, next_);
    expand(executor_, next_, x_);
    return;
  }
  blas::copy<float>(executor_, flat(x_), flat(next_));
  product(executor_, Op::N, Op::N, 1, x_.view(), m_.view(), p.a, next_.view());
  std::swap(x_, next_);
}

void LargeSteps::step(const SignStep& p) {
  square();
  apply(p);
}

}  // namespace trn::solver::device
