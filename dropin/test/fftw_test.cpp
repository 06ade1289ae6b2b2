// Every function of FFTW's interface, called as a program does, against sums in long double. The oracle is the
// definition, axis by axis: it shares nothing with the library. Compiled once for each precision.
#include <gtest/gtest.h>

#include <climits>
#include <cmath>
#include <complex>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include "fftw_names.h"

namespace {

using L = long double;
using CL = std::complex<L>;
struct Dim {
  std::ptrdiff_t n, is, os;
};
using Dims = std::vector<Dim>;
enum class Form { C2C, R2C, C2R, R2R };

// One line by the definition: sign for complex lines, kind for real ones.
std::vector<CL> line(const std::vector<CL>& x, int sign, int kind) {
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
void transform(std::vector<CL>& x, const Dims& all, std::size_t axes, int sign, const std::vector<int>& kinds) {
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
const auto kAgain = [](X(plan) p, Case& c) { X(execute_dft)(p, c.ci(), c.co()); };
const auto kAgainR2C = [](X(plan) p, Case& c) { X(execute_dft_r2c)(p, c.ri(), c.co()); };
const auto kAgainC2R = [](X(plan) p, Case& c) { X(execute_dft_c2r)(p, c.ci(), c.ro()); };
const auto kAgainR2R = [](X(plan) p, Case& c) { X(execute_r2r)(p, c.ri(), c.ro()); };

template <class D> std::vector<D> dims(const Dims& from) {
  std::vector<D> to;
  for (const Dim& d : from)
    to.push_back(
        {static_cast<decltype(D::n)>(d.n), static_cast<decltype(D::n)>(d.is), static_cast<decltype(D::n)>(d.os)});
  return to;
}

TEST(Fftw, ComplexPlanners) {
  for (const int sign : {FORWARD, BACKWARD})
    for (const bool in_place : {false, true}) {
      for (const int n : {1, 2, 7, 12, 30, 97})
        check(
            "1d", {Form::C2C, {{n, 1, 1}}, {}, sign, {}, in_place},
            [&](Case& c) { return X(plan_dft_1d)(n, c.ci(), c.co(), sign, ESTIMATE); }, kAgain);
      const Dims two{{5, 6, 6}, {6, 1, 1}}, three{{3, 20, 20}, {4, 5, 5}, {5, 1, 1}};
      check(
          "2d", {Form::C2C, two, {}, sign, {}, in_place},
          [&](Case& c) { return X(plan_dft_2d)(5, 6, c.ci(), c.co(), sign, MEASURE); }, kAgain);
      check(
          "3d", {Form::C2C, three, {}, sign, {}, in_place},
          [&](Case& c) { return X(plan_dft_3d)(3, 4, 5, c.ci(), c.co(), sign, PATIENT | DESTROY_INPUT); }, kAgain);
      const int n3[] = {3, 4, 5}, embed[] = {9, 5, 6};
      check(
          "rank", {Form::C2C, three, {}, sign, {}, in_place},
          [&](Case& c) { return X(plan_dft)(3, n3, c.ci(), c.co(), sign, ESTIMATE); }, kAgain);
      check(
          "many, dense", {Form::C2C, three, {{4, 60, 60}}, sign, {}, in_place},
          [&](Case& c) {
            return X(plan_many_dft)(3, n3, 4, c.ci(), nullptr, 1, 60, c.co(), nullptr, 1, 60, sign, ESTIMATE);
          },
          kAgain);
      check(
          "many, embedded", {Form::C2C, {{3, 60, 60}, {4, 12, 12}, {5, 2, 2}}, {{2, 1, 1}}, sign, {}, in_place},
          [&](Case& c) { return X(plan_many_dft)(3, n3, 2, c.ci(), embed, 2, 1, c.co(), embed, 2, 1, sign, ESTIMATE); },
          kAgain);
      const Dims axes{{6, 1, 4}, {5, 6, 30}}, batch{{4, 30, 1}};
      const Case turned{Form::C2C, axes, batch, sign, {}, in_place};  // in place, both sides hold the same 120 places
      const auto a = dims<X(iodim)>(axes), b = dims<X(iodim)>(batch);
      const auto a64 = dims<X(iodim64)>(axes), b64 = dims<X(iodim64)>(batch);
      check(
          "guru", turned,
          [&](Case& c) { return X(plan_guru_dft)(2, a.data(), 1, b.data(), c.ci(), c.co(), sign, ESTIMATE); }, kAgain);
      check(
          "guru64", turned,
          [&](Case& c) { return X(plan_guru64_dft)(2, a64.data(), 1, b64.data(), c.ci(), c.co(), sign, ESTIMATE); },
          kAgain);
    }
  const X(iodim64) back{8, -3, -2};
  check(
      "negative strides", {Form::C2C, {{8, -3, -2}}, {}, FORWARD, {}, false, false, 30},
      [&](Case& c) { return X(plan_guru64_dft)(1, &back, 0, nullptr, c.ci(), c.co(), FORWARD, ESTIMATE); }, kAgain);
}

TEST(Fftw, SplitArrays) {
  const Dims axes{{4, 6, 6}, {6, 1, 1}}, batch{{3, 24, 24}};
  const auto a = dims<X(iodim)>(axes), b = dims<X(iodim)>(batch);
  const auto a64 = dims<X(iodim64)>(axes), b64 = dims<X(iodim64)>(batch);
  const auto again = [](X(plan) p, Case& c) { X(execute_split_dft)(p, c.ri(), c.ii(), c.ro(), c.io()); };
  for (const bool in_place : {false, true}) {
    const Case c2c{Form::C2C, axes, batch, FORWARD, {}, in_place, true};
    check(
        "split", c2c,
        [&](Case& c) {
          return X(plan_guru_split_dft)(2, a.data(), 1, b.data(), c.ri(), c.ii(), c.ro(), c.io(), ESTIMATE);
        },
        again);
    check(
        "split 64", c2c,
        [&](Case& c) {
          return X(plan_guru64_split_dft)(2, a64.data(), 1, b64.data(), c.ri(), c.ii(), c.ro(), c.io(), ESTIMATE);
        },
        again);
  }
  const auto again_r2c = [](X(plan) p, Case& c) { X(execute_split_dft_r2c)(p, c.ri(), c.ro(), c.io()); };
  const auto again_c2r = [](X(plan) p, Case& c) { X(execute_split_dft_c2r)(p, c.ri(), c.ii(), c.ro()); };
  const Case r2c{Form::R2C, axes, batch, FORWARD, {}, false, true},
      c2r{Form::C2R, axes, batch, BACKWARD, {}, false, true};
  check(
      "split r2c", r2c,
      [&](Case& c) { return X(plan_guru_split_dft_r2c)(2, a.data(), 1, b.data(), c.ri(), c.ro(), c.io(), ESTIMATE); },
      again_r2c);
  check(
      "split r2c 64", r2c,
      [&](Case& c) {
        return X(plan_guru64_split_dft_r2c)(2, a64.data(), 1, b64.data(), c.ri(), c.ro(), c.io(), ESTIMATE);
      },
      again_r2c);
  check(
      "split c2r", c2r,
      [&](Case& c) { return X(plan_guru_split_dft_c2r)(2, a.data(), 1, b.data(), c.ri(), c.ii(), c.ro(), ESTIMATE); },
      again_c2r);
  check(
      "split c2r 64", c2r,
      [&](Case& c) {
        return X(plan_guru64_split_dft_c2r)(2, a64.data(), 1, b64.data(), c.ri(), c.ii(), c.ro(), ESTIMATE);
      },
      again_c2r);
}

TEST(Fftw, RealPlanners) {
  for (const bool in_place : {false, true})
    for (const int n : {1, 2, 8, 9, 30, 97}) {
      const std::ptrdiff_t half = n / 2 + 1, real = in_place ? 2 * half : n;
      check(
          "r2c 1d", {Form::R2C, {{n, 1, 1}}, {}, FORWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_r2c_1d)(n, c.ri(), c.co(), ESTIMATE); }, kAgainR2C);
      check(
          "c2r 1d", {Form::C2R, {{n, 1, 1}}, {}, BACKWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_c2r_1d)(n, c.ci(), c.ro(), ESTIMATE); }, kAgainC2R);
      const Dims r2{{4, real, half}, {n, 1, 1}}, c2{{4, half, real}, {n, 1, 1}};
      check(
          "r2c 2d", {Form::R2C, r2, {}, FORWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_r2c_2d)(4, n, c.ri(), c.co(), ESTIMATE); }, kAgainR2C);
      check(
          "c2r 2d", {Form::C2R, c2, {}, BACKWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_c2r_2d)(4, n, c.ci(), c.ro(), ESTIMATE); }, kAgainC2R);
      const Dims r3{{2, 4 * real, 4 * half}, r2[0], r2[1]}, c3{{2, 4 * half, 4 * real}, c2[0], c2[1]};
      check(
          "r2c 3d", {Form::R2C, r3, {}, FORWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_r2c_3d)(2, 4, n, c.ri(), c.co(), ESTIMATE); }, kAgainR2C);
      check(
          "c2r 3d", {Form::C2R, c3, {}, BACKWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_c2r_3d)(2, 4, n, c.ci(), c.ro(), ESTIMATE); }, kAgainC2R);
      const int ns[] = {4, n};
      check(
          "r2c rank", {Form::R2C, r2, {}, FORWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_r2c)(2, ns, c.ri(), c.co(), ESTIMATE); }, kAgainR2C);
      check(
          "c2r rank", {Form::C2R, c2, {}, BACKWARD, {}, in_place},
          [&](Case& c) { return X(plan_dft_c2r)(2, ns, c.ci(), c.ro(), ESTIMATE); }, kAgainC2R);
      const int rd = static_cast<int>(4 * real), cd = static_cast<int>(4 * half);
      check(
          "r2c many", {Form::R2C, r2, {{3, rd, cd}}, FORWARD, {}, in_place},
          [&](Case& c) {
            return X(plan_many_dft_r2c)(2, ns, 3, c.ri(), nullptr, 1, rd, c.co(), nullptr, 1, cd, ESTIMATE);
          },
          kAgainR2C);
      check(
          "c2r many", {Form::C2R, c2, {{3, cd, rd}}, BACKWARD, {}, in_place},
          [&](Case& c) {
            return X(plan_many_dft_c2r)(2, ns, 3, c.ci(), nullptr, 1, cd, c.ro(), nullptr, 1, rd, ESTIMATE);
          },
          kAgainC2R);
    }
  // Strides everywhere, out of place and in place where the sides lie in other bytes.
  const Dims axes{{4, 40, 30}, {9, 2, 3}}, batch{{2, 1, 1}};
  const auto a = dims<X(iodim)>(axes), b = dims<X(iodim)>(batch);
  const auto a64 = dims<X(iodim64)>(axes), b64 = dims<X(iodim64)>(batch);
  for (const bool in_place : {false, true}) {
    const Case r{Form::R2C, axes, batch, FORWARD, {}, in_place}, c2r{Form::C2R, axes, batch, BACKWARD, {}, in_place};
    check(
        "guru r2c", r,
        [&](Case& c) { return X(plan_guru_dft_r2c)(2, a.data(), 1, b.data(), c.ri(), c.co(), ESTIMATE); }, kAgainR2C);
    check(
        "guru64 r2c", r,
        [&](Case& c) { return X(plan_guru64_dft_r2c)(2, a64.data(), 1, b64.data(), c.ri(), c.co(), ESTIMATE); },
        kAgainR2C);
    check(
        "guru c2r", c2r,
        [&](Case& c) { return X(plan_guru_dft_c2r)(2, a.data(), 1, b.data(), c.ci(), c.ro(), ESTIMATE); }, kAgainC2R);
    check(
        "guru64 c2r", c2r,
        [&](Case& c) { return X(plan_guru64_dft_c2r)(2, a64.data(), 1, b64.data(), c.ci(), c.ro(), ESTIMATE); },
        kAgainC2R);
  }
}

TEST(Fftw, RealToRealKinds) {
  for (const bool in_place : {false, true})
    for (int kind = R2HC; kind <= RODFT11; ++kind) {
      for (const int n : {1, 2, 3, 4, 5, 8, 9, 16, 31}) {
        if (kind == REDFT00 && n < 2) continue;
        check(("kind " + std::to_string(kind) + ", n " + std::to_string(n)).c_str(),
              {Form::R2R, {{n, 1, 1}}, {}, 0, {kind}, in_place},
              [&](Case& c) { return X(plan_r2r_1d)(n, c.ri(), c.ro(), kind, ESTIMATE); }, kAgainR2R);
      }
      const int other = (kind + 5) % 11, third = (kind + 8) % 11;
      const Dims two{{5, 6, 6}, {6, 1, 1}}, three{{3, 30, 30}, {5, 6, 6}, {6, 1, 1}};
      const int n2[] = {5, 6}, kinds2[] = {kind, other};
      check(
          "2d", {Form::R2R, two, {}, 0, {kind, other}, in_place},
          [&](Case& c) { return X(plan_r2r_2d)(5, 6, c.ri(), c.ro(), kind, other, ESTIMATE); }, kAgainR2R);
      check(
          "3d", {Form::R2R, three, {}, 0, {kind, other, third}, in_place},
          [&](Case& c) { return X(plan_r2r_3d)(3, 5, 6, c.ri(), c.ro(), kind, other, third, ESTIMATE); }, kAgainR2R);
      check(
          "rank", {Form::R2R, two, {}, 0, {kind, other}, in_place},
          [&](Case& c) { return X(plan_r2r)(2, n2, c.ri(), c.ro(), kinds2, ESTIMATE); }, kAgainR2R);
      check(
          "many", {Form::R2R, {{5, 18, 18}, {6, 3, 3}}, {{3, 1, 1}}, 0, {kind, other}, in_place},
          [&](Case& c) {
            return X(plan_many_r2r)(2, n2, 3, c.ri(), nullptr, 3, 1, c.ro(), nullptr, 3, 1, kinds2, ESTIMATE);
          },
          kAgainR2R);
      const Dims axes{{5, 6, 1}, {6, 1, 5}};
      const auto a = dims<X(iodim)>(axes);
      const auto a64 = dims<X(iodim64)>(axes);
      check(
          "guru", {Form::R2R, axes, {}, 0, {kind, other}, in_place},
          [&](Case& c) { return X(plan_guru_r2r)(2, a.data(), 0, nullptr, c.ri(), c.ro(), kinds2, ESTIMATE); },
          kAgainR2R);
      check(
          "guru64", {Form::R2R, axes, {}, 0, {kind, other}, in_place},
          [&](Case& c) { return X(plan_guru64_r2r)(2, a64.data(), 0, nullptr, c.ri(), c.ro(), kinds2, ESTIMATE); },
          kAgainR2R);
    }
}

TEST(Fftw, RankZeroCopiesAndTransposes) {
  const Dims batch{{3, 1, 4}, {4, 3, 1}};
  const auto b = dims<X(iodim64)>(batch);
  for (const bool in_place : {false, true}) {
    check(
        "c2c", {Form::C2C, {}, batch, FORWARD, {}, in_place},
        [&](Case& c) { return X(plan_guru64_dft)(0, nullptr, 2, b.data(), c.ci(), c.co(), FORWARD, ESTIMATE); },
        kAgain);
    check(
        "r2r", {Form::R2R, {}, batch, 0, {}, in_place},
        [&](Case& c) { return X(plan_guru64_r2r)(0, nullptr, 2, b.data(), c.ri(), c.ro(), nullptr, ESTIMATE); },
        kAgainR2R);
  }
}

TEST(Fftw, WhatCannotBePlannedIsNull) {
  C x[8];
  R y[16];
  EXPECT_EQ(X(plan_dft_1d)(0, x, x, FORWARD, ESTIMATE), nullptr);
  EXPECT_EQ(X(plan_dft_1d)(-4, x, x, FORWARD, ESTIMATE), nullptr);
  EXPECT_EQ(X(plan_r2r_1d)(1, y, y, REDFT00, ESTIMATE), nullptr);
  EXPECT_EQ(X(plan_r2r_1d)(4, y, y, 11, ESTIMATE), nullptr);
  const int n = 4;
  EXPECT_EQ(X(plan_many_dft)(1, &n, -1, x, nullptr, 1, 4, x, nullptr, 1, 4, FORWARD, ESTIMATE), nullptr);
  X(plan) nothing = X(plan_many_dft)(1, &n, 0, x, nullptr, 1, 4, x, nullptr, 1, 4, FORWARD, ESTIMATE);
  ASSERT_NE(nothing, nullptr);
  X(execute)(nothing);
  X(destroy_plan)(nothing);
  X(destroy_plan)(nullptr);
}

TEST(Fftw, WisdomIsTheListOfProblems) {
  C x[12], y[12];
  X(cleanup)();
  EXPECT_EQ(X(plan_dft_1d)(12, x, y, FORWARD, WISDOM_ONLY | ESTIMATE), nullptr);
  X(destroy_plan)(X(plan_dft_1d)(12, x, y, FORWARD, MEASURE));
  char* text = X(export_wisdom_to_string)();
  ASSERT_NE(text, nullptr);
  std::string written;
  X(export_wisdom)([](char c, void* s) { static_cast<std::string*>(s)->push_back(c); }, &written);
  EXPECT_EQ(written, text);
  const std::string path =
      testing::TempDir() + "trn_wisdom_" + std::to_string(sizeof(R)) + "_" + std::to_string(getpid());
  EXPECT_EQ(X(export_wisdom_to_filename)(path.c_str()), 1);
  EXPECT_EQ(X(export_wisdom_to_filename)("/nowhere/at/all"), 0);
  const auto knows = [&] {
    X(plan) p = X(plan_dft_1d)(12, x, y, FORWARD, WISDOM_ONLY);
    X(destroy_plan)(p);
    return p != nullptr;
  };
  EXPECT_TRUE(knows());
  const auto forgets_then = [&](auto import) {
    X(forget_wisdom)();
    EXPECT_FALSE(knows());
    EXPECT_EQ(import(), 1);
    EXPECT_TRUE(knows());
  };
  forgets_then([&] { return X(import_wisdom_from_string)(text); });
  forgets_then([&] { return X(import_wisdom_from_filename)(path.c_str()); });
  forgets_then([&] {
    const char* at = text;
    return X(import_wisdom)(
        [](void* p) {
          const char*& c = *static_cast<const char**>(p);
          return *c ? *c++ : EOF;
        },
        &at);
  });
  forgets_then([&] {
    std::FILE* file = std::fopen(path.c_str(), "r+");
    const int taken = X(import_wisdom_from_file)(file);
    std::fclose(file);
    return taken;
  });
  std::FILE* file = std::fopen(path.c_str(), "w");
  X(export_wisdom_to_file)(file);
  std::fclose(file);
  forgets_then([&] { return X(import_wisdom_from_filename)(path.c_str()); });
  std::remove(path.c_str());
  const std::string whole = text;
  for (const std::string& foreign :
       {std::string("(fftw-3.3.10 fftw_wisdom #x0 )"), std::string(), whole.substr(0, whole.size() - 4)})
    EXPECT_EQ(X(import_wisdom_from_string)(foreign.c_str()), 0) << foreign;
  EXPECT_EQ(X(import_wisdom_from_filename)("/nowhere/at/all"), 0);
  EXPECT_EQ(X(import_system_wisdom)(), 0);
  std::free(text);
}

TEST(Fftw, ThreadsMemoryAndTheRest) {
  EXPECT_NE(X(init_threads)(), 0);
  X(make_planner_thread_safe)();
  X(threads_set_callback)(nullptr, nullptr);
  EXPECT_EQ(X(planner_nthreads)(), 1);
  X(plan_with_nthreads)(2);
  EXPECT_EQ(X(planner_nthreads)(), 2);
  X(set_timelimit)(0.5);
  check(
      "two threads", {Form::C2C, {{64, 64, 64}, {64, 1, 1}}},
      [&](Case& c) { return X(plan_dft_2d)(64, 64, c.ci(), c.co(), FORWARD, ESTIMATE); }, kAgain);
  X(cleanup_threads)();
  EXPECT_EQ(X(planner_nthreads)(), 1);

  R* reals = X(alloc_real)(100);
  C* pairs = X(alloc_complex)(100);
  void* bytes = X(malloc)(100);
  for (void* p : {static_cast<void*>(reals), static_cast<void*>(pairs), bytes})
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(p) % 64, 0U);
  EXPECT_EQ(X(alignment_of)(reals), X(alignment_of)(reals + 1));
  X(plan) p = X(plan_dft_1d)(100, pairs, pairs, FORWARD, ESTIMATE);
  double add = 0, mul = 0, fma = -1;
  X(flops)(p, &add, &mul, &fma);
  EXPECT_GT(add + mul + 2 * fma, 100);
  EXPECT_GT(X(cost)(p), 0);
  EXPECT_GT(X(estimate_cost)(p), 0);
  char* printed = X(sprint_plan)(p);
  EXPECT_NE(std::strstr(printed, "n100:1:1"), nullptr);
  std::FILE* file = std::tmpfile();
  X(fprint_plan)(p, file);
  EXPECT_EQ(std::ftell(file), static_cast<long>(std::strlen(printed)));
  std::fclose(file);
  X(print_plan)(p);
  std::puts("");
  std::free(printed);
  X(destroy_plan)(p);
  X(free)(reals), X(free)(pairs), X(free)(bytes), X(free)(nullptr);
  EXPECT_EQ(std::strncmp(X(version), "fftw-3.3", 8), 0);
  EXPECT_GT(std::strlen(X(cc)), 0U);
  EXPECT_EQ(std::strlen(X(codelet_optim)), 0U);
}

// One plan, several threads, arrays of their own; and planning beside it.
TEST(Fftw, ExecutesInThreads) {
  Case first{Form::C2C, {{60, 1, 1}}, {{4, 60, 60}}};
  first.fill();
  const int n = 60;
  X(plan) plan = X(plan_many_dft)(1, &n, 4, first.ci(), nullptr, 1, 60, first.co(), nullptr, 1, 60, FORWARD, ESTIMATE);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        Case c = first;
        X(execute_dft)(plan, c.ci(), c.co());
        c.compare("in a thread");
        X(destroy_plan)(X(plan_dft_1d)(8 + i, c.ci(), c.co(), FORWARD, ESTIMATE));
      }
    });
  for (std::thread& t : threads) t.join();
  X(destroy_plan)(plan);
}

// A rank of minus infinity is a problem without elements: FFTW plans it, and nothing is touched.
TEST(Fftw, RankOfMinusInfinity) {
  const X(iodim) one{4, 1, 1};
  C data[4] = {{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  for (const bool batch : {false, true}) {
    const X(plan) p =
        X(plan_guru_dft)(batch ? 1 : INT_MAX, &one, batch ? INT_MAX : 0, nullptr, data, data, FORWARD, 64);
    ASSERT_NE(p, nullptr);
    X(execute)(p);
    X(destroy_plan)(p);
  }
  EXPECT_EQ(data[0][0], R(1));
  EXPECT_EQ(data[3][1], R(8));
}

// The legacy Fortran names: extents backwards, everything by address.
TEST(Fftw, FortranNames) {
  const int nx = 3, ny = 4, sign = FORWARD, flags = 64;
  std::vector<R> in(24), first(24), second(24);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = R(1) / R(i + 1);
  const auto complex = [](std::vector<R>& v) { return reinterpret_cast<C*>(v.data()); };
  X(plan) p = nullptr;
  FORTRAN(plan_dft_2d)(&p, &nx, &ny, complex(in), complex(first), &sign, &flags);
  ASSERT_NE(p, nullptr);
  FORTRAN(execute)(&p);
  FORTRAN(destroy_plan)(&p);
  const X(plan) q = X(plan_dft_2d)(ny, nx, complex(in), complex(second), sign, 64);
  X(execute)(q);
  X(destroy_plan)(q);
  EXPECT_EQ(first, second);
  EXPECT_NE(first, in);
}

}  // namespace
