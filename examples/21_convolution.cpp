// Convolution three ways, and an echo found by correlation: a pulse of noise comes back 1,234 samples later, fifty
// times weaker than the noise around it. `--exec sim:trn2` runs it on a simulated device.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <random>
#include <vector>

#include <trn/trn.hpp>

int main(int argc, char** argv) {
  using namespace trn;
  const auto exec = Executor::open(argc == 3 && std::strcmp(argv[1], "--exec") == 0 ? argv[2] : "host");
  const Recorder recorder(exec);
  std::mt19937 engine(1);
  std::normal_distribution<float> normal;
  const auto noise = [&](std::int64_t n, float size) {
    std::vector<float> x(static_cast<std::size_t>(n));
    for (float& v : x) v = size * normal(engine);
    return x;
  };

  // 1. One long signal, one short kernel: sums, one transform, and overlapping blocks give the same.
  const auto signal = Array<float>::from_host(exec, {20000}, noise(20000, 1)),
             kernel = Array<float>::from_host(exec, {101}, noise(101, 1));
  const auto sums = fft::convolve(exec, signal, kernel, {.method = fft::ConvolveMethod::Direct}).to_host();
  const auto whole = fft::fftconvolve(exec, signal, kernel).to_host(),
             blocks = fft::oaconvolve(exec, signal, kernel).to_host();
  double worst = 0, size = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    for (const double off :
         {std::abs(static_cast<double>(whole[i] - sums[i])), std::abs(static_cast<double>(blocks[i] - sums[i]))}) {
      if (!(off <= worst)) worst = off;  // a NaN counts
    }
    size += sums[i] * sums[i];
  }
  const double typical = std::sqrt(size / static_cast<double>(sums.size()));
  std::printf("convolution of 20000 and 101 points: values of size %.1f, largest difference %.1e\n", typical, worst);

  // 2. The echo.
  const std::int64_t delay = 1234, pulse_size = 4096;
  const std::vector<float> pulse = noise(pulse_size, 1);
  std::vector<float> heard = noise(16384, 1);
  for (std::int64_t i = 0; i < pulse_size; ++i)
    heard[static_cast<std::size_t>(i + delay)] += 0.14f * pulse[static_cast<std::size_t>(i)];
  const auto match =
      fft::correlate(exec, Array<float>::from_host(exec, {16384}, heard),
                     Array<float>::from_host(exec, {pulse_size}, pulse), {.mode = fft::ConvolveMode::Valid})
          .to_host();
  std::int64_t best = 0;
  for (std::size_t i = 0; i < match.size(); ++i) {
    if (match[i] > match[static_cast<std::size_t>(best)]) best = static_cast<std::int64_t>(i);
  }
  std::printf("echo in noise fifty times its power: found at %lld samples, it was at %lld\n",
              static_cast<long long>(best), static_cast<long long>(delay));
  // fft/include/trn/fft/convolve.hpp bounds the error by norms; 20 u times sqrt(101) of the values' size is far above
  // what happens and far below a mistake.
  // On a simulator device kernels ran, which have a modelled time.
  const bool there = (recorder.modelled_seconds() > 0) == (exec.family() == Family::Device);
  const bool right = there && worst < 20 * 6e-8 * std::sqrt(101.0) * typical && best == delay;
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}
