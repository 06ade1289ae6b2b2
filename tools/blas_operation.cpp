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
  BlasOperation(const BlasRow& row, const BlasSize& size, std::string dtype, std::string precision = "native")
      : row_(row), size_(size), dtype_(std::move(dtype)), precision_(std::move(precision)) {}
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
    Programs all;
    Accuracy accuracy;
    try {
      all = (native ? recorded_programs : executed_programs)(machine,
                                                             [&](const Executor& e) { accuracy = make(e).call(); });
    } catch (const NotImplemented&) {
      fail<NotImplemented>("{}: has no device kernel for {}; it runs on the host", name(), dtype_);
    }
    require_mode(accuracy);
    return all;
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
    // What moves more than it computes waits for the DMA engines. (On the host small operands stay in caches.)
    if (executor.family() == Family::Device && r.work > 0 && r.bytes && *r.bytes > 0) {
      r.roof = std::min(r.roof, byte_roof(executor) * r.work / *r.bytes);
    }
  }

  // "fp32 or fp64".
  std::string offered() const {
    std::string text;
    for (std::size_t i = 0; i < std::size(row_.make); ++i) {
      if (row_.make[i] != nullptr) text += (text.empty() ? "" : " or ") + scalar_words()[i];
    }
    return text;
  }

  // A device has no float64 of its own. The products behind an operation take more types, or others, than it has.
  [[noreturn]] void refuse_type(const std::string& message) const {
    const std::size_t advice = message.find("; use float32");
    if (advice == std::string::npos) fail<NotImplemented>("{}", message);
    const bool exact = message.find("Precision Exact") != std::string::npos;
    std::string choices;
    for (const std::size_t i : {0, 2}) {
      if (row_.make[i] != nullptr) choices += "--dtype " + scalar_words()[i] + ", ";
    }
    if (exact) choices += "--precision exact, ";
    fail<NotImplemented>("{}; use {}{}--exec host", message.substr(0, advice), choices, choices.empty() ? "" : "or ");
  }

  BlasCase make(const Executor& executor) const {
    const DType dtype = parse_dtype(dtype_);
    const std::size_t at = scalar_place(name(), dtype);
    require(row_.make[at] != nullptr, "{}: not offered for {}; choose {}", name(), trn::name(dtype), offered());
    BlasSize size = size_;
    size.precision = Precision::parse(precision_);
    return row_.make[at](executor, size);
  }
  // Operations without a precision would compute as ever, whatever was asked for.
  void require_mode(const Accuracy& accuracy) const {
    const Precision asked = Precision::parse(precision_);
    if (!asked.has_target() && accuracy.mode != asked.mode())
      fail<NotImplemented>("{}: has no precision {}; leave --precision out", name(), precision_);
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
        executor, has_model(executor) ? 1 : options.repeats,
        [&] {
          try {
            accuracy = c.call();
          } catch (const NotImplemented& e) {
            refuse_type(e.what());
          }
        },
        clock);
    ensure(row_.scalar || recorder.count(EventKind::Dispatch) > 0, "{} did not run on {}", name(), executor.name());
    require_mode(accuracy);
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

// An operation with a command of its own for float32. Its options, programs, errors and rows on simulators are its own;
// on the host the time is that of the table's case, of the same extents, beside OpenBLAS's. Every other type and
// precision of the table is that case everywhere.
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
  Programs programs(const tile::Machine& machine) const override {
    if (!other()) return own_->programs(machine);
    const Executor executor = Executor::open(fmt::format("sim:{}", machine.name));
    return theirs(own_->bench(executor, {.model_only = true})).programs(machine);
  }

  void add_options(Options& options) override {
    own_->add_options(options);
    own_types_ = options.has("--dtype");
    if (!own_types_) options.text("--dtype", dtype_, "fp32, fp64, complex64, complex128").completes(scalar_words());
    if (!options.has("--precision"))
      options.text("--precision", precision_, "native or exact, where the operation has them")
          .completes({"native", "exact"});
  }

 private:
  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    const bool host = executor.family() == Family::Host, by_bytes = rate_unit() == "GB/s";
    if (!host && other()) {
      const BenchRow own = own_->bench(executor, {.model_only = true});  // of the same extents in float32
      r = theirs(own).bench(executor, options);
      r.shape = own.shape;
      if (by_bytes) {
        const auto scale = static_cast<double>(size_bytes(parse_dtype(dtype_))) / size_bytes(DType::Float32);
        r.work = scale * own.work, r.roof = own.roof;
        r.bytes.reset();
      }
      return;
    }
    r = own_->bench(executor, options);
    if (!host) return;
    const BenchRow t = theirs(r).bench(executor, options);
    r.seconds = t.seconds, r.peer_seconds = t.peer_seconds;
    r.work = by_bytes ? *t.bytes : t.work;
    if (!by_bytes) r.roof = t.roof, r.bytes = t.bytes;
    if (other()) r.dtype = t.dtype, r.precision = t.precision, r.error = t.error, r.bound = t.bound;
  }

  [[nodiscard]] bool other() const {
    return !own_types_ && (parse_dtype(dtype_) != DType::Float32 || precision_ != "native");
  }
  // The table's case with the extents of a row.
  [[nodiscard]] BlasOperation theirs(const BenchRow& own) const {
    BlasSize size = row_.size;
    for (const auto& [key, value] : own.shape) {
      for (const auto& [name, extent] :
           {std::pair{"m", &size.m}, {"n", &size.n}, {"k", &size.k}, {"count", &size.count}}) {
        if (key == name) *extent = std::get<std::int64_t>(value);
      }
    }
    return {row_, size, other() ? dtype_ : own.dtype, own_types_ ? own.precision : precision_};
  }

  std::unique_ptr<Operation> own_;
  BlasRow row_;
  bool own_types_ = false;
  std::string dtype_ = "fp32", precision_ = "native";
};

}  // namespace

std::unique_ptr<Operation> blas_case(const BlasRow& row, const BlasSize& size, const std::string& dtype,
                                     const std::string& precision) {
  return std::make_unique<BlasOperation>(row, size, dtype, precision);
}

std::vector<BlasRow> blas_rows() {
  std::vector<BlasRow> all;
  for (const auto rows : {blas_level1_rows(), blas_level2_rows(), blas_level3_rows(), blas_extension_rows()})
    all.insert(all.end(), rows.begin(), rows.end());
  return all;
}

const BlasRow& blas_row(const std::string& name) {
  static const std::vector<BlasRow> all = blas_rows();
  const auto at = std::find_if(all.begin(), all.end(), [&](const BlasRow& row) { return row.name == name; });
  ensure(at != all.end(), "{} is not in the table of operations", name);
  return *at;
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
