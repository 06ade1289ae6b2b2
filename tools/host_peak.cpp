// A register-resident FMA loop for the best instruction set the host has, run on every core at once.
#include "host_peak.hpp"

#include <algorithm>
#include <cstdint>
#include <ctime>

#include <omp.h>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host_peak.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace trn::tools::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Twelve independent chains hide the latency of the multiply-add. Returns the flops done; `sink` keeps the loop alive.
template <class T> double chains(std::int64_t rounds, T* sink) {
  const hn::ScalableTag<T> d;
  const auto x = hn::Set(d, static_cast<T>(0.9999)), y = hn::Set(d, static_cast<T>(1e-4));
  // Different starts, or the compiler would see that the chains are one.
  const auto start = [&](double v) { return hn::Set(d, static_cast<T>(v)); };
  auto a = start(1.0), b = start(1.1), c = start(1.2), e = start(1.3), f = start(1.4), g = start(1.5), h = start(1.6),
       i = start(1.7), j = start(1.8), k = start(1.9), l = start(2.0), m = start(2.1);
  for (std::int64_t r = 0; r < rounds; ++r) {
    a = hn::MulAdd(a, x, y);
    b = hn::MulAdd(b, x, y);
    c = hn::MulAdd(c, x, y);
    e = hn::MulAdd(e, x, y);
    f = hn::MulAdd(f, x, y);
    g = hn::MulAdd(g, x, y);
    h = hn::MulAdd(h, x, y);
    i = hn::MulAdd(i, x, y);
    j = hn::MulAdd(j, x, y);
    k = hn::MulAdd(k, x, y);
    l = hn::MulAdd(l, x, y);
    m = hn::MulAdd(m, x, y);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)),
                           hn::Add(hn::Add(hn::Add(f, g), hn::Add(h, i)), hn::Add(hn::Add(j, k), hn::Add(l, m))));
  *sink = hn::GetLane(sum);
  return 2.0 * 12.0 * static_cast<double>(rounds) * static_cast<double>(hn::Lanes(d));
}
double chains32(std::int64_t rounds, float* sink) { return chains<float>(rounds, sink); }
double chains64(std::int64_t rounds, double* sink) { return chains<double>(rounds, sink); }

}  // namespace trn::tools::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::tools {
HWY_EXPORT(chains32);
HWY_EXPORT(chains64);

namespace {
// The time this thread was on a core: another program that takes the core away does not count.
double thread_seconds() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

template <class T, class Run> double measure(Run run) {
  constexpr std::int64_t kRounds = 400000;
  constexpr int kRepeats = 5;
  double best = 0;
  for (int r = 0; r < kRepeats; ++r) {
    double rate = 0;
#pragma omp parallel reduction(+ : rate)
    {
      volatile T keep;
      T sink;
      const double begin = thread_seconds();
      const double flops = run(kRounds, &sink);
      rate += flops / (thread_seconds() - begin);
      keep = sink;
      (void)keep;
    }
    best = std::max(best, rate);
  }
  return best;
}
}  // namespace

const HostPeak& host_peak() {
  static const HostPeak peak{
      measure<float>([](std::int64_t n, float* s) { return HWY_DYNAMIC_DISPATCH(chains32)(n, s); }),
      measure<double>([](std::int64_t n, double* s) { return HWY_DYNAMIC_DISPATCH(chains64)(n, s); })};
  return peak;
}
}  // namespace trn::tools
#endif
