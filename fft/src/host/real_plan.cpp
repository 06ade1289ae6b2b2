// Builds the data of the engines of real lines: levels of passes.
#include "real_plan.hpp"

#include <algorithm>
#include <complex>
#include <limits>
#include <map>

#include "../roots.hpp"
#include "schedule.hpp"

namespace trn::fft::host {
namespace {

struct Best {
  double cost = std::numeric_limits<double>::infinity();
  int radix = 1;
};

// best(n) = the least of a codelet and, over the radices r of a real pass, the pass, its columns' complex passes and
// column 0. Complex passes count 4 and 5 operations a point for twiddle and memory, real ones half of that.
Best best(std::int64_t n, std::map<std::int64_t, Best>& known) {
  if (const auto found = known.find(n); found != known.end()) return found->second;
  Best result;
  const auto offer = [&](std::int64_t r) {
    const std::int64_t m = n / r;
    double cost = static_cast<double>(m) * (real_codelet_cost(r) + 2.5 * static_cast<double>(r));
    if (m > 1)
      cost += static_cast<double>(r / 2) * (4 * static_cast<double>(m) + passes_cost(m)) + best(m, known).cost + 20;
    if (cost < result.cost) result = {cost, static_cast<int>(r)};
  };
  if (has_real_codelet(n)) offer(n);
  for (std::int64_t r = 2; r <= 16; ++r)
    if (n % r == 0 && has_codelet(r)) offer(r);
  if (const auto primes = prime_factors(n); !primes.empty() && primes.back() > 13) offer(primes.back());
  known[n] = result;
  return result;
}

template <class T> void put(Aligned<T>& table, std::int64_t k, std::int64_t n, bool conjugate) {
  const std::complex<T> w = root<T>(k % n, n);
  table.push_back(w.real());
  table.push_back(conjugate ? -w.imag() : w.imag());
}

}  // namespace

double real_codelet_cost(std::int64_t n) {
  if (has_real_codelet(n)) return codelet_of(n).real_cost;
  const double p = static_cast<double>(n);
  return 0.65 * (p - 1) * (p - 1) + 5 * p;
}

std::vector<int> real_radices(std::int64_t n) {
  std::map<std::int64_t, Best> known;
  std::vector<int> result;
  std::int64_t rest = n;
  do {
    result.push_back(best(rest, known).radix);
    rest /= result.back();
  } while (rest > 1);
  return result;
}
double real_passes_cost(std::int64_t n) {
  std::map<std::int64_t, Best> known;
  return best(n, known).cost;
}

template <class T> RealPasses<T> make_real_passes(EngineKind kind, std::int64_t n) {
  RealPasses<T> result;
  result.n = n;
  for (const int r : real_radices(n)) {
    typename RealPasses<T>::Level level;
    level.radix = r;
    level.n = n;
    level.m = n / r;
    level.columns = level.m > 1 ? r / 2 : 0;
    level.twiddles = result.table.size();
    for (std::int64_t q = 0; q < level.m; ++q)
      for (std::int64_t t = 1; t <= level.columns; ++t) put(result.table, q * t, n, kind == EngineKind::HalfToReal);
    level.constants = result.table.size();
    if (!has_real_codelet(r))
      for (std::int64_t k = 1; k <= r / 2; ++k)
        for (std::int64_t j = 1; j <= r / 2; ++j) put(result.table, j * k, r, true);
    if (level.m > 1) level.inner = make_passes<T>(level.m);
    n = level.m;
    result.levels.push_back(std::move(level));
  }
  return result;
}

template <class T> std::int64_t RealPasses<T>::scratch_rows() const {
  std::int64_t rows = 0, before = 0;
  for (const Level& level : levels) {
    if (level.m == 1) break;
    before += level.m;
    rows = std::max(rows, before + 2 * level.columns * level.m * (level.inner.passes.size() > 1 ? 2 : 1));
  }
  return rows;
}

template struct RealPasses<float>;
template struct RealPasses<double>;
template RealPasses<float> make_real_passes<float>(EngineKind, std::int64_t);
template RealPasses<double> make_real_passes<double>(EngineKind, std::int64_t);

}  // namespace trn::fft::host
