// Norms of orbital coefficients, and errors carried through the inverse of the Cholesky factor.
#include "fit_norms.hpp"

#include <algorithm>

#include <trn/blas/trsm.hpp>
#include <trn/mp2/linear_algebra.hpp>

namespace trn::mp2 {

namespace {

// |L^-1|, columns in units.
Dense absolute_inverse(const Dense& l) {
  constexpr std::int64_t kColumns = 64;
  const std::int64_t n = l.rows;
  Dense inverse(n, n);
  for_units((n + kColumns - 1) / kColumns, [&](std::int64_t u) {
    const std::int64_t first = u * kColumns, columns = std::min(kColumns, n - first), rows = n - first;  // zero above
    Dense x(rows, columns);
    for (std::int64_t j = 0; j < columns; ++j) x(j, j) = 1;
    blas::trsm<double>(Executor::host(), blas::Side::Left, blas::Uplo::Lower, blas::Op::N, blas::Diag::NonUnit, 1.0,
                       l.view().block(first, first, rows, rows), x.view());
    for (std::int64_t i = 0; i < rows; ++i) {
      for (std::int64_t j = 0; j < columns; ++j) inverse(first + i, first + j) = std::abs(x(i, j));
    }
  });
  return inverse;
}

}  // namespace

double two_norm(const Dense& c) {
  Dense power = product(c, c, blas::Op::T);
  const std::int64_t size = power.rows * power.columns;
  double scale = 1;  // G^(2^k) = scale * power
  for (int k = 0; k < 3; ++k) {
    const double norm = norm_of(power.data(), size);
    for (std::int64_t at = 0; at < size; ++at) power.data()[at] /= norm;
    power = product(power, power);
    scale = scale * scale * norm * norm;
  }
  return 1.001 * std::pow(scale * norm_of(power.data(), size), 1.0 / 16);
}

std::vector<double> carried_through(const Dense& l, const Dense& errors) {
  const Dense carried = product(errors, absolute_inverse(l), blas::Op::N, blas::Op::T);
  std::vector<double> norms;
  for (std::int64_t i = 0; i < errors.rows; ++i) norms.push_back(1.01 * norm_of(carried.data() + i * l.rows, l.rows));
  return norms;
}

}  // namespace trn::mp2
