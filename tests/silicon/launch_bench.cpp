// Wall times of the `neuron` executor on the host, over the fake runtime that does nothing: a warm run, and kernels of
// 50 us with 50 us of host work between, one at a time and three in flight.
//
//   build/release/tests/launch_bench
#include <algorithm>
#include <chrono>
#include <cstdio>

#include "silicon/programs.hpp"
#include "support/fake_nrt.hpp"

namespace {

using namespace trn;
using namespace trn::neuron::testing;
using Clock = std::chrono::steady_clock;

double microseconds(Clock::time_point begin) {
  return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
}

void warm_run() {
  FakeRuntime fake("null lag=0");
  const Executor e = open_fake();
  tile::Device& device = tile::device_of(e);
  const Array<float> x(e, {kRows, kColumns}), y(e, {kRows, kColumns});
  const auto executable = tile::load(e, twice_program, Twice{});
  const std::vector<tile::Binding> bindings{{"x", static_cast<const void*>(x.data())},
                                            {"y", static_cast<void*>(y.data())}};
  std::vector<double> times;
  for (int i = 0; i < 20000; ++i) {
    const Clock::time_point begin = Clock::now();
    device.run(executable, bindings);
    times.push_back(microseconds(begin));
  }
  std::sort(times.begin(), times.end());
  std::printf("warm run: median %.2f us, 9 of 10 within %.2f us\n", times[times.size() / 2],
              times[times.size() * 9 / 10]);
  e.synchronize();
}

double per_kernel(bool waiting) {
  FakeRuntime fake("null delay_us=50");
  const Executor e = open_fake();
  const Array<float> x(e, {kRows, kColumns}), y(e, {kRows, kColumns});
  twice(e, x, y);
  e.synchronize();
  constexpr int kKernels = 2000;
  const Clock::time_point begin = Clock::now();
  for (int i = 0; i < kKernels; ++i) {
    const Clock::time_point work = Clock::now();
    while (microseconds(work) < 50) {
    }
    twice(e, x, y);
    if (waiting) e.synchronize();
  }
  e.synchronize();
  return microseconds(begin) / kKernels;
}

}  // namespace

int main() {
  warm_run();
  const double one = per_kernel(true), three = per_kernel(false);
  std::printf("a kernel and host work of 50 us each: %.1f us one at a time, %.1f us with three in flight: %.2f times\n",
              one, three, one / three);
}
