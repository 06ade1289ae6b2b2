// 1-D plans on the host beside FFTW (FFTW_MEASURE), MKL and KissFFT in one run, as a Markdown table. Peers are
// optional: a column without its library says so. MKL is there if the first argument is mkl=PATH
// (mkl_peer.hpp).
//
//   fft_host_speed [float|double] [complex|real] [many|one] [threads] [seconds per number] [lengths]
//   fft_host_speed [float|double] plan [lengths]     what it takes to make a plan, the smallest of three
//   fft_host_speed [float|double] plans [count] [largest]   the same over random lengths, one time each: 1000 of them
//     up to 100000, uniform in their logarithm
//
// Every length is timed in turn, ours and the peers' interleaved; the smallest time of all rounds counts. "many" means
// lines of about 2^18 points altogether (at least 16 of them), "one" a single line. Ours is Plan::execute with
// addresses and a workspace; what the overload for views costs more is printed for single lines of n <= 5. Ratios are
// peer's time over ours: above 1 we are ahead. Real lines are timed there (r2c) and back (c2r); / c2c is our time over
// that of our complex transform of the same n and number of lines.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <trn/fft/plan.hpp>

#include "mkl_peer.hpp"
#include "race.hpp"

#ifdef TRN_HAVE_FFTW
#include <fftw3.h>
#endif
#ifdef TRN_HAVE_KISSFFT
#include <kiss_fft.h>
#include <kiss_fftr.h>
#endif

namespace {

using trn::fft::Kind;

template <class T> struct Case {
  Kind kind;
  std::int64_t n, lines;
  int threads;
  T *in, *out;
};

// What a user calls: Plan::execute with addresses. With `views` the overload that checks everything.
template <class T> std::function<void()> ours(const Case<T>& c, bool views = false) {
  using C = std::complex<T>;
  omp_set_num_threads(c.threads);
  const trn::Executor host = trn::Executor::host();
  const auto direction = c.kind == Kind::ComplexToReal ? trn::fft::Direction::Inverse : trn::fft::Direction::Forward;
  const trn::fft::Plan<T> plan(host, trn::fft::dense(c.kind, direction, {c.n}, {.batch = c.lines}));
  const auto workspace = std::make_shared<trn::Buffer>(host, plan.workspace_bytes());
  C* out = reinterpret_cast<C*>(c.out);
  const C* in = reinterpret_cast<const C*>(c.in);
  if (views) {
    const trn::View<const C> from(host, in, {c.lines, c.n});
    const trn::View<C> to(host, out, {c.lines, c.n});
    return [=] { plan.execute(from, to); };
  }
  void* memory = workspace->data();
  if (c.kind == Kind::RealToComplex)
    return [=, x = static_cast<const T*>(c.in)] { static_cast<void>(workspace), plan.execute(x, out, memory); };
  if (c.kind == Kind::ComplexToReal)
    return [=, x = c.out] { static_cast<void>(workspace), plan.execute(in, x, memory); };
  return [=] { static_cast<void>(workspace), plan.execute(in, out, memory); };
}

#ifdef TRN_HAVE_FFTW
std::function<void()> fftw(const Case<float>& c) {
  fftwf_plan_with_nthreads(c.threads);
  const int n = static_cast<int>(c.n), lines = static_cast<int>(c.lines), half = n / 2 + 1;
  auto *in = reinterpret_cast<fftwf_complex*>(c.in), *out = reinterpret_cast<fftwf_complex*>(c.out);
  const fftwf_plan plan =
      c.kind == Kind::RealToComplex
          ? fftwf_plan_many_dft_r2c(1, &n, lines, c.in, nullptr, 1, n, out, nullptr, 1, half, FFTW_MEASURE)
      : c.kind == Kind::ComplexToReal
          ? fftwf_plan_many_dft_c2r(1, &n, lines, in, nullptr, 1, half, c.out, nullptr, 1, n, FFTW_MEASURE)
          : fftwf_plan_many_dft(1, &n, lines, in, nullptr, 1, n, out, nullptr, 1, n, FFTW_FORWARD, FFTW_MEASURE);
  const std::shared_ptr<void> owner(nullptr, [plan](void*) { fftwf_destroy_plan(plan); });
  return [plan, owner] { fftwf_execute(plan); };
}
std::function<void()> fftw(const Case<double>& c) {
  fftw_plan_with_nthreads(c.threads);
  const int n = static_cast<int>(c.n), lines = static_cast<int>(c.lines), half = n / 2 + 1;
  auto *in = reinterpret_cast<fftw_complex*>(c.in), *out = reinterpret_cast<fftw_complex*>(c.out);
  const fftw_plan plan =
      c.kind == Kind::RealToComplex
          ? fftw_plan_many_dft_r2c(1, &n, lines, c.in, nullptr, 1, n, out, nullptr, 1, half, FFTW_MEASURE)
      : c.kind == Kind::ComplexToReal
          ? fftw_plan_many_dft_c2r(1, &n, lines, in, nullptr, 1, half, c.out, nullptr, 1, n, FFTW_MEASURE)
          : fftw_plan_many_dft(1, &n, lines, in, nullptr, 1, n, out, nullptr, 1, n, FFTW_FORWARD, FFTW_MEASURE);
  const std::shared_ptr<void> owner(nullptr, [plan](void*) { fftw_destroy_plan(plan); });
  return [plan, owner] { fftw_execute(plan); };
}
#endif

#ifdef TRN_HAVE_KISSFFT
// KissFFT has float only here, one line a call, real lines of even length only; its primes are quadratic and left out
// where that takes minutes.
std::function<void()> kissfft(const Case<float>& c) {
  std::int64_t largest = 1;
  for (std::int64_t rest = c.n, p = 2; rest > 1; ++p)
    for (; rest % p == 0; rest /= p) largest = p;
  if (c.threads != 1 || (c.kind != Kind::ComplexToComplex && c.n % 2 != 0) || largest > 600) return {};
  const int n = static_cast<int>(c.n);
  if (c.kind != Kind::ComplexToComplex) {
    const bool there = c.kind == Kind::RealToComplex;
    const std::shared_ptr<void> state(kiss_fftr_alloc(n, there ? 0 : 1, nullptr, nullptr), std::free);
    return [=] {
      const auto plan = static_cast<kiss_fftr_cfg>(state.get());
      const std::int64_t half = 2 * (c.n / 2 + 1);
      for (std::int64_t b = 0; b < c.lines; ++b)
        if (there)
          kiss_fftr(plan, c.in + b * c.n, reinterpret_cast<kiss_fft_cpx*>(c.out + b * half));
        else
          kiss_fftri(plan, reinterpret_cast<kiss_fft_cpx*>(c.in + b * half), c.out + b * c.n);
    };
  }
  const std::shared_ptr<void> state(kiss_fft_alloc(n, 0, nullptr, nullptr), std::free);
  return [=] {
    for (std::int64_t b = 0; b < c.lines; ++b)
      kiss_fft(static_cast<kiss_fft_cfg>(state.get()), reinterpret_cast<kiss_fft_cpx*>(c.in + b * 2 * c.n),
               reinterpret_cast<kiss_fft_cpx*>(c.out + b * 2 * c.n));
  };
}
#endif
[[maybe_unused]] std::function<void()> kissfft(const Case<double>&) { return {}; }

const std::int64_t kPowers[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384, 65536, 262144, 1048576};
const std::int64_t kSmooth[] = {3,    6,    12,   15,   20,    30,    48,     60,     100,    120,  210,
                                240,  360,  480,  600,  720,   1000,  1200,   1500,   1920,   2187, 2310,
                                3000, 3125, 3600, 4000, 10000, 30030, 100000, 600000, 1000000};
const std::int64_t kPrimes[] = {5,   7,   11,  13,  17,   23,   31,   47,   61,    67,    97,
                                127, 167, 257, 509, 1009, 1019, 2017, 4093, 10007, 65537, 99991};
const std::int64_t kAwkward[] = {34, 74, 134, 2018, 4087, 8193};

// Geometric mean and smallest of the ratios seen.
struct Summary {
  double log_sum = 0, smallest = std::numeric_limits<double>::infinity();
  int count = 0;
  void add(double ratio) {
    if (!std::isfinite(ratio)) return;
    log_sum += std::log(ratio);
    smallest = std::min(smallest, ratio);
    ++count;
  }
  void print(const char* what) const {
    if (count > 0) std::printf("%s: geometric mean %.2f, smallest %.2f. ", what, std::exp(log_sum / count), smallest);
  }
};

template <class T>
void table(bool real, bool many, int threads, double seconds, const std::vector<std::int64_t>& chosen) {
  const std::vector<Kind> kinds =
      real ? std::vector{Kind::RealToComplex, Kind::ComplexToReal} : std::vector{Kind::ComplexToComplex};
  std::printf("| n | lines |");
  for (const Kind kind : kinds) {
    const char* name = kind == Kind::ComplexToComplex ? "c2c" : kind == Kind::RealToComplex ? "r2c" : "c2r";
    std::printf(" %s, us a line | GFlop/s | FFTW / ours | MKL / ours | KissFFT / ours |", name);
    if (real) std::printf(" %s / c2c |", name);
  }
  std::printf(real ? "\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
                   : "\n|---|---|---|---|---|---|---|\n");
  Summary fftw_all, fftw_short, mkl_all, kiss_all;
  const auto group = [&](const std::vector<std::int64_t>& lengths) {
    for (const std::int64_t n : lengths) {
      const std::int64_t lines = many ? std::max<std::int64_t>(16, (std::int64_t{1} << 18) / n) : 1;
      if (many && n * lines > std::int64_t{1} << 22) continue;
      const std::size_t reals = static_cast<std::size_t>(2 * (n + 2) * lines);
      const std::size_t bytes = (reals * sizeof(T) + 63) / 64 * 64;
      const auto memory = [&] { return std::shared_ptr<T>(static_cast<T*>(std::aligned_alloc(64, bytes)), std::free); };
      const std::shared_ptr<T> in = memory(), out = memory(), spoilt = memory();  // FFTW's c2r overwrites its input
      std::vector<std::function<void()>> candidates;
      for (const Kind kind : kinds) {
        const Case<T> c{kind, n, lines, threads, in.get(), out.get()};
        candidates.push_back(ours(c));
#ifdef TRN_HAVE_FFTW
        candidates.push_back(
            fftw(Case<T>{kind, n, lines, threads, kind == Kind::ComplexToReal ? spoilt.get() : in.get(), out.get()}));
#else
        candidates.push_back({});
#endif
        candidates.push_back(mkl(n, lines, threads, real, kind == Kind::ComplexToReal, in.get(), out.get()));
#ifdef TRN_HAVE_KISSFFT
        candidates.push_back(kissfft(c));
#else
        candidates.push_back({});
#endif
      }
      if (real || (!many && n <= 5))
        candidates.push_back(ours(Case<T>{Kind::ComplexToComplex, n, lines, threads, in.get(), out.get()}, !real));
      for (std::size_t i = 0; i < reals; ++i)
        in.get()[i] = static_cast<T>(i % 97) / 97 - T(0.5), spoilt.get()[i] = T(0);  // FFTW_MEASURE has written here
      const std::vector<double> t = race(candidates, seconds);
      const double flops = (real ? 2.5 : 5) * static_cast<double>(n * lines) * std::log2(static_cast<double>(n));
      std::printf("| %lld | %lld |", static_cast<long long>(n), static_cast<long long>(lines));
      for (std::size_t i = 0; i < kinds.size(); ++i) {
        const double mine = t[4 * i], fftw_ratio = t[4 * i + 1] / mine, mkl_ratio = t[4 * i + 2] / mine,
                     kiss_ratio = t[4 * i + 3] / mine;
        std::printf(" %.4g | %.1f |", mine / static_cast<double>(lines) * 1e6, flops / mine / 1e9);
        for (const double ratio : {fftw_ratio, mkl_ratio, kiss_ratio})
          if (std::isfinite(ratio))
            std::printf(" %.2f |", ratio);
          else
            std::printf(" - |");
        if (real) std::printf(" %.2f |", mine / t.back());
        fftw_all.add(fftw_ratio);
        mkl_all.add(mkl_ratio);
        kiss_all.add(kiss_ratio);
        if (n <= 4096) fftw_short.add(fftw_ratio);
      }
      if (!real && candidates.size() > 4) std::printf(" with views %.4g us", t.back() * 1e6);
      std::printf("\n");
      std::fflush(stdout);
    }
  };
  if (!chosen.empty())
    group(chosen);
  else {
    group({std::begin(kPowers), std::end(kPowers)});
    group({std::begin(kSmooth), std::end(kSmooth)});
    group({std::begin(kPrimes), std::end(kPrimes)});
    group({std::begin(kAwkward), std::end(kAwkward)});
  }
  std::printf("\n");
  fftw_all.print("FFTW / ours");
  fftw_short.print("FFTW / ours for n <= 4096");
  mkl_all.print("MKL / ours");
  kiss_all.print("KissFFT / ours");
  std::printf("\n");
}

constexpr Kind kKinds[] = {Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal};

template <class T> double seconds_to_plan(Kind kind, std::int64_t n) {
  const auto direction = kind == Kind::ComplexToReal ? trn::fft::Direction::Inverse : trn::fft::Direction::Forward;
  const auto begin = std::chrono::steady_clock::now();
  const trn::fft::Plan<T> plan(trn::Executor::host(), trn::fft::dense(kind, direction, {n}));
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

template <class T> void random_plans(int count, double largest) {
  std::printf("| plans of %d random lengths to %.0f | median, us | nine of ten, us | worst, us (n) |\n", count,
              largest);
  std::printf("|---|---|---|---|\n");
  for (const Kind kind : kKinds) {
    std::mt19937_64 random(1);
    std::uniform_real_distribution<double> unit(0, 1);
    std::vector<std::pair<double, std::int64_t>> times;
    for (int i = 0; i < count; ++i) {
      const auto n = static_cast<std::int64_t>(std::exp(unit(random) * std::log(largest)) + 0.5);
      times.emplace_back(seconds_to_plan<T>(kind, n), n);
    }
    std::sort(times.begin(), times.end());
    const auto at = [&](double part) { return times[static_cast<std::size_t>(part * (count - 1))].first * 1e6; };
    std::printf("| %s | %.3g | %.3g | %.3g (%lld) |\n",
                kind == Kind::ComplexToComplex ? "c2c"
                : kind == Kind::RealToComplex  ? "r2c"
                                               : "c2r",
                at(0.5), at(0.9), at(1), static_cast<long long>(times.back().second));
  }
}

template <class T> void plan_table(const std::vector<std::int64_t>& lengths) {
  std::printf("| n | c2c, us | r2c, us | c2r, us |\n|---|---|---|---|\n");
  for (const std::int64_t n : lengths) {
    std::printf("| %lld |", static_cast<long long>(n));
    for (const Kind kind : kKinds) {
      double best = std::numeric_limits<double>::infinity();
      for (int round = 0; round < 3; ++round) best = std::min(best, seconds_to_plan<T>(kind, n));
      std::printf(" %.3g |", best * 1e6);
    }
    std::printf("\n");
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strncmp(argv[1], "mkl=", 4) == 0) mkl_path = argv[1] + 4, --argc, ++argv;
  const auto argument = [&](int i, const char* otherwise) { return std::string(argc > i ? argv[i] : otherwise); };
  const bool is_double = argument(1, "float") == "double", real = argument(2, "complex") == "real",
             many = argument(3, "many") == "many";
  if (argument(2, "") == "plan") {
    std::vector<std::int64_t> lengths = {16, 128, 1000, 1009, 4096, 4093, 65536, 99991, 1048576, 1000003};
    if (argc > 3) lengths.clear();
    for (int i = 3; i < argc; ++i) lengths.push_back(std::atoll(argv[i]));
    is_double ? plan_table<double>(lengths) : plan_table<float>(lengths);
    return 0;
  }
  if (argument(2, "") == "plans") {
    const int count = std::atoi(argument(3, "1000").c_str());
    const double largest = std::atof(argument(4, "100000").c_str());
    is_double ? random_plans<double>(count, largest) : random_plans<float>(count, largest);
    return 0;
  }
  const int threads = std::atoi(argument(4, "1").c_str());
  const double seconds = std::atof(argument(5, "0.05").c_str());
  std::vector<std::int64_t> chosen;
  for (int i = 6; i < argc; ++i) chosen.push_back(std::atoll(argv[i]));
#ifdef TRN_HAVE_FFTW
  fftwf_init_threads();
  fftw_init_threads();
#endif
  if (is_double)
    table<double>(real, many, threads, seconds, chosen);
  else
    table<float>(real, many, threads, seconds, chosen);
}
