// The functions of trnfft for the command line: fft.dct, fft.convolve, fft.stft. Bounds: trn/fft/bounds.hpp.
#include <cmath>
#include <random>
#include <trn/fft/bounds.hpp>
#include <trn/fft/stft.hpp>

#include "fft_rows.hpp"
#include "recording_device.hpp"

namespace trn::tools {
namespace {

using namespace fft_rows;
enum class Function { Dct, Convolve, Stft };

class Functions final : public Transforms {
 public:
  explicit Functions(Function function) : function_(function) {}
  std::string name() const override {
    return function_ == Function::Dct ? "fft.dct" : function_ == Function::Convolve ? "fft.convolve" : "fft.stft";
  }
  std::string summary() const override {
    if (function_ == Function::Dct) return "cosine transforms of types I to IV";
    return function_ == Function::Convolve ? "convolution of a long signal with m points"
                                           : "short-time transforms with the Hann window";
  }
  void add_options(Options& options) override {
    options.number("--n", n_, function_ == Function::Dct ? "points" : "points of the signal", 2);
    add_common(options);
    options.text("--precision", precision_, "native, another mode where the executor has it, or target=1e-6")
        .completes(precision_words());
    if (function_ == Function::Dct) options.number("--type", type_, "1 to 4", 1, 4);
    if (function_ == Function::Convolve) {
      options.number("--m", m_, "points of the kernel", 2);
      options.text("--method", method_, "direct, fft (one transform) or blocks (overlap-add)",
                   {"direct", "fft", "blocks"});
    }
    if (function_ == Function::Stft) {
      options.number("--n-fft", n_fft_, "points of a frame", 2);
      options.number("--hop", hop_, "points between frames", 2);
    }
  }

 private:
  BenchShape shape() const override {
    if (function_ == Function::Dct) return {{"n", n_}, {"batch", batch_}, {"type", type_}};
    if (function_ == Function::Convolve) return {{"n", n_}, {"m", m_}, {"batch", batch_}};
    return {{"n", n_}, {"n_fft", n_fft_}, {"hop", hop_}, {"batch", batch_}};
  }
  fft::StftOptions stft_options() const { return {.n_fft = n_fft_, .hop = hop_}; }
  double flops() const override {
    const auto n = static_cast<double>(n_), b = static_cast<double>(batch_);
    if (function_ == Function::Dct) return fft::counts::cosine_flops(n, b);
    if (function_ == Function::Convolve) return fft::counts::convolve_flops(n, static_cast<double>(m_), b);
    return fft::counts::stft_flops(static_cast<double>(n_fft_),
                                   static_cast<double>(fft::stft_frames(n_, stft_options())), b);
  }
  bool describes_runs() const override { return true; }
  Programs programs(const tile::Machine& machine) const override {
    return recorded_programs(machine, [&](const Executor& e) {
      fft::PlanCache cache;
      const auto call = [&](auto zero) {
        using T = decltype(zero);
        const Array<T> x(e, {batch_, n_}), k(e, {1, m_});
        if (function_ == Function::Dct)
          (void)cosine(e, x, cache);
        else if (function_ == Function::Convolve)
          (void)convolution(e, x, k, cache);
        else
          (void)frames(e, x, cache);
      };
      if (parse_dtype(dtype_) == DType::Float64)
        call(double{});
      else
        call(float{});
    });
  }
  template <class T> Array<T> cosine(const Executor& e, const Array<T>& x, fft::PlanCache& cache) const {
    return fft::dct(
        e, x,
        {.type = static_cast<fft::CosineType>(type_), .precision = Precision::parse(precision_), .cache = &cache});
  }
  template <class T>
  Array<T> convolution(const Executor& e, const Array<T>& x, const Array<T>& k, fft::PlanCache& cache) const {
    const fft::ConvolveOptions options{.axes = {{1}},
                                       .method = fft::ConvolveMethod::Direct,
                                       .precision = Precision::parse(precision_),
                                       .cache = &cache};
    return method_ == "direct" ? fft::convolve(e, x, k, options)
           : method_ == "fft"  ? fft::fftconvolve(e, x, k, options)
                               : fft::oaconvolve(e, x, k, options);
  }
  template <class T> Array<std::complex<T>> frames(const Executor& e, const Array<T>& x, fft::PlanCache& cache) const {
    fft::StftOptions options = stft_options();
    options.precision = Precision::parse(precision_);
    options.cache = &cache;
    return fft::stft(e, x, options);
  }

  int run_single(const Executor& e, const BenchOptions& o, BenchRow& r) const override {
    return measure_function<float>(e, o, r);
  }
  int run_double(const Executor& e, const BenchOptions& o, BenchRow& r) const override {
    return measure_function<double>(e, o, r);
  }

  template <class T> int measure_function(const Executor& e, const BenchOptions& o, BenchRow& r) const {
    const std::vector<T> x = random<T>(batch_ * n_, 1), k = random<T>(m_, 2);
    const auto dx = Array<T>::from_host(e, {batch_, n_}, x), dk = Array<T>::from_host(e, {1, m_}, k);
    fft::PlanCache cache;
    const Clock clock = o.cpu_time ? Clock::Processor : Clock::Wall;
    Measured measured;
    const Precision precision = Precision::parse(precision_);
    if (function_ == Function::Dct) {
      Array<T> y(e, {batch_, n_});
      measured = measure(
          e, o.repeats, [&] { y = cosine(e, dx, cache); }, clock);
      r.error = sampled_error(n_, y.to_host(), [&](std::int64_t i) { return exact_dct(x, i); });
    } else if (function_ == Function::Convolve) {
      r.note = "method " + method_ + "; the error is relative to ||a|| ||b||_1";
      Array<T> y(e, {batch_, n_ + m_ - 1});
      measured = measure(
          e, o.repeats, [&] { y = convolution(e, dx, dk, cache); }, clock);
      long double norm = 0, kernel = 0;
      for (std::int64_t j = 0; j < n_; ++j) norm += std::norm(static_cast<long double>(x[static_cast<std::size_t>(j)]));
      for (const T v : k) kernel += std::abs(v);
      const double scale =
          static_cast<double>(std::sqrt(norm) * kernel / std::sqrt(static_cast<long double>(n_ + m_ - 1)));
      r.error = sampled_error(
          n_ + m_ - 1, y.to_host(),
          [&](std::int64_t i) {
            long double sum = 0;
            for (std::int64_t j = std::max<std::int64_t>(0, i - n_ + 1); j <= std::min(i, m_ - 1); ++j)
              sum += static_cast<long double>(k[static_cast<std::size_t>(j)]) * x[static_cast<std::size_t>(i - j)];
            return sum;
          },
          scale);
    } else {
      const std::int64_t count = fft::stft_frames(n_, stft_options()), bins = n_fft_ / 2 + 1;
      Array<std::complex<T>> y(e, {batch_, bins, count});
      measured = measure(
          e, o.repeats, [&] { y = frames(e, dx, cache); }, clock);
      // One frame in the middle, its real parts.
      const std::vector<std::complex<T>> values = y.to_host();
      const std::vector<double> w = fft::window(fft::WindowKind::Hann, n_fft_);
      const std::int64_t t = count / 2, first = t * hop_ - n_fft_ / 2;
      std::vector<T> column(static_cast<std::size_t>(bins));
      for (std::int64_t i = 0; i < bins; ++i)
        column[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>(i * count + t)].real();
      r.error = sampled_error(bins, column, [&](std::int64_t i) {
        long double sum = 0;
        for (std::int64_t j = 0; j < n_fft_; ++j) {
          std::int64_t p = first + j;
          p = p < 0 ? -p : p >= n_ ? 2 * (n_ - 1) - p : p;
          sum += static_cast<long double>(w[static_cast<std::size_t>(j)]) * x[static_cast<std::size_t>(p)] *
                 turn(j * i, n_fft_).real();
        }
        return sum;
      });
    }
    r.bound = precision.has_target() ? precision.target_error() : bound(e, dtype_of<T>, precision.mode());
    r.seconds = measured.fastest_s;
    return measured.runs;
  }

  double bound(const Executor& e, DType real, Mode mode) const {
    if (function_ == Function::Dct)
      return fft::dct_error_bound(e, static_cast<fft::CosineType>(type_), n_, batch_, real, mode);
    if (function_ == Function::Stft)
      return fft::stft_error_bound(e, n_fft_, batch_ * fft::stft_frames(n_, stft_options()), real, mode);
    const fft::ConvolveWay way = method_ == "direct" ? fft::ConvolveWay::Sums
                                 : method_ == "fft"  ? fft::ConvolveWay::Transform
                                                     : fft::ConvolveWay::Blocks;
    return fft::convolve_error_bound(e, way, n_, m_, batch_, real, mode);
  }

  // Of the first `count` values; relative to their own norm, or to `scale` per value.
  template <class T, class F>
  static double sampled_error(std::int64_t count, const std::vector<T>& y, const F& exact, double scale = 0) {
    std::mt19937_64 engine(7);
    long double sum = 0, norm = 0;
    for (int s = 0; s < kSamples; ++s) {
      const std::int64_t i = static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(count));
      const long double want = exact(i);
      sum += std::norm(y[static_cast<std::size_t>(i)] - want);
      norm += scale > 0 ? static_cast<long double>(scale) * scale : std::norm(want);
    }
    return static_cast<double>(std::sqrt(sum / norm));
  }
  template <class T> long double exact_dct(const std::vector<T>& x, std::int64_t k) const {
    long double sum = 0;
    for (std::int64_t j = 0; j < n_; ++j) {
      const long double v = x[static_cast<std::size_t>(j)];
      const bool end = j == 0 || j == n_ - 1;
      switch (type_) {
        case 1:
          sum += (end ? 1 : 2) * v * turn(j * k, 2 * (n_ - 1)).real();
          break;
        case 2:
          sum += 2 * v * turn(k * (2 * j + 1), 4 * n_).real();
          break;
        case 3:
          sum += (j == 0 ? 1 : 2) * v * turn(j * (2 * k + 1), 4 * n_).real();
          break;
        default:
          sum += 2 * v * turn((2 * j + 1) * (2 * k + 1), 8 * n_).real();
          break;
      }
    }
    return sum;
  }

  Function function_;
  std::int64_t n_ = 4096, m_ = 64, n_fft_ = 512, hop_ = 128;
  int type_ = 2;
  std::string method_ = "blocks";
};

}  // namespace

std::vector<std::unique_ptr<Operation>> fft_function_operations() {
  std::vector<std::unique_ptr<Operation>> all;
  for (const Function function : {Function::Dct, Function::Convolve, Function::Stft})
    all.push_back(std::make_unique<Functions>(function));
  return all;
}

}  // namespace trn::tools
