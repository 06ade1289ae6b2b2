// The relative L2 errors of the host's one-dimensional plans, as a Markdown table: double against a __float128
// transform, float against one in long double (test/dft_oracle.hpp), every output of every transform. Of each range of
// lengths the largest error and the length it belongs to.
//
//   fft_accuracy                        every n to 4096, one line and 16, then selected lengths to 2^22: some minutes
//   fft_accuracy FIRST LAST [STEP]      those lengths
//   fft_accuracy inputs [N...]          adversarial inputs: spikes, constants, tones, signs, one huge point, tiny
//     numbers; then every length that misses
//
// Exit status 1 when an error exceeds 2.5e-7 (float) or 5e-16 (double).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <random>
#include <string>
#include <trn/core/array.hpp>
#include <trn/fft/plan.hpp>

#include "dft_oracle.hpp"

using namespace trn;
using namespace trn::fft;
using namespace trn::fft::testing;

namespace {

enum Case { Forward, Inverse, RealIn, RealOut, kCases };
constexpr const char* kCaseNames[kCases] = {"forward", "inverse", "r2c", "c2r"};
template <class T> constexpr double kLimit = sizeof(T) == 4 ? 2.5e-7 : 5e-16;

// The points of a test in T and their exact transform in the oracle's type.
template <class T> struct Data {
  std::vector<std::complex<T>> x;
  std::vector<QuadPoint> spectrum;
};

template <class T> std::vector<QuadPoint> exact_transform(const std::vector<std::complex<T>>& x) {
  std::vector<QuadPoint> wide(x.size());
  if (sizeof(T) == sizeof(double)) {
    for (std::size_t j = 0; j < x.size(); ++j) wide[j] = {x[j].real(), x[j].imag()};
    return quad_dft(wide);
  }
  const std::vector<Long> result = oracle_dft(std::vector<Long>(x.begin(), x.end()));
  for (std::size_t k = 0; k < x.size(); ++k) wide[k] = {result[k].real(), result[k].imag()};
  return wide;
}

// Uniform in (-1, 1), multiples of 4 units in the last place, so that x_k + conj x_(n-k) is exact.
template <class T> std::vector<std::complex<T>> random_points(std::int64_t n) {
  std::mt19937_64 generator(static_cast<std::uint64_t>(n));
  constexpr int bits = sizeof(T) == 4 ? 22 : 51;
  const auto part = [&] {
    return static_cast<T>(
        std::ldexp(static_cast<double>(static_cast<std::int64_t>(generator()) >> (63 - bits)), -bits));
  };
  std::vector<std::complex<T>> x(static_cast<std::size_t>(n));
  for (auto& z : x) {
    const T re = part();
    z = {re, part()};
  }
  return x;
}

// The error of one kind of plan on x, the last of `lines` equal lines. With X = F x: the inverse of x is X_(n-k); the
// real parts of x have the spectrum (X_k + conj X_(n-k))/2; and x_k + conj x_(n-k) is Hermitian, its inverse being
// twice the real part of that of x.
template <class T> double error_of(Case which, std::int64_t lines, const Data<T>& data) {
  using C = std::complex<T>;
  const auto n = static_cast<std::int64_t>(data.x.size());
  const std::int64_t half = n / 2 + 1, in_points = which == RealOut ? half : n, out_points = which == RealIn ? half : n;
  const auto at = [](std::int64_t k) { return static_cast<std::size_t>(k); };
  const auto mirror = [&](std::int64_t k) { return static_cast<std::size_t>((n - k) % n); };
  const Kind kind = which == RealIn    ? Kind::RealToComplex
                    : which == RealOut ? Kind::ComplexToReal
                                       : Kind::ComplexToComplex;
  const Executor e = Executor::host();
  const Plan<T> plan(e, dense(kind, which == Forward || which == RealIn ? Direction::Forward : Direction::Inverse, {n},
                              {.batch = lines}));
  std::vector<QuadPoint> got(at(out_points)), want(at(out_points));
  std::vector<C> z(at(in_points * lines)), y(at(out_points * lines));
  std::vector<T> real_in(which == RealIn ? at(n * lines) : 0), real_out(which == RealOut ? at(n * lines) : 0);
  for (std::int64_t line = 0; line < lines; ++line)
    for (std::int64_t j = 0; j < in_points; ++j) {
      if (which == RealIn) real_in[at(line * n + j)] = data.x[at(j)].real();
      z[at(line * in_points + j)] = which == RealOut ? data.x[at(j)] + std::conj(data.x[mirror(j)]) : data.x[at(j)];
    }
  if (which == RealIn) plan.execute(View<const T>(e, real_in.data(), {lines, n}), View<C>(e, y.data(), {lines, half}));
  if (which == RealOut)
    plan.execute(View<const C>(e, z.data(), {lines, half}), View<T>(e, real_out.data(), {lines, n}));
  if (kind == Kind::ComplexToComplex)
    plan.execute(View<const C>(e, z.data(), {lines, n}), View<C>(e, y.data(), {lines, n}));
  for (std::int64_t k = 0; k < out_points; ++k) {
    const QuadPoint &a = data.spectrum[at(k)], &b = data.spectrum[mirror(k)];
    if (which == RealOut)
      got[at(k)] = {real_out[at((lines - 1) * n + k)], 0};
    else
      got[at(k)] = {y[at((lines - 1) * out_points + k)].real(), y[at((lines - 1) * out_points + k)].imag()};
    want[at(k)] = which == Forward   ? a
                  : which == Inverse ? b
                  : which == RealIn  ? QuadPoint{(a.re + b.re) / 2, (a.im - b.im) / 2}
                                     : QuadPoint{2 * b.re, 0};
  }
  return relative_error(got, want);
}

// The largest errors so far, and of which n.
struct Worst {
  double error[2][kCases] = {};
  std::int64_t n[2][kCases] = {};
  bool met = true;
  std::vector<std::string> missed;

  template <class T> void measure(const Data<T>& data, std::int64_t lines) {
    for (int c = 0; c < kCases; ++c)
      note(sizeof(T) == 8, c, error_of<T>(static_cast<Case>(c), lines, data), static_cast<std::int64_t>(data.x.size()));
  }
  void note(int type, int c, double e, std::int64_t length) {
    if (e > (type == 0 ? kLimit<float> : kLimit<double>)) {
      met = false;
      missed.push_back(fmt::format("{} {} n = {}: {:.2e}", type == 0 ? "float" : "double", kCaseNames[c], length, e));
    }
    if (e < error[type][c]) return;
    error[type][c] = e;
    n[type][c] = length;
  }
  void join(const Worst& other) {
    for (int t = 0; t < 2; ++t)
      for (int c = 0; c < kCases; ++c)
        if (other.error[t][c] > 0) note(t, c, other.error[t][c], other.n[t][c]);
  }
  void print(const std::string& name, bool lengths) const {
    std::printf("| %s |", name.c_str());
    for (int t = 0; t < 2; ++t)
      for (int c = 0; c < kCases; ++c) {
        std::printf(" %.2e", error[t][c]);
        if (lengths) std::printf(" (%lld)", static_cast<long long>(n[t][c]));
        std::printf(" |");
      }
    std::printf("%s\n", met ? "" : " MISSED");
    std::fflush(stdout);
  }
};

void heading(const char* first) {
  std::printf("| %s |", first);
  for (const char* type : {"float", "double"})
    for (const char* c : kCaseNames) std::printf(" %s %s |", type, c);
  std::printf("\n|---|---|---|---|---|---|---|---|---|\n");
}

template <class T> Data<T> random_data(std::int64_t n) {
  Data<T> d{random_points<T>(n), {}};
  d.spectrum = exact_transform(d.x);
  return d;
}

bool sweep(std::int64_t first, std::int64_t last, std::int64_t step) {
  heading("n, lines");
  Worst all;
  for (std::int64_t low = first; low <= last; low = std::max<std::int64_t>(2 * low, 16)) {
    const std::int64_t high = std::min(last, std::max<std::int64_t>(2 * low, 16) - 1);
    Worst one, many;
    for (std::int64_t n = low; n <= high; n += step) {
      const Data<float> f = random_data<float>(n);
      const Data<double> d = random_data<double>(n);
      one.measure(f, 1), one.measure(d, 1);
      if (n <= 4096) many.measure(f, 16), many.measure(d, 16);
    }
    one.print(fmt::format("{} .. {}, 1", low, high), true);
    if (high <= 4096) many.print(fmt::format("{} .. {}, 16", low, high), true);
    all.join(one), all.join(many);
  }
  all.print("all", true);
  return all.met;
}

bool selected() {
  heading("n");
  bool met = true;
  for (const std::int64_t n : {8191,   8192,    8193,    10007,   16384,   19683,   20014,   59049,   65536,
                               65537,  78125,   99991,   131074,  177147,  199982,  262144,  279841,  524287,
                               823543, 1000000, 1048573, 1048576, 1048577, 2097143, 2097152, 4194301, 4194304}) {
    Worst w;
    w.measure(random_data<float>(n), 1);
    w.measure(random_data<double>(n), 1);
    w.print(std::to_string(n), false);
    met = met && w.met;
  }
  return met;
}

// Inputs on which errors could gather. Point j of n; `tiny` is near the smallest normal number times n, below which
// units in the last place no longer shrink.
template <class T> bool inputs(std::int64_t n, Worst* rows) {
  using C = std::complex<T>;
  const std::vector<C> noise = random_points<T>(n);
  const T tiny = std::ldexp(std::numeric_limits<T>::min(), sizeof(T) == 4 ? 40 : 70);
  const std::function<C(std::int64_t)> kinds[] = {
      [&](std::int64_t j) { return j == 0 ? C(T(0.7), T(-0.3)) : C(0); },
      [&](std::int64_t j) { return j == n / 3 ? C(T(0.7), T(-0.3)) : C(0); },
      [&](std::int64_t j) { return j == n - 1 ? C(T(0.7), T(-0.3)) : C(0); },
      [&](std::int64_t) { return C(T(0.7), T(-0.3)); },
      [&](std::int64_t j) {
        const test::Turn<long double> t = test::turn<long double>(j * (n / 3) % n, n);
        return C(static_cast<T>(t.c), static_cast<T>(t.s));
      },
      [&](std::int64_t j) { return j % 2 == 0 ? C(T(0.7), T(-0.3)) : C(T(-0.7), T(0.3)); },
      [&](std::int64_t j) { return j == n / 2 ? C(T(1e6), T(1e6)) : noise[static_cast<std::size_t>(j)]; },
      [&](std::int64_t j) { return noise[static_cast<std::size_t>(j)] * tiny; },
      [&](std::int64_t j) {
        return noise[static_cast<std::size_t>(j)] * std::ldexp(T(1), static_cast<int>(-j * 100 / n));
      },
  };
  bool met = true;
  int row = 0;
  for (const auto& kind : kinds) {
    Data<T> data{std::vector<C>(static_cast<std::size_t>(n)), {}};
    for (std::int64_t j = 0; j < n; ++j) data.x[static_cast<std::size_t>(j)] = kind(j);
    data.spectrum = exact_transform(data.x);
    for (const std::int64_t lines : {1, 8}) rows[row].measure(data, lines);
    met = met && rows[row].met;
    ++row;
  }
  return met;
}
constexpr const char* kInputs[] = {"spike at 0",  "spike at n/3",    "spike at n-1", "constant",       "tone n/3",
                                   "alternating", "1e6 among noise", "tiny",         "2^-100j/n decay"};

bool adversarial(const std::vector<std::int64_t>& lengths) {
  Worst rows[std::size(kInputs)];
  bool met = true;
  for (const std::int64_t n : lengths)
    met = (inputs<float>(n, rows) & static_cast<int>(inputs<double>(n, rows))) != 0 && met;
  heading("input");
  for (std::size_t i = 0; i < std::size(kInputs); ++i) rows[i].print(kInputs[i], true);
  for (std::size_t i = 0; i < std::size(kInputs); ++i)
    for (const std::string& miss : rows[i].missed) std::printf("missed: %s, %s\n", kInputs[i], miss.c_str());
  return met;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::string(argv[1]) == "inputs") {
    std::vector<std::int64_t> lengths;
    for (int i = 2; i < argc; ++i) lengths.push_back(std::atoll(argv[i]));
    if (lengths.empty())
      lengths = {2,    3,    4,    5,    7,    8,    13,   16,    17,    31,    61,    64,   67,
                 97,   100,  127,  128,  134,  243,  251,  256,   509,   512,   1000,  1009, 1019,
                 1024, 2027, 2187, 4093, 4096, 8191, 8193, 16384, 65536, 99991, 131072};
    return adversarial(lengths) ? 0 : 1;
  }
  if (argc > 2) return sweep(std::atoll(argv[1]), std::atoll(argv[2]), argc > 3 ? std::atoll(argv[3]) : 1) ? 0 : 1;
  const bool short_met = sweep(1, 4096, 1), long_met = selected();
  return short_met && long_met ? 0 : 1;
}
