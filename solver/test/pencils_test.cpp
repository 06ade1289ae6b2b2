// Pairs of general matrices, conditions of eigenvalues, vectors of Schur forms: residuals in 80-bit arithmetic, known
// eigenvalues and conditions, infinite eigenvalues, every type and layout, bad input.
#include <trn/solver/batched.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/pencils.hpp>

#include <trn/core/error.hpp>

#include "solver_support.hpp"

namespace trn::solver::testing::pencils {
namespace {

const Executor kHost = Executor::host();
template <class T> using C = ComplexOf<T>;
using W = std::complex<long double>;

template <class T> Dense<W> complex_of(const Dense<T>& a) {
  Dense<W> c(a.rows, a.columns);
  for (std::size_t i = 0; i < a.values.size(); ++i) c.values[i] = W(a.values[i]);
  return c;
}
template <class E> VectorView<E> view(std::vector<E>& x) {
  return {kHost, x.data(), static_cast<std::int64_t>(x.size())};
}
template <class V> void expect_unit_columns(const Dense<V>& v, long double unit) {
  for (std::int64_t j = 0; j < v.columns; ++j) {
    long double sum = 0;
    for (std::int64_t i = 0; i < v.rows; ++i) sum += std::norm(v(i, j));
    EXPECT_NEAR(static_cast<double>(std::sqrt(sum)), 1, static_cast<double>(4 * unit));
  }
}
// Columns multiplied by numbers.
Dense<W> scaled(Dense<W> v, const std::vector<W>& factors) {
  for (std::int64_t i = 0; i < v.rows; ++i) {
    for (std::int64_t j = 0; j < v.columns; ++j) v(i, j) *= factors[static_cast<std::size_t>(j)];
  }
  return v;
}

template <class T> struct Pencil {
  std::vector<C<T>> alpha;
  std::vector<Real<T>> beta;
  [[nodiscard]] std::vector<W> a() const { return {alpha.begin(), alpha.end()}; }
  [[nodiscard]] std::vector<W> b() const { return {beta.begin(), beta.end()}; }
  explicit Pencil(std::int64_t n) : alpha(static_cast<std::size_t>(n)), beta(static_cast<std::size_t>(n)) {}
};

// A X diag(beta) = B X diag(alpha) and the same from the left, relative to both norms and the larger of the pair.
template <class T> void check_vectors(const Dense<W>& a, const Dense<W>& b, const Pencil<T>& p, const Dense<W>& right,
                                      const Dense<W>& left) {
  const std::int64_t n = a.rows;
  const auto r = minus(scaled(times(a, right), p.b()), scaled(times(b, right), p.a()));
  std::vector<W> alpha = p.a();
  for (W& x : alpha) x = std::conj(x);
  const auto l = minus(scaled(times(adjoint(a), left), p.b()), scaled(times(adjoint(b), left), alpha));
  for (std::int64_t j = 0; j < n; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const long double size = std::abs(p.a()[at]) * norm1(b) + static_cast<long double>(p.beta[at]) * norm1(a);
    long double right_rest = 0, left_rest = 0;
    for (std::int64_t i = 0; i < n; ++i) right_rest += std::abs(r(i, j)), left_rest += std::abs(l(i, j));
    EXPECT_LE(right_rest, kThreshold * static_cast<long double>(n) * eps<T> * size);
    EXPECT_LE(left_rest, kThreshold * static_cast<long double>(n) * eps<T> * size);
  }
}

TEST(Pencils, VectorsAndSchurForms) {
  for_scalars([]<class T>() {
    Random random(81);
    int turn = 0;
    for (const std::int64_t n : {1, 2, 3, 17, 40}) {
      for (int kind = 0; kind < 3; ++kind) {
        SCOPED_TRACE(::testing::Message() << n << " kind " << kind);
        auto a = random_matrix<T>(n, n, random), b = random_matrix<T>(n, n, random);
        if (kind == 1) {  // B singular: an infinite eigenvalue
          for (std::int64_t i = 0; i < n; ++i) b(i, n - 1) = 0;
        } else if (kind == 2) {
          b = identity<Wide<T>>(n);
        }
        Held<T> ha(kLayouts[turn++ % 6], a), hb(kLayouts[turn++ % 6], b);
        Held<C<T>> right(kLayouts[turn++ % 6], n, n), left(kLayouts[turn % 6], n, n);
        Pencil<T> p(n), values(n), form(n);
        const Report report =
            eig_generalized(kHost, ha.view(), hb.view(), view(p.alpha), view(p.beta), {right.view(), left.view()});
        ASSERT_TRUE(report.outcome.ok());
        EXPECT_EQ(report.algorithm, "qz iteration");
        EXPECT_TRUE(right.surroundings_untouched() && left.surroundings_untouched());
        EXPECT_EQ(largest(minus(ha.values(), a)), 0);
        EXPECT_EQ(largest(minus(hb.values(), b)), 0);
        const auto ac = complex_of(a), bc = complex_of(b);
        check_vectors<T>(ac, bc, p, right.values(), left.values());
        expect_unit_columns(right.values(), eps<T>);
        expect_unit_columns(left.values(), eps<T>);
        int infinite = 0;
        for (std::int64_t j = 0; j < n; ++j) {
          const auto at = static_cast<std::size_t>(j);
          EXPECT_GE(p.beta[at], 0);
          const long double size = norm1(a) + norm1(b);
          infinite += static_cast<long double>(p.beta[at]) <= 100 * eps<T> * size;
          if (!is_complex<T> && p.alpha[at].imag() > 0) {
            // A pair: quotients are conjugates.
            const W x = W(p.alpha[at]) / static_cast<long double>(p.beta[at]),
                    y = W(p.alpha[at + 1]) / static_cast<long double>(p.beta[at + 1]);
            EXPECT_LE(std::abs(x - std::conj(y)), 100 * eps<T> * std::abs(x));
          }
        }
        EXPECT_EQ(infinite, kind == 1 ? 1 : 0);
        if (n > 3) continue;
        (void)eig_generalized(kHost, ha.view(), hb.view(), view(values.alpha), view(values.beta));
        for (std::size_t j = 0; j < values.alpha.size(); ++j) {
          const W cross = W(values.alpha[j]) * static_cast<long double>(p.beta[j]) -
                          W(p.alpha[j]) * static_cast<long double>(values.beta[j]);
          EXPECT_LE(std::abs(cross), 1000 * eps<T> * (norm1(a) + 1) * (norm1(b) + 1));
        }
      }
      const auto a = random_matrix<T>(n, n, random), b = random_matrix<T>(n, n, random);
      Held<T> s(kLayouts[turn++ % 6], a), t(kLayouts[turn++ % 6], b), q(kLayouts[turn++ % 6], n, n),
          z(kLayouts[turn % 6], n, n);
      Pencil<T> p(n);
      ASSERT_TRUE(schur_generalized<T>(kHost, s.view(), t.view(), view(p.alpha), view(p.beta), {q.view(), z.view()})
                      .outcome.ok());
      EXPECT_TRUE(s.surroundings_untouched() && t.surroundings_untouched() && q.surroundings_untouched() &&
                  z.surroundings_untouched());
      const auto qv = q.values(), zv = z.values(), sv = s.values(), tv = t.values();
      EXPECT_LT(orthogonality(qv, eps<T>), kThreshold);
      EXPECT_LT(orthogonality(zv, eps<T>), kThreshold);
      EXPECT_LT(ratio(minus(times(times(qv, sv), adjoint(zv)), a), norm1(a), n, eps<T>), kThreshold);
      EXPECT_LT(ratio(minus(times(times(qv, tv), adjoint(zv)), b), norm1(b), n, eps<T>), kThreshold);
      for (std::int64_t i = 0; i < n; ++i) {
        EXPECT_GE(std::real(tv(i, i)), 0);
        for (std::int64_t j = 0; j < i; ++j) {
          EXPECT_EQ(tv(i, j), Wide<T>(0));
          if (is_complex<T> || j < i - 1) {
            EXPECT_EQ(sv(i, j), Wide<T>(0));
          }
        }
        const bool block = (i + 1 < n && sv(i + 1, i) != Wide<T>(0)) || (i > 0 && sv(i, i - 1) != Wide<T>(0));
        if (block) continue;
        const auto at = static_cast<std::size_t>(i);
        EXPECT_LE(std::abs(W(p.alpha[at]) - W(sv(i, i))), 4 * eps<T> * std::abs(W(sv(i, i))));
        EXPECT_LE(std::abs(static_cast<long double>(p.beta[at]) - std::real(tv(i, i))),
                  4 * eps<T> * std::real(tv(i, i)));
      }
    }
  });
}

// D1 and D2 diagonal: the pairs are their elements; and the same in random bases, where quotients stay.
TEST(Pencils, KnownPairs) {
  for_scalars([]<class T>() {
    const std::int64_t n = 6;
    Dense<Wide<T>> a(n, n), b(n, n);
    for (std::int64_t i = 0; i < n; ++i) a(i, i) = static_cast<long double>(i + 1), b(i, i) = i == 4 ? 0 : 1;
    Held<T> ha(Layout::RowMajor, a), hb(Layout::ColumnMajor, b);
    Pencil<T> p(n);
    ASSERT_TRUE(eig_generalized(kHost, ha.view(), hb.view(), view(p.alpha), view(p.beta)).outcome.ok());
    std::vector<double> finite;
    for (std::size_t j = 0; j < 6; ++j) {
      if (p.beta[j] == 0) {
        EXPECT_NE(p.alpha[j], C<T>(0));
        continue;
      }
      EXPECT_EQ(p.alpha[j].imag(), 0);
      finite.push_back(static_cast<double>(p.alpha[j].real()) / static_cast<double>(p.beta[j]));
    }
    std::sort(finite.begin(), finite.end());
    ASSERT_EQ(finite.size(), 5u);
    const double expected[] = {1, 2, 3, 4, 6};
    for (std::size_t j = 0; j < 5; ++j) EXPECT_NEAR(finite[j], expected[j], 20 * static_cast<double>(eps<T>));
  });
}

// [[1, c], [0, 2]]: |y^H x| = 1 / sqrt(1 + c^2) for both, and one eigenvalue is 1 away from the other.
TEST(Pencils, ConditionsOfEigenvalues) {
  for_scalars([]<class T>() {
    for (const double c : {0.0, 0.75, 1000.0}) {
      Dense<Wide<T>> a(2, 2);
      a(0, 0) = 1, a(0, 1) = static_cast<long double>(c), a(1, 1) = 2;
      Held<T> held(Layout::PaddedRows, a);
      Held<C<T>> right(Layout::Scattered, 2, 2), left(Layout::PaddedColumns, 2, 2);
      std::vector<C<T>> w(2);
      std::vector<Real<T>> values(2), vectors(2);
      const auto report = eig_conditions(kHost, held.view(), view(w), right.view(), left.view(),
                                         {view(values), view(vectors)}, Balance::None);
      ASSERT_TRUE(report.outcome.ok());
      EXPECT_EQ(report.first, 0);
      EXPECT_EQ(report.last, 1);
      EXPECT_EQ(report.norm, 2 + c);  // the largest column sum, of numbers that float holds
      for (std::size_t j = 0; j < 2; ++j) {
        EXPECT_NEAR(static_cast<double>(values[j]), 1 / std::sqrt(1 + c * c), 40 * static_cast<double>(eps<T>));
        EXPECT_NEAR(static_cast<double>(vectors[j]), 1, 2000 * static_cast<double>(eps<T>));
      }
    }
    // Random matrices: vectors and values as eig()'s, conditions from the vectors themselves.
    Random random(82);
    for (const std::int64_t n : {1, 5, 30}) {
      for (const Balance balance : {Balance::None, Balance::Permute, Balance::Scale, Balance::Both}) {
        auto a = random_matrix<T>(n, n, random);
        for (std::int64_t i = 0; i < n; ++i) a(i, 0) *= 1024;  // for Scale
        Held<T> held(Layout::Reversed, a);
        Held<C<T>> right(Layout::RowMajor, n, n), left(Layout::ColumnMajor, n, n);
        std::vector<C<T>> w(static_cast<std::size_t>(n));
        std::vector<Real<T>> values(w.size()), vectors(w.size());
        const auto report = eig_conditions(kHost, held.view(), view(w), right.view(), left.view(),
                                           {view(values), view(vectors)}, balance);
        ASSERT_TRUE(report.outcome.ok());
        EXPECT_EQ(largest(minus(held.values(), a)), 0);
        const auto ac = complex_of(a);
        const std::vector<W> wide(w.begin(), w.end());
        EXPECT_LT(ratio(minus(times(ac, right.values()), scaled(right.values(), wide)), norm1(a), n, eps<T>),
                  kThreshold);
        const auto product = times(adjoint(left.values()), right.values());
        for (std::int64_t j = 0; j < n; ++j) {
          const auto at = static_cast<std::size_t>(j);
          EXPECT_GT(vectors[at], 0);
          if (balance != Balance::None && balance != Balance::Permute) continue;  // of the scaled matrix
          EXPECT_NEAR(static_cast<double>(values[at]), static_cast<double>(std::abs(product(j, j))),
                      static_cast<double>(100 * eps<T>));
        }
      }
    }
    // One row that exchanges isolate.
    Dense<Wide<T>> a = random_matrix<T>(4, 4, random);
    for (std::int64_t j = 0; j < 3; ++j) a(3, j) = 0;
    Held<T> held(Layout::RowMajor, a);
    Held<C<T>> right(Layout::RowMajor, 4, 4), left(Layout::RowMajor, 4, 4);
    std::vector<C<T>> w(4);
    std::vector<Real<T>> values(4), vectors(4);
    const auto report =
        eig_conditions(kHost, held.view(), view(w), right.view(), left.view(), {view(values), view(vectors)});
    EXPECT_EQ(report.first, 0);
    EXPECT_EQ(report.last, 2);
  });
}

TEST(Pencils, VectorsOfSchurForms) {
  for_scalars([]<class T>() {
    Random random(83);
    int turn = 0;
    for (const std::int64_t n : {1, 2, 20}) {
      SCOPED_TRACE(n);
      const auto a = random_matrix<T>(n, n, random);
      Held<T> t(kLayouts[turn++ % 6], a), z(kLayouts[turn++ % 6], n, n);
      Held<C<T>> right(kLayouts[turn++ % 6], n, n), left(kLayouts[turn % 6], n, n);
      std::vector<C<T>> w(static_cast<std::size_t>(n));
      ASSERT_TRUE(schur<T>(kHost, t.view(), view(w), z.view()).outcome.ok());
      const auto triangle = t.values();
      for (std::int64_t i = 0; i < n; ++i) {  // what is not read
        for (std::int64_t j = 0; j + (is_complex<T> ? 0 : 1) < i; ++j)
          t.at(i, j) = T(std::numeric_limits<Real<T>>::quiet_NaN());
      }
      const std::vector<W> wide(w.begin(), w.end());
      std::vector<W> turned = wide;
      for (W& x : turned) x = std::conj(x);
      for (const bool back : {false, true}) {
        std::optional<MatrixView<const T>> basis;
        if (back) basis = z.view();
        const Report report = schur_vectors<T>(kHost, t.view(), {right.view(), left.view()}, basis);
        ASSERT_TRUE(report.outcome.ok());
        EXPECT_TRUE(right.surroundings_untouched() && left.surroundings_untouched());
        const auto of = complex_of(back ? a : triangle);
        const auto x = right.values(), y = left.values();
        expect_unit_columns(x, eps<T>);
        expect_unit_columns(y, eps<T>);
        EXPECT_LT(ratio(minus(times(of, x), scaled(x, wide)), norm1(of), n, eps<T>), kThreshold);
        EXPECT_LT(ratio(minus(times(adjoint(of), y), scaled(y, turned)), norm1(of), n, eps<T>), kThreshold);
      }
    }
  });
}

// trevc takes diagonals below safe minimum * n / eps for that; scaled, tiny triangles have vectors like all others.
TEST(SchurVectors, OfTinyTriangles) {
  for_scalars([]<class T>() {
    Random random(86);
    for (const std::int64_t n : {1, 2, 7}) {
      SCOPED_TRACE(n);
      Held<T> t(Layout::ColumnMajor, random_matrix<T>(n, n, random));
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) t.at(i, j) *= std::numeric_limits<Real<T>>::min() * Real<T>(1e5);
      }
      Held<C<T>> right(Layout::ColumnMajor, n, n), left(Layout::RowMajor, n, n);
      std::vector<C<T>> w(static_cast<std::size_t>(n));
      ASSERT_TRUE(schur<T>(kHost, t.view(), view(w)).outcome.ok());
      ASSERT_TRUE(schur_vectors<T>(kHost, t.view(), {right.view(), left.view()}).outcome.ok());
      const std::vector<W> wide(w.begin(), w.end());
      std::vector<W> turned = wide;
      for (W& x : turned) x = std::conj(x);
      const auto of = complex_of(t.values());
      const auto x = right.values(), y = left.values();
      expect_unit_columns(x, eps<T>);
      expect_unit_columns(y, eps<T>);
      EXPECT_LT(ratio(minus(times(of, x), scaled(x, wide)), norm1(of), n, eps<T>), kThreshold);
      EXPECT_LT(ratio(minus(times(adjoint(of), y), scaled(y, turned)), norm1(of), n, eps<T>), kThreshold);
    }
  });
}

// 1 / pivot is infinite where the pivot is subnormal. Either that is NotFinite, with NaN and pivots of 0, or A is L U.
TEST(Lu, SubnormalPivots) {
  for_scalars([]<class T>() {
    constexpr auto kTiny = std::numeric_limits<Real<T>>::denorm_min();
    for (const bool batched : {false, true}) {
      std::vector<T> a = {T(2 * kTiny), T(4 * kTiny), T(2 * kTiny), T(6 * kTiny)};  // (2 2; 4 6) by columns
      std::vector<std::int64_t> pivots = {7, 7};
      const Outcome outcome = batched ? getrf_batched(kHost, Batch<T>::strided({.m = 2, .n = 2}, a.data(), 4, 1),
                                                      MatrixView<std::int64_t>(kHost, pivots.data(), 1, 2, 2, 1))[0]
                                      : getrf(kHost, MatrixView<T>(kHost, a.data(), 2, 2, 1, 2), view(pivots)).outcome;
      if (outcome.ok()) {
        EXPECT_EQ(pivots, (std::vector<std::int64_t>{1, 1}));
        EXPECT_EQ(a[0], T(4 * kTiny));
        EXPECT_EQ(a[1], T(Real<T>(0.5)));
        EXPECT_EQ(a[2], T(6 * kTiny));
      } else {
        EXPECT_EQ(outcome.status, Status::NotFinite);
        EXPECT_EQ(pivots, (std::vector<std::int64_t>{0, 0}));
        for (const T& x : a) EXPECT_TRUE(std::isnan(std::real(x)));
      }
    }
  });
}

TEST(Pencils, OutcomesAndRefusals) {
  using T = double;
  Random random(84);
  Held<T> a(Layout::RowMajor, random_matrix<T>(3, 3, random)), b(Layout::RowMajor, random_matrix<T>(3, 3, random)),
      q(Layout::RowMajor, 3, 3), wrong(Layout::RowMajor, 3, 2);
  Held<C<T>> v(Layout::RowMajor, 3, 3), u(Layout::RowMajor, 3, 3);
  Pencil<T> p(3), small(2);
  std::vector<T> conditions(3), more(3);
  b.at(1, 2) = std::numeric_limits<T>::infinity();
  EXPECT_EQ(eig_generalized(kHost, a.view(), b.view(), view(p.alpha), view(p.beta), {v.view(), {}}).outcome,
            (Outcome{Status::NotFinite, 5}));
  EXPECT_TRUE(std::isnan(p.alpha[0].real()) && std::isnan(p.beta[2]) && std::isnan(v.at(1, 1).real()));
  EXPECT_EQ(a.values().values.size(), 9u);
  EXPECT_EQ((schur_generalized<T>(kHost, a.view(), b.view(), view(p.alpha), view(p.beta), {q.view(), {}}).outcome),
            (Outcome{Status::NotFinite, 5}));
  EXPECT_TRUE(std::isnan(a.at(0, 0)) && std::isnan(b.at(2, 2)) && std::isnan(q.at(0, 1)));
  EXPECT_EQ(eig_conditions(kHost, a.view(), view(p.alpha), v.view(), u.view(), {view(conditions), view(more)}).outcome,
            (Outcome{Status::NotFinite, 0}));
  EXPECT_TRUE(std::isnan(conditions[1]) && std::isnan(more[0]) && std::isnan(u.at(2, 0).real()));
  EXPECT_EQ((schur_vectors<T>(kHost, a.view(), {v.view(), {}}).outcome), (Outcome{Status::NotFinite, 0}));
  const MatrixView<T> none(kHost, nullptr, 0, 0, 1, 1);
  EXPECT_TRUE(eig_generalized(kHost, none, none, VectorView<C<T>>(kHost, nullptr, 0), VectorView<T>(kHost, nullptr, 0))
                  .outcome.ok());
  const auto message = [](auto call) -> std::string {
    try {
      call();
    } catch (const InvalidArgument& e) {
      return e.what();
    }
    return "";
  };
  const auto in = [](const char* part, const std::string& whole) {
    EXPECT_NE(whole.find(part), std::string::npos) << whole;
  };
  in("solver.eig_generalized: B is 3 x 2",
     message([&] { (void)eig_generalized(kHost, a.view(), wrong.view(), view(p.alpha), view(p.beta)); }));
  in("solver.eig_generalized: alpha has 2 elements; it must have 3",
     message([&] { (void)eig_generalized(kHost, a.view(), b.view(), view(small.alpha), view(p.beta)); }));
  in("solver.schur_generalized: Q shares memory with A", message([&] {
       (void)schur_generalized<T>(kHost, a.view(), b.view(), view(p.alpha), view(p.beta), {a.view(), {}});
     }));
  in("solver.eig_conditions: Balance is 4", message([&] {
       (void)eig_conditions(kHost, a.view(), view(p.alpha), v.view(), u.view(), {view(conditions), view(more)},
                            static_cast<Balance>(4));
     }));
  in("shares memory", message([&] {
       (void)eig_conditions(kHost, a.view(), view(p.alpha), v.view(), u.view(), {view(conditions), view(conditions)});
     }));
  in("solver.schur_vectors: Z is 3 x 2; it must be 3 x 3", message([&] {
       (void)schur_vectors<T>(kHost, a.view(), {v.view(), {}}, MatrixView<const T>(wrong.view()));
     }));
}

}  // namespace
}  // namespace trn::solver::testing::pencils
