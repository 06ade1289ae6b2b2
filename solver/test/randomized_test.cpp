// Randomised methods: measured errors against 80 bits, planted spectra, traces over many seeds, least squares.
#include <trn/solver/randomized.hpp>

#include <trn/core/event.hpp>

#include "krylov_support.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();

template <class W> long double frobenius(const Dense<W>& a) {
  long double sum = 0;
  for (const W& x : a.values) sum += std::norm(x);
  return std::sqrt(sum);
}
template <class T, class R>
Dense<Wide<T>> rebuilt(const Matrix<T>& u, const std::vector<R>& s, const Dense<Wide<T>>& vh) {
  Dense<Wide<T>> us = wide(u.view());
  for (std::int64_t i = 0; i < us.rows; ++i) {
    for (std::int64_t j = 0; j < us.columns; ++j) us(i, j) *= static_cast<long double>(s[static_cast<std::size_t>(j)]);
  }
  return times(us, vh);
}

TEST(Randomized, Rsvd) {
  for_scalars([]<class T>() {
    Random random(601);
    for (const auto& [m, n] : {std::pair{60, 40}, std::pair{30, 50}, std::pair{3, 3}, std::pair{200, 1}}) {
      const auto a = conditioned<T>(m, n, 1e4, random);
      const std::int64_t k = std::min<std::int64_t>(6, std::min(m, n));
      Held<T> ha(Layout::RowMajor, a);
      const auto d = rsvd<T>(DenseOperator<T>(ha.view()), k, {.oversampling = 6, .power_iterations = 3, .seed = 3});
      ASSERT_TRUE(d.report.outcome.ok());
      EXPECT_EQ(d.report.guarantee, Guarantee::Rigorous);
      EXPECT_LE(orthogonality(wide(d.u.view()), eps<T>), 10);
      EXPECT_LE(orthogonality(adjoint(wide(d.vh.view())), eps<T>), 10);
      std::vector<long double> exact;  // as planted, but for the rounding of a's elements
      for (std::int64_t i = 0; i < std::min(m, n); ++i) {
        exact.push_back(std::min(m, n) == 1 ? 1 : std::pow(1e4L, -static_cast<long double>(i) / (std::min(m, n) - 1)));
      }
      const long double error = frobenius(minus(a, rebuilt(d.u, d.s, wide(d.vh.view()))));
      // The bound holds, is close, and the approximation is nearly the best of its rank (Eckart and Young).
      long double best = 0;
      for (std::size_t i = static_cast<std::size_t>(k); i < exact.size(); ++i) best += exact[i] * exact[i];
      best = std::sqrt(best);
      const long double rounding = 200 * eps<T>;
      EXPECT_LE(error, d.report.error);
      EXPECT_LE(d.report.error, 1.05L * error + rounding);
      EXPECT_LE(error, 1.1L * best + rounding);
      for (std::size_t i = 0; i < static_cast<std::size_t>(k); ++i) {
        EXPECT_NEAR(d.s[i], static_cast<double>(exact[i]), static_cast<double>(1e-2L * exact[i] + rounding)) << i;
      }
    }
    // Rank 2, asked for 4: the rest is zero, the error rounding.
    const auto low = times(random_matrix<T>(12, 2, random), random_matrix<T>(2, 9, random));
    Held<T> ha(Layout::ColumnMajor, rounded<T>(low));
    const auto d = rsvd<T>(DenseOperator<T>(ha.view()), 4);
    EXPECT_LE(d.s[2], 50 * eps<T>);
    EXPECT_LE(d.report.accuracy.bound, 300 * eps<T>);
    EXPECT_EQ(rsvd<T>(DenseOperator<T>(ha.view()), 0).s.size(), 0u);
    EXPECT_EQ(rsvd<T>(DenseOperator<T>(ha.view()), 2, {.seed = 5}).u.to_host(),
              rsvd<T>(DenseOperator<T>(ha.view()), 2, {.seed = 5}).u.to_host());
    EXPECT_THROW(rsvd<T>(DenseOperator<T>(ha.view()), 10), InvalidArgument);
    ha.at(3, 3) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    const auto bad = rsvd<T>(DenseOperator<T>(ha.view()), 2);
    EXPECT_EQ(bad.report.outcome, (Outcome{Status::NotFinite, -1}));
    EXPECT_TRUE(std::isnan(bad.s[0]));
  });
}

TEST(Randomized, EigenvaluesAndNystroem) {
  for_scalars([]<class T>() {
    Random random(602);
    const std::int64_t n = 40;
    std::vector<long double> signed_spectrum, positive;
    for (std::int64_t i = 0; i < n; ++i) {
      positive.push_back(std::pow(0.5L, static_cast<long double>(i)));
      signed_spectrum.push_back(positive.back() * (i % 2 ? -1 : 1));
    }
    const auto check = [&](const Dense<Wide<T>>& a, const LowRankEigh<T>& d, const std::vector<long double>& spectrum,
                           long double quality) {
      ASSERT_TRUE(d.report.outcome.ok());
      const auto v = wide(d.v.view());
      EXPECT_LE(orthogonality(v, eps<T>), 10);
      const long double error = frobenius(minus(a, rebuilt(d.v, d.w, adjoint(v))));
      EXPECT_LE(error, d.report.error);
      EXPECT_LE(d.report.error, 1.05L * error + 300 * eps<T>);
      for (std::size_t i = 0; i < d.w.size(); ++i) {
        EXPECT_NEAR(d.w[i], static_cast<double>(spectrum[i]), static_cast<double>(quality + 100 * eps<T>)) << i;
        EXPECT_LE(std::abs(static_cast<long double>(d.w[i]) - spectrum[i]), d.residuals[i] + 100 * eps<T>);
      }
    };
    const auto a = with_spectrum<T>(signed_spectrum, random), p = with_spectrum<T>(positive, random);
    Held<T> ha(Layout::RowMajor, a), hp(Layout::RowMajor, p);
    check(a, eigh_randomized<T>(DenseOperator<T>(ha.view()), 5, {.seed = 1}), signed_spectrum, 1e-4L);
    check(p, nystroem<T>(DenseOperator<T>(hp.view()), 5, {.seed = 2}), positive, 1e-2L);
    EXPECT_EQ((nystroem<T>(DenseOperator<T>(ha.view()), 5).report.outcome.status), Status::NotPositiveDefinite);
    Held<T> zero(Layout::RowMajor, Dense<Wide<T>>(8, 8));
    const auto nothing = nystroem<T>(DenseOperator<T>(zero.view()), 3);
    EXPECT_TRUE(nothing.report.outcome.ok());
    EXPECT_EQ(nothing.w[0], 0);
  });
}

// Over 200 seeds the error must look like its standard error: within 3 of it nearly always, and not always within 1/4.
TEST(Randomized, Traces) {
  Random random(603);
  const std::int64_t n = 40;
  std::vector<long double> spectrum;
  for (std::int64_t i = 0; i < n; ++i) spectrum.push_back(1 / static_cast<long double>((i + 1) * (i + 1)));
  const auto a = with_spectrum<double>(spectrum, random);
  long double trace = 0;
  for (std::int64_t i = 0; i < n; ++i) trace += a(i, i);
  Held<double> ha(Layout::RowMajor, a);
  const DenseOperator<double> op(ha.view());
  int outside = 0, close = 0;
  double plain = 0, plus = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const auto h = trace_hutchinson<double>(op, 30, seed), p = trace_hutchpp<double>(op, 30, seed);
    EXPECT_EQ(h.products, 30);
    EXPECT_EQ(p.products, 30);
    const double off = std::abs(h.value - static_cast<double>(trace));
    outside += off > 3 * h.standard_error;
    close += off < h.standard_error / 4;
    plain += off * off;
    plus += (p.value - static_cast<double>(trace)) * (p.value - static_cast<double>(trace));
  }
  EXPECT_LE(outside, 10);
  EXPECT_LE(close, 100);
  EXPECT_LT(std::sqrt(plus), std::sqrt(plain) / 5);  // what the low-rank part is for
  for_scalars([]<class T>() {
    Random r(604);
    const auto b = random_matrix<T>(9, 9, r);  // not Hermitian; samples enough for Q to span everything: exact
    Wide<T> exact = 0;
    for (std::int64_t i = 0; i < 9; ++i) exact += b(i, i);
    Held<T> hb(Layout::ColumnMajor, b);
    const auto p = trace_hutchpp<T>(DenseOperator<T>(hb.view()), 60);
    EXPECT_LE(std::abs(widened(p.value) - exact), 200 * eps<T>);
    EXPECT_EQ(p.standard_error, 0);
    EXPECT_EQ((trace_hutchinson<T>(DenseOperator<T>(hb.view().block(0, 0, 0, 0)), 4).value), T(0));
    EXPECT_THROW(trace_hutchinson<T>(DenseOperator<T>(hb.view().block(0, 0, 3, 4)), 4), InvalidArgument);
    EXPECT_THROW(trace_hutchpp<T>(DenseOperator<T>(hb.view()), 5), InvalidArgument);
    hb.at(2, 2) = T(std::numeric_limits<Real<T>>::infinity());
    EXPECT_EQ((trace_hutchinson<T>(DenseOperator<T>(hb.view()), 4).outcome.status), Status::NotFinite);
  });
}

TEST(Randomized, SketchedRayleighRitz) {
  for_scalars([]<class T>() {
    Random random(605);
    // Upper triangular with diagonal 20, 19, ...: eigenvalues known, not normal.
    const std::int64_t n = 120;
    auto a = random_matrix<T>(n, n, random);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        a(i, j) = i == j  ? Wide<T>(i < 4 ? 20 - 3 * static_cast<long double>(i) : 1.0L / (i + 1))
                  : j > i ? a(i, j) * 0.05L
                          : 0;
      }
    }
    a = rounded<T>(a);
    Held<T> ha(Layout::RowMajor, a);
    const auto d = sketched_rayleigh_ritz<T>(DenseOperator<T>(ha.view()), 4, {.seed = 11});
    ASSERT_TRUE(d.report.outcome.ok());
    for (std::size_t i = 0; i < 4; ++i) {
      const double tolerance = sizeof(Real<T>) == 4 ? 1e-3 : 1e-8;
      EXPECT_NEAR(d.w[i].real(), 20 - 3.0 * static_cast<double>(i), tolerance);
      EXPECT_NEAR(d.w[i].imag(), 0, tolerance);
      EXPECT_LE(d.residuals[i], tolerance);
      // The residual again, in 80 bits.
      long double residual = 0;
      for (std::int64_t r = 0; r < n; ++r) {
        std::complex<long double> sum = 0;
        for (std::int64_t c = 0; c < n; ++c) {
          const auto x = d.x.data()[c * 4 + static_cast<std::int64_t>(i)];
          sum += std::complex<long double>(a(r, c)) * std::complex<long double>(x);
        }
        const auto x = d.x.data()[r * 4 + static_cast<std::int64_t>(i)];
        residual += std::norm(sum - std::complex<long double>(d.w[i]) * std::complex<long double>(x));
      }
      EXPECT_NEAR(static_cast<double>(std::sqrt(residual)), d.residuals[i], 2000 * static_cast<double>(eps<T>));
    }
    // The identity: its Krylov space has one dimension.
    const Identity<T> one(kHost, 10);
    EXPECT_EQ((sketched_rayleigh_ritz<T>(one, 2).report.outcome), (Outcome{Status::NotConverged, 1}));
    const auto single = sketched_rayleigh_ritz<T>(one, 1);
    EXPECT_NEAR(single.w[0].real(), 1, 1e-5);
  });
}

TEST(Randomized, SketchAndPrecondition) {
  for_scalars([]<class T>() {
    Random random(606);
    const std::int64_t m = 150, n = 12;
    const long double kappa = sizeof(Real<T>) == 4 ? 1e3L : 1e8L;
    const auto a = conditioned<T>(m, n, kappa, random);
    const auto b = random_matrix<T>(m, 2, random);
    Held<T> ha(Layout::RowMajor, a), hb(Layout::RowMajor, b), hx(Layout::RowMajor, n, 2);
    const LsqrReport report = lstsq_sketched<T>(kHost, ha.view(), hb.view(), hx.view(), {.seed = 4});
    EXPECT_TRUE(report.outcome.ok());
    EXPECT_LE(report.iterations, 150);
    // Without the sketch lsqr needs many more steps, if it arrives at all.
    Held<T> hy(Layout::RowMajor, n, 2);
    const LsqrReport plain =
        lsqr<T>(DenseOperator<T>(ha.view()), hb.view(), hy.view(),
                {.tolerance = 16.0 * std::numeric_limits<Real<T>>::epsilon(), .max_iterations = 150});
    EXPECT_TRUE(!plain.outcome.ok() || plain.iterations > report.iterations);
    // The solution in 113 bits, and the bound of a backward stable method: u (kappa + kappa^2 ||r|| / (||A|| ||x||)).
    const Dense<Quad> qa = embedded(a), qb = embedded(b), qx = embedded(hx.values());
    Dense<Quad> gram(qa.columns, qa.columns), right(qa.columns, qb.columns);
    for (std::int64_t l = 0; l < qa.rows; ++l) {
      for (std::int64_t i = 0; i < qa.columns; ++i) {
        for (std::int64_t j = 0; j < qa.columns; ++j) gram(i, j) += qa(l, i) * qa(l, j);
        for (std::int64_t j = 0; j < qb.columns; ++j) right(i, j) += qa(l, i) * qb(l, j);
      }
    }
    const Dense<Quad> exact = quad_solution(gram, right);
    Quad off = 0, size = 0;
    for (std::size_t i = 0; i < exact.values.size(); ++i) {
      off += (qx.values[i] - exact.values[i]) * (qx.values[i] - exact.values[i]),
          size += exact.values[i] * exact.values[i];
    }
    const long double length = static_cast<long double>(square_root(size));
    const long double r = frobenius(minus(b, times(a, hx.values())));
    EXPECT_LE(static_cast<long double>(square_root(off)) / length, 100 * eps<T> * (kappa + kappa * kappa * r / length));
    ha.at(7, 3) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    EXPECT_EQ((lstsq_sketched<T>(kHost, ha.view(), hb.view(), hx.view()).outcome),
              (Outcome{Status::NotFinite, 7 * n + 3}));
    Held<T> zero(Layout::RowMajor, Dense<Wide<T>>(m, n));
    EXPECT_EQ((lstsq_sketched<T>(kHost, zero.view(), hb.view(), hx.view()).outcome), (Outcome{Status::Singular, 0}));
    EXPECT_THROW(lstsq_sketched<T>(kHost, hx.view(), hx.view(), hb.view()), InvalidArgument);
  });
}

TEST(Randomized, OnADevice) {
  const Executor device = Executor::open("sim:trn2");
  Random random(607);
  const auto a = conditioned<float>(40, 32, 1e3, random);
  std::vector<float> values;
  for (const auto x : a.values) values.push_back(static_cast<float>(x));
  const Matrix<float> da = Matrix<float>::from_host(device, 40, 32, values);
  const Recorder recorder(device);
  const auto d = rsvd<float>(DenseOperator<float>(da.view()), 4, {.oversampling = 4, .power_iterations = 1, .seed = 3});
  ASSERT_TRUE(d.report.outcome.ok());
  for (const Event& event : recorder.events()) {
    if (event.kind == EventKind::Dispatch) {
      EXPECT_EQ(event.family, "device") << event.subject;
    }
  }
  EXPECT_EQ(recorder.family_of("blas.gemm"), "device");
  const auto u = d.u.to(kHost), vh = d.vh.to(kHost);
  const long double error = frobenius(minus(a, rebuilt(u, d.s, wide(vh.view()))));
  EXPECT_LE(error, d.report.error);
  EXPECT_LE(d.report.error, 1.1L * error);
  const auto same =
      rsvd<float>(DenseOperator<float>(da.to(kHost).view()), 4, {.oversampling = 4, .power_iterations = 1, .seed = 3});
  for (std::size_t i = 0; i < 4; ++i) EXPECT_NEAR(d.s[i], same.s[i], 1e-5);
}

}  // namespace
}  // namespace trn::solver::testing
