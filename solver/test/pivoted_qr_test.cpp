// Pivoted QR, least squares of deficient rank, pseudoinverses, ranks and bases, against 80 bits and planted ranks.
#include <trn/solver/least_squares.hpp>
#include <trn/solver/pivoted_qr.hpp>
#include <trn/solver/qr.hpp>

#include "quad_support.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();

// Rank r, singular values of the two factors' product.
template <class T> Dense<Wide<T>> deficient(std::int64_t m, std::int64_t n, std::int64_t r, Random& random) {
  Dense<Wide<T>> a(m, r), b(r, n);  // small integers: the product is exact in every type
  for (auto& x : a.values) x = static_cast<long double>(random.below(9) - 4);
  for (auto& x : b.values) x = static_cast<long double>(random.below(9) - 4);
  for (std::int64_t i = 0; i < std::min(r, std::min(m, n)); ++i) a(i, i) += 9, b(i, i) += 9;
  return times(a, b);
}

TEST(PivotedQr, FactorsAndOrder) {
  for_scalars([]<class T>() {
    Random random(501);
    for (const auto& [m, n] : {std::pair{9, 6}, std::pair{6, 9}, std::pair{1, 1}, std::pair{40, 40}, std::pair{5, 0}}) {
      for (const Layout layout : kLayouts) {
        const auto a = random_matrix<T>(m, n, random);
        const std::int64_t k = std::min(m, n);
        Held<T> held(layout, a);
        std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
        std::vector<T> tau(static_cast<std::size_t>(k));
        const VectorView<T> tv(kHost, tau.data(), k);
        ASSERT_TRUE(geqp3<T>(kHost, held.view(), VectorView<std::int64_t>(kHost, pivots.data(), n), tv).outcome.ok());
        EXPECT_TRUE(held.surroundings_untouched());
        if (k == 0) continue;
        auto r = held.values();
        Dense<Wide<T>> permuted(m, n), upper(k, n);
        for (std::int64_t j = 0; j < n; ++j) {
          for (std::int64_t i = 0; i < m; ++i) permuted(i, j) = a(i, pivots[static_cast<std::size_t>(j)]);
          for (std::int64_t i = 0; i <= std::min(j, k - 1); ++i) upper(i, j) = r(i, j);
        }
        for (std::int64_t i = 1; i < k; ++i) {
          EXPECT_LE(std::abs(upper(i, i)), std::abs(upper(i - 1, i - 1)) * (1 + 8 * eps<T>));
        }
        Held<T> q(Layout::ColumnMajor, m, k);
        for (std::int64_t i = 0; i < m; ++i) {
          for (std::int64_t j = 0; j < k; ++j) q.at(i, j) = held.at(i, j);
        }
        ASSERT_TRUE(orgqr<T>(kHost, q.view(), tv).outcome.ok());
        EXPECT_LE(orthogonality(q.values(), eps<T>), kThreshold);
        EXPECT_LE(ratio(minus(times(q.values(), upper), permuted), norm1(a), m, eps<T>), kThreshold);
      }
    }
  });
}

TEST(PivotedQr, RanksInversesAndBases) {
  for_scalars([]<class T>() {
    Random random(502);
    for (const auto& [m, n, r] :
         {std::tuple{12, 8, 5}, std::tuple{8, 12, 5}, std::tuple{7, 7, 7}, std::tuple{6, 6, 1}}) {
      const auto a = deficient<T>(m, n, r, random);
      Held<T> ha(Layout::RowMajor, a), hx(Layout::ColumnMajor, n, m);
      const MatrixView<const T> view = ha.view();
      EXPECT_EQ(matrix_rank<T>(kHost, view).rank, r);
      const RankReport report = pinv<T>(kHost, view, hx.view());
      EXPECT_EQ(report.rank, r);
      const auto x = hx.values();
      // Moore and Penrose: A X A = A, X A X = X, A X and X A Hermitian.
      const auto ax = times(a, x), xa = times(x, a);
      const long double kappa = norm1(a) * norm1(x), unit = 30 * static_cast<long double>(m + n) * eps<T> * kappa;
      EXPECT_LE(norm1(minus(times(ax, a), a)), unit * norm1(a));
      EXPECT_LE(norm1(minus(times(xa, x), x)), unit * norm1(x));
      EXPECT_LE(norm1(minus(ax, adjoint(ax))), unit);
      EXPECT_LE(norm1(minus(xa, adjoint(xa))), unit);
      const auto range = range_basis<T>(kHost, view), null = null_space<T>(kHost, view);
      EXPECT_EQ(range.vectors.columns(), r);
      EXPECT_EQ(null.vectors.columns(), n - r);
      const auto q = wide(range.vectors.view());
      EXPECT_LE(orthogonality(q, eps<T>), kThreshold);
      EXPECT_LE(norm1(minus(times(q, times(adjoint(q), a)), a)), unit * norm1(a));
      if (n > r) {
        const auto z = wide(null.vectors.view());
        EXPECT_LE(orthogonality(z, eps<T>), kThreshold);
        EXPECT_LE(norm1(times(a, z)), unit * norm1(a));
      }
      // Least squares: the residual is orthogonal to the range, x to the null space.
      const auto b = random_matrix<T>(m, 2, random);
      Held<T> hb(Layout::RowMajor, b), hy(Layout::RowMajor, n, 2);
      const RankReport solved = lstsq_pivoted<T>(kHost, view, hb.view(), hy.view());
      EXPECT_EQ(solved.rank, r);
      const auto y = hy.values();
      EXPECT_LE(norm1(times(adjoint(a), minus(times(a, y), b))), unit * norm1(a));
      EXPECT_LE(norm1(minus(times(x, b), y)), unit * norm1(x));
    }
    // Zero, and a tolerance that cuts.
    Dense<Wide<T>> diagonal(3, 3);
    diagonal(0, 0) = 1, diagonal(1, 1) = 0.5L, diagonal(2, 2) = 0.0625L;
    Held<T> hd(Layout::RowMajor, diagonal), zero(Layout::RowMajor, Dense<Wide<T>>(4, 3)), hx(Layout::RowMajor, 3, 4);
    const MatrixView<const T> dv = hd.view(), zv = zero.view();
    EXPECT_EQ(matrix_rank<T>(kHost, dv, 0.1).rank, 2);
    EXPECT_EQ(matrix_rank<T>(kHost, zv).rank, 0);
    EXPECT_EQ(pinv<T>(kHost, zv, hx.view()).rank, 0);
    EXPECT_EQ(largest(hx.values()), 0);
    EXPECT_EQ(null_space<T>(kHost, zv).vectors.columns(), 3);
  });
}

TEST(PivotedQr, BadInput) {
  Held<double> a(Layout::RowMajor, Dense<long double>(3, 2)), x(Layout::RowMajor, 2, 3), y(Layout::RowMajor, 2, 1),
      b(Layout::RowMajor, Dense<long double>(3, 1));
  a.at(1, 1) = std::numeric_limits<double>::quiet_NaN();
  const MatrixView<const double> view = a.view();
  EXPECT_EQ((pinv<double>(kHost, view, x.view()).outcome), (Outcome{Status::NotFinite, 3}));
  EXPECT_TRUE(std::isnan(x.at(0, 0)));
  EXPECT_EQ((lstsq_pivoted<double>(kHost, view, b.view(), y.view()).outcome), (Outcome{Status::NotFinite, 3}));
  EXPECT_TRUE(std::isnan(y.at(0, 0)));
  EXPECT_EQ(range_basis<double>(kHost, view).vectors.columns(), 0);
  EXPECT_EQ(null_space<double>(kHost, view).report.outcome, (Outcome{Status::NotFinite, 3}));
  EXPECT_THROW(pinv<double>(kHost, view, y.view()), InvalidArgument);
  EXPECT_THROW(matrix_rank<double>(kHost, view, 1.0), InvalidArgument);
  std::vector<std::int64_t> pivots(2);
  std::vector<double> tau(2);
  const VectorView<std::int64_t> pv(kHost, pivots.data(), 2);
  EXPECT_EQ((geqp3<double>(kHost, a.view(), pv, VectorView<double>(kHost, tau.data(), 2)).outcome),
            (Outcome{Status::NotFinite, 3}));
  EXPECT_TRUE(std::isnan(a.at(0, 0)) && std::isnan(tau[0]));
  EXPECT_THROW(geqp3<double>(kHost, a.view(), pv, VectorView<double>(kHost, tau.data(), 1)), InvalidArgument);
}

// A result that is too large for the type is an outcome, not infinities with a bound.
TEST(PivotedQr, ResultsThatOverflow) {
  for_scalars([]<class T>() {
    const long double tiny = static_cast<long double>(std::numeric_limits<Real<T>>::min()) / 64;
    Dense<Wide<T>> a(2, 2), b(2, 1);
    a(0, 0) = a(1, 1) = tiny, b(0, 0) = b(1, 0) = 1;
    Held<T> ha(Layout::RowMajor, a), hb(Layout::RowMajor, b), hx(Layout::RowMajor, 2, 2), hy(Layout::RowMajor, 2, 1);
    const MatrixView<const T> view = ha.view();
    const auto all_nan = [](auto& held, std::int64_t count) {
      for (std::int64_t i = 0; i < count; ++i) EXPECT_TRUE(std::isnan(std::real(held.at(i / 2, i % 2))));
    };
    const auto overflowed = [](const Report& report) {
      EXPECT_EQ(report.outcome, (Outcome{Status::NotFinite, 0}));
      EXPECT_EQ(report.accuracy.bound, std::numeric_limits<double>::infinity());
    };
    overflowed(pinv<T>(kHost, view, hx.view()));
    all_nan(hx, 4);
    for (const auto method : {LeastSquaresMethod::Svd, LeastSquaresMethod::Qr}) {
      overflowed(lstsq<T>(kHost, view, hb.view(), hy.view(), {.method = method}));
      EXPECT_TRUE(std::isnan(std::real(hy.at(0, 0))) && std::isnan(std::real(hy.at(1, 0))));
    }
    overflowed(lstsq_pivoted<T>(kHost, view, hb.view(), hy.view()));
    EXPECT_TRUE(std::isnan(std::real(hy.at(0, 0))) && std::isnan(std::real(hy.at(1, 0))));
  });
}

}  // namespace
}  // namespace trn::solver::testing
