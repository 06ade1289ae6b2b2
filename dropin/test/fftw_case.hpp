// A transform as FFTW's interface describes it, its memory, and what must come out: sums in long double by the
// definition, axis by axis, which share nothing with the library.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <random>
#include <vector>

#include "fftw_names.h"

namespace fftw_test {

using L = long double;
using CL = std::complex<L>;
struct Dim {
  std::ptrdiff_t n, is, os;
};
using Dims = std::vector<Dim>;
enum class Form { C2C, R2C, C2R, R2R };

// One line by the definition: sign for complex lines, kind for real ones.
inline std::vector<CL> line(const std::vector<CL>& x, int sign, int kind) {
  const auto n = static_cast<L>(x.size());
  const L pi = std::acos(L(-1));
  std::vector<CL> y(x.size());
  for (std::size_t k = 0; k < x.size(); ++k) {
    CL sum = 0;
    const L kk = static_cast<L>(k);
    for (std::size_t j = 0; j < x.size(); ++j) {
      const L jj = static_cast<L>(j), t = 2 * pi * std::fmod(jj * kk, n) / n;
      const bool last = j + 1 == x.size();
      L f = 0;
      switch (kind) {
        case -1:
          sum += x[j] * CL(std::cos(t), sign * std::sin(t));
          continue;
        case R2HC:
          f = 2 * k <= x.size() ? std::cos(t) : std::sin(t);  // point k > n/2 is the imaginary part of point n - k
          break;
        case HC2R: {
          const bool imaginary = 2 * j > x.size();
          const bool own_mirror = j == 0 || 2 * j == x.size();
          f = imaginary ? 2 * std::sin(t) : (own_mirror ? 1 : 2) * std::cos(t);
          break;
        }
        case DHT:
          f = std::cos(t) + std::sin(t);
          break;
        case REDFT00:
          f = (j == 0 || last ? 1 : 2) * std::cos(pi * jj * kk / (n - 1));
          break;
        case REDFT01:
          f = (j == 0 ? 1 : 2) * std::cos(pi * jj * (kk + 0.5L) / n);
          break;
        case REDFT10:
          f = 2 * std::cos(pi * (jj + 0.5L) * kk / n);
          break;
        case REDFT11:
          f = 2 * std::cos(pi * (jj + 0.5L) * (kk + 0.5L) / n);
          break;
        case RODFT00:
          f = 2 * std::sin(pi * (jj + 1) * (kk + 1) / (n + 1));
          break;
        case RODFT01:
          f = (last ? 1 : 2) * std::sin(pi * (jj + 1) * (kk + 0.5L) / n);
          break;
        case RODFT10:
          f = 2 * std::sin(pi * (jj + 0.5L) * (kk + 1) / n);
          break;
        case RODFT11:
          f = 2 * std::sin(pi * (jj + 0.5L) * (kk + 0.5L) / n);
          break;
      }
      sum += x[j] * f;
    }
    y[k] = sum;
  }
  return y;
}

// A dense array along its last `axes` dimensions.
inline void transform(std::vector<CL>& x, const Dims& all, std::size_t axes, int sign, const std::vector<int>& kinds) {
  for (std::size_t d = all.size() - axes; d < all.size(); ++d) {
    std::size_t inner = 1, n = static_cast<std::size_t>(all[d].n);
    for (std::size_t i = d + 1; i < all.size(); ++i) inner *= static_cast<std::size_t>(all[i].n);
    for (std::size_t o = 0; o < x.size() / (inner * n); ++o)
      for (std::size_t i = 0; i < inner; ++i) {
        std::vector<CL> one(n);
        for (std::size_t k = 0; k < n; ++k) one[k] = x[(o * n + k) * inner + i];
        one = line(one, sign, kinds.empty() ? -1 : kinds[d - (all.size() - axes)]);
        for (std::size_t k = 0; k < n; ++k) x[(o * n + k) * inner + i] = one[k];
      }
  }
}

template <class F>
void each(const Dims& d, const F& f, std::size_t i = 0, std::ptrdiff_t in = 0, std::ptrdiff_t out = 0) {
  if (i == d.size()) return f(in, out);
  for (std::ptrdiff_t k = 0; k < d[i].n; ++k) each(d, f, i + 1, in + k * d[i].is, out + k * d[i].os);
}

// A case: dimensions in the guru interface's manner, memory for both sides, and what must come out. `origin` is the
// offset of element 0, for negative strides.
struct Case {
  Form form;
  Dims axes, batch{};
  int sign = FORWARD;
  std::vector<int> kinds{};
  bool in_place = false, split = false;
  std::ptrdiff_t origin = 0;

  std::vector<R> in, in2, out, out2;
  std::vector<CL> expected;
  L norm = 0;

  [[nodiscard]] Dims all() const {
    Dims d = batch;
    d.insert(d.end(), axes.begin(), axes.end());
    return d;
  }
  // One side's dimensions: the complex side of a real transform is halved along the last axis.
  [[nodiscard]] Dims side(bool input) const {
    Dims d = all();
    const bool halved = !axes.empty() && (form == Form::R2C ? !input : form == Form::C2R && input);
    if (halved) d.back().n = d.back().n / 2 + 1;
    return d;
  }
  [[nodiscard]] bool complex_in() const { return form == Form::C2C || form == Form::C2R; }
  [[nodiscard]] bool complex_out() const { return form == Form::C2C || form == Form::R2C; }

  void fill() {
    std::size_t room = 1;
    for (const Dim& d : all())
      room += static_cast<std::size_t>((d.n > 0 ? d.n : 1) *
                                       (std::abs(d.is) > std::abs(d.os) ? std::abs(d.is) : std::abs(d.os)));
    room = 2 * (room + static_cast<std::size_t>(origin)) + 16;
    in.assign(room, 0), in2.assign(room, 0), out.assign(room, R(7)), out2.assign(room, R(7));
    std::mt19937 random(42);
    std::uniform_real_distribution<double> uniform(-1, 1);
    const Dims dense = all();
    std::vector<CL> x;
    // The values of a logical array; a C2R one is the half spectrum of a real signal.
    each(dense, [&](std::ptrdiff_t, std::ptrdiff_t) {
      x.emplace_back(static_cast<R>(uniform(random)),
                     complex_in() && form == Form::C2C ? static_cast<R>(uniform(random)) : R(0));
    });
    std::vector<CL> y = x;
    if (form == Form::C2R) {  // input: the forward transform, rounded; output: what these rounded values give
      transform(x, dense, axes.size(), FORWARD, {});
      for (CL& v : x) v = CL(static_cast<R>(v.real()), static_cast<R>(v.imag()));
      L points = 1;
      for (const Dim& a : axes) points *= static_cast<L>(a.n);
      for (CL& v : y) v *= points;
    } else {
      transform(y, dense, axes.size(), sign, kinds);
    }
    // Into memory, and the expected values of the output's elements in order.
    const auto put = [&](std::ptrdiff_t at, const CL& v, bool pairs) {
      at += origin;
      if (!pairs) {
        in[static_cast<std::size_t>(at)] = static_cast<R>(v.real());
      } else if (split) {
        in[static_cast<std::size_t>(at)] = static_cast<R>(v.real()),
        in2[static_cast<std::size_t>(at)] = static_cast<R>(v.imag());
      } else {
        in[static_cast<std::size_t>(2 * at)] = static_cast<R>(v.real()),
                                        in[static_cast<std::size_t>(2 * at + 1)] = static_cast<R>(v.imag());
      }
    };
    const auto half = [&](bool input, const std::vector<CL>& from, const auto& use) {
      const Dims d = side(input);
      const std::size_t full = axes.empty() ? 1 : static_cast<std::size_t>(axes.back().n);
      const std::size_t kept = axes.empty() ? 1 : static_cast<std::size_t>(d.back().n);
      std::size_t i = 0;
      each(d, [&](std::ptrdiff_t a, std::ptrdiff_t b) {
        use(input ? a : b, from[i / kept * full + i % kept]);
        ++i;
      });
    };
    half(true, x, [&](std::ptrdiff_t at, const CL& v) { put(at, v, complex_in()); });
    expected.clear(), norm = 0;
    half(false, y, [&](std::ptrdiff_t, const CL& v) { expected.push_back(v), norm += std::norm(v); });
    if (in_place) out = in, out2 = in2;
  }

  // Addresses as the planner gets them.
  R* ri() { return (in_place ? out : in).data() + origin * (complex_in() && !split ? 2 : 1); }
  R* ii() { return (in_place ? out2 : in2).data() + origin; }
  R* ro() { return out.data() + origin * (complex_out() && !split ? 2 : 1); }
  R* io() { return out2.data() + origin; }
  C* ci() { return reinterpret_cast<C*>(ri()); }
  C* co() { return reinterpret_cast<C*>(ro()); }

  void compare(const char* what) {
    L error = 0;
    std::size_t i = 0;
    each(side(false), [&](std::ptrdiff_t, std::ptrdiff_t at) {
      const R* p = complex_out() && !split ? ro() + 2 * at : ro() + at;
      const L im = !complex_out() ? 0 : split ? io()[at] : p[1];
      error += std::norm(CL(*p, im) - expected[i++]);
    });
    const L unit = std::is_same_v<R, float> ? 6e-8L : 1.1e-16L;
    EXPECT_LE(std::sqrt(error), 40 * unit * std::sqrt(norm) + 1e-30L) << what;
    EXPECT_GT(norm, 0) << what;
  }
};

// Plans, executes, compares, and once more on other arrays. `make` gets the case, `again` executes on its addresses.
template <class Make, class Again> void check(const char* what, Case c, const Make& make, const Again& again) {
  c.fill();
  X(plan) plan = make(c);
  ASSERT_NE(plan, nullptr) << what;
  X(execute)(plan);
  c.compare(what);
  Case other = c;
  other.fill();
  again(plan, other);
  other.compare(what);
  X(destroy_plan)(plan);
}
inline const auto kAgain = [](X(plan) p, Case& c) { X(execute_dft)(p, c.ci(), c.co()); };
inline const auto kAgainR2C = [](X(plan) p, Case& c) { X(execute_dft_r2c)(p, c.ri(), c.co()); };
inline const auto kAgainC2R = [](X(plan) p, Case& c) { X(execute_dft_c2r)(p, c.ci(), c.ro()); };
inline const auto kAgainR2R = [](X(plan) p, Case& c) { X(execute_r2r)(p, c.ri(), c.ro()); };

template <class D> std::vector<D> dims(const Dims& from) {
  std::vector<D> to;
  for (const Dim& d : from)
    to.push_back(
        {static_cast<decltype(D::n)>(d.n), static_cast<decltype(D::n)>(d.is), static_cast<decltype(D::n)>(d.os)});
  return to;
}

}  // namespace fftw_test
