// Builds the data of passes over real rows.
#include "real_plan.hpp"

#include <complex>
#include <limits>

#include "../roots.hpp"
#include "schedule.hpp"

namespace trn::fft::host {
namespace {

struct Best {
  double cost = std::numeric_limits<double>::infinity();
  int radix = 0;  // 0: halves
};

// A codelet; or complex passes of n/2 points and the parting; or the cheapest radix: its codelets on m columns, complex
// passes on radix/2 + 1 columns of m points, and copies. Complex passes count 4 and 5 operations a point for twiddle
// and memory, real ones half of that.
Best best(std::int64_t n) {
  Best result;
  if (has_real_codelet(n)) result = {real_codelet_cost(n) + 2.5 * static_cast<double>(n), static_cast<int>(n)};
  if (n > 32 && n % 2 == 0 && is_smooth(n)) result.cost = passes_cost(n / 2) + 5 * static_cast<double>(n) + 20;
  for (int r = 2; r <= 16; ++r) {
    const std::int64_t m = n / r;
    if (m == 1 || n % r != 0 || !has_codelet(r) || !is_smooth(m)) continue;
    const double points = static_cast<double>(m), columns = r / 2 + 1;
    const double cost = points * (real_codelet_cost(r) + 2.5 * r) + columns * (5 * points + passes_cost(m)) + 20;
    if (cost < result.cost) result = {cost, r};
  }
  return result;
}

}  // namespace

double real_codelet_cost(std::int64_t n) {
  if (has_real_codelet(n)) return codelet_of(n).real_cost;
  const double p = static_cast<double>(n);
  return 0.65 * (p - 1) * (p - 1) + 5 * p;
}
double real_passes_cost(std::int64_t n) { return best(n).cost; }

template <class T> RealPasses<T> make_real_passes(EngineKind kind, std::int64_t n) {
  RealPasses<T> result;
  result.n = n;
  result.radix = best(n).radix;
  const std::int64_t r = result.radix, m = n / (r == 0 ? 2 : r);
  result.inner = make_passes<T>(m);
  const auto add = [&](std::complex<T> w) {
    result.twiddles.push_back(w.real());
    result.twiddles.push_back(w.imag());
  };
  for (std::int64_t k = 0; r == 0 && 2 * k <= m; ++k) add(root<T>(k, n) / T(2));
  for (std::int64_t q = 0; m > 1 && q < m; ++q)
    for (std::int64_t t = 1; t <= r / 2; ++t) {
      const std::complex<T> w = root<T>(q * t % n, n);
      add(kind == EngineKind::HalfToReal ? std::conj(w) : w);
    }
  return result;
}

template RealPasses<float> make_real_passes<float>(EngineKind, std::int64_t);
template RealPasses<double> make_real_passes<double>(EngineKind, std::int64_t);

}  // namespace trn::fft::host
