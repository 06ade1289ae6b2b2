// The fused Krylov steps for the command line: one block of 32 steps on the dense matrix 0.8^|i - j|, whose eigenvalues
// lie between 1/9 and 9.
#include <cmath>
#include <random>

#include <trn/core/array.hpp>
#include <trn/solver/fused_krylov.hpp>
#include <trn/solver/krylov_program.hpp>

#include "program_bench.hpp"
#include "solver_case.hpp"

namespace trn::tools {

namespace {

class FusedKrylov final : public ProgramBench {
 public:
  explicit FusedKrylov(solver::KrylovMethod method) : cg_(method == solver::KrylovMethod::Cg), method_(method) {}
  std::string name() const override { return cg_ ? "solver.fused_cg" : "solver.fused_chebyshev"; }
  std::string summary() const override {
    return cg_ ? "32 steps of conjugate gradients, A in SBUF" : "32 steps of Chebyshev's iteration, A in SBUF";
  }
  std::string error_note() const override { return "||b - A x||_2 / ||b||_2 after 32 steps"; }
  std::vector<std::string> default_executors() const override { return {"sim:trn2"}; }

  void add_options(Options& options) override {
    options.number("--n", n_, "order of the dense matrix", 1, 1 << 16);
    options.number("--nrhs", columns_, "right-hand sides", 1, 128);
  }

 protected:
  tile::Program program(const tile::Machine& machine) const override {
    return solver::krylov_program({method_, n_, columns_, n_, {}, {}}, machine);
  }
  BenchShape extents() const override { return {{"n", n_}, {"nrhs", columns_}}; }
  // Products and updates of three vectors; of the last two terms Chebyshev has no dots.
  double work() const override {
    const auto n = static_cast<double>(n_);
    return static_cast<double>(solver::kKrylovSteps * columns_) * (2 * n * n + (cg_ ? 10 : 7) * n);
  }
  Measured run(const Executor& executor, int repeats, BenchRow& row) const override {
    std::mt19937_64 random(5);
    std::normal_distribution<float> normal;
    std::vector<float> a, b;
    for (std::int64_t i = 0; i < n_; ++i) {
      for (std::int64_t j = 0; j < n_; ++j) a.push_back(std::pow(0.8f, static_cast<float>(std::abs(i - j))));
    }
    for (std::int64_t i = 0; i < n_ * columns_; ++i) b.push_back(normal(random));
    const auto da = Matrix<float>::from_host(executor, n_, n_, a),
               db = Matrix<float>::from_host(executor, n_, columns_, b);
    const Matrix<float> x(executor, n_, columns_);
    const solver::DenseOperator<float> op(da.view());
    const solver::KrylovOptions options{.tolerance = 1e-30, .max_iterations = solver::kKrylovSteps};
    solver::IterationReport report;
    const Measured measured = measure(executor, repeats, [&] {
      report = cg_ ? solver::fused_cg(op, db.view(), x.view(), options)
                   : solver::fused_chebyshev(op, db.view(), x.view(), {1.0 / 9, 9}, options);
    });
    row.error = report.accuracy.bound;
    return measured;
  }

 private:
  bool cg_;
  solver::KrylovMethod method_;
  std::int64_t n_ = 1024, columns_ = 1;
};

}  // namespace

std::vector<std::unique_ptr<Operation>> fused_krylov_operations() {
  std::vector<std::unique_ptr<Operation>> all;
  for (const auto method : {solver::KrylovMethod::Cg, solver::KrylovMethod::Chebyshev})
    all.push_back(std::make_unique<FusedKrylov>(method));
  return all;
}

}  // namespace trn::tools
