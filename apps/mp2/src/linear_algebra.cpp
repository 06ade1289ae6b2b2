// Eigenvalues and Cholesky by trnsolver, and gemm in units of rows.
#include <trn/mp2/linear_algebra.hpp>

#include <algorithm>
#include <utility>

#include <trn/blas/gemm.hpp>
#include <trn/core/array.hpp>
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

namespace {

Array<double> upload(const Executor& executor, const Dense& a) {
  return Array<double>::from_host(executor, {a.rows, a.columns}, a.values);
}
MatrixView<double> matrix(const Array<double>& a, std::int64_t rows, std::int64_t columns) {
  return MatrixView<double>::row_major(a.executor(), a.data(), rows, columns);
}

// Vectors replace A; host only.
solver::Outcome host_eigh(Dense& a, std::vector<double>& values) {
  const Executor host = Executor::host();
  solver::Outcome outcome;
  // The transpose lies column-major, as LAPACK takes it: its upper triangle is read, eigenvectors come out as rows.
  for_units(1, [&](std::int64_t) {
    outcome = solver::eigh(host, a.view().transposed(), VectorView<double>(host, values.data(), a.rows),
                           {.uplo = blas::Uplo::Upper})
                  .outcome;
  });
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < i; ++j) std::swap(a(i, j), a(j, i));
  }
  return outcome;
}

solver::Outcome device_eigh(const Executor& executor, Dense& a, std::vector<double>& values) {
  const Array<double> there = upload(executor, a), w(executor, {a.rows});
  solver::Outcome outcome;
  for_units(1, [&](std::int64_t) {  // its leaves are the host's
    outcome = solver::eigh(executor, matrix(there, a.rows, a.rows), VectorView<double>(executor, w.data(), a.rows), {})
                  .outcome;
  });
  a.values = there.to_host();
  values = w.to_host();
  return outcome;
}

}  // namespace

Eigen eigh(const Executor& executor, Dense a) {
  Eigen result;
  (void)eigen_workspace(a.rows);  // refuses what LAPACK cannot count
  result.values.resize(static_cast<std::size_t>(a.rows));
  if (a.rows == 0) return result;
  const solver::Outcome outcome =
      executor.family() == Family::Host ? host_eigh(a, result.values) : device_eigh(executor, a, result.values);
  ensure(outcome.ok(), "mp2: eigenvalues of a {} x {} matrix: {}, index {}", a.rows, a.rows,
         solver::name(outcome.status), outcome.index);
  result.vectors = std::move(a);
  return result;
}
Eigen eigh(Dense a) { return eigh(Executor::host(), std::move(a)); }

Dense cholesky(const Executor& executor, Dense a) {
  solver::Outcome outcome;
  if (executor.family() == Family::Host) {
    for_units(
        1, [&](std::int64_t) { outcome = solver::potrf(executor, blas::Uplo::Upper, a.view().transposed()).outcome; });
  } else if (a.rows > 0) {
    const Array<double> there = upload(executor, a);
    for_units(1, [&](std::int64_t) {
      outcome = solver::potrf(executor, blas::Uplo::Lower, matrix(there, a.rows, a.columns)).outcome;
    });
    a.values = there.to_host();
  }
  if (outcome.status == solver::Status::NotPositiveDefinite) return {};
  ensure(outcome.ok(), "mp2: Cholesky factor of a {} x {} matrix: {}, index {}", a.rows, a.rows,
         solver::name(outcome.status), outcome.index);
  for (std::int64_t i = 0; i < a.rows; ++i)
    std::fill(a.data() + i * a.columns + i + 1, a.data() + (i + 1) * a.columns, 0.0);
  return a;
}
Dense cholesky(Dense a) { return cholesky(Executor::host(), std::move(a)); }

Dense product(const Executor& executor, const Dense& a, const Dense& b, blas::Op op_a, blas::Op op_b) {
  if (executor.family() == Family::Host) return product(a, b, op_a, op_b);
  Dense c(op_a == blas::Op::N ? a.rows : a.columns, op_b == blas::Op::N ? b.columns : b.rows);
  if (c.values.empty() || a.values.empty()) return c;
  const Array<double> x = upload(executor, a), y = upload(executor, b), z(executor, {c.rows, c.columns});
  blas::gemm(executor, op_a, op_b, 1.0, matrix(x, a.rows, a.columns), matrix(y, b.rows, b.columns), 0.0,
             matrix(z, c.rows, c.columns), {.precision = Mode::Exact});
  c.values = z.to_host();
  return c;
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
