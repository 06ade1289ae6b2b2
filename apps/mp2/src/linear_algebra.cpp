// LAPACK through OpenBLAS's own entry points, and gemm in units of rows.
#include <trn/mp2/linear_algebra.hpp>

#include <algorithm>
#include <limits>

#include <trn/blas/gemm.hpp>
#include <trn/core/error.hpp>
#include <trn/core/openmp_pieces.hpp>

extern "C" {
void dsyevd_(const char* job, const char* uplo, const int* n, double* a, const int* lda, double* w, double* work,
             const int* lwork, int* iwork, const int* liwork, int* info);
void dpotrf_(const char* uplo, const int* n, double* a, const int* lda, int* info);
}

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
  const EigenWorkspace room = eigen_workspace(a.rows);
  const auto n = static_cast<int>(a.rows);
  result.values.resize(static_cast<std::size_t>(n));
  if (n == 0) return result;
  // Row-major lower is column-major upper; eigenvectors come out as rows.
  for_units(1, [&](std::int64_t) {
    int info = 0, query = -1, integers = 0;
    double reals = 0;  // what LAPACK likes best; never less than `room`, and within 32 bits whenever that is
    dsyevd_("V", "U", &n, a.data(), &n, result.values.data(), &reals, &query, &integers, &query, &info);
    const auto lwork = static_cast<int>(std::max(room.doubles, static_cast<std::int64_t>(reals)));
    const auto liwork = static_cast<int>(std::max<std::int64_t>(room.integers, integers));
    std::vector<double> work(static_cast<std::size_t>(lwork));
    std::vector<int> iwork(static_cast<std::size_t>(liwork));
    dsyevd_("V", "U", &n, a.data(), &n, result.values.data(), work.data(), &lwork, iwork.data(), &liwork, &info);
    ensure(info == 0, "mp2: dsyevd returned {} for a {} x {} matrix", info, n, n);
  });
  result.vectors = Dense(a.rows, a.rows);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.rows; ++j) result.vectors(j, i) = a(i, j);
  }
  return result;
}

Dense cholesky(Dense a) {
  require(a.rows <= std::numeric_limits<int>::max(),
          "mp2: Cholesky factor of a {} x {} matrix; LAPACK counts in 32 bits", a.rows, a.rows);
  const auto n = static_cast<int>(a.rows);
  int info = 0;
  for_units(1, [&](std::int64_t) { dpotrf_("U", &n, a.data(), &n, &info); });
  if (info > 0) return {};
  ensure(info == 0, "mp2: dpotrf returned {} for a {} x {} matrix", info, n, n);
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
