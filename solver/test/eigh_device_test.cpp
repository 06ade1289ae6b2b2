// Symmetric eigenproblems on simulated devices: LAPACK's ratios in 80-bit arithmetic on spectra that are hard for
// spectral divide and conquer, ranges, proofs, outcomes, orders of execution, and the polynomials' own properties.
#include <trn/solver/eigh.hpp>

#include <numbers>

#include "device/sign_schedule.hpp"
#include "device_support.hpp"

namespace trn::solver::testing::eigh_device {
namespace {

using Wd = Dense<long double>;

struct Solved {
  Wd v;
  std::vector<float> w;
  EighReport report;
};

Solved run(const Executor& executor, const Wd& a, const EighOptions& options = {}, Layout layout = Layout::RowMajor) {
  const std::int64_t n = a.rows;
  Held<float> held(layout, a);
  for (std::int64_t i = 0; i < n; ++i) {  // never read
    for (std::int64_t j = 0; j < i; ++j) {
      (options.uplo == Uplo::Lower ? held.at(j, i) : held.at(i, j)) = std::numeric_limits<float>::quiet_NaN();
    }
  }
  OnDevice<float> device(executor, held);
  const Array<float> w(executor, {n});
  Recorder recorder(executor);
  const EighReport report = eigh(executor, device.view(), VectorView<float>(w.view()), options);
  EXPECT_EQ(recorder.family_of("solver.eigh"), "device");
  EXPECT_EQ(report.algorithm, "spectral divide and conquer");
  if (n > 16 && norm1(a) > 0 && report.iterations > 0) {  // the work was the device's
    EXPECT_GE(recorder.count(EventKind::Run, "solver_sign"), 1);
    EXPECT_GE(recorder.count(EventKind::Run, "solver_split"), 1);
    EXPECT_GE(recorder.count(EventKind::Run, "blas_gemm"), 3);
  }
  for (const char* operation : {"blas.gemm", "blas.syrk", "blas.syrkx", "blas.trsm"}) {
    EXPECT_NE(recorder.family_of(operation), "host");
  }
  device.fetch();
  EXPECT_TRUE(held.surroundings_untouched());
  return {held.values(), w.to_host(), report};
}

Wd scaled(Wd v, const std::vector<float>& w) {
  for (std::int64_t i = 0; i < v.rows; ++i) {
    for (std::int64_t j = 0; j < v.columns; ++j) v(i, j) *= w[static_cast<std::size_t>(j)];
  }
  return v;
}

Solved check(const Executor& executor, const Wd& a, const EighOptions& options = {}, Layout layout = Layout::RowMajor) {
  SCOPED_TRACE(::testing::Message() << executor.name() << " n = " << a.rows << " layout " << static_cast<int>(layout));
  Solved s = run(executor, a, options, layout);
  EXPECT_TRUE(s.report.outcome.ok());
  EXPECT_EQ(s.report.found, a.rows);
  EXPECT_TRUE(std::is_sorted(s.w.begin(), s.w.end()));
  EXPECT_LT(orthogonality(s.v, eps<float>), 1);
  const Wd residual = minus(times(scaled(s.v, s.w), transposed(s.v)), a);
  EXPECT_LT(ratio(residual, norm1(a), a.rows, eps<float>), 1);
  return s;
}

// Q diag(d) Q^T with a random orthogonal Q, rounded to float.
Wd with_spectrum(const std::vector<long double>& d, Random& random) {
  const auto n = static_cast<std::int64_t>(d.size());
  Wd q = random_matrix<float>(n, n, random);
  for (std::int64_t j = 0; j < n; ++j) {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t k = 0; k < j; ++k) {
        long double dot = 0;
        for (std::int64_t i = 0; i < n; ++i) dot += q(j, i) * q(k, i);
        for (std::int64_t i = 0; i < n; ++i) q(j, i) -= dot * q(k, i);
      }
    }
    long double norm = 0;
    for (std::int64_t i = 0; i < n; ++i) norm += q(j, i) * q(j, i);
    for (std::int64_t i = 0; i < n; ++i) q(j, i) /= std::sqrt(norm);
  }
  Wd scaled_rows = q;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) scaled_rows(i, j) *= d[static_cast<std::size_t>(i)];
  }
  return mirrored(rounded<float>(times(transposed(q), scaled_rows)), Uplo::Lower);
}
template <class F> std::vector<long double> numbers(std::int64_t n, F f) {
  std::vector<long double> d;
  for (std::int64_t i = 0; i < n; ++i) d.push_back(static_cast<long double>(f(i)));
  return d;
}

TEST(EighDevice, Spectra) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(1);
  check(trn2, random_hermitian<float>(140, random), {.uplo = Uplo::Upper}, Layout::ColumnMajor);
  const auto geometric = [](std::int64_t i) { return std::pow(1e-8L, static_cast<long double>(i) / 49); };
  check(trn2, with_spectrum(numbers(50, geometric), random), {}, Layout::PaddedRows);
  check(trn2, with_spectrum(numbers(60, [&](std::int64_t i) { return (i < 30 ? 1 : -1) + 1e-6 * random.uniform(); }),
                            random));
  check(trn2, with_spectrum(numbers(40, [&](std::int64_t) { return 1 + 1e-6 * random.uniform(); }), random));
  check(trn2,
        with_spectrum(numbers(40, [](std::int64_t i) { return i < 5 ? 1.0 + static_cast<double>(i) : 0.0; }), random),
        {.uplo = Uplo::Upper}, Layout::Scattered);
  check(trn2, hilbert<float>(48));
}

// Eigenvalues at the shift, to the last bit: rows of A - sigma I that are zero and stay so under every polynomial.
TEST(EighDevice, ExactStructure) {
  const Executor trn2 = neuron::open_simulator("trn2");
  const std::int64_t n = 42;
  Wd wilkinson(n, n), ones(n, n), diagonal(n, n), glued(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) ones(i, j) = 1;
    wilkinson(i, i) = std::abs(static_cast<long double>(2 * i - n + 1)) / 2;
    glued(i, i) = std::abs(i % 21 - 10);
    diagonal(i, i) = i / 7;
    if (i == 0) continue;
    wilkinson(i, i - 1) = wilkinson(i - 1, i) = 1;
    glued(i, i - 1) = glued(i - 1, i) = static_cast<float>(i % 21 == 0 ? 1e-4 : 1);
  }
  diagonal(1, 0) = diagonal(0, 1) = 1;
  check(trn2, wilkinson);
  check(trn2, glued);
  const Solved s = check(trn2, diagonal);
  EXPECT_EQ(s.w.front(), -1);
  Wd equal(n, n);  // all eigenvalues but two at the only element of the diagonal
  for (std::int64_t i = 0; i < n; ++i) equal(i, i) = 3;
  equal(20, 4) = equal(4, 20) = 1;
  check(trn2, equal);
  check(trn2, ones);
  check(trn2, identity<long double>(n));
  const Solved zero = check(trn2, Wd(n, n));
  for (const float w : zero.w) EXPECT_EQ(w, 0);
  EXPECT_EQ(check(trn2, Wd(n, n), {.certify = Certify::Rigorous}).report.accuracy.bound, 0);
}

TEST(EighDevice, SmallOrdersMachinesAndScales) {
  Random random(2);
  for (const char* machine : {"trn1", "trn2", "trn3"}) {
    const Executor executor = neuron::open_simulator(machine);
    check(executor, random_hermitian<float>(20, random));
  }
  const Executor trn2 = neuron::open_simulator("trn2");
  for (const std::int64_t n : {1, 2, 16, 17}) {
    for (const Layout layout : {Layout::Reversed, Layout::PaddedColumns}) {
      check(trn2, random_hermitian<float>(n, random), {}, layout);
    }
  }
  // Unscaled squares would underflow and overflow.
  for (const long double factor : {1e-36L, 1e-20L, 1e30L}) {
    Wd a = random_hermitian<float>(24, random);
    for (auto& x : a.values) x *= factor;
    check(trn2, rounded<float>(a));
  }
  const Matrix<float> empty(trn2, 0, 0);
  const Array<float> none(trn2, {0});
  EXPECT_TRUE(eigh(trn2, empty.view(), VectorView<float>(none.view())).outcome.ok());
}

TEST(EighDevice, RangesAndValuesAlone) {
  const Executor trn2 = neuron::open_simulator("trn2");
  const std::int64_t n = 50;
  Wd a(n, n);
  std::vector<long double> exact;
  for (std::int64_t i = 0; i < n; ++i) {
    a(i, i) = 2;
    if (i > 0) a(i, i - 1) = a(i - 1, i) = -1;
    exact.push_back(2 - 2 * std::cos(std::numbers::pi_v<long double> * static_cast<long double>(i + 1) / (n + 1)));
  }
  const Solved all = check(trn2, a);
  for (std::int64_t i = 0; i < n; ++i) {
    EXPECT_NEAR(all.w[static_cast<std::size_t>(i)], exact[static_cast<std::size_t>(i)], all.report.accuracy.bound * 4);
    EXPECT_NEAR(all.w[static_cast<std::size_t>(i)], exact[static_cast<std::size_t>(i)], 8 * eps<float>);
  }
  for (const auto& [range, first, last] :
       {std::tuple{Range::indices(7, 12), 7, 12}, std::tuple{Range::indices(3, 3), 3, 3},
        std::tuple{Range::values(1.0, 2.0), 17, 25}, std::tuple{Range::values(5.0, 6.0), 0, 0},
        std::tuple{Range::values(3.5, 100.0), 39, 50}}) {
    const Solved some = run(trn2, a, {.range = range});
    ASSERT_TRUE(some.report.outcome.ok());
    ASSERT_EQ(some.report.found, last - first);
    EXPECT_LE(some.report.iterations, all.report.iterations - (last - first < 8 ? 9 : 0));  // halves left alone
    for (std::int64_t i = 0; i < some.report.found; ++i) {
      EXPECT_NEAR(some.w[static_cast<std::size_t>(i)], exact[static_cast<std::size_t>(first + i)], 8 * eps<float>);
    }
    EXPECT_TRUE(some.report.found == n || std::isnan(some.w[static_cast<std::size_t>(some.report.found)]));
    Wd v(n, some.report.found);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < v.columns; ++j) v(i, j) = some.v(i, j);
      if (v.columns < n) {
        EXPECT_TRUE(std::isnan(some.v(i, v.columns)));
      }
    }
    if (v.columns == 0) continue;
    EXPECT_LT(orthogonality(v, eps<float>), 1);
    EXPECT_LT(ratio(minus(times(a, v), scaled(v, some.w)), norm1(a), n, eps<float>), 1);
  }
  Held<float> held(Layout::RowMajor, a);
  OnDevice<float> device(trn2, held);
  const Array<float> w(trn2, {n});
  EXPECT_TRUE(eigh(trn2, device.view(), VectorView<float>(w.view()), {.vectors = Vectors::No}).outcome.ok());
  device.fetch();
  EXPECT_EQ(largest(minus(held.values(), a)), 0);
  EXPECT_EQ(w.to_host(), all.w);
}

// Residuals count in units of ||A||_2, also where every eigenvalue of the range is small beside it.
TEST(EighDevice, RangesOfSmallEigenvalues) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(5);
  const auto small = [&](const Wd& a, const Range& range, std::int64_t count) {
    SCOPED_TRACE(::testing::Message() << "n = " << a.rows << ", " << count << " eigenvalues");
    const Solved all = check(trn2, a), some = run(trn2, a, {.range = range});
    ASSERT_TRUE(some.report.outcome.ok());
    ASSERT_EQ(some.report.found, count);
    EXPECT_LE(some.report.accuracy.bound, 2 * all.report.accuracy.bound);
    const long double norm = std::max(std::abs(all.w.front()), std::abs(all.w.back()));
    for (std::int64_t i = 0; i < count; ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_LE(std::abs(some.w[at] - all.w[at]), (all.report.accuracy.bound + some.report.accuracy.bound) * norm);
    }
  };
  for (const std::int64_t n : {20, 33}) {
    Wd ones(n, n), complete(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) ones(i, j) = 1, complete(i, j) = i == j ? n - 1 : -1;
    }
    small(ones, Range::indices(0, n - 1), n - 1);
    small(ones, Range::values(-0.5, 0.5), n - 1);
    small(complete, Range::indices(0, 1), 1);
  }
  for (const double size : {1e-2, 1e-4, 0.0}) {
    const auto halves = [&](std::int64_t i) { return i < 20 ? size * (1 + 0.01 * static_cast<double>(i)) : 1; };
    small(with_spectrum(numbers(40, halves), random), Range::indices(0, 20), 20);
  }
}

TEST(EighDevice, BeyondTheRangeOfNumbers) {
  const Executor trn2 = neuron::open_simulator("trn2");
  for (const std::int64_t n : {3, 20}) {
    Wd large(n, n), tiny(n, n);
    for (auto& x : large.values) x = 3e38F;
    const Solved over = run(trn2, large);
    EXPECT_EQ(over.report.outcome, (Outcome{Status::NotFinite, n - 1}));
    EXPECT_EQ(over.report.found, 0);
    EXPECT_TRUE(std::isinf(over.report.accuracy.bound));
    for (const float x : over.w) EXPECT_TRUE(std::isnan(x));
    for (const long double x : over.v.values) EXPECT_TRUE(std::isnan(x));
    // Eigenvalues 2 and 2 +- sqrt(2) times the smallest number.
    for (std::int64_t i = 0; i < n; ++i) tiny(i, i) = 0x1p-148L;
    tiny(1, 0) = tiny(0, 1) = 0x1p-149L;
    tiny(2, 1) = tiny(1, 2) = 0x1p-149L;
    const Solved under = run(trn2, tiny);
    ASSERT_TRUE(under.report.outcome.ok());
    const long double root = std::sqrt(2.0L), norm = (2 + root) * 0x1p-149L;
    EXPECT_LE(std::abs(under.w.front() - (2 - root) * 0x1p-149L), under.report.accuracy.bound * norm);
    EXPECT_LE(std::abs(under.w.back() - norm), under.report.accuracy.bound * norm);
  }
  const std::vector<double> large(9, 1.5e308);
  const Matrix<double> there = Matrix<double>::from_host(trn2, 3, 3, large);
  const Array<double> w(trn2, {3});
  EXPECT_EQ(eigh(trn2, there.view(), VectorView<double>(w.view())).outcome, (Outcome{Status::NotFinite, 2}));
  EXPECT_TRUE(std::isnan(w.to_host()[0]) && std::isnan(there.to_host()[0]));
}

TEST(EighDevice, ProofsOutcomesAndOrder) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(3);
  // Q = I - 2 v v^T / (v^T v) with whole numbers gives spectra that are known; Kahan's bounds must hold them.
  const std::int64_t n = 30;
  Wd a(n, n);
  std::vector<long double> exact;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (std::int64_t k = 0; k < n; ++k) {  // v of ones but for a zero: v^T v = 16 with 16 ones
        const auto q = [](std::int64_t r, std::int64_t c) {
          return (r == c ? 1.0L : 0.0L) - (r < 16 && c < 16 ? 2.0L / 16 : 0.0L);
        };
        a(i, j) += q(i, k) * static_cast<long double>(k % 11 - 5) * q(j, k);
      }
    }
    exact.push_back(static_cast<long double>(i % 11 - 5));
  }
  std::sort(exact.begin(), exact.end());
  const Solved proved = check(trn2, a, {.certify = Certify::Rigorous});
  EXPECT_EQ(proved.report.guarantee, Guarantee::Rigorous);
  ASSERT_EQ(proved.report.error_bounds.size(), exact.size());
  for (std::size_t i = 0; i < exact.size(); ++i) {
    EXPECT_LE(std::abs(static_cast<long double>(proved.w[i]) - exact[i]), proved.report.error_bounds[i]);
  }
  EXPECT_LT(proved.report.accuracy.bound, 20 * static_cast<double>(eps<float>));

  Wd bad = random_hermitian<float>(20, random);
  bad(7, 3) = std::numeric_limits<float>::infinity();
  for (const Certify certify : {Certify::Estimate, Certify::Rigorous}) {
    const Solved s = run(trn2, bad, {.certify = certify});
    EXPECT_EQ(s.report.outcome, (Outcome{Status::NotFinite, 7 * 20 + 3}));
    for (const float x : s.w) EXPECT_TRUE(std::isnan(x));
    for (const long double x : s.v.values) EXPECT_TRUE(std::isnan(x));
  }
  const Wd b = random_hermitian<float>(40, random);
  const auto bits = [&](const neuron::Order& order) {
    return run(neuron::open_simulator("trn2", {.order = order}), b).v.values;
  };
  EXPECT_EQ(bits(neuron::Order::in_order()), bits(neuron::Order::shuffled(5)));
}

// Double: the same problems to double's precision, clusters as narrow as that.
struct SolvedDouble {
  Wd v;
  std::vector<double> w;
  EighReport report;
};
SolvedDouble check_double(const Executor& executor, const Wd& a, const EighOptions& options = {}) {
  const std::int64_t n = a.rows;
  SCOPED_TRACE(::testing::Message() << "n = " << n);
  Held<double> held(Layout::PaddedColumns, a);
  for (std::int64_t i = 0; i < n; ++i) {  // never read
    for (std::int64_t j = 0; j < i; ++j) held.at(j, i) = std::numeric_limits<double>::quiet_NaN();
  }
  OnDevice<double> device(executor, held);
  const Array<double> w(executor, {n});
  Recorder recorder(executor);
  const EighReport report = eigh(executor, device.view(), VectorView<double>(w.view()), options);
  EXPECT_EQ(recorder.family_of("solver.eigh"), "device");
  EXPECT_EQ(recorder.family_of("blas.gemm"), "device");
  EXPECT_EQ(report.algorithm, "spectral divide and conquer, refined");
  EXPECT_TRUE(report.outcome.ok());
  device.fetch();
  EXPECT_TRUE(held.surroundings_untouched());
  SolvedDouble s{held.values(), w.to_host(), report};
  EXPECT_TRUE(std::is_sorted(s.w.begin(), s.w.end()));
  EXPECT_LT(orthogonality(s.v, eps<double>), 1);
  Wd scaled_v = s.v;
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) scaled_v(i, j) *= s.w[static_cast<std::size_t>(j)];
  }
  EXPECT_LT(ratio(minus(times(scaled_v, transposed(s.v)), a), norm1(a), n, eps<double>), 1);
  return s;
}
// Q diag(d) Q^T of with_spectrum() is rounded to float; here to double.
Wd double_spectrum(const std::vector<long double>& d, Random& random) {
  const auto n = static_cast<std::int64_t>(d.size());
  Wd q = random_matrix<double>(n, n, random), scaled_rows(n, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (int pass = 0; pass < 2; ++pass) {
      for (std::int64_t k = 0; k < j; ++k) {
        long double dot = 0;
        for (std::int64_t i = 0; i < n; ++i) dot += q(j, i) * q(k, i);
        for (std::int64_t i = 0; i < n; ++i) q(j, i) -= dot * q(k, i);
      }
    }
    long double norm = 0;
    for (std::int64_t i = 0; i < n; ++i) norm += q(j, i) * q(j, i);
    for (std::int64_t i = 0; i < n; ++i)
      q(j, i) /= std::sqrt(norm), scaled_rows(j, i) = q(j, i) * d[static_cast<std::size_t>(j)];
  }
  return mirrored(rounded<double>(times(transposed(q), scaled_rows)), Uplo::Lower);
}

TEST(EighDevice, DoubleThroughRefinement) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(4);
  check_double(trn2, random_hermitian<double>(5, random));
  check_double(trn2, random_hermitian<double>(30, random));
  // A test of gaps fails on these: clusters 1e-10 wide, and nested ones that a single zoom does not part.
  const auto narrow = [&](std::int64_t i) { return static_cast<double>(i % 3) + 1e-10 * random.uniform(); };
  check_double(trn2, double_spectrum(numbers(24, narrow), random));
  const auto nested = [&](std::int64_t i) { return 1 + std::pow(1e-4, static_cast<double>(i % 4)) * random.uniform(); };
  const SolvedDouble s = check_double(trn2, double_spectrum(numbers(40, nested), random));
  EXPECT_GE(s.report.levels, 1);
  const auto geometric = [](std::int64_t i) { return std::pow(1e-16L, static_cast<long double>(i) / 23); };
  check_double(trn2, double_spectrum(numbers(24, geometric), random));
  check_double(trn2, Wd(20, 20));
  // Known eigenvalues, and bounds that are proved.
  const std::int64_t n = 24;
  Wd laplace(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    laplace(i, i) = 2;
    if (i > 0) laplace(i, i - 1) = laplace(i - 1, i) = -1;
  }
  const SolvedDouble proved = check_double(trn2, laplace, {.certify = Certify::Rigorous});
  ASSERT_EQ(proved.report.error_bounds.size(), static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    const long double exact =
        2 - 2 * std::cos(std::numbers::pi_v<long double> * static_cast<long double>(i + 1) / (n + 1));
    const long double error = std::abs(exact - proved.w[static_cast<std::size_t>(i)]);
    EXPECT_LE(error, proved.report.error_bounds[static_cast<std::size_t>(i)]);
    EXPECT_LE(proved.report.error_bounds[static_cast<std::size_t>(i)], 16 * eps<double>);
  }
  Wd bad = random_hermitian<double>(20, random);
  bad(9, 4) = std::numeric_limits<double>::infinity();
  const Matrix<double> there =
      Matrix<double>::from_host(trn2, 20, 20, std::vector<double>(bad.values.begin(), bad.values.end()));
  const Array<double> w(trn2, {20});
  EXPECT_EQ(eigh(trn2, there.view(), VectorView<double>(w.view())).outcome, (Outcome{Status::NotFinite, 9 * 20 + 4}));
  EXPECT_TRUE(std::isnan(w.to_host()[0]));
}

// The table is what its comment says: each step equioscillates on [max(l, cushion), margin], so that it is the minimax
// polynomial of its interval, and the last interval is where the closing step begins.
template <class Steps> std::pair<double, double> follow(const Steps& steps, double l) {
  double top = 1;
  for (const device::SignStep& p : steps) {
    const auto value = [&](double x) { return x * (p.a + x * x * (p.b + x * x * p.c)); };
    const double from = std::max(l, device::kCushion * top), until = device::kMargin * top;
    const double root = std::sqrt(9 * p.b * p.b - 20 * p.a * p.c);
    const double inner = std::sqrt((-3 * p.b - root) / (10 * p.c)), outer = std::sqrt((-3 * p.b + root) / (10 * p.c));
    const double e = value(inner) - 1;
    EXPECT_TRUE(from < inner && inner < outer && outer < until);
    EXPECT_NEAR(1 - value(from), e, 1e-12);
    EXPECT_NEAR(1 - value(outer), e, 1e-12);
    EXPECT_NEAR(value(until) - 1, e, 1e-12);
    l = std::min(value(l), 1 - e), top = 1 + e;
  }
  return {l, top};
}
TEST(SignSchedule, EveryStepIsTheMinimaxOfItsInterval) {
  const auto [l, top] = follow(device::kFirst, device::kFirstLeast);
  EXPECT_TRUE(l > 0.998 && top < 1.002);
  const auto [l4, top4] = follow(device::kShort, device::kShortLeast);
  EXPECT_TRUE(l4 > 0.9998 && top4 < 1.0002);
}

}  // namespace
}  // namespace trn::solver::testing::eigh_device
