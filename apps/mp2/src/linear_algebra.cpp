// Eigenvalues and Cholesky by trnsolver, and gemm in units of rows.
#include <trn/mp2/linear_algebra.hpp>

#include <algorithm>

#include <trn/blas/gemm.hpp>
#include <trn/core/error.hpp>
#include <trn/core/openmp_pieces.hpp>
#include <trn/solver/cholesky.hpp>
#include <trn/solver/eigh.hpp>

namespace trn::mp2 {

// OpenBLAS works on the calling thread alone inside an active parallel region; with one thread it has no other.
void for_units(std::int64_t count, const std::function<void(std::int64_t)>& unit) {
  openmp_pieces(count, omp_get_max_threads(), [&](std::int64_t i, int) { unit(i); });
}

EigenWorkspace eigen_workspace(std::int64_t n) {
  constexpr std::int64_t kMost = 32766;  // 2 n^2 + 6 n + 1 < 2^31
  require(n >= 0 && n <= kMost,
          "mp2: eigenvalues of a {} x {} matrix; LAPACK counts its workspace in 32 bits, which ends at {} functions", n,
          n, kMost);
  if (n <= 1) return {1, 1};
  return {2 * n * n + 6 * n + 1, 5 * n + 3};
}

Eigen eigh(Dense a) {
  Eigen result;
  (void)eigen_workspace(a.rows);  // refuses what LAPACK cannot count
  result.values.resize(static_cast<std::size_t>(a.rows));
  const Executor host = Executor::host();
  // The transpose lies column-major, as LAPACK takes it: its upper triangle is read, eigenvectors come out as rows.
  for_units(1, [&](std::int64_t) {
    const auto report =
        solver::eigh(host, a.view().transposed(), VectorView<double>(host, result.values.data(), a.rows),
                     {.uplo = blas::Uplo::Upper});
    ensure(report.outcome.ok(), "mp2: eigenvalues of a {} x {} matrix: {}, index {}", a.rows, a.rows,
           solver::name(report.outcome.status), report.outcome.index);
  });
  result.vectors = Dense(a.rows, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.rows; ++j) result.vectors(j, i) = a(i, j);
  }
  return result;
}

Dense cholesky(Dense a) {
  solver::Outcome outcome;
  for_units(1, [&](std::int64_t) {
    outcome = solver::potrf(Executor::host(), blas::Uplo::Upper, a.view().transposed()).outcome;
  });
  if (outcome.status == solver::Status::NotPositiveDefinite) return {};
  ensure(outcome.ok(), "mp2: Cholesky factor of a {} x {} matrix: {}, index {}", a.rows, a.rows,
         solver::name(outcome.status), outcome.index);
  for (std::int64_t i = 0; i < a.rows; ++i)
    std::fill(a.data() + i * a.columns + i + 1, a.data() + (i + 1) * a.columns, 0.0);
  return a;
}

Dense product(const Dense& a, const Dense& b, blas::Op op_a, blas::Op op_b) {
  constexpr std::int64_t kRows = 64;
  const auto left = op_a == blas::Op::N ? a.view() : a.view().transposed(),
             right = op_b == blas::Op::N ? b.view() : b.view().transposed();
  Dense c(left.rows(), right.columns());
  for_units((c.rows + kRows - 1) / kRows, [&](std::int64_t u) {
    const std::int64_t first = u * kRows, rows = std::min(kRows, c.rows - first);
    blas::gemm(Executor::host(), blas::Op::N, blas::Op::N, 1.0, left.block(first, 0, rows, left.columns()), right, 0.0,
               c.view().block(first, 0, rows, c.columns));
  });
  return c;
}

}  // namespace trn::mp2
