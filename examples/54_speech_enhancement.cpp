// Speech enhancement by a complex mask: a voice in white noise is transformed frame by frame, a small network with
// complex layers gives each bin of the spectrogram a complex factor, and the inverse transform gives the voice back
// with less noise.
//
//   X = stft(noisy),  Z = A C,  P = B |C|^2,  G = max(0, 1 - b^2 noise/power),  M = w [1; G; G G'],  voice = istft(M X)
//
// C holds for each bin its 5 x 5 neighbourhood in frequency and time, turned so that a steady tone has one phase in all
// frames. The first layer A adds neighbours coherently, B adds their powers. The gates G compare |Z|^2 and P with
// multiples b^2 of what noise alone gives there, measured in the silence at the beginning; G G' are products of the
// bin's own gates with those of B, which close where a bin stands alone. The last layer w is fitted by least squares, M
// X against the clean spectrogram, on other recordings than the one that it is tried on. Recordings are made by the
// program: harmonics of a moving pitch under formants, in syllables.
//
// On the executor: noise, transforms, layers, the products of the normal equations, M X. On the host: gates, and the
// solution of the normal equations (trnsolver).
//
// What is checked, on a recording that the fit has not seen:
//   - the mask that is one constant for all bins: theory says it brings a signal to noise ratio q to 1 + q
//   - the network gains at least 7 dB at a ratio of 1, and half a decibel more than the best single gate
//   - it stays below the mask that knows the voice, |S|^2/(|S|^2 + |N|^2)
//   - without a mask the signal comes back up to roundings; everything ran on the executor
//
//   54_speech_enhancement [--exec NAME] [--seconds 2] [--figure FILE.svg]
#include <cmath>
#include <complex>
#include <cstdio>
#include <numbers>
#include <vector>

#include <trn/solver/least_squares.hpp>
#include <trn/trn.hpp>

#include "arguments.hpp"
#include "figure.hpp"

namespace {

constexpr double kRate = 8000, kSilence = 0.15, kPi = std::numbers::pi;
constexpr std::int64_t kReach = 2, kAround = 25, kRows = 4, kPools = 5, kGates = 4;
// The row of ones, the gates, and products of each gate of the bin itself with each gate of a pool.
constexpr std::int64_t kFeatures = 1 + (kRows + kPools) * kGates + kGates * kPools * kGates;
constexpr double kMultiples[kGates] = {1, 1.7, 2.6, 4}, kPooledMultiples[kGates] = {1, 1.3, 1.8, 2.5};
using Wide = std::complex<double>;

template <class T> struct Recording { std::vector<T> clean, noisy; };

// The noise is scaled to the ratio asked for, over the whole recording.
template <class T> Recording<T> record(const trn::Executor& exec, std::uint64_t seed, double seconds, double decibel) {
  const auto n = static_cast<std::int64_t>(seconds * kRate);
  trn::rand::Generator generator({.seed = seed});
  const trn::Array<T> noise(exec, {n});
  trn::rand::normal(exec, generator, noise.view());
  const std::vector<T> samples = noise.to_host();
  const double mood = 0.7 * static_cast<double>(seed);
  std::vector<double> voice;
  double phase = 0, power = 0, noise_power = 0;
  for (std::int64_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i) / kRate;
    const double pitch = 130 + 35 * std::sin(2 * kPi * 1.3 * t + mood) + 10 * std::sin(2 * kPi * 3.1 * t + 2 * mood);
    phase += 2 * kPi * pitch / kRate;
    double sum = 0;
    for (int h = 1; h * pitch < 3600; ++h) {
      double envelope = 0.02;
      for (const double formant : {500.0, 1400.0, 2500.0}) {
        const double at = formant * (1 + 0.1 * std::sin(2 * kPi * 0.9 * t + mood)), off = (h * pitch - at) / 180;
        envelope += std::exp(-off * off / 2) * 500 / formant;
      }
      sum += envelope * std::sin(h * phase);
    }
    const double syllable =
        t < kSilence ? 0 : std::max(0.0, std::sin(2 * kPi * 2.2 * (t - kSilence) + 0.3 * std::sin(mood)));
    voice.push_back(sum * std::sqrt(syllable));
    power += voice.back() * voice.back();
    noise_power += static_cast<double>(samples[static_cast<std::size_t>(i)]) *
                   static_cast<double>(samples[static_cast<std::size_t>(i)]);
  }
  const double scale = std::sqrt(power / noise_power * std::pow(10, -decibel / 10));
  Recording<T> r;
  for (std::size_t i = 0; i < voice.size(); ++i) {
    r.clean.push_back(static_cast<T>(voice[i]));
    r.noisy.push_back(static_cast<T>(voice[i] + scale * static_cast<double>(samples[i])));
  }
  return r;
}

template <class T> double decibels(const std::vector<T>& clean, const std::vector<T>& other) {
  double signal = 0, noise = 0;
  for (std::size_t i = 0; i < clean.size(); ++i) {
    const double difference = static_cast<double>(other[i]) - static_cast<double>(clean[i]);
    signal += static_cast<double>(clean[i]) * static_cast<double>(clean[i]);
    noise += difference * difference;
  }
  return 10 * std::log10(signal / noise);
}

template <class T> class Enhancer {
 public:
  using C = std::complex<T>;
  explicit Enhancer(const trn::Executor& exec)
      : exec_(exec), first_(rows(exec, kRows, layer)), pools_(rows(exec, kPools, pool)) {}

  [[nodiscard]] trn::Array<C> spectrogram(const std::vector<T>& x) const {
    return trn::fft::stft(exec_, trn::Array<T>::from_host(exec_, {static_cast<std::int64_t>(x.size())}, x), options_);
  }
  [[nodiscard]] std::vector<T> signal(const trn::Array<C>& y, std::int64_t length) const {
    return trn::fft::istft(exec_, y, options_, {.length = length}).to_host();
  }

  // kFeatures x bins.
  [[nodiscard]] std::vector<C> gates(const trn::Array<C>& spectrum) const {
    const std::int64_t frequencies = spectrum.shape()[0], frames = spectrum.shape()[1], bins = frequencies * frames;
    const std::vector<C> x = spectrum.to_host();
    std::vector<C> around(static_cast<std::size_t>(kAround * bins), C(0)), powers = around;
    for (std::int64_t j = 0; j < kAround; ++j) {
      for (std::int64_t k = 0; k < frequencies; ++k) {
        for (std::int64_t t = 0; t < frames; ++t) {
          const std::int64_t a = k + j / 5 - kReach, b = t + j % 5 - kReach;
          if (a < 0 || a >= frequencies || b < 0 || b >= frames) continue;
          // A tone at the middle of bin a turns by 2 pi a hop/n_fft from frame to frame: a quarter of a turn, a times.
          const C turn[4] = {C(1), C(0, -1), C(-1), C(0, 1)}, value = x[static_cast<std::size_t>(a * frames + b)];
          const auto at = static_cast<std::size_t>(j * bins + k * frames + t);
          around[at] = turn[static_cast<std::size_t>(((a * (b - t)) % 4 + 4) % 4)] * value;
          powers[at] = C(std::norm(value));
        }
      }
    }
    const auto z = trn::blas::gemm(exec_, first_, trn::Matrix<C>::from_host(exec_, kAround, bins, around)).to_host();
    const auto p = trn::blas::gemm(exec_, pools_, trn::Matrix<C>::from_host(exec_, kAround, bins, powers)).to_host();
    std::vector<C> out(static_cast<std::size_t>(bins), C(1));
    const auto silent = static_cast<std::int64_t>((kSilence - 0.02) * kRate) / *options_.hop;
    for (std::int64_t r = 0; r < kRows + kPools; ++r) {
      std::vector<double> power(static_cast<std::size_t>(bins));
      for (std::size_t i = 0; i < power.size(); ++i) {
        power[i] = r < kRows ? std::norm(Wide(z[static_cast<std::size_t>(r * bins) + i]))
                             : static_cast<double>(p[static_cast<std::size_t>((r - kRows) * bins) + i].real());
      }
      // What noise alone gives: the mean over all bins of the frames before the voice.
      double noise = 0;
      for (std::int64_t k = 0; k < frequencies; ++k)
        for (std::int64_t t = 2; t < silent; ++t) noise += power[static_cast<std::size_t>(k * frames + t)];
      noise /= static_cast<double>(frequencies * (silent - 2));
      for (const double b : r < kRows ? kMultiples : kPooledMultiples)
        for (const double q : power) out.push_back(C(static_cast<T>(q > b * b * noise ? 1 - b * b * noise / q : 0)));
    }
    for (std::int64_t g = 0; g < kGates; ++g) {
      for (std::int64_t q = 0; q < kPools * kGates; ++q) {
        const auto own = static_cast<std::size_t>((1 + g) * bins),
                   pooled = static_cast<std::size_t>((1 + kRows * kGates + q) * bins);
        for (std::size_t i = 0; i < static_cast<std::size_t>(bins); ++i) out.push_back(out[own + i] * out[pooled + i]);
      }
    }
    return out;
  }

  struct Prepared {
    trn::Array<C> spectrum;  // of the noisy signal
    std::vector<C> noisy, clean, gates;
    std::int64_t length;
  };
  [[nodiscard]] Prepared prepare(const Recording<T>& r) const {
    auto spectrum = spectrogram(r.noisy);
    auto x = spectrum.to_host(), g = gates(spectrum);
    return {std::move(spectrum), std::move(x), spectrogram(r.clean).to_host(), std::move(g),
            static_cast<std::int64_t>(r.noisy.size())};
  }

  // w for the rows of `gates` that are chosen: least squares over all recordings, by normal equations.
  [[nodiscard]] std::vector<C> fit(const std::vector<Prepared>& recordings,
                                   const std::vector<std::int64_t>& chosen) const {
    const auto m = static_cast<std::int64_t>(chosen.size());
    std::vector<Wide> gram(static_cast<std::size_t>((m + 1) * m), 0);
    for (const Prepared& recording : recordings) {
      const std::vector<C>&x = recording.noisy, &s = recording.clean, &g = recording.gates;
      const auto bins = static_cast<std::int64_t>(x.size());
      std::vector<C> rows;  // gates times X, then the clean spectrogram
      for (const std::int64_t j : chosen)
        for (std::size_t i = 0; i < x.size(); ++i) rows.push_back(g[static_cast<std::size_t>(j * bins) + i] * x[i]);
      rows.insert(rows.end(), s.begin(), s.end());
      const auto all = trn::Matrix<C>::from_host(exec_, m + 1, bins, rows);
      const trn::Matrix<C> products(exec_, m + 1, m);
      trn::blas::gemm(exec_, trn::blas::Op::N, trn::blas::Op::C, C(1), all.view(),
                      trn::MatrixView<C>::row_major(exec_, all.data(), m, bins), C(0), products.view());
      const auto p = products.to_host();
      for (std::size_t i = 0; i < p.size(); ++i) gram[i] += Wide(p[i]);
    }
    // w D D^H = s D^H: the transposed system, with the products' roundings (1e-7) kept from deciding.
    const auto host = trn::Executor::host();
    trn::Matrix<Wide> a(host, m, m), b(host, m, 1), w(host, m, 1);
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < m; ++j) a.data()[i * m + j] = gram[static_cast<std::size_t>(j * m + i)];
      b.data()[i] = gram[static_cast<std::size_t>(m * m + i)];
    }
    const auto report = trn::solver::lstsq<Wide>(host, a.view(), b.view(), w.view(), {.rank_tolerance = 1e-6});
    trn::require(report.rank >= 1, "the fit has rank 0");
    std::vector<C> out;
    for (std::int64_t i = 0; i < m; ++i)
      out.push_back(C(static_cast<T>(w.data()[i].real()), static_cast<T>(w.data()[i].imag())));
    return out;
  }

  [[nodiscard]] std::vector<T> enhanced(const Prepared& r, const std::vector<C>& w,
                                        const std::vector<std::int64_t>& chosen) const {
    const std::int64_t bins = r.spectrum.size(), m = static_cast<std::int64_t>(chosen.size());
    std::vector<C> rows;
    for (const std::int64_t j : chosen)
      rows.insert(rows.end(), r.gates.begin() + j * bins, r.gates.begin() + (j + 1) * bins);
    const auto mask = trn::blas::gemm(exec_, trn::Matrix<C>::from_host(exec_, 1, m, w),
                                      trn::Matrix<C>::from_host(exec_, m, bins, rows));
    return masked(r.spectrum, mask.to_host(), r.length);
  }
  // istft of mask times spectrum.
  [[nodiscard]] std::vector<T> masked(const trn::Array<C>& spectrum, const std::vector<C>& mask,
                                      std::int64_t length) const {
    const auto m = trn::fft::to_planar(exec_, trn::Array<C>::from_host(exec_, spectrum.shape(), mask));
    return signal(trn::fft::to_interleaved(exec_, trn::fft::multiply(exec_, m, trn::fft::to_planar(exec_, spectrum))),
                  length);
  }

 private:
  // Weights of the neighbour (f, t) of a bin, frequencies and frames from -2 to 2. The first layer: the bin itself,
  // three and five frames, three frequencies (a tone under a Hann window changes its sign from bin to bin).
  static double layer(std::int64_t row, std::int64_t f, std::int64_t t) {
    if (row == 3) return t == 0 && std::abs(f) <= 1 ? (f == 0 ? 1 : -0.5) : 0;
    return f == 0 && std::abs(t) <= row ? 1 : 0;
  }
  // Means of power: 3 x 3, 1 x 5, 5 x 1, 3 x 5, 5 x 5 bins.
  static double pool(std::int64_t row, std::int64_t f, std::int64_t t) {
    constexpr std::int64_t kWide[kPools] = {1, 0, 2, 1, 2}, kLong[kPools] = {1, 2, 0, 2, 2};
    return std::abs(f) <= kWide[row] && std::abs(t) <= kLong[row] ? 1 : 0;
  }
  template <class F>
  [[nodiscard]] static trn::Matrix<C> rows(const trn::Executor& exec, std::int64_t count, const F& weight) {
    std::vector<C> w;
    for (std::int64_t r = 0; r < count; ++r)
      for (std::int64_t j = 0; j < kAround; ++j)
        w.push_back(C(static_cast<T>(weight(r, j / 5 - kReach, j % 5 - kReach))));
    return trn::Matrix<C>::from_host(exec, count, kAround, w);
  }

  trn::Executor exec_;
  trn::fft::StftOptions options_{.n_fft = 256, .hop = 64};
  trn::Matrix<C> first_, pools_;
};

// Ratios of signal to noise in dB.
struct Outcome {
  double before, constant, best_gate, network, ceiling, back;
};

template <class T> Outcome measure(const trn::Executor& exec, double seconds, double decibel) {
  const Enhancer<T> enhancer(exec);
  std::vector<typename Enhancer<T>::Prepared> lessons;
  for (std::uint64_t seed = 1; seed <= 2; ++seed)
    lessons.push_back(enhancer.prepare(record<T>(exec, seed, seconds, decibel)));
  const Recording<T> recording = record<T>(exec, 11, seconds, decibel);
  const auto test = enhancer.prepare(recording);
  const auto with = [&](const std::vector<std::int64_t>& chosen) {
    return decibels(recording.clean, enhancer.enhanced(test, enhancer.fit(lessons, chosen), chosen));
  };
  std::vector<std::int64_t> all;
  for (std::int64_t j = 0; j < kFeatures; ++j) all.push_back(j);
  Outcome o{decibels(recording.clean, recording.noisy), with({0}), -100, with(all), 0, 0};
  for (std::int64_t b = 1; b <= kGates; ++b) o.best_gate = std::max(o.best_gate, with({b}));
  // A mask that knows the voice, and no mask.
  std::vector<std::complex<T>> oracle, ones(test.noisy.size(), T(1));
  for (std::size_t i = 0; i < test.noisy.size(); ++i) {
    const double voice = std::norm(Wide(test.clean[i])), noise = std::norm(Wide(test.noisy[i]) - Wide(test.clean[i]));
    oracle.push_back(static_cast<T>(voice / std::max(voice + noise, 1e-300)));
  }
  o.ceiling = decibels(recording.clean, enhancer.masked(test.spectrum, oracle, test.length));
  o.back = decibels(recording.noisy, enhancer.masked(test.spectrum, ones, test.length));
  return o;
}

template <class T> bool run(const trn::Executor& exec, double seconds, const std::string& figure) {
  const trn::Recorder recorder(exec);
  const Outcome o = measure<T>(exec, seconds, 0);
  const double theory = 10 * std::log10(1 + std::pow(10, o.before / 10));
  std::printf("a voice in white noise, %.1f seconds on %s, signal to noise in dB\n", seconds, exec.name().c_str());
  std::printf("  noisy                       %6.2f\n  one constant (theory)       %6.2f (%.2f)\n", o.before, o.constant,
              theory);
  std::printf(
      "  best single gate            %6.2f\n  network of %3lld features     %6.2f\n  mask that knows the voice   "
      "%6.2f\n",
      o.best_gate, static_cast<long long>(kFeatures), o.network, o.ceiling);
  std::printf("without a mask the signal comes back to %.0f dB\n", o.back);
  bool right = std::abs(o.constant - theory) < 0.2 && o.network > o.best_gate + 0.5 && o.network > o.before + 7 &&
               o.network < o.ceiling;
  right = right && o.back > (std::is_same_v<T, float> ? 120 : 280);
  for (const char* operation : {"rand.normal", "fft.stft", "blas.gemm", "fft.elementwise", "fft.istft"})
    right = right && recorder.family_of(operation) == trn::name(exec.family());
  right = right && (recorder.modelled_seconds() > 0) == (exec.family() == trn::Family::Device);
  if (exec.family() == trn::Family::Device) std::printf("modelled time: %.2f ms\n", recorder.modelled_seconds() * 1e3);
  if (!figure.empty()) {
    std::vector<example::Series> lines{{"noisy", {}, {}, {}, true},
                                       {"one constant", {}, {}},
                                       {"best gate", {}, {}},
                                       {"network", {}, {}},
                                       {"knows the voice", {}, {}}};
    for (double decibel = -10; decibel <= 15; decibel += 5) {
      const Outcome at = measure<T>(exec, seconds, decibel);
      const double values[] = {at.before, at.constant, at.best_gate, at.network, at.ceiling};
      for (std::size_t i = 0; i < lines.size(); ++i) lines[i].x.push_back(decibel), lines[i].y.push_back(values[i]);
    }
    example::draw(figure, "Signal to noise of an unseen recording, before and after", {"dB before"}, {"dB after"},
                  lines);
  }
  std::printf("%s\n", right ? "right" : "WRONG");
  return right;
}

int program(int argc, char** argv) {
  const example::Arguments arguments(argc, argv, {{"--exec", "host"}, {"--seconds", "2"}, {"--figure", ""}});
  const auto exec = trn::Executor::open(arguments.text("--exec"));
  const double seconds = arguments.number("--seconds");
  trn::require(seconds >= 0.5 && seconds <= 60, "54_speech_enhancement: --seconds {}; give 0.5 to 60", seconds);
  const std::string figure = arguments.text("--figure");
  return (exec.family() == trn::Family::Host ? run<double>(exec, seconds, figure) : run<float>(exec, seconds, figure))
             ? 0
             : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return example::guarded([&] { return program(argc, argv); });
}
