// What the trsm tests share: random triangles in any layout, a run of the program alone, and its residual in wider
// arithmetic.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <trn/blas/trsm_program.hpp>
#include <trn/neuron/sim.hpp>
#include <vector>

namespace trn::blas::test {

// T X = alpha B for a TrsmShape. Everything of T that must not matter is NaN.
struct TriangularProblem {
  TrsmShape s;
  std::vector<float> a, b, x, residual, largest;
  float alpha[2] = {1, 0};

  using Number =
      std::complex<long double>;  // sums of m products of floats: the products are exact, the sums err by m 2^-64

  [[nodiscard]] std::int64_t planes() const { return is_complex(s.dtype) ? 2 : 1; }
  [[nodiscard]] float* at_a(std::int64_t i, std::int64_t j) {
    return &a[static_cast<std::size_t>(planes() * (i * s.am + j * s.an))];
  }
  [[nodiscard]] float* at_b(std::vector<float>& v, std::int64_t i, std::int64_t j) {
    return &v[static_cast<std::size_t>(planes() * (i * s.bm + j * s.bn))];
  }
  [[nodiscard]] Number number(const float* p) const { return {p[0], is_complex(s.dtype) ? p[1] : 0}; }
  // T(i, j) as the solve must see it.
  [[nodiscard]] Number t(std::int64_t i, std::int64_t j) {
    if (i == j && s.unit) return 1;
    if (s.lower ? i < j : i > j) return 0;
    return s.conj ? std::conj(number(at_a(i, j))) : number(at_a(i, j));
  }

  // Off-diagonal elements normal times `off`, diagonal ones normal plus `diagonal` in magnitude.
  TriangularProblem(const TrsmShape& shape, double off, double diagonal, std::uint64_t seed) : s(shape) {
    std::mt19937_64 random(seed);
    std::normal_distribution<double> normal;
    const auto span = [&](std::int64_t rows, std::int64_t columns, std::int64_t rs, std::int64_t cs) {
      return static_cast<std::size_t>(planes() * ((rows - 1) * rs + (columns - 1) * cs + 1));
    };
    a.assign(span(s.m, s.m, s.am, s.an), NAN);
    b.assign(span(s.m, s.n, s.bm, s.bn), -77);
    residual.assign(static_cast<std::size_t>(s.n), NAN);
    largest = residual;
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t j = 0; j < s.m; ++j) {
        if ((s.lower ? i < j : i > j) || (i == j && s.unit)) continue;
        for (std::int64_t p = 0; p < planes(); ++p) {
          const double v = normal(random);
          at_a(i, j)[p] = static_cast<float>(i == j ? v + (p == 0 ? std::copysign(diagonal, v) : 0) : v * off);
        }
      }
      for (std::int64_t j = 0; j < s.n; ++j) {
        for (std::int64_t p = 0; p < planes(); ++p) at_b(b, i, j)[p] = static_cast<float>(normal(random));
      }
    }
    if (s.alpha == Factor::Input) alpha[0] = 0.7f, alpha[1] = is_complex(s.dtype) ? -0.4f : 0;
  }

  void run(const char* machine_name, const neuron::SimOptions& options = {.order = neuron::Order::in_order()}) {
    const tile::Machine& machine = tile::machine(machine_name);
    x = b;
    std::vector<tile::Binding> bindings{
        {"a", a.data()}, {"b", x.data()}, {"x", x.data()}, {"residual", residual.data()}, {"largest", largest.data()}};
    if (s.alpha == Factor::Input) bindings.push_back({"alpha", alpha});
    (void)neuron::simulate(trsm_program(s, machine), machine, bindings, options);
  }

  // The largest |alpha B - T X|(i, j), relative to ||t_i|| ||x_j|| and to (|T||X|)(i, j).
  struct Residual {
    double to_norms = 0, to_terms = 0;
  };
  Residual measure() {
    Residual worst;
    for (std::int64_t j = 0; j < s.n; ++j) {
      long double x2 = 0;
      for (std::int64_t i = 0; i < s.m; ++i) x2 += std::norm(number(at_b(x, i, j)));
      for (std::int64_t i = 0; i < s.m; ++i) {
        Number r = Number(alpha[0], alpha[1]) * number(at_b(b, i, j));
        long double t2 = 0, terms = 0;
        for (std::int64_t k = s.lower ? 0 : i; k < (s.lower ? i + 1 : s.m); ++k) {
          const Number c = t(i, k), y = number(at_b(x, k, j));
          r -= c * y;
          t2 += std::norm(c);
          terms += std::abs(c) * std::abs(y);
        }
        const auto size = std::abs(r);
        const auto up = [](double& most, double value) { most = value <= most ? most : value; };  // NaN stays
        if (size == 0) continue;
        up(worst.to_norms, static_cast<double>(size / std::sqrt(t2 * x2)));
        up(worst.to_terms, static_cast<double>(size / terms));
      }
    }
    return worst;
  }

  [[nodiscard]] double bound() const { return trsm_residual_bound(s, residual.data(), largest.data()); }
  // Elements of B's storage that are not B's.
  void expect_gaps_untouched() {
    std::vector<bool> inside(b.size(), false);
    for (std::int64_t i = 0; i < s.m; ++i) {
      for (std::int64_t j = 0; j < s.n; ++j) {
        for (std::int64_t p = 0; p < planes(); ++p)
          inside[static_cast<std::size_t>(at_b(b, i, j) + p - b.data())] = true;
      }
    }
    for (std::size_t k = 0; k < b.size(); ++k) {
      if (!inside[k] && std::memcmp(&b[k], &x[k], sizeof(float)) != 0)
        FAIL() << "element " << k << " of B's storage was changed";
    }
  }
};

// Netlib's testers accept a residual of 16 machine epsilons of (|T||X|)(i, j).
inline constexpr double kNetlib = 16 * 0x1p-23;

struct TrsmCase {
  bool complex;
  std::int64_t m, n;
  int variant = 0;
  Mode mode = Mode::Native;
};

// variant: bit 0 lower, 1 unit, 2 columns of T contiguous, 3 columns of B contiguous, 4 alpha, 5 conjugate, 6 padded
// leading dimensions.
inline TrsmShape shape_of(const TrsmCase& c) {
  TrsmShape s{c.complex ? DType::Complex64 : DType::Float32, c.m, c.n};
  const auto bit = [&](int k) { return (c.variant >> k & 1) != 0; };
  const std::int64_t pad = bit(6) ? 3 : 0;
  s.lower = bit(0), s.unit = bit(1);
  s.am = bit(2) ? 1 : c.m + pad, s.an = bit(2) ? c.m + pad : 1;
  s.bm = bit(3) ? 1 : c.n + pad, s.bn = bit(3) ? c.m + pad : 1;
  s.alpha = bit(4) ? Factor::Input : Factor::One;
  s.conj = c.complex && bit(5);
  s.mode = c.mode;
  return s;
}

inline void check_solve(const char* machine, const TrsmCase& c, std::uint64_t seed) {
  SCOPED_TRACE(::testing::Message() << machine << (c.complex ? " complex " : " real ") << c.m << " x " << c.n
                                    << " variant " << c.variant << " mode " << name(c.mode) << " seed " << seed);
  TriangularProblem p(shape_of(c), 0.3 / std::sqrt(static_cast<double>(c.m)), 1, seed);
  p.run(machine);
  const auto r = p.measure();
  EXPECT_LE(r.to_norms, p.bound());
  if (c.mode != Mode::Tf32 && c.mode != Mode::Bf16) {
    EXPECT_LE(r.to_terms, kNetlib);
  }
  p.expect_gaps_untouched();
}

}  // namespace trn::blas::test
