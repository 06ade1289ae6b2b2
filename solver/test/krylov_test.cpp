// Krylov methods: residuals against 80-bit ones, preconditioners, columns, outcomes.
#include "krylov_support.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();

// Runs one method on one system, and checks that the report says what is so.
template <class T> IterationReport checked(const NamedMethod<T>& method, const Dense<Wide<T>>& a,
                                           const Dense<Wide<T>>& b, double tolerance, const OperatorRef<T>& m = {}) {
  SCOPED_TRACE(method.name);
  Held<T> ha(Layout::RowMajor, a), hb(Layout::ColumnMajor, b),
      hx(Layout::RowMajor, Dense<Wide<T>>(a.columns, b.columns));
  const DenseOperator<T> op(ha.view());
  const IterationReport report =
      method.run(op, hb.view(), hx.view(), {.tolerance = tolerance, .max_iterations = 400}, m);
  EXPECT_TRUE(report.outcome.ok()) << name(report.outcome.status) << " " << report.outcome.index;
  const auto residuals = true_residuals(a, b, hx.values());
  EXPECT_EQ(report.residuals.size(), residuals.size());
  for (std::size_t j = 0; j < residuals.size(); ++j) {
    // The residual's own rounding: n u |A||x| beside ||b||, at most n u kappa; kappa <= 100 here.
    const double slack = static_cast<double>(a.rows) * static_cast<double>(eps<T>) * 100;
    EXPECT_NEAR(report.residuals[j], residuals[j], slack);
    EXPECT_LE(residuals[j], tolerance + slack);
  }
  EXPECT_LE(report.accuracy.bound, tolerance);
  EXPECT_GT(report.iterations, 0);
  EXPECT_GE(report.products, report.iterations);
  EXPECT_TRUE(hx.surroundings_untouched());
  EXPECT_EQ(largest(minus(ha.values(), a)), 0);
  EXPECT_EQ(largest(minus(hb.values(), b)), 0);
  return report;
}

TEST(Krylov, PositiveDefinite) {
  for_scalars([]<class T>() {
    Random random(101);
    const double tolerance = sizeof(Real<T>) == 4 ? 1e-4 : 1e-10;
    for (const std::int64_t n : {1, 2, 33}) {
      const auto a = with_spectrum<T>(geometric(n, 100), random);
      for (const std::int64_t k : {1, 5}) {
        const auto b = random_matrix<T>(n, k, random);
        auto methods = positive_methods<T>();
        for (const auto& more : general_methods<T>()) methods.push_back(more);
        methods.push_back({"minres", minres<T>});
        methods.push_back({"chebyshev", [](const auto& op, const auto& rhs, const auto& x, const KrylovOptions& options,
                                           const auto& m) {
                             return chebyshev<T>(op, rhs, x, {0.99, 101}, options, m);
                           }});
        for (const auto& method : methods) {
          const auto report = checked<T>(method, a, b, tolerance);
          const bool short_one = std::string_view(method.name) != "chebyshev" && std::string_view(method.name) != "idr";
          if (short_one && n > 1) {
            EXPECT_LE(report.iterations, 3 * n) << method.name;
          }
        }
      }
    }
  });
}

// Squares of such norms are 0 or infinity; a column in between keeps its scale.
TEST(Krylov, RightHandSidesAtTheEndsOfTheRange) {
  for_scalars([]<class T>() {
    Random random(111);
    const double tolerance = sizeof(Real<T>) == 4 ? 1e-4 : 1e-10;
    const std::int64_t n = 17;
    const auto a = with_spectrum<T>(geometric(n, 100), random);
    auto b = random_matrix<T>(n, 3, random);
    const int exponent = sizeof(Real<T>) == 4 ? 90 : 900;
    for (std::int64_t i = 0; i < n; ++i) {
      b(i, 0) *= std::ldexp(Real<Wide<T>>(1), -exponent);
      b(i, 2) *= std::ldexp(Real<Wide<T>>(1), exponent);
    }
    auto methods = positive_methods<T>();
    for (const auto& more : general_methods<T>()) methods.push_back(more);
    methods.push_back({"minres", minres<T>});
    for (const auto& method : methods) (void)checked<T>(method, a, b, tolerance);
  });
}

TEST(Krylov, Indefinite) {
  for_scalars([]<class T>() {
    Random random(102);
    const double tolerance = sizeof(Real<T>) == 4 ? 1e-4 : 1e-10;
    const std::int64_t n = 24;
    const auto a = with_spectrum<T>(geometric(n, 10, true), random);
    const auto b = random_matrix<T>(n, 3, random);
    EXPECT_LE((checked<T>({"minres", minres<T>}, a, b, tolerance).iterations), 2 * n);
    EXPECT_LE((checked<T>({"gmres", gmres<T>}, a, b, tolerance).iterations), 2 * n);
    // cg and its kin find out, at once or when a direction of negative curvature comes up.
    Held<T> ha(Layout::RowMajor, a), hb(Layout::RowMajor, b), hx(Layout::RowMajor, b);
    const DenseOperator<T> op(ha.view());
    for (const auto& method : positive_methods<T>()) {
      const auto report = method.run(op, hb.view(), hx.view(), {.tolerance = 1e-3}, {});
      EXPECT_EQ(report.outcome.status, Status::NotPositiveDefinite) << method.name;
      const bool block = std::string_view(method.name) == "block_cg";
      EXPECT_TRUE(block ? report.outcome.index == -1 : report.outcome.index >= 0 && report.outcome.index < 3);
    }
  });
}

TEST(Krylov, General) {
  for_scalars([]<class T>() {
    Random random(103);
    const double tolerance = sizeof(Real<T>) == 4 ? 1e-4 : 1e-10;
    for (const std::int64_t n : {2, 40}) {
      auto a = random_matrix<T>(n, n, random);
      for (std::int64_t i = 0; i < n; ++i) a(i, i) += 8;
      a = rounded<T>(a);
      const auto b = random_matrix<T>(n, 4, random);
      for (const auto& method : general_methods<T>()) EXPECT_LE(checked<T>(method, a, b, tolerance).iterations, 2 * n);
      // A short restart takes longer, and arrives.
      Held<T> ha(Layout::RowMajor, a), hb(Layout::RowMajor, b), hx(Layout::RowMajor, b);
      const auto report =
          gmres<T>(DenseOperator<T>(ha.view()), hb.view(), hx.view(), {.tolerance = tolerance, .restart = 4});
      EXPECT_TRUE(report.outcome.ok());
      for (const double r : true_residuals(a, b, hx.values())) EXPECT_LE(r, 1.01 * tolerance);
    }
  });
}

// diag(1 .. 1e4) + something small: every preconditioner must pay.
TEST(Krylov, Preconditioners) {
  for_scalars([]<class T>() {
    Random random(104);
    const std::int64_t n = 48;
    auto a = random_hermitian<T>(n, random);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        // elements of size up to 0.4 sqrt(d_i d_j) / n off the diagonal: definite whatever they are
        const long double di = std::pow(10.0L, 3.0L * i / n), dj = std::pow(10.0L, 3.0L * j / n);
        a(i, j) = i == j ? Wide<T>(di) : a(i, j) * std::sqrt(di * dj) * 0.4L / static_cast<long double>(n);
      }
    }
    a = mirrored(rounded<T>(a), Uplo::Lower);
    const auto b = random_matrix<T>(n, 2, random);
    const double tolerance = sizeof(Real<T>) == 4 ? 1e-4 : 1e-10;
    Held<T> held(Layout::ColumnMajor, a);
    const Jacobi<T> jacobi(held.view());
    const BlockJacobi<T> blocks(held.view(), 7);
    const Ssor<T> ssor(held.view(), 1.2);
    std::vector<NamedMethod<T>> methods = positive_methods<T>();
    methods.push_back({"minres", minres<T>});
    for (const auto& more : general_methods<T>()) methods.push_back(more);
    Held<T> ha(Layout::RowMajor, a), hb(Layout::RowMajor, b), hx(Layout::RowMajor, b);
    const DenseOperator<T> op(ha.view());
    for (const auto& method : methods) {
      const auto plain = method.run(op, hb.view(), hx.view(), {.tolerance = tolerance}, {});
      int which = 0;
      for (const OperatorRef<T>& m : {OperatorRef<T>(jacobi), OperatorRef<T>(blocks), OperatorRef<T>(ssor)}) {
        SCOPED_TRACE(which++);
        const auto report = method.run(op, hb.view(), hx.view(), {.tolerance = tolerance}, m);
        EXPECT_TRUE(report.outcome.ok()) << method.name << name(report.outcome.status);
        EXPECT_LT(report.iterations, plain.iterations) << method.name;
        for (const double r : true_residuals(a, b, hx.values())) {
          EXPECT_LE(r, tolerance + 1e4 * n * static_cast<double>(eps<T>));
        }
      }
    }
    // Applied to a block they are the inverses that their definitions say, in every op.
    const auto check = [&](const OperatorRef<T>& m, const Dense<Wide<T>>& inverse_of) {
      for (const Op o : {Op::N, Op::T, Op::C}) {
        const auto x = random_matrix<T>(n, 3, random), y = random_matrix<T>(n, 3, random);
        Held<T> vx(Layout::RowMajor, x), vy(Layout::RowMajor, y);
        m.apply(o, T(2), vx.view(), T(-3), vy.view());
        // op(M) (y' + 3 y) / 2 = x
        auto z = vy.values();
        for (std::size_t i = 0; i < z.values.size(); ++i) z.values[i] = (z.values[i] + 3.0L * y.values[i]) / 2.0L;
        const auto matrix = o == Op::N ? inverse_of : transposed(inverse_of, o == Op::C);
        EXPECT_LE(largest(minus(times(matrix, z), x)), 1e5L * eps<T>) << static_cast<int>(o);
      }
    };
    Dense<Wide<T>> diagonal(n, n), block_part(n, n), lower(n, n), upper(n, n), middle(n, n);
    const long double w = static_cast<long double>(static_cast<Real<T>>(1.2));
    for (std::int64_t i = 0; i < n; ++i) {
      diagonal(i, i) = a(i, i), middle(i, i) = w / (2 - w) / a(i, i);
      for (std::int64_t j = 0; j < n; ++j) {
        if (i / 7 == j / 7) block_part(i, j) = a(i, j);
        if (j <= i) lower(i, j) = i == j ? a(i, j) / w : a(i, j);
        if (j >= i) upper(i, j) = i == j ? a(i, j) / w : a(i, j);
      }
    }
    check(jacobi, diagonal);
    check(blocks, block_part);
    check(ssor, times(lower, times(middle, upper)));
  });
}

TEST(Krylov, LeastSquares) {
  for_scalars([]<class T>() {
    Random random(105);
    const double tolerance = sizeof(Real<T>) == 4 ? 1e-4 : 1e-9;
    for (const auto& [m, n] :
         {std::pair{30, 12}, std::pair{12, 30}, std::pair{9, 9}, std::pair{1, 4}, std::pair{4, 1}}) {
      const auto a = conditioned<T>(m, n, 20, random);
      const auto b = random_matrix<T>(m, 3, random);
      Held<T> ha(Layout::ColumnMajor, a), hb(Layout::RowMajor, b), hx(Layout::RowMajor, Dense<Wide<T>>(n, 3));
      const LsqrReport report = lsqr<T>(DenseOperator<T>(ha.view()), hb.view(), hx.view(), {.tolerance = tolerance});
      ASSERT_TRUE(report.outcome.ok());
      // The normal equations and, below full column rank, x in the range of A^H: both to the tolerance times kappa^2.
      const auto r = minus(b, times(a, hx.values()));
      EXPECT_LE(largest(times(adjoint(a), r)), 100 * tolerance);
      if (m < n) {
        const auto left = quad_solution(embedded(times(a, adjoint(a))), embedded(b));
        const auto at = embedded(adjoint(a));
        long double worst = 0;
        const auto x = embedded(hx.values());
        for (std::int64_t i = 0; i < at.rows; ++i) {
          for (std::int64_t j = 0; j < 3; ++j) {
            Quad sum = 0;
            for (std::int64_t l = 0; l < at.columns; ++l) sum += at(i, l) * left(l, j);
            worst = std::max(worst, static_cast<long double>(magnitude(sum - x(i, j))));
          }
        }
        EXPECT_LE(worst, 1000 * tolerance);
      }
    }
  });
}

TEST(Krylov, ZeroColumnsGuessesAndEmptyExtents) {
  for_scalars([]<class T>() {
    Random random(106);
    const std::int64_t n = 12;
    const auto a = with_spectrum<T>(geometric(n, 10), random);
    auto b = random_matrix<T>(n, 3, random);
    for (std::int64_t i = 0; i < n; ++i) b(i, 1) = 0;
    auto methods = positive_methods<T>();
    for (const auto& more : general_methods<T>()) methods.push_back(more);
    methods.push_back({"minres", minres<T>});
    methods.push_back({"lsqr", [](const auto& op, const auto& rhs, const auto& x, const KrylovOptions& options,
                                  const auto&) { return IterationReport(lsqr<T>(op, rhs, x, options)); }});
    Held<T> ha(Layout::RowMajor, a), hb(Layout::RowMajor, b), hx(Layout::RowMajor, b);
    const DenseOperator<T> op(ha.view());
    for (const auto& method : methods) {
      SCOPED_TRACE(method.name);
      hx.set(random_matrix<T>(n, 3, random));
      hx.at(0, 0) = T(std::numeric_limits<Real<T>>::quiet_NaN());  // Guess::Zero never reads X
      const auto report = method.run(op, hb.view(), hx.view(), {.tolerance = 1e-4}, {});
      EXPECT_TRUE(report.outcome.ok());
      EXPECT_EQ(report.residuals[1], 0);
      for (std::int64_t i = 0; i < n; ++i) EXPECT_EQ(hx.at(i, 1), T(0));
      // From the solution nothing is left to do.
      const auto again = method.run(op, hb.view(), hx.view(), {.tolerance = 2e-4, .guess = Guess::InX}, {});
      EXPECT_TRUE(again.outcome.ok());
      EXPECT_EQ(again.iterations, 0);
      // All of B zero.
      Held<T> zero(Layout::RowMajor, Dense<Wide<T>>(n, 2)), x(Layout::RowMajor, random_matrix<T>(n, 2, random));
      EXPECT_TRUE(method.run(op, zero.view(), x.view(), {}, {}).outcome.ok());
      EXPECT_EQ(largest(x.values()), 0);
      // No columns, no rows.
      EXPECT_TRUE(method.run(op, hb.view().block(0, 0, n, 0), hx.view().block(0, 0, n, 0), {}, {}).outcome.ok());
      const DenseOperator<T> nothing(ha.view().block(0, 0, 0, 0));
      EXPECT_TRUE(method.run(nothing, hb.view().block(0, 0, 0, 3), hx.view().block(0, 0, 0, 3), {}, {}).outcome.ok());
    }
  });
}

TEST(Krylov, BlockCgWithEqualColumnsAndMoreColumnsThanRows) {
  for_scalars([]<class T>() {
    Random random(107);
    const std::int64_t n = 30;
    const auto a = with_spectrum<T>(geometric(n, 50), random);
    auto b = random_matrix<T>(n, 6, random);
    for (std::int64_t i = 0; i < n; ++i) b(i, 3) = b(i, 0), b(i, 4) = b(i, 0) + b(i, 1);
    b = rounded<T>(b);
    const double tolerance = sizeof(Real<T>) == 4 ? 1e-4 : 1e-9;
    const auto alone = checked<T>({"cg", cg<T>}, a, b, tolerance);
    const auto block = checked<T>({"block_cg", block_cg<T>}, a, b, tolerance);
    EXPECT_LT(block.iterations, alone.iterations);
    checked<T>({"block_cg", block_cg<T>}, with_spectrum<T>(geometric(4, 50), random), random_matrix<T>(4, 9, random),
               tolerance);
  });
}

TEST(Krylov, NotFiniteInputIsAnOutcome) {
  for_scalars([]<class T>() {
    Random random(108);
    const std::int64_t n = 6;
    const auto nan = T(std::numeric_limits<Real<T>>::quiet_NaN());
    auto methods = positive_methods<T>();
    for (const auto& more : general_methods<T>()) methods.push_back(more);
    methods.push_back({"minres", minres<T>});
    methods.push_back({"lsqr", [](const auto& op, const auto& rhs, const auto& x, const KrylovOptions& options,
                                  const auto&) { return IterationReport(lsqr<T>(op, rhs, x, options)); }});
    for (const auto& method : methods) {
      SCOPED_TRACE(method.name);
      Held<T> ha(Layout::RowMajor, with_spectrum<T>(geometric(n, 4), random));
      Held<T> hb(Layout::RowMajor, random_matrix<T>(n, 2, random)), hx(Layout::RowMajor, Dense<Wide<T>>(n, 2));
      hx.at(3, 0) = nan;
      auto report = method.run(DenseOperator<T>(ha.view()), hb.view(), hx.view(), {.guess = Guess::InX}, {});
      EXPECT_EQ(report.outcome, (Outcome{Status::NotFinite, 6}));
      hb.at(2, 1) = T(std::numeric_limits<Real<T>>::infinity());
      report = method.run(DenseOperator<T>(ha.view()), hb.view(), hx.view(), {.guess = Guess::InX}, {});
      EXPECT_EQ(report.outcome, (Outcome{Status::NotFinite, 5}));
      EXPECT_TRUE(std::isnan(std::abs(hx.at(0, 0))) && std::isnan(std::abs(hx.at(5, 1))));
      hb.at(2, 1) = T(1);
      ha.at(1, 1) = nan;  // the operator makes one
      report = method.run(DenseOperator<T>(ha.view()), hb.view(), hx.view(), {}, {});
      EXPECT_EQ(report.outcome, (Outcome{Status::NotFinite, -1}));
      EXPECT_TRUE(std::isnan(std::abs(hx.at(0, 0))));
    }
  });
}

TEST(Krylov, LimitsMonitorsAndBreakdowns) {
  Random random(109);
  const std::int64_t n = 40;
  const auto a = with_spectrum<double>(geometric(n, 1e4), random);
  const auto b = random_matrix<double>(n, 2, random);
  Held<double> ha(Layout::RowMajor, a), hb(Layout::RowMajor, b), hx(Layout::RowMajor, b);
  const DenseOperator<double> op(ha.view());
  auto methods = positive_methods<double>();
  for (const auto& more : general_methods<double>()) methods.push_back(more);
  methods.push_back({"minres", minres<double>});
  for (const auto& method : methods) {
    SCOPED_TRACE(method.name);
    auto report = method.run(op, hb.view(), hx.view(), {.tolerance = 1e-12, .max_iterations = 3}, {});
    EXPECT_EQ(report.outcome, (Outcome{Status::NotConverged, 0}));
    EXPECT_EQ(report.iterations, 3);
    const auto residuals = true_residuals(a, b, hx.values());
    for (std::size_t j = 0; j < 2; ++j) EXPECT_NEAR(report.residuals[j], residuals[j], 1e-10);
    std::vector<std::int64_t> seen;
    report = method.run(op, hb.view(), hx.view(),
                        {.tolerance = 1e-12,
                         .monitor =
                             [&](std::int64_t k, std::span<const double> r) {
                               EXPECT_EQ(r.size(), 2u);
                               seen.push_back(k);
                               return k < 5;
                             }},
                        {});
    EXPECT_EQ(report.outcome.status, Status::NotConverged);
    EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
    // Less than the arithmetic can do: an end, and no Ok.
    report = method.run(op, hb.view(), hx.view(), {.tolerance = 1e-30, .max_iterations = 2000}, {});
    EXPECT_EQ(report.outcome.status, Status::NotConverged);
    EXPECT_LT(report.accuracy.bound, 1e-10);
  }
  // A = [[0, 1], [-1, 0]]: (r, A r) = 0, so bicgstab divides by zero; gmres is done in two steps.
  Held<double> turn(Layout::RowMajor, 2, 2), one(Layout::RowMajor, 2, 1), y(Layout::RowMajor, 2, 1);
  turn.at(0, 0) = 0, turn.at(0, 1) = 1, turn.at(1, 0) = -1, turn.at(1, 1) = 0, one.at(0, 0) = 1, one.at(1, 0) = 0;
  const DenseOperator<double> quarter(turn.view());
  EXPECT_EQ(bicgstab<double>(quarter, one.view(), y.view()).outcome, (Outcome{Status::Breakdown, 0}));
  EXPECT_TRUE(gmres<double>(quarter, one.view(), y.view()).outcome.ok());
  EXPECT_EQ(y.at(1, 0), 1);
  // A singular matrix whose range does not hold b: [[0, 1], [0, 0]] x = e_2.
  turn.at(1, 0) = 0;
  one.at(0, 0) = 0, one.at(1, 0) = 1;
  EXPECT_EQ(gmres<double>(quarter, one.view(), y.view()).outcome, (Outcome{Status::Breakdown, 0}));
  one.at(0, 0) = 1, one.at(1, 0) = 0;
  EXPECT_EQ(gmres<double>(quarter, one.view(), y.view()).outcome, (Outcome{Status::Breakdown, 0}));
}

TEST(Krylov, ArgumentsAreRefused) {
  const auto refused = [](auto f, const std::string& part) {
    try {
      f();
      ADD_FAILURE() << "nothing was thrown; expected: " << part;
    } catch (const InvalidArgument& e) {
      EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
    }
  };
  Held<float> a(Layout::RowMajor, 4, 4), wide(Layout::RowMajor, 4, 5), b(Layout::RowMajor, 4, 2),
      x(Layout::RowMajor, 4, 2);
  const DenseOperator<float> op(a.view()), oblong(wide.view());
  const Identity<float> small(kHost, 3);
  refused([&] { cg<float>(oblong, b.view(), x.view()); }, "solver.cg: A is 4 x 5; it must be square");
  refused([&] { cg<float>(OperatorRef<float>(), b.view(), x.view()); }, "there is no operator A");
  refused([&] { gmres<float>(op, b.view().block(0, 0, 3, 2), x.view()); }, "B has 3 rows; it must have 4");
  refused([&] { gmres<float>(op, b.view(), x.view().block(0, 0, 4, 1)); }, "X is 4 x 1; it must be 4 x 2");
  refused([&] { minres<float>(op, x.view(), x.view()); }, "X shares memory with B");
  refused([&] { minres<float>(op, b.view(), x.view(), {}, small); }, "the preconditioner is 3 x 3; A has 4 rows");
  refused([&] { cg<float>(op, b.view(), x.view(), {.tolerance = 0}); }, "the tolerance is 0");
  refused([&] { cg<float>(op, b.view(), x.view(), {.max_iterations = -1}); }, "max_iterations is -1");
  refused([&] { gmres<float>(op, b.view(), x.view(), {.restart = 0}); }, "restart is 0");
  IdrOptions none;
  none.s = 0;
  refused([&] { idr<float>(op, b.view(), x.view(), none); }, "s is 0");
  refused([&] { chebyshev<float>(op, b.view(), x.view(), {0, 1}); }, "0 < lo <= hi must hold");
  refused([&] { BlockJacobi<float>(a.view(), 0); }, "the block size is 0");
  refused([&] { Ssor<float>(a.view(), 2.0); }, "omega is 2");
  refused([&] { Jacobi<float>(wide.view()); }, "it must be square");
  refused([&] { cg<float>(op, b.view(), x.view(), {.guess = static_cast<Guess>(9)}); }, "Guess");
  refused([&] { small.apply(static_cast<Op>(7), 1, b.view(), 0, x.view()); }, "Op");
  a.at(2, 2) = 0;
  const Jacobi<float> singular(a.view());
  EXPECT_EQ(singular.outcome(), (Outcome{Status::Singular, 2}));
  refused([&] { cg<float>(op, b.view(), x.view(), {}, singular); }, "the preconditioner is singular at index 2");
}

// Products of denormal numbers underflow: what came of it may not be called converged.
TEST(Krylov, LeastSquaresOfDenormalNumbersSayWhatTheyReached) {
  const Executor host = Executor::host();
  const std::vector<double> a{2, .5, .5, 2}, b{1e-310, 1e-310};
  std::vector<double> x(2);
  const auto r = lsqr<double>(DenseOperator<double>(MatrixView<const double>::row_major(host, a.data(), 2, 2)),
                              MatrixView<const double>::row_major(host, b.data(), 2, 1),
                              MatrixView<double>::row_major(host, x.data(), 2, 1));
  EXPECT_TRUE(!r.outcome.ok() || r.residuals[0] < 1e-6) << r.residuals[0];
}

// A^H A and A^H r lie outside the range; x does not.
TEST(Krylov, LeastSquaresAtTheEndsOfTheRange) {
  for_scalars([]<class T>() {
    Random random(113);
    const std::int64_t n = 40;
    const double tolerance = sizeof(Real<T>) == 4 ? 1e-4 : 1e-10;
    const auto unit = with_spectrum<T>(geometric(n, 100), random);
    const auto sides = random_matrix<T>(n, 2, random);
    const auto most = std::numeric_limits<Real<T>>::max_exponent;
    for (const int exponent : {-most * 3 / 4, -most * 2 / 3, -most * 9 / 16, most * 9 / 16, most * 3 / 4}) {
      for (const bool wide : {false, true}) {  // wide: least squares that leave a residual
        const std::int64_t columns = wide ? n / 2 : n;
        Dense<Wide<T>> a(n, columns), b = sides;
        const auto factor = std::ldexp(Real<Wide<T>>(1), exponent);
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; j < columns; ++j) a(i, j) = unit(i, j) * factor;
        }
        for (auto& x : b.values) x *= factor;
        Held<T> ha(Layout::RowMajor, a), hb(Layout::RowMajor, b), hx(Layout::RowMajor, columns, 2);
        const auto report = lsqr<T>(DenseOperator<T>(ha.view()), hb.view(), hx.view(), {.tolerance = tolerance});
        ASSERT_TRUE(report.outcome.ok()) << exponent << " " << name(report.outcome.status);
        EXPECT_GT(report.iterations, 3);
        // In units of the scale; ||A^H r|| <= tolerance ||A||_F ||r||, with ||A||_F < 400 and ||r|| < 40.
        for (auto& x : a.values) x /= factor;
        const auto r = minus(sides, times(a, hx.values()));
        EXPECT_LE(largest(times(adjoint(a), r)), 16000 * tolerance) << exponent;
      }
    }
  });
}

}  // namespace
}  // namespace trn::solver::testing
