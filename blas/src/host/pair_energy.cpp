// pair_energy on the host: one OpenBLAS product per pair of occupied orbitals, then one pass over T and its transpose together.
//
// Threads take whole pairs, and inside a parallel region OpenBLAS works on the calling thread alone, so a pair's sums do not
// depend on the number of threads. The pass reads T in 64 x 64 blocks (A, B), A <= B, beside the block (B, A) turned in cache:
// one division serves T_ab and T_ba. Arithmetic after the product is double.
#include <cblas.h>

#include <algorithm>
#include <limits>
#include <vector>

#include <trn/blas/pair_energy_program.hpp>

#include "../kernels.hpp"

namespace trn::blas::host {

namespace {

constexpr std::int64_t kBlock = 64;

void multiply(const float* bi, const float* bj, float* t, int nvir, int naux) {
  cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, nvir, nvir, naux, 1, bi, nvir, bj, nvir, 0, t, nvir);
}
void multiply(const double* bi, const double* bj, double* t, int nvir, int naux) {
  cblas_dgemm(CblasRowMajor, CblasTrans, CblasNoTrans, nvir, nvir, naux, 1, bi, nvir, bj, nvir, 0, t, nvir);
}

// Rows [a0, a0 + rows) and columns [b0, b0 + columns) of T, which lie right of the diagonal or, when a0 == b0, on it.
template <class T>
PairSums block_sums(const T* t, std::int64_t n, std::int64_t a0, std::int64_t rows, std::int64_t b0, std::int64_t columns,
                    double pair_energy, const double* virtuals) {
  T turned[kBlock][kBlock];  // turned[a][b] = T(b0 + b, a0 + a)
  for (std::int64_t b = 0; b < columns; ++b) {
    for (std::int64_t a = 0; a < rows; ++a) turned[a][b] = t[(b0 + b) * n + a0 + a];
  }
  PairSums sums;
  for (std::int64_t a = 0; a < rows; ++a) {
    const T* row = t + (a0 + a) * n + b0;
    const double d = virtuals[a0 + a] - pair_energy;
    double squares = 0, exchange = 0;
    const std::int64_t first = a0 == b0 ? a + 1 : 0;
#pragma omp simd reduction(+ : squares, exchange)
    for (std::int64_t b = first; b < columns; ++b) {
      const double x = row[b], y = turned[a][b], weight = 1 / (d + virtuals[b0 + b]);
      squares += (x * x + y * y) * weight;
      exchange += (x - y) * (x - y) * weight;
    }
    if (a0 == b0) squares += static_cast<double>(row[a]) * row[a] / (d + virtuals[a0 + a]);
    sums.squares += squares;
    sums.exchange += exchange;
  }
  return sums;
}

template <class T>
void run(const PairEnergyArgs& g) {
  const std::int64_t n = g.nvir, panel = g.naux * n;
  const auto* b = static_cast<const T*>(g.b);
  const auto energies = [](const void* from, std::int64_t count, std::int64_t stride) {
    std::vector<double> values(static_cast<std::size_t>(count));
    for (std::int64_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = static_cast<const T*>(from)[i * stride];
    return values;
  };
  const std::vector<double> occupied = energies(g.occupied, g.nocc, g.occupied_stride),
                            virtuals = energies(g.virtuals, n, g.virtual_stride);
  const PairRange range{g.nocc, g.left};
#pragma omp parallel
  {
    std::vector<T> t(static_cast<std::size_t>(n * n));
#pragma omp for schedule(dynamic) nowait
    for (std::int64_t i = 0; i < g.nocc; ++i) {
      double* sums = g.norms2 + i * n;
      std::fill_n(sums, n, 0.0);
      for (std::int64_t p = 0; p < g.naux; ++p) {
        const T* x = b + i * panel + p * n;
#pragma omp simd
        for (std::int64_t a = 0; a < n; ++a) sums[a] += static_cast<double>(x[a]) * x[a];
      }
    }
#pragma omp for schedule(dynamic)
    for (std::int64_t pair = 0; pair < range.count(); ++pair) {
      std::int64_t i = 0;
      while (i + 1 < range.rows() && range.row(i + 1) <= pair) ++i;
      const std::int64_t j = range.first(i) + pair - range.row(i);
      multiply(b + i * panel, b + j * panel, t.data(), static_cast<int>(n), static_cast<int>(g.naux));
      const double pair_energy = occupied[static_cast<std::size_t>(i)] + occupied[static_cast<std::size_t>(j)];
      PairSums sums;
      for (std::int64_t a0 = 0; a0 < n; a0 += kBlock) {
        for (std::int64_t b0 = a0; b0 < n; b0 += kBlock) {
          const PairSums s =
              block_sums(t.data(), n, a0, std::min(kBlock, n - a0), b0, std::min(kBlock, n - b0), pair_energy, virtuals.data());
          sums.squares += s.squares;
          sums.exchange += s.exchange;
        }
      }
      g.pairs[pair] = sums;
    }
  }
}

}  // namespace

void pair_energy(const Executor&, const PairEnergyArgs& g) {
  require(std::max(g.naux, g.nvir) <= std::numeric_limits<int>::max(),
          "blas.pair_energy: naux {} or nvir {} exceeds OpenBLAS's limit of {}", g.naux, g.nvir, std::numeric_limits<int>::max());
  if (g.dtype == DType::Float64)
    run<double>(g);
  else
    run<float>(g);
}

}  // namespace trn::blas::host
