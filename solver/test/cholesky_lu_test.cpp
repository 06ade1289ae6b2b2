// Cholesky and LU against 80-bit residuals: every type, layout, triangle and op, sizes around LAPACK's blocks, exact
// integer cases, and what has no factorisation at all: indefinite, singular and non-finite input.
#include <trn/solver/cholesky.hpp>
#include <trn/solver/lu.hpp>

#include "solver_support.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();
constexpr Uplo kBoth[] = {Uplo::Lower, Uplo::Upper};

std::vector<Layout> layouts_for(std::int64_t n) {
  if (n > 40) return {Layout::RowMajor, Layout::PaddedColumns};
  return {std::begin(kLayouts), std::end(kLayouts)};
}

// The triangle that is not named holds NaN, which must be neither read nor written.
template <class T> void poison(Held<T>& a, std::int64_t n, Uplo uplo) {
  const T nan = T(std::numeric_limits<Real<T>>::quiet_NaN());
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) (uplo == Uplo::Lower ? a.at(j, i) : a.at(i, j)) = nan;
  }
}
template <class T> bool still_poisoned(Held<T>& a, std::int64_t n, Uplo uplo) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      if (!std::isnan(std::real(uplo == Uplo::Lower ? a.at(j, i) : a.at(i, j)))) return false;
    }
  }
  return true;
}

TEST(Cholesky, RatiosInEveryLayout) {
  for_scalars([]<class T>() {
    Random random(11);
    for (const std::int64_t n : {0, 1, 2, 3, 32, 33, 65, 129}) {
      const auto a = random_positive<T>(n, random);
      const auto b = random_matrix<T>(n, 3, random);
      for (const Layout layout : layouts_for(n)) {
        for (const Uplo uplo : kBoth) {
          SCOPED_TRACE(::testing::Message()
                       << "n " << n << " layout " << static_cast<int>(layout) << " uplo " << static_cast<int>(uplo));
          Held<T> held(layout, a);
          poison(held, n, uplo);
          const Report report = potrf(kHost, uplo, held.view());
          ASSERT_TRUE(report.outcome.ok());
          EXPECT_EQ(report.algorithm, "cholesky");
          ASSERT_TRUE(still_poisoned(held, n, uplo));
          ASSERT_TRUE(held.surroundings_untouched());
          const auto factor = triangle(held.values(), uplo);
          const auto product = uplo == Uplo::Lower ? times(factor, adjoint(factor)) : times(adjoint(factor), factor);
          EXPECT_LT(ratio(minus(product, a), norm1(a), n, eps<T>), kThreshold);
          for (std::int64_t i = 0; n <= 40 && i < n; ++i) {  // the a-priori bound, elementwise
            for (std::int64_t j = 0; j < n; ++j) {
              long double size = 0;
              for (std::int64_t k = 0; k < n; ++k) {
                size += uplo == Uplo::Lower ? std::abs(factor(i, k)) * std::abs(factor(j, k))
                                            : std::abs(factor(k, i)) * std::abs(factor(k, j));
              }
              EXPECT_LE(std::abs(product(i, j) - a(i, j)), report.accuracy.bound * size);
            }
          }
          Held<T> x(layout, b);
          ASSERT_TRUE(potrs<T>(kHost, uplo, held.view(), x.view()).outcome.ok());
          EXPECT_LT(ratio(minus(times(a, x.values()), b), norm1(a) * norm1(x.values()), n, eps<T>), kThreshold);
          ASSERT_TRUE(x.surroundings_untouched());
          ASSERT_TRUE(potri(kHost, uplo, held.view()).outcome.ok());
          ASSERT_TRUE(still_poisoned(held, n, uplo));
          const auto inverse = mirrored(held.values(), uplo);
          EXPECT_LT(ratio(minus(times(a, inverse), identity<Wide<T>>(n)), norm1(a) * norm1(inverse), n, eps<T>),
                    kThreshold);
        }
      }
    }
  });
}

// L has integers below and powers of two on the diagonal: every intermediate number is exact, so is the determinant.
TEST(Cholesky, IntegersAreExact) {
  const double l[4][4] = {{1, 0, 0, 0}, {3, 2, 0, 0}, {-1, 5, 4, 0}, {2, 0, 7, 1}};
  Matrix<double> a(kHost, 4, 4);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) sum += l[i][k] * l[j][k];
      a.data()[4 * i + j] = sum;
    }
  }
  const Cholesky<double> lower(kHost, Uplo::Lower, a.view());
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) EXPECT_EQ(lower.factor().data()[4 * i + j], l[i][j]);
  }
  EXPECT_EQ(lower.determinant(), 64.0);  // (1 * 2 * 4 * 1)^2
  EXPECT_EQ(lower.log_determinant().sign, 1.0);
  EXPECT_DOUBLE_EQ(lower.log_determinant().log_absolute, std::log(64.0));
  // A^-1 is an integer matrix over 64; its first column times 64, from the adjugate by exact rational arithmetic.
  const auto inverse = lower.inverse();
  Dense<long double> product = times(wide(a.view()), wide(inverse.view()));
  EXPECT_LT(norm1(minus(product, identity<long double>(4))), 4 * lower.condition() * 0x1p-52);
}

TEST(Cholesky, DeterminantsBeyondTheRange) {
  const std::int64_t n = 200;
  Matrix<float> a(kHost, n, n);
  for (std::int64_t i = 0; i < n * n; ++i) a.data()[i] = 0;
  for (std::int64_t i = 0; i < n; ++i) a.data()[i * (n + 1)] = 1e-6f;
  const Cholesky<float> c(kHost, Uplo::Upper, a.view());
  EXPECT_EQ(c.determinant(), 0.0f);  // 1e-1200 underflows
  const float exact = static_cast<float>(200 * std::log(static_cast<double>(1e-6f)));
  EXPECT_NEAR(c.log_determinant().log_absolute, exact, 200 * 2 * 6e-8 + std::abs(exact) * 6e-8);
}

TEST(Cholesky, OutcomesOfBadInput) {
  for_scalars([]<class T>() {
    for (const Uplo uplo : kBoth) {
      for (const Layout layout : kLayouts) {
        Held<T> a(layout, identity<Wide<T>>(5));
        a.at(3, 3) = T(-1);
        const Report report = potrf(kHost, uplo, a.view());
        EXPECT_EQ(report.outcome, (Outcome{Status::NotPositiveDefinite, 3}));
        EXPECT_EQ(report.outcome.lapack_info(), 4);
        EXPECT_EQ(report.accuracy.bound, std::numeric_limits<double>::infinity());
        Held<T> nan(layout, identity<Wide<T>>(5));
        const std::int64_t i = uplo == Uplo::Lower ? 4 : 1, j = uplo == Uplo::Lower ? 1 : 4;
        nan.at(i, j) = T(std::numeric_limits<Real<T>>::infinity());
        nan.at(j, i) = T(3);  // the other triangle
        EXPECT_EQ(potrf(kHost, uplo, nan.view()).outcome, (Outcome{Status::NotFinite, 5 * i + j}));
        EXPECT_EQ(nan.at(j, i), T(3));
        EXPECT_TRUE(std::isnan(std::real(nan.at(0, 0))));
      }
    }
    Held<T> bad(Layout::RowMajor, identity<Wide<T>>(3));
    bad.at(1, 1) = T(-2);
    const Cholesky<T> failed(kHost, Uplo::Lower, bad.view());
    EXPECT_EQ(failed.report().outcome, (Outcome{Status::NotPositiveDefinite, 1}));
    Held<T> b(Layout::ColumnMajor, identity<Wide<T>>(3));
    EXPECT_EQ(failed.solve(b.view()).outcome, failed.report().outcome);
    EXPECT_TRUE(std::isnan(std::real(b.at(2, 0))));
    EXPECT_TRUE(std::isnan(std::real(failed.inverse().data()[0])));
    EXPECT_TRUE(std::isnan(std::real(failed.determinant())));
    EXPECT_EQ(failed.condition(), std::numeric_limits<double>::infinity());
  });
}

// A wrong factor must not give a good-looking solution: zero on the diagonal is Singular.
TEST(Cholesky, ZeroInTheFactor) {
  Held<double> l(Layout::RowMajor, identity<long double>(3)), b(Layout::RowMajor, identity<long double>(3));
  l.at(2, 2) = 0;
  EXPECT_EQ(potrs<double>(kHost, Uplo::Lower, l.view(), b.view()).outcome, (Outcome{Status::Singular, 2}));
  EXPECT_TRUE(std::isnan(b.at(0, 0)));
  EXPECT_EQ(potri(kHost, Uplo::Lower, l.view()).outcome, (Outcome{Status::Singular, 2}));
}

// The factors of 1e-310 I are finite; its inverse is not.
TEST(Cholesky, InversesThatOverflow) {
  Matrix<double> a(kHost, 2, 2);
  for (int i = 0; i < 4; ++i) a.data()[i] = i % 3 == 0 ? 1e-310 : 0;
  const auto check = [](const auto& factors) {
    ASSERT_TRUE(factors.report().outcome.ok());
    Report report;
    const auto inverse = factors.inverse(report);
    EXPECT_EQ(report.outcome, (Outcome{Status::NotFinite, 0}));
    EXPECT_EQ(report.accuracy.bound, std::numeric_limits<double>::infinity());
    for (int i = 0; i < 4; ++i) EXPECT_TRUE(std::isnan(inverse.data()[i]));
  };
  check(Cholesky<double>(kHost, Uplo::Lower, a.view()));
  check(Cholesky<double>(kHost, Uplo::Upper, a.view()));
  a.data()[0] = a.data()[3] = 4;
  Report report;
  EXPECT_EQ(Cholesky<double>(kHost, Uplo::Lower, a.view()).inverse(report).data()[0], 0.25);
  EXPECT_TRUE(report.outcome.ok() && report.accuracy.bound > 0 && report.accuracy.bound < 1e-14);
  a.data()[3] = -4;
  (void)Cholesky<double>(kHost, Uplo::Lower, a.view()).inverse(report);
  EXPECT_EQ(report.outcome, (Outcome{Status::NotPositiveDefinite, 1}));
}

template <class W> Dense<W> exchanged(Dense<W> a, const std::vector<std::int64_t>& pivots) {
  for (std::size_t i = 0; i < pivots.size(); ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) std::swap(a(static_cast<std::int64_t>(i), j), a(pivots[i], j));
  }
  return a;
}

TEST(Lu, RatiosInEveryLayout) {
  for_scalars([]<class T>() {
    Random random(12);
    const std::int64_t shapes[][2] = {{0, 0}, {0, 3},   {3, 0},   {1, 1},   {2, 2},   {5, 3},
                                      {3, 5}, {32, 32}, {33, 31}, {64, 64}, {65, 70}, {129, 129}};
    for (const auto& shape : shapes) {
      const std::int64_t m = shape[0], n = shape[1], k = std::min(m, n);
      const auto a = random_matrix<T>(m, n, random);
      for (const Layout layout : layouts_for(std::max(m, n))) {
        SCOPED_TRACE(::testing::Message() << m << " x " << n << " layout " << static_cast<int>(layout));
        Held<T> held(layout, a);
        std::vector<std::int64_t> pivots(static_cast<std::size_t>(2 * k + 1), -7);
        const VectorView<std::int64_t> p(kHost, pivots.data(), k, 2);  // strided
        ASSERT_TRUE(getrf(kHost, held.view(), p).outcome.ok());
        ASSERT_TRUE(held.surroundings_untouched());
        std::vector<std::int64_t> order;
        for (std::int64_t i = 0; i < k; ++i) order.push_back(pivots[static_cast<std::size_t>(2 * i)]);
        const auto lu = held.values();
        Dense<Wide<T>> l(m, k), u(k, n);
        for (std::int64_t i = 0; i < m; ++i) {
          for (std::int64_t j = 0; j < k; ++j) l(i, j) = i == j ? Wide<T>(1) : i > j ? lu(i, j) : Wide<T>(0);
        }
        for (std::int64_t i = 0; i < k; ++i) {
          for (std::int64_t j = i; j < n; ++j) u(i, j) = lu(i, j);
        }
        // No multiplier above 1; of complex numbers LAPACK compares |re| + |im|.
        EXPECT_LE(largest(l), (is_complex<T> ? std::sqrt(2.0L) : 1) + 4 * eps<T>);
        EXPECT_LT(ratio(minus(times(l, u), exchanged(a, order)), norm1(a), k, eps<T>), kThreshold);
        if (m != n) continue;
        const auto b = random_matrix<T>(n, 3, random);
        for (const Op op : {Op::N, Op::T, Op::C}) {
          Held<T> x(layout, b);
          ASSERT_TRUE(getrs<T>(kHost, op, held.view(), p, x.view()).outcome.ok());
          const auto opa = op == Op::N ? a : transposed(a, op == Op::C);
          EXPECT_LT(ratio(minus(times(opa, x.values()), b), norm1(opa) * norm1(x.values()), n, eps<T>), kThreshold);
        }
        ASSERT_TRUE(getri(kHost, held.view(), p).outcome.ok());
        const auto inverse = held.values();
        EXPECT_LT(ratio(minus(times(inverse, a), identity<Wide<T>>(n)), norm1(a) * norm1(inverse), n, eps<T>),
                  kThreshold);
      }
    }
  });
}

TEST(Lu, ValuesAndConditions) {
  for_scalars([]<class T>() {
    Random random(13);
    const std::int64_t n = 40;
    const auto a = random_matrix<T>(n, n, random);
    Held<T> held(Layout::Scattered, a);
    const Lu<T> lu(kHost, held.view());
    ASSERT_TRUE(lu.report().outcome.ok());
    const auto inverse = lu.inverse();
    // The inverse is good to cond * n eps; the estimate lies between a tenth of the true condition number and it.
    const long double one = norm1(a) * norm1(wide(inverse.view()));
    const long double infinity = norm1(transposed(a)) * norm1(transposed(wide(inverse.view())));
    ASSERT_LT(one * n * eps<T>, 0.1L);
    EXPECT_LE(lu.condition(), 1.2L * one);
    EXPECT_GE(lu.condition(), 0.1L * one);
    EXPECT_LE(lu.condition(Norm::Infinity), 1.2L * infinity);
    EXPECT_GE(lu.condition(Norm::Infinity), 0.1L * infinity);
    EXPECT_NEAR(std::abs(lu.log_determinant().sign), 1, 4 * eps<T>);
  });
  // det [[0, 2, 0], [0, 0, 3], [5, 0, 0]] = 30, a cyclic permutation; one exchange of its rows changes the sign.
  Matrix<double> a = Matrix<double>::from_host(kHost, 3, 3, std::vector<double>{0, 2, 0, 0, 0, 3, 5, 0, 0});
  EXPECT_EQ(Lu<double>(kHost, a.view()).determinant(), 30.0);
  Matrix<double> b = Matrix<double>::from_host(kHost, 3, 3, std::vector<double>{0, 2, 0, 5, 0, 0, 0, 0, 3});
  EXPECT_EQ(Lu<double>(kHost, b.view()).determinant(), -30.0);
  EXPECT_EQ(Lu<double>(kHost, b.view()).log_determinant().sign, -1.0);
  using Z = std::complex<double>;
  Matrix<Z> c = Matrix<Z>::from_host(kHost, 2, 2, std::vector<Z>{Z(0, 0), Z(0, 2), Z(3, 0), Z(1, 1)});
  EXPECT_EQ(Lu<Z>(kHost, c.view()).determinant(), Z(0, -6));
  Matrix<double> none(kHost, 0, 0);
  EXPECT_EQ(Lu<double>(kHost, none.view()).determinant(), 1.0);
}

TEST(Lu, OutcomesOfBadInput) {
  for_scalars([]<class T>() {
    for (const Layout layout : kLayouts) {
      Random random(14);
      auto a = random_matrix<T>(6, 6, random);
      for (std::int64_t i = 0; i < 6; ++i) a(i, 2) = 0;  // a zero column gives an exact zero pivot
      Held<T> held(layout, a);
      const Lu<T> lu(kHost, held.view());
      EXPECT_EQ(lu.report().outcome, (Outcome{Status::Singular, 2}));
      EXPECT_EQ(lu.determinant(), T(0));
      EXPECT_EQ(lu.log_determinant().log_absolute, -std::numeric_limits<Real<T>>::infinity());
      EXPECT_EQ(lu.condition(), std::numeric_limits<double>::infinity());
      Held<T> b(layout, identity<Wide<T>>(6));
      EXPECT_EQ(lu.solve(b.view()).outcome, lu.report().outcome);
      EXPECT_TRUE(std::isnan(std::real(b.at(5, 5))));
      held.at(4, 1) = T(std::numeric_limits<Real<T>>::quiet_NaN());
      const Lu<T> nan(kHost, held.view());
      EXPECT_EQ(nan.report().outcome, (Outcome{Status::NotFinite, 25}));
      EXPECT_TRUE(std::isnan(std::real(nan.determinant())));
      EXPECT_TRUE(std::isnan(nan.log_determinant().log_absolute));
      EXPECT_TRUE(std::isnan(std::real(nan.inverse().data()[0])));
    }
    Held<T> good(Layout::RowMajor, identity<Wide<T>>(4)), b(Layout::RowMajor, identity<Wide<T>>(4));
    b.at(3, 2) = T(std::numeric_limits<Real<T>>::infinity());
    EXPECT_EQ(Lu<T>(kHost, good.view()).solve(b.view()).outcome, (Outcome{Status::NotFinite, 14}));
  });
}

}  // namespace
}  // namespace trn::solver::testing
