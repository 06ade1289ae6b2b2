// Factorisations in double and complex types on simulated devices: residuals in 80-bit arithmetic against the bound of
// each report, LAPACK's factors, pivots and outcomes beside them, solves, least squares, and that every product was a
// device's.
#include <trn/solver/cholesky.hpp>
#include <trn/solver/least_squares.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/solve.hpp>
#include <trn/solver/triangular.hpp>

#include "device_support.hpp"

namespace trn::solver::testing::composed {
namespace {

const Executor kHost = Executor::host();

template <class F> void for_composed(F f) {
  f.template operator()<double>();
  f.template operator()<std::complex<float>>();
  f.template operator()<std::complex<double>>();
}
template <class T> const char* type_name() {
  return std::same_as<T, double> ? "d" : std::same_as<T, std::complex<float>> ? "c" : "z";
}
template <class T> constexpr Op kAdjoint = is_complex<T> ? Op::C : Op::T;
// Exact products state a rounding or two each, those in float32 an a-priori bound of some 70 eps; three levels of them.
template <class T> const long double kMostBound = (std::same_as<T, std::complex<float>> ? 400 : 60) * eps<T>;
template <class T> constexpr Mode kMode = std::same_as<Real<T>, double> ? Mode::Exact : Mode::Native;

// ||a(i, .)|| and ||b(., j)||.
template <class W> long double row_norm(const Dense<W>& a, std::int64_t i) {
  long double sum = 0;
  for (std::int64_t j = 0; j < a.columns; ++j) sum += std::norm(a(i, j));
  return std::sqrt(sum);
}
template <class W> long double column_norm(const Dense<W>& a, std::int64_t j) { return row_norm(transposed(a), j); }
// The largest |a - l r|(i, j) / (||l(i, .)|| ||r(., j)||).
template <class W> long double product_error(const Dense<W>& a, const Dense<W>& l, const Dense<W>& r) {
  const Dense<W> off = minus(a, times(l, r));
  long double most = 0;
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      const long double size = row_norm(l, i) * column_norm(r, j), e = std::abs(off(i, j));
      if (!(e <= most * size)) most = size > 0 ? e / size : INFINITY;
    }
  }
  return most;
}
void expect_products_on_the_device(const Recorder& recorder, bool large) {
  if (!large) return;
  EXPECT_EQ(recorder.family_of("blas.gemm"), "device");
  EXPECT_GT(recorder.count(EventKind::Run), 0);
}

template <class T> struct LuFactors {
  Dense<Wide<T>> factor, permuted;
  std::vector<std::int64_t> pivots;
  Report report;
};
template <class T> LuFactors<T> lu(const Executor& executor, const Dense<Wide<T>>& a, Layout layout) {
  Held<T> held(layout, a);
  OnDevice<T> device(executor, held);
  const std::int64_t k = std::min(a.rows, a.columns);
  const Array<std::int64_t> pivots(executor, {k});
  Recorder recorder(executor);
  const Report report = getrf(executor, device.view(), VectorView<std::int64_t>(pivots.view()));
  EXPECT_EQ(recorder.family_of("solver.getrf"), "device");
  if (report.outcome.status != Status::NotFinite) expect_products_on_the_device(recorder, k > 16);
  device.fetch();
  EXPECT_TRUE(held.surroundings_untouched());
  LuFactors<T> f{held.values(), a, pivots.to_host(), report};
  for (std::int64_t i = 0; i < k; ++i) {
    const std::int64_t p = f.pivots[static_cast<std::size_t>(i)];
    if (p < 0 || p >= a.rows) {
      ADD_FAILURE() << "pivot " << p;
      return f;
    }
    for (std::int64_t j = 0; j < a.columns; ++j) std::swap(f.permuted(i, j), f.permuted(p, j));
  }
  return f;
}

TEST(ComposedDevice, LuInEveryShapeAndLayout) {
  const Executor trn2 = neuron::open_simulator("trn2");
  for_composed([&]<class T>() {
    Random random(71);
    int turn = 0;
    for (const auto& [m, n] : {std::pair{1, 1}, {5, 3}, {3, 5}, {17, 16}, {40, 33}, {33, 50}, {70, 70}}) {
      const Layout layout = kLayouts[turn++ % 6];
      SCOPED_TRACE(::testing::Message() << type_name<T>() << m << " x " << n << " layout " << static_cast<int>(layout));
      const auto a = random_matrix<T>(m, n, random);
      const LuFactors<T> f = lu<T>(trn2, a, layout);
      ASSERT_TRUE(f.report.outcome.ok());
      EXPECT_EQ(f.report.accuracy.mode, kMode<T>);
      const std::int64_t k = std::min(m, n);
      Dense<Wide<T>> l(m, k), u(k, n);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < n; ++j) {
          if (j < i && j < k) {
            l(i, j) = f.factor(i, j);
            EXPECT_LE(std::abs(std::real(l(i, j))) + std::abs(std::imag(l(i, j))), 2);
          }
          if (j >= i && i < k) u(i, j) = f.factor(i, j);
        }
        if (i < k) l(i, i) = 1;
      }
      const long double error = product_error(f.permuted, l, u);
      EXPECT_LE(error, f.report.accuracy.bound);
      EXPECT_LE(f.report.accuracy.bound, kMostBound<T>);
      // LAPACK's pivots: no two candidates of a random matrix are as close as roundings.
      Held<T> held(Layout::ColumnMajor, a);
      std::vector<std::int64_t> pivots(static_cast<std::size_t>(k));
      (void)getrf(kHost, held.view(), VectorView<std::int64_t>(kHost, pivots.data(), k));
      EXPECT_EQ(f.pivots, pivots);
    }
  });
}

TEST(ComposedDevice, SolvesInversesAndConditionsByLu) {
  const Executor trn2 = neuron::open_simulator("trn2");
  for_composed([&]<class T>() {
    SCOPED_TRACE(type_name<T>());
    Random random(72);
    const std::int64_t n = 37;
    const auto a = random_matrix<T>(n, n, random);
    Held<T> held(Layout::PaddedColumns, a);
    OnDevice<T> device(trn2, held);
    const Lu<T> factored(trn2, device.view());
    ASSERT_TRUE(factored.report().outcome.ok());
    for (const Op op : {Op::N, Op::T, Op::C}) {
      const auto exact = random_matrix<T>(n, 3, random);
      const auto op_a = op == Op::N ? a : op == Op::T ? transposed(a) : adjoint(a);
      Held<T> b(Layout::Scattered, rounded<T>(times(op_a, exact)));
      const auto given = b.values();
      OnDevice<T> db(trn2, b);
      const Report report = factored.solve(db.view(), op);
      EXPECT_TRUE(report.outcome.ok());
      db.fetch();
      EXPECT_TRUE(b.surroundings_untouched());
      const auto x = b.values();
      EXPECT_LT(norm1(minus(given, times(op_a, x))) / (norm1(op_a) * norm1(x) * n * eps<T>), 1);
    }
    const auto inverse = fetched(factored.inverse());
    const Lu<T> here(kHost, held.view());
    EXPECT_LT(norm1(minus(times(inverse, a), identity<Wide<T>>(n))) / (norm1(a) * norm1(inverse) * n * eps<T>), 1);
    for (const Norm norm : {Norm::One, Norm::Infinity}) {
      const double expected = here.condition(norm), found = factored.condition(norm);
      EXPECT_LT(found, 2 * expected);
      EXPECT_GT(found, expected / 4);
    }
    const T d = factored.determinant(), e = here.determinant();
    EXPECT_LE(std::abs(d - e), 100 * static_cast<Real<T>>(n) * eps<T> * std::abs(e));
  });
}

TEST(ComposedDevice, OutcomesOfLu) {
  const Executor trn2 = neuron::open_simulator("trn2"), trn1 = neuron::open_simulator("trn1");
  for_composed([&]<class T>() {
    SCOPED_TRACE(type_name<T>());
    Random random(73);
    auto a = random_matrix<T>(20, 20, random);
    for (std::int64_t i = 0; i < 20; ++i) a(i, 18) = 0;
    EXPECT_EQ(lu<T>(trn2, a, Layout::RowMajor).report.outcome, (Outcome{Status::Singular, 18}));
    a(4, 3) = NAN;
    const LuFactors<T> f = lu<T>(trn2, a, Layout::ColumnMajor);
    EXPECT_EQ(f.report.outcome, (Outcome{Status::NotFinite, 83}));
    EXPECT_TRUE(std::isnan(std::real(f.factor(0, 0))));
    EXPECT_EQ(f.pivots, std::vector<std::int64_t>(20));
    const Matrix<T> d(trn1, 4, 4), empty(trn2, 0, 3);
    const Array<std::int64_t> p(trn1, {4}), none(trn2, {0});
    EXPECT_THROW((void)getrf(trn1, d.view(), VectorView<std::int64_t>(p.view())), NotImplemented);
    EXPECT_TRUE(getrf(trn2, empty.view(), VectorView<std::int64_t>(none.view())).outcome.ok());
  });
}

TEST(ComposedDevice, CholeskyAndWhatItSolves) {
  const Executor trn1 = neuron::open_simulator("trn1");
  for_composed([&]<class T>() {
    Random random(74);
    int turn = 0;
    for (const std::int64_t n : {1, 15, 17, 50}) {
      for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
        const Layout layout = kLayouts[turn++ % 6];
        SCOPED_TRACE(::testing::Message() << type_name<T>() << n << " uplo " << static_cast<int>(uplo) << " layout "
                                          << static_cast<int>(layout));
        const auto a = random_positive<T>(n, random);
        Held<T> held(layout, a);
        const auto outside = [&](std::int64_t i, std::int64_t j) { return uplo == Uplo::Lower ? j > i : j < i; };
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; j < n; ++j) {
            if (outside(i, j)) held.at(i, j) = std::numeric_limits<Real<T>>::quiet_NaN();
          }
        }
        OnDevice<T> device(trn1, held);
        Recorder recorder(trn1);
        const Report report = potrf(trn1, uplo, device.view());
        ASSERT_TRUE(report.outcome.ok());
        EXPECT_EQ(recorder.family_of("solver.potrf"), "device");
        expect_products_on_the_device(recorder, n > 32);
        device.fetch();
        EXPECT_TRUE(held.surroundings_untouched());
        const auto f = triangle(held.values(), uplo), left = uplo == Uplo::Lower ? f : adjoint(f);
        for (std::int64_t i = 0; i < n; ++i) {
          EXPECT_EQ(std::imag(f(i, i)), 0);
          for (std::int64_t j = 0; j < n; ++j) {
            if (outside(i, j)) {
              EXPECT_TRUE(std::isnan(std::real(held.at(i, j))));
            }
          }
        }
        EXPECT_LE(product_error(a, left, adjoint(left)), report.accuracy.bound);
        EXPECT_LE(report.accuracy.bound, kMostBound<T>);
        Held<T> b(Layout::PaddedRows, random_matrix<T>(n, 2, random));
        const auto given = b.values();
        OnDevice<T> db(trn1, b);
        EXPECT_TRUE(potrs<T>(trn1, uplo, device.view(), db.view()).outcome.ok());
        db.fetch();
        EXPECT_LT(norm1(minus(given, times(a, b.values()))),
                  (norm1(a) * norm1(b.values())) * static_cast<long double>(n + 2) * eps<T>);
        EXPECT_TRUE(potri(trn1, uplo, device.view()).outcome.ok());
        device.fetch();
        const auto inverse = mirrored(triangle(held.values(), uplo), uplo);
        EXPECT_LT(norm1(minus(times(inverse, a), identity<Wide<T>>(n))),
                  norm1(a) * norm1(inverse) * static_cast<long double>(n + 2) * eps<T>);
      }
    }
    auto bad = random_positive<T>(40, random);
    bad(33, 33) = -1;
    Held<T> held(Layout::RowMajor, bad), same(Layout::RowMajor, bad);
    OnDevice<T> device(trn1, held);
    EXPECT_EQ(potrf(trn1, Uplo::Lower, device.view()).outcome, (Outcome{Status::NotPositiveDefinite, 33}));
    same.at(12, 5) = std::numeric_limits<Real<T>>::infinity();
    OnDevice<T> infinite(trn1, same);
    EXPECT_EQ(potrf(trn1, Uplo::Lower, infinite.view()).outcome, (Outcome{Status::NotFinite, 12 * 40 + 5}));
    Held<T> well(Layout::ColumnMajor, random_positive<T>(20, random));
    OnDevice<T> dw(trn1, well);
    const Cholesky<T> c(trn1, Uplo::Upper, dw.view());
    EXPECT_GT(c.condition(), 1);
    EXPECT_LT(c.condition(), 10);
  });
}

// LAPACK's reflections: V, R and tau are the host's up to roundings.
TEST(ComposedDevice, QrIsLapacks) {
  const Executor trn1 = neuron::open_simulator("trn1");
  for_composed([&]<class T>() {
    Random random(75);
    int turn = 0;
    for (const auto& [m, n] : {std::pair{1, 1}, {20, 3}, {3, 20}, {40, 40}, {50, 19}, {150, 140}}) {
      if (m == 150 && !std::same_as<T, double>) continue;  // two panels
      const Layout layout = kLayouts[turn++ % 6];
      SCOPED_TRACE(::testing::Message() << type_name<T>() << m << " x " << n << " layout " << static_cast<int>(layout));
      const std::int64_t k = std::min(m, n);
      const auto a = random_matrix<T>(m, n, random);
      Held<T> held(layout, a), same(Layout::ColumnMajor, a);
      OnDevice<T> device(trn1, held);
      const Array<T> tau(trn1, {k});
      Recorder recorder(trn1);
      const Report report = geqrf(trn1, device.view(), VectorView<T>(tau.view()));
      ASSERT_TRUE(report.outcome.ok());
      EXPECT_EQ(recorder.family_of("solver.geqrf"), "device");
      expect_products_on_the_device(recorder, n > 16);
      device.fetch();
      EXPECT_TRUE(held.surroundings_untouched());
      std::vector<T> expected(static_cast<std::size_t>(k));
      (void)geqrf(kHost, same.view(), VectorView<T>(kHost, expected.data(), k));
      const std::vector<T> found = tau.to_host();
      const long double near = 40 * static_cast<long double>(m) * eps<T>;  // condition of the leading columns included
      if (m != n && m < 100) {
        EXPECT_LT(norm1(minus(held.values(), same.values())), near * 20 * norm1(a));
        for (std::size_t i = 0; i < found.size(); ++i) EXPECT_LT(std::abs(found[i] - expected[i]), 20 * near);
      }
      // A = Q R with Q multiplied out, both ways.
      Dense<Wide<T>> r = triangle(held.values(), Uplo::Upper), start = identity<Wide<T>>(m);
      Held<T> q(Layout::PaddedColumns, start);
      OnDevice<T> dq(trn1, q);
      const VectorView<const T> t(VectorView<T>(tau.view()));
      EXPECT_TRUE(ormqr<T>(trn1, Side::Left, Op::N, device.view(), t, dq.view()).outcome.ok());
      dq.fetch();
      const auto full = q.values();
      EXPECT_LT(orthogonality(full, eps<T>), kThreshold);
      EXPECT_LT(ratio(minus(times(full, r), a), norm1(a), m, eps<T>), kThreshold);
      EXPECT_TRUE(ormqr<T>(trn1, Side::Right, kAdjoint<T>, device.view(), t, dq.view()).outcome.ok());
      dq.fetch();
      EXPECT_LT(ratio(minus(q.values(), start), 1, m, eps<T>), kThreshold);  // Q Q^H
      const std::int64_t columns = std::min(m, n);
      Held<T> thin(Layout::Scattered, m, columns);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) thin.at(i, j) = held.at(i, j);
      }
      OnDevice<T> dt(trn1, thin);
      EXPECT_TRUE(orgqr<T>(trn1, dt.view(), t).outcome.ok());
      dt.fetch();
      Dense<Wide<T>> first(m, columns);
      for (std::int64_t i = 0; i < m; ++i) {
        for (std::int64_t j = 0; j < columns; ++j) first(i, j) = full(i, j);
      }
      EXPECT_LT(ratio(minus(thin.values(), first), 1, m, eps<T>), kThreshold);
    }
  });
}

template <class T> Dense<Wide<T>> integers(std::int64_t m, std::int64_t n, Random& random) {
  Dense<Wide<T>> a(m, n);
  for (auto& x : a.values) {
    const auto re = static_cast<long double>(random.below(15) - 7), im = static_cast<long double>(random.below(9) - 4);
    if constexpr (is_complex<T>) {
      x = {re, im};
    } else {
      x = re, (void)im;
    }
  }
  return a;
}

template <class T> void least_squares(const Executor& executor) {
  SCOPED_TRACE(::testing::Message() << sizeof(T) << is_complex<T>);
  Random random(76);
  std::vector<LeastSquaresMethod> methods{LeastSquaresMethod::Qr};
  if (!is_complex<T>) methods.push_back(LeastSquaresMethod::Svd);
  for (const LeastSquaresMethod method : methods) {
    for (const auto& [m, n] : {std::pair{30, 7}, {21, 21}, {9, 25}}) {
      SCOPED_TRACE(::testing::Message() << m << " x " << n << " method " << static_cast<int>(method));
      const auto a = random_matrix<T>(m, n, random), b = random_matrix<T>(m, 2, random);
      Held<T> ha(Layout::PaddedRows, a), hb(Layout::ColumnMajor, b), hx(Layout::Scattered, n, 2),
          expected(Layout::RowMajor, n, 2);
      OnDevice<T> da(executor, ha), db(executor, hb), dx(executor, hx);
      Recorder recorder(executor);
      const auto report = lstsq<T>(executor, da.view(), db.view(), dx.view(), {.method = method});
      ASSERT_TRUE(report.outcome.ok());
      EXPECT_EQ(recorder.family_of("solver.lstsq"), "device");
      EXPECT_EQ(report.rank, std::min(m, n));
      dx.fetch(), da.fetch(), db.fetch();
      EXPECT_TRUE(hx.surroundings_untouched());
      EXPECT_EQ(largest(minus(ha.values(), a)), 0);
      // A^H (b - A x) = 0 and, where there are many solutions, x in the range of A^H: both to roundings.
      const auto x = hx.values(), rest = minus(b, times(a, x));
      const long double size = norm1(a) * (norm1(a) * norm1(x) + norm1(b));
      EXPECT_LT(norm1(times(adjoint(a), rest)), static_cast<long double>(m + n) * eps<T> * size);
      ASSERT_TRUE((lstsq<T>(kHost, ha.view(), hb.view(), expected.view(), {.method = method}).outcome.ok()));
      EXPECT_LT(norm1(minus(x, expected.values())), 2000 * eps<T> * static_cast<long double>(m + n) * norm1(x));
    }
  }
  // Rank one by the singular values, a zero column by QR.
  Dense<Wide<T>> one(20, 4), b = random_matrix<T>(20, 1, random);
  for (std::int64_t i = 0; i < 20; ++i) {
    for (std::int64_t j = 0; j < 4; ++j) one(i, j) = static_cast<long double>((i + 1) * (j + 1));
  }
  Held<T> ha(Layout::RowMajor, one), hb(Layout::RowMajor, b), hx(Layout::RowMajor, 4, 1);
  if constexpr (!is_complex<T>) {
    OnDevice<T> da(executor, ha), db(executor, hb), dx(executor, hx);
    const auto report = lstsq<T>(executor, da.view(), db.view(), dx.view());
    EXPECT_TRUE(report.outcome.ok());
    EXPECT_EQ(report.rank, 1);
    EXPECT_EQ(report.singular_values.size(), 4u);
    dx.fetch();
    for (std::int64_t j = 1; j < 4; ++j) {  // multiples of (1, 2, 3, 4)
      EXPECT_NEAR(hx.at(j, 0), static_cast<double>(j + 1) * static_cast<double>(hx.at(0, 0)),
                  static_cast<double>(200 * eps<T> * std::abs(hx.at(0, 0))));
    }
  }
  for (std::int64_t i = 0; i < 20; ++i)
    ha.at(i, 2) = 0, ha.at(i, 1) = T(static_cast<Real<T>>(i * i)), ha.at(i, 3) = T(static_cast<Real<T>>(i % 3));
  OnDevice<T> da(executor, ha), db(executor, hb), dx(executor, hx);
  const auto singular = lstsq<T>(executor, da.view(), db.view(), dx.view(), {.method = LeastSquaresMethod::Qr});
  EXPECT_EQ(singular.outcome.status, Status::Singular);
  EXPECT_EQ(singular.outcome.index, 2);
  dx.fetch();
  EXPECT_TRUE(std::isnan(std::real(hx.at(0, 0))));
}
TEST(ComposedDevice, LeastSquares) {
  const Executor trn2 = neuron::open_simulator("trn2");
  least_squares<float>(trn2);
  for_composed([&]<class T>() { least_squares<T>(trn2); });
}

// Gaussian integers with known solutions, by every factorisation; proofs; a matrix that is singular.
template <class T> void systems(const Executor& executor) {
  SCOPED_TRACE(type_name<T>());
  Random random(77);
  for (const std::int64_t n : {1, 25}) {
    auto a = integers<T>(n, n, random);
    for (std::int64_t i = 0; i < n; ++i) a(i, i) += static_cast<long double>(8 * n);
    auto positive = mirrored(a, Uplo::Lower);
    for (std::int64_t i = 0; i < n; ++i) positive(i, i) = static_cast<long double>(16 * n);
    const auto x = integers<T>(n, 2, random);
    const auto check = [&](const Dense<Wide<T>>& matrix, const SolveOptions& options, std::string_view algorithm) {
      Held<T> held(Layout::RowMajor, matrix), b(Layout::ColumnMajor, times(matrix, x));
      OnDevice<T> da(executor, held), db(executor, b);
      Recorder recorder(executor);
      const Report report = solve<T>(executor, da.view(), db.view(), options);
      db.fetch();
      EXPECT_TRUE(report.outcome.ok()) << algorithm;
      EXPECT_EQ(report.algorithm, algorithm);
      if (n > 16) {
        EXPECT_GT(recorder.count(EventKind::Run), 0);
      }
      const long double error = largest(minus(b.values(), x)) / largest(x);
      EXPECT_LE(error, eps<T>) << algorithm;
      EXPECT_LE(error, report.accuracy.bound) << algorithm;
    };
    const bool exact = kMode<T> == Mode::Exact;
    const std::string_view by_lu =
        exact ? "recursive lu, partial pivoting, exact products" : "recursive lu, partial pivoting";
    check(a, {.factor = Factor::Lu}, by_lu);
    check(a, {.factor = Factor::Lu, .target_error = 1e-6}, by_lu);
    check(positive, {.structure = Structure::Positive},
          exact ? "blocked cholesky, exact products" : "recursive cholesky");
    if constexpr (is_complex<T>) {
      const std::string_view by_qr = exact ? "blocked qr, exact products" : "blocked qr, householder";
      check(a, {}, by_qr);
      check(positive, {.structure = Structure::Hermitian}, by_qr);
      check(a, {.certify = Certify::Rigorous}, by_qr);
    }
  }
  Dense<Wide<T>> ones(20, 20);
  for (auto& v : ones.values) v = 1;
  Held<T> held(Layout::RowMajor, ones), b(Layout::RowMajor, ones);
  OnDevice<T> da(executor, held), db(executor, b);
  EXPECT_EQ(solve<T>(executor, da.view(), db.view()).outcome.status, Status::Singular);
  OnDevice<T> again(executor, b);  // B was made NaN
  EXPECT_EQ(solve<T>(executor, da.view(), again.view(), {.factor = Factor::Lu}).outcome.status, Status::Singular);
}
TEST(ComposedDevice, Systems) {
  const Executor trn2 = neuron::open_simulator("trn2");
  for_composed([&]<class T>() { systems<T>(trn2); });
}

}  // namespace
}  // namespace trn::solver::testing::composed
