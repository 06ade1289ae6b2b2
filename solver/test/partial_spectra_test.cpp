// Partial spectra: planted eigenvalues, residuals and orthogonality in 80 bits, multiple and clustered ones.
#include <trn/solver/partial_spectra.hpp>

#include "krylov_support.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();

template <class T> using Solver = std::function<SpectrumReport(const OperatorRef<T>&, const VectorView<Real<T>>&,
                                                               const MatrixView<T>&, const SpectrumOptions&)>;
template <class T> std::vector<std::pair<const char*, Solver<T>>> solvers() {
  return {{"lanczos", lanczos<T>},
          {"lobpcg", [](const auto& a, const auto& w, const auto& v,
                        const SpectrumOptions& options) { return lobpcg<T>(a, w, v, options); }},
          {"filtered_subspace", filtered_subspace<T>}};
}

template <class T> void expect_pairs(const Dense<Wide<T>>& a, const SpectrumReport& report, std::vector<Real<T>>& w,
                                     const Dense<Wide<T>>& v, const std::vector<long double>& expected,
                                     double tolerance) {
  const long double norm = norm1(a);
  ASSERT_TRUE(report.outcome.ok()) << name(report.outcome.status) << " " << report.outcome.index;
  Dense<Wide<T>> vw = v;
  for (std::int64_t j = 0; j < v.columns; ++j) {
    for (std::int64_t i = 0; i < v.rows; ++i) vw(i, j) *= static_cast<long double>(w[static_cast<std::size_t>(j)]);
  }
  const auto r = minus(times(a, v), vw);
  EXPECT_LE(orthogonality(v, eps<T>), 10);
  for (std::int64_t j = 0; j < v.columns; ++j) {
    long double size = 0;
    for (std::int64_t i = 0; i < v.rows; ++i) size += std::norm(r(i, j));
    size = std::sqrt(size);
    const auto at = static_cast<std::size_t>(j);
    EXPECT_LE(size, tolerance * norm + 20 * eps<T> * norm);
    EXPECT_NEAR(static_cast<double>(size), report.residuals[at], static_cast<double>(20 * eps<T> * norm));
    EXPECT_NEAR(w[at], static_cast<double>(expected[at]),
                static_cast<double>(size + static_cast<long double>(20 + v.rows) * eps<T> * norm))
        << at;
  }
}

TEST(PartialSpectra, PlantedEigenvaluesAtBothEnds) {
  for_scalars([]<class T>() {
    Random random(201);
    for (const std::int64_t n : {1, 5, 60}) {
      std::vector<long double> spectrum;
      for (std::int64_t i = 0; i < n; ++i) spectrum.push_back(-1 + 2.0L * static_cast<long double>(i * i) / (n * n));
      const auto a = with_spectrum<T>(spectrum, random);
      // Rounding the elements to T moved the eigenvalues by at most n eps / 2.
      const std::vector<long double>& exact = spectrum;
      Held<T> ha(Layout::ColumnMajor, a);
      const DenseOperator<T> op(ha.view());
      const std::int64_t k = std::min<std::int64_t>(n, 4);
      for (const auto& [name, solve] : solvers<T>()) {
        SCOPED_TRACE(name);
        for (const End end : {End::Smallest, End::Largest}) {
          std::vector<Real<T>> w(static_cast<std::size_t>(k));
          Held<T> hv(Layout::RowMajor, Dense<Wide<T>>(n, k));
          const SpectrumReport report =
              solve(op, VectorView<Real<T>>(kHost, w.data(), k), hv.view(), {.end = end, .seed = 7});
          const std::int64_t first = end == End::Smallest ? 0 : n - k;
          expect_pairs<T>(a, report, w, hv.values(), {exact.begin() + first, exact.begin() + first + k},
                          std::sqrt(std::numeric_limits<Real<T>>::epsilon()));
          EXPECT_TRUE(hv.surroundings_untouched());
          EXPECT_GT(report.products, 0);
        }
      }
    }
  });
}

// Three times 1, a pair 1e-6 apart, and the rest from 2 to 10.
TEST(PartialSpectra, MultipleAndClusteredEigenvalues) {
  Random random(202);
  const std::int64_t n = 50;
  std::vector<long double> spectrum{1, 1, 1, 1.5L, 1.500001L};
  for (std::int64_t i = 5; i < n; ++i) spectrum.push_back(2 + 8.0L * static_cast<long double>(i - 5) / (n - 6));
  const auto a = with_spectrum<double>(spectrum, random);
  Held<double> ha(Layout::RowMajor, a);
  const DenseOperator<double> op(ha.view());
  for (const auto& [name, solve] : solvers<double>()) {
    SCOPED_TRACE(name);
    std::vector<double> w(5);
    Held<double> hv(Layout::RowMajor, n, 5);
    const auto report = solve(op, VectorView<double>(kHost, w.data(), 5), hv.view(), {.tolerance = 1e-10});
    expect_pairs<double>(a, report, w, hv.values(), {1, 1, 1, 1.5L, 1.500001L}, 1e-10);
  }
}

TEST(PartialSpectra, PreconditionedLobpcg) {
  Random random(203);
  const std::int64_t n = 40;
  auto a = random_hermitian<double>(n, random);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) a(i, j) *= i == j ? 0 : 0.02L;
    a(i, i) = 1 + static_cast<long double>(i * i);
  }
  a = rounded<double>(a);
  Held<double> ha(Layout::RowMajor, a);
  const DenseOperator<double> op(ha.view());
  const Jacobi<double> m(ha.view());
  std::vector<double> w(3);
  Held<double> hv(Layout::RowMajor, n, 3);
  const VectorView<double> wv(kHost, w.data(), 3);
  const auto plain = lobpcg<double>(op, wv, hv.view(), {.tolerance = 1e-9});
  const auto better = lobpcg<double>(op, wv, hv.view(), {.tolerance = 1e-9}, m);
  EXPECT_TRUE(plain.outcome.ok());
  EXPECT_LT(better.iterations * 2, plain.iterations);
  const auto exact = reference_eigenvalues(a);
  expect_pairs<double>(a, better, w, hv.values(), exact, 1e-9);
}

TEST(PartialSpectra, Feast) {
  for_scalars([]<class T>() {
    Random random(204);
    const std::int64_t n = 40;
    std::vector<long double> spectrum;
    for (std::int64_t i = 0; i < n; ++i) spectrum.push_back(0.1L * static_cast<long double>(i) - 2);
    const auto a = with_spectrum<T>(spectrum, random);
    Held<T> ha(Layout::RowMajor, a);
    for (const auto& [lo, hi, first, count] : {std::tuple{-0.55, 0.05, 15, 6}, std::tuple{-3.0, -1.75, 0, 3},
                                               std::tuple{0.51, 0.59, 0, 0}, std::tuple{1.86, 9.0, 39, 1}}) {
      SCOPED_TRACE(lo);
      std::vector<Real<T>> w(10);
      Held<T> hv(Layout::ColumnMajor, n, 10);
      const auto report = feast<T>(kHost, ha.view(), lo, hi, VectorView<Real<T>>(kHost, w.data(), 10), hv.view());
      ASSERT_EQ(report.found, count);
      Dense<Wide<T>> v(n, count);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < count; ++j) v(i, j) = widened(hv.at(i, j));
      }
      EXPECT_TRUE(std::isnan(w[static_cast<std::size_t>(count)]));
      EXPECT_TRUE(report.outcome.ok());
      if (count > 0) {
        expect_pairs<T>(a, report, w, v, {spectrum.begin() + first, spectrum.begin() + first + count},
                        std::sqrt(std::numeric_limits<Real<T>>::epsilon()));
      }
    }
    // No room: said, not cut off in silence.
    std::vector<Real<T>> w(3);
    Held<T> hv(Layout::ColumnMajor, n, 3);
    const auto report = feast<T>(kHost, ha.view(), -0.55, 0.05, VectorView<Real<T>>(kHost, w.data(), 3), hv.view());
    EXPECT_EQ(report.outcome.status, Status::NotConverged);
  });
}

TEST(PartialSpectra, BadInput) {
  Held<double> a(Layout::RowMajor, with_spectrum<double>(geometric(6, 10), *std::make_unique<Random>(5)));
  Held<double> oblong(Layout::RowMajor, 6, 5), v(Layout::RowMajor, 6, 2), wide(Layout::RowMajor, 6, 7);
  std::vector<double> w(7);
  const VectorView<double> w2(kHost, w.data(), 2), w7(kHost, w.data(), 7);
  for (const auto& [name, solve] : solvers<double>()) {
    SCOPED_TRACE(name);
    EXPECT_THROW(solve(DenseOperator<double>(oblong.view()), w2, v.view(), {}), InvalidArgument);
    EXPECT_THROW(solve(DenseOperator<double>(a.view()), w7, wide.view(), {}), InvalidArgument);
    EXPECT_THROW(solve(DenseOperator<double>(a.view()), w7, v.view(), {}), InvalidArgument);
    EXPECT_THROW(solve(DenseOperator<double>(a.view()), w2, v.view(), {.tolerance = -1}), InvalidArgument);
    EXPECT_TRUE(
        solve(DenseOperator<double>(a.view()), VectorView<double>(kHost, w.data(), 0), v.view().block(0, 0, 6, 0), {})
            .outcome.ok());
    const auto short_of =
        solve(DenseOperator<double>(a.view()), w2, v.view(), {.tolerance = 1e-15, .max_iterations = 1});
    EXPECT_TRUE(short_of.outcome.ok() || short_of.outcome.status == Status::NotConverged);
    Held<double> bad(Layout::RowMajor, a.values());
    bad.at(2, 3) = std::numeric_limits<double>::quiet_NaN();
    const auto report = solve(DenseOperator<double>(bad.view()), w2, v.view(), {});
    EXPECT_EQ(report.outcome, (Outcome{Status::NotFinite, -1}));
    EXPECT_TRUE(std::isnan(w[0]) && std::isnan(v.at(5, 1)));
  }
  EXPECT_THROW(feast<double>(kHost, a.view(), 2, 1, w2, v.view()), InvalidArgument);
  a.at(1, 2) = std::numeric_limits<double>::infinity();
  EXPECT_EQ(feast<double>(kHost, a.view(), 1, 2, w2, v.view()).outcome, (Outcome{Status::NotFinite, 8}));
}

}  // namespace
}  // namespace trn::solver::testing
