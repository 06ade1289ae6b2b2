#include "schedule.hpp"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>

namespace trn::fft::host {
namespace {

__extension__ using Wide = __int128;

// Per point: the butterfly's share, its twiddle, a load and a store of two vectors.
double pass_cost(std::int64_t radix) { return codelet_cost(radix) / static_cast<double>(radix) + 4 + 5; }

struct Best {
  double cost = 0;
  int radix = 1;
};

// best(n) = min over radices r | n of pass_cost(r) + best(n / r); the divisors of n are few.
Best best(std::int64_t n, std::map<std::int64_t, Best>& known) {
  if (n == 1) return {};
  if (const auto found = known.find(n); found != known.end()) return found->second;
  Best result{std::numeric_limits<double>::infinity(), 1};
  const auto offer = [&](std::int64_t r) {
    const double cost = pass_cost(r) + best(n / r, known).cost;
    if (cost < result.cost) result = {cost, static_cast<int>(r)};
  };
  for (const Codelet& c : kCodelets)
    if (c.cost > 0 && n % c.length == 0) offer(c.length);
  if (const std::int64_t p = prime_factors(n).back(); p > 13) offer(p);
  known[n] = result;
  return result;
}

}  // namespace

double codelet_cost(std::int64_t radix) {
  if (has_real_codelet(radix)) return codelet_of(radix).cost;
  const double p = static_cast<double>(radix);
  return 1.3 * (p - 1) * (p - 1) + 10 * p;
}

std::vector<std::int64_t> prime_factors(std::int64_t n) {
  std::vector<std::int64_t> factors;
  for (std::int64_t p = 2; p * p <= n; ++p)
    for (; n % p == 0; n /= p) factors.push_back(p);
  if (n > 1) factors.push_back(n);
  return factors;
}

bool is_smooth(std::int64_t n) { return smooth_part(n) == n; }

std::int64_t smooth_part(std::int64_t n) {
  std::int64_t part = 1;
  for (const std::int64_t p : prime_factors(n))
    if (p <= kLargestDirect) part *= p;
  return part;
}

std::vector<int> radices(std::int64_t n) {
  std::vector<int> result;
  if (n == 1) return {1};
  std::map<std::int64_t, Best> known;
  for (std::int64_t rest = n; rest > 1; rest /= result.back()) result.push_back(best(rest, known).radix);
  std::sort(result.begin(), result.end());  // the last pass has no twiddles: let it be the longest
  return result;
}

double passes_cost(std::int64_t n) {
  std::map<std::int64_t, Best> known;
  return static_cast<double>(n) * best(n, known).cost;
}

std::int64_t power_modulo(std::int64_t base, std::int64_t exponent, std::int64_t modulus) {
  std::int64_t result = 1 % modulus;
  for (base %= modulus; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0) result = static_cast<std::int64_t>(static_cast<Wide>(result) * base % modulus);
    base = static_cast<std::int64_t>(static_cast<Wide>(base) * base % modulus);
  }
  return result;
}

std::int64_t primitive_root(std::int64_t p) {
  if (p == 2) return 1;
  std::vector<std::int64_t> factors = prime_factors(p - 1);
  factors.erase(std::unique(factors.begin(), factors.end()), factors.end());
  for (std::int64_t g = 2;; ++g)
    if (std::all_of(factors.begin(), factors.end(),
                    [&](std::int64_t q) { return power_modulo(g, (p - 1) / q, p) != 1; }))
      return g;
}

std::vector<std::int64_t> convolution_lengths(std::int64_t n) {
  std::vector<std::int64_t> lengths;
  const std::int64_t limit = n + n / 8 + 64;
  for (std::int64_t a = 1; a <= limit; a *= 5)
    for (std::int64_t b = a; b <= limit; b *= 3)
      for (std::int64_t c = b; c <= limit; c *= 2)
        if (c >= n) lengths.push_back(c);
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

}  // namespace trn::fft::host
