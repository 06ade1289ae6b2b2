// Plans for the command line: fft.c2c, fft.r2c, fft.c2r over any lengths, on every executor. The bound is the plan's.
#include <cmath>

#include <fmt/ranges.h>

#include <trn/fft/plan.hpp>
#include <trn/fft/plan_programs.hpp>

#include "fft_rows.hpp"
#include "peers.hpp"

namespace trn::tools {
namespace {

using namespace fft_rows;
using fft::Direction;
using fft::Kind;

class Plans final : public Transforms {
 public:
  explicit Plans(Kind kind) : kind_(kind) {}
  std::string name() const override {
    return kind_ == Kind::ComplexToComplex ? "fft.c2c" : kind_ == Kind::RealToComplex ? "fft.r2c" : "fft.c2r";
  }
  std::string summary() const override { return std::string(fft::name(kind_)) + " transforms by a plan"; }
  std::string peer_note() const override {
    return "kissfft: in Eigen, one thread, one axis of small prime factors. FFTW is GPL and not linked; fft/bench has "
           "it";
  }
  void add_options(Options& options) override {
    options.numbers("--n", lengths_, "lengths, one per axis", 1, std::int64_t{1} << 30);
    add_common(options);
    options.text("--precision", precision_, "native, another mode where the executor has it, or target=1e-6")
        .completes(precision_words());
    options.text("--direction", direction_, "forward or inverse (default: r2c forward, c2r inverse)",
                 {"forward", "inverse"});
  }

 private:
  BenchShape shape() const override {
    return {{"n", fmt::format("{}", fmt::join(lengths_, " x "))}, {"batch", batch_}};
  }
  Programs programs(const tile::Machine& machine) const override {
    return fft::plan_programs(Executor::open(fmt::format("sim:{}", machine.name)), description(), parse_dtype(dtype_));
  }
  fft::Description description() const {
    fft::Description d = fft::dense(kind_, direction(), lengths_, {.batch = batch_});
    d.precision = Precision::parse(precision_);
    return d;
  }
  double flops() const override {
    return fft::counts::transform_flops(kind_, static_cast<double>(product(lengths_)), static_cast<double>(batch_));
  }
  Direction direction() const {
    if (direction_.empty()) return kind_ == Kind::ComplexToReal ? Direction::Inverse : Direction::Forward;
    return direction_ == "forward" ? Direction::Forward : Direction::Inverse;
  }
  int run_single(const Executor& e, const BenchOptions& o, BenchRow& r) const override {
    return measure_plan<float>(e, o, r);
  }
  int run_double(const Executor& e, const BenchOptions& o, BenchRow& r) const override {
    return measure_plan<double>(e, o, r);
  }

  template <class T> int measure_plan(const Executor& e, const BenchOptions& o, BenchRow& r) const {
    using C = std::complex<T>;
    const fft::Plan<T> plan(e, description());
    const Buffer workspace(e, plan.workspace_bytes());
    const std::int64_t n = product(lengths_), half = n / lengths_.back() * (lengths_.back() / 2 + 1);
    const bool real_in = kind_ == Kind::RealToComplex, real_out = kind_ == Kind::ComplexToReal;
    const std::int64_t in = real_out ? half : n, out = real_in ? half : n;
    std::vector<T> values = random<T>(batch_ * in * (real_in ? 1 : 2), 1);
    if (real_out) make_hermitian(values);
    const Array<T> x = Array<T>::from_host(e, {static_cast<std::int64_t>(values.size())}, values),
                   y(e, {batch_ * out * (real_out ? 1 : 2)});
    const auto pairs = [&](const Array<T>& a) { return View<C>(e, reinterpret_cast<C*>(a.data()), {a.size() / 2}); };
    const auto call = [&] {
      if (real_in)
        plan.execute(View<const T>(x.view()), pairs(y), workspace);
      else if (real_out)
        plan.execute(View<const C>(pairs(x)), y.view(), workspace);
      else
        plan.execute(View<const C>(pairs(x)), pairs(y), workspace);
    };
    const Measured measured = measure(e, o.repeats, call, o.cpu_time ? Clock::Processor : Clock::Wall);
    r.seconds = measured.fastest_s;
    r.error = error(values, y.to_host());
    if (e.family() == Family::Host && lengths_.size() == 1) {
      const C* const from = reinterpret_cast<const C*>(x.data());
      C* const to = reinterpret_cast<C*>(y.data());
      const bool forward = direction() == Direction::Forward;
      Peer peer;
      if (!real_in && !real_out) peer = c2c_peer<T>(n, batch_, forward, from, to);
      if (real_in && forward) peer = r2c_peer<T>(n, batch_, x.data(), to);
      if (real_out && !forward) peer = c2r_peer<T>(n, batch_, from, y.data());
      if (peer.call) {
        r.peer = peer.name;
        r.peer_seconds = measure(o.repeats, peer.call, o.cpu_time ? Clock::Processor : Clock::Wall).fastest_s;
      }
    }
    r.bound = plan.accuracy().bound;
    r.bytes = fft::counts::transform_bytes(kind_, static_cast<double>(n), static_cast<double>(lengths_.back()),
                                           static_cast<double>(batch_), sizeof(T));
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
  // Along the last axis the points that are their own mirror image (in every axis) become real, those whose mirror
  // image is stored too become its conjugate.
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
        for (std::size_t d = 0; d < p.size(); ++d)
          w *= turn(sign * p[d] * k[d] % lengths_[d] + lengths_[d], lengths_[d]);
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
  template <class T> Long point(const std::vector<T>& x, std::int64_t j, const std::vector<std::int64_t>& p,
                                bool real_in, bool real_out) const {
    const auto at = [&](std::int64_t i) {
      return Long(x[static_cast<std::size_t>(2 * i)], x[static_cast<std::size_t>(2 * i + 1)]);
    };
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
  std::vector<std::int64_t> lengths_{1024};
  std::string direction_;
};

}  // namespace

std::vector<std::unique_ptr<Operation>> fft_operations() {
  std::vector<std::unique_ptr<Operation>> all;
  for (const Kind kind : {Kind::ComplexToComplex, Kind::RealToComplex, Kind::ComplexToReal})
    all.push_back(std::make_unique<Plans>(kind));
  for (auto& function : fft_function_operations()) all.push_back(std::move(function));
  return all;
}

}  // namespace trn::tools
