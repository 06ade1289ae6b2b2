// Every operation of trnblas that has no command of its own, from the table of cases: time, rate, the peer in the same
// run. Level 1 and 2 are limited by memory, so the rate of bytes stands beside that of arithmetic.
#include <algorithm>

#include <trn/core/error.hpp>
#include <trn/tile/device.hpp>

#include "blas_case.hpp"
#include "measure.hpp"
#include "operation.hpp"
#include "recording_device.hpp"
#include "roofs.hpp"
#include "scalar_type.hpp"

namespace trn::tools {

namespace {

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
    options.text("--dtype", dtype_, "fp32, fp64, complex64, complex128").completes(scalar_words());
    options.text("--precision", precision_, "native, tf32, bf16, tf32x3, bf16x6, exact, target=ERROR")
        .completes(precision_words());
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

 private:
  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    if (row_.scalar && executor.family() == Family::Device)
      fail<NotImplemented>("{}: works on the caller's own numbers; use host", name());
    const BlasCase c = make(options.model_only ? Executor::host() : executor);
    const DType dtype = parse_dtype(dtype_);
    r.dtype = trn::name(dtype);
    r.shape = {{"m", size_.m}, {"n", size_.n}, {"k", size_.k}, {"count", size_.count}};
    if (options.model_only) {
      r.precision = precision_;
      r.modelled_seconds = modelled_call(*this, tile::device_of(executor).machine());
      r.roof = flop_roof(executor, dtype, Precision::parse(precision_));
    } else {
      const Accuracy accuracy = run(executor, c, options, r);
      r.roof = flop_roof(executor, dtype, accuracy.mode, accuracy.passes);
    }
    // Three real products do the work of four.
    if (row_.name == std::string_view("gemm3m")) r.roof *= 4.0 / 3;
    r.work = blas::counts::flops(c.work, dtype);
    r.bytes = blas::counts::bytes(c.work, dtype);
  }

  BlasCase make(const Executor& executor) const {
    const DType dtype = parse_dtype(dtype_);
    const std::size_t at = scalar_place(name(), dtype);
    require(row_.make[at] != nullptr, "{}: not offered for {}", name(), trn::name(dtype));
    BlasSize size = size_;
    size.precision = Precision::parse(precision_);
    return row_.make[at](executor, size);
  }
  Accuracy run(const Executor& executor, const BlasCase& c, const BenchOptions& options, BenchRow& r) const {
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
    return accuracy;
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
  std::string peer_note() const override { return own_->peer_note(); }
  std::vector<std::string> unused_options() const override { return own_->unused_options(); }
  std::vector<std::string> default_executors() const override { return own_->default_executors(); }
  Programs programs(const tile::Machine& machine) const override { return own_->programs(machine); }

  void add_options(Options& options) override {
    own_->add_options(options);
    own_types_ = options.has("--dtype");
    if (!own_types_)
      options.text("--dtype", dtype_, "fp32; on the host also fp64, complex64, complex128").completes(scalar_words());
  }

 private:
  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    const bool host = executor.family() == Family::Host;
    const bool other = !own_types_ && parse_dtype(dtype_) != DType::Float32;
    if (!host && other)
      fail<NotImplemented>("bench: {} in {} is for the host; '{}' takes fp32", name(), dtype_, executor.name());
    r = own_->bench(executor, options);
    if (!host) return;
    BlasSize size = row_.size;
    for (const auto& [key, value] : r.shape) {
      for (const auto& [name, extent] :
           {std::pair{"m", &size.m}, {"n", &size.n}, {"k", &size.k}, {"count", &size.count}}) {
        if (key == name) *extent = std::get<std::int64_t>(value);
      }
    }
    const BenchRow t = BlasOperation(row_, size, other ? dtype_ : r.dtype).bench(executor, options);
    const bool by_bytes = rate_unit() == "GB/s";
    r.seconds = t.seconds, r.peer_seconds = t.peer_seconds;
    r.work = by_bytes ? *t.bytes : t.work;
    if (!by_bytes) r.roof = t.roof, r.bytes = t.bytes;
    if (other) r.dtype = t.dtype, r.error = t.error, r.bound = t.bound;
  }

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
