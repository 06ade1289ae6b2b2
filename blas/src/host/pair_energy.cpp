// pair_energy on the host: one OpenBLAS product per pair of occupied orbitals, then one pass over T and its transpose
// together.
//
// Threads take whole pairs, and inside a parallel region OpenBLAS works on the calling thread alone, so a pair's sums
// do not depend on the number of threads. Arithmetic after the product is double.
//
// Columns of zeros at either end of a panel are left out of the product, which is zero there: panels of two spins with
// their virtual orbitals side by side (apps/mp2/src/spin_pairs.hpp) cost what their own columns need, a quarter.
#include <cblas.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <trn/blas/pair_energy_program.hpp>
#include <trn/core/openmp_pieces.hpp>
#include <trn/core/parallel.hpp>

#include "../kernels.hpp"
#include "pair_sums.hpp"

namespace trn::blas::host {

namespace {

// Columns [begin, end) of a panel.
struct Columns {
  std::int64_t begin, end;
  [[nodiscard]] int count() const { return static_cast<int>(end - begin); }
};

// Those rows and columns of T.
void multiply(const float* bi, const float* bj, float* t, int nvir, int naux, Columns rows, Columns columns) {
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows.count(), columns.count(), naux, 1, bi + rows.begin, nvir,
              bj + columns.begin, nvir, 0, t + rows.begin * nvir + columns.begin, nvir);
}
void multiply(const double* bi, const double* bj, double* t, int nvir, int naux, Columns rows, Columns columns) {
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, rows.count(), columns.count(), naux, 1, bi + rows.begin, nvir,
              bj + columns.begin, nvir, 0, t + rows.begin * nvir + columns.begin, nvir);
}

// Without the zeros at both ends; a panel of zeros keeps a column, one with an infinity or a NaN all.
template <class T> Columns without_zeros(const T* panel, const double* norms2, std::int64_t naux, std::int64_t n) {
  for (std::int64_t a = 0; a < n; ++a) {
    if (!std::isfinite(norms2[a])) return {0, n};
  }
  const auto zero = [&](std::int64_t a) {  // a norm may underflow
    for (std::int64_t p = 0; p < naux; ++p) {
      if (panel[p * n + a] != 0) return false;
    }
    return true;
  };
  Columns used{0, n};
  while (used.begin + 1 < used.end && zero(used.begin)) ++used.begin;
  while (used.begin + 1 < used.end && zero(used.end - 1)) --used.end;
  return used;
}

template <class T> void run(const PairEnergyArgs& g) {
  const std::int64_t n = g.nvir, panel = g.naux * n;
  const auto* b = static_cast<const T*>(g.b);
  const auto energies = [](const void* from, std::int64_t count, std::int64_t stride) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i)
      values[static_cast<std::size_t>(i)] = static_cast<const T*>(from)[i * stride];
    return values;
  };
  const std::vector<double> occupied = energies(g.occupied, g.nocc, g.occupied_stride),
                            virtuals = energies(g.virtuals, n, g.virtual_stride);
  const PairRange range{g.nocc, g.left};
  const int threads = loop_threads();
  std::vector<Columns> used(static_cast<std::size_t>(g.nocc));
  for_pieces(g.nocc, threads, [&](std::int64_t i, int) {
    double* sums = g.norms2 + i * n;
    std::fill_n(sums, n, 0.0);
    for (std::int64_t p = 0; p < g.naux; ++p) {
      const T* x = b + i * panel + p * n;
#pragma omp simd
      for (std::int64_t a = 0; a < n; ++a) sums[a] += static_cast<double>(x[a]) * x[a];
    }
    used[static_cast<std::size_t>(i)] = without_zeros(b + i * panel, sums, g.naux, n);
  });
  std::vector<std::vector<T>> products(static_cast<std::size_t>(threads));  // one for each worker
  openmp_pieces(range.count(), threads, [&](std::int64_t pair, int worker) {
    std::vector<T>& t = products[static_cast<std::size_t>(worker)];
    t.resize(static_cast<std::size_t>(n * n));
    std::int64_t i = 0;
    while (i + 1 < range.rows() && range.row(i + 1) <= pair) ++i;
    const std::int64_t j = range.first(i) + pair - range.row(i);
    const Columns rows = used[static_cast<std::size_t>(i)], columns = used[static_cast<std::size_t>(j)];
    if (rows.count() < n || columns.count() < n) std::fill(t.begin(), t.end(), T(0));
    multiply(b + i * panel, b + j * panel, t.data(), static_cast<int>(n), static_cast<int>(g.naux), rows, columns);
    const double pair_energy = occupied[static_cast<std::size_t>(i)] + occupied[static_cast<std::size_t>(j)];
    g.pairs[pair] = pair_sums(t.data(), n, pair_energy, virtuals.data());
  });
}

}  // namespace

void pair_energy(const Executor&, const PairEnergyArgs& g) {
  require(std::max(g.naux, g.nvir) <= std::numeric_limits<int>::max(),
          "blas.pair_energy: naux {} or nvir {} exceeds OpenBLAS's limit of {}", g.naux, g.nvir,
          std::numeric_limits<int>::max());
  if (g.dtype == DType::Float64)
    run<double>(g);
  else
    run<float>(g);
}

}  // namespace trn::blas::host
