// The tables, in long double: a series of positive terms for the highest order, then downward.
#include "boys.hpp"

#include <cmath>

#include <trn/mp2/linear_algebra.hpp>

namespace trn::mp2 {

// F_m(t) = exp(-t) sum_i (2t)^i / ((2m+1) (2m+3) ... (2m+2i+1)).
BoysTable::BoysTable(int highest_order) {
  const auto points = static_cast<std::int64_t>(kFar * kPerUnit) + 1;
  const int top = highest_order + kTerms - 1;
  terms_.assign(static_cast<std::size_t>(highest_order) + 1,
                std::vector<double>(static_cast<std::size_t>(points * kTerms)));
  decay_.resize(static_cast<std::size_t>(points));
  for_units(points, [&](std::int64_t g) {
    const long double t = static_cast<long double>(g) / static_cast<long double>(kPerUnit), e = std::exp(-t);
    std::vector<long double> f(static_cast<std::size_t>(top) + 1);
    long double term = 1 / static_cast<long double>(2 * top + 1), sum = 0;
    for (int i = 1; term > sum * 1e-21L; ++i) {
      sum += term;
      term *= 2 * t / static_cast<long double>(2 * (top + i) + 1);
    }
    f[static_cast<std::size_t>(top)] = e * sum;
    for (int n = top - 1; n >= 0; --n) {
      f[static_cast<std::size_t>(n)] =
          (2 * t * f[static_cast<std::size_t>(n) + 1] + e) / static_cast<long double>(2 * n + 1);
    }
    decay_[static_cast<std::size_t>(g)] = static_cast<double>(e);
    for (int order = 0; order <= highest_order; ++order) {
      long double factorial = 1;
      for (int k = 0; k < kTerms; ++k) {
        if (k > 0) factorial *= k;
        terms_[static_cast<std::size_t>(order)][static_cast<std::size_t>(g * kTerms + k)] =
            static_cast<double>(f[static_cast<std::size_t>(order + k)] / factorial);
      }
    }
  });
}

}  // namespace trn::mp2
