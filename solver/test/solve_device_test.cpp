// solve on simulated devices: integer systems with known solutions up to the condition numbers at which float32
// factorisations say nothing, proofs, structures, outcomes.
#include <trn/solver/solve.hpp>

#include <numeric>

#include "device_support.hpp"

namespace trn::solver::testing {
namespace {

// max|x - x*| / max|x*|, x* integers.
template <class T> long double forward_error(Held<T>& x, const Dense<long double>& exact) {
  return largest(minus(x.values(), exact)) / largest(exact);
}

// Hilbert's matrix times the least common multiple of its denominators: integers.
Dense<long double> integer_hilbert(std::int64_t n) {
  std::int64_t multiple = 1;
  for (std::int64_t k = 2; k < 2 * n; ++k) multiple = std::lcm(multiple, k);
  Dense<long double> a(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) a(i, j) = static_cast<long double>(multiple / (i + j + 1));
  }
  return a;
}
Dense<long double> integers(std::int64_t n, std::int64_t columns) {
  Dense<long double> x(n, columns);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < columns; ++j) x(i, j) = static_cast<long double>((7 * i + 3 * j) % 5 - 2);
  }
  return x;
}

template <class T> Report run(const Executor& executor, const Dense<long double>& a, const Dense<long double>& x,
                              const SolveOptions& options, long double& error) {
  Held<T> held(Layout::RowMajor, a), b(Layout::ColumnMajor, times(a, x));
  OnDevice<T> da(executor, held), db(executor, b);
  const Report report = solve<T>(executor, da.view(), db.view(), options);
  db.fetch();
  error = forward_error(b, x);
  return report;
}

// Integer matrices whose products with small integers are exact in float.
TEST(SolveDevice, EveryStructure) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(1);
  for (const std::int64_t n : {1, 2, 60, 140}) {
    Dense<long double> a(n, n), symmetric(n, n), lower(n, n);
    for (auto& v : a.values) v = static_cast<long double>(random.below(15) - 7);
    for (std::int64_t i = 0; i < n; ++i) {
      a(i, i) += static_cast<long double>(4 * n);
      lower(i, i) = 3;
      for (std::int64_t j = 0; j <= i; ++j) symmetric(i, j) = symmetric(j, i) = a(i, j);
      for (std::int64_t j = 0; j < i; ++j) lower(i, j) = (i + j) % 7 == 0 ? 1 : 0;
    }
    const auto x = integers(n, 2);
    const auto check = [&](const Dense<long double>& matrix, Structure structure, std::string_view algorithm,
                           std::string_view in_double) {
      long double error = 1;
      Recorder recorder(trn2);
      const Report narrow = run<float>(trn2, matrix, x, {.structure = structure}, error);
      EXPECT_TRUE(narrow.outcome.ok()) << n;
      EXPECT_EQ(narrow.algorithm, algorithm);
      EXPECT_LE(error, 0x1p-23L);
      EXPECT_LE(error, narrow.accuracy.bound);
      EXPECT_GT(recorder.count(EventKind::Run), 0);
      const Report wide = run<double>(trn2, matrix, x, {.structure = structure}, error);
      EXPECT_TRUE(wide.outcome.ok()) << n;
      EXPECT_EQ(wide.algorithm, in_double);
      EXPECT_LE(error, 0x1p-52L);
    };
    check(a, Structure::General, "blocked qr", "blocked qr in float32, refined");
    check(symmetric, Structure::Symmetric, "blocked qr", "blocked qr in float32, refined");
    if (n > 60) continue;
    check(symmetric, Structure::Positive, "blocked cholesky", "blocked cholesky, exact products");
    check(lower, Structure::Triangular, "triangular", "triangular");
  }
}

// Condition numbers 1.5e4, 1.5e10, 1.6e13 and 1.7e16, the last with more factors of the approximate inverse than the
// three of the default: each of them gains the seven digits of float32, less what n takes.
TEST(SolveDevice, TheLadder) {
  const Executor trn2 = neuron::open_simulator("trn2");
  int levels = 0;
  for (const std::int64_t n : {4, 8, 10, 12}) {
    const auto a = integer_hilbert(n), x = integers(n, 2);
    long double error = 1;
    const int most = n == 12 ? 5 : 3;
    const Report report = run<double>(trn2, a, x, {.max_levels = most}, error);
    EXPECT_TRUE(report.outcome.ok()) << n;
    EXPECT_LE(error, 0x1p-52L) << n;
    EXPECT_GE(report.levels, levels) << n;
    levels = report.levels;
    const Report proved =
        run<double>(trn2, a, x, {.target_error = 1e-15, .certify = Certify::Rigorous, .max_levels = most}, error);
    EXPECT_TRUE(proved.outcome.ok()) << n;
    EXPECT_EQ(proved.guarantee, Guarantee::Rigorous);
    EXPECT_LE(error, proved.accuracy.bound);
    EXPECT_LE(proved.accuracy.bound, 1e-15);
  }
  EXPECT_GE(levels, 2);
}

TEST(SolveDevice, Outcomes) {
  const Executor trn2 = neuron::open_simulator("trn2");
  const auto x = integers(20, 1);
  long double error = 0;
  Dense<long double> ones(20, 20);
  for (auto& v : ones.values) v = 1;
  Report report = run<double>(trn2, ones, x, {}, error);
  EXPECT_EQ(report.outcome.status, Status::Singular);
  EXPECT_TRUE(std::isnan(error));
  report = run<float>(trn2, ones, x, {.structure = Structure::Positive}, error);
  EXPECT_EQ(report.outcome, (Outcome{Status::NotPositiveDefinite, 1}));
  auto bad = identity<long double>(20);
  bad(2, 3) = NAN;
  report = run<float>(trn2, bad, x, {}, error);
  EXPECT_EQ(report.outcome, (Outcome{Status::NotFinite, 43}));
  report = run<float>(trn2, ones, x, {.factor = Factor::Lu}, error);
  EXPECT_EQ(report.outcome.status, Status::Singular);
  report = run<double>(trn2, identity<long double>(20), x, {.target_error = 1e-12, .measure = ErrorMeasure::Backward},
                       error);
  EXPECT_TRUE(report.outcome.ok());
  EXPECT_EQ(report.guarantee, Guarantee::Rigorous);
}

}  // namespace
}  // namespace trn::solver::testing
