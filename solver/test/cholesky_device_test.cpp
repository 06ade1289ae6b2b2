// Cholesky on simulated devices: residuals in 80-bit arithmetic against the bound of each report and LAPACK's ratios,
// outcomes with the host's indices, the same bits in every order, the emitted text, modelled times.
#include <trn/solver/cholesky.hpp>
#include <trn/solver/operand_program.hpp>
#include <trn/solver/potrf_program.hpp>
#include <trn/solver/triangular.hpp>

#include "device_support.hpp"
#include "support/nki_run.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();
constexpr Uplo kBoth[] = {Uplo::Lower, Uplo::Upper};

template <class T> void poison(Held<T>& a, std::int64_t n, Uplo uplo) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) (uplo == Uplo::Lower ? a.at(j, i) : a.at(i, j)) = T(NAN);
  }
}
template <class T> bool still_poisoned(Held<T>& a, std::int64_t n, Uplo uplo) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      if (!std::isnan(uplo == Uplo::Lower ? a.at(j, i) : a.at(i, j))) return false;
    }
  }
  return true;
}

// |A - F| <= bound |factor||factor^T|, elementwise, or with the norms of rows.
template <class T> void expect_within_bound(const Dense<Wide<T>>& a, const Dense<Wide<T>>& lower, double bound) {
  const std::int64_t n = a.rows;
  const bool norms = std::same_as<T, double>;
  std::vector<long double> rows(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k <= i; ++k) rows[static_cast<std::size_t>(i)] += lower(i, k) * lower(i, k);
  }
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j <= i; ++j) {
      long double sum = a(i, j), size = 0;
      for (std::int64_t k = 0; k <= j; ++k) {
        sum -= lower(i, k) * lower(j, k);
        size += std::abs(lower(i, k) * lower(j, k));
      }
      if (norms) size = std::sqrt(rows[static_cast<std::size_t>(i)] * rows[static_cast<std::size_t>(j)]);
      ASSERT_LE(std::abs(sum), bound * size) << i << ", " << j;
    }
  }
}

template <class T> void check(const Executor& executor, const Dense<Wide<T>>& a, Layout layout, Uplo uplo,
                              bool all_of_it, Random& random) {
  const std::int64_t n = a.rows;
  SCOPED_TRACE(::testing::Message() << executor.name() << " n " << n << " layout " << static_cast<int>(layout)
                                    << " uplo " << static_cast<int>(uplo));
  Held<T> held(layout, a);
  poison(held, n, uplo);
  OnDevice<T> device(executor, held);
  Recorder recorder(executor);
  const Report report = potrf(executor, uplo, device.view());
  EXPECT_EQ(recorder.family_of("solver.potrf"), "device");
  EXPECT_TRUE(report.outcome.ok()) << report.outcome.index;
  EXPECT_EQ(report.algorithm, (std::same_as<T, double>) ? "blocked cholesky, exact products" : "blocked cholesky");
  EXPECT_EQ(recorder.count(EventKind::Run, "solver_potrf"), (std::same_as<T, float>)&&n > 0 ? 1 : 0);
  device.fetch();
  ASSERT_TRUE(still_poisoned(held, n, uplo));
  ASSERT_TRUE(held.surroundings_untouched());
  const auto factor = triangle(held.values(), uplo);
  const auto lower = uplo == Uplo::Lower ? factor : transposed(factor);
  expect_within_bound<T>(a, lower, report.accuracy.bound);
  EXPECT_LT(ratio(minus(times(lower, transposed(lower)), a), norm1(a), n, eps<T>), 1);
  if (!all_of_it) return;
  Held<T> x(layout, random_matrix<T>(n, 3, random));
  const auto b = x.values();
  OnDevice<T> dx(executor, x);
  ASSERT_TRUE(potrs<T>(executor, uplo, device.view(), dx.view()).outcome.ok());
  dx.fetch();
  EXPECT_LT(ratio(minus(times(a, x.values()), b), norm1(a) * norm1(x.values()), n, eps<T>), kThreshold);
  ASSERT_TRUE(x.surroundings_untouched());
  ASSERT_TRUE(potri(executor, uplo, device.view()).outcome.ok());
  device.fetch();
  ASSERT_TRUE(still_poisoned(held, n, uplo));
  const auto inverse = mirrored(held.values(), uplo);
  EXPECT_LT(ratio(minus(times(a, inverse), identity<Wide<T>>(n)), norm1(a) * norm1(inverse), n, eps<T>), kThreshold);
}

TEST(CholeskyDevice, RatiosAndBoundsInEveryLayout) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(1);
  for (const std::int64_t n : {0, 1, 2, 31, 32, 33}) {
    const auto a = random_positive<float>(n, random);
    for (const Layout layout : kLayouts) {
      for (const Uplo uplo : kBoth) check<float>(trn2, a, layout, uplo, true, random);
    }
  }
}

TEST(CholeskyDevice, SizesAcrossTheBlocks) {
  Random random(2);
  const Executor trn2 = neuron::open_simulator("trn2");
  int turn = 0;
  for (const std::int64_t n : {127, 128, 129, 255, 256, 257, 300, 641}) {
    const auto a = random_positive<float>(n, random);
    const Layout layout = ++turn % 2 ? Layout::RowMajor : Layout::PaddedColumns;
    check<float>(trn2, a, layout, Uplo::Lower, n < 200, random);
    if (n < 300) check<float>(trn2, a, layout, Uplo::Upper, n < 200, random);
  }
  for (const char* machine : {"trn1", "trn3"}) {
    const Executor executor = neuron::open_simulator(machine);
    for (const std::int64_t n : {33, 130, 300}) {
      const auto a = random_positive<float>(n, random);
      for (const Uplo uplo : kBoth) check<float>(executor, a, Layout::RowMajor, uplo, n == 130, random);
    }
  }
}

// Diagonal blocks with condition numbers near 1/u: products with their inverses alone would leave residuals of
// kappa u. X X^T with X = orthogonal rows scaled down to 1e-3, plus a little.
TEST(CholeskyDevice, IllConditionedBlocksKeepTheBound) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(3);
  for (const std::int64_t n : {100, 260}) {
    auto x = random_matrix<float>(n, n, random);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        x(i, j) *= std::pow(1e-3L, static_cast<long double>(j) / static_cast<long double>(n - 1));
      }
    }
    auto a = times(x, transposed(x));
    for (std::int64_t i = 0; i < n; ++i) a(i, i) *= 1.00002L;
    check<float>(trn2, rounded<float>(a), Layout::RowMajor, Uplo::Lower, false, random);
    check<float>(trn2, rounded<float>(a), Layout::ColumnMajor, Uplo::Lower, false, random);
  }
}

TEST(CholeskyDevice, DoubleThroughExactProducts) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(4);
  for (const std::int64_t n : {0, 1, 63, 64, 65, 150}) {
    check<double>(trn2, random_positive<double>(n, random), n % 2 ? Layout::RowMajor : Layout::PaddedColumns,
                  n % 3 ? Uplo::Lower : Uplo::Upper, n <= 65, random);
  }
  Held<double> a(Layout::RowMajor, random_positive<double>(3, random));
  OnDevice<double> device(trn2, a);
  EXPECT_TRUE(potrf(trn2, Uplo::Lower, device.view(), {.precision = Mode::Exact}).outcome.ok());
  EXPECT_THROW((void)potrf(trn2, Uplo::Lower, device.view(), {.precision = Mode::Tf32}), NotImplemented);
}

// Every outcome is the host's, with its index.
template <class T> void expect_outcome(const Executor& executor, const Dense<Wide<T>>& a, const Outcome& expected) {
  for (const Uplo uplo : kBoth) {
    for (const Layout layout : {Layout::RowMajor, Layout::ColumnMajor}) {
      Held<T> here(layout, a), there(layout, a);
      OnDevice<T> device(executor, there);
      const Report report = potrf(executor, uplo, device.view());
      EXPECT_EQ(report.outcome, expected) << report.outcome.index;
      EXPECT_EQ(report.outcome, potrf(kHost, uplo, here.view()).outcome);
      EXPECT_EQ(report.accuracy.bound, std::numeric_limits<double>::infinity());
      if (expected.status != Status::NotFinite) continue;
      device.fetch();
      const auto values = there.values();
      for (std::int64_t i = 0; i < a.rows; ++i) {
        for (std::int64_t j = 0; j < a.rows; ++j) {
          const bool inside = uplo == Uplo::Lower ? j <= i : j >= i;
          EXPECT_TRUE(!inside || std::isnan(values(i, j)));
        }
      }
    }
  }
}

TEST(CholeskyDevice, IndefiniteSingularAndNotFinite) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(5);
  for (const std::int64_t n : {1, 40, 300}) {
    const auto good = random_positive<float>(n, random);
    for (const std::int64_t k : {0, 15, 16, 31, 39, 127, 128, 200, 299}) {
      if (k >= n) continue;
      auto bad = good;
      bad(k, k) = -1;
      expect_outcome<float>(trn2, bad, {Status::NotPositiveDefinite, k});
    }
  }
  Dense<long double> ones(40, 40), zero(5, 5);
  for (auto& x : ones.values) x = 1;
  expect_outcome<float>(trn2, ones, {Status::NotPositiveDefinite, 1});
  expect_outcome<float>(trn2, zero, {Status::NotPositiveDefinite, 0});
  expect_outcome<double>(trn2, ones, {Status::NotPositiveDefinite, 1});
  for (const long double x : {static_cast<long double>(NAN), static_cast<long double>(INFINITY)}) {
    auto bad = random_positive<float>(150, random);
    bad(140, 140) = x;
    bad(7, 7) = x;
    expect_outcome<float>(trn2, bad, {Status::NotFinite, 7 * 150 + 7});
  }
  auto bad = random_positive<double>(100, random);
  bad(90, 90) = -1;
  expect_outcome<double>(trn2, bad, {Status::NotPositiveDefinite, 90});
}

// log det A of a positive definite matrix by its Cholesky factor in 80 bits.
template <class A> double log_determinant_of(const A& a, std::int64_t n) {
  std::vector<long double> l(static_cast<std::size_t>(n * n));
  const auto at = [&](std::int64_t i, std::int64_t j) -> long double& {
    return l[static_cast<std::size_t>(i * n + j)];
  };
  long double sum = 0;
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) {
      long double rest = static_cast<long double>(a(i, j));
      for (std::int64_t k = 0; k < j; ++k) rest -= at(i, k) * at(j, k);
      at(i, j) = i == j ? std::sqrt(rest) : rest / at(j, j);
    }
    sum += 2 * std::log(at(j, j));
  }
  return static_cast<double>(sum);
}

TEST(CholeskyDevice, TheClass) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(6);
  const auto a = random_positive<float>(140, random);
  for (const Uplo uplo : kBoth) {
    for (const Layout layout : {Layout::RowMajor, Layout::PaddedColumns}) {
      Held<float> held(layout, a), b(Layout::RowMajor, random_matrix<float>(140, 2, random));
      poison(held, 140, uplo);
      const auto rhs = b.values();
      OnDevice<float> da(trn2, held), db(trn2, b);
      const Cholesky<float> c(trn2, uplo, da.view());
      ASSERT_TRUE(c.report().outcome.ok());
      ASSERT_TRUE(c.solve(db.view()).outcome.ok());
      db.fetch();
      EXPECT_LT(ratio(minus(times(a, b.values()), rhs), norm1(a) * norm1(b.values()), 140, eps<float>), kThreshold);
      const auto inverse = fetched(c.inverse());
      EXPECT_LT(ratio(minus(times(a, inverse), identity<long double>(140)), norm1(a) * norm1(inverse), 140, eps<float>),
                kThreshold);
      // To first order an error E of the factorisation moves log det A by trace(A^-1 E), at most n ||A^-1|| ||E||.
      const Cholesky<float> host(kHost, uplo, held.view());
      const double moved = 140 * static_cast<double>(norm1(inverse)) * 140 * eps<float> * static_cast<double>(norm1(a));
      EXPECT_NEAR(c.log_determinant().log_absolute, log_determinant_of(a, 140), moved) << moved;
      EXPECT_NEAR(c.log_determinant().log_absolute, host.log_determinant().log_absolute, std::min(moved, 1e-3));
      // Both are lower bounds that are seldom less than a ninth of the truth.
      const double exact = static_cast<double>(norm1(a) * norm1(inverse));
      EXPECT_LE(c.condition(), 1.01 * exact);
      EXPECT_GE(c.condition(), exact / 9);
    }
  }
}

template <class T> void check_triangles(const Executor& executor, std::int64_t n, Random& random) {
  for (const Uplo uplo : kBoth) {
    for (const Diag diag : {Diag::NonUnit, Diag::Unit}) {
      auto a = random_matrix<T>(n, n, random);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < n; ++j) a(i, j) = i == j ? 2 : T(a(i, j) / 8);
        if (diag == Diag::Unit) a(i, i) = NAN;
      }
      const auto t = triangle(a, uplo, diag == Diag::Unit);
      Held<T> held(Layout::PaddedRows, a), x(Layout::ColumnMajor, random_matrix<T>(n, 2, random));
      poison(held, n, uplo);
      const auto b = x.values();
      OnDevice<T> da(executor, held), dx(executor, x);
      ASSERT_TRUE(trtrs<T>(executor, uplo, Op::T, diag, da.view(), dx.view()).outcome.ok());
      dx.fetch();
      EXPECT_LT(ratio(minus(times(transposed(t), x.values()), b), norm1(t) * norm1(x.values()), n, eps<T>), kThreshold);
      const Report report = trtri(executor, uplo, diag, da.view());
      ASSERT_TRUE(report.outcome.ok());
      da.fetch();
      ASSERT_TRUE(still_poisoned(held, n, uplo));
      const auto inverse = triangle(held.values(), uplo, diag == Diag::Unit);
      for (std::int64_t i = 0; diag == Diag::Unit && i < n; ++i) ASSERT_TRUE(std::isnan(held.at(i, i)));
      EXPECT_LT(ratio(minus(times(t, inverse), identity<long double>(n)), norm1(t) * norm1(inverse), n, eps<T>),
                kThreshold);
    }
  }
}
TEST(CholeskyDevice, Triangles) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(7);
  for (const std::int64_t n : {1, 2, 33, 140}) check_triangles<float>(trn2, n, random);
  check_triangles<double>(trn2, 70, random);
  Dense<long double> a = identity<long double>(5);
  a(3, 3) = 0;
  Held<float> held(Layout::RowMajor, a);
  OnDevice<float> device(trn2, held);
  EXPECT_EQ(trtri(trn2, Uplo::Lower, Diag::NonUnit, device.view()).outcome, (Outcome{Status::Singular, 3}));
}

TEST(CholeskyDevice, SameBitsInEveryOrder) {
  Random random(8);
  for (const std::int64_t n : {300, 520}) {
    const auto a = random_positive<float>(n, random);
    for (const Layout layout : {Layout::RowMajor, Layout::ColumnMajor}) {
      const auto run = [&](const neuron::Order& order) {
        const Executor executor = neuron::open_simulator("trn2", {.order = order});
        Held<float> held(layout, a);
        OnDevice<float> device(executor, held);
        EXPECT_TRUE(potrf(executor, Uplo::Lower, device.view()).outcome.ok());
        device.fetch();
        return held;
      };
      Held<float> expected = run(neuron::Order::in_order());
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        Held<float> other = run(neuron::Order::shuffled(seed));
        EXPECT_TRUE(same_bits(expected, other)) << n << " seed " << seed;
      }
    }
  }
}

// Without rounding on the chip what is left is that of U in HBM and of the block rows kept there.
TEST(CholeskyDevice, WideStorageLeavesTheAlgorithmsError) {
  const Executor wide_executor = neuron::open_simulator("trn2", {.storage = neuron::Storage::Wide});
  Random random(9);
  const auto a = random_positive<float>(200, random);
  Held<float> held(Layout::RowMajor, a);
  OnDevice<float> device(wide_executor, held);
  ASSERT_TRUE(potrf(wide_executor, Uplo::Lower, device.view()).outcome.ok());
  device.fetch();
  expect_within_bound<float>(a, triangle(held.values(), Uplo::Lower), 2.1 * 0x1p-24);
}

neuron::testing::Inputs positive(std::int64_t n) {
  return {{"a", [=](std::int64_t e) {
             const std::int64_t i = e / n, j = e % n;
             return i == j ? 3.0 + 0.01 * static_cast<double>(i % 7) : 0.01 * static_cast<double>((i * j + i + j) % 13);
           }}};
}
TEST(CholeskyNki, EmittedTextGivesTheSimulatorsBits) {
  const tile::Machine& trn2 = tile::machine("trn2");
  neuron::testing::expect_agreement(panel_program({40}, trn2), positive(40));
  neuron::testing::expect_agreement(potrf_program({135, 135, 1}, trn2), positive(135));
  neuron::testing::expect_agreement(potrf_program({130, 1, 130}, tile::machine("trn1")), positive(130));
  neuron::testing::expect_agreement(finite_program({40, 40, 40, 1, MatrixPart::Lower}, trn2));
  neuron::testing::expect_agreement(copy_triangle_program({30, 30, 1, 30, 1, true, true}, trn2));
}

TEST(CholeskyPanel, FactorAndInverse) {
  const tile::Machine& trn2 = tile::machine("trn2");
  Random random(10);
  for (const std::int64_t n : {1, 16, 17, 100, 128}) {
    const auto a = random_positive<float>(n, random);
    std::vector<float> in, u(static_cast<std::size_t>(n * n)), inverse = u, pivots(static_cast<std::size_t>(n));
    for (const long double x : a.values) in.push_back(static_cast<float>(x));
    const std::vector<tile::Binding> bindings{
        {"a", in.data()}, {"u", u.data()}, {"inverse", inverse.data()}, {"pivots", pivots.data()}};
    neuron::simulate(panel_program({n}, trn2), trn2, bindings);
    Dense<long double> upper(n, n), left(n, n);
    std::copy(u.begin(), u.end(), upper.values.begin());
    std::copy(inverse.begin(), inverse.end(), left.values.begin());
    EXPECT_LT(ratio(minus(times(transposed(upper), upper), a), norm1(a), n, eps<float>), 1);
    const auto product = times(left, transposed(upper));
    EXPECT_LT(ratio(minus(product, identity<long double>(n)), norm1(left) * norm1(upper), n, eps<float>), 1);
    for (std::int64_t i = 0; i < n; ++i) {
      const float pivot = pivots[static_cast<std::size_t>(i)];
      EXPECT_NEAR(upper(i, i) * upper(i, i), pivot, 8 * 0x1p-24 * pivot);
    }
  }
}

// Launch included. README.md has the same numbers.
TEST(CholeskyModel, TheDocumentedTimes) {
  const tile::Machine& trn2 = tile::machine("trn2");
  EXPECT_LE(neuron::estimate(panel_program({128}, trn2), trn2).seconds, 155e-6);
  const auto time = [&](std::int64_t n, bool turned) {
    return neuron::estimate(potrf_program({n, turned ? 1 : n, turned ? n : 1}, trn2), trn2).seconds;
  };
  for (const bool turned : {false, true}) {
    EXPECT_LE(time(1024, turned), 1.25e-3);
    EXPECT_LE(time(2048, turned), 2.45e-3);
    EXPECT_LE(time(4096, turned), 5.0e-3);
  }
}

TEST(CholeskyModel, RefusesWhatDoesNotFit) {
  EXPECT_THROW((void)potrf_program({20000, 20000, 1}, tile::machine("trn2")), InvalidArgument);
  EXPECT_THROW((void)panel_program({129}, tile::machine("trn2")), InvalidArgument);
  EXPECT_TRUE(potrf_program({200, 200, 1}, tile::machine("trn2")) ==
              potrf_program({200, 200, 1}, tile::machine("trn2")));
}

}  // namespace
}  // namespace trn::solver::testing
