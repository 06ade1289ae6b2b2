// Every operation of trnblas that has no command of its own, from the table of cases: time, rate, the peer in the same
// run. Level 1 and 2 are limited by memory, so the rate of bytes stands beside that of arithmetic.
#include <algorithm>

#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/device.hpp>

#include "blas_case.hpp"
#include "host_peak.hpp"
#include "measure.hpp"
#include "operation.hpp"
#include "recording_device.hpp"

namespace trn::tools {

namespace {

constexpr DType kTypes[] = {DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};

class BlasOperation final : public Operation {
 public:
  explicit BlasOperation(const BlasRow& row) : row_(row), size_(row.size), dtype_(row.make[0] ? "fp32" : "complex64") {}
  BlasOperation(const BlasRow& row, const BlasSize& size, std::string dtype)
      : row_(row), size_(size), dtype_(std::move(dtype)) {}
  std::string name() const override { return row_.name; }
  std::string summary() const override { return row_.formula; }
  std::string error_note() const override { return "bound: what the call itself states (0: nothing)"; }

  void add_options(Options& options) override {
    options.number("--m", size_.m, "rows");
    options.number("--n", size_.n, "columns, or the length of vectors");
    options.number("--k", size_.k, "inner dimension, or diagonals of a band");
    options.number("--count", size_.count, "problems of a batch");
    options.text("--dtype", dtype_, "fp32, fp64, complex64, complex128");
    options.text("--precision", precision_, "native, tf32, bf16, tf32x3, bf16x6, exact, target=ERROR");
  }

  std::vector<std::string> default_executors() const override { return {"host"}; }

  // In a mode that looks at its operands or results on the way, the programs are those of a run.
  Programs programs(const tile::Machine& machine) const override {
    if (row_.scalar) fail<NotImplemented>("{}: works on the caller's own numbers; it has no device kernel", name());
    const Precision precision = Precision::parse(precision_);
    const bool native = !precision.has_target() && precision.mode() == Mode::Native;
    try {
      return (native ? recorded_programs : executed_programs)(machine,
                                                              [&](const Executor& e) { (void)make(e).call(); });
    } catch (const NotImplemented&) {
      fail<NotImplemented>("{}: has no device kernel for {}; it runs on the host", name(), dtype_);
    }
  }

  BenchRow bench(const std::string& executor_name, const BenchOptions& options) const override {
    const Executor executor = Executor::open(executor_name);
    const bool simulated = executor.family() == Family::Device;
    require(!row_.scalar || !simulated, "{}: works on the caller's own numbers; use host", name());
    require(simulated || !options.model_only, "bench: --model-only is for simulators; executor '{}' has no model",
            executor.name());
    const BlasCase c = make(options.model_only ? Executor::host() : executor);
    BenchRow r;
    r.op = name();
    r.executor = executor.name();
    r.dtype = trn::name(parse_dtype(dtype_));
    r.shape = {{"m", size_.m}, {"n", size_.n}, {"k", size_.k}, {"count", size_.count}};
    if (options.model_only) {
      const tile::Machine& machine = tile::device_of(executor).machine();
      r.precision = precision_;
      r.modelled_seconds = 0;
      for (const Step& step : steps(*this, machine)) {
        *r.modelled_seconds += step.runs * neuron::estimate(*step.program, machine).seconds;
      }
    } else {
      run(executor, c, options, r);
    }
    const double seconds = r.modelled_seconds ? *r.modelled_seconds : *r.seconds;
    const DType dtype = parse_dtype(dtype_);
    const bool wide = real_of(dtype) == DType::Float64;
    const double peak = simulated ? tile::device_of(executor).machine().tensor_flops(DType::Float32)
                                  : (wide ? host_peak().fp64_flops : host_peak().fp32_flops);
    r.rate = c.flops / seconds * 1e-9;
    r.gbytes = c.elements * static_cast<double>(size_bytes(dtype)) / seconds * 1e-9;
    r.roof_fraction = c.flops / seconds / peak;
    return r;
  }

 private:
  BlasCase make(const Executor& executor) const {
    const DType dtype = parse_dtype(dtype_);
    const auto at = std::find(std::begin(kTypes), std::end(kTypes), dtype) - std::begin(kTypes);
    require(at < 4 && row_.make[at] != nullptr, "{}: not offered for {}", name(), trn::name(dtype));
    BlasSize size = size_;
    size.precision = Precision::parse(precision_);
    return row_.make[at](executor, size);
  }
  void run(const Executor& executor, const BlasCase& c, const BenchOptions& options, BenchRow& r) const {
    const bool simulated = executor.family() == Family::Device;
    Recorder recorder(executor);
    Accuracy accuracy;
    if (!simulated) {  // first touch and threads, apart from the measurement
      const PurposeScope warm_up(Purpose::WarmUp);
      (void)c.call();
      if (c.peer) c.peer();
    }
    const Clock clock = options.cpu_time ? Clock::Processor : Clock::Wall;
    const Measured ours = measure(
        executor, has_model(executor) ? 1 : options.repeats, [&] { accuracy = c.call(); }, clock);
    ensure(row_.scalar || recorder.count(EventKind::Dispatch) > 0, "{} did not run on {}", name(), executor.name());
    r.precision = trn::name(accuracy.mode);
    r.seconds = ours.fastest_s;
    if (accuracy.bound > 0) r.bound = accuracy.bound;
    if (!simulated && c.peer) r.peer_seconds = measure(options.repeats, c.peer, clock).fastest_s;
    r.modelled_seconds = modelled_time(executor, recorder);
  }

  BlasRow row_;
  BlasSize size_;
  std::string dtype_, precision_ = "native";
};

// An operation with a command of its own. Its options, programs, errors and rows on simulators are its own; on the host
// the time is that of the table's case, of the same extents, beside OpenBLAS's, and in every type of the table.
class WithPeer final : public Operation {
 public:
  WithPeer(std::unique_ptr<Operation> own, const BlasRow& row) : own_(std::move(own)), row_(row) {}
  std::string name() const override { return own_->name(); }
  std::string summary() const override { return own_->summary(); }
  std::string rate_unit() const override { return own_->rate_unit(); }
  std::string error_note() const override { return own_->error_note(); }
  std::vector<std::string> default_executors() const override { return own_->default_executors(); }
  Programs programs(const tile::Machine& machine) const override { return own_->programs(machine); }

  void add_options(Options& options) override {
    own_->add_options(options);
    own_types_ = options.has("--dtype");
    if (!own_types_) options.text("--dtype", dtype_, "fp32; on the host also fp64, complex64, complex128");
  }

  BenchRow bench(const std::string& executor, const BenchOptions& options) const override {
    const bool host = Executor::open(executor).family() == Family::Host;
    const bool other = !own_types_ && parse_dtype(dtype_) != DType::Float32;
    require(host || !other, "bench: {} in {} is for the host; '{}' takes fp32", name(), dtype_, executor);
    BenchRow r = own_->bench(executor, options);
    if (!host) return r;
    BlasSize size = row_.size;
    for (const auto& [key, value] : r.shape) {
      for (const auto& [name, extent] :
           {std::pair{"m", &size.m}, {"n", &size.n}, {"k", &size.k}, {"count", &size.count}}) {
        if (key == name) *extent = std::get<std::int64_t>(value);
      }
    }
    const BenchRow t = BlasOperation(row_, size, other ? dtype_ : r.dtype).bench(executor, options);
    const bool by_bytes = rate_unit() == "GB/s";
    const double roof = r.rate / r.roof_fraction;
    r.seconds = t.seconds, r.peer_seconds = t.peer_seconds;
    r.rate = by_bytes ? *t.gbytes : t.rate;
    r.roof_fraction = by_bytes ? r.rate / roof : t.roof_fraction;
    if (!by_bytes) r.gbytes = t.gbytes;
    if (other) r.dtype = t.dtype, r.error = t.error, r.bound = t.bound;
    return r;
  }

 private:
  std::unique_ptr<Operation> own_;
  BlasRow row_;
  bool own_types_ = false;
  std::string dtype_ = "fp32";
};

}  // namespace

std::vector<BlasRow> blas_rows() {
  std::vector<BlasRow> all;
  for (const auto rows : {blas_level1_rows(), blas_level2_rows(), blas_level3_rows(), blas_extension_rows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

void add_blas_operations(std::vector<std::unique_ptr<Operation>>& all) {
  for (const BlasRow& row : blas_rows()) {
    const auto own =
        std::find_if(all.begin(), all.end(), [&](const auto& operation) { return operation->name() == row.name; });
    if (own == all.end()) {
      all.push_back(std::make_unique<BlasOperation>(row));
    } else {
      *own = std::make_unique<WithPeer>(std::move(*own), row);
    }
  }
}

}  // namespace trn::tools
