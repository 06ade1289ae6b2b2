// The steps from Boys' function to Hermite integrals, and the sums over a fitting function's derivatives.
#include <utility>

#include "gaussian.hpp"
#include "hermite.hpp"

namespace trn::mp2 {

namespace {

// x^i exp(-g x^2) = sum_t e(i, t) (2g)^-((i+t)/2) (d/dC)^t exp(-g x^2).
double derivative_weight(int i, int t) {
  if (i == 0) return t == 0 ? 1 : 0;
  if (t < 0 || t > i) return 0;
  return derivative_weight(i - 1, t - 1) + (t + 1) * derivative_weight(i - 1, t + 1);
}

HermiteRecipe::Step step_to(int t, int u, int v) {
  // Along an axis where one is left there is nothing below.
  const std::array<int, 3> degree{t, u, v};
  std::int32_t axis = -1;
  for (std::int32_t k = 0; k < 3; ++k) {
    if (degree[static_cast<std::size_t>(k)] > 0 &&
        (axis < 0 || degree[static_cast<std::size_t>(k)] < degree[static_cast<std::size_t>(axis)]))
      axis = k;
  }
  const auto lower = [&](int by) {
    std::array<int, 3> d = degree;
    d[static_cast<std::size_t>(axis)] -= by;
    return d;
  };
  const auto one = lower(1);
  const int count = one[static_cast<std::size_t>(axis)];
  const auto two = count > 0 ? lower(2) : one;
  return {hermite_index(t, u, v), hermite_index(one[0], one[1], one[2]), hermite_index(two[0], two[1], two[2]), axis,
          static_cast<double>(count)};
}

}  // namespace

HermiteRecipe::HermiteRecipe(int bra, int l, Functions functions) : order(bra + l), rows(hermites(bra)) {
  begin.resize(static_cast<std::size_t>(order) + 1);
  for (int degree = order; degree >= 0; --degree) {
    begin[static_cast<std::size_t>(degree)] = steps.size();
    for (int k = 0; degree > 0 && k <= degree; ++k) {
      for (int v = 0; v <= k; ++v) steps.push_back(step_to(degree - k, k - v, v));
    }
  }
  const std::vector<Polynomial> parts = mp2::components(l, functions);
  components = static_cast<int>(parts.size());
  for (int degree = 0; degree <= bra; ++degree) {
    for (int k = 0; k <= degree; ++k) {
      for (int v = 0; v <= k; ++v) {
        for (const Polynomial& part : parts) {
          for (const Monomial& m : part) {
            const bool top = functions == Functions::Spherical;
            for (int x = top ? m.x : m.x % 2; x <= m.x; x += 2) {
              for (int y = top ? m.y : m.y % 2; y <= m.y; y += 2) {
                for (int z = top ? m.z : m.z % 2; z <= m.z; z += 2) {
                  terms.push_back(
                      {hermite_index(degree - k + x, k - v + y, v + z), (l - x - y - z) / 2,
                       m.c * derivative_weight(m.x, x) * derivative_weight(m.y, y) * derivative_weight(m.z, z)});
                }
              }
            }
          }
          term_end.push_back(terms.size());
        }
      }
    }
  }
}

}  // namespace trn::mp2
