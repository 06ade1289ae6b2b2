// solve, least squares, band and tridiagonal systems: integer systems with known solutions, LAPACK's residual ratios.
#include <trn/solver/band.hpp>
#include <trn/solver/least_squares.hpp>
#include <trn/solver/solve.hpp>

#include "solver_support.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();

// Integers from -4 to 4, so that A x is exact for integer x in every type.
template <class T> Dense<Wide<T>> integers(std::int64_t m, std::int64_t n, Random& random) {
  Dense<Wide<T>> a(m, n);
  for (auto& x : a.values) {
    x = Wide<T>(static_cast<long double>(random.below(9) - 4));
    if constexpr (is_complex<T>) x = Wide<T>(x.real(), static_cast<long double>(random.below(9) - 4));
  }
  return a;
}

template <class T> Dense<Wide<T>> structured(Structure structure, Uplo uplo, std::int64_t n, Random& random) {
  Dense<Wide<T>> a = integers<T>(n, n, random);
  if (structure == Structure::General) return a;
  if (structure == Structure::Triangular) {
    a = triangle(a, uplo);
    for (std::int64_t i = 0; i < n; ++i) a(i, i) = Wide<T>(static_cast<long double>(8 * n));
    return a;
  }
  a = mirrored(a, uplo, structure != Structure::Symmetric);
  for (std::int64_t i = 0; i < n; ++i) {
    a(i, i) = Wide<T>(structure == Structure::Positive ? static_cast<long double>(8 * n) : std::real(a(i, i)));
  }
  return a;
}

TEST(Solve, IntegerSystemsOfEveryStructure) {
  for_scalars([]<class T>() {
    Random random(31);
    for (const Structure structure :
         {Structure::General, Structure::Positive, Structure::Hermitian, Structure::Symmetric, Structure::Triangular}) {
      for (const std::int64_t n : {0, 1, 2, 17, 33, 64}) {
        for (const Factor factor : {Factor::Auto, Factor::Lu, Factor::Qr}) {
          const Uplo uplo = n % 2 ? Uplo::Lower : Uplo::Upper;
          const Layout layout = kLayouts[random.below(6)];
          SCOPED_TRACE(::testing::Message() << "structure " << static_cast<int>(structure) << " n " << n << " factor "
                                            << static_cast<int>(factor) << " layout " << static_cast<int>(layout));
          const auto a = structured<T>(structure, uplo, n, random);
          const auto x = integers<T>(n, 3, random);
          Held<T> held(layout, a), b(kLayouts[random.below(6)], times(a, x));
          if (structure != Structure::General) {  // never read
            for (std::int64_t i = 0; i < n; ++i) {
              for (std::int64_t j = 0; j < i; ++j) {
                (uplo == Uplo::Lower ? held.at(j, i) : held.at(i, j)) = T(std::numeric_limits<Real<T>>::quiet_NaN());
              }
            }
          }
          const Report report =
              solve<T>(kHost, held.view(), b.view(), {.structure = structure, .uplo = uplo, .factor = factor});
          if (report.outcome.status == Status::Singular) continue;  // small random integers may be singular
          ASSERT_TRUE(report.outcome.ok());
          ASSERT_TRUE(b.surroundings_untouched());
          const auto error = minus(b.values(), x);
          if (n == 0) continue;
          EXPECT_LT(ratio(times(a, error), norm1(a) * norm1(x), n, eps<T>), kThreshold);
          // The bound rests on a condition estimate, which is a lower bound and rarely below a third of the truth.
          for (std::int64_t j = 0; j < 3; ++j) {
            long double most = 0, size = 0;
            for (std::int64_t i = 0; i < n; ++i) {
              most = std::max(most, std::abs(error(i, j))), size = std::max(size, std::abs(x(i, j)));
            }
            if (size > 0) {
              EXPECT_LE(most / size, 3 * report.accuracy.bound);
            }
          }
          EXPECT_LE(report.accuracy.bound, 10 * static_cast<double>(n * eps<T>) * report.condition);
          EXPECT_GE(report.condition, 0.9);
          EXPECT_EQ(report.guarantee, Guarantee::Estimate);
        }
      }
    }
  });
}

TEST(Solve, SaysWhatRan) {
  Held<double> a(Layout::RowMajor, identity<long double>(3)), b(Layout::RowMajor, identity<long double>(3));
  const auto ran = [&](const SolveOptions& options) {
    return solve<double>(kHost, a.view(), b.view(), options).algorithm;
  };
  EXPECT_EQ(ran({}), "lu");
  EXPECT_EQ(ran({.structure = Structure::Positive}), "cholesky");
  EXPECT_EQ(ran({.structure = Structure::Symmetric}), "ldl");
  EXPECT_EQ(ran({.structure = Structure::Triangular}), "triangular");
  EXPECT_EQ(ran({.structure = Structure::Positive, .factor = Factor::Qr}), "qr");
}

TEST(Solve, OutcomesOfBadInput) {
  for_scalars([]<class T>() {
    Held<T> a(Layout::ColumnMajor, identity<Wide<T>>(4)), b(Layout::RowMajor, identity<Wide<T>>(4));
    a.at(2, 2) = T(-1);
    EXPECT_EQ(solve<T>(kHost, a.view(), b.view(), {.structure = Structure::Positive}).outcome,
              (Outcome{Status::NotPositiveDefinite, 2}));
    EXPECT_TRUE(std::isnan(std::real(b.at(0, 0))));
    a.at(2, 2) = T(0);
    for (const Structure structure : {Structure::General, Structure::Symmetric, Structure::Triangular}) {
      b.set(identity<Wide<T>>(4));
      const Report report = solve<T>(kHost, a.view(), b.view(), {.structure = structure});
      EXPECT_EQ(report.outcome, (Outcome{Status::Singular, 2}));
      EXPECT_EQ(report.accuracy.bound, std::numeric_limits<double>::infinity());
      EXPECT_TRUE(std::isnan(std::real(b.at(3, 3))));
    }
    b.set(identity<Wide<T>>(4));
    EXPECT_EQ(solve<T>(kHost, a.view(), b.view(), {.factor = Factor::Qr}).outcome.status, Status::Singular);
    a.set(identity<Wide<T>>(4));
    a.at(3, 1) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    b.set(identity<Wide<T>>(4));
    EXPECT_EQ(solve<T>(kHost, a.view(), b.view()).outcome, (Outcome{Status::NotFinite, 13}));
    b.set(identity<Wide<T>>(4));
    EXPECT_EQ(solve<T>(kHost, a.view(), b.view(), {.structure = Structure::Symmetric}).outcome,
              (Outcome{Status::NotFinite, 13}));
    b.set(identity<Wide<T>>(4));
    EXPECT_TRUE(
        solve<T>(kHost, a.view(), b.view(), {.structure = Structure::Symmetric, .uplo = Uplo::Upper}).outcome.ok());
    b.at(1, 0) = T(std::numeric_limits<Real<T>>::infinity());
    a.set(identity<Wide<T>>(4));
    EXPECT_EQ(solve<T>(kHost, a.view(), b.view()).outcome, (Outcome{Status::NotFinite, 4}));
    // 1 / pivot beyond the type's range, then a solution beyond it.
    b.set(identity<Wide<T>>(4));
    a.at(0, 0) = T(std::numeric_limits<Real<T>>::min() / 8);
    EXPECT_EQ(solve<T>(kHost, a.view(), b.view()).outcome.status, Status::NotFinite);
    b.set(identity<Wide<T>>(4));
    a.at(0, 0) = T(std::numeric_limits<Real<T>>::min());
    b.at(0, 0) = T(8);
    EXPECT_EQ(solve<T>(kHost, a.view(), b.view()).outcome, (Outcome{Status::Singular, -1}));
    EXPECT_TRUE(std::isnan(std::real(b.at(1, 1))));
  });
}

TEST(LeastSquares, AnyShapeAndRank) {
  for_scalars([]<class T>() {
    Random random(32);
    for (const auto& shape :
         {std::pair<std::int64_t, std::int64_t>{0, 3}, {3, 0}, {1, 1}, {40, 17}, {17, 40}, {33, 33}}) {
      const auto [m, n] = shape;
      for (const LeastSquaresMethod method : {LeastSquaresMethod::Svd, LeastSquaresMethod::Qr}) {
        const auto a = random_matrix<T>(m, n, random), b = random_matrix<T>(m, 2, random);
        Held<T> ha(kLayouts[random.below(6)], a), hb(kLayouts[random.below(6)], b);
        Held<T> x(kLayouts[random.below(6)], n, 2);
        const auto report = lstsq<T>(kHost, ha.view(), hb.view(), x.view(), {.method = method});
        ASSERT_TRUE(report.outcome.ok());
        ASSERT_TRUE(x.surroundings_untouched());
        EXPECT_EQ(largest(minus(ha.values(), a)), 0);
        EXPECT_EQ(largest(minus(hb.values(), b)), 0);
        if (std::min(m, n) == 0) {
          EXPECT_EQ(largest(x.values()), 0);
          continue;
        }
        EXPECT_EQ(report.rank, std::min(m, n));
        const auto residual = minus(b, times(a, x.values()));
        EXPECT_LT(ratio(times(adjoint(a), residual), norm1(a) * (norm1(b) + norm1(a) * norm1(x.values())),
                        std::max(m, n), eps<T>),
                  kThreshold);
      }
    }
    // Rank one: A = u v^H, the least-norm solution is v (u^H b) / (|u|^2 |v|^2).
    const std::int64_t m = 9, n = 6;
    Dense<Wide<T>> a(m, n), b(m, 1), expected(n, 1);
    long double uu = 0, vv = 0, ub = 0;
    const auto u = [](std::int64_t i) { return static_cast<long double>(i % 3 - 1); };
    const auto v = [](std::int64_t j) { return static_cast<long double>(j + 1); };
    for (std::int64_t i = 0; i < m; ++i) {
      b(i, 0) = Wide<T>(static_cast<long double>(i));
      uu += u(i) * u(i), ub += u(i) * static_cast<long double>(i);
      for (std::int64_t j = 0; j < n; ++j) a(i, j) = Wide<T>(u(i) * v(j));
    }
    for (std::int64_t j = 0; j < n; ++j) vv += v(j) * v(j);
    for (std::int64_t j = 0; j < n; ++j) expected(j, 0) = Wide<T>(v(j) * ub / (uu * vv));
    Held<T> ha(Layout::RowMajor, a), hb(Layout::RowMajor, b), x(Layout::RowMajor, n, 1);
    const auto report = lstsq<T>(kHost, ha.view(), hb.view(), x.view());
    EXPECT_EQ(report.rank, 1);
    ASSERT_EQ(report.singular_values.size(), 6u);
    EXPECT_NEAR(report.singular_values[0], std::sqrt(uu * vv), 20 * eps<T> * std::sqrt(uu * vv));
    EXPECT_LT(largest(minus(x.values(), expected)), 100 * eps<T> * largest(expected));
    ha.at(0, 1) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    EXPECT_EQ((lstsq<T>(kHost, ha.view(), hb.view(), x.view()).outcome), (Outcome{Status::NotFinite, 1}));
    EXPECT_TRUE(std::isnan(std::real(x.at(0, 0))));
    Held<T> zero(Layout::RowMajor, Dense<Wide<T>>(3, 2)), y(Layout::RowMajor, 2, 1),
        c(Layout::RowMajor, Dense<Wide<T>>(3, 1));
    EXPECT_EQ((lstsq<T>(kHost, zero.view(), c.view(), y.view(), {.method = LeastSquaresMethod::Qr}).outcome),
              (Outcome{Status::Singular, 0}));
  });
}

TEST(Band, AgainstDenseResiduals) {
  for_scalars([]<class T>() {
    Random random(33);
    for (const std::int64_t n : {0, 1, 2, 5, 40}) {
      for (const auto& band : {std::pair<std::int64_t, std::int64_t>{0, 0}, {1, 1}, {3, 1}, {0, 4}}) {
        for (const blas::Layout layout : {blas::Layout::ColumnMajor, blas::Layout::RowMajor}) {
          for (const bool positive : {false, true}) {
            const std::int64_t kl = positive ? (n % 2 ? band.first : 0) : band.first;
            const std::int64_t ku = positive ? (n % 2 ? 0 : band.first) : band.second, ld = kl + ku + 3;
            std::vector<T> memory(static_cast<std::size_t>(ld * n + 1), T(std::numeric_limits<Real<T>>::quiet_NaN()));
            Dense<Wide<T>> a(n, n);
            for (std::int64_t i = 0; i < n; ++i) {
              for (std::int64_t j = std::max<std::int64_t>(0, i - kl); j <= std::min(n - 1, i + ku); ++j) {
                const T value = i == j && positive ? T(20) : random.number<T>();
                memory[static_cast<std::size_t>(layout == blas::Layout::ColumnMajor ? ku + i - j + j * ld
                                                                                    : kl + j - i + i * ld)] = value;
                a(i, j) = widened(value);
                if (positive) a(j, i) = conjugate(a(i, j));
              }
            }
            const auto b = random_matrix<T>(n, 2, random);
            Held<T> x(kLayouts[random.below(6)], b);
            const blas::BandView<const T> view(kHost, memory.data(), n, n, kl, ku, ld, layout);
            const Report report = positive ? pbsv<T>(kHost, view, x.view()) : gbsv<T>(kHost, view, x.view());
            ASSERT_TRUE(report.outcome.ok());
            ASSERT_TRUE(x.surroundings_untouched());
            EXPECT_LT(ratio(minus(times(a, x.values()), b), norm1(a) * norm1(x.values()), n, eps<T>), kThreshold);
          }
        }
      }
      const std::int64_t off = std::max<std::int64_t>(n - 1, 0);
      std::vector<T> lower(static_cast<std::size_t>(off) + 1), upper(lower), diagonal(static_cast<std::size_t>(n) + 1);
      std::vector<Real<T>> real(static_cast<std::size_t>(n) + 1, Real<T>(4));
      Dense<Wide<T>> a(n, n), h(n, n);
      for (std::int64_t i = 0; i < n; ++i) {
        const auto k = static_cast<std::size_t>(i);
        diagonal[k] = random.number<T>(), a(i, i) = widened(diagonal[k]), h(i, i) = Wide<T>(4.0L);
        if (i + 1 == n) continue;
        lower[k] = random.number<T>(), upper[k] = random.number<T>();
        a(i + 1, i) = h(i + 1, i) = widened(lower[k]), a(i, i + 1) = widened(upper[k]);
        h(i, i + 1) = conjugate(h(i + 1, i));
      }
      const auto b = random_matrix<T>(n, 2, random);
      Held<T> x(Layout::RowMajor, b), y(Layout::Scattered, b);
      const VectorView<T> l(kHost, lower.data(), off), d(kHost, diagonal.data(), n), u(kHost, upper.data(), off);
      ASSERT_TRUE(gtsv<T>(kHost, l, d, u, x.view()).outcome.ok());
      EXPECT_LT(ratio(minus(times(a, x.values()), b), norm1(a) * norm1(x.values()), n, eps<T>), kThreshold);
      ASSERT_TRUE(ptsv<T>(kHost, VectorView<Real<T>>(kHost, real.data(), n), l, y.view()).outcome.ok());
      EXPECT_LT(ratio(minus(times(h, y.values()), b), norm1(h) * norm1(y.values()), n, eps<T>), kThreshold);
    }
    T ones[4] = {T(1), T(0), T(1), T(1)}, rhs[4] = {T(1), T(1), T(1), T(1)};
    const auto b = MatrixView<T>::row_major(kHost, rhs, 4, 1);
    EXPECT_EQ((gbsv<T>(kHost, blas::BandView<const T>(kHost, ones, 4, 4, 0, 0, 1), b).outcome),
              (Outcome{Status::Singular, 1}));
    EXPECT_TRUE(std::isnan(std::real(rhs[0])));
    std::fill(rhs, rhs + 4, T(1));
    EXPECT_EQ((pbsv<T>(kHost, blas::BandView<const T>(kHost, ones, 4, 4, 0, 0, 1), b).outcome),
              (Outcome{Status::NotPositiveDefinite, 1}));
    ones[2] = T(std::numeric_limits<Real<T>>::infinity());
    EXPECT_EQ((gbsv<T>(kHost, blas::BandView<const T>(kHost, ones, 4, 4, 0, 0, 1), b).outcome),
              (Outcome{Status::NotFinite, 10}));
  });
}

}  // namespace
}  // namespace trn::solver::testing
