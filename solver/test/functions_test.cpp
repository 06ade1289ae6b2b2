// Functions of matrices: identities and Taylor series in 113-bit arithmetic, known values, outcomes, a device.
#include <trn/solver/functions.hpp>

#include <trn/core/event.hpp>
#include <trn/solver/pivoted_qr.hpp>

#include "krylov_support.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();

Dense<Quad> product(const Dense<Quad>& a, const Dense<Quad>& b) {
  Dense<Quad> c(a.rows, b.columns);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = 0; k < a.columns; ++k) {
      for (std::int64_t j = 0; j < b.columns; ++j) c(i, j) += a(i, k) * b(k, j);
    }
  }
  return c;
}
long double distance(const Dense<Quad>& a, const Dense<Quad>& b) {
  Quad sum = 0;
  for (std::size_t i = 0; i < a.values.size(); ++i) sum += (a.values[i] - b.values[i]) * (a.values[i] - b.values[i]);
  return static_cast<long double>(square_root(sum));
}
long double size_of(const Dense<Quad>& a) { return distance(a, Dense<Quad>(a.rows, a.columns)); }
Dense<Quad> quad_identity(std::int64_t n) {
  Dense<Quad> one(n, n);
  for (std::int64_t i = 0; i < n; ++i) one(i, i) = 1;
  return one;
}
// e^A: 2^-s A with norm below 1/8, 40 terms, squared s times; 113 bits less s.
Dense<Quad> quad_expm(Dense<Quad> a) {
  int s = 0;
  for (long double size = size_of(a); size > 0.125L; size /= 2) ++s;
  for (auto& x : a.values) {
    for (int i = 0; i < s; ++i) x /= 2;
  }
  Dense<Quad> sum = quad_identity(a.rows), term = sum;
  for (int k = 1; k <= 40; ++k) {
    term = product(term, a);
    for (std::size_t i = 0; i < sum.values.size(); ++i) term.values[i] /= k, sum.values[i] += term.values[i];
  }
  for (int i = 0; i < s; ++i) sum = product(sum, sum);
  return sum;
}
template <class T, class F> std::pair<Report, Dense<Wide<T>>> call(F f, const Dense<Wide<T>>& a) {
  Held<T> ha(Layout::ColumnMajor, a), hx(Layout::RowMajor, Dense<Wide<T>>(a.columns, a.columns));
  const Report report = f(kHost, ha.view(), hx.view());
  EXPECT_TRUE(hx.surroundings_untouched());
  EXPECT_EQ(largest(minus(ha.values(), a)), 0);
  return {report, hx.values()};
}

TEST(Functions, ExponentialAgainstTaylorInQuad) {
  for_scalars([]<class T>() {
    Random random(401);
    for (const std::int64_t n : {1, 2, 9}) {
      for (const long double scale : {0.0L, 1e-3L, 0.5L, 4.0L, -20.0L}) {
        auto a = random_matrix<T>(n, n, random);
        for (auto& x : a.values) x *= scale;
        if (scale < -1) {  // large negative eigenvalues: a Taylor series without scaling would be lost
          a = random_positive<T>(n, random);
          for (auto& x : a.values) x *= -1;
        }
        a = rounded<T>(a);
        const auto [report, e] = call<T>(expm<T>, a);
        ASSERT_TRUE(report.outcome.ok());
        const Dense<Quad> exact = quad_expm(embedded(a));
        const long double error = distance(embedded(e), exact) / size_of(exact);
        EXPECT_LE(error, report.accuracy.bound) << n << " " << static_cast<double>(scale);
        if (scale > -1) {
          EXPECT_LE(error, 40 * static_cast<long double>(n) * eps<T>);
        }
      }
    }
  });
}

TEST(Functions, CircularFunctions) {
  for_scalars([]<class T>() {
    Random random(402);
    for (const std::int64_t n : {1, 6}) {
      const auto a = random_matrix<T>(n, n, random);
      const auto [cos_report, c] = call<T>(cosm<T>, a);
      const auto [sin_report, s] = call<T>(sinm<T>, a);
      ASSERT_TRUE(cos_report.outcome.ok() && sin_report.outcome.ok());
      // cos^2 + sin^2 = I, and cos A = (e^(iA) + e^(-iA)) / 2 through the real matrix [[0, -A], [A, 0]], whose
      // exponential is [[cos A, -sin A], [sin A, cos A]].
      const Dense<Quad> q = embedded(a);
      Dense<Quad> turn(2 * q.rows, 2 * q.rows);
      for (std::int64_t i = 0; i < q.rows; ++i) {
        for (std::int64_t j = 0; j < q.rows; ++j) turn(i, q.rows + j) = -q(i, j), turn(q.rows + i, j) = q(i, j);
      }
      const Dense<Quad> e = quad_expm(turn), qc = embedded(c), qs = embedded(s);
      long double worst = 0;
      for (std::int64_t i = 0; i < q.rows; ++i) {
        for (std::int64_t j = 0; j < q.rows; ++j) {
          worst = std::max({worst, static_cast<long double>(magnitude(e(i, j) - qc(i, j))),
                            static_cast<long double>(magnitude(e(q.rows + i, j) - qs(i, j)))});
        }
      }
      EXPECT_LE(worst, 40 * static_cast<long double>(n) * eps<T> * size_of(e));
    }
  });
}

// A matrix whose spectrum keeps away from the negative axis: its diagonal is dominant.
template <class T> Dense<Wide<T>> away_from_the_axis(std::int64_t n, Random& random) {
  auto a = random_matrix<T>(n, n, random);
  for (std::int64_t i = 0; i < n; ++i) a(i, i) += static_cast<long double>(2 * n);
  return rounded<T>(a);
}

TEST(Functions, SquareRootsAndLogarithms) {
  for_scalars([]<class T>() {
    Random random(403);
    for (const std::int64_t n : {1, 2, 10}) {
      const auto a = away_from_the_axis<T>(n, random);
      const Dense<Quad> exact = embedded(a);
      const auto [root_report, x] = call<T>(sqrtm<T>, a);
      ASSERT_TRUE(root_report.outcome.ok());
      const Dense<Quad> r = embedded(x);
      EXPECT_LE(distance(product(r, r), exact) / size_of(exact), 20 * static_cast<long double>(n) * eps<T>);
      const auto [log_report, l] = call<T>(logm<T>, a);
      ASSERT_TRUE(log_report.outcome.ok());
      const Dense<Quad> back = quad_expm(embedded(l));
      // e^(L + E) = A (1 + about ||E||)
      EXPECT_LE(distance(back, exact) / size_of(exact), 4 * log_report.accuracy.bound * size_of(embedded(l)));
      EXPECT_LE(log_report.accuracy.bound, 1000 * static_cast<long double>(n) * eps<T>);
    }
    // [[2, 1], [0, 2]]: root (sqrt 2, 1 / (2 sqrt 2)), logarithm (log 2, 1/2).
    Dense<Wide<T>> jordan(2, 2);
    jordan(0, 0) = jordan(1, 1) = 2, jordan(0, 1) = 1;
    const auto root = call<T>(sqrtm<T>, jordan).second, log = call<T>(logm<T>, jordan).second;
    EXPECT_NEAR(static_cast<double>(std::real(root(0, 1))), 0.3535533905932738, 4 * static_cast<double>(eps<T>));
    EXPECT_NEAR(static_cast<double>(std::real(log(0, 1))), 0.5, 16 * static_cast<double>(eps<T>));
    EXPECT_NEAR(static_cast<double>(std::real(log(0, 0))), 0.6931471805599453, 4 * static_cast<double>(eps<T>));
    // -1: no real root or logarithm; the complex ones are i and i pi. 0: neither.
    Dense<Wide<T>> minus_one(1, 1);
    minus_one(0, 0) = -1;
    const auto [report, i] = call<T>(sqrtm<T>, minus_one);
    if constexpr (is_complex<T>) {
      EXPECT_TRUE(report.outcome.ok());
      EXPECT_NEAR(static_cast<double>(std::abs(std::imag(i(0, 0)))), 1, 1e-6);
    } else {
      EXPECT_EQ(report.outcome, (Outcome{Status::NotDefined, 0}));
      EXPECT_TRUE(std::isnan(static_cast<double>(i(0, 0))));
      EXPECT_EQ(call<T>(logm<T>, minus_one).first.outcome, (Outcome{Status::NotDefined, 0}));
    }
    EXPECT_EQ(call<T>(logm<T>, Dense<Wide<T>>(1, 1)).first.outcome, (Outcome{Status::NotDefined, 0}));
  });
}

TEST(Functions, PolarAndSign) {
  for_scalars([]<class T>() {
    Random random(404);
    for (const auto& [m, n] : {std::pair{1, 1}, std::pair{7, 7}, std::pair{12, 5}, std::pair{4, 0}}) {
      const auto a = random_matrix<T>(m, n, random);
      Held<T> ha(Layout::RowMajor, a), hu(Layout::ColumnMajor, m, n), hh(Layout::RowMajor, n, n);
      ASSERT_TRUE(polar<T>(kHost, ha.view(), hu.view(), hh.view()).outcome.ok());
      if (n == 0) continue;
      const auto u = hu.values(), h = hh.values();
      EXPECT_LE(orthogonality(u, eps<T>), 10);
      EXPECT_LE(ratio(minus(times(u, h), a), norm1(a), n, eps<T>), 10);
      EXPECT_EQ(largest(minus(h, adjoint(h))), 0);
      EXPECT_GE(reference_eigenvalues(h).front(), -10 * static_cast<long double>(n) * eps<T>);
    }
    for (const std::int64_t n : {1, 8}) {
      // Planted: eigenvalues 1 .. 2 and -1 .. -2, so that sign(A) = A (A^2)^(-1/2); S^2 = I, S A = A S, trace S known.
      std::vector<long double> spectrum;
      for (std::int64_t i = 0; i < n; ++i) spectrum.push_back((i % 3 ? 1 : -1) * (1 + static_cast<long double>(i) / n));
      auto a = with_spectrum<T>(spectrum, random);
      if (n > 1) a(0, n - 1) += 0.05L;  // no longer Hermitian
      a = rounded<T>(a);
      const auto [report, s] = call<T>(signm<T>, a);
      ASSERT_TRUE(report.outcome.ok());
      EXPECT_LE(ratio(minus(times(s, s), identity<Wide<T>>(n)), 1, n, eps<T>), 30);
      EXPECT_LE(ratio(minus(times(s, a), times(a, s)), norm1(a), n, eps<T>), 30);
      long double trace = 0, expected = 0;
      for (std::int64_t i = 0; i < n; ++i) trace += std::real(s(i, i)), expected += i % 3 ? 1 : -1;
      EXPECT_NEAR(static_cast<double>(trace), static_cast<double>(expected), static_cast<double>(100 * eps<T>));
    }
    EXPECT_EQ(call<T>(signm<T>, Dense<Wide<T>>(3, 3)).first.outcome.status, Status::Singular);
  });
}

TEST(Functions, InverseSquareRoots) {
  for_scalars([]<class T>() {
    Random random(405);
    for (const std::int64_t n : {1, 2, 20}) {
      const auto a = with_spectrum<T>(geometric(n, 50), random);
      const auto check = [&](const Dense<Wide<T>>& x) {  // X A X = I
        EXPECT_LE(ratio(minus(times(x, times(a, x)), identity<Wide<T>>(n)), 50, n, eps<T>), 10);
        EXPECT_LE(largest(minus(x, adjoint(x))), 100 * eps<T>);
      };
      const auto [report, x] = call<T>(inv_sqrt_spd<T>, a);
      ASSERT_TRUE(report.outcome.ok());
      check(x);
      Held<T> ha(Layout::RowMajor, a), hx(Layout::RowMajor, n, n);
      const auto ns =
          inv_sqrt_spd_ns<T>(kHost, ha.view(), hx.view(), {.tolerance = 100.0 * static_cast<double>(eps<T>)});
      EXPECT_TRUE(ns.outcome.ok()) << ns.residual;
      EXPECT_LE(ns.iterations, 30);
      check(hx.values());
    }
    auto indefinite = with_spectrum<T>({-1, 2, 3}, random);
    EXPECT_EQ(call<T>(inv_sqrt_spd<T>, indefinite).first.outcome, (Outcome{Status::NotPositiveDefinite, 0}));
    Held<T> ha(Layout::RowMajor, indefinite), hx(Layout::RowMajor, 3, 3);
    EXPECT_EQ((inv_sqrt_spd_ns<T>(kHost, ha.view(), hx.view()).outcome.status), Status::NotConverged);
    EXPECT_EQ((call<T>(inv_sqrt_spd<T>, Dense<Wide<T>>(2, 2)).first.outcome),
              (Outcome{Status::NotPositiveDefinite, 1}));
  });
}

TEST(Functions, ExponentialTimesBlock) {
  for_scalars([]<class T>() {
    Random random(406);
    const std::int64_t n = 7;
    auto a = random_matrix<T>(n, n, random);
    for (std::int64_t i = 0; i < n; ++i) a(i, i) -= 3;
    a = rounded<T>(a);
    const auto b = random_matrix<T>(n, 3, random);
    Held<T> ha(Layout::RowMajor, a), hb(Layout::RowMajor, b), hf(Layout::ColumnMajor, n, 3);
    const DenseOperator<T> op(ha.view());
    for (const double t : {0.0, 0.25, 1.0, -0.5}) {
      for (const double norm : {0.0, 20.0}) {
        ASSERT_TRUE(expm_multiply<T>(op, hb.view(), hf.view(), {.t = t, .norm = norm}).outcome.ok());
        auto scaled = a;
        for (auto& x : scaled.values) x *= t;
        const Dense<Quad> e = quad_expm(embedded(scaled)), exact = product(e, embedded(b));
        EXPECT_LE(distance(embedded(hf.values()), exact), 200 * eps<T> * size_of(e) * size_of(embedded(b))) << t;
      }
    }
  });
}

TEST(Functions, BadInput) {
  for_scalars([]<class T>() {
    Dense<Wide<T>> a(3, 3);
    for (std::int64_t i = 0; i < 3; ++i) a(i, i) = static_cast<long double>(i + 1);
    Held<T> bad(Layout::RowMajor, a), x(Layout::RowMajor, 3, 3), oblong(Layout::RowMajor, 3, 2);
    bad.at(1, 2) = bad.at(2, 1) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    for (const auto f : {expm<T>, sqrtm<T>, logm<T>, cosm<T>, sinm<T>, signm<T>}) {
      EXPECT_EQ(f(kHost, bad.view(), x.view()).outcome, (Outcome{Status::NotFinite, 5}));
      EXPECT_TRUE(std::isnan(std::real(x.at(0, 0))));
      EXPECT_THROW(f(kHost, oblong.view(), x.view()), InvalidArgument);
      EXPECT_THROW(f(kHost, x.view(), x.view()), InvalidArgument);
      EXPECT_TRUE(f(kHost, x.view().block(0, 0, 0, 0), bad.view().block(0, 0, 0, 0)).outcome.ok());
    }
    EXPECT_EQ((inv_sqrt_spd<T>(kHost, bad.view(), x.view()).outcome), (Outcome{Status::NotFinite, 7}));
    EXPECT_EQ((inv_sqrt_spd_ns<T>(kHost, bad.view(), x.view()).outcome), (Outcome{Status::NotFinite, 5}));
    // e^1000 overflows in every type: an outcome.
    Held<T> large(Layout::RowMajor, 1, 1), y(Layout::RowMajor, 1, 1);
    large.at(0, 0) = T(1000);
    EXPECT_EQ((expm<T>(kHost, large.view(), y.view()).outcome.status), Status::NotFinite);
  });
}

template <class T> Dense<Wide<T>> one_by_one(double value) {
  Dense<Wide<T>> a(1, 1);
  a(0, 0) = static_cast<long double>(value);
  return a;
}

// Where u ||A|| >= 1 squaring leaves no digit: the values would be 0 or infinity by chance.
TEST(Functions, NormsThatLoseEveryDigit) {
  for_scalars([]<class T>() {
    for (const double decimal : {1e20, 1e25, 1e30, 1e37, 1e50, 1e100, 1e155, 1e200, 1e290, 1e308}) {
      if (decimal > static_cast<double>(std::numeric_limits<Real<T>>::max())) continue;
      const auto size = static_cast<double>(static_cast<Real<T>>(decimal));
      for (const auto f : {cosm<T>, sinm<T>}) {
        const auto [report, x] = call<T>(f, one_by_one<T>(size));
        EXPECT_EQ(report.outcome.status, Status::TargetMissed) << size;
        EXPECT_TRUE(std::isnan(static_cast<double>(std::real(x(0, 0))))) << size;
        EXPECT_EQ(report.accuracy.bound, std::numeric_limits<double>::infinity()) << size;
      }
      Dense<Wide<T>> turn(2, 2);  // a rotation by `size`
      turn(0, 1) = -static_cast<long double>(size), turn(1, 0) = static_cast<long double>(size);
      const auto [report, x] = call<T>(expm<T>, turn);
      EXPECT_EQ(report.outcome.status, Status::TargetMissed) << size;
      EXPECT_TRUE(std::isnan(static_cast<double>(std::real(x(0, 0))))) << size;
      // Real exponentials are known: e^size overflows, e^-size is 0.
      EXPECT_EQ((call<T>(expm<T>, one_by_one<T>(size)).first.outcome.status), Status::NotFinite) << size;
      const auto [under, zero] = call<T>(expm<T>, one_by_one<T>(-size));
      EXPECT_EQ(under.outcome.status, Status::TargetMissed) << size;
      EXPECT_EQ(static_cast<double>(std::real(zero(0, 0))), 0) << size;
    }
  });
}

// Ok only with a finite bound that holds, against 64-bit logarithms and cosines of 80-bit numbers.
TEST(Functions, BoundsOfLargeAndUnderflowingValues) {
  for_scalars([]<class T>() {
    const double limit = sizeof(Real<T>) == 4 ? 87 : 708;
    bool exact_digits = false, few_digits = false, none = false;
    for (double a = -limit - 60; a < limit; a += 1.0 / 3) {
      const auto in = rounded<T>(one_by_one<T>(a));
      const auto [report, x] = call<T>(expm<T>, in);
      const long double exact = std::exp(static_cast<long double>(std::real(in(0, 0))));
      const long double error = std::abs(static_cast<long double>(std::real(x(0, 0))) - exact);
      if (report.outcome.ok()) {
        ASSERT_TRUE(std::isfinite(report.accuracy.bound) && report.accuracy.bound < 1) << a;
        EXPECT_LE(error, report.accuracy.bound * static_cast<long double>(std::real(x(0, 0)))) << a;
        (report.accuracy.bound < 1e-3 ? exact_digits : few_digits) = true;
      } else {
        EXPECT_EQ(report.outcome.status, Status::TargetMissed) << a;
        EXPECT_LE(exact, static_cast<long double>(std::numeric_limits<Real<T>>::min())) << a;
        EXPECT_LE(error, static_cast<long double>(std::numeric_limits<Real<T>>::min())) << a;
        none = true;
      }
    }
    EXPECT_TRUE(exact_digits && few_digits && none);
    for (const double a : {0.0, 1e-30, 1e-9, 1e-3, 1.5, 3.25, 100.0, 12345.0}) {
      const auto in = rounded<T>(one_by_one<T>(a));
      const auto exact = static_cast<long double>(std::real(in(0, 0)));
      for (const bool sine : {false, true}) {
        const auto [report, x] = call<T>(sine ? sinm<T> : cosm<T>, in);
        ASSERT_TRUE(report.outcome.ok()) << a;
        ASSERT_TRUE(std::isfinite(report.accuracy.bound)) << a;
        const long double right = sine ? std::sin(exact) : std::cos(exact);
        EXPECT_LE(std::abs(static_cast<long double>(std::real(x(0, 0))) - right),
                  report.accuracy.bound * std::abs(static_cast<long double>(std::real(x(0, 0)))) +
                      2 * std::numeric_limits<long double>::epsilon() * std::abs(right))  // the reference's rounding
            << a << " " << sine;
      }
    }
  });
}

TEST(Functions, OnADevice) {
  const Executor device = Executor::open("sim:trn2");
  Random random(407);
  const std::int64_t n = 20;
  const auto a = with_spectrum<float>(geometric(n, 6), random);
  std::vector<float> values;
  for (const auto x : a.values) values.push_back(static_cast<float>(x));
  const Matrix<float> da = Matrix<float>::from_host(device, n, n, values), dx(device, n, n);
  const auto result = [&] {
    Dense<long double> x(n, n);
    const auto back = dx.to_host();
    for (std::size_t i = 0; i < back.size(); ++i) x.values[i] = back[i];
    return x;
  };
  const Recorder recorder(device);
  EXPECT_TRUE(inv_sqrt_spd_ns<float>(device, da.view(), dx.view(), {.tolerance = 1e-5}).outcome.ok());
  const auto x = result();
  EXPECT_LE(norm1(minus(times(x, times(a, x)), identity<long double>(n))), 1e-4);
  EXPECT_TRUE(expm<float>(device, da.view(), dx.view()).outcome.ok());
  const Dense<Quad> exact = quad_expm(embedded(a));
  EXPECT_LE(distance(embedded(result()), exact) / size_of(exact), 1e-5);
  for (const Event& event : recorder.events()) {
    if (event.kind == EventKind::Dispatch) {
      EXPECT_EQ(event.family, "device") << event.subject;
    }
  }
  EXPECT_GT(recorder.count(EventKind::Dispatch, "blas.gemm"), 20);
  EXPECT_THROW(sqrtm<float>(device, da.view(), dx.view()), NotImplemented);
  EXPECT_THROW(expm<float>(kHost, da.view(), dx.view()), InvalidArgument);
}

// A = U H, A^(-1/2), A^+ and bases from device decompositions: against the definitions in 80 bits.
template <class T> Matrix<T> there(const Executor& executor, const Dense<long double>& a) {
  std::vector<T> values;
  for (const auto x : a.values) values.push_back(static_cast<T>(x));
  return Matrix<T>::from_host(executor, a.rows, a.columns, values);
}
template <class T> Dense<long double> here(const Matrix<T>& a) { return wide(a.to(kHost).view()); }

// `limit`: of products that should be a unit matrix, or zero.
template <class T> void decompositions(const Executor& device, long double limit) {
  Random random(408);
  const std::int64_t m = 30, n = 20;
  const auto a = random_matrix<T>(m, n, random);
  const Matrix<T> da = there<T>(device, a), u(device, m, n), h(device, n, n), plus(device, n, m);
  Recorder recorder(device);
  ASSERT_TRUE(polar<T>(device, da.view(), u.view(), h.view()).outcome.ok());
  EXPECT_EQ(recorder.family_of("solver.polar"), "device");
  EXPECT_EQ(recorder.family_of("solver.svd"), "device");
  const auto hh = here(h);
  EXPECT_LT(orthogonality(here(u), eps<T>), kThreshold);
  EXPECT_LT(ratio(minus(times(here(u), hh), a), norm1(a), m, eps<T>), kThreshold);
  EXPECT_EQ(hh.values, transposed(hh).values);

  EXPECT_EQ(pinv<T>(device, da.view(), plus.view()).rank, n);
  EXPECT_LT(norm1(minus(times(here(plus), a), identity<long double>(n))), 10 * limit);
  auto deficient = a;  // rank 19: the last column is the first
  for (std::int64_t i = 0; i < m; ++i) deficient(i, n - 1) = deficient(i, 0);
  const Matrix<T> dd = there<T>(device, deficient);
  EXPECT_EQ(matrix_rank<T>(device, dd.view()).rank, n - 1);
  const auto null = null_space<T>(device, dd.view());
  ASSERT_EQ(null.vectors.columns(), 1);
  EXPECT_LT(norm1(times(deficient, here(null.vectors))), limit);
  EXPECT_EQ(range_basis<T>(device, dd.view()).vectors.columns(), n - 1);
  EXPECT_EQ(recorder.family_of("solver.pinv"), "device");
  EXPECT_EQ(recorder.family_of("blas.gemm"), "device");

  auto bad = a;
  bad(2, 3) = std::numeric_limits<long double>::quiet_NaN();
  EXPECT_EQ((polar<T>(device, there<T>(device, bad).view(), u.view(), h.view()).outcome),
            (Outcome{Status::NotFinite, 2 * n + 3}));
  EXPECT_TRUE(std::isnan(here(u)(0, 0)) && std::isnan(here(h)(0, 0)));
}

TEST(Functions, DecompositionsOnADevice) {
  const Executor device = Executor::open("sim:trn2");
  decompositions<float>(device, 1e-4L);
  decompositions<double>(device, 1e-12L);
  Random random(409);
  Recorder recorder(device);
  const auto roots = [&]<class T>(T, long double limit) {
    const auto p = random_positive<T>(12, random);
    const Matrix<T> dp = there<T>(device, p), x(device, 12, 12);
    ASSERT_TRUE(inv_sqrt_spd<T>(device, dp.view(), x.view()).outcome.ok());
    const auto root = here(x);
    EXPECT_LT(norm1(minus(times(root, times(p, root)), identity<long double>(12))), limit);
    auto indefinite = p;
    indefinite(3, 3) = -100;
    EXPECT_EQ((inv_sqrt_spd<T>(device, there<T>(device, indefinite).view(), x.view()).outcome.status),
              Status::NotPositiveDefinite);
    EXPECT_TRUE(std::isnan(here(x)(0, 0)));
  };
  roots(float{}, 1e-4L);
  roots(double{}, 1e-12L);
  EXPECT_EQ(recorder.family_of("solver.inv_sqrt_spd"), "device");

  using Z = std::complex<double>;
  const Matrix<Z> other(device, 3, 3), second(device, 3, 3), third(device, 3, 3);
  EXPECT_THROW(polar<Z>(device, other.view(), second.view(), third.view()), NotImplemented);
  EXPECT_THROW((void)matrix_rank<Z>(device, other.view()), NotImplemented);
}

TEST(Functions, ExponentialTimesBlockRefusesEndlessSteps) {
  const Executor host = Executor::host();
  const std::vector<double> a{-1}, b{1};
  std::vector<double> f(1);
  const auto call = [&](double t) {
    return expm_multiply<double>(DenseOperator<double>(MatrixView<const double>::row_major(host, a.data(), 1, 1)),
                                 MatrixView<const double>::row_major(host, b.data(), 1, 1),
                                 MatrixView<double>::row_major(host, f.data(), 1, 1), {.t = t});
  };
  EXPECT_TRUE(call(30).outcome.ok());
  EXPECT_THROW((void)call(1e15), InvalidArgument);
}

}  // namespace
}  // namespace trn::solver::testing
