// Solid harmonics from their closed form, and norms.
#include "gaussian.hpp"

#include <cmath>

namespace trn::mp2 {

namespace {

constexpr double kPi = 3.141592653589793238462643383279502884;

double factorial(int n) { return n < 2 ? 1 : n * factorial(n - 1); }
double odd_factorial(int n) { return n < 2 ? 1 : n * odd_factorial(n - 2); }  // n!!
double binomial(int n, int k) { return k < 0 || k > n ? 0 : factorial(n) / (factorial(k) * factorial(n - k)); }

// S_lm = N sum_tuv (-1)^(t+v) 4^-t binom(l, t) binom(l-t, |m|+t) binom(t, u) binom(|m|, w) x^(2t+|m|-2u-w) y^(2u+w)
// z^(l-2t-|m|) with w = 2v for m >= 0 and w = 2v + 1 for m < 0, N = sqrt(2 (l+|m|)! (l-|m|)!) / (2^|m| l!), and without
// the 2 for m = 0.
Polynomial solid_harmonic(int l, int m) {
  const int a = std::abs(m), odd = m < 0 ? 1 : 0;
  const double norm =
      std::sqrt((m == 0 ? 1 : 2) * factorial(l + a) * factorial(l - a)) / (std::pow(2.0, a) * factorial(l));
  Polynomial result;
  const auto add = [&](const Monomial& term) {
    for (Monomial& r : result) {
      if (r.x == term.x && r.y == term.y && r.z == term.z) {
        r.c += term.c;
        return;
      }
    }
    result.push_back(term);
  };
  for (int t = 0; 2 * t + a <= l; ++t) {
    for (int u = 0; u <= t; ++u) {
      for (int v = 0; 2 * v + odd <= a; ++v) {
        const int w = 2 * v + odd;
        const double sign = (t + v) % 2 == 0 ? 1 : -1;
        add({2 * t + a - 2 * u - w, 2 * u + w, l - 2 * t - a,
             norm * sign * std::pow(0.25, t) * binomial(l, t) * binomial(l - t, a + t) * binomial(t, u) *
                 binomial(a, w)});
      }
    }
  }
  return result;
}

}  // namespace

std::vector<Polynomial> components(int l, Functions functions) {
  std::vector<Polynomial> all;
  if (functions == Functions::Spherical) {
    for (int m = -l; m <= l; ++m) all.push_back(solid_harmonic(l, m));
    return all;
  }
  for (int x = l; x >= 0; --x) {
    for (int y = l - x; y >= 0; --y) all.push_back({{x, y, l - x - y, 1}});
  }
  return all;
}

// int x^2l exp(-a r^2) = (2l-1)!! (2a)^-l (pi/a)^(3/2).
std::vector<double> normalised(const Contraction& contraction) {
  const int l = contraction.l;
  const auto& a = contraction.exponents;
  const auto square = [l](double exponent) {
    return odd_factorial(2 * l - 1) * std::pow(2 * exponent, -l) * std::pow(kPi / exponent, 1.5);
  };
  std::vector<double> c = contraction.coefficients;
  for (std::size_t k = 0; k < c.size(); ++k) c[k] /= std::sqrt(square(2 * a[k]));
  double norm2 = 0;
  for (std::size_t k = 0; k < c.size(); ++k) {
    for (std::size_t j = 0; j < c.size(); ++j) norm2 += c[k] * c[j] * square(a[k] + a[j]);
  }
  for (double& x : c) x /= std::sqrt(norm2);
  return c;
}

}  // namespace trn::mp2
