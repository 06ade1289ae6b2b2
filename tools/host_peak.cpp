// A register-resident FMA loop for the best instruction set the host has, run on every core at once.
#include "host_peak.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>

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
  auto a = hn::Set(d, static_cast<T>(1)), b = a, c = a, e = a, f = a, g = a, h = a, i = a, j = a, k = a, l = a, m = a;
  for (std::int64_t r = 0; r < rounds; ++r) {
    a = hn::MulAdd(a, x, y); b = hn::MulAdd(b, x, y); c = hn::MulAdd(c, x, y); e = hn::MulAdd(e, x, y);
    f = hn::MulAdd(f, x, y); g = hn::MulAdd(g, x, y); h = hn::MulAdd(h, x, y); i = hn::MulAdd(i, x, y);
    j = hn::MulAdd(j, x, y); k = hn::MulAdd(k, x, y); l = hn::MulAdd(l, x, y); m = hn::MulAdd(m, x, y);
  }
  const auto sum = hn::Add(hn::Add(hn::Add(a, b), hn::Add(c, e)), hn::Add(hn::Add(hn::Add(f, g), hn::Add(h, i)), hn::Add(hn::Add(j, k), hn::Add(l, m))));
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
template <class T, class Run> double measure(Run run) {
  constexpr std::int64_t kRounds = 400000;
  constexpr int kRepeats = 5;
  double best = 0;
  for (int r = 0; r < kRepeats; ++r) {
    double flops = 0;
    const auto begin = std::chrono::steady_clock::now();
#pragma omp parallel reduction(+ : flops)
    {
      volatile T keep;
      T sink;
      flops += run(kRounds, &sink);
      keep = sink;
      (void)keep;
    }
    best = std::max(best, flops / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return best;
}
}  // namespace

const HostPeak& host_peak() {
  static const HostPeak peak{measure<float>([](std::int64_t n, float* s) { return HWY_DYNAMIC_DISPATCH(chains32)(n, s); }),
                             measure<double>([](std::int64_t n, double* s) { return HWY_DYNAMIC_DISPATCH(chains64)(n, s); })};
  return peak;
}
}  // namespace trn::tools
#endif
