// blas.gemm for the command line: random operands, every dtype, measured and modelled time, and the error against an
// fp64 reference in the unit of its bound.
#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <type_traits>

#include <trn/blas/counts.hpp>
#include <trn/blas/exact_program.hpp>
#include <trn/blas/gemm.hpp>
#include <trn/blas/gemm_program.hpp>
#include <trn/core/convert.hpp>
#include <trn/neuron/sim.hpp>
#include <trn/tile/device.hpp>

#include "blas_case.hpp"
#include "measure.hpp"
#include "memory.hpp"
#include "operation.hpp"
#include "roofs.hpp"

namespace trn::tools {

namespace {

class Gemm final : public Operation {
 public:
  std::string name() const override { return "blas.gemm"; }
  std::string summary() const override { return "C = A B, row-major"; }

  void add_options(Options& options) override {
    options.number("--m", m_, "rows of C");
    options.number("--n", n_, "columns of C");
    options.number("--k", k_, "inner dimension");
    options
        .text("--dtype", dtype_,
              "fp32, fp64 and complex128 (devices: with --precision exact), complex64, bf16, fp16, tf32")
        .completes({"fp32", "fp64", "complex64", "complex128", "bf16", "fp16", "tf32"});
    options.text("--out-dtype,--out", out_, "dtype of C (default: the input's; fp32 for tf32)");
    options.text("--precision", precision_, "native, tf32, bf16, tf32x3, bf16x6, exact, or target=1e-9")
        .completes(precision_words());
    moduli_options_.push_back(options.number(
        "--moduli", moduli_, "of exact, in programs and with --model-only: 16 are as accurate as dgemm", 1, 20));
    options.text("--op-a", op_a_, "N, or T: A is stored transposed", {"N", "T"});
    options.text("--op-b", op_b_, "N, or T: B is stored transposed", {"N", "T"});
  }

  std::vector<std::string> unused_options() const override {
    return exact() && !is_complex(in()) ? std::vector<std::string>{} : std::vector<std::string>{"--moduli"};
  }

  Programs programs(const tile::Machine& machine) const override {
    return is_complex(in()) ? of_complex()->programs(machine) : Operation::programs(machine);
  }

  tile::Program program(const tile::Machine& machine) const override {
    check_moduli();
    if (exact()) {
      blas::ExactShape s{in(), moduli_, m_, n_, k_};
      s.am = op_a_ == "N" ? k_ : 1;
      s.ak = op_a_ == "N" ? 1 : m_;
      s.bk = op_b_ == "N" ? n_ : 1;
      s.bn = op_b_ == "N" ? 1 : k_;
      s.limbs = blas::exact_limbs(moduli_, s.depth());
      return blas::exact_program(s, machine);
    }
    require(!precision().has_target(),
            "blas.gemm: a program has one precision, and '{}' depends on the operands; name a mode", precision_);
    blas::GemmShape s{in(), out(), m_, n_, k_};
    s.mode = precision().mode();
    s.am = op_a_ == "N" ? k_ : 1;
    s.ak = op_a_ == "N" ? 1 : m_;
    s.bk = op_b_ == "N" ? n_ : 1;
    s.bn = op_b_ == "N" ? 1 : k_;
    s.cm = n_;
    s.cn = 1;
    return blas::gemm_program(s, machine);
  }

  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    switch (in()) {
      case DType::Float32:
        return run<float, float>(r, executor, options);
      case DType::Float64:
        return run<double, double>(r, executor, options);
      case DType::TFloat32:
        return run<tfloat32, float>(r, executor, options);
      case DType::BFloat16:
        return out() == DType::Float32 ? run<bfloat16, float>(r, executor, options)
                                       : run<bfloat16, bfloat16>(r, executor, options);
      case DType::Float16:
        return out() == DType::Float32 ? run<float16, float>(r, executor, options)
                                       : run<float16, float16>(r, executor, options);
      case DType::Complex64:
      case DType::Complex128:
        r = of_complex()->bench(executor, options);
        r.shape = {{"m", m_}, {"n", n_}, {"k", k_}};
        return;
      default:
        fail<InvalidArgument>(
            "blas.gemm: no kernel for dtype {}; choose fp32, fp64, complex64, complex128, bf16, fp16 or tf32",
            trn::name(in()));
    }
  }

 private:
  // Complex products are the case that the table of all operations has: plain operands, as many moduli as they need.
  std::unique_ptr<Operation> of_complex() const {
    const bool moduli =
        std::any_of(moduli_options_.begin(), moduli_options_.end(), [](const Option& o) { return o.given(); });
    require(!moduli && op_a_ == "N" && op_b_ == "N" && (out_.empty() || out() == in()),
            "blas.gemm: {} is for plain operands and a result of the same type; leave out --moduli, --op-a, --op-b and "
            "--out-dtype",
            trn::name(in()));
    return blas_case(blas_gemm_row(), {.m = m_, .n = n_, .k = k_}, dtype_, precision_);
  }
  Precision precision() const { return Precision::parse(precision_); }
  void check_moduli() const {
    const bool given =
        std::any_of(moduli_options_.begin(), moduli_options_.end(), [](const Option& o) { return o.given(); });
    require(exact() || !given, "blas.gemm: --moduli is a number of exact products; add --precision exact");
  }
  bool exact() const { return !precision().has_target() && precision().mode() == Mode::Exact; }
  DType in() const { return parse_dtype(dtype_); }
  DType out() const {
    if (!out_.empty()) return parse_dtype(out_);
    return in() == DType::TFloat32 ? DType::Float32 : in();
  }

  template <class In, class Out> void run(BenchRow& r, const Executor& executor, const BenchOptions& options) const {
    require(dtype_of<Out> == out(), "blas.gemm: {} in, {} out is not offered; see --help", trn::name(in()),
            trn::name(out()));
    check_moduli();
    r.dtype = trn::name(in());
    r.precision = precision_;
    r.shape = {{"m", m_}, {"n", n_}, {"k", k_}};
    r.work = blas::counts::gemm(static_cast<double>(m_), static_cast<double>(n_), static_cast<double>(k_)).flops;
    if (options.model_only) {
      const tile::Machine& machine = tile::device_of(executor).machine();
      const neuron::RunReport report = neuron::estimate(program(machine), machine);
      const int passes = passes_of(precision().mode());
      if (passes > 1) r.note = fmt::format("precision {}, {} passes; {}", precision_, passes, busiest(report));
      r.modelled_seconds = report.seconds;
      r.roof = flop_roof(executor, in(), precision().mode(), passes);
      return;
    }
    require_memory(name(), needed_bytes(sizeof(In), sizeof(Out)));
    const auto a = random<In>(m_ * k_, 1), b = random<In>(k_ * n_, 2);
    const auto on = [&](const std::vector<In>& v, bool stored, std::int64_t rows, std::int64_t columns) {
      return Matrix<In>::from_host(executor, stored ? rows : columns, stored ? columns : rows, v);
    };
    const Matrix<In> da = on(a, op_a_ == "N", m_, k_), db = on(b, op_b_ == "N", k_, n_);
    const Matrix<Out> dc(executor, m_, n_);
    Recorder recorder(executor);
    Accuracy accuracy;
    const blas::GemmOptions chosen{.precision = precision()};
    const Measured measured = measure(
        executor, options.repeats,
        [&] {
          accuracy =
              blas::gemm(executor, op_a_ == "N" ? blas::Op::N : blas::Op::T, op_b_ == "N" ? blas::Op::N : blas::Op::T,
                         1, da.view(), db.view(), 0, dc.view(), chosen);
        },
        clock_of(options));
    ensure(recorder.family_of(name()) == trn::name(executor.family()), "{} did not run on {}", name(), executor.name());
    r.seconds = measured.fastest_s;
    if (executor.family() == Family::Host) r.peer_seconds = peer_seconds<In>(options, da.data(), db.data());
    const Unit unit = accuracy.mode == Mode::Native ? Unit::Magnitudes : Unit::Norms;
    r.error = error(a, b, dc.to_host(), unit);
    r.bound = accuracy.bound;
    r.note = fmt::format("precision {}, {} passes, bound {:.2e} of {}", trn::name(accuracy.mode), accuracy.passes,
                         accuracy.bound, unit == Unit::Norms ? "||a_i|| ||b_j||" : "|A||B|");
    r.modelled_seconds = modelled_time(executor, recorder);
    r.roof = flop_roof(executor, in(), accuracy.mode, accuracy.passes);
  }

  // What lives while the error is computed: the operands here and on the executor and as doubles; the result here and
  // there, and as doubles beside the reference and the unit.
  double needed_bytes(std::size_t in, std::size_t out) const {
    const auto m = static_cast<double>(m_), n = static_cast<double>(n_), k = static_cast<double>(k_);
    const double wide = sizeof(double);
    return (m * k + k * n) * (2 * static_cast<double>(in) + wide) + m * n * (2 * static_cast<double>(out) + 3 * wide);
  }

  static Clock clock_of(const BenchOptions& options) { return options.cpu_time ? Clock::Processor : Clock::Wall; }

  // OpenBLAS called directly on the same operands, for the types it has.
  template <class In> std::optional<double> peer_seconds(const BenchOptions& options, const In* a, const In* b) const {
    if constexpr (std::is_same_v<In, float> || std::is_same_v<In, double>) {
      std::vector<In> c(static_cast<std::size_t>(m_ * n_));
      const auto ta = op_a_ == "N" ? CblasNoTrans : CblasTrans, tb = op_b_ == "N" ? CblasNoTrans : CblasTrans;
      const int m = static_cast<int>(m_), n = static_cast<int>(n_), k = static_cast<int>(k_),
                lda = ta == CblasNoTrans ? k : m, ldb = tb == CblasNoTrans ? n : k;
      return measure(
                 options.repeats,
                 [&] {
                   if constexpr (std::is_same_v<In, float>) {
                     cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c.data(), n);
                   } else {
                     cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, a, lda, b, ldb, 0, c.data(), n);
                   }
                 },
                 clock_of(options))
          .fastest_s;
    }
    return std::nullopt;
  }

  // The engine with the most work, and what the others have.
  static std::string busiest(const neuron::RunReport& report) {
    const neuron::Lane* most = &report.lanes.front();
    std::string all;
    for (const neuron::Lane& lane : report.lanes) {
      if (lane.busy_s > most->busy_s) most = &lane;
      all += fmt::format("{}{} {:.0f} %", all.empty() ? "" : ", ", lane.name, 100 * lane.busy_s / report.seconds);
    }
    return fmt::format("bound by {}; busy: {}", most->name, all);
  }

  int passes_of(Mode mode) const {
    return mode == Mode::Tf32x3 ? 3 : mode == Mode::Bf16x6 ? 6 : mode == Mode::Exact ? moduli_ : 1;
  }

  template <class T> static std::vector<T> random(std::int64_t count, std::uint64_t seed) {
    std::mt19937_64 engine(seed);
    std::normal_distribution<double> normal;
    std::vector<double> wide(static_cast<std::size_t>(count));
    for (double& x : wide) x = normal(engine);
    std::vector<T> values(wide.size());
    from_double(wide.data(), dtype_of<T>, values.data(), count);
    return values;
  }

  // What the bound of an element is a multiple of: Native's of (|A||B|)_ij, those of other modes of ||a_i|| ||b_j||,
  // which is never smaller.
  enum class Unit { Magnitudes, Norms };
  // max |C - AB| over the unit, both products in fp64. For fp64 itself a sample of elements, in long double: 64 bits of
  // mantissa resolve errors of 53-bit arithmetic.
  template <class In, class Out>
  double error(const std::vector<In>& a, const std::vector<In>& b, const std::vector<Out>& c, Unit unit) const {
    std::vector<double> wa(a.size()), wb(b.size()), wc(c.size()), reference(c.size()), size(c.size());
    to_double(dtype_of<In>, a.data(), wa.data(), static_cast<std::int64_t>(a.size()));
    to_double(dtype_of<In>, b.data(), wb.data(), static_cast<std::int64_t>(b.size()));
    to_double(dtype_of<Out>, c.data(), wc.data(), static_cast<std::int64_t>(c.size()));
    if constexpr (std::is_same_v<In, double>) return sampled_error(wa, wb, wc, unit);
    const auto multiply = [&](std::vector<double>& product) {
      cblas_dgemm(CblasRowMajor, op_a_ == "N" ? CblasNoTrans : CblasTrans, op_b_ == "N" ? CblasNoTrans : CblasTrans,
                  static_cast<int>(m_), static_cast<int>(n_), static_cast<int>(k_), 1, wa.data(),
                  static_cast<int>(op_a_ == "N" ? k_ : m_), wb.data(), static_cast<int>(op_b_ == "N" ? n_ : k_), 0,
                  product.data(), static_cast<int>(n_));
    };
    multiply(reference);
    if (unit == Unit::Norms) {
      const std::vector<double> rows = row_norms(wa), columns = column_norms(wb);
      for (std::size_t at = 0; at < size.size(); ++at) {
        size[at] = rows[at / columns.size()] * columns[at % columns.size()];
      }
    } else {
      for (double& x : wa) x = std::abs(x);
      for (double& x : wb) x = std::abs(x);
      multiply(size);
    }
    double worst = 0;
    for (std::size_t i = 0; i < wc.size(); ++i) worst = std::max(worst, std::abs(wc[i] - reference[i]) / size[i]);
    return worst;
  }

  std::vector<double> row_norms(const std::vector<double>& a) const {
    return norms(a, m_, op_a_ == "N" ? k_ : 1, op_a_ == "N" ? 1 : m_);
  }
  std::vector<double> column_norms(const std::vector<double>& b) const {
    return norms(b, n_, op_b_ == "N" ? 1 : k_, op_b_ == "N" ? n_ : 1);
  }
  // Euclidean norms of `count` vectors of k elements: vector i begins at i * between, its elements are `step` apart.
  std::vector<double> norms(const std::vector<double>& x, std::int64_t count, std::int64_t between,
                            std::int64_t step) const {
    std::vector<double> result(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) {
      double sum = 0;
      for (std::int64_t p = 0; p < k_; ++p) {
        const double value = x[static_cast<std::size_t>(i * between + p * step)];
        sum += value * value;
      }
      result[static_cast<std::size_t>(i)] = std::sqrt(sum);
    }
    return result;
  }

  double sampled_error(const std::vector<double>& a, const std::vector<double>& b, const std::vector<double>& c,
                       Unit unit) const {
    const std::int64_t a_row = op_a_ == "N" ? k_ : 1, a_column = op_a_ == "N" ? 1 : m_;
    const std::int64_t b_row = op_b_ == "N" ? n_ : 1, b_column = op_b_ == "N" ? 1 : k_;
    constexpr std::int64_t kSamples = 2000;
    const std::int64_t step = std::max<std::int64_t>(1, m_ * n_ / kSamples) | 1;  // odd: walks through the columns
    const std::vector<double> rows = row_norms(a), columns = column_norms(b);
    double worst = 0;
    for (std::int64_t at = 0; at < m_ * n_; at += step) {
      const std::int64_t i = at / n_, j = at % n_;
      const double norms_of_both = rows[static_cast<std::size_t>(i)] * columns[static_cast<std::size_t>(j)];
      long double sum = 0, magnitude = 0;
      for (std::int64_t p = 0; p < k_; ++p) {
        const long double product = static_cast<long double>(a[static_cast<std::size_t>(i * a_row + p * a_column)]) *
                                    b[static_cast<std::size_t>(p * b_row + j * b_column)];
        sum += product;
        magnitude += std::abs(product);
      }
      const long double size = unit == Unit::Norms ? norms_of_both : magnitude;
      worst = std::max(
          worst, static_cast<double>(std::abs(static_cast<long double>(c[static_cast<std::size_t>(at)]) - sum) / size));
    }
    return worst;
  }

  std::int64_t m_ = 1024, n_ = 1024, k_ = 1024;
  int moduli_ = 16;
  std::vector<Option> moduli_options_;  // of bench, profile, emit and dis
  std::string precision_ = "native", dtype_ = "fp32", out_, op_a_ = "N", op_b_ = "N";
};

}  // namespace

std::unique_ptr<Operation> gemm_operation() { return std::make_unique<Gemm>(); }

}  // namespace trn::tools
