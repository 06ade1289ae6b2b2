// Eigenvalues, singular values and Schur forms: known spectra, residual and orthogonality ratios in 80 bits.
#include <trn/solver/eig.hpp>
#include <trn/solver/eigh.hpp>
#include <trn/solver/svd.hpp>

#include <numbers>

#include "solver_support.hpp"

namespace trn::solver::testing {
namespace {

const Executor kHost = Executor::host();

template <class W, class R> Dense<W> scaled_columns(Dense<W> v, const std::vector<R>& w) {
  for (std::int64_t i = 0; i < v.rows; ++i) {
    for (std::int64_t j = 0; j < v.columns; ++j) v(i, j) *= W(w[static_cast<std::size_t>(j)]);
  }
  return v;
}
template <class W> Dense<W> first_columns(const Dense<W>& a, std::int64_t n) {
  Dense<W> b(a.rows, n);
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t j = 0; j < n; ++j) b(i, j) = a(i, j);
  }
  return b;
}

// Hermitian test matrices: random, graded over many orders of magnitude, Wilkinson's, zero, rank one, Hilbert's.
template <class T> std::vector<Dense<Wide<T>>> gallery(std::int64_t n, Random& random) {
  std::vector<Dense<Wide<T>>> matrices{random_hermitian<T>(n, random), Dense<Wide<T>>(n, n), hilbert<T>(n)};
  auto graded = random_hermitian<T>(n, random);
  Dense<Wide<T>> wilkinson(n, n), ones(n, n);
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      graded(i, j) *= std::ldexp(1.0L, -static_cast<int>(i + j));  // exact
      ones(i, j) = 1;
      if (i == j) wilkinson(i, j) = std::abs(static_cast<long double>(2 * i - n + 1)) / 2;
      if (std::abs(i - j) == 1) wilkinson(i, j) = 1;
    }
  }
  matrices.push_back(rounded<T>(graded));
  matrices.push_back(wilkinson);
  matrices.push_back(ones);
  return matrices;
}

TEST(Eigh, RatiosOnAGallery) {
  for_scalars([]<class T>() {
    Random random(41);
    for (const std::int64_t n : {0, 1, 2, 21, 33, 65}) {
      for (const auto& a : gallery<T>(n, random)) {
        const Uplo uplo = random.below(2) ? Uplo::Lower : Uplo::Upper;
        Held<T> held(kLayouts[random.below(6)], a);
        for (std::int64_t i = 0; i < n; ++i) {  // never read
          for (std::int64_t j = 0; j < i; ++j) {
            (uplo == Uplo::Lower ? held.at(j, i) : held.at(i, j)) = T(std::numeric_limits<Real<T>>::quiet_NaN());
          }
        }
        std::vector<Real<T>> w(static_cast<std::size_t>(n)), alone(w);
        const VectorView<Real<T>> wv(kHost, w.data(), n), av(kHost, alone.data(), n);
        const auto before = held.values();
        ASSERT_TRUE(eigh(kHost, held.view(), av, {.vectors = Vectors::No, .uplo = uplo}).outcome.ok());
        EXPECT_EQ(largest(minus(triangle(held.values(), uplo), triangle(before, uplo))), 0);
        const EighReport report = eigh(kHost, held.view(), wv, {.uplo = uplo});
        ASSERT_TRUE(report.outcome.ok());
        EXPECT_EQ(report.found, n);
        ASSERT_TRUE(held.surroundings_untouched());
        const auto v = held.values();
        EXPECT_TRUE(std::is_sorted(w.begin(), w.end()));
        const long double size = norm1(a);
        EXPECT_LT(orthogonality(v, eps<T>), kThreshold);
        if (size > 0) {
          EXPECT_LT(ratio(minus(times(a, v), scaled_columns(v, w)), size, n, eps<T>), 1);
        }
        for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(w[i], alone[i], n * eps<T> * size);
      }
    }
  });
}

TEST(Eigh, KnownSpectrumAndRanges) {
  for_scalars([]<class T>() {
    const std::int64_t n = 50;
    Dense<Wide<T>> a(n, n);
    std::vector<long double> exact;
    for (std::int64_t i = 0; i < n; ++i) {
      a(i, i) = 2;
      if (i > 0) a(i, i - 1) = a(i - 1, i) = -1;
      exact.push_back(2 - 2 * std::cos(std::numbers::pi_v<long double> * static_cast<long double>(i + 1) / (n + 1)));
    }
    std::vector<Real<T>> w(static_cast<std::size_t>(n));
    const VectorView<Real<T>> wv(kHost, w.data(), n);
    Held<T> held(Layout::RowMajor, a);
    const EighReport all = eigh(kHost, held.view(), wv);
    for (std::size_t i = 0; i < w.size(); ++i) EXPECT_NEAR(w[i], exact[i], all.accuracy.bound * 4);  // ||A||_2 < 4
    for (const auto& [range, first, last] :
         {std::tuple{Range::indices(7, 12), 7, 12}, std::tuple{Range::indices(0, 50), 0, 50},
          std::tuple{Range::indices(3, 3), 3, 3}, std::tuple{Range::values(1.0, 2.0), 17, 25},
          std::tuple{Range::values(5.0, 6.0), 0, 0}, std::tuple{Range::values(1.0, 1.0), 0, 0}}) {
      held.set(a);
      const EighReport report = eigh(kHost, held.view(), wv, {.range = range});
      ASSERT_TRUE(report.outcome.ok());
      ASSERT_EQ(report.found, last - first);
      for (std::int64_t i = 0; i < report.found; ++i) {
        EXPECT_NEAR(w[static_cast<std::size_t>(i)], exact[static_cast<std::size_t>(first + i)],
                    report.accuracy.bound * 4);
      }
      if (report.found < n) {
        EXPECT_TRUE(std::isnan(w[static_cast<std::size_t>(report.found)]));
      }
      const auto v = first_columns(held.values(), report.found);
      std::vector<Real<T>> kept(w.begin(), w.begin() + report.found);
      if (report.found) {
        EXPECT_LT(orthogonality(v, eps<T>), 50);  // what LAPACK's tester of eigenproblems accepts; 17 was seen
        EXPECT_LT(ratio(minus(times(a, v), scaled_columns(v, kept)), norm1(a), n, eps<T>), 1);
      }
      held.set(a);
      EXPECT_EQ(eigh(kHost, held.view(), wv, {.range = range, .vectors = Vectors::No}).found, last - first);
      EXPECT_EQ(largest(minus(held.values(), a)), 0);
    }
  });
}

// Results that overflow are an outcome; results that round to multiples of the smallest number are within the bound.
TEST(Eigh, BeyondTheRangeOfNumbers) {
  for_scalars([]<class T>() {
    using R = Real<T>;
    const R most = std::numeric_limits<R>::max(), least = std::numeric_limits<R>::denorm_min();
    std::vector<T> a(9, T(most)), u(9), vh(9);
    std::vector<R> w(3);
    const MatrixView<T> av = MatrixView<T>::row_major(kHost, a.data(), 3, 3);
    const MatrixView<T> uv = MatrixView<T>::row_major(kHost, u.data(), 3, 3);
    const MatrixView<T> vv = MatrixView<T>::row_major(kHost, vh.data(), 3, 3);
    const VectorView<R> wv(kHost, w.data(), 3);
    const auto all_nan = [&](const std::vector<T>& x) {
      for (const R value : w) EXPECT_TRUE(std::isnan(value));
      for (const T& value : x) EXPECT_TRUE(std::isnan(std::real(value)));
    };
    const SvdReport values = svd<T>(kHost, av, wv, uv, vv);
    EXPECT_EQ(values.outcome, (Outcome{Status::NotFinite, 0}));
    EXPECT_TRUE(std::isinf(values.accuracy.bound));
    all_nan(u), all_nan(vh);
    EXPECT_EQ(singular_values(kHost, av, wv).outcome, (Outcome{Status::NotFinite, 0}));
    for (const Range& range : {Range::all(), Range::indices(2, 3)}) {
      std::fill(a.begin(), a.end(), T(most));
      const EighReport report = eigh(kHost, av, wv, {.range = range});
      EXPECT_EQ(report.outcome, (Outcome{Status::NotFinite, range.kind == Range::Kind::All ? 2 : 0}));
      EXPECT_EQ(report.found, 0);
      EXPECT_TRUE(std::isinf(report.accuracy.bound));
      all_nan(a);
    }
    std::fill(a.begin(), a.end(), T(most));
    std::vector<T> b{T(1), T(0), T(0), T(0), T(1), T(0), T(0), T(0), T(R(0.25))};
    const MatrixView<T> bv = MatrixView<T>::row_major(kHost, b.data(), 3, 3);
    EXPECT_FALSE(eigh_generalized<T>(kHost, av, bv, wv).outcome.ok());
    all_nan(a);

    a = {T(2 * least), T(least), T(0), T(least), T(2 * least), T(least), T(0), T(least), T(2 * least)};
    const long double root = std::sqrt(2.0L), unit = least, norm = (2 + root) * unit;
    const SvdReport small = svd<T>(kHost, av, wv, uv, vv);
    ASSERT_TRUE(small.outcome.ok());
    EXPECT_LE(std::abs(w[0] - norm), small.accuracy.bound * norm);
    const EighReport report = eigh(kHost, av, wv);
    ASSERT_TRUE(report.outcome.ok());
    EXPECT_LE(std::abs(w[2] - norm), report.accuracy.bound * norm);
    EXPECT_LE(std::abs(w[0] - (2 - root) * unit), report.accuracy.bound * norm);
  });
}

TEST(Eigh, Generalized) {
  for_scalars([]<class T>() {
    Random random(42);
    for (const std::int64_t n : {0, 1, 2, 33}) {
      const auto a = random_hermitian<T>(n, random), b = random_positive<T>(n, random);
      for (const GeneralizedForm form :
           {GeneralizedForm::AxIsBxLambda, GeneralizedForm::ABxIsXLambda, GeneralizedForm::BAxIsXLambda}) {
        Held<T> v(Layout::PaddedRows, a), hb(Layout::RowMajor, b);
        std::vector<Real<T>> w(static_cast<std::size_t>(n));
        const EighReport report = eigh_generalized<T>(
            kHost, v.view(), hb.view(), VectorView<Real<T>>(kHost, w.data(), n), {.form = form, .uplo = Uplo::Upper});
        ASSERT_TRUE(report.outcome.ok());
        EXPECT_EQ(largest(minus(hb.values(), b)), 0);
        const auto z = v.values();
        const bool first = form == GeneralizedForm::AxIsBxLambda;
        const auto left = first                                   ? times(a, z)
                          : form == GeneralizedForm::ABxIsXLambda ? times(a, times(b, z))
                                                                  : times(b, times(a, z));
        const auto right = scaled_columns(first ? times(b, z) : z, w);
        const long double size = norm1(a) * norm1(z) * (first ? 1 : norm1(b));
        EXPECT_LT(ratio(minus(left, right), size, n, eps<T>), kThreshold);
      }
    }
    Held<T> a(Layout::RowMajor, identity<Wide<T>>(3)), b(Layout::RowMajor, identity<Wide<T>>(3));
    Real<T> w[3];
    const VectorView<Real<T>> wv(kHost, w, 3);
    b.at(1, 1) = T(-1);
    EXPECT_EQ(eigh_generalized<T>(kHost, a.view(), b.view(), wv).outcome, (Outcome{Status::NotPositiveDefinite, 1}));
    EXPECT_TRUE(std::isnan(w[0]));
    EXPECT_TRUE(std::isnan(std::real(a.at(0, 0))));
    a.set(identity<Wide<T>>(3));
    a.at(2, 0) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    const EighReport bad = eigh(kHost, a.view(), wv);
    EXPECT_EQ(bad.outcome, (Outcome{Status::NotFinite, 6}));
    EXPECT_EQ(bad.found, 0);
    EXPECT_TRUE(std::isnan(w[2]));
  });
}

TEST(Svd, RatiosThinAndFull) {
  for_scalars([]<class T>() {
    Random random(43);
    const std::int64_t shapes[][2] = {{0, 0}, {0, 3},   {4, 0},   {1, 1},   {2, 1},
                                      {1, 5}, {33, 33}, {50, 20}, {20, 50}, {65, 64}};
    for (const auto& shape : shapes) {
      const std::int64_t m = shape[0], n = shape[1], k = std::min(m, n);
      std::vector<Dense<Wide<T>>> matrices{random_matrix<T>(m, n, random), Dense<Wide<T>>(m, n)};
      if (m == n) matrices.push_back(hilbert<T>(n));
      for (const auto& a : matrices) {
        for (const bool full : {false, true}) {
          SCOPED_TRACE(::testing::Message() << m << " x " << n << " full " << full);
          Held<T> held(kLayouts[random.below(6)], a), u(kLayouts[random.below(6)], m, full ? m : k);
          Held<T> vh(kLayouts[random.below(6)], full ? n : k, n);
          std::vector<Real<T>> s(static_cast<std::size_t>(k)), alone(s);
          const Report report =
              svd<T>(kHost, held.view(), VectorView<Real<T>>(kHost, s.data(), k), u.view(), vh.view());
          ASSERT_TRUE(report.outcome.ok());
          ASSERT_TRUE(u.surroundings_untouched() && vh.surroundings_untouched());
          EXPECT_EQ(largest(minus(held.values(), a)), 0);
          EXPECT_LT(orthogonality(u.values(), eps<T>), kThreshold);
          EXPECT_LT(orthogonality(adjoint(vh.values()), eps<T>), kThreshold);
          const auto us = scaled_columns(first_columns(u.values(), k), s);
          Dense<Wide<T>> top(k, n);
          for (std::int64_t i = 0; i < k; ++i) {
            for (std::int64_t j = 0; j < n; ++j) top(i, j) = widened(vh.at(i, j));
          }
          const long double size = norm1(a);
          EXPECT_LT(ratio(minus(times(us, top), a), size, std::max(m, n), eps<T>), 1);
          for (std::size_t i = 1; i < s.size(); ++i) EXPECT_GE(s[i - 1], s[i]);
          if (k > 0) {
            EXPECT_GE(s.back(), 0);
          }
          ASSERT_TRUE(singular_values(kHost, held.view(), VectorView<Real<T>>(kHost, alone.data(), k)).outcome.ok());
          for (std::size_t i = 0; i < s.size(); ++i) EXPECT_NEAR(s[i], alone[i], report.accuracy.bound * s[0]);
        }
      }
    }
    // diag(3, -2i or -2, 0) in a permutation: singular values 3, 2, 0.
    Dense<Wide<T>> d(3, 3);
    d(0, 2) = 3, d(1, 0) = -2;
    Held<T> held(Layout::RowMajor, d), u(Layout::RowMajor, 3, 3), vh(Layout::RowMajor, 3, 3);
    Real<T> s[3];
    const VectorView<Real<T>> sv(kHost, s, 3);
    ASSERT_TRUE(svd<T>(kHost, held.view(), sv, u.view(), vh.view()).outcome.ok());
    EXPECT_NEAR(s[0], 3, 8 * eps<T>);
    EXPECT_NEAR(s[1], 2, 8 * eps<T>);
    EXPECT_NEAR(s[2], 0, 8 * eps<T>);
    held.at(1, 1) = T(std::numeric_limits<Real<T>>::infinity());
    EXPECT_EQ(svd<T>(kHost, held.view(), sv, u.view(), vh.view()).outcome, (Outcome{Status::NotFinite, 4}));
    EXPECT_TRUE(std::isnan(s[0]) && std::isnan(std::real(u.at(2, 2))) && std::isnan(std::real(vh.at(0, 0))));
  });
}

TEST(Eig, ResidualsOnBothSides) {
  for_scalars([]<class T>() {
    using C = ComplexOf<T>;
    Random random(44);
    for (const std::int64_t n : {0, 1, 2, 3, 20, 33}) {
      const auto a = random_matrix<T>(n, n, random);
      Held<T> held(kLayouts[random.below(6)], a);
      Held<C> right(kLayouts[random.below(6)], n, n), left(kLayouts[random.below(6)], n, n);
      std::vector<C> w(static_cast<std::size_t>(n)), alone(w);
      const VectorView<C> wv(kHost, w.data(), n);
      ASSERT_TRUE(eig(kHost, held.view(), wv, {right.view(), left.view()}).outcome.ok());
      ASSERT_TRUE(right.surroundings_untouched() && left.surroundings_untouched());
      EXPECT_EQ(largest(minus(held.values(), a)), 0);
      Dense<Wide<C>> ac(n, n);
      for (std::size_t i = 0; i < a.values.size(); ++i) ac.values[i] = Wide<C>(a.values[i]);
      const auto x = right.values(), y = left.values();
      std::vector<C> wc;
      for (const C& l : w) wc.push_back(std::conj(l));
      const long double size = norm1(a);
      EXPECT_LT(ratio(minus(times(ac, x), scaled_columns(x, w)), size, n, eps<T>), kThreshold);
      EXPECT_LT(ratio(minus(times(adjoint(ac), y), scaled_columns(y, wc)), norm1(transposed(a)), n, eps<T>),
                kThreshold);
      for (std::int64_t j = 0; j < n; ++j) {
        long double norm = 0;
        for (std::int64_t i = 0; i < n; ++i) norm += std::norm(x(i, j));
        EXPECT_NEAR(norm, 1, 20 * n * eps<T>);
        if (!is_complex<T> && w[static_cast<std::size_t>(j)].imag() > 0) {
          EXPECT_EQ(w[static_cast<std::size_t>(j) + 1], std::conj(w[static_cast<std::size_t>(j)]));
        }
      }
      Wide<C> trace = 0, sum = 0;
      for (std::int64_t i = 0; i < n; ++i) trace += ac(i, i), sum += Wide<C>(w[static_cast<std::size_t>(i)]);
      EXPECT_LE(std::abs(trace - sum), 10 * n * eps<T> * size);

      Held<T> form(kLayouts[random.below(6)], a), z(kLayouts[random.below(6)], n, n);
      ASSERT_TRUE(schur(kHost, form.view(), wv, z.view()).outcome.ok());
      const auto t = form.values(), q = z.values();
      EXPECT_LT(orthogonality(q, eps<T>), kThreshold);
      EXPECT_LT(ratio(minus(times(times(q, t), adjoint(q)), a), size, n, eps<T>), kThreshold);
      for (std::int64_t i = 0; i < n; ++i) {
        for (std::int64_t j = 0; j < i; ++j) {
          if (is_complex<T> || j < i - 1) {
            EXPECT_EQ(t(i, j), Wide<T>(0));
          }
        }
        if (is_complex<T>) {
          EXPECT_EQ(Wide<C>(w[static_cast<std::size_t>(i)]), Wide<C>(t(i, i)));
        }
      }
    }
    Held<T> rotation(Layout::RowMajor, Dense<Wide<T>>(2, 2));  // eigenvalues i and -i
    rotation.at(0, 1) = T(-1), rotation.at(1, 0) = T(1);
    C w[2];
    const VectorView<C> wv(kHost, w, 2);
    ASSERT_TRUE(eig(kHost, rotation.view(), wv).outcome.ok());
    EXPECT_LT(std::abs(w[0] * w[0] + C(1)), 4 * eps<T>);
    EXPECT_LT(std::abs(w[0] + w[1]), 4 * eps<T>);
    rotation.at(1, 1) = T(std::numeric_limits<Real<T>>::quiet_NaN());
    EXPECT_EQ(eig(kHost, rotation.view(), wv).outcome, (Outcome{Status::NotFinite, 3}));
    EXPECT_TRUE(std::isnan(w[0].real()));
    EXPECT_EQ(schur(kHost, rotation.view(), wv).outcome, (Outcome{Status::NotFinite, 3}));
  });
}

}  // namespace
}  // namespace trn::solver::testing
