// Exchanges of rows, a triangle times its adjoint and the factor of a block of reflections: against the definitions in
// 80 bits, every type, layout, triangle, order and storage; what is not read holds NaN.
#include <trn/solver/factor_steps.hpp>

#include <trn/core/error.hpp>

#include "solver_support.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();
template <class T> const T kNan = T(std::numeric_limits<Real<T>>::quiet_NaN());

VectorView<const std::int64_t> whole(const std::vector<std::int64_t>& x) {
  return {kHost, x.data(), static_cast<std::int64_t>(x.size())};
}

TEST(FactorSteps, RowsAreExchangedAndBack) {
  for_scalars([]<class T>() {
    Random random(61);
    for (const Layout layout : kLayouts) {
      SCOPED_TRACE(static_cast<int>(layout));
      const std::vector<std::int64_t> pivots{4, 2, 6, 3};  // rows 1 to 4
      const auto start = random_matrix<T>(7, 3, random);
      Dense<Wide<T>> expected = start;
      for (std::int64_t i = 0; i < 4; ++i) {
        for (std::int64_t j = 0; j < 3; ++j)
          std::swap(expected(1 + i, j), expected(pivots[static_cast<std::size_t>(i)], j));
      }
      Held<T> a(layout, start);
      const Report report = laswp<T>(kHost, a.view(), 1, whole(pivots));
      EXPECT_TRUE(report.outcome.ok());
      EXPECT_EQ(report.accuracy.bound, 0);
      EXPECT_EQ(a.values().values, expected.values);
      EXPECT_TRUE(a.surroundings_untouched());
      (void)laswp<T>(kHost, a.view(), 1, whole(pivots), Exchanges::Backward);
      EXPECT_EQ(a.values().values, start.values);
    }
  });
}

TEST(FactorSteps, TriangleTimesAdjoint) {
  for_scalars([]<class T>() {
    Random random(62);
    for (const std::int64_t n : {0, 1, 2, 17, 70}) {
      for (const Layout layout : kLayouts) {
        if (n > 20 && layout != Layout::RowMajor && layout != Layout::PaddedColumns) continue;
        for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
          SCOPED_TRACE(::testing::Message() << n << " " << static_cast<int>(layout) << " " << static_cast<int>(uplo));
          Dense<Wide<T>> factor = random_matrix<T>(n, n, random);
          Held<T> a(layout, factor);
          for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
              if (uplo == Uplo::Lower ? j <= i : j >= i) continue;
              factor(i, j) = 0;
              a.at(i, j) = kNan<T>;
            }
          }
          for (std::int64_t i = 0; i < n && layout == kLayouts[0]; ++i) {  // LAPACK takes a real diagonal
            factor(i, i) = std::real(factor(i, i));
            a.at(i, i) = T(std::real(a.at(i, i)));
          }
          const Report report = lauum<T>(kHost, uplo, a.view());
          EXPECT_TRUE(report.outcome.ok());
          EXPECT_TRUE(a.surroundings_untouched());
          const auto left = uplo == Uplo::Lower ? adjoint(factor) : factor;
          const auto expected = times(left, adjoint(left));
          for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < n; ++j) {
              if (uplo == Uplo::Lower ? j > i : j < i) {
                EXPECT_TRUE(std::isnan(std::real(a.at(i, j))));
                continue;
              }
              long double size = 0;
              for (std::int64_t k = 0; k < n; ++k) size += std::abs(left(i, k)) * std::abs(left(j, k));
              EXPECT_LE(std::abs(widened(a.at(i, j)) - expected(i, j)), report.accuracy.bound * size);
            }
          }
        }
      }
    }
  });
}

// H(0) H(1) ... or the reverse, multiplied out, beside I - V T V^H or I - V^H T V.
TEST(FactorSteps, FactorOfReflections) {
  for_scalars([]<class T>() {
    using W = Wide<T>;
    Random random(63);
    for (const auto& [n, k] : {std::pair{1, 1}, {2, 2}, {5, 3}, {40, 7}}) {
      for (const ReflectionOrder order : {ReflectionOrder::Forward, ReflectionOrder::Backward}) {
        for (const ReflectionStorage storage : {ReflectionStorage::Columns, ReflectionStorage::Rows}) {
          for (const Layout layout : kLayouts) {
            if (n > 20 && layout != Layout::RowMajor && layout != Layout::PaddedColumns) continue;
            SCOPED_TRACE(::testing::Message() << n << " " << k << " " << static_cast<int>(order) << " "
                                              << static_cast<int>(storage) << " " << static_cast<int>(layout));
            const bool columns = storage == ReflectionStorage::Columns, forward = order == ReflectionOrder::Forward;
            Dense<W> v = random_matrix<T>(n, k, random);
            Held<T> held(layout, columns ? v : adjoint(v)), t(layout, random_matrix<T>(k, k, random));
            std::vector<T> tau;
            for (int p = 0; p < k; ++p) {
              const int one = forward ? p : n - k + p;
              long double square = 0;
              for (int i = 0; i < n; ++i) {
                if (i == one) v(i, p) = 1;
                if (forward ? i < one : i > one) v(i, p) = 0;
                if (forward ? i <= one : i >= one) (columns ? held.at(i, p) : held.at(p, i)) = kNan<T>;
                square += std::norm(v(i, p));
              }
              tau.push_back(p == 1 ? T(0) : T(static_cast<Real<T>>(2 / square)));  // unitary; the second is I
            }
            const auto before = t.values();
            const Report report =
                larft<T>(kHost, order, storage, held.view(), VectorView<const T>(kHost, tau.data(), k), t.view());
            ASSERT_TRUE(report.outcome.ok());
            EXPECT_TRUE(t.surroundings_untouched());
            Dense<W> h = identity<W>(n), factor = t.values();
            for (int p = 0; p < k; ++p) {
              const int which = forward ? p : k - 1 - p;
              Dense<W> one = identity<W>(n);
              for (int i = 0; i < n; ++i) {
                for (int j = 0; j < n; ++j)
                  one(i, j) -= widened(tau[static_cast<std::size_t>(which)]) * v(i, which) * W(conjugate(v(j, which)));
              }
              h = times(h, one);
            }
            for (int i = 0; i < k; ++i) {
              for (int j = 0; j < k; ++j) {
                if (forward ? j >= i : j <= i) continue;
                EXPECT_EQ(factor(i, j), before(i, j));
                factor(i, j) = 0;
              }
            }
            const auto blocked = minus(identity<W>(n), times(times(v, factor), adjoint(v)));
            long double off = 0;
            for (const W& x : minus(h, blocked).values) off += std::norm(x);
            EXPECT_LE(std::sqrt(off), report.accuracy.bound);
          }
        }
      }
    }
  });
}

TEST(FactorSteps, NotFiniteAndRefused) {
  using T = double;
  Held<T> a(Layout::RowMajor, random_matrix<T>(3, 3, *std::make_unique<Random>(64)));
  a.at(2, 1) = kNan<T>;
  EXPECT_EQ(lauum<T>(kHost, Uplo::Lower, a.view()).outcome, (Outcome{Status::NotFinite, 7}));
  std::vector<double> large{1, 0, 0, 1e200};
  EXPECT_EQ(lauum<double>(kHost, Uplo::Upper, MatrixView<double>::row_major(kHost, large.data(), 2, 2)).outcome,
            (Outcome{Status::NotFinite, 3}));
  EXPECT_TRUE(std::isnan(a.at(0, 0)));
  const std::vector<T> tau{1, 1};
  Held<T> v(Layout::RowMajor, identity<long double>(3)), t(Layout::RowMajor, identity<long double>(2));
  v.at(2, 1) = kNan<T>;
  const auto two = v.view().block(0, 0, 3, 2);
  const auto factors = VectorView<const T>(kHost, tau.data(), 2);
  EXPECT_EQ(larft<T>(kHost, ReflectionOrder::Forward, ReflectionStorage::Columns, two, factors, t.view()).outcome,
            (Outcome{Status::NotFinite, 5}));
  EXPECT_TRUE(std::isnan(t.at(0, 1)));
  EXPECT_EQ(t.at(1, 0), 0);
  EXPECT_THROW((void)larft<T>(kHost, ReflectionOrder::Forward, ReflectionStorage::Rows, two, factors, t.view()),
               InvalidArgument);  // three reflections of two elements
  EXPECT_THROW((void)lauum<T>(kHost, Uplo::Lower, two), InvalidArgument);
  EXPECT_THROW((void)laswp<T>(kHost, two, 2, whole({0, 1})), InvalidArgument);
  EXPECT_THROW((void)laswp<T>(kHost, two, 0, whole({3})), InvalidArgument);
  EXPECT_THROW((void)laswp<T>(kHost, two, 0, whole({-1})), InvalidArgument);
  EXPECT_THROW((void)laswp<T>(kHost, two, 0, whole({1}), static_cast<Exchanges>(2)), InvalidArgument);
  EXPECT_THROW((void)laswp<T>(Executor::open("sim:trn2"), two, 0, whole({1})), InvalidArgument);
}

}  // namespace
}  // namespace trn::solver::testing
