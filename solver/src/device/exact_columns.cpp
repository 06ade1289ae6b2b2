// Products of doubles on a device: see exact_columns.hpp.
#include "device/exact_columns.hpp"

#include <algorithm>
#include <cmath>

#include <trn/blas/gemm.hpp>

#include "norms.hpp"

namespace trn::solver::device {

Doubles product(const Executor& executor, Op op, double alpha, const Doubles& a, const Doubles& b, double beta,
                const Doubles& c, Precision precision) {
  const Matrix<double> da = on(executor, a.view()), db = on(executor, b.view()), dc = on(executor, c.view());
  blas::gemm(executor, op, Op::N, alpha, da.view(), db.view(), beta, dc.view(), {precision});
  Doubles result(c.rows(), c.columns());
  move(dc.view(), result.view());
  return result;
}
Doubles product(const Executor& executor, Op op, const Doubles& a, const Doubles& b, Precision precision) {
  return product(executor, op, 1, a, b, 0, Doubles(op == Op::N ? a.rows() : a.columns(), b.columns()), precision);
}

Precision precision_of_correction(double moved, double most) {
  return Precision::target(std::clamp(1e-17 / std::max(moved, 1e-17), 1e-14, most));
}

// R becomes about 3/4 R^2, so that a step is the last where it found at most 1e-8.
Doubles orthonormal(const Executor& executor, Doubles x) {
  constexpr int kMostSteps = 4;
  for (int step = 0; step < kMostSteps; ++step) {
    const Doubles r = product(executor, Op::T, -1, x, x, 1, unit(x.columns()));
    const double departs = one_norm(r);
    x = product(executor, Op::N, 0.5, x, r, 1, x, precision_of_correction(departs, 1e-6));
    if (departs <= 1e-8) break;
  }
  return x;
}

Doubles unit(std::int64_t n) {
  Doubles one(n, n);
  for (std::int64_t i = 0; i < n; ++i) one(i, i) = 1;
  return one;
}
Doubles columns_of(const Doubles& x, std::int64_t first, std::int64_t count) {
  Doubles part(x.rows(), count);
  for (std::int64_t j = 0; j < count; ++j) {
    for (std::int64_t i = 0; i < x.rows(); ++i) part(i, j) = x(i, first + j);
  }
  return part;
}
void set_columns(Doubles& x, std::int64_t first, const Doubles& part) {
  for (std::int64_t j = 0; j < part.columns(); ++j) {
    for (std::int64_t i = 0; i < x.rows(); ++i) x(i, first + j) = part(i, j);
  }
}
void make_symmetric(Doubles& a) {
  for (std::int64_t j = 0; j < a.columns(); ++j) {
    for (std::int64_t i = 0; i < j; ++i) a(i, j) = a(j, i) = (a(i, j) + a(j, i)) / 2;
  }
}
double one_norm(const Doubles& a) { return norm_of(a.view(), Norm::One); }
double norm_above(const Doubles& a) { return std::sqrt(one_norm(a) * norm_of(a.view(), Norm::Infinity)); }

}  // namespace trn::solver::device
