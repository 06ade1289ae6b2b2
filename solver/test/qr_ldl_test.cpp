// QR, the indefinite factorisation and triangular matrices against 80-bit residuals.
#include <trn/solver/ldl.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/triangular.hpp>

#include "solver_support.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();

TEST(Qr, RatiosInEveryLayout) {
  for_scalars([]<class T>() {
    Random random(21);
    const std::int64_t shapes[][2] = {{0, 0}, {0, 2},   {2, 0},   {1, 1},   {2, 5},
                                      {7, 3}, {33, 33}, {40, 31}, {64, 80}, {129, 65}};
    for (const auto& shape : shapes) {
      const std::int64_t m = shape[0], n = shape[1], k = std::min(m, n);
      const auto a = random_matrix<T>(m, n, random);
      for (const Layout layout : kLayouts) {
        if (m > 40 && layout != Layout::RowMajor && layout != Layout::PaddedColumns) continue;
        SCOPED_TRACE(::testing::Message() << m << " x " << n << " layout " << static_cast<int>(layout));
        Held<T> held(layout, a);
        const Qr<T> qr(kHost, held.view());
        ASSERT_TRUE(qr.report().outcome.ok());
        const auto q = wide(qr.q().view()), r = wide(qr.r().view());
        ASSERT_EQ(q.columns, k);
        ASSERT_EQ(r.rows, k);
        EXPECT_LT(ratio(minus(times(q, r), a), norm1(a), m, eps<T>), kThreshold);
        EXPECT_LT(orthogonality(q, eps<T>), kThreshold);
        const auto full = wide(qr.q(Basis::Full).view());
        ASSERT_EQ(full.columns, m);
        EXPECT_LT(orthogonality(full, eps<T>), kThreshold);

        // The computational routines on the view itself. Their bits may differ: OpenBLAS rounds by alignment.
        std::vector<T> tau(static_cast<std::size_t>(3 * k + 1), T(5));
        const VectorView<T> t(kHost, tau.data(), k, 3);
        ASSERT_TRUE(geqrf(kHost, held.view(), t).outcome.ok());
        ASSERT_TRUE(held.surroundings_untouched());
        Held<T> square(layout, m, m);
        Dense<Wide<T>> v(m, m), upper(m, n);
        for (std::int64_t i = 0; i < m; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            if (j < m) v(i, j) = widened(held.at(i, j));
            if (i <= j) upper(i, j) = widened(held.at(i, j));
          }
        }
        square.set(v);
        ASSERT_TRUE(orgqr<T>(kHost, square.view(), t).outcome.ok());
        ASSERT_TRUE(square.surroundings_untouched());
        const auto own = square.values();
        EXPECT_LT(orthogonality(own, eps<T>), kThreshold);
        EXPECT_LT(ratio(minus(times(own, upper), a), norm1(a), m, eps<T>), kThreshold);
        const auto c = random_matrix<T>(m, 4, random);
        for (const Side side : {Side::Left, Side::Right}) {
          for (const Op op : {Op::N, Op::C}) {
            const auto start = side == Side::Left ? c : transposed(c);
            Held<T> result(layout, start);
            ASSERT_TRUE(ormqr<T>(kHost, side, op, held.view(), t, result.view()).outcome.ok());
            ASSERT_TRUE(result.surroundings_untouched());
            const auto opq = op == Op::N ? own : adjoint(own);
            const auto expected = side == Side::Left ? times(opq, start) : times(start, opq);
            EXPECT_LT(ratio(minus(result.values(), expected), norm1(start), m, eps<T>), kThreshold);
          }
        }
      }
    }
  });
}

TEST(Qr, LeastSquares) {
  for_scalars([]<class T>() {
    Random random(22);
    for (const auto& shape : {std::pair<std::int64_t, std::int64_t>{1, 1}, {6, 6}, {30, 11}, {70, 33}}) {
      const auto [m, n] = shape;
      const auto a = random_matrix<T>(m, n, random), b = random_matrix<T>(m, 3, random);
      Held<T> held(Layout::RowMajor, a), x(Layout::PaddedRows, b);
      const Qr<T> qr(kHost, held.view());
      ASSERT_TRUE(qr.solve(x.view()).outcome.ok());
      ASSERT_TRUE(x.surroundings_untouched());
      Dense<Wide<T>> top(n, 3), rest(m - n, 3);
      const auto all = x.values();
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < 3; ++j) (i < n ? top(i, j) : rest(i - n, j)) = all(i, j);
      }
      const auto residual = minus(b, times(a, top));
      // LAPACK's QRT17: ||A^H r|| / (||A|| ||b|| max(m, n) eps)
      EXPECT_LT(ratio(times(adjoint(a), residual), norm1(a) * norm1(b), m, eps<T>), kThreshold);
      for (std::int64_t j = 0; j < 3; ++j) {  // the rest of Q^H b has the residual's norm
        long double from_rest = 0, from_residual = 0;
        for (std::int64_t i = 0; i < m - n; ++i) from_rest += std::norm(rest(i, j));
        for (std::int64_t i = 0; i < m; ++i) from_residual += std::norm(residual(i, j));
        EXPECT_NEAR(std::sqrt(from_rest), std::sqrt(from_residual), 10 * m * eps<T> * norm1(b));
      }
    }
    // Two equal columns: rank 1 of 2.
    Held<T> deficient(Layout::RowMajor, 3, 2), b(Layout::RowMajor, 3, 1);
    for (int i = 0; i < 3; ++i)
      deficient.at(i, 0) = deficient.at(i, 1) = T(static_cast<Real<T>>(i + 1)), b.at(i, 0) = T(1);
    EXPECT_EQ(Qr<T>(kHost, deficient.view()).solve(b.view()).outcome, (Outcome{Status::Singular, 1}));
    Held<T> zero(Layout::RowMajor, 2, 1), c(Layout::RowMajor, 2, 1);
    zero.at(0, 0) = zero.at(1, 0) = T(0), c.at(0, 0) = c.at(1, 0) = T(1);
    EXPECT_EQ(Qr<T>(kHost, zero.view()).solve(c.view()).outcome, (Outcome{Status::Singular, 0}));
    EXPECT_TRUE(std::isnan(std::real(c.at(0, 0))));
    Held<T> nan(Layout::ColumnMajor, 3, 2);
    for (int i = 0; i < 3; ++i) nan.at(i, 0) = nan.at(i, 1) = T(1);
    nan.at(2, 1) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    const Qr<T> bad(kHost, nan.view());
    EXPECT_EQ(bad.report().outcome, (Outcome{Status::NotFinite, 5}));
    EXPECT_TRUE(std::isnan(std::real(bad.q().data()[0])));
    EXPECT_EQ(bad.condition(), std::numeric_limits<double>::infinity());
  });
}

TEST(Ldl, SolvesAndInverses) {
  for_scalars([]<class T>() {
    Random random(23);
    for (const Symmetry symmetry : {Symmetry::Hermitian, Symmetry::Symmetric}) {
      const bool hermitian = symmetry == Symmetry::Hermitian;
      for (const std::int64_t n : {0, 1, 2, 3, 31, 33, 65, 129}) {
        const auto a = random_hermitian<T>(n, random, hermitian);
        const auto b = random_matrix<T>(n, 3, random);
        for (const Layout layout : kLayouts) {
          if (n > 40 && layout != Layout::RowMajor && layout != Layout::PaddedColumns) continue;
          for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
            SCOPED_TRACE(::testing::Message() << "n " << n << " layout " << static_cast<int>(layout) << " uplo "
                                              << static_cast<int>(uplo) << " hermitian " << hermitian);
            Held<T> held(layout, a), x(layout, b);
            for (std::int64_t i = 0; i < n; ++i) {  // never read
              for (std::int64_t j = 0; j < i; ++j) {
                (uplo == Uplo::Lower ? held.at(j, i) : held.at(i, j)) = T(std::numeric_limits<Real<T>>::quiet_NaN());
              }
            }
            const Ldl<T> ldl(kHost, uplo, held.view(), {symmetry});
            ASSERT_TRUE(ldl.report().outcome.ok());
            ASSERT_TRUE(ldl.solve(x.view()).outcome.ok());
            ASSERT_TRUE(x.surroundings_untouched());
            EXPECT_LT(ratio(minus(times(a, x.values()), b), norm1(a) * norm1(x.values()), n, eps<T>), kThreshold);
            const auto inverse = wide(ldl.inverse().view());
            EXPECT_LT(ratio(minus(times(a, inverse), identity<Wide<T>>(n)), norm1(a) * norm1(inverse), n, eps<T>),
                      kThreshold);
            std::vector<std::int64_t> pivots(static_cast<std::size_t>(n) + 1);
            const VectorView<std::int64_t> p(kHost, pivots.data(), n);
            ASSERT_TRUE(sytrf(kHost, uplo, held.view(), p, {symmetry}).outcome.ok());
            ASSERT_TRUE(held.surroundings_untouched());
            Held<T> y(layout, b);
            ASSERT_TRUE(sytrs<T>(kHost, uplo, held.view(), p, y.view(), {symmetry}).outcome.ok());
            EXPECT_LT(ratio(minus(times(a, y.values()), b), norm1(a) * norm1(y.values()), n, eps<T>), kThreshold);
            ASSERT_TRUE(sytri(kHost, uplo, held.view(), p, {symmetry}).outcome.ok());
            EXPECT_LT(ratio(minus(times(a, mirrored(held.values(), uplo, hermitian)), identity<Wide<T>>(n)),
                            norm1(a) * norm1(inverse), n, eps<T>),
                      kThreshold);
            if (n == 0) continue;
            const long double condition = norm1(a) * norm1(inverse);
            EXPECT_LE(ldl.condition(), 1.5L * condition + 1e-3L);
            EXPECT_GE(ldl.condition(), 0.1L * condition);
          }
        }
      }
    }
  });
}

TEST(Ldl, InertiaAndDeterminant) {
  // [[0, 1], [1, 0]] has eigenvalues 1 and -1 and no 1 x 1 pivot; beside it -3 and 2.
  Matrix<double> a =
      Matrix<double>::from_host(kHost, 4, 4, std::vector<double>{0, 1, 0, 0, 1, 0, 0, 0, 0, 0, -3, 0, 0, 0, 0, 2});
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
    const Ldl<double> ldl(kHost, uplo, a.view());
    EXPECT_EQ(ldl.inertia(), (Inertia{2, 2, 0}));
    EXPECT_EQ(ldl.determinant(), 6.0);  // -1 * -3 * 2
    EXPECT_EQ(ldl.log_determinant().sign, 1.0);
  }
  using Z = std::complex<double>;
  // Hermitian: [[0, i], [-i, 0]], determinant -1; symmetric: [[0, i], [i, 0]], determinant 1.
  Matrix<Z> h = Matrix<Z>::from_host(kHost, 2, 2, std::vector<Z>{Z(0), Z(0, 1), Z(0, -1), Z(0)});
  Matrix<Z> s = Matrix<Z>::from_host(kHost, 2, 2, std::vector<Z>{Z(0), Z(0, 1), Z(0, 1), Z(0)});
  EXPECT_EQ(Ldl<Z>(kHost, Uplo::Lower, h.view()).determinant(), Z(-1, 0));
  EXPECT_EQ(Ldl<Z>(kHost, Uplo::Lower, h.view()).inertia(), (Inertia{1, 1, 0}));
  EXPECT_EQ(Ldl<Z>(kHost, Uplo::Upper, s.view(), {Symmetry::Symmetric}).determinant(), Z(1, 0));
  Matrix<double> zero = Matrix<double>::from_host(kHost, 2, 2, std::vector<double>{1, 0, 0, 0});
  const Ldl<double> singular(kHost, Uplo::Lower, zero.view());
  EXPECT_EQ(singular.report().outcome, (Outcome{Status::Singular, 1}));
  EXPECT_EQ(singular.inertia(), (Inertia{1, 0, 1}));
  EXPECT_EQ(singular.determinant(), 0.0);
  Matrix<double> b = Matrix<double>::from_host(kHost, 2, 1, std::vector<double>{1, 1});
  EXPECT_EQ(singular.solve(b.view()).outcome, (Outcome{Status::Singular, 1}));
  EXPECT_TRUE(std::isnan(b.data()[0]));
}

TEST(Triangular, InverseSolveCondition) {
  for_scalars([]<class T>() {
    Random random(24);
    for (const std::int64_t n : {0, 1, 2, 33, 65, 128}) {
      auto a = random_matrix<T>(n, n, random);
      for (std::int64_t i = 0; i < n; ++i) a(i, i) = Wide<T>(static_cast<long double>(n));
      const auto b = random_matrix<T>(n, 3, random);
      for (const Layout layout : kLayouts) {
        if (n > 40 && layout != Layout::RowMajor && layout != Layout::PaddedColumns) continue;
        for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
          for (const Diag diag : {Diag::NonUnit, Diag::Unit}) {
            SCOPED_TRACE(::testing::Message() << "n " << n << " layout " << static_cast<int>(layout));
            auto scaled = a;
            if (diag == Diag::Unit) {  // well conditioned only with small elements
              for (auto& x : scaled.values) x = Wide<T>(T(x / static_cast<long double>(n)));
            }
            Held<T> held(layout, scaled);
            const T untouched(std::numeric_limits<Real<T>>::quiet_NaN());
            for (std::int64_t i = 0; i < n; ++i) {
              for (std::int64_t j = 0; j < i; ++j) (uplo == Uplo::Lower ? held.at(j, i) : held.at(i, j)) = untouched;
              if (diag == Diag::Unit) held.at(i, i) = untouched;
            }
            const auto exact = triangle(scaled, uplo, diag == Diag::Unit);
            for (const Op op : {Op::N, Op::T, Op::C}) {
              Held<T> x(layout, b);
              ASSERT_TRUE(trtrs<T>(kHost, uplo, op, diag, held.view(), x.view()).outcome.ok());
              const auto opa = op == Op::N ? exact : transposed(exact, op == Op::C);
              EXPECT_LT(ratio(minus(times(opa, x.values()), b), norm1(opa) * norm1(x.values()), n, eps<T>), kThreshold);
            }
            const Real<T> one = trcon(kHost, Norm::One, uplo, diag, held.view());
            const Real<T> infinity = trcon(kHost, Norm::Infinity, uplo, diag, held.view());
            ASSERT_TRUE(trtri(kHost, uplo, diag, held.view()).outcome.ok());
            ASSERT_TRUE(held.surroundings_untouched());
            const auto inverse = triangle(held.values(), uplo, diag == Diag::Unit);
            EXPECT_LT(
                ratio(minus(times(exact, inverse), identity<Wide<T>>(n)), norm1(exact) * norm1(inverse), n, eps<T>),
                kThreshold);
            if (n == 0) continue;
            const long double c1 = norm1(exact) * norm1(inverse);
            const long double ci = norm1(transposed(exact)) * norm1(transposed(inverse));
            EXPECT_LE(1 / one, 1.1L * c1);
            EXPECT_GE(1 / one, 0.1L * c1);
            EXPECT_LE(1 / infinity, 1.1L * ci);
            EXPECT_GE(1 / infinity, 0.1L * ci);
          }
        }
      }
    }
    Held<T> zero(Layout::RowMajor, identity<Wide<T>>(4)), b(Layout::RowMajor, identity<Wide<T>>(4));
    zero.at(2, 2) = T(0);
    EXPECT_EQ(trtri(kHost, Uplo::Lower, Diag::NonUnit, zero.view()).outcome, (Outcome{Status::Singular, 2}));
    EXPECT_EQ(trtrs<T>(kHost, Uplo::Lower, Op::N, Diag::NonUnit, zero.view(), b.view()).outcome,
              (Outcome{Status::Singular, 2}));
    EXPECT_EQ(largest(minus(b.values(), identity<Wide<T>>(4))), 0);  // untouched
    EXPECT_TRUE(trtrs<T>(kHost, Uplo::Lower, Op::N, Diag::Unit, zero.view(), b.view()).outcome.ok());
    zero.at(3, 1) = T(std::numeric_limits<Real<T>>::infinity());
    EXPECT_EQ(trtri(kHost, Uplo::Lower, Diag::NonUnit, zero.view()).outcome, (Outcome{Status::NotFinite, 13}));
  });
}

}  // namespace
}  // namespace trn::solver::testing
