// 1-D plans on the host beside FFTW (FFTW_MEASURE) and KissFFT in one run, as a Markdown table. Peers are optional: a column without its library says so.
//
//   fft_host_speed [float|double] [complex|real] [many|one] [threads] [seconds per number] [lengths]
//
// Every length is timed in turn, ours and the peers' interleaved; the smallest time of all rounds counts. "many" means lines of about 2^18 points altogether
// (at least 16 of them), "one" a single line. Ours is Plan::execute with addresses and a workspace; what the overload for views costs more is printed for single
// lines of n <= 5. Ratios are peer's time over ours: above 1 we are ahead. Of real lines the last column is our time over that
// of our complex transform of the same n and number of lines.
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
#include <string>
#include <vector>

#include <trn/fft/plan.hpp>

#ifdef TRN_HAVE_FFTW
#include <fftw3.h>
#endif
#ifdef TRN_HAVE_KISSFFT
#include <kiss_fft.h>
#include <kiss_fftr.h>
#endif

namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

template <class T>
struct Case {
  bool real;
  std::int64_t n, lines;
  int threads;
  T *in, *out;
};

// What a user calls: Plan::execute with addresses. With `views` the overload that checks everything.
template <class T>
std::function<void()> ours(const Case<T>& c, bool views = false) {
  using trn::fft::Kind;
  using C = std::complex<T>;
  omp_set_num_threads(c.threads);
  const trn::Executor host = trn::Executor::host();
  const trn::fft::Plan<T> plan(host, trn::fft::dense(c.real ? Kind::RealToComplex : Kind::ComplexToComplex, trn::fft::Direction::Forward, {c.n}, {.batch = c.lines}));
  const auto workspace = std::make_shared<trn::Buffer>(host, plan.workspace_bytes());
  C* out = reinterpret_cast<C*>(c.out);
  const C* in = reinterpret_cast<const C*>(c.in);
  if (views) {
    const trn::View<const C> from(host, in, {c.lines, c.n});
    const trn::View<C> to(host, out, {c.lines, c.n});
    return [=] { plan.execute(from, to); };
  }
  void* memory = workspace->data();
  if (c.real) return [=, x = c.in] { static_cast<void>(workspace), plan.execute(x, out, memory); };
  return [=] { static_cast<void>(workspace), plan.execute(in, out, memory); };
}

#ifdef TRN_HAVE_FFTW
std::function<void()> fftw(const Case<float>& c) {
  fftwf_plan_with_nthreads(c.threads);
  const int n = static_cast<int>(c.n), lines = static_cast<int>(c.lines), half = n / 2 + 1;
  auto* out = reinterpret_cast<fftwf_complex*>(c.out);
  const fftwf_plan plan = c.real ? fftwf_plan_many_dft_r2c(1, &n, lines, c.in, nullptr, 1, n, out, nullptr, 1, half, FFTW_MEASURE)
                                 : fftwf_plan_many_dft(1, &n, lines, reinterpret_cast<fftwf_complex*>(c.in), nullptr, 1, n, out, nullptr, 1, n, FFTW_FORWARD, FFTW_MEASURE);
  const std::shared_ptr<void> owner(nullptr, [plan](void*) { fftwf_destroy_plan(plan); });
  return [plan, owner] { fftwf_execute(plan); };
}
std::function<void()> fftw(const Case<double>& c) {
  fftw_plan_with_nthreads(c.threads);
  const int n = static_cast<int>(c.n), lines = static_cast<int>(c.lines), half = n / 2 + 1;
  auto* out = reinterpret_cast<fftw_complex*>(c.out);
  const fftw_plan plan = c.real ? fftw_plan_many_dft_r2c(1, &n, lines, c.in, nullptr, 1, n, out, nullptr, 1, half, FFTW_MEASURE)
                                : fftw_plan_many_dft(1, &n, lines, reinterpret_cast<fftw_complex*>(c.in), nullptr, 1, n, out, nullptr, 1, n, FFTW_FORWARD, FFTW_MEASURE);
  const std::shared_ptr<void> owner(nullptr, [plan](void*) { fftw_destroy_plan(plan); });
  return [plan, owner] { fftw_execute(plan); };
}
#endif

#ifdef TRN_HAVE_KISSFFT
// KissFFT has float only here, one line a call, real lines of even length only; its primes are quadratic and left out where that takes minutes.
std::function<void()> kissfft(const Case<float>& c) {
  std::int64_t largest = 1;
  for (std::int64_t rest = c.n, p = 2; rest > 1; ++p)
    for (; rest % p == 0; rest /= p) largest = p;
  if (c.threads != 1 || (c.real && c.n % 2 != 0) || largest > 600) return {};
  const int n = static_cast<int>(c.n);
  if (c.real) {
    const std::shared_ptr<void> state(kiss_fftr_alloc(n, 0, nullptr, nullptr), std::free);
    return [=] {
      for (std::int64_t b = 0; b < c.lines; ++b)
        kiss_fftr(static_cast<kiss_fftr_cfg>(state.get()), c.in + b * c.n, reinterpret_cast<kiss_fft_cpx*>(c.out + b * 2 * (c.n / 2 + 1)));
    };
  }
  const std::shared_ptr<void> state(kiss_fft_alloc(n, 0, nullptr, nullptr), std::free);
  return [=] {
    for (std::int64_t b = 0; b < c.lines; ++b)
      kiss_fft(static_cast<kiss_fft_cfg>(state.get()), reinterpret_cast<kiss_fft_cpx*>(c.in + b * 2 * c.n), reinterpret_cast<kiss_fft_cpx*>(c.out + b * 2 * c.n));
  };
}
#endif
[[maybe_unused]] std::function<void()> kissfft(const Case<double>&) { return {}; }

// Smallest seconds of one call, the candidates in turn.
std::vector<double> race(const std::vector<std::function<void()>>& candidates, double seconds) {
  std::vector<double> best(candidates.size(), std::numeric_limits<double>::infinity());
  std::vector<int> calls(candidates.size(), 1);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    if (!candidates[i]) continue;
    candidates[i]();
    const double start = now();
    candidates[i]();
    calls[i] = std::max(1, static_cast<int>(20e-6 / std::max(now() - start, 1e-9)));
  }
  const double begin = now(), span = seconds * static_cast<double>(candidates.size());
  for (int round = 0; round < 5 || now() - begin < span; ++round)
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      if (!candidates[i]) continue;
      const double start = now();
      for (int k = 0; k < calls[i]; ++k) candidates[i]();
      best[i] = std::min(best[i], (now() - start) / calls[i]);
    }
  return best;
}

const std::int64_t kPowers[] = {2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384, 65536, 262144, 1048576};
const std::int64_t kSmooth[] = {3, 6, 12, 15, 20, 30, 48, 60, 100, 120, 210, 240, 360, 480, 600, 720, 1000, 1200, 1500, 1920, 2187, 2310, 3000, 3125, 3600, 4000, 10000, 30030, 100000, 600000, 1000000};
const std::int64_t kPrimes[] = {5, 7, 11, 13, 17, 23, 31, 47, 61, 67, 97, 127, 167, 257, 509, 1009, 1019, 2017, 4093, 10007, 65537, 99991};
const std::int64_t kAwkward[] = {34, 74, 134, 2018, 4087, 8193};

template <class T>
void table(bool real, bool many, int threads, double seconds, const std::vector<std::int64_t>& chosen) {
  std::printf("| kind | n | lines | ours, us a line | GFlop/s | FFTW / ours | KissFFT / ours |%s\n|---|---|---|---|---|---|---|%s\n", real ? " r2c / c2c |" : "", real ? "---|" : "");
  double log_sum = 0, log_short = 0, log_kiss = 0, worst = std::numeric_limits<double>::infinity(), worst_kiss = worst;
  int count = 0, count_short = 0, count_kiss = 0;
  const auto group = [&](const char* name, const std::vector<std::int64_t>& lengths) {
    for (const std::int64_t n : lengths) {
      const std::int64_t lines = many ? std::max<std::int64_t>(16, (std::int64_t{1} << 18) / n) : 1;
      if (many && n * lines > std::int64_t{1} << 22) continue;
      const std::size_t reals = static_cast<std::size_t>(2 * (n + 2) * lines);
      const std::size_t bytes = (reals * sizeof(T) + 63) / 64 * 64;
      const std::shared_ptr<T> in(static_cast<T*>(std::aligned_alloc(64, bytes)), std::free), out(static_cast<T*>(std::aligned_alloc(64, bytes)), std::free);
      const Case<T> c{real, n, lines, threads, in.get(), out.get()};
      std::vector<std::function<void()>> candidates(4);
      candidates[0] = ours(c);
#ifdef TRN_HAVE_FFTW
      candidates[1] = fftw(c);
#endif
#ifdef TRN_HAVE_KISSFFT
      candidates[2] = kissfft(c);
#endif
      if (real) candidates[3] = ours(Case<T>{false, n, lines, threads, in.get(), out.get()});
      else if (!many && n <= 5) candidates[3] = ours(c, true);
      for (std::size_t i = 0; i < reals; ++i) in.get()[i] = static_cast<T>(i % 97) / 97 - T(0.5);  // FFTW_MEASURE has written here
      const std::vector<double> t = race(candidates, seconds);
      const double flops = (real ? 2.5 : 5) * static_cast<double>(n * lines) * std::log2(static_cast<double>(n));
      std::printf("| %s | %lld | %lld | %.4g | %.1f | ", name, static_cast<long long>(n), static_cast<long long>(lines), t[0] / static_cast<double>(lines) * 1e6, flops / t[0] / 1e9);
      const auto ratio = [&](double peer) {
        if (std::isfinite(peer)) std::printf("%.2f | ", peer / t[0]);
        else std::printf("- | ");
      };
      ratio(t[1]);
      ratio(t[2]);
      if (real) std::printf("%.2f |", t[0] / t[3]);
      else if (candidates[3]) std::printf(" with views %.4g us", t[3] * 1e6);
      std::printf("\n");
      std::fflush(stdout);
      if (std::isfinite(t[1])) {
        log_sum += std::log(t[1] / t[0]);
        worst = std::min(worst, t[1] / t[0]);
        ++count;
        if (n <= 4096) log_short += std::log(t[1] / t[0]), ++count_short;
      }
      if (std::isfinite(t[2])) log_kiss += std::log(t[2] / t[0]), worst_kiss = std::min(worst_kiss, t[2] / t[0]), ++count_kiss;
    }
  };
  if (!chosen.empty()) group("chosen", chosen);
  else {
    group("power of two", {std::begin(kPowers), std::end(kPowers)});
    group("smooth", {std::begin(kSmooth), std::end(kSmooth)});
    group("prime", {std::begin(kPrimes), std::end(kPrimes)});
    group("other", {std::begin(kAwkward), std::end(kAwkward)});
  }
  if (count > 0)
    std::printf("\nFFTW / ours: geometric mean %.2f, for n <= 4096 %.2f, smallest %.2f. KissFFT / ours: geometric mean %.2f, smallest %.2f.\n",
                std::exp(log_sum / count), std::exp(log_short / std::max(count_short, 1)), worst, std::exp(log_kiss / std::max(count_kiss, 1)), worst_kiss);
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, const char* otherwise) { return std::string(argc > i ? argv[i] : otherwise); };
  const bool is_double = argument(1, "float") == "double", real = argument(2, "complex") == "real", many = argument(3, "many") == "many";
  const int threads = std::atoi(argument(4, "1").c_str());
  const double seconds = std::atof(argument(5, "0.05").c_str());
  std::vector<std::int64_t> chosen;
  for (int i = 6; i < argc; ++i) chosen.push_back(std::atoll(argv[i]));
#ifdef TRN_HAVE_FFTW
  fftwf_init_threads();
  fftw_init_threads();
#endif
  if (is_double) table<double>(real, many, threads, seconds, chosen);
  else table<float>(real, many, threads, seconds, chosen);
}
