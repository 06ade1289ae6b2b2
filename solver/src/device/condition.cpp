// Condition estimates on devices: norms of inverses from solves with one column, which are the device's; the vectors of
// the estimator, n numbers a time, are the host's.
#include <cmath>

#include <trn/blas/trmm.hpp>
#include <trn/blas/trsm.hpp>

#include "device/composed.hpp"
#include "kernels/factorisations.hpp"
#include "norm_estimate.hpp"
#include "norms.hpp"

namespace trn::solver::device {

namespace {

template <class T> constexpr Mode kMode = kModeOf<T>;

// A complex matrix stands for the real one of twice the order that does the same to parts; the transpose of that is its
// adjoint, and the 1-norms of the two are within sqrt(2) of one another, which an estimate may be.
template <class T> constexpr std::int64_t kParts = blas::ComplexScalar<T> ? 2 : 1;

// x after `f` was applied to it as a column on the executor.
template <class T, class F> std::vector<double> on_column(const Executor& executor, const std::vector<double>& x, F f) {
  const auto n = static_cast<std::int64_t>(x.size()) / kParts<T>;
  std::vector<T> values(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < values.size(); ++i) {
    if constexpr (blas::ComplexScalar<T>) {
      values[i] = T(static_cast<Real<T>>(x[2 * i]), static_cast<Real<T>>(x[2 * i + 1]));
    } else {
      values[i] = static_cast<T>(x[i]);
    }
  }
  const Matrix<T> column = Matrix<T>::from_host(executor, n, 1, values);
  f(column.view());
  std::vector<double> result;
  for (const T& value : column.to_host()) {
    result.push_back(static_cast<double>(std::real(value)));
    if (kParts<T> == 2) result.push_back(static_cast<double>(std::imag(value)));
  }
  return result;
}
// 1 / (||A|| ||A^-1||), as LAPACK has it: 0 where A is singular to the last bit.
template <class T> Real<T> reciprocal(double norm, double inverse) {
  if (norm == 0) return 0;
  return inverse == 0 ? Real<T>(0) : static_cast<Real<T>>(1 / inverse / norm);
}

}  // namespace

// A is not kept: L (L^T x) or U^T (U x) stands for A x in the estimate of ||A||_1.
template <Scalar T> Real<T> factored_norm(const Executor& executor, const ConditionArgs<T>& g) {
  const auto times = [&](const std::vector<double>& x) {
    return on_column<T>(executor, x, [&](const MatrixView<T>& column) {
      const bool lower = g.uplo == Uplo::Lower;
      for (const Op op : {lower ? kAdjoint<T> : Op::N, lower ? Op::N : kAdjoint<T>}) {
        blas::trmm<T>(executor, Side::Left, g.uplo, op, Diag::NonUnit, T(1), g.factor, column, {kMode<T>});
      }
    });
  };
  return static_cast<Real<T>>(one_norm_estimate(kParts<T> * g.factor.rows(), times, times));
}

template <Scalar T> Real<T> pocon(const Executor& executor, const ConditionArgs<T>& g) {
  const std::int64_t n = g.factor.rows();
  if (n == 0) return 1;
  if (!std::isfinite(g.norm)) return host::not_a_number<Real<T>>();  // those of the factor go through the solves
  const auto solve = [&](const std::vector<double>& x) {
    return on_column<T>(executor, x, [&](const MatrixView<T>& column) {
      const bool lower = g.uplo == Uplo::Lower;
      for (const Op op : {lower ? Op::N : kAdjoint<T>, lower ? kAdjoint<T> : Op::N}) {
        blas::trsm<T>(executor, Side::Left, g.uplo, op, Diag::NonUnit, T(1), g.factor, column, {kMode<T>});
      }
    });
  };
  return reciprocal<T>(static_cast<double>(g.norm), one_norm_estimate(kParts<T> * n, solve, solve));
}

// P does not change a norm of (P^T L U)^-1: the exchanges are not needed.
template <Scalar T> Real<T> gecon(const Executor& executor, const ConditionArgs<T>& g) {
  const std::int64_t n = g.factor.rows();
  if (n == 0) return 1;
  if (!std::isfinite(g.norm)) return host::not_a_number<Real<T>>();
  for (const T& pivot : diagonal(g.factor)) {
    if (pivot == T(0)) return 0;
  }
  const auto solve = [&](Op op) {
    return [&, op](const std::vector<double>& x) {
      return on_column<T>(executor, x, [&](const MatrixView<T>& column) {
        const auto divide = [&](Uplo uplo, Diag diag) {
          blas::trsm<T>(executor, Side::Left, uplo, op, diag, T(1), g.factor, column, {kMode<T>});
        };
        if (op == Op::N) {
          divide(Uplo::Lower, Diag::Unit);
          divide(Uplo::Upper, Diag::NonUnit);
        } else {
          divide(Uplo::Upper, Diag::NonUnit);
          divide(Uplo::Lower, Diag::Unit);
        }
      });
    };
  };
  const bool one = g.which == Norm::One;  // the infinity norm is the 1-norm of the transpose
  return reciprocal<T>(static_cast<double>(g.norm), one_norm_estimate(kParts<T> * n, solve(one ? Op::N : kAdjoint<T>),
                                                                      solve(one ? kAdjoint<T> : Op::N)));
}

template <Scalar T> Real<T> trcon(const Executor& executor, const ConditionArgs<T>& g) {
  const std::int64_t n = g.factor.rows();
  if (n == 0) return 1;
  // The norm of the triangle itself, on the host: sums of its columns or rows.
  const Matrix<T> a = on_host(g.factor);
  std::vector<double> sums(static_cast<std::size_t>(n));
  bool singular = false, numbers = true;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      if (g.uplo == Uplo::Lower ? j > i : j < i) continue;
      const double x = i == j && g.diag == Diag::Unit ? 1 : static_cast<double>(std::abs(a.data()[i * n + j]));
      singular = singular || (i == j && x == 0), numbers = numbers && std::isfinite(x);
      sums[static_cast<std::size_t>(g.which == Norm::One ? j : i)] += x;
    }
  }
  if (!numbers) return host::not_a_number<Real<T>>();
  if (singular) return 0;
  const auto solve = [&](bool turned) {
    return [&, turned](const std::vector<double>& x) {
      return on_column<T>(executor, x, [&](const MatrixView<T>& column) {
        blas::trsm<T>(executor, Side::Left, g.uplo, turned ? kAdjoint<T> : Op::N, g.diag, T(1), g.factor, column,
                      {kMode<T>});
      });
    };
  };
  const bool one = g.which == Norm::One;  // the infinity norm is the 1-norm of the transpose
  return reciprocal<T>(*std::max_element(sums.begin(), sums.end()),
                       one_norm_estimate(kParts<T> * n, solve(!one), solve(one)));
}

#define TRN_CONDITION(T)                                                    \
  template Real<T> factored_norm(const Executor&, const ConditionArgs<T>&); \
  template Real<T> pocon(const Executor&, const ConditionArgs<T>&);         \
  template Real<T> gecon(const Executor&, const ConditionArgs<T>&);         \
  template Real<T> trcon(const Executor&, const ConditionArgs<T>&);
TRN_CONDITION(float)
TRN_CONDITION(double)
TRN_CONDITION(std::complex<float>)
TRN_CONDITION(std::complex<double>)
#undef TRN_CONDITION

}  // namespace trn::solver::device
