// trnfft for the command line: plans (fft.c2c, fft.r2c, fft.c2r) over any lengths, and the functions dct, convolve and stft. The column of rates counts 5 N log2 N per complex
// and half of that per real transform, whatever the algorithm does. The error is || y - exact ||_2 / || exact ||_2, from 48 points of the first transform summed directly
// in long double; the bound is the plan's.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include <trn/core/array.hpp>
#include <trn/fft/convolve.hpp>
#include <trn/fft/cosine.hpp>
#include <trn/fft/frequencies.hpp>
#include <trn/fft/plan.hpp>
#include <trn/fft/plan_programs.hpp>
#include <trn/fft/stft.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/device.hpp>

#include "host_peak.hpp"
#include "measure.hpp"
#include "operation.hpp"

namespace trn::tools {
namespace {

using fft::Direction;
using fft::Kind;

template <class T> std::vector<T> random(std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  std::vector<T> values(static_cast<std::size_t>(count));
  for (T& x : values) x = static_cast<T>(normal(engine));
  return values;
}

std::int64_t product(const std::vector<std::int64_t>& lengths) {
  std::int64_t n = 1;
  for (const std::int64_t l : lengths) n *= l;
  return n;
}

constexpr int kSamples = 48;
using Long = std::complex<long double>;
Long turn(std::int64_t k, std::int64_t n) {  // exp(2 pi i k/n)
  const long double x = 2 * std::numbers::pi_v<long double> * static_cast<long double>(k % n) / static_cast<long double>(n);
  return {std::cos(x), std::sin(x)};
}

// What plans and functions share: sizes, dtype, the frame of a row.
class Transforms : public Operation {
 public:
  std::string rate_unit() const override { return "GFLOP/s"; }
  std::string error_note() const override { return "||y - exact|| / ||exact|| (L2), estimated from 48 points of one transform; bound: the plan's"; }
  std::vector<std::string> default_executors() const override { return {"host"}; }
  tile::Program program(const tile::Machine&) const override { fail<NotImplemented>("{}: it has no device kernel", name()); }
  BenchRow bench(const std::string& executor_name, const BenchOptions& options) const override {
    const Executor executor = Executor::open(executor_name);
    require(executor.family() == Family::Device || !options.model_only, "bench: --model-only is for simulators; executor '{}' has no model", executor.name());
    BenchRow r;
    r.op = name();
    r.executor = executor.name();
    r.dtype = trn::name(parse_dtype(dtype_));
    r.precision = precision_;
    r.shape = shape();
    if (options.model_only) {
      const tile::Machine& machine = tile::device_of(executor).machine();
      double seconds = 0, roof_seconds = 0;
      for (const auto& program : programs(machine)) {
        const neuron::RunReport report = neuron::estimate(*program, machine);
        seconds += report.seconds;
        roof_seconds += static_cast<double>(report.hbm_read_bytes + report.hbm_write_bytes) / machine.dma_bytes_per_s();
        const auto busiest = std::max_element(report.lanes.begin(), report.lanes.end(), [](const auto& a, const auto& b) { return a.busy_s < b.busy_s; });
        r.note += fmt::format("{}{} {:.1f} us, {} {:.0f} % busy", r.note.empty() ? "" : "; ", program->name(), 1e6 * report.seconds, busiest->name,
                              100 * busiest->busy_s / report.seconds);
      }
      r.note += fmt::format("; bytes moved at {:.0f} % of the DMA roof", 100 * roof_seconds / seconds);
      r.modelled_seconds = seconds;
      r.gflops = flops() / *r.modelled_seconds * 1e-9;
      r.roof_fraction = r.gflops * 1e9 / machine.tensor_flops(DType::Float32);
      return r;
    }
    Recorder recorder(executor);
    int runs = 1;
    switch (parse_dtype(dtype_)) {
      case DType::Float32: runs = run<float>(executor, options, r); break;
      case DType::Float64: runs = run<double>(executor, options, r); break;
      default: fail<InvalidArgument>("{}: no transform of dtype {}; choose fp32 or fp64", name(), dtype_);
    }
    if (executor.family() == Family::Device) r.modelled_seconds = recorder.modelled_seconds() / runs;
    r.gflops = flops() / (r.modelled_seconds ? *r.modelled_seconds : *r.seconds) * 1e-9;
    const bool host = executor.family() == Family::Host;
    const double peak = !host                   ? tile::device_of(executor).machine().tensor_flops(DType::Float32)
                        : r.dtype == "float64" ? host_peak().fp64_flops
                                               : host_peak().fp32_flops;
    r.roof_fraction = r.gflops * 1e9 / peak;
    return r;
  }

 protected:
  virtual double flops() const = 0;
  // What a plan runs on a device, in order.
  virtual std::vector<std::shared_ptr<const tile::Program>> programs(const tile::Machine&) const { fail<NotImplemented>("{}: it has no device kernel", name()); }
  virtual nlohmann::ordered_json shape() const = 0;
  virtual int run_single(const Executor&, const BenchOptions&, BenchRow&) const = 0;
  virtual int run_double(const Executor&, const BenchOptions&, BenchRow&) const = 0;
  template <class T> int run(const Executor& e, const BenchOptions& o, BenchRow& r) const {
    return std::is_same_v<T, float> ? run_single(e, o, r) : run_double(e, o, r);
  }
  void add_common(CLI::App& app) {
    app.add_option("--batch", batch_, "how many at once")->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))->capture_default_str();
    app.add_option("--dtype", dtype_, "fp32 or fp64 (of the real parts)")->capture_default_str();
  }
  static double fft_flops(double points) { return 5 * points * std::log2(std::max(points, 2.0)); }

  std::int64_t batch_ = 64;
  std::string dtype_ = "fp32", precision_ = "native";
};

class Plans final : public Transforms {
 public:
  explicit Plans(Kind kind) : kind_(kind) {}
  std::string name() const override { return kind_ == Kind::ComplexToComplex ? "fft.c2c" : kind_ == Kind::RealToComplex ? "fft.r2c" : "fft.c2r"; }
  std::string summary() const override { return std::string(fft::name(kind_)) + " transforms by a plan"; }
  std::vector<std::string> default_executors() const override { return dtype_ == "fp32" ? std::vector<std::string>{"host", "sim:trn2"} : std::vector<std::string>{"host"}; }
  tile::Program program(const tile::Machine& machine) const override {
    const auto all = programs(machine);
    if (step_ == 0 && all.size() == 1) return *all.front();
    std::string names;
    for (const auto& p : all) names += (names.empty() ? "" : ", ") + p->name();
    require(step_ >= 1 && step_ <= static_cast<std::int64_t>(all.size()), "{}: this plan runs {} programs ({}); choose one with --step 1 to {}", name(), all.size(), names, all.size());
    return *all[static_cast<std::size_t>(step_ - 1)];
  }
  void add_options(CLI::App& app) override {
    app.add_option("--n", lengths_, "lengths, one per axis")->check(CLI::Range(std::int64_t{1}, std::int64_t{1} << 30))->capture_default_str();
    add_common(app);
    app.add_option("--precision", precision_, "native, another mode where the executor has it, or target=1e-6")->capture_default_str();
    app.add_option("--direction", direction_, "forward or inverse (default: r2c forward, c2r inverse)")->check(CLI::IsMember({"forward", "inverse"}));
    app.add_option("--step", step_, "which program of a plan of several, from 1 (profile, emit, dis)")->check(CLI::Range(std::int64_t{1}, std::int64_t{1000}));
  }

 private:
  nlohmann::ordered_json shape() const override { return {{"n", fmt::format("{}", fmt::join(lengths_, " x "))}, {"batch", batch_}}; }
  std::vector<std::shared_ptr<const tile::Program>> programs(const tile::Machine& machine) const override {
    return fft::plan_programs(Executor::open(fmt::format("sim:{}", machine.name)), description(), parse_dtype(dtype_));
  }
  fft::Description description() const {
    fft::Description d = fft::dense(kind_, direction(), lengths_, {.batch = batch_});
    d.precision = Precision::parse(precision_);
    return d;
  }
  double flops() const override {
    const auto n = static_cast<double>(product(lengths_));
    return static_cast<double>(batch_) * fft_flops(n) * (kind_ == Kind::ComplexToComplex ? 1 : 0.5);
  }
  Direction direction() const {
    if (direction_.empty()) return kind_ == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward;
    return direction_ == "forward" ? Direction::Forward : Direction::Inverse;
  }
  int run_single(const Executor& e, const BenchOptions& o, BenchRow& r) const override { return measure_plan<float>(e, o, r); }
  int run_double(const Executor& e, const BenchOptions& o, BenchRow& r) const override { return measure_plan<double>(e, o, r); }

  template <class T> int measure_plan(const Executor& e, const BenchOptions& o, BenchRow& r) const {
    using C = std::complex<T>;
    const fft::Plan<T> plan(e, description());
    const Buffer workspace(e, plan.workspace_bytes());
    const std::int64_t n = product(lengths_), half = n / lengths_.back() * (lengths_.back() / 2 + 1);
    const bool real_in = kind_ == Kind::RealToComplex, real_out = kind_ == Kind::ComplexToReal;
    const std::int64_t in = real_out ? half : n, out = real_in ? half : n;
    std::vector<T> values = random<T>(batch_ * in * (real_in ? 1 : 2), 1);
    if (real_out) make_hermitian(values);
    const Array<T> x = Array<T>::from_host(e, {static_cast<std::int64_t>(values.size())}, values), y(e, {batch_ * out * (real_out ? 1 : 2)});
    const auto pairs = [&](const Array<T>& a) { return View<C>(e, reinterpret_cast<C*>(a.data()), {a.size() / 2}); };
    const auto call = [&] {
      if (real_in) plan.execute(View<const T>(x.view()), pairs(y), workspace);
      else if (real_out) plan.execute(View<const C>(pairs(x)), y.view(), workspace);
      else plan.execute(View<const C>(pairs(x)), pairs(y), workspace);
    };
    const Measured measured = measure(o.repeats, call, o.cpu_time ? Clock::Processor : Clock::Wall);
    r.seconds = measured.fastest_s;
    r.error = error(values, y.to_host());
    r.bound = plan.accuracy().bound;
    r.note = fmt::format("precision {}, workspace {} bytes", trn::name(plan.accuracy().mode), plan.workspace_bytes());
    return measured.runs;
  }

  // Index tuple of element i, the last axis having `last` points.
  std::vector<std::int64_t> index(std::int64_t i, std::int64_t last) const {
    std::vector<std::int64_t> k(lengths_.size());
    for (std::size_t d = lengths_.size(); d-- > 0;) {
      const std::int64_t extent = d + 1 == lengths_.size() ? last : lengths_[d];
      k[d] = i % extent;
      i /= extent;
    }
    return k;
  }
  // Along the last axis the points that are their own mirror image (in every axis) become real, those whose mirror image is stored too become its conjugate.
  template <class T> void make_hermitian(std::vector<T>& values) const {
    const std::int64_t last = lengths_.back() / 2 + 1, n = product(lengths_) / lengths_.back() * last;
    for (std::int64_t b = 0; b < batch_; ++b) {
      T* z = values.data() + 2 * b * n;
      for (std::int64_t i = 0; i < n; ++i) {
        std::vector<std::int64_t> k = index(i, last);
        if (k.back() != 0 && 2 * k.back() != lengths_.back()) continue;
        std::int64_t mirror = 0;
        for (std::size_t d = 0; d < k.size(); ++d) {
          const bool is_last = d + 1 == k.size();
          mirror = mirror * (is_last ? last : lengths_[d]) + (is_last ? k[d] : (lengths_[d] - k[d]) % lengths_[d]);
        }
        if (mirror == i) z[2 * i + 1] = 0;
        if (mirror < i) z[2 * i] = z[2 * mirror], z[2 * i + 1] = -z[2 * mirror + 1];
      }
    }
  }

  template <class T> double error(const std::vector<T>& x, const std::vector<T>& y) const {
    const std::int64_t n = product(lengths_), last = lengths_.back(), half = last / 2 + 1;
    const bool real_in = kind_ == Kind::RealToComplex, real_out = kind_ == Kind::ComplexToReal;
    const std::int64_t out = real_in ? n / last * half : n;
    std::mt19937_64 engine(7);
    long double sum = 0, norm = 0;
    const int sign = direction() == Direction::Forward ? -1 : 1;
    for (int s = 0; s < kSamples; ++s) {
      const std::int64_t i = static_cast<std::int64_t>(engine() % static_cast<std::uint64_t>(out));
      const std::vector<std::int64_t> k = index(i, real_in ? half : last);
      Long exact = 0;
      for (std::int64_t j = 0; j < n; ++j) {
        const std::vector<std::int64_t> p = index(j, last);
        Long w = 1;
        for (std::size_t d = 0; d < p.size(); ++d) w *= turn(sign * p[d] * k[d] % lengths_[d] + lengths_[d], lengths_[d]);
        exact += w * point(x, j, p, real_in, real_out);
      }
      const auto at = static_cast<std::size_t>(i);
      const Long got = real_out ? Long(y[at], 0) : Long(y[2 * at], y[2 * at + 1]);
      if (real_out) exact = exact.real();
      sum += std::norm(got - exact);
      norm += std::norm(exact);
    }
    return static_cast<double>(std::sqrt(sum / norm));
  }
  // Point j of the first transform's logical input.
  template <class T> Long point(const std::vector<T>& x, std::int64_t j, const std::vector<std::int64_t>& p, bool real_in, bool real_out) const {
    const auto at = [&](std::int64_t i) { return Long(x[static_cast<std::size_t>(2 * i)], x[static_cast<std::size_t>(2 * i + 1)]); };
    if (real_in) return x[static_cast<std::size_t>(j)];
    if (!real_out) return at(j);
    const std::int64_t last = lengths_.back(), half = last / 2 + 1;
    const bool stored = p.back() < half;
    std::int64_t i = 0;
    for (std::size_t d = 0; d < p.size(); ++d) {
      const std::int64_t k = stored ? p[d] : (lengths_[d] - p[d]) % lengths_[d];
      i = i * (d + 1 == p.size() ? half : lengths_[d]) + k;
    }
    return stored ? at(i) : std::conj(at(i));
  }

  Kind kind_;
  std::int64_t step_ = 0;
  std::vector<std::int64_t> lengths_{1024};
  std::string direction_;
};

enum class Function { Dct, Convolve, Stft };

class Functions final : public Transforms {
 public:
  explicit Functions(Function function) : function_(function) {}
  std::string name() const override { return function_ == Function::Dct ? "fft.dct" : function_ == Function::Convolve ? "fft.convolve" : "fft.stft"; }
  std::string summary() const override {
    if (function_ == Function::Dct) return "cosine transforms of types I to IV";
    return function_ == Function::Convolve ? "convolution of a long signal with m points" : "short-time transforms with the Hann window";
  }
  void add_options(CLI::App& app) override {
    const CLI::Range positive(std::int64_t{2}, std::int64_t{1} << 30);
    app.add_option("--n", n_, function_ == Function::Dct ? "points" : "points of the signal")->check(positive)->capture_default_str();
    add_common(app);
    if (function_ == Function::Dct) app.add_option("--type", type_, "1 to 4")->check(CLI::Range(1, 4))->capture_default_str();
    if (function_ == Function::Convolve) {
      app.add_option("--m", m_, "points of the kernel")->check(positive)->capture_default_str();
      app.add_option("--method", method_, "direct, fft (one transform) or blocks (overlap-add)")->check(CLI::IsMember({"direct", "fft", "blocks"}))->capture_default_str();
    }
    if (function_ == Function::Stft) {
      app.add_option("--n-fft", n_fft_, "points of a frame")->check(positive)->capture_default_str();
      app.add_option("--hop", hop_, "points between frames")->check(positive)->capture_default_str();
    }
  }

 private:
  nlohmann::ordered_json shape() const override {
    if (function_ == Function::Dct) return {{"n", n_}, {"batch", batch_}, {"type", type_}};
    if (function_ == Function::Convolve) return {{"n", n_}, {"m", m_}, {"batch", batch_}};
    return {{"n", n_}, {"n_fft", n_fft_}, {"hop", hop_}, {"batch", batch_}};
  }
  fft::StftOptions stft_options() const { return {.n_fft = n_fft_, .hop = hop_}; }
  double flops() const override {
    const auto n = static_cast<double>(n_), b = static_cast<double>(batch_);
    if (function_ == Function::Dct) return b * fft_flops(n) / 2;
    if (function_ == Function::Convolve) return b * 3 * fft_flops(n + static_cast<double>(m_)) / 2;
    return b * static_cast<double>(fft::stft_frames(n_, stft_options())) * fft_flops(static_cast<double>(n_fft_)) / 2;
  }
  int run_single(const Executor& e, const BenchOptions& o, BenchRow& r) const override { return measure_function<float>(e, o, r); }
  int run_double(const Executor& e, const BenchOptions& o, BenchRow& r) const override { return measure_function<double>(e, o, r); }

  template <class T> int measure_function(const Executor& e, const BenchOptions& o, BenchRow& r) const {
    const std::vector<T> x = random<T>(batch_ * n_, 1), k = random<T>(m_, 2);
    const auto dx = Array<T>::from_host(e, {batch_, n_}, x), dk = Array<T>::from_host(e, {1, m_}, k);
    fft::PlanCache cache;
    const Clock clock = o.cpu_time ? Clock::Processor : Clock::Wall;
    Measured measured;
    const auto plan_bound = [&](std::int64_t points) {
      return fft::Plan<T>(e, fft::dense(Kind::RealToComplex, Direction::Forward, {points})).accuracy().bound;
    };
    const double u = unit_roundoff(dtype_of<T>);
    if (function_ == Function::Dct) {
      Array<T> y(e, {batch_, n_});
      const fft::CosineOptions options{.type = static_cast<fft::CosineType>(type_), .cache = &cache};
      measured = measure(o.repeats, [&] { y = fft::dct(e, dx, options); }, clock);
      r.error = sampled_error(n_, y.to_host(), [&](std::int64_t i) { return exact_dct(x, i); });
      r.bound = 2 * plan_bound(type_ == 1 ? 2 * n_ - 2 : type_ == 4 && n_ % 2 ? 2 * n_ : n_) + 12 * u;
    } else if (function_ == Function::Convolve) {
      r.note = "method " + method_ + "; the error is relative to ||a|| ||b||_1";
      Array<T> y(e, {batch_, n_ + m_ - 1});
      const fft::ConvolveOptions options{.axes = {{1}}, .method = fft::ConvolveMethod::Direct, .cache = &cache};
      measured = measure(o.repeats, [&] {
        y = method_ == "direct" ? fft::convolve(e, dx, dk, options) : method_ == "fft" ? fft::fftconvolve(e, dx, dk, options) : fft::oaconvolve(e, dx, dk, options);
      }, clock);
      long double norm = 0, kernel = 0;
      for (std::int64_t j = 0; j < n_; ++j) norm += std::norm(static_cast<long double>(x[static_cast<std::size_t>(j)]));
      for (const T v : k) kernel += std::abs(v);
      const double scale = static_cast<double>(std::sqrt(norm) * kernel / std::sqrt(static_cast<long double>(n_ + m_ - 1)));
      r.error = sampled_error(n_ + m_ - 1, y.to_host(), [&](std::int64_t i) {
        long double sum = 0;
        for (std::int64_t j = std::max<std::int64_t>(0, i - n_ + 1); j <= std::min(i, m_ - 1); ++j) sum += static_cast<long double>(k[static_cast<std::size_t>(j)]) * x[static_cast<std::size_t>(i - j)];
        return sum;
      }, scale);
      r.bound = method_ == "direct" ? static_cast<double>(m_ + 1) * u : 3 * plan_bound(fft::next_fast_len(n_ + m_ - 1)) + 6 * u;
    } else {
      const fft::StftOptions base = stft_options();
      fft::StftOptions options = base;
      options.cache = &cache;
      const std::int64_t frames = fft::stft_frames(n_, base), bins = n_fft_ / 2 + 1;
      Array<std::complex<T>> y(e, {batch_, bins, frames});
      measured = measure(o.repeats, [&] { y = fft::stft(e, dx, options); }, clock);
      // One frame in the middle, its real parts.
      const std::vector<std::complex<T>> values = y.to_host();
      const std::vector<double> w = fft::window(fft::WindowKind::Hann, n_fft_);
      const std::int64_t t = frames / 2, first = t * hop_ - n_fft_ / 2;
      std::vector<T> column(static_cast<std::size_t>(bins));
      for (std::int64_t i = 0; i < bins; ++i) column[static_cast<std::size_t>(i)] = values[static_cast<std::size_t>(i * frames + t)].real();
      r.error = sampled_error(bins, column, [&](std::int64_t i) {
        long double sum = 0;
        for (std::int64_t j = 0; j < n_fft_; ++j) {
          std::int64_t p = first + j;
          p = p < 0 ? -p : p >= n_ ? 2 * (n_ - 1) - p : p;
          sum += static_cast<long double>(w[static_cast<std::size_t>(j)]) * x[static_cast<std::size_t>(p)] * turn(j * i, n_fft_).real();
        }
        return sum;
      });
      r.bound = plan_bound(n_fft_) + 3 * u;
    }
    r.seconds = measured.fastest_s;
    return measured.runs;
  }

  // Of the first `count` values; relative to their own norm, or to `scale` per value.
  template <class T, class F> static double sampled_error(std::int64_t count, const std::vector<T>& y, const F& exact, double scale = 0) {
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
        case 1: sum += (end ? 1 : 2) * v * turn(j * k, 2 * (n_ - 1)).real(); break;
        case 2: sum += 2 * v * turn(k * (2 * j + 1), 4 * n_).real(); break;
        case 3: sum += (j == 0 ? 1 : 2) * v * turn(j * (2 * k + 1), 4 * n_).real(); break;
        default: sum += 2 * v * turn((2 * j + 1) * (2 * k + 1), 8 * n_).real(); break;
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

std::vector<std::unique_ptr<Operation>> fft_operations() {
  std::vector<std::unique_ptr<Operation>> all;
  for (const Kind kind : {Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal}) all.push_back(std::make_unique<Plans>(kind));
  for (const Function function : {Function::Dct, Function::Convolve, Function::Stft}) all.push_back(std::make_unique<Functions>(function));
  return all;
}

}  // namespace trn::tools
