#include "dft_oracle.hpp"

#include <cmath>
#include <cstddef>

namespace trn::fft::testing {
namespace {

constexpr long double kTwoPi = 6.283185307179586476925286766559005768L;

// exp(-2 pi i k/n), 0 <= k < n: the angle is brought to at most pi/4 in integers.
Long unit(std::uint64_t k, std::uint64_t n) {
  const std::uint64_t quarter = 4 * k / n, rest = 4 * k - quarter * n;  // k/n = (quarter + rest/n)/4
  const bool upper = 2 * rest > n;
  const long double angle = kTwoPi / 4 * (static_cast<long double>(upper ? n - rest : rest) / static_cast<long double>(n));
  const long double c = upper ? std::sin(angle) : std::cos(angle), s = upper ? std::cos(angle) : std::sin(angle);
  switch (quarter) {
    case 0: return {c, -s};
    case 1: return {-s, -c};
    case 2: return {-c, s};
    default: return {s, c};
  }
}

std::vector<Long> units(std::uint64_t n) {
  std::vector<Long> w(n);
  for (std::uint64_t k = 0; k < n; ++k) w[k] = unit(k, n);
  return w;
}

std::uint64_t smallest_factor(std::uint64_t n) {
  for (std::uint64_t p = 2; p * p <= n; ++p)
    if (n % p == 0) return p;
  return n;
}

Long product(Long a, Long b) { return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()}; }

constexpr std::uint64_t kLongestByDefinition = 150;

std::vector<Long> chirp_dft(const Long* x, std::uint64_t n, std::uint64_t step) {
  std::uint64_t length = 1;
  while (length < 2 * n) length *= 2;
  const std::vector<Long> w = units(2 * n);
  std::vector<Long> a(length), b(length);
  for (std::uint64_t j = 0; j < n; ++j) {
    const Long c = w[j * j % (2 * n)];
    a[j] = product(x[j * step], c);
    b[j] = std::conj(c);
    if (j > 0) b[length - j] = std::conj(c);
  }
  a = oracle_dft(a);
  b = oracle_dft(b);
  for (std::uint64_t k = 0; k < length; ++k) a[k] = std::conj(product(a[k], b[k])) / static_cast<long double>(length);
  a = oracle_dft(a);
  std::vector<Long> result(n);
  for (std::uint64_t k = 0; k < n; ++k) result[k] = product(std::conj(a[k]), w[k * k % (2 * n)]);
  return result;
}

// out[0 .. m) = DFT of x[0], x[step], ...; w: the roots of the outermost length.
void recurse(const Long* x, Long* out, std::uint64_t m, std::uint64_t step, const std::vector<Long>& w) {
  if (m == 1) {
    out[0] = x[0];
    return;
  }
  const std::uint64_t p = smallest_factor(m), q = m / p, n = w.size();
  if (p == m && p > kLongestByDefinition) {
    const std::vector<Long> result = chirp_dft(x, m, step);
    for (std::uint64_t k = 0; k < m; ++k) out[k] = result[k];
    return;
  }
  for (std::uint64_t r = 0; r < p; ++r) recurse(x + r * step, out + r * q, q, step * p, w);
  std::vector<Long> column(p);
  for (std::uint64_t k = 0; k < q; ++k) {
    for (std::uint64_t r = 0; r < p; ++r) column[r] = product(out[r * q + k], w[r * k * (n / m)]);
    for (std::uint64_t t = 0; t < p; ++t) {
      Long sum = column[0];
      for (std::uint64_t r = 1; r < p; ++r) sum += p == 2 ? (t == 0 ? column[r] : -column[r]) : product(column[r], w[r * t % p * (n / p)]);
      out[t * q + k] = sum;
    }
  }
}

}  // namespace

std::vector<Long> oracle_dft(const std::vector<Long>& x) {
  std::vector<Long> result(x.size());
  if (!x.empty()) recurse(x.data(), result.data(), x.size(), 1, units(x.size()));
  return result;
}

long double relative_error(const std::vector<Long>& a, const std::vector<Long>& b) {
  long double difference = 0, size = 0;
  for (std::size_t k = 0; k < b.size(); ++k) {
    difference += std::norm(a[k] - b[k]);
    size += std::norm(b[k]);
  }
  return size == 0 ? std::sqrt(difference) : std::sqrt(difference / size);
}

}  // namespace trn::fft::testing
