// rand.raw32 and rand.uniform for the command line: time per draw, and on a device the largest difference from the
// host's values, which must be 0. The column of rates counts 1e9 values per second; the roof is that of writing them:
// the host's memory, or the DMA engines of a core.
#include <algorithm>
#include <cmath>
#include <trn/core/array.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/rand/fill_program.hpp>
#include <trn/rand/raw32.hpp>
#include <trn/rand/uniform.hpp>
#include <trn/tile/device.hpp>

#include "measure.hpp"
#include "operation.hpp"
#include "write_bandwidth.hpp"

namespace trn::tools {

namespace {

const CLI::Range kCount(std::int64_t{1}, rand::kFillMax, "1 to 2^32");

// T: uint32_t for raw32, float for uniform.
template <class T>
class Draws final : public Operation {
 public:
  std::string name() const override { return kUniform ? "rand.uniform" : "rand.raw32"; }
  std::string summary() const override {
    return kUniform ? "uniform floats; \"gflops\" counts 1e9 values per second"
                    : "random 32-bit words; \"gflops\" counts 1e9 values per second";
  }
  std::string rate_unit() const override { return "Gvalues/s"; }
  std::string error_note() const override { return "largest difference from the host's values, and 0"; }

  void add_options(CLI::App& app) override {
    app.add_option("--count", count_, "values to draw")->check(kCount)->capture_default_str();
    app.add_option("--algorithm", algorithm_, "philox or threefry; on the host also xorwow, mrg32k3a, mt19937, sobol32")
        ->check(CLI::IsMember({"philox", "threefry", "xorwow", "mrg32k3a", "mt19937", "sobol32"}))
        ->capture_default_str();
    app.add_option("--position", position_, "number of the first value")->capture_default_str();
    if (kUniform) {
      app.add_option("--interval", interval_, "open-closed (0, 1] or half-open [0, 1)")
          ->check(CLI::IsMember({"open-closed", "half-open"}))
          ->capture_default_str();
    }
  }

  tile::Program program(const tile::Machine& machine) const override {
    const rand::Draw draw = !kUniform                                  ? rand::Draw::Raw32
                            : interval() == rand::Interval::OpenClosed ? rand::Draw::OpenClosed
                                                                       : rand::Draw::HalfOpen;
    return rand::fill_program({algorithm(), draw, count_, static_cast<std::int64_t>(position_ % 4)}, machine);
  }

  BenchRow bench(const std::string& executor_name, const BenchOptions& options) const override {
    const Executor executor = Executor::open(executor_name);
    const bool simulated = executor.family() == Family::Device;
    require(simulated || !options.model_only, "bench: --model-only is for simulators; executor '{}' has no model",
            executor.name());
    BenchRow r;
    r.op = name();
    r.executor = executor.name();
    r.dtype = trn::name(dtype_of<T>);
    r.precision = algorithm_;
    r.shape = {{"count", count_}};
    if (simulated && options.model_only) {
      const tile::Machine& machine = tile::device_of(executor).machine();
      return finish(r, executor, neuron::estimate(program(machine), machine).seconds);
    }
    const Array<T> out(executor, {count_});
    Recorder recorder(executor);
    const Measured measured = measure(options.repeats, [&] { draw(executor, out); });
    r.seconds = measured.fastest_s;
    ensure(recorder.family_of(name()) == trn::name(executor.family()), "{} did not run on {}", name(), executor_name);
    if (!simulated) return finish(r, executor, std::nullopt);
    r.error = difference_from_host(out);
    r.bound = 0;
    return finish(r, executor, recorder.modelled_seconds() / measured.runs);
  }

 private:
  static constexpr bool kUniform = std::is_same_v<T, float>;

  rand::Algorithm algorithm() const {
    if (algorithm_ == "philox") return rand::Algorithm::Philox4x32_10;
    if (algorithm_ == "threefry") return rand::Algorithm::Threefry4x32_20;
    if (algorithm_ == "xorwow") return rand::Algorithm::Xorwow;
    if (algorithm_ == "mrg32k3a") return rand::Algorithm::Mrg32k3a;
    if (algorithm_ == "mt19937") return rand::Algorithm::Mt19937;
    return rand::Algorithm::Sobol32;
  }
  rand::Interval interval() const {
    return interval_ == "half-open" ? rand::Interval::HalfOpen : rand::Interval::OpenClosed;
  }

  void draw(const Executor& executor, const Array<T>& out) const {
    rand::Generator generator(rand::State{
        .algorithm = algorithm(), .seed = rand::is_quasi(algorithm()) ? 0u : 1u, .position = position_});
    if constexpr (kUniform) {
      rand::uniform(executor, generator, out.view(), interval());
    } else {
      rand::raw32(executor, generator, out.view());
    }
  }

  double difference_from_host(const Array<T>& out) const {
    const Array<T> reference(Executor::host(), {count_});
    draw(Executor::host(), reference);
    const std::vector<T> values = out.to_host();
    double worst = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      worst = std::max(worst, std::abs(static_cast<double>(values[i]) - static_cast<double>(reference.data()[i])));
    }
    return worst;
  }

  BenchRow finish(BenchRow r, const Executor& executor, std::optional<double> modelled) const {
    r.modelled_seconds = modelled;
    const double bytes_per_s =
        modelled ? tile::device_of(executor).machine().dma_bytes_per_s() : host_write_bandwidth();
    const double rate = static_cast<double>(count_) / (modelled ? *modelled : *r.seconds);
    r.gflops = rate * 1e-9;
    r.roof_fraction = rate * sizeof(T) / bytes_per_s;
    return r;
  }

  std::int64_t count_ = std::int64_t{1} << 24;
  std::uint64_t position_ = 0;
  std::string algorithm_ = "philox", interval_ = "open-closed";
};

}  // namespace

std::unique_ptr<Operation> raw32_operation() { return std::make_unique<Draws<std::uint32_t>>(); }
std::unique_ptr<Operation> uniform_operation() { return std::make_unique<Draws<float>>(); }

}  // namespace trn::tools
