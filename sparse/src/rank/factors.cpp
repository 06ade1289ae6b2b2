// The entry points of rank-structured factors: arguments, refinement, and the bound of what a solve leaves.
#include <cmath>

#include <trn/core/enumerators.hpp>
#include <trn/core/linear_operator.hpp>

#include "checks.hpp"
#include "host_data.hpp"
#include "operators.hpp"
#include "rank/pieces.hpp"
#include "scalars.hpp"

namespace trn::sparse {

template <Scalar T> struct detail::RankFactorData {
  std::shared_ptr<const RankData<T>> a;
  std::unique_ptr<rank::Factors<T>> factors;
  Array<T> space;  // three panels of columns, and work space of products and substitutions
};

template <Scalar T> RankFactors<T>::RankFactors(const RankMatrix<T>& a, RankFactor kind, double tolerance) {
  constexpr const char* operation = "sparse.rank.factor";
  operands::check_enumerator(operation, "RankFactor", kind, RankFactor::Cholesky);
  host_only(operation, a.executor());
  check_square(operation, {a.rows(), a.columns()});
  const auto& data = detail::RankAccess::data(a);
  require(tolerance >= 0 && tolerance < 1, "{}: tolerance {}; from 0 (the matrix's) to below 1", operation, tolerance);
  if (a.shape() == RankShape::Hodlr && kind == RankFactor::Cholesky)
    fail<NotImplemented>("{}: a hodlr matrix has LU factors only; use RankFactor::Lu or a blr matrix", operation);
  auto factors = a.shape() == RankShape::Hodlr
                     ? rank::factor_halves(*data)
                     : rank::factor_tiles(*data, kind, tolerance == 0 ? data->options.tolerance : tolerance);
  Array<T> space = host_array<T>((3 * a.rows() + std::max(data->work, factors->work())) * rank::kPanel);
  data_ = std::make_shared<const detail::RankFactorData<T>>(
      detail::RankFactorData<T>{data, std::move(factors), std::move(space)});
}

template <Scalar T> std::int64_t RankFactors<T>::rows() const { return data_->a->extents.rows; }
template <Scalar T> const Executor& RankFactors<T>::executor() const { return data_->a->executor; }
template <Scalar T> const Outcome& RankFactors<T>::outcome() const { return data_->factors->outcome; }
template <Scalar T> double RankFactors<T>::truncation() const { return data_->factors->truncation; }
template <Scalar T> std::int64_t RankFactors<T>::stored() const { return data_->factors->stored; }

template <Scalar T>
RankSolve RankFactors<T>::solve(const MatrixView<const T>& b, const MatrixView<T>& x, int refinements) const {
  constexpr const char* operation = "sparse.rank.solve";
  checks::input(operation, "b", executor(), b);
  checks::output(operation, "x", executor(), x);
  checks::shape(operation, "b", b, rows(), x.columns());
  checks::shape(operation, "x", x, rows(), b.columns());
  checks::apart(operation, "b", b, "x", x);
  require(refinements >= 0 && refinements <= 100, "{}: {} refinements; from 0 to 100", operation, refinements);
  const std::int64_t n = rows();
  T *right = data_->space.data(), *sum = right + n * rank::kPanel, *step = sum + n * rank::kPanel,
    *work = step + n * rank::kPanel;
  double residual = outcome().ok() ? 0 : std::numeric_limits<double>::quiet_NaN(), size = 0, right_size = 0;
  for (std::int64_t first = 0; first < b.columns(); first += rank::kPanel) {
    const std::int64_t columns = std::min(rank::kPanel, b.columns() - first), count = n * columns;
    rank::pack(b, first, columns, right);
    if (outcome().ok()) {
      std::fill_n(sum, count, T(0));
      std::copy_n(right, count, step);
      for (int pass = 0;; ++pass) {
        data_->factors->solve(columns, step, work);
        for (std::int64_t i = 0; i < count; ++i) sum[i] += step[i];
        std::copy_n(right, count, step);
        rank::multiply(*data_->a, Op::N, T(-1), columns, sum, step, work);
        if (pass == refinements) break;
      }
      residual = std::hypot(residual, rank::frobenius(count, step));
      size = std::hypot(size, rank::frobenius(count, sum));
      right_size = std::hypot(right_size, rank::frobenius(count, right));
    } else {
      std::fill_n(sum, count, not_a_number<T>());
    }
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t i = 0; i < n; ++i)
        x.data()[i * x.row_stride() + (first + j) * x.column_stride()] = sum[j * n + i];
    }
  }
  if (std::isnan(residual)) return {residual, residual};
  // Roundings of b - A~ x: at most 2 n + rank + 3 in each element, of |b| + sum |U||V^H||x|, and for a block with the
  // singular values in U and V orthonormal || |U||V^H| ||_F <= sqrt(rank) ||U V^H||_F.
  const RankReport& report = data_->a->report;
  const double unit = static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) / 2 * (ComplexScalar<T> ? 4 : 1);
  const double roundings = unit * static_cast<double>(2 * n + report.largest_rank + 3);
  return {residual,
          residual + report.error * size +
              roundings * (right_size + std::sqrt(static_cast<double>(std::max<std::int64_t>(1, report.largest_rank))) *
                                            (report.norm + report.error) * size)};
}

template <Scalar T>
void RankFactors<T>::apply(Op op, T alpha, const MatrixView<const T>& x, T beta, const MatrixView<T>& y) const {
  constexpr const char* operation = "sparse.rank.factors.apply";
  if (op != Op::N) fail<NotImplemented>("{}: only op N; factor the adjoint for the others", operation);
  checks::input(operation, "x", executor(), x);
  checks::output(operation, "y", executor(), y);
  checks::shape(operation, "x", x, rows(), y.columns());
  checks::shape(operation, "y", y, rows(), x.columns());
  checks::apart(operation, "x", x, "y", y);
  const std::int64_t n = rows();
  T *own = data_->space.data(), *work = own + n * rank::kPanel;
  for (std::int64_t first = 0; first < y.columns(); first += rank::kPanel) {
    const std::int64_t columns = std::min(rank::kPanel, y.columns() - first);
    rank::pack(x, first, columns, own);
    if (outcome().ok())
      data_->factors->solve(columns, own, work);
    else
      std::fill_n(own, n * columns, not_a_number<T>());
    for (std::int64_t j = 0; j < columns; ++j) {
      for (std::int64_t i = 0; i < n; ++i) {
        const T value = host::times(alpha, own[j * n + i]);
        T& to = y.data()[i * y.row_stride() + (first + j) * y.column_stride()];
        to = beta == T(0) ? value : value + host::times(beta, to);
      }
    }
  }
}

#define TRN_RANK_FACTORS(T)      \
  template class RankFactors<T>; \
  static_assert(LinearOperator<RankFactors<T>, T>);
TRN_SPARSE_SCALARS(TRN_RANK_FACTORS)
#undef TRN_RANK_FACTORS

}  // namespace trn::sparse
