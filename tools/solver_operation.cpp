// The operations of trnsolver for the command line. Beside the keys of every operation their rows say how many matrix
// products of the same order the time would have bought, the condition of the matrix, and the outcome.
#include <algorithm>

#include <trn/blas/gemm.hpp>
#include <trn/blas/gemm_program.hpp>
#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/solver/counts.hpp>
#include <trn/tile/device.hpp>

#include "measure.hpp"
#include "operation.hpp"
#include "recording_device.hpp"
#include "roofs.hpp"
#include "scalar_type.hpp"
#include "solver_case.hpp"

namespace trn::tools {

namespace {

class SolverOperation final : public Operation {
 public:
  explicit SolverOperation(const SolverRow& row) : row_(row), n_(row.n), nrhs_(row.nrhs), count_(row.count) {}
  std::string name() const override { return row_.name; }
  std::string summary() const override { return row_.formula; }
  std::string error_note() const override {
    return fmt::format("{}, from a sample; peer: LAPACK's {}", row_.unit, row_.peer);
  }
  std::vector<std::string> default_executors() const override { return {"host"}; }

  void add_options(Options& options) override {
    if (row_.has_m) options.number("--m", m_, "rows (n unless given)", 1, kMost);
    options.number("--n", n_, "order, or columns", 1, kMost);
    if (row_.nrhs > 0) options.number("--nrhs", nrhs_, "right-hand sides", 1, kMost);
    if (row_.count > 0) options.number("--count", count_, "matrices", 1, kMost);
    options.text("--dtype", dtype_, "fp32, fp64, c64, c128").completes(scalar_words());
    options.text("--precision", precision_, "native, tf32, bf16, tf32x3, bf16x6, exact, target=ERROR")
        .completes(precision_words());
  }

  // What the operation runs on a device. All but Cholesky look at results on the way (rows that a panel chose, a panel
  // that breaks down, a residual that is not small yet, how many eigenvalues a half has): their programs are those of a
  // run with random operands. Of Cholesky in float32 nothing is computed; other types leave blocks to the host.
  Programs programs(const tile::Machine& machine) const override {
    const bool looks_at_results = name() != "solver.potrf" || dtype() != DType::Float32;
    return (looks_at_results ? executed_programs : recorded_programs)(machine, [&](const Executor& executor) {
      const SolverCase c = make(executor);
      c.reset();
      (void)c.call();
    });
  }

  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    r.dtype = trn::name(dtype());
    r.precision = precision_;
    if (row_.has_m) r.shape.emplace_back("m", rows());
    r.shape.emplace_back("n", n_);
    if (row_.nrhs > 0) r.shape.emplace_back("nrhs", nrhs_);
    if (row_.count > 0) r.shape.emplace_back("count", count_);
    r.solver.emplace();
    if (options.model_only) {
      r.modelled_seconds = modelled_call(*this, tile::device_of(executor).machine());
    } else {
      run(executor, options, r);
    }
    const bool modelled = r.modelled_seconds.has_value();
    const double gemm =
        modelled ? modelled_gemm(tile::device_of(executor).machine()) : measured_gemm(executor, options);
    const auto matrices = static_cast<double>(std::max<std::int64_t>(count_, 1));
    r.solver->gemm_equivalents = r.time() / (gemm * matrices);
    r.work = row_.flops(static_cast<double>(rows()), static_cast<double>(n_), static_cast<double>(nrhs_)) *
             (is_complex(dtype()) ? solver::counts::kComplexFactor : 1) * matrices;
    r.roof = flop_roof(executor, dtype(), Precision::parse(r.precision));
    // Device kernels of float32 may multiply in tf32x3, which is faster than float32 itself.
    if (r.precision == "native") r.roof = std::max(r.roof, flop_roof(executor, dtype(), Mode::Tf32x3));
    std::string notes =
        fmt::format("{:.2f} gemm of {}{}", r.solver->gemm_equivalents,
                    modelled ? "order n in tf32x3" : "order n in the same type", row_.count > 0 ? " a matrix" : "");
    if (r.solver->condition) notes += fmt::format("; condition {:.2e}", *r.solver->condition);
    if (!r.solver->outcome.empty()) notes += "; outcome " + r.solver->outcome;
    r.note = notes + (r.note.empty() ? "" : "; " + r.note);
  }

 private:
  static constexpr std::int64_t kMost = std::int64_t{1} << 20;

  [[nodiscard]] std::int64_t rows() const { return row_.has_m && m_ > 0 ? m_ : n_; }
  [[nodiscard]] DType dtype() const { return parse_dtype(dtype_); }
  [[nodiscard]] SolverCase make(const Executor& executor) const {
    return row_.make[scalar_place(name(), dtype())](executor,
                                                    {rows(), n_, nrhs_, count_, Precision::parse(precision_)});
  }

  void run(const Executor& executor, const BenchOptions& options, BenchRow& r) const {
    const bool simulated = executor.family() == Family::Device;
    const SolverCase c = make(executor);
    const Clock clock = options.cpu_time ? Clock::Processor : Clock::Wall;
    Recorder recorder(executor);
    solver::Report report;
    if (!simulated) {  // first touch and threads, apart from the measurement
      const PurposeScope warm_up(Purpose::WarmUp);
      c.reset(), (void)c.call(), c.peer_reset(), c.peer();
    }
    r.seconds = fastest(has_model(executor) ? 1 : options.repeats, clock, c.reset, [&] {
      report = c.call();
      executor.synchronize();
    });
    ensure(recorder.count(EventKind::Dispatch) > 0, "{} did not run on {}", name(), executor.name());
    r.modelled_seconds = modelled_time(executor, recorder);
    r.precision = trn::name(report.accuracy.mode);
    r.solver->outcome = solver::name(report.outcome.status);
    if (report.outcome.ok()) {
      r.error = c.error();
      if (report.accuracy.bound > 0) r.bound = report.accuracy.bound;
      const double condition = report.condition > 0 ? report.condition : c.condition();
      if (condition > 0) r.solver->condition = condition;
    }
    r.note = std::string(report.algorithm);
    if (!simulated) r.peer_seconds = fastest(options.repeats, clock, c.peer_reset, c.peer);
  }

  template <class Reset, class Run> static double fastest(int repeats, Clock clock, const Reset& reset, const Run& f) {
    constexpr double kEnoughSeconds = 5;
    double least = 0, spent = 0;
    for (int i = 0; i == 0 || (i < repeats && spent < kEnoughSeconds); ++i) {
      const PurposeScope purpose(i == 0 ? Purpose::Operation : Purpose::Repeat);
      reset();
      const double begin = now_s(clock);
      f();
      const double seconds = now_s(clock) - begin;
      least = i == 0 ? seconds : std::min(least, seconds);
      spent += seconds;
    }
    return least;
  }

  // One product of order n: of tf32x3 words in the model of a device, of the same type where the clock measures.
  [[nodiscard]] double modelled_gemm(const tile::Machine& machine) const {
    const std::int64_t parts = is_complex(dtype()) ? 2 : 1;
    blas::GemmShape s{parts == 2 ? DType::Complex64 : DType::Float32, parts == 2 ? DType::Complex64 : DType::Float32,
                      n_, n_, n_};
    s.am = s.bk = s.cm = parts * n_;
    s.ak = s.bn = s.cn = parts;
    s.mode = Mode::Tf32x3;
    return neuron::estimate(blas::gemm_program(s, machine), machine).seconds;
  }
  template <class T> double measured_gemm_of(const Executor& executor, const BenchOptions& options) const {
    const std::vector<T> ones(static_cast<std::size_t>(n_ * n_), T(1));
    const auto a = Matrix<T>::from_host(executor, n_, n_, ones), b = Matrix<T>::from_host(executor, n_, n_, ones);
    const Matrix<T> c(executor, n_, n_);
    const auto call = [&] { blas::gemm(executor, blas::Op::N, blas::Op::N, T(1), a.view(), b.view(), T(0), c.view()); };
    call();
    return measure(executor, options.repeats, call, options.cpu_time ? Clock::Processor : Clock::Wall).fastest_s;
  }
  [[nodiscard]] double measured_gemm(const Executor& e, const BenchOptions& o) const {
    return with_scalar(name(), dtype(), [&](auto zero) { return measured_gemm_of<decltype(zero)>(e, o); });
  }

  SolverRow row_;
  std::int64_t m_ = 0, n_, nrhs_, count_;
  std::string dtype_ = "fp32", precision_ = "native";
};

}  // namespace

std::vector<std::unique_ptr<Operation>> solver_operations() {
  std::vector<std::unique_ptr<Operation>> all;
  for (const auto* rows : {&solver_rows(), &solver_batched_rows()}) {
    for (const SolverRow& row : *rows) all.push_back(std::make_unique<SolverOperation>(row));
  }
  for (auto& operation : fused_krylov_operations()) all.push_back(std::move(operation));
  return all;
}

}  // namespace trn::tools
