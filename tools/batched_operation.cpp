// blas.gemm_batched and blas.trsm_batched for the command line: batches of small random matrices, row-major, measured
// and modelled time, and the largest error or residual beside its bound.
#include <cmath>
#include <random>
#include <trn/blas/counts.hpp>
#include <trn/blas/error_bounds.hpp>
#include <trn/blas/gemm_batched.hpp>
#include <trn/blas/gemm_batched_program.hpp>
#include <trn/blas/trsm_batched.hpp>
#include <trn/blas/trsm_batched_program.hpp>
#include <trn/core/array.hpp>

#include "memory.hpp"
#include "program_bench.hpp"

namespace trn::tools {

namespace {

constexpr std::int64_t kExtentMax = std::int64_t{1} << 20;

// A batch of float32 matrices.
class Batched : public ProgramBench {
 protected:
  static std::vector<float> random(std::int64_t count, std::uint64_t seed) {
    require_memory("operands", 2 * sizeof(float) * static_cast<double>(count));  // here and on the executor
    std::mt19937_64 engine(seed);
    std::normal_distribution<float> normal;
    std::vector<float> v(static_cast<std::size_t>(count));
    for (float& x : v) x = normal(engine);
    return v;
  }

  std::int64_t m_ = 64, n_ = 64, count_ = 1000;
};

class GemmBatched final : public Batched {
 public:
  std::string name() const override { return "blas.gemm_batched"; }
  std::string summary() const override { return "C_p = A_p B_p, row-major, equally spaced or by pointer arrays"; }

  void add_options(Options& options) override {
    options.number("--m", m_, "rows of C", 1, kExtentMax);
    options.number("--n", n_, "columns of C", 1, kExtentMax);
    options.number("--k", k_, "inner dimension", 1, kExtentMax);
    options.number("--count", count_, "products", 1, kExtentMax);
    options.flag("--listed", listed_, "by pointer arrays instead of equally spaced");
  }

  tile::Program program(const tile::Machine& machine) const override {
    const blas::BatchedProducts g{m_, n_, k_, count_, k_, 1, n_, 1, n_, 1, m_ * k_, k_ * n_, m_ * n_};
    return blas::gemm_batched_program({DType::Float32, Mode::Native, listed_, {g}}, machine);
  }

 private:
  BenchShape extents() const override {
    return {{"m", m_}, {"n", n_}, {"k", k_}, {"count", count_}, {"listed", listed_}};
  }
  double work() const override {
    return static_cast<double>(count_) *
           blas::counts::gemm(static_cast<double>(m_), static_cast<double>(n_), static_cast<double>(k_)).flops;
  }

  Measured run(const Executor& e, int repeats, BenchRow& row) const override {
    const auto a = random(m_ * k_ * count_, 1), b = random(k_ * n_ * count_, 2);
    const auto da = Array<float>::from_host(e, {m_ * k_ * count_}, a),
               db = Array<float>::from_host(e, {k_ * n_ * count_}, b);
    const Array<float> dc(e, {m_ * n_ * count_});
    const blas::BatchShape shape{blas::Op::N, blas::Op::N, m_, n_, k_, 0, 0, 0, blas::Layout::RowMajor};
    std::vector<const float*> la, lb;
    std::vector<float*> lc;
    for (std::int64_t p = 0; p < count_; ++p)
      la.push_back(da.data() + p * m_ * k_), lb.push_back(db.data() + p * k_ * n_),
          lc.push_back(dc.data() + p * m_ * n_);
    Accuracy accuracy;
    const Measured measured = measure(e, repeats, [&] {
      accuracy = listed_ ? blas::gemm_batched<float>(e, shape, 1, la, lb, 0, lc)
                         : blas::gemm_strided_batched<float>(e, shape, 1, da.data(), m_ * k_, db.data(), k_ * n_, 0,
                                                             dc.data(), m_ * n_, count_);
    });
    const auto c = dc.to_host();
    double worst = 0;
    const std::int64_t step = std::max<std::int64_t>(1, m_ * n_ * count_ / 20000) | 1;  // a sample
    for (std::int64_t at = 0; at < m_ * n_ * count_; at += step) {
      const std::int64_t p = at / (m_ * n_), i = at / n_ % m_, j = at % n_;
      double sum = 0, size = 0;
      for (std::int64_t k = 0; k < k_; ++k) {
        const double product = static_cast<double>(a[static_cast<std::size_t>((p * m_ + i) * k_ + k)]) *
                               b[static_cast<std::size_t>((p * k_ + k) * n_ + j)];
        sum += product, size += std::abs(product);
      }
      worst = std::max(worst, std::abs(c[static_cast<std::size_t>(at)] - sum) / size);
    }
    row.error = worst;
    row.bound = accuracy.bound;
    return measured;
  }

  std::int64_t k_ = 64;
  bool listed_ = false;
};

class TrsmBatched final : public Batched {
 public:
  std::string name() const override { return "blas.trsm_batched"; }
  std::string summary() const override { return "A_p X_p = B_p, A_p lower triangular, row-major, by pointer arrays"; }
  std::string error_note() const override {
    return "largest |B - A X| in units of (|A||X|)_ij; devices state no bound";
  }

  void add_options(Options& options) override {
    options.number("--m", m_, "rows of A and B", 1, kExtentMax);
    options.number("--n", n_, "right-hand sides", 1, kExtentMax);
    options.number("--count", count_, "systems", 1, kExtentMax);
  }

  tile::Program program(const tile::Machine& machine) const override {
    return blas::trsm_batched_program({DType::Float32, m_, n_, count_, m_, 1, n_, 1}, machine);
  }

 private:
  BenchShape extents() const override { return {{"m", m_}, {"n", n_}, {"count", count_}}; }
  double work() const override {
    return static_cast<double>(count_) * blas::counts::trmm(static_cast<double>(m_), static_cast<double>(n_)).flops;
  }

  Measured run(const Executor& e, int repeats, BenchRow& row) const override {
    auto a = random(m_ * m_ * count_, 1);
    const auto b = random(m_ * n_ * count_, 2);
    for (std::int64_t i = 0; i < m_ * m_ * count_; ++i) {
      float& x = a[static_cast<std::size_t>(i)];
      x = i / m_ % m_ == i % m_ ? 2 : x / static_cast<float>(m_);
    }
    const auto da = Array<float>::from_host(e, {m_ * m_ * count_}, a);
    auto dx = Array<float>::from_host(e, {m_ * n_ * count_}, b);
    const Measured measured = measure(e, repeats, [&] {
      dx = Array<float>::from_host(e, {m_ * n_ * count_}, b);
      std::vector<const float*> la;
      std::vector<float*> lx;
      for (std::int64_t p = 0; p < count_; ++p)
        la.push_back(da.data() + p * m_ * m_), lx.push_back(dx.data() + p * m_ * n_);
      blas::trsm_batched<float>(e, {.m = m_, .n = n_, .layout = blas::Layout::RowMajor}, 1, la, lx);
    });
    const auto x = dx.to_host();
    double worst = 0;
    for (std::int64_t p = 0; p < count_; ++p) {
      for (std::int64_t i = 0; i < m_; ++i) {
        for (std::int64_t j = 0; j < n_; ++j) {
          double r = b[static_cast<std::size_t>((p * m_ + i) * n_ + j)], size = 0;
          for (std::int64_t k = 0; k <= i; ++k) {
            const double product = static_cast<double>(a[static_cast<std::size_t>((p * m_ + i) * m_ + k)]) *
                                   x[static_cast<std::size_t>((p * m_ + k) * n_ + j)];
            r -= product, size += std::abs(product);
          }
          worst = std::max(worst, std::abs(r) / size);
        }
      }
    }
    row.error = worst;
    if (e.family() == Family::Host) row.bound = blas::trsm_batched_error_bound(DType::Float32, m_);
    return measured;
  }
};

}  // namespace

std::unique_ptr<Operation> gemm_batched_operation() { return std::make_unique<GemmBatched>(); }
std::unique_ptr<Operation> trsm_batched_operation() { return std::make_unique<TrsmBatched>(); }

}  // namespace trn::tools
