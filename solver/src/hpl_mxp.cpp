// HPL-MxP on the host: right-looking blocked LU whose panels and updates are rounded to bfloat16, and GMRES.
#include <trn/solver/hpl_mxp.hpp>

#include <trn/blas/gemm.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/core/convert.hpp>
#include <trn/rand/uniform.hpp>

#include "checks.hpp"
#include "host_only.hpp"
#include "iterative/blocks.hpp"

namespace trn::solver {

namespace {

using iterative::Small;

// The block in bfloat16, which also replaces it: the factors are what the products saw.
Matrix<bfloat16> narrowed(const MatrixView<float>& a) {
  Matrix<bfloat16> narrow(Executor::host(), a.rows(), a.columns());
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t j = 0; j < a.columns(); ++j) {
      bfloat16* to = narrow.data() + i * a.columns() + j;
      float& value = host::element(a, i, j);
      from_float(&value, DType::BFloat16, to, 1);
      to_float(DType::BFloat16, to, &value, 1);
    }
  }
  return narrow;
}

// LU without pivoting of a small block; the first zero pivot, or -1.
std::int64_t factor_block(const MatrixView<float>& a) {
  for (std::int64_t k = 0; k < a.rows(); ++k) {
    const float pivot = host::element(a, k, k);
    if (pivot == 0 || !std::isfinite(pivot)) return k;
    for (std::int64_t i = k + 1; i < a.rows(); ++i) {
      const float l = host::element(a, i, k) /= pivot;
      for (std::int64_t j = k + 1; j < a.columns(); ++j) host::element(a, i, j) -= l * host::element(a, k, j);
    }
  }
  return -1;
}

std::int64_t factorise(const Executor& executor, const MatrixView<float>& w, std::int64_t block) {
  const std::int64_t n = w.rows();
  for (std::int64_t k = 0; k < n; k += block) {
    const std::int64_t b = std::min(block, n - k), rest = n - k - b;
    const MatrixView<float> diagonal = w.block(k, k, b, b), below = w.block(k + b, k, rest, b),
                            beside = w.block(k, k + b, b, rest);
    const std::int64_t zero = factor_block(diagonal);
    if (zero >= 0) return k + zero;
    (void)narrowed(diagonal);
    if (rest == 0) break;
    blas::trsm(executor, Side::Right, Uplo::Upper, Op::N, Diag::NonUnit, 1, diagonal, below);
    blas::trsm(executor, Side::Left, Uplo::Lower, Op::N, Diag::Unit, 1, diagonal, beside);
    const Matrix<bfloat16> l = narrowed(below), u = narrowed(beside);
    blas::gemm(executor, Op::N, Op::N, -1, l.view(), u.view(), 1, w.block(k + b, k + b, rest, rest));
  }
  return -1;
}

// r -> U^-1 L^-1 r in float64 with the narrow factors.
class FactorsInverse {
 public:
  explicit FactorsInverse(const Small<double>& factors) : factors_(factors) {}
  [[nodiscard]] std::int64_t rows() const { return factors_.rows(); }
  [[nodiscard]] std::int64_t columns() const { return factors_.rows(); }
  [[nodiscard]] const Executor& executor() const { return executor_; }
  void apply(Op op, double alpha, const MatrixView<const double>& x, double beta, const MatrixView<double>& y) const {
    require(op == Op::N && beta == 0, "solver.hpl_mxp: the preconditioner is applied as it is, beta = 0");
    iterative::assign<double>(x, y);
    blas::trsm(executor_, Side::Left, Uplo::Lower, Op::N, Diag::Unit, alpha, factors_.view(), y);
    blas::trsm(executor_, Side::Left, Uplo::Upper, Op::N, Diag::NonUnit, 1, factors_.view(), y);
  }

 private:
  const Small<double>& factors_;
  Executor executor_ = Executor::host();
};

double largest(const MatrixView<const double>& a) {  // the infinity norm: the largest row sum
  double most = 0;
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < a.columns(); ++j) sum += std::abs(host::element(a, i, j));
    most = std::max(most, sum);
  }
  return most;
}

}  // namespace

Matrix<double> hpl_mxp_matrix(std::int64_t n, std::uint64_t seed) {
  require(n >= 0, "solver.hpl_mxp_matrix: n is {}; it must be >= 0", n);
  Matrix<double> a(Executor::host(), n, n);
  rand::Generator generator(rand::State{.seed = seed});
  rand::uniform(Executor::host(), generator, View<double>(a.view()));
  for (std::int64_t i = 0; i < n; ++i) {
    double sum = 0;
    for (std::int64_t j = 0; j < n; ++j) {
      double& value = host::element(a.view(), i, j);
      value -= 0.5;
      if (j != i) sum += std::abs(value);
    }
    host::element(a.view(), i, i) = sum;
  }
  return a;
}

HplMxpReport hpl_mxp(const Executor& executor, const MatrixView<const double>& a, const VectorView<const double>& b,
                     const VectorView<double>& x, const HplMxpOptions& options) {
  constexpr const char* operation = "solver.hpl_mxp";
  checks::input(operation, "A", executor, a);
  checks::input(operation, "b", executor, b);
  checks::output(operation, "x", executor, x);
  checks::square(operation, "A", a);
  checks::size(operation, "b", b, a.rows());
  checks::size(operation, "x", x, a.rows());
  checks::apart(operation, "A", a, "x", x);
  checks::apart(operation, "b", b, "x", x);
  require(options.block >= 1, "{}: the block is {}; it must be >= 1", operation, options.block);
  on_host_only(operation, executor);
  const std::int64_t n = a.rows();
  const auto order = static_cast<double>(n);
  HplMxpReport report;
  report.algorithm = "bf16 lu, gmres";
  report.flops = order * order * order * 2 / 3 + order * order * 3 / 2;
  if (n == 0) return report;
  const auto failed = [&](Outcome outcome) {
    report.outcome = outcome;
    report.backward = report.accuracy.bound = std::numeric_limits<double>::infinity();
    host::fill(x, host::not_a_number<double>());
    return report;
  };
  Outcome seen = host::finite(a);
  if (seen.ok()) seen = host::finite(b);
  if (!seen.ok()) return failed(seen);
  Matrix<float> w(executor, n, n);
  host::copy_part(a, w.view());
  const std::int64_t zero = factorise(executor, w.view(), options.block);
  if (zero >= 0) return failed({Status::Singular, zero});
  const Small<double> factors(w.view());
  const MatrixView<const double> right(executor, b.data(), n, 1, b.stride(), 1);
  const MatrixView<double> solution(executor, x.data(), n, 1, x.stride(), 1);
  const IterationReport solved =
      gmres<double>(DenseOperator<double>(a), right, solution,
                    {.tolerance = 4 * 0x1p-53, .max_iterations = options.max_iterations, .restart = options.restart},
                    FactorsInverse(factors));
  static_cast<IterationReport&>(report) = solved;
  report.algorithm = "bf16 lu, gmres";
  if (solved.outcome.status == Status::NotFinite) return failed(solved.outcome);
  Small<double> r(right);
  blas::gemm(executor, Op::N, Op::N, -1, a, solution, 1, r.view(), {.precision = Mode::Exact});
  const auto longest = [](const MatrixView<const double>& v) {
    double most = 0;
    for (std::int64_t i = 0; i < v.rows(); ++i) most = std::max(most, std::abs(host::element(v, i, 0)));
    return most;
  };
  const double below = largest(a) * longest(solution) + longest(right);
  report.backward = below > 0 ? longest(r.view()) / below / (order * 0x1p-53) : 0;
  // GMRES goes on to what the arithmetic attains; the benchmark's own limit decides.
  report.outcome = report.backward < 16 ? Outcome{} : Outcome{Status::TargetMissed, -1};
  return report;
}

}  // namespace trn::solver
