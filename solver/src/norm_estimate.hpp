// The 1-norm of a matrix that can only be multiplied with: Hager's algorithm as Higham improved it (N. J. Higham,
// "FORTRAN codes for estimating the one-norm", 1988), which LAPACK's condition estimators use. A lower bound, seldom
// less than a third of the norm; at most five products with A and five with its transpose.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace trn::solver {

// apply(x) and transposed(x) return A x and A^T x.
template <class Apply, class Transposed>
double one_norm_estimate(std::int64_t n, const Apply& apply, const Transposed& transposed) {
  using Vector = std::vector<double>;
  const auto size = static_cast<std::size_t>(n);
  const auto sum = [](const Vector& x) {
    double s = 0;
    for (const double v : x) s += std::abs(v);
    return s;
  };
  const auto signs = [](const Vector& x) {
    Vector s;
    for (const double v : x) s.push_back(std::signbit(v) ? -1 : 1);
    return s;
  };
  if (n == 0) return 0;
  Vector v = apply(Vector(size, 1.0 / static_cast<double>(n)));
  if (n == 1) return std::abs(v[0]);
  double estimate = sum(v);
  Vector s = signs(v);
  std::size_t before = size;
  for (int step = 0; step < 4; ++step) {
    const Vector z = transposed(s);
    const auto largest =
        std::max_element(z.begin(), z.end(), [](double x, double y) { return std::abs(x) < std::abs(y); });
    const auto j = static_cast<std::size_t>(largest - z.begin());
    if (before < size && std::abs(z[j]) <= std::abs(z[before])) break;
    Vector unit(size);
    unit[j] = 1, before = j;
    v = apply(unit);
    const Vector next = signs(v);
    const double found = sum(v);
    if (!(found > estimate)) break;
    estimate = found;
    if (next == s) break;
    s = next;
  }
  Vector x(size);  // against cancellation that hides the largest column
  for (std::size_t i = 0; i < size; ++i) {
    x[i] = (i % 2 == 0 ? 1 : -1) * (1 + static_cast<double>(i) / static_cast<double>(n - 1));
  }
  return std::max(estimate, 2 * sum(apply(x)) / (3 * static_cast<double>(n)));
}

}  // namespace trn::solver
