// Denoising with the short-time Fourier transform: a chirp in white noise is concentrated in a few bins of its
// spectrogram, the noise lies in all of them; bins below a threshold are set to zero, and the inverse gives the chirp
// back with less noise. Without the threshold it gives the signal back itself. `--exec sim:trn2` runs it on a simulated
// device, in single precision; the host computes in double.
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numbers>
#include <random>
#include <vector>

#include <trn/trn.hpp>

namespace {

template <class T> double decibel_between(const std::vector<T>& clean, const std::vector<T>& other) {
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const double difference = static_cast<double>(other[i]) - static_cast<double>(clean[i]);
    signal += static_cast<double>(clean[i]) * static_cast<double>(clean[i]);
    noise += difference * difference;
  }
  return 10 * std::log10(signal / noise);
}

// `exact_to`: the decibels to which the signal must come back.
template <class T> int denoise(const trn::Executor& exec, double exact_to) {
  using namespace trn;
  const std::int64_t n = 16384;
  const Recorder recorder(exec);
  std::mt19937 engine(3);
  std::normal_distribution<double> normal;
  std::vector<T> clean, noisy;
  for (std::int64_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(n);
    clean.push_back(
        static_cast<T>(std::sin(2 * std::numbers::pi * (200 * t + 1200 * t * t))));  // 200 to 2600 turns per length
    noisy.push_back(static_cast<T>(static_cast<double>(clean.back()) + 0.7 * normal(engine)));
  }
  const fft::StftOptions options{.n_fft = 256, .hop = 64};
  const auto spectrogram = fft::stft(exec, Array<T>::from_host(exec, {n}, noisy), options);

  const auto untouched = fft::istft(exec, spectrogram, options, {.length = n}).to_host();
  auto bins = spectrogram.to_host();
  // The noise of a bin has the variance 0.7^2 sum(w^2); three and a half times its size passes in 2 of a million bins.
  double power = 0;
  for (const double w : fft::window(fft::WindowKind::Hann, options.n_fft)) power += w * w;
  const double threshold = 3.5 * 0.7 * std::sqrt(power);
  std::size_t kept = 0;
  for (auto& z : bins) {
    if (static_cast<double>(std::abs(z)) < threshold)
      z = 0;
    else
      ++kept;
  }
  const auto denoised =
      fft::istft(exec, Array<std::complex<T>>::from_host(exec, spectrogram.shape(), bins), options, {.length = n})
          .to_host();

  const double before = decibel_between(clean, noisy), after = decibel_between(clean, denoised),
               back = decibel_between(noisy, untouched);
  std::printf("signal to noise: %.1f dB before, %.1f dB after; %zu of %zu bins kept\n", before, after, kept,
              bins.size());
  std::printf("without a threshold the signal comes back to %.0f dB\n", back);
  // On a simulator device kernels ran, which have a modelled time.
  const bool there = (recorder.modelled_seconds() > 0) == (exec.family() == Family::Device);
  const bool right = there && after > before + 10 && back > exact_to;
  std::printf("%s\n", right ? "right" : "WRONG");
  return right ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto exec = trn::Executor::open(argc == 3 && std::strcmp(argv[1], "--exec") == 0 ? argv[2] : "host");
  return exec.family() == trn::Family::Host ? denoise<double>(exec, 280) : denoise<float>(exec, 120);
}
