// Singular values on simulated devices: LAPACK's ratios in 80-bit arithmetic, every shape, rank deficiency (where the
// polar factor lacks columns), scales, proofs, outcomes and orders of execution.
#include <trn/solver/svd.hpp>

#include "device_support.hpp"

namespace trn::solver::testing::svd_device {
namespace {

using Wd = Dense<long double>;

struct Solved {
  Wd u, vh;
  std::vector<float> s;
  SvdReport report;
};

Solved run(const Executor& executor, const Wd& a, bool full = false, const SvdOptions& options = {},
           Layout layout = Layout::RowMajor) {
  const std::int64_t m = a.rows, n = a.columns, k = std::min(m, n);
  Held<float> held(layout, a), hu(layout, m, full ? m : k), hv(layout, full ? n : k, n);
  OnDevice<float> da(executor, held), du(executor, hu), dv(executor, hv);
  const Array<float> s(executor, {k});
  Recorder recorder(executor);
  const SvdReport report = svd<float>(executor, da.view(), VectorView<float>(s.view()), du.view(), dv.view(), options);
  EXPECT_EQ(recorder.family_of("solver.svd"), "device");
  EXPECT_EQ(report.algorithm, "polar, spectral divide and conquer");
  if (report.iterations > 0) {
    EXPECT_GE(recorder.count(EventKind::Run, "solver_polar"), 1);
    EXPECT_GE(recorder.count(EventKind::Run, "blas_gemm"), 3);
  }
  for (const char* operation : {"blas.gemm", "blas.syrk", "blas.syrkx", "blas.trsm"}) {
    EXPECT_NE(recorder.family_of(operation), "host");
  }
  da.fetch(), du.fetch(), dv.fetch();
  EXPECT_TRUE(held.surroundings_untouched() && hu.surroundings_untouched() && hv.surroundings_untouched());
  if (report.outcome.ok()) {
    EXPECT_EQ(largest(minus(held.values(), a)), 0);
  }
  return {hu.values(), hv.values(), s.to_host(), report};
}

Wd product_of(const Solved& x) {
  const auto k = static_cast<std::int64_t>(x.s.size());
  Wd us(x.u.rows, k), vh(k, x.vh.columns);
  for (std::int64_t j = 0; j < k; ++j) {
    for (std::int64_t i = 0; i < us.rows; ++i) us(i, j) = x.u(i, j) * x.s[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; i < vh.columns; ++i) vh(j, i) = x.vh(j, i);
  }
  return times(us, vh);
}

Solved check(const Executor& executor, const Wd& a, bool full = false, const SvdOptions& options = {},
             Layout layout = Layout::RowMajor) {
  SCOPED_TRACE(::testing::Message() << executor.name() << ' ' << a.rows << " x " << a.columns << " full " << full);
  Solved x = run(executor, a, full, options, layout);
  EXPECT_TRUE(x.report.outcome.ok());
  EXPECT_TRUE(std::is_sorted(x.s.rbegin(), x.s.rend()));
  EXPECT_TRUE(x.s.empty() || x.s.back() >= 0);
  EXPECT_LT(orthogonality(x.u, eps<float>), 1);
  EXPECT_LT(orthogonality(transposed(x.vh), eps<float>), 1);
  EXPECT_LT(ratio(minus(product_of(x), a), norm1(a), std::max(a.rows, a.columns), eps<float>), 1);
  return x;
}

// Random rows and columns made dependent: Gram-Schmidt on both sides of a diagonal.
template <class F> Wd with_values(std::int64_t m, std::int64_t n, F value, Random& random) {
  Wd x = random_matrix<float>(m, n, random), y = random_matrix<float>(n, n, random);
  for (Wd* w : {&x, &y}) {
    for (std::int64_t j = 0; j < n; ++j) {
      for (int pass = 0; pass < 2; ++pass) {
        for (std::int64_t k = 0; k < j; ++k) {
          long double dot = 0;
          for (std::int64_t i = 0; i < w->rows; ++i) dot += (*w)(i, k) * (*w)(i, j);
          for (std::int64_t i = 0; i < w->rows; ++i) (*w)(i, j) -= dot * (*w)(i, k);
        }
      }
      long double norm = 0;
      for (std::int64_t i = 0; i < w->rows; ++i) norm += (*w)(i, j) * (*w)(i, j);
      for (std::int64_t i = 0; i < w->rows; ++i) (*w)(i, j) /= std::sqrt(norm);
    }
  }
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) x(i, j) *= static_cast<long double>(value(j));
  }
  return rounded<float>(times(x, transposed(y)));
}

TEST(SvdDevice, ShapesAndLayouts) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(1);
  for (const bool full : {false, true}) {
    check(trn2, random_matrix<float>(40, 24, random), full, {}, Layout::ColumnMajor);
    check(trn2, random_matrix<float>(20, 30, random), full, {}, Layout::PaddedRows);
  }
  check(trn2, random_matrix<float>(1, 1, random));
  check(trn2, random_matrix<float>(9, 1, random), true, {}, Layout::Scattered);
  check(trn2, random_matrix<float>(130, 20, random));
  for (const char* machine : {"trn1", "trn3"}) {
    check(neuron::open_simulator(machine), random_matrix<float>(20, 18, random), false, {}, Layout::Reversed);
  }
  Wd square = random_matrix<float>(48, 48, random);
  const Solved x = check(trn2, square);
  Held<float> held(Layout::RowMajor, square);
  OnDevice<float> da(trn2, held);
  const Array<float> alone(trn2, {48});
  EXPECT_TRUE(singular_values(trn2, da.view(), VectorView<float>(alone.view())).outcome.ok());
  EXPECT_EQ(alone.to_host(), x.s);
  for (const auto& [m, n] : {std::pair{0, 3}, std::pair{3, 0}}) check(trn2, Wd(m, n), true);
}

TEST(SvdDevice, SpectraRanksAndScales) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(2);
  check(trn2, with_values(
                  44, 36, [](std::int64_t j) { return std::pow(1e-7, static_cast<double>(j) / 35); }, random));
  check(trn2, with_values(
                  40, 40, [](std::int64_t j) { return j < 20 ? 1.0 : 0.0; }, random));  // noise in place of zeros
  check(trn2, with_values(
                  36, 36, [](std::int64_t) { return 1.0; }, random));
  check(trn2, with_values(
                  36, 30, [](std::int64_t j) { return 1.0 + static_cast<double>(j % 3); }, random));
  // Zeros to the last bit, which no polynomial moves.
  Wd zeros_inside = random_matrix<float>(40, 30, random);
  for (std::int64_t i = 0; i < 40; ++i) zeros_inside(i, 3) = zeros_inside(i, 17) = 0;
  check(trn2, zeros_inside);
  Wd ones(24, 24);
  for (auto& x : ones.values) x = 1;
  const Solved one = check(trn2, ones, true);
  EXPECT_NEAR(one.s[0], 24, 1e-4);
  check(trn2, Wd(20, 18), true);
  for (const long double factor : {1e-36L, 1e-20L, 1e30L}) {
    Wd a = random_matrix<float>(22, 20, random);
    for (auto& x : a.values) x *= factor;
    check(trn2, rounded<float>(a));
  }
}

// Columns from 1 down to 1e-29: singular values far below working precision are anywhere on their way up when the polar
// iteration ends. What is completed beside them must be orthogonal to them too.
TEST(SvdDevice, GradedColumns) {
  const Executor trn2 = neuron::open_simulator("trn2", {.order = neuron::Order::in_order()});
  for (const std::uint64_t seed : {8, 11, 20}) {
    SCOPED_TRACE(seed);
    Random random(seed);
    Wd a = random_matrix<float>(33, 20, random);
    for (std::int64_t i = 0; i < 33; ++i) {
      for (std::int64_t j = 0; j < 20; ++j) a(i, j) *= std::pow(10.0L, static_cast<long double>(-1.5 * j));
    }
    const Solved x = check(trn2, rounded<float>(a));
    EXPECT_LT(orthogonality(x.u, eps<float>), 0.5);
  }
}

TEST(SvdDevice, BeyondTheRangeOfNumbers) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Wd large(4, 3), tiny(4, 3);
  for (auto& x : large.values) x = 3e38F;
  const Solved over = run(trn2, large);
  EXPECT_EQ(over.report.outcome, (Outcome{Status::NotFinite, 0}));
  EXPECT_TRUE(std::isinf(over.report.accuracy.bound));
  for (const float s : over.s) EXPECT_TRUE(std::isnan(s));
  for (const long double x : over.u.values) EXPECT_TRUE(std::isnan(x));
  for (auto& x : tiny.values) x = 0x1p-149L;
  const Solved under = run(trn2, tiny);
  ASSERT_TRUE(under.report.outcome.ok());
  const long double norm = std::sqrt(12.0L) * 0x1p-149L;
  EXPECT_LE(std::abs(under.s[0] - norm), under.report.accuracy.bound * norm);
  EXPECT_EQ(check(trn2, Wd(20, 18), false, {.certify = Certify::Rigorous}).report.accuracy.bound, 0);
}

TEST(SvdDevice, ProofsOutcomesAndOrder) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(3);
  // Reflections of whole numbers: Q = I - 2 v v^T / 16 with sixteen ones in v. Singular values 0, 1, ..., 6, several
  // times.
  const std::int64_t m = 30, n = 20;
  const auto q = [](std::int64_t r, std::int64_t c) {
    return (r == c ? 1.0L : 0.0L) - (r < 16 && c < 16 ? 2.0L / 16 : 0.0L);
  };
  Wd a(m, n);
  std::vector<long double> exact;
  for (std::int64_t k = 0; k < n; ++k) {
    exact.push_back(static_cast<long double>(k % 7));
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) a(i, j) += q(i, k) * exact.back() * q(j, k);
    }
  }
  std::sort(exact.rbegin(), exact.rend());
  for (const bool turned : {false, true}) {
    const Solved proved = check(trn2, turned ? transposed(a) : a, false, {.certify = Certify::Rigorous});
    EXPECT_EQ(proved.report.guarantee, Guarantee::Rigorous);
    ASSERT_EQ(proved.report.error_bounds.size(), exact.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
      EXPECT_LE(std::abs(static_cast<long double>(proved.s[i]) - exact[i]), proved.report.error_bounds[i]);
    }
    EXPECT_LT(proved.report.accuracy.bound, 60 * static_cast<double>(eps<float>));
  }
  Wd bad = random_matrix<float>(20, 18, random);
  bad(7, 3) = std::numeric_limits<float>::quiet_NaN();
  const Solved x = run(trn2, bad);
  EXPECT_EQ(x.report.outcome, (Outcome{Status::NotFinite, 7 * 18 + 3}));
  for (const float s : x.s) EXPECT_TRUE(std::isnan(s));
  for (const Wd* v : {&x.u, &x.vh}) {
    for (const long double value : v->values) EXPECT_TRUE(std::isnan(value));
  }
  const std::int64_t extent = shuffled_extent(30);
  const Wd b = random_matrix<float>(extent + 6, extent, random);
  const auto bits = [&](const neuron::Order& order) {
    return run(neuron::open_simulator("trn2", {.order = order}), b).u.values;
  };
  EXPECT_EQ(bits(neuron::Order::in_order()), bits(neuron::Order::shuffled(5)));
}

}  // namespace
}  // namespace trn::solver::testing::svd_device
