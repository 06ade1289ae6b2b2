// LU with partial pivoting on simulated devices: pivots that are LAPACK's rule, residuals in 80-bit arithmetic against
// the bound of each report, growth, ties, zeros, outcomes with the host's indices, the same bits in every order,
// modelled times.
#include <trn/solver/getrf_program.hpp>
#include <trn/solver/lu.hpp>

#include "device_support.hpp"
#include "support/nki_run.hpp"

namespace trn::solver::testing {
namespace {

using Wd = Dense<long double>;
const Executor kHost = Executor::host();

Wd exchanged(Wd a, const std::vector<std::int64_t>& pivots) {
  for (std::size_t i = 0; i < pivots.size(); ++i) {
    for (std::int64_t j = 0; j < a.columns; ++j) {
      std::swap(a(static_cast<std::int64_t>(i), j), a(pivots[i], j));
    }
  }
  return a;
}

struct Factored {
  Wd factor;
  std::vector<std::int64_t> pivots;
  Report report;
};

Factored factor_on(const Executor& executor, const Wd& a, Layout layout) {
  Held<float> held(layout, a);
  OnDevice<float> device(executor, held);
  const Array<std::int64_t> pivots(executor, {std::min(a.rows, a.columns)});
  Recorder recorder(executor);
  const Report report = getrf(executor, device.view(), VectorView<std::int64_t>(pivots.view()));
  EXPECT_EQ(recorder.family_of("solver.getrf"), "device");
  const std::int64_t k = std::min(a.rows, a.columns);
  if (report.outcome.status != Status::NotFinite) {
    EXPECT_EQ(recorder.count(EventKind::Run, "solver_getrf_panel"), static_cast<std::size_t>((k + 127) / 128));
  }
  device.fetch();
  EXPECT_TRUE(held.surroundings_untouched());
  return {held.values(), pivots.to_host(), report};
}

// |P A - L U| <= bound |L||U| elementwise, |L| <= 1 and a few u, pivots in LAPACK's range.
Factored check(const Executor& executor, const Wd& a, Layout layout = Layout::RowMajor) {
  SCOPED_TRACE(::testing::Message() << executor.name() << ' ' << a.rows << " x " << a.columns << " layout "
                                    << static_cast<int>(layout));
  const Factored f = factor_on(executor, a, layout);
  EXPECT_EQ(f.report.algorithm, "blocked lu, partial pivoting");
  const std::int64_t m = a.rows, n = a.columns, k = std::min(m, n);
  for (std::int64_t i = 0; i < k; ++i) {
    const std::int64_t p = f.pivots[static_cast<std::size_t>(i)];
    if (p < i || p >= m) {
      ADD_FAILURE() << "pivot " << i << " is " << p;
      return f;
    }
  }
  const Wd pa = exchanged(a, f.pivots);
  long double worst = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      long double sum = -pa(i, j), size = 0;
      for (std::int64_t t = 0; t <= std::min({i, j, k - 1}); ++t) {
        const long double l = t == i ? 1 : f.factor(i, t), term = l * f.factor(t, j);
        sum += term, size += std::abs(term);
      }
      if (std::abs(sum) > worst * size) worst = size > 0 ? std::abs(sum) / size : INFINITY;
      if (j < i && j < k) {
        EXPECT_LE(std::abs(f.factor(i, j)), 1 + 4 * eps<float>) << i << ", " << j;
      }
    }
  }
  if (f.report.outcome.ok()) {
    EXPECT_LE(worst, f.report.accuracy.bound);
  }
  EXPECT_LE(worst, (static_cast<long double>(k) + 60) * eps<float>);
  return f;
}

TEST(LuDevice, BoundsAndPivotsInEveryShapeAndLayout) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(1);
  for (const Layout layout : kLayouts) {
    for (const auto& [m, n] : {std::pair{1, 1}, {6, 4}, {4, 7}, {17, 17}}) {
      check(trn2, random_matrix<float>(m, n, random), layout);
    }
  }
  int turn = 0;
  for (const auto& [m, n] : {std::pair{15, 16},
                             {16, 15},
                             {33, 32},
                             {127, 127},
                             {128, 128},
                             {129, 129},
                             {257, 128},
                             {130, 300},
                             {300, 140},
                             {290, 290}}) {
    check(trn2, random_matrix<float>(m, n, random), ++turn % 2 ? Layout::RowMajor : Layout::PaddedColumns);
  }
  check(neuron::open_simulator("trn3"), random_matrix<float>(150, 150, random), Layout::ColumnMajor);
  const Matrix<float> empty(trn2, 0, 3);
  const Array<std::int64_t> none(trn2, {0});
  EXPECT_TRUE(getrf(trn2, empty.view(), VectorView<std::int64_t>(none.view())).outcome.ok());
}

// In exact arithmetic of small integers and powers of two the factor and the pivots are LAPACK's, element by element.
TEST(LuDevice, TheHostsFactorWhereArithmeticIsExact) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(2);
  for (const std::int64_t n : {5, 40, 150}) {  // P L U with |l| in {0, 1/2}, u in {-2, ..., 2}, distinct in size
    Wd l = identity<long double>(n), u(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        if (j < i && random.below(8) == 0) l(i, j) = random.below(2) ? 0.5L : -0.5L;
        if (j > i && random.below(8) == 0) u(i, j) = static_cast<long double>(random.below(5) - 2);
      }
      u(i, i) = random.below(2) ? 4 : -4;
    }
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) order[static_cast<std::size_t>(i)] = i;
    for (std::int64_t i = n - 1; i > 0; --i) {
      std::swap(order[static_cast<std::size_t>(i)], order[static_cast<std::size_t>(random.below(i + 1))]);
    }
    const Wd product = times(l, u);
    Wd a(n, n);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) a(i, j) = product(order[static_cast<std::size_t>(i)], j);
    }
    if (largest(a) > 0x1p20) continue;
    const Factored f = check(trn2, a, Layout::ColumnMajor);
    Held<float> held(Layout::ColumnMajor, a);
    std::vector<std::int64_t> pivots(static_cast<std::size_t>(n));
    ASSERT_TRUE(getrf(kHost, held.view(), VectorView<std::int64_t>(kHost, pivots.data(), n)).outcome.ok());
    EXPECT_EQ(f.pivots, pivots) << n;
    EXPECT_EQ(f.factor.values, held.values().values) << n;
  }
}

// Wilkinson's growth matrix, permutations, ties, matrices of ones, scales at the ends of the range.
TEST(LuDevice, GrowthTiesPermutationsAndScales) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(3);
  Wd growth(60, 60);
  for (std::int64_t i = 0; i < 60; ++i) {
    for (std::int64_t j = 0; j < 60; ++j) growth(i, j) = j == 59 || i == j ? 1 : j < i ? -1 : 0;
  }
  check(trn2, growth);
  Wd shift(140, 140);
  for (std::int64_t i = 0; i < 140; ++i) shift(i, (i + 1) % 140) = 1;
  const Factored f = check(trn2, shift, Layout::ColumnMajor);
  EXPECT_EQ(f.factor.values, identity<long double>(140).values);
  EXPECT_EQ(f.pivots[0], 139);
  for (const long double scale : {0x1p-100L, 0x1p100L}) {
    Wd a = random_matrix<float>(130, 130, random);
    for (long double& x : a.values) x *= scale;
    check(trn2, rounded<float>(a));
  }
  Wd graded = random_matrix<float>(70, 70, random);
  for (std::int64_t i = 0; i < 70; ++i) {
    for (std::int64_t j = 0; j < 70; ++j) graded(i, j) = std::ldexp(graded(i, j), static_cast<int>(i - j));
  }
  check(trn2, rounded<float>(graded));
}

TEST(LuDevice, SingularAndNotFinite) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(4);
  Wd ones(40, 40), zero(5, 5), column = random_matrix<float>(140, 140, random);
  for (long double& x : ones.values) x = 1;
  for (std::int64_t i = 0; i < 140; ++i) column(i, 133) = 0;
  for (const auto& [a, index] : {std::pair{ones, 1}, {zero, 0}, {column, 133}}) {
    const Factored f = check(trn2, a);
    EXPECT_EQ(f.report.outcome, (Outcome{Status::Singular, index}));
    Held<float> held(Layout::RowMajor, a);
    std::vector<std::int64_t> pivots(static_cast<std::size_t>(a.rows));
    EXPECT_EQ(f.report.outcome,
              getrf(kHost, held.view(), VectorView<std::int64_t>(kHost, pivots.data(), a.rows)).outcome);
  }
  for (const long double x : {static_cast<long double>(NAN), static_cast<long double>(-INFINITY)}) {
    Wd bad = random_matrix<float>(150, 140, random);
    bad(149, 139) = x, bad(7, 9) = x;
    const Factored f = factor_on(trn2, bad, Layout::PaddedColumns);
    EXPECT_EQ(f.report.outcome, (Outcome{Status::NotFinite, 7 * 140 + 9}));
    for (const long double v : f.factor.values) ASSERT_TRUE(std::isnan(v));
    for (const std::int64_t p : f.pivots) ASSERT_EQ(p, 0);
  }
  Wd huge(30, 30);  // the growth matrix overflows at its last column
  for (std::int64_t i = 0; i < 30; ++i) {
    for (std::int64_t j = 0; j < 30; ++j) huge(i, j) = (j == 29 || i == j ? 1 : j < i ? -1 : 0) * 0x1p120L;
  }
  EXPECT_EQ(factor_on(trn2, huge, Layout::RowMajor).report.outcome.status, Status::NotFinite);
}

TEST(LuDevice, SolvesInversesDeterminantsAndConditions) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(5);
  for (const std::int64_t n : {1, 30, 150}) {
    const Wd a = random_matrix<float>(n, n, random);
    for (const Layout layout : {Layout::RowMajor, Layout::ColumnMajor}) {
      Held<float> held(layout, a);
      OnDevice<float> device(trn2, held);
      const Lu<float> lu(trn2, device.view());
      ASSERT_TRUE(lu.report().outcome.ok());
      for (const Op op : {Op::N, Op::T}) {
        Held<float> b(layout, random_matrix<float>(n, 3, random));
        const Wd rhs = b.values();
        OnDevice<float> db(trn2, b);
        Recorder recorder(trn2);
        ASSERT_TRUE(lu.solve(db.view(), op).outcome.ok());
        EXPECT_EQ(recorder.family_of("solver.getrs"), "device");
        db.fetch();
        EXPECT_TRUE(b.surroundings_untouched());
        const Wd applied = times(op == Op::N ? a : transposed(a), b.values());
        EXPECT_LT(ratio(minus(applied, rhs), norm1(a) * norm1(b.values()), n, eps<float>), kThreshold) << n;
      }
      const Wd inverse = fetched(lu.inverse());
      EXPECT_LT(ratio(minus(times(a, inverse), identity<long double>(n)), norm1(a) * norm1(inverse), n, eps<float>),
                kThreshold);
      const Lu<float> host(kHost, held.view());
      EXPECT_NEAR(lu.log_determinant().log_absolute, host.log_determinant().log_absolute, 1e-3);
      EXPECT_EQ(lu.log_determinant().sign, host.log_determinant().sign);
      for (const Norm norm : {Norm::One, Norm::Infinity}) {
        const double exact = static_cast<double>(norm == Norm::One ? norm1(a) * norm1(inverse)
                                                                   : norm1(transposed(a)) * norm1(transposed(inverse)));
        EXPECT_LE(lu.condition(norm), 1.01 * exact);
        EXPECT_GE(lu.condition(norm), exact / 9);
      }
    }
  }
}

TEST(LuDevice, RefusalsAndBadPivots) {
  const Executor trn1 = neuron::open_simulator("trn1"), trn2 = neuron::open_simulator("trn2");
  const Matrix<float> a(trn1, 3, 3), b(trn2, 3, 3);
  const Array<std::int64_t> pivots(trn1, {3}),
      wrong = Array<std::int64_t>::from_host(trn2, {3}, std::vector<std::int64_t>{1, 0, 2});
  try {
    (void)getrf(trn1, a.view(), VectorView<std::int64_t>(pivots.view()));
    FAIL();
  } catch (const NotImplemented& e) {
    EXPECT_NE(std::string(e.what()).find("has no gathers"), std::string::npos) << e.what();
  }
  const Matrix<float> x(trn2, 3, 1);
  EXPECT_THROW((void)getrs<float>(trn2, Op::N, b.view(),
                                  VectorView<const std::int64_t>(VectorView<std::int64_t>(wrong.view())), x.view()),
               InvalidArgument);
}

TEST(LuDevice, ShuffledInstructionsGiveTheSameBits) {
  Random random(6);
  const std::int64_t n = shuffled_extent(180);
  const Wd a = random_matrix<float>(n + 20, n, random);
  const auto run = [&](neuron::Order order) {
    return factor_on(neuron::open_simulator("trn2", {.order = order, .check_races = true}), a, Layout::RowMajor);
  };
  const Factored expected = run(neuron::Order::in_order()), other = run(neuron::Order::shuffled(3));
  EXPECT_EQ(expected.factor.values, other.factor.values);
  EXPECT_EQ(expected.pivots, other.pivots);
}

TEST(LuNki, EmittedTextGivesTheSimulatorsBits) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const neuron::testing::Inputs values{
      {"a", [](std::int64_t e) { return static_cast<double>((e * 7919 + e / 3) % 251 - 125) / 16; }},
      {"from", [](std::int64_t e) { return static_cast<double>(e < 40 ? 39 - e : 0); }},
      {"to", [](std::int64_t e) { return static_cast<double>(e < 40 ? e : 40); }}};
  neuron::testing::expect_agreement(getrf_panel_program({140, 20, 20, 1}, trn2), values);
  neuron::testing::expect_agreement(move_rows_program({40, 70, 70}, trn2), values);
  neuron::testing::expect_agreement(turn_program({140, 130, 130, 140}, trn2), values);
}

// Launch included.
TEST(LuModel, TheDocumentedTimes) {
  const tile::Machine& trn2 = tile::machine("trn2");
  const auto panel = [&](std::int64_t m) {
    return neuron::estimate(getrf_panel_program({m, 128, 4096, 1}, trn2), trn2).seconds;
  };
  for (const std::int64_t m : {128, 1024, 4096})
    RecordProperty(fmt::format("panel_{}", m), fmt::format("{}", panel(m)));
  EXPECT_THROW((void)getrf_panel_program({10, 11, 11, 1}, trn2), InvalidArgument);
  EXPECT_THROW((void)getrf_panel_program({200000, 128, 128, 1}, trn2), InvalidArgument);
}

}  // namespace
}  // namespace trn::solver::testing
