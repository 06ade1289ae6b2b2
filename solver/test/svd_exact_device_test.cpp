// Singular values in double on simulated devices: LAPACK's ratios in 80-bit arithmetic over spectra that are apart,
// equal, clustered, nested, graded, tiny and zero, for tall, square and wide matrices, thin and full; outcomes, proofs,
// and that every product was the device's.
#include <trn/solver/svd.hpp>

#include <cstdlib>
#include <functional>

#include "device_support.hpp"
#include "orthogonal_support.hpp"

namespace trn::solver::testing::svd_exact {
namespace {

using Wd = Dense<long double>;

struct Solved {
  Wd u, vh;
  std::vector<double> s;
  SvdReport report;
};

Solved run(const Executor& executor, const Wd& a, bool full = false, const SvdOptions& options = {},
           Layout layout = Layout::RowMajor) {
  const std::int64_t m = a.rows, n = a.columns, k = std::min(m, n);
  Held<double> held(layout, a), hu(layout, m, full ? m : k), hv(layout, full ? n : k, n);
  OnDevice<double> da(executor, held), du(executor, hu), dv(executor, hv);
  const Array<double> s(executor, {k});
  Recorder recorder(executor);
  const SvdReport report =
      svd<double>(executor, da.view(), VectorView<double>(s.view()), du.view(), dv.view(), options);
  EXPECT_EQ(recorder.family_of("solver.svd"), "device");
  EXPECT_EQ(report.algorithm, "polar, spectral divide and conquer, refined");
  EXPECT_NE(recorder.family_of("blas.gemm"), "host");
  if (report.iterations > 0) {
    EXPECT_GE(recorder.count(EventKind::Run, "solver_polar"), 1);
  }
  da.fetch(), du.fetch(), dv.fetch();
  EXPECT_TRUE(held.surroundings_untouched() && hu.surroundings_untouched() && hv.surroundings_untouched());
  if (report.outcome.ok()) {
    EXPECT_EQ(largest(minus(held.values(), a)), 0);
  }
  return {hu.values(), hv.values(), s.to_host(), report};
}

struct Ratios {
  long double residual = 0, orthogonal = 0;
};
Ratios check(const Executor& executor, const Wd& a, bool full = false, const SvdOptions& options = {},
             Layout layout = Layout::RowMajor) {
  SCOPED_TRACE(::testing::Message() << a.rows << " x " << a.columns << " full " << full);
  const Solved x = run(executor, a, full, options, layout);
  EXPECT_TRUE(x.report.outcome.ok());
  EXPECT_TRUE(std::is_sorted(x.s.rbegin(), x.s.rend()));
  EXPECT_TRUE(x.s.empty() || x.s.back() >= 0);
  const auto k = static_cast<std::int64_t>(x.s.size());
  Wd us(a.rows, k), vh(k, a.columns);
  for (std::int64_t j = 0; j < k; ++j) {
    for (std::int64_t i = 0; i < a.rows; ++i) us(i, j) = x.u(i, j) * x.s[static_cast<std::size_t>(j)];
    for (std::int64_t i = 0; i < a.columns; ++i) vh(j, i) = x.vh(j, i);
  }
  const Wd rest = minus(times(us, vh), a);
  const Ratios r{ratio(rest, norm1(a), std::max(a.rows, a.columns), eps<double>),
                 std::max(orthogonality(x.u, eps<double>), orthogonality(transposed(x.vh), eps<double>))};
  EXPECT_LT(r.residual, 1);
  EXPECT_LT(r.orthogonal, 1);
  // What the report says: the residual's Frobenius norm.
  long double sum = 0;
  for (const long double y : rest.values) sum += y * y;
  if (k > 0 && x.s[0] > 0) {
    EXPECT_LE(std::sqrt(sum), (x.report.accuracy.bound + static_cast<double>(k) * 1e-16) * x.s[0]);
    EXPECT_LE(x.report.accuracy.bound, 1e-13);
  }
  return r;
}

// U diag(value) V^T, rounded.
template <class F> Wd with_values(std::int64_t m, std::int64_t n, F value, Random& random) {
  const Wd u = orthogonal(m, random), v = orthogonal(n, random);
  Wd x(m, n);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) x(i, j) = u(j, i) * static_cast<long double>(value(j));
  }
  return rounded<double>(times(x, v));
}

struct Kind {
  const char* name;
  std::function<long double(std::int64_t j, std::int64_t n)> value;
};
const std::vector<Kind>& kinds() {
  using I = std::int64_t;
  const auto share = [](I j, I n) { return static_cast<long double>(j) / static_cast<long double>(n - 1); };
  static const std::vector<Kind> all = {
      {"geometric to 1e-7", [=](I j, I n) { return std::pow(1e-7L, share(j, n)); }},
      {"geometric to 1e-16", [=](I j, I n) { return std::pow(1e-16L, share(j, n)); }},
      {"half rank", [](I j, I n) { return j < n / 2 ? 1.0L + static_cast<long double>(j) : 0.0L; }},
      {"all equal", [](I, I) { return 1.0L; }},
      {"one, the others 1e-10", [](I j, I) { return j == 0 ? 1.0L : 1e-10L; }},
      {"two clusters 1e-9 wide", [=](I j, I n) { return (j % 2 ? 1.0L : 0.5L) * (1 + 1e-9L * share(j, n)); }},
      {"a cluster at 2^-10", [=](I j, I n) { return j < 3 ? 1.0L : 0x1p-10L * (1 + 1e-12L * share(j, n)); }},
      {"nested: 1, 1e-4, 1e-8, 1e-12",
       [](I j, I) {
         return std::pow(1e-4L, static_cast<long double>(j % 4)) * (1 + 1e-13L * static_cast<long double>(j));
       }},
      {"dense from 2^-6 to 2^-14", [=](I j, I n) { return j == 0 ? 1.0L : std::exp2(-6 - 8 * share(j, n)); }},
      {"one below rounding", [](I j, I n) { return j + 1 < n ? 1.0L : 1e-20L; }},
      {"arithmetic", [](I j, I n) { return static_cast<long double>(n - j) / static_cast<long double>(n); }},
      {"logarithmic clusters", [](I j, I) { return std::pow(10.0L, -static_cast<long double>(j / 5)); }},
  };
  return all;
}

TEST(SvdExactDevice, Spectra) {
  const Executor trn2 = neuron::open_simulator("trn2", {.order = neuron::Order::in_order()});
  const char* asked = std::getenv("TRN_SPECTRA");
  const int rounds = asked ? std::max(1, std::atoi(asked) / static_cast<int>(kinds().size())) : 1;
  Random random(41);
  Ratios worst;
  for (int round = 0; round < rounds; ++round) {
    int number = 0;
    for (const Kind& kind : kinds()) {
      if (!asked && ++number % 2) continue;  // time
      SCOPED_TRACE(kind.name);
      const std::int64_t n = asked ? 17 + random.below(60) : 20, m = n + random.below(asked ? 20 : 6);
      const Ratios r = check(trn2, with_values(
                                       m, n, [&](std::int64_t j) { return kind.value(j, n); }, random));
      worst.residual = std::max(worst.residual, r.residual),
      worst.orthogonal = std::max(worst.orthogonal, r.orthogonal);
      if (asked) {
        std::printf("%-32s %3d x %3d: residual %.3f, orthogonality %.3f\n", kind.name, static_cast<int>(m),
                    static_cast<int>(n), static_cast<double>(r.residual), static_cast<double>(r.orthogonal));
        std::fflush(stdout);  // hours of simulation
      }
    }
  }
  std::printf("worst: residual %.3f, orthogonality %.3f\n", static_cast<double>(worst.residual),
              static_cast<double>(worst.orthogonal));
}

TEST(SvdExactDevice, ShapesAndScales) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(42);
  check(trn2, random_matrix<double>(22, 18, random), true, {}, Layout::PaddedColumns);
  check(trn2, random_matrix<double>(17, 21, random), false, {}, Layout::Reversed);
  check(trn2, random_matrix<double>(18, 2, random), true);
  check(trn2, random_matrix<double>(5, 9, random), true, {}, Layout::Scattered);
  check(trn2, random_matrix<double>(1, 1, random));
  check(trn2, hilbert<double>(18));
  check(trn2, Wd(19, 17), true);  // zero
  check(trn2, identity<long double>(18));
  for (const double scale : {1e-300, 1e300}) {
    Wd a = random_matrix<double>(17, 17, random);
    for (auto& x : a.values) x *= static_cast<long double>(scale);
    check(trn2, rounded<double>(a));
  }
  for (const auto& [m, n] : {std::pair{0, 3}, std::pair{3, 0}}) check(trn2, Wd(m, n), true);
}

TEST(SvdExactDevice, OutcomesAndProofs) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(43);
  Wd a = random_matrix<double>(18, 17, random);
  const Solved proved = run(trn2, a, false, {.certify = Certify::Rigorous});
  ASSERT_TRUE(proved.report.outcome.ok());
  EXPECT_EQ(proved.report.guarantee, Guarantee::Rigorous);
  Held<double> exact(Layout::ColumnMajor, a), hu(Layout::ColumnMajor, 18, 17), hv(Layout::ColumnMajor, 17, 17);
  std::vector<double> reference(17);
  ASSERT_TRUE(svd<double>(Executor::host(), exact.view(), VectorView<double>(Executor::host(), reference.data(), 17),
                          hu.view(), hv.view())
                  .outcome.ok());
  for (std::size_t i = 0; i < 17; ++i) {
    EXPECT_LE(std::abs(proved.s[i] - reference[i]), proved.report.error_bounds[i] + 17 * 0x1p-52 * reference[0]);
    EXPECT_LE(proved.report.error_bounds[i], 1e-13 * reference[0]);
  }
  a(3, 5) = std::numeric_limits<double>::infinity();
  const Solved bad = run(trn2, a);
  EXPECT_EQ(bad.report.outcome, (Outcome{Status::NotFinite, 3 * 17 + 5}));
  EXPECT_TRUE(std::isnan(bad.s[0]) && std::isnan(bad.u(0, 0)) && std::isnan(bad.vh(0, 0)));
}

}  // namespace
}  // namespace trn::solver::testing::svd_exact
