// Building B once, and J and K from it. Units of work: 512 columns of B for the solve, one Q for the dots, 256 columns for J; for K
// sixteen tasks with a matrix each, Q dealt in turn, eight at a time.
#include <trn/mp2/fitted_jk.hpp>

#include <algorithm>

#include <trn/blas/gemm.hpp>
#include <trn/blas/syrk.hpp>
#include <trn/blas/trsm.hpp>
#include <trn/core/error.hpp>
#include <trn/mp2/linear_algebra.hpp>

namespace trn::mp2 {

namespace {

constexpr std::int64_t kSolveColumns = 512, kCoulombColumns = 256, kTasks = 16, kTogether = 8;

MatrixView<double> matrix(double* data, std::int64_t rows, std::int64_t columns, std::int64_t ld = 0) {
  return MatrixView<double>::row_major(Executor::host(), data, rows, columns, ld);
}

}  // namespace

std::int64_t FittedJk::bytes(const Basis& orbital, const Basis& fitting) {
  return 8 * fitting.size() * (orbital.size() * (orbital.size() + 1) / 2);
}

FittedJk::FittedJk(const Basis& orbital, const Basis& fitting, std::int64_t memory_bytes)
    : n_(orbital.size()), triangle_(n_ * (n_ + 1) / 2), naux_(fitting.size()) {
  require(bytes(orbital, fitting) <= memory_bytes,
          "mp2: density-fitted J and K need {:.1f} MiB for the integrals of {} and {} functions and {:.1f} are left of --memory; give more, or "
          "--exact-jk, which needs little",
          static_cast<double>(bytes(orbital, fitting)) / 1048576, naux_, n_, static_cast<double>(memory_bytes) / 1048576);
  b_.resize(static_cast<std::size_t>(naux_ * triangle_));
  const ThreeCentre integrals(orbital, fitting);
  const auto shells = static_cast<std::int64_t>(fitting.shells().size());
  constexpr std::int64_t kShells = 16;
  std::vector<double> square;
  for (std::int64_t first = 0; first < shells; first += kShells) {
    const std::int64_t last = std::min(shells, first + kShells);
    const Shell &low = fitting.shells()[static_cast<std::size_t>(first)], &high = fitting.shells()[static_cast<std::size_t>(last - 1)];
    const std::int64_t count = high.first + high.size - low.first;
    square.resize(static_cast<std::size_t>(count * n_ * n_));
    integrals.compute(first, last, square.data());
    for_units(count, [&](std::int64_t p) {
      double* to = b_.data() + (low.first + p) * triangle_;
      for (std::int64_t m = 0; m < n_; ++m) to = std::copy_n(square.data() + (p * n_ + m) * n_, m + 1, to);
    });
  }
  const Dense l = cholesky(coulomb_metric(fitting));
  require(l.rows == naux_, "mp2: the Coulomb matrix of fitting set {} is not positive definite: its functions are linearly dependent in this molecule; choose a smaller set or --exact-jk",
          fitting.name());
  for_units((triangle_ + kSolveColumns - 1) / kSolveColumns, [&](std::int64_t u) {
    const std::int64_t first = u * kSolveColumns, columns = std::min(kSolveColumns, triangle_ - first);
    blas::trsm<double>(Executor::host(), blas::Side::Left, blas::Uplo::Lower, blas::Op::N, blas::Diag::NonUnit, 1.0, l.view(),
                       matrix(b_.data() + first, naux_, columns, triangle_));
  });
}

CoulombExchange FittedJk::operator()(const Dense& occupied) const {
  const std::int64_t nocc = occupied.columns;
  std::vector<double> density(static_cast<std::size_t>(triangle_)), d(static_cast<std::size_t>(naux_)), coulomb(density.size());
  for_units(n_, [&](std::int64_t m) {
    for (std::int64_t n = 0; n <= m; ++n) {
      double sum = 0;
      for (std::int64_t i = 0; i < nocc; ++i) sum += occupied(m, i) * occupied(n, i);
      density[static_cast<std::size_t>(m * (m + 1) / 2 + n)] = m == n ? sum : 2 * sum;
    }
  });
  for_units(naux_, [&](std::int64_t q) {
    const double* b = b_.data() + q * triangle_;
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::int64_t k = 0; k < triangle_; ++k) sum += b[k] * density[static_cast<std::size_t>(k)];
    d[static_cast<std::size_t>(q)] = sum;
  });
  for_units((triangle_ + kCoulombColumns - 1) / kCoulombColumns, [&](std::int64_t u) {
    const std::int64_t first = u * kCoulombColumns, columns = std::min(kCoulombColumns, triangle_ - first);
    double* to = coulomb.data() + first;
    for (std::int64_t q = 0; q < naux_; ++q) {
      const double* b = b_.data() + q * triangle_ + first;
      const double x = d[static_cast<std::size_t>(q)];
#pragma omp simd
      for (std::int64_t k = 0; k < columns; ++k) to[k] += x * b[k];
    }
  });
  std::vector<Dense> sums(kTasks);
  for_units(kTasks, [&](std::int64_t t) {
    Dense& k = sums[static_cast<std::size_t>(t)];
    k = Dense(n_, n_);
    Dense square(n_, n_), x(kTogether * nocc, n_);
    std::int64_t filled = 0;
    const auto flush = [&] {
      blas::syrk(Executor::host(), blas::Uplo::Lower, blas::Op::T, 1.0, matrix(x.data(), filled * nocc, n_), 1.0, k.view());
      filled = 0;
    };
    for (std::int64_t q = t; q < naux_; q += kTasks) {
      const double* b = b_.data() + q * triangle_;
      for (std::int64_t m = 0; m < n_; ++m) {
        for (std::int64_t n = 0; n <= m; ++n) square(m, n) = square(n, m) = *b++;
      }
      blas::gemm(Executor::host(), blas::Op::T, blas::Op::N, 1.0, occupied.view(), square.view(), 0.0,
                 matrix(x.data() + filled * nocc * n_, nocc, n_));
      if (++filled == kTogether) flush();
    }
    if (filled > 0) flush();
  });
  CoulombExchange result{Dense(n_, n_), Dense(n_, n_)};
  for_units(n_, [&](std::int64_t m) {
    for (std::int64_t n = 0; n <= m; ++n) {
      double exchange = 0;
      for (const Dense& k : sums) exchange += k(m, n);
      result.exchange(m, n) = result.exchange(n, m) = exchange;
      result.coulomb(m, n) = result.coulomb(n, m) = coulomb[static_cast<std::size_t>(m * (m + 1) / 2 + n)];
    }
  });
  return result;
}

}  // namespace trn::mp2
