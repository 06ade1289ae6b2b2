// Mixed radix, fours first: see long_dft.hpp.
#include "long_dft.hpp"

#include <cstddef>

#include "roots.hpp"

namespace trn::fft {
namespace {

using Long = std::complex<long double>;

// Written out: the operator of std::complex looks for infinities.
Long product(const Long& a, const Long& b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

// w_n^k for k < n; sines and cosines of an eighth of the circle where n allows, for they take most of the time.
std::vector<Long> roots(std::size_t n) {
  std::vector<Long> w(n);
  const auto evaluate = [&](std::size_t k) {
    return long_root(static_cast<std::int64_t>(k), static_cast<std::int64_t>(n));
  };
  if (n % 8 == 0) {
    for (std::size_t k = 0; k <= n / 8; ++k) {
      const Long z = evaluate(k);
      w[k] = z;
      w[n / 4 - k] = {-z.imag(), -z.real()};
    }
    for (std::size_t k = 1; k <= n / 4; ++k) w[n / 4 + k] = {w[k].imag(), -w[k].real()};
  } else {
    for (std::size_t k = 0; 2 * k <= n; ++k) w[k] = evaluate(k);
  }
  for (std::size_t k = 1; 2 * k < n; ++k) w[n - k] = std::conj(w[k]);
  return w;
}

struct Transform {
  std::vector<Long> root, column;

  // out[0 .. m) = DFT of in[0], in[step], ...
  void run(const Long* in, Long* out, std::size_t m, std::size_t step) {
    if (m == 1) {
      out[0] = in[0];
      return;
    }
    std::size_t p = m % 4 == 0 ? 4 : 2;
    while (m % p != 0) ++p;
    const std::size_t q = m / p, unit = root.size() / m;
    for (std::size_t r = 0; r < p; ++r) run(in + r * step, out + r * q, q, step * p);
    if (p == 4) {
      for (std::size_t k = 0; k < q; ++k) four(out + k, q, k * unit);
      return;
    }
    if (column.size() < p) column.resize(p);
    for (std::size_t k = 0; k < q; ++k) {
      for (std::size_t r = 0; r < p; ++r) column[r] = product(out[r * q + k], root[r * k * unit]);
      for (std::size_t t = 0; t < p; ++t) {
        Long sum = column[0];
        for (std::size_t r = 1; r < p; ++r) sum += product(column[r], root[r * t % p * (root.size() / p)]);
        out[t * q + k] = sum;
      }
    }
  }
  void four(Long* at, std::size_t q, std::size_t e) const {
    const Long x1 = product(at[q], root[e]), x2 = product(at[2 * q], root[2 * e]), x3 = product(at[3 * q], root[3 * e]);
    const Long a = at[0] + x2, b = at[0] - x2, c = x1 + x3, d = x1 - x3;
    at[0] = a + c;
    at[q] = {b.real() + d.imag(), b.imag() - d.real()};
    at[2 * q] = a - c;
    at[3 * q] = {b.real() - d.imag(), b.imag() + d.real()};
  }
};

}  // namespace

std::vector<std::complex<long double>> long_dft(const std::vector<std::complex<long double>>& x) {
  std::vector<Long> out(x.size());
  if (!x.empty()) Transform{roots(x.size()), {}}.run(x.data(), out.data(), x.size(), 1);
  return out;
}

}  // namespace trn::fft
