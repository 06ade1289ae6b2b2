// rand.normal, rand.log_normal, rand.exponential and rand.weibull for the command line: time per draw, and on a device
// the largest difference from the host's values as a fraction of its bound. Rates and roof as in rand_operation.cpp.
#include <algorithm>
#include <cmath>
#include <trn/core/array.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/rand/exponential.hpp>
#include <trn/rand/fill_program.hpp>
#include <trn/rand/normal.hpp>
#include <trn/rand/transform_program.hpp>
#include <trn/tile/device.hpp>

#include "measure.hpp"
#include "operation.hpp"
#include "write_bandwidth.hpp"

namespace trn::tools {

namespace {

const CLI::Range kCount(std::int64_t{1}, rand::kFillMax, "1 to 2^32");

class LawDraws final : public Operation {
 public:
  explicit LawDraws(rand::Law law) : transform_{.law = law} {}

  std::string name() const override {
    switch (transform_.law) {
      case rand::Law::Normal:
        return "rand.normal";
      case rand::Law::LogNormal:
        return "rand.log_normal";
      case rand::Law::Exponential:
        return "rand.exponential";
      default:
        return "rand.weibull";
    }
  }
  std::string summary() const override {
    return name().substr(5) + " floats with standard parameters; \"gflops\" counts 1e9 values per second";
  }
  std::string rate_unit() const override { return "Gvalues/s"; }
  std::string error_note() const override {
    return "largest difference from the host's values as a fraction of its bound, and 1";
  }

  void add_options(CLI::App& app) override {
    app.add_option("--count", count_, "values to draw")->check(kCount)->capture_default_str();
    app.add_option("--algorithm", algorithm_, "philox or threefry")
        ->check(CLI::IsMember({"philox", "threefry"}))
        ->capture_default_str();
    app.add_option("--position", position_, "number of the first word")->capture_default_str();
  }

  tile::Program program(const tile::Machine& machine) const override {
    return rand::transform_program({algorithm(), transform_.law, count_, static_cast<std::int64_t>(position_ % 4)},
                                   machine);
  }

  BenchRow bench(const std::string& executor_name, const BenchOptions& options) const override {
    const Executor executor = Executor::open(executor_name);
    const bool simulated = executor.family() == Family::Device;
    require(simulated || !options.model_only, "bench: --model-only is for simulators; executor '{}' has no model",
            executor.name());
    BenchRow r;
    r.op = name();
    r.executor = executor.name();
    r.dtype = trn::name(DType::Float32);
    r.precision = algorithm_;
    r.shape = {{"count", count_}};
    if (simulated && options.model_only) {
      const tile::Machine& machine = tile::device_of(executor).machine();
      return finish(r, executor, neuron::estimate(program(machine), machine).seconds);
    }
    const Array<float> out(executor, {count_});
    Recorder recorder(executor);
    const Measured measured = measure(options.repeats, [&] { draw(executor, out); });
    r.seconds = measured.fastest_s;
    ensure(recorder.family_of(name()) == trn::name(executor.family()), "{} did not run on {}", name(), executor_name);
    if (!simulated) return finish(r, executor, std::nullopt);
    r.error = difference_from_host(out);
    r.bound = 1;
    return finish(r, executor, recorder.modelled_seconds() / measured.runs);
  }

 private:
  rand::Algorithm algorithm() const {
    return algorithm_ == "philox" ? rand::Algorithm::Philox4x32_10 : rand::Algorithm::Threefry4x32_20;
  }

  void draw(const Executor& executor, const Array<float>& out) const {
    rand::Generator generator(rand::State{.algorithm = algorithm(), .seed = 1, .position = position_});
    switch (transform_.law) {
      case rand::Law::Normal:
        return rand::normal(executor, generator, out.view());
      case rand::Law::LogNormal:
        return rand::log_normal(executor, generator, out.view());
      case rand::Law::Exponential:
        return rand::exponential(executor, generator, out.view());
      default:
        return rand::weibull(executor, generator, out.view());
    }
  }

  double difference_from_host(const Array<float>& out) const {
    const Array<float> reference(Executor::host(), {count_});
    draw(Executor::host(), reference);
    const std::vector<float> values = out.to_host();
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double expected = reference.data()[i], bound = rand::device_difference_bound(transform_, expected);
      const double difference = std::abs(static_cast<double>(values[i]) - expected);
      worst = std::max(worst, difference == 0 ? 0.0 : difference / bound);
    }
    return worst;
  }

  BenchRow finish(BenchRow r, const Executor& executor, std::optional<double> modelled) const {
    r.modelled_seconds = modelled;
    const double bytes_per_s =
        modelled ? tile::device_of(executor).machine().dma_bytes_per_s() : host_write_bandwidth();
    const double rate = static_cast<double>(count_) / (modelled ? *modelled : *r.seconds);
    r.gflops = rate * 1e-9;
    r.roof_fraction = rate * sizeof(float) / bytes_per_s;
    return r;
  }

  rand::Transform transform_;
  std::int64_t count_ = std::int64_t{1} << 24;
  std::uint64_t position_ = 0;
  std::string algorithm_ = "philox";
};

}  // namespace

std::unique_ptr<Operation> law_operation(rand::Law law) { return std::make_unique<LawDraws>(law); }

}  // namespace trn::tools
