// blas.trsm for the command line: a random triangle with a dominant diagonal, measured and modelled time, and the
// largest residual beside the bound that the call reports, both in units of ||a_i|| ||x_j||.
#include <cblas.h>

#include <cmath>
#include <random>
#include <trn/blas/counts.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/blas/trsm_program.hpp>
#include <trn/core/array.hpp>

#include "blas_case.hpp"
#include "memory.hpp"
#include "program_bench.hpp"

namespace trn::tools {

namespace {

constexpr std::int64_t kExtentMax = std::int64_t{1} << 20;

class Trsm final : public ProgramBench {
 public:
  std::string name() const override { return "blas.trsm"; }
  std::string summary() const override { return "A X = B, A triangular, m x m, B m x n, row-major"; }
  std::string error_note() const override {
    return "largest |B - A X| in units of ||a_i|| ||x_j||, and the bound for the operands at hand";
  }

  void add_options(Options& options) override {
    options.number("--m", m_, "rows of A and B", 1, kExtentMax);
    options.number("--n", n_, "right-hand sides", 1, kExtentMax);
    options.text("--uplo", uplo_, "L or U", {"L", "U"});
    options.text("--op", op_, "N, or T: A is stored transposed", {"N", "T"});
    options
        .text("--dtype", dtype_, "fp32, complex64, fp64 and complex128 (devices: with --precision exact)",
              {"fp32", "fp64", "complex64", "complex128"})
        .completes(scalar_words());
    options.text("--precision", precision_, "on simulators: native, tf32, bf16, tf32x3, bf16x6 or exact",
                 {"native", "tf32", "bf16", "tf32x3", "bf16x6", "exact"});
  }

  Programs programs(const tile::Machine& machine) const override {
    return of_table() ? table_case()->programs(machine) : Operation::programs(machine);
  }

  tile::Program program(const tile::Machine& machine) const override {
    blas::TrsmShape s{DType::Float32, m_, n_, m_, 1, n_, 1};
    if (op_ == "T") std::swap(s.am, s.an);
    s.lower = lower();
    s.mode = Precision::parse(precision_).mode();
    return blas::trsm_program(s, machine);
  }

 private:
  // Complex numbers, and float64 and Exact on devices, are the case that the table of all operations has.
  [[nodiscard]] bool of_table() const { return dtype_ != "fp32" || precision_ == "exact"; }
  [[nodiscard]] std::unique_ptr<Operation> table_case() const {
    require(uplo_ == "L" && op_ == "N", "blas.trsm: --uplo and --op are for fp32 and its precisions; leave them out");
    return blas_case(blas_row("blas.trsm"), {.m = m_, .n = n_}, dtype_, precision_);
  }
  void fill(BenchRow& r, const Executor& executor, const BenchOptions& options) const override {
    const bool host = executor.family() == Family::Host;
    if (!of_table() || (host && dtype_ == "fp64")) return ProgramBench::fill(r, executor, options);
    r = table_case()->bench(executor, options);
    r.shape = extents();
  }
  [[nodiscard]] bool lower() const { return (uplo_ == "L") == (op_ == "N"); }  // of op(A)
  DType dtype() const override { return dtype_ == "fp64" ? DType::Float64 : DType::Float32; }
  std::string precision(const Executor& executor) const override {
    return executor.family() == Family::Device ? precision_ : "native";
  }
  double device_peak(const tile::Machine& machine) const override {
    return tensor_roof(machine, dtype(), Precision::parse(precision_));
  }
  BenchShape extents() const override { return {{"m", m_}, {"n", n_}}; }
  double work() const override { return blas::counts::trmm(static_cast<double>(m_), static_cast<double>(n_)).flops; }
  Measured run(const Executor& executor, int repeats, BenchRow& row) const override {
    return dtype_ == "fp64" ? solve<double>(executor, repeats, row) : solve<float>(executor, repeats, row);
  }

  template <class T> Measured solve(const Executor& executor, int repeats, BenchRow& r) const {
    const auto m = static_cast<double>(m_), n = static_cast<double>(n_);
    require_memory(name(), 2 * sizeof(T) * m * (m + n));  // here and on the executor
    std::mt19937_64 random(1);
    std::normal_distribution<double> normal;
    std::vector<T> a(static_cast<std::size_t>(m_ * m_)), b(static_cast<std::size_t>(m_ * n_));
    const double off = 0.5 / std::sqrt(static_cast<double>(m_));
    for (std::int64_t i = 0; i < m_ * m_; ++i)
      a[static_cast<std::size_t>(i)] = static_cast<T>(i / m_ == i % m_ ? 2 : off * normal(random));
    for (T& x : b) x = static_cast<T>(normal(random));
    const auto da = Matrix<T>::from_host(executor, m_, m_, a);
    auto dx = Matrix<T>::from_host(executor, m_, n_, b);
    Accuracy accuracy;
    const Measured measured = measure(executor, repeats, [&] {
      dx = Matrix<T>::from_host(executor, m_, n_, b);
      accuracy = blas::trsm(executor, blas::Side::Left, uplo_ == "L" ? blas::Uplo::Lower : blas::Uplo::Upper,
                            op_ == "N" ? blas::Op::N : blas::Op::T, blas::Diag::NonUnit, T(1), da.view(), dx.view(),
                            {.precision = Precision::parse(precision(executor))});
    });
    r.error = residual(a, b, dx.to_host());
    r.bound = accuracy.bound;
    return measured;
  }

  // B - op(A) X in fp64. (Residuals of fp64 solves drown in its own rounding: what is shown is then that.)
  template <class T> double residual(const std::vector<T>& a, const std::vector<T>& b, const std::vector<T>& x) const {
    const std::vector<double> wa(a.begin(), a.end()), wx(x.begin(), x.end());
    std::vector<double> product = wx, a2(static_cast<std::size_t>(m_), 0), x2(static_cast<std::size_t>(n_), 0);
    cblas_dtrmm(CblasRowMajor, CblasLeft, uplo_ == "L" ? CblasLower : CblasUpper,
                op_ == "N" ? CblasNoTrans : CblasTrans, CblasNonUnit, static_cast<int>(m_), static_cast<int>(n_), 1,
                wa.data(), static_cast<int>(m_), product.data(), static_cast<int>(n_));
    for (std::int64_t i = 0; i < m_; ++i) {
      for (std::int64_t j = 0; j < m_; ++j) {
        if (uplo_ == "L" ? i < j : i > j) continue;
        a2[static_cast<std::size_t>(op_ == "N" ? i : j)] += std::pow(wa[static_cast<std::size_t>(i * m_ + j)], 2);
      }
      for (std::int64_t j = 0; j < n_; ++j)
        x2[static_cast<std::size_t>(j)] += std::pow(wx[static_cast<std::size_t>(i * n_ + j)], 2);
    }
    double worst = 0;
    for (std::int64_t i = 0; i < m_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) {
        const auto at = static_cast<std::size_t>(i * n_ + j);
        worst = std::max(worst, std::abs(static_cast<double>(b[at]) - product[at]) /
                                    std::sqrt(a2[static_cast<std::size_t>(i)] * x2[static_cast<std::size_t>(j)]));
      }
    }
    return worst;
  }

  std::int64_t m_ = 1024, n_ = 1024;
  std::string uplo_ = "L", op_ = "N", dtype_ = "fp32", precision_ = "native";
};

}  // namespace

std::unique_ptr<Operation> trsm_operation() { return std::make_unique<Trsm>(); }

}  // namespace trn::tools
