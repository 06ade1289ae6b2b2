// The draws of trnrand with a device kernel for the command line: time per draw, and on a device the largest difference
// from the host's values: 0 for words, uniforms and points; for distributions a fraction of device_difference_bound.
// The column of rates counts 1e9 values per second; the roof is that of writing them: the host's memory, or the DMA
// engines of a core.
#include <algorithm>
#include <cmath>
#include <trn/core/array.hpp>
#include <trn/rand/bernoulli.hpp>
#include <trn/rand/counts.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/fill_program.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/quasi.hpp>
#include <trn/rand/raw32.hpp>
#include <trn/rand/sobol_program.hpp>
#include <trn/rand/transform_program.hpp>
#include <trn/rand/uniform.hpp>
#include <trn/tile/device.hpp>
#include <utility>

#include "measure.hpp"
#include "operation.hpp"
#include "peers.hpp"
#include "roofs.hpp"

namespace trn::tools {

namespace {

using rand::Algorithm;
using rand::Law;

constexpr Algorithm kAlgorithms[] = {Algorithm::Philox4x32_10,    Algorithm::Threefry4x32_20, Algorithm::Sobol32,
                                     Algorithm::ScrambledSobol32, Algorithm::Xorwow,          Algorithm::Mrg32k3a,
                                     Algorithm::Mt19937};

// Whether a word names the generator: its whole name, or that up to the number of bits.
bool names(const std::string& word, Algorithm algorithm) {
  const std::string whole = rand::name(algorithm);
  return word == whole || (word + "4x32" == whole.substr(0, word.size() + 4));
}

// T: uint32_t for raw32, float for all others; those without a law are raw32 and uniform.
template <class T> class Draws final : public Operation {
 public:
  Draws() = default;
  explicit Draws(Law law) : has_law_(true), transform_{.law = law, .location = law == Law::Bernoulli ? 0.5 : 0.0} {}

  std::string name() const override {
    if (!has_law_) return kUniform ? "rand.uniform" : "rand.raw32";
    return std::string("rand.") + rand::name(transform_.law);
  }
  std::string summary() const override {
    return has_law_   ? name().substr(5) + " floats with standard parameters"
           : kUniform ? "uniform floats"
                      : "random 32-bit words";
  }
  std::string rate_unit() const override { return "Gvalues/s"; }
  std::string error_note() const override {
    return has_law_ ? "largest difference from the host's values as a fraction of its bound, and 1"
                    : "largest difference from the host's values, and 0";
  }

  std::string peer_note() const override { return "mt19937_64: the C++ library's, one thread"; }

  void add_options(Options& options) override {
    options.number("--n,--count", count_, "values to draw", 1, rand::kFillMax);
    std::vector<std::string> all;
    for (const Algorithm algorithm : kAlgorithms) {
      if (!has_law_ || !rand::is_quasi(algorithm)) all.emplace_back(rand::name(algorithm));
    }
    all.insert(all.end(), {"philox", "threefry"});
    options.text("--generator,--algorithm", algorithm_, "the generator; xorwow, mrg32k3a and mt19937 on the host only",
                 all);
    options.number("--offset,--position", position_, "number of the first value, or point");
    if (has_law_) return;
    options.number("--dimensions", dimensions_, "of Sobol points: --n values are n / dimensions points");
    if (kUniform) {
      options.text("--interval", interval_, "open-closed (0, 1] or half-open [0, 1)", {"open-closed", "half-open"});
    }
  }

  tile::Program program(const tile::Machine& machine) const override {
    const auto phase = static_cast<std::int64_t>(position_ % 4);
    if (has_law_) return rand::transform_program({algorithm(), transform_.law, count_, phase}, machine);
    const rand::Draw draw = !kUniform                                  ? rand::Draw::Raw32
                            : interval() == rand::Interval::OpenClosed ? rand::Draw::OpenClosed
                                                                       : rand::Draw::HalfOpen;
    if (!rand::has_sobol_program(algorithm())) return rand::fill_program({algorithm(), draw, count_, phase}, machine);
    const rand::State from = rand::Generator(state()).state();
    require(count_ % dimensions_ == 0, "{}: --count {} is not a multiple of --dimensions {}; draw whole points", name(),
            count_, dimensions_);
    return rand::sobol_program(rand::sobol_shape(from, draw, count_ / dimensions_, machine), machine);
  }

  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    const bool simulated = executor.family() == Family::Device;
    r.dtype = trn::name(dtype_of<T>);
    r.precision = rand::name(algorithm());
    r.shape = {{"count", count_}};
    if (dimensions_ > 1) r.shape.emplace_back("dimensions", dimensions_);
    const double values = static_cast<double>(count_), bytes = rand::counts::bytes(values, dtype_of<T>);
    r.work = values;
    r.roof = (simulated ? byte_roof(executor) : host_write_bandwidth()) * values / bytes;
    if (options.model_only) {
      r.modelled_seconds = modelled_call(*this, tile::device_of(executor).machine());
      return;
    }
    const Array<T> out(executor, {count_});
    Recorder recorder(executor);
    const Measured measured = measure(executor, options.repeats, [&] { draw(executor, out); });
    r.seconds = measured.fastest_s;
    ensure(recorder.family_of(name()) == trn::name(executor.family()), "{} did not run on {}", name(), executor.name());
    if (!simulated) {
      const Peer peer = draw_peer(name(), count_, out.data());
      if (peer.call) r.peer = peer.name, r.peer_seconds = measure(options.repeats, peer.call).fastest_s;
      return;
    }
    r.error = difference_from_host(out);
    r.bound = has_law_ ? 1 : 0;
    r.modelled_seconds = modelled_time(executor, recorder);
  }

 private:
  static constexpr bool kUniform = std::is_same_v<T, float>;

  Algorithm algorithm() const {
    for (const Algorithm algorithm : kAlgorithms) {
      if (names(algorithm_, algorithm)) return algorithm;
    }
    fail<InternalError>("{}: algorithm {}", name(), algorithm_);
  }
  rand::Interval interval() const {
    return interval_ == "half-open" ? rand::Interval::HalfOpen : rand::Interval::OpenClosed;
  }
  rand::State state() const {
    return {.algorithm = algorithm(),
            .seed = rand::is_quasi(algorithm()) ? 0u : 1u,
            .position = position_,
            .dimensions = static_cast<std::uint32_t>(dimensions_)};
  }

  void draw(const Executor& executor, const Array<T>& out) const {
    rand::Generator generator(state());
    if constexpr (!kUniform) {
      rand::raw32(executor, generator, out.view());
    } else if (!has_law_) {
      rand::uniform(executor, generator, out.view(), interval());
    } else {
      draw_law(executor, generator, out.view());
    }
  }
  void draw_law(const Executor& executor, rand::Generator& generator, const View<float>& out) const {
    switch (transform_.law) {
      case Law::Normal:
        return rand::normal(executor, generator, out);
      case Law::LogNormal:
        return rand::log_normal(executor, generator, out);
      case Law::Exponential:
        return rand::exponential(executor, generator, out);
      case Law::Weibull:
        return rand::weibull(executor, generator, out);
      case Law::Laplace:
        return rand::laplace(executor, generator, out);
      case Law::Cauchy:
        return rand::cauchy(executor, generator, out);
      case Law::Bernoulli:
        return rand::bernoulli(executor, generator, out);
      default:
        fail<InternalError>("{} has no command", name());
    }
  }

  double difference_from_host(const Array<T>& out) const {
    const Array<T> reference(Executor::host(), {count_});
    draw(Executor::host(), reference);
    const std::vector<T> values = out.to_host();
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = static_cast<double>(reference.data()[i]);
      const double difference = std::abs(static_cast<double>(values[i]) - expected);
      const double unit = has_law_ ? rand::device_difference_bound(transform_, expected) : 1;
      worst = std::max(worst, difference == 0 ? 0.0 : difference / unit);
    }
    return worst;
  }

  bool has_law_ = false;
  rand::Transform transform_;
  std::int64_t count_ = std::int64_t{1} << 24;
  std::uint64_t position_ = 0;
  std::int64_t dimensions_ = 1;
  std::string algorithm_ = "philox4x32-10", interval_ = "open-closed";
};

}  // namespace

std::vector<std::unique_ptr<Operation>> rand_operations() {
  std::vector<std::unique_ptr<Operation>> all;
  all.push_back(std::make_unique<Draws<std::uint32_t>>());
  all.push_back(std::make_unique<Draws<float>>());
  for (const Law law :
       {Law::Normal, Law::LogNormal, Law::Exponential, Law::Laplace, Law::Weibull, Law::Cauchy, Law::Bernoulli}) {
    all.push_back(std::make_unique<Draws<float>>(law));
  }
  return all;
}

}  // namespace trn::tools
