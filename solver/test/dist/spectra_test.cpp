// Eigenvalues and randomised singular values of distributed matrices: the same bits for every number of ranks and grid;
// residuals and orthogonality in long double, spectra that are known.
#include <atomic>
#include <cmath>
#include <mutex>

#include <trn/solver/dist_eigh.hpp>
#include <trn/solver/dist_randomized.hpp>

#include "support/dist_matrices.hpp"

namespace trn::solver {
namespace {

using namespace dist_test;

template <class T> T hermitian(int seed, std::int64_t i, std::int64_t j) {
  if (i == j) return T(static_cast<Real<T>>(3 * std::real(number<T>(seed, i, i))));
  const T x = i > j ? number<T>(seed, i, j) : number<T>(seed, j, i);
  if constexpr (ComplexScalar<T>) return i > j ? x : std::conj(x);
  return x;
}
// Positive definite.
template <class T> T mass(std::int64_t i, std::int64_t j, std::int64_t n) {
  return i == j ? T(static_cast<Real<T>>(n)) : hermitian<T>(9, i, j);
}

template <class T> struct Spectral {
  std::vector<Real<T>> w;
  std::vector<T> v;  // row-major
  Report report;
};

enum class Problem : std::uint8_t { Plain, AxIsBxLambda, ABxIsXLambda, BAxIsXLambda };

template <class T> Spectral<T> solve(int ranks, const dist::Grid& grid, std::int64_t n, Problem problem, Uplo uplo,
                                     Vectors vectors = Vectors::Yes, Real<T> scale = 1,
                                     const std::string& executor = "host") {
  Spectral<T> result;
  comm::run(
      group_of(executor, ranks),
      [&](const comm::Communicator& group, const Executor& e) {
        const dist::Matrix<T> a(group, e, {n, n, 5, 7, grid}), b(group, e, {n, n, 6, 3, grids(ranks)[0]});
        const auto wanted = [&](std::int64_t i, std::int64_t j) { return uplo == Uplo::Lower ? i >= j : i <= j; };
        a.fill([&](std::int64_t i, std::int64_t j) {
          return wanted(i, j) ? hermitian<T>(1, i, j) * scale : T(static_cast<Real<T>>(NAN));
        });
        b.fill([&](std::int64_t i, std::int64_t j) {
          return wanted(i, j) ? mass<T>(i, j, n) : T(static_cast<Real<T>>(NAN));
        });
        const Recorder recorder(e);
        const DistSpectrum<T> s =
            problem == Problem::Plain
                ? eigh<T>(a, {.vectors = vectors, .uplo = uplo})
                : eigh_generalized<T>(a, b,
                                      {.form = static_cast<GeneralizedForm>(static_cast<int>(problem) - 1),
                                       .vectors = vectors,
                                       .uplo = uplo});
        if (executor != "host") {
          EXPECT_NE(s.report.algorithm.find("products on devices"), std::string_view::npos);
          // Blocks of 64 rows of the vectors go around the ranks.
          if (group.rank() * 64 < n) {
            EXPECT_GT(recorder.count(EventKind::Run) - recorder.count(EventKind::Run, "copy_within"), 2);
          }
        }
        const std::vector<T> v = a.to_host();
        for (const Real<T> x : s.w) EXPECT_EQ(comm::maximum(group, x), comm::minimum(group, x));
        if (group.rank() == 0) result = {s.w, v, s.report};
      },
      kLimits);
  return result;
}

// ||A v - w v|| and V^H V - I (or what the problem says), by long double sums.
template <class T> void check(const Spectral<T>& r, std::int64_t n, Problem problem, Real<T> scale = 1) {
  ASSERT_TRUE(r.report.outcome.ok());
  ASSERT_EQ(static_cast<std::int64_t>(r.w.size()), n);
  const auto v = [&](std::int64_t i, std::int64_t j) { return wide(r.v[static_cast<std::size_t>(i * n + j)]); };
  const auto conj = [](const Wide<T>& x) {
    if constexpr (ComplexScalar<T>)
      return std::conj(x);
    else
      return x;
  };
  using Full = std::vector<Wide<T>>;
  const auto times = [&](const auto& matrix, const Full& x) {
    Full y(x.size());
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t p = 0; p < n; ++p)
        y[static_cast<std::size_t>(i)] += wide(matrix(i, p)) * x[static_cast<std::size_t>(p)];
    return y;
  };
  const auto a = [&](std::int64_t i, std::int64_t j) { return T(hermitian<T>(1, i, j) * scale); };
  const auto b = [&](std::int64_t i, std::int64_t j) { return mass<T>(i, j, n); };
  const long double u = std::numeric_limits<Real<T>>::epsilon();
  long double size = 0;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) size += std::norm(wide(a(i, j)));
  size = std::sqrt(size);
  for (std::int64_t j = 0; j < n; ++j) {
    if (j > 0) {
      EXPECT_LE(r.w[static_cast<std::size_t>(j - 1)], r.w[static_cast<std::size_t>(j)]);
    }
    Full x(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = v(i, j);
    const Full bx = times(b, x), ax = times(a, x);
    const Full left = problem == Problem::ABxIsXLambda   ? times(a, bx)
                      : problem == Problem::BAxIsXLambda ? times(b, ax)
                                                         : ax;
    const Full& right = problem == Problem::AxIsBxLambda ? bx : x;
    long double error = 0;
    for (std::int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      error += std::norm(left[at] - static_cast<long double>(r.w[static_cast<std::size_t>(j)]) * right[at]);
    }
    // B is n on its diagonal and little beside it: its condition is below 4.
    const long double across = problem == Problem::Plain ? 1 : static_cast<long double>(n);
    EXPECT_LE(std::sqrt(error), 10 * static_cast<long double>(n) * u * size * across) << j;
    for (std::int64_t i = 0; i <= j; ++i) {
      Wide<T> sum = 0;
      for (std::int64_t p = 0; p < n; ++p)
        sum += conj(v(p, i)) *
               (problem == Problem::Plain ? x[static_cast<std::size_t>(p)] : bx[static_cast<std::size_t>(p)]);
      if (problem == Problem::BAxIsXLambda) continue;
      EXPECT_LE(std::abs(sum - Wide<T>(i == j ? 1 : 0)), 20 * static_cast<long double>(n) * u) << i << " " << j;
    }
  }
}

template <class T> int compare(std::int64_t n, Problem problem, Uplo uplo, std::initializer_list<int> ranks,
                               const std::string& executor = "host") {
  const Spectral<T> one = solve<T>(1, {}, n, problem, uplo, Vectors::Yes, 1, executor);
  check(one, n, problem);
  int cases = 0;
  for (const int p : ranks) {
    for (const dist::Grid& grid : grids(p)) {
      const Spectral<T> r = solve<T>(p, grid, n, problem, uplo, Vectors::Yes, 1, executor);
      EXPECT_EQ(differing(r.w, one.w), 0) << p << " ranks, " << grid.rows << " x " << grid.columns;
      EXPECT_EQ(differing(r.v, one.v), 0) << p << " ranks, " << grid.rows << " x " << grid.columns;
      EXPECT_EQ(r.report.iterations, one.report.iterations);
      ++cases;
    }
  }
  return cases;
}

TEST(DistEigh, HasTheSameBitsOnAnyNumberOfRanks) {
  int cases = compare<double>(67, Problem::Plain, Uplo::Lower, {2, 3, 4, 6, 7, 12});
  cases += compare<double>(40, Problem::Plain, Uplo::Upper, {3});
  cases += compare<float>(50, Problem::Plain, Uplo::Upper, {4});
  cases += compare<std::complex<double>>(45, Problem::Plain, Uplo::Lower, {4, 6});
  cases += compare<std::complex<float>>(20, Problem::Plain, Uplo::Upper, {3});
  cases += compare<double>(1, Problem::Plain, Uplo::Lower, {3});
  cases += compare<std::complex<double>>(2, Problem::Plain, Uplo::Upper, {3});
  std::printf("%d spectra compared bit by bit with one rank\n", cases);
}
TEST(DistEigh, GeneralizedHasTheSameBitsOnAnyNumberOfRanks) {
  int cases = 0;
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
    for (const Problem problem : {Problem::AxIsBxLambda, Problem::ABxIsXLambda, Problem::BAxIsXLambda}) {
      cases += compare<double>(70, problem, uplo, {4});
      cases += compare<std::complex<double>>(21, problem, uplo, {3});
    }
  }
  cases += compare<double>(70, Problem::AxIsBxLambda, Uplo::Lower, {2, 6, 7, 12});
  cases += compare<float>(30, Problem::AxIsBxLambda, Uplo::Lower, {6});
  std::printf("%d generalised spectra compared bit by bit with one rank\n", cases);
}

// The devices' products, the hosts' rotations.
TEST(DistEigh, DevicesHaveTheSameBitsOnAnyNumberOfRanks) {
  const std::string trn2 = "sim:trn2";
  int cases = compare<float>(70, Problem::Plain, Uplo::Lower, {2, 3}, trn2);
  cases += compare<double>(66, Problem::Plain, Uplo::Upper, {2}, trn2);
  cases += compare<std::complex<float>>(20, Problem::Plain, Uplo::Lower, {2}, trn2);
  for (const Problem problem : {Problem::AxIsBxLambda, Problem::ABxIsXLambda, Problem::BAxIsXLambda})
    cases += compare<float>(40, problem, Uplo::Lower, {3}, trn2);
  cases += compare<double>(20, Problem::AxIsBxLambda, Uplo::Upper, {2}, trn2);
  cases += compare<std::complex<float>>(18, Problem::AxIsBxLambda, Uplo::Lower, {2}, trn2);
  std::printf("%d spectra on devices compared bit by bit with one rank\n", cases);
}

// The second difference: w_k = 2 - 2 cos(pi (k + 1) / (n + 1)). Sizes at both ends of the range; values alone.
TEST(DistEigh, KnownSpectraAndEndsOfTheRange) {
  const std::int64_t n = 90;
  comm::run(group_of("host", 4), [&](const comm::Communicator& group, const Executor& e) {
    for (const double scale : {1.0, 0x1p-900, 0x1p900}) {
      const dist::Matrix<double> a(group, e, {n, n, 8, 8, {2, 2}});
      const auto entry = [&](std::int64_t i, std::int64_t j) {
        return scale * (i == j ? 2.0 : std::abs(i - j) == 1 ? -1.0 : 0.0);
      };
      a.fill(entry);
      const DistSpectrum<double> s = eigh<double>(a, {.vectors = Vectors::No});
      ASSERT_TRUE(s.report.outcome.ok());
      for (std::int64_t k = 0; k < n; ++k) {
        const double want = 2 - 2 * std::cos(M_PI * static_cast<double>(k + 1) / static_cast<double>(n + 1));
        EXPECT_LE(std::abs(s.w[static_cast<std::size_t>(k)] / scale - want), 4 * s.report.accuracy.bound) << k;
      }
      const std::vector<double> after = a.to_host();
      for (std::int64_t i = 0; i < n * n; ++i) ASSERT_EQ(after[static_cast<std::size_t>(i)], entry(i / n, i % n));
    }
    // Zeros, and a multiple of the identity.
    const dist::Matrix<double> none(group, e, {9, 9, 2, 2, {2, 2}});
    for (const double diagonal : {0.0, -3.0}) {
      none.fill([&](std::int64_t i, std::int64_t j) { return i == j ? diagonal : 0.0; });
      for (const double w : eigh<double>(none).w) EXPECT_EQ(w, diagonal);
    }
    const dist::Matrix<double> empty(group, e, {0, 0, 1, 1, {2, 2}});
    EXPECT_TRUE(eigh<double>(empty).w.empty());
  });
}

TEST(DistEigh, OutcomesAndRefusalsAreEverybodys) {
  std::atomic<int> thrown = 0;
  comm::run(group_of("host", 3), [&](const comm::Communicator& group, const Executor& e) {
    const std::int64_t n = 20;
    const dist::Matrix<double> a(group, e, {n, n, 3, 3, {1, 3}}), b(group, e, {n, n, 4, 4, {3, 1}}),
        oblong(group, e, {n, n + 1, 3, 3, {1, 3}});
    const auto all_nan = [](const std::vector<double>& x) {
      return std::all_of(x.begin(), x.end(), [](double y) { return std::isnan(y); });
    };
    a.fill([&](std::int64_t i, std::int64_t j) { return i == 7 && j == 4 ? NAN : 1.0; });
    const DistSpectrum<double> bad = eigh<double>(a);
    EXPECT_EQ(bad.report.outcome, (Outcome{Status::NotFinite, 7 * n + 4}));
    EXPECT_TRUE(all_nan(bad.w));
    EXPECT_TRUE(all_nan(a.to_host()));
    a.fill([](std::int64_t i, std::int64_t j) { return hermitian<double>(1, i, j); });
    b.fill([&](std::int64_t i, std::int64_t j) { return i == j ? (i == 11 ? -1.0 : 2.0) : 0.0; });
    const DistSpectrum<double> indefinite = eigh_generalized<double>(a, b);
    EXPECT_EQ(indefinite.report.outcome, (Outcome{Status::NotPositiveDefinite, 11}));
    EXPECT_TRUE(all_nan(indefinite.w));
    const auto refused = [&](const auto& call) {
      try {
        call();
      } catch (const InvalidArgument&) {
        ++thrown;
      }
    };
    refused([&] { (void)eigh<double>(oblong); });
    refused([&] { (void)eigh<double>(a, {.uplo = group.rank() == 1 ? Uplo::Upper : Uplo::Lower}); });
    refused([&] { (void)eigh_generalized<double>(a, oblong); });
    refused([&] { (void)eigh<double>(a, {.uplo = static_cast<Uplo>(7)}); });
    refused([&] { (void)rsvd<double>(a, 21); });
    refused([&] { (void)rsvd<double>(a, 0); });
    refused([&] { (void)rsvd<double>(a, 2, {.seed = static_cast<std::uint64_t>(group.rank())}); });
    refused([&] { (void)eigh_generalized<double>(b, b); });
    a.fill([&](std::int64_t i, std::int64_t j) { return i == 7 && j == 4 ? NAN : 1.0; });
    const auto low = rsvd<double>(a, 3);
    EXPECT_EQ(low.report.outcome, (Outcome{Status::NotFinite, 7 * n + 4}));
    EXPECT_TRUE(all_nan(low.s));
    EXPECT_TRUE(all_nan(low.u.to_host()));
  });
  EXPECT_EQ(thrown, 24);
}
// A with singular values 2^-i, i = 0, 1, ...: H1 diag(s) H2 with reflections H = I - 2 x x^H / (x^H x).
template <class T> T decaying(std::int64_t i, std::int64_t j, std::int64_t m, std::int64_t n, std::int64_t rank) {
  const auto entry = [](std::int64_t r, std::int64_t c, std::int64_t order) {  // of H, x = (1, ..., 1) / order
    return (r == c ? 1.0L : 0.0L) - 2.0L / static_cast<long double>(order);
  };
  long double sum = 0;
  for (std::int64_t p = 0; p < rank; ++p)
    sum += entry(i, p, m) * std::ldexp(1.0L, -static_cast<int>(p)) * entry(p, j, n);
  return T(static_cast<Real<T>>(sum));
}
template <class T> int compare_rsvd(std::int64_t m, std::int64_t n, std::int64_t rank, std::int64_t k,
                                    std::initializer_list<int> ranks, const std::string& executor = "host") {
  std::vector<T> u, v;
  std::vector<Real<T>> s;
  double error = 0;
  int cases = 0;
  std::vector<int> counts{1};
  counts.insert(counts.end(), ranks);
  for (const int p : counts) {
    for (const dist::Grid& grid : grids(p)) {
      comm::run(
          group_of(executor, p),
          [&](const comm::Communicator& group, const Executor& e) {
            const dist::Matrix<T> a(group, e, {m, n, 5, 7, grid});
            const Recorder recorder(e);
            a.fill([&](std::int64_t i, std::int64_t j) { return decaying<T>(i, j, m, n, rank); });
            const auto r = rsvd<T>(a, k, {.seed = 5});
            EXPECT_TRUE(r.report.outcome.ok());
            if (executor != "host") {
              EXPECT_GT(recorder.count(EventKind::Run), 3);
              EXPECT_NE(r.report.algorithm.find("on the hosts"), std::string_view::npos);
            }
            const std::vector<T> left = r.u.to_host(), right = r.v.to_host();
            if (group.rank() != 0) return;
            if (p == 1) u = left, v = right, s = r.s, error = r.report.error;
            EXPECT_EQ(differing(left, u), 0) << p << " ranks";
            EXPECT_EQ(differing(right, v), 0) << p << " ranks";
            EXPECT_EQ(differing(r.s, s), 0) << p << " ranks";
            EXPECT_EQ(r.report.error, error) << p << " ranks";
            ++cases;
          },
          kLimits);
    }
  }
  const double eps = std::numeric_limits<Real<T>>::epsilon();
  for (std::int64_t i = 0; i < k; ++i)
    EXPECT_NEAR(s[static_cast<std::size_t>(i)], i < rank ? std::ldexp(1.0, -static_cast<int>(i)) : 0.0, 100 * eps) << i;
  const auto orthonormal = [&](const std::vector<T>& x, std::int64_t rows) {
    for (std::int64_t i = 0; i < k; ++i) {
      for (std::int64_t j = 0; j <= i; ++j) {
        Wide<T> sum = 0;
        for (std::int64_t p = 0; p < rows; ++p)
          sum +=
              wide(op_of(Op::C, x[static_cast<std::size_t>(p * k + i)])) * wide(x[static_cast<std::size_t>(p * k + j)]);
        EXPECT_LE(std::abs(sum - Wide<T>(i == j ? 1 : 0)), 200 * eps) << i << " " << j;
      }
    }
  };
  orthonormal(u, m);
  orthonormal(v, n);
  long double residual = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Wide<T> sum = wide(decaying<T>(i, j, m, n, rank));
      for (std::int64_t p = 0; p < k; ++p)
        sum -= wide(u[static_cast<std::size_t>(i * k + p)]) * static_cast<long double>(s[static_cast<std::size_t>(p)]) *
               wide(op_of(Op::C, v[static_cast<std::size_t>(j * k + p)]));
      residual += std::norm(sum);
    }
  }
  EXPECT_LE(static_cast<double>(std::sqrt(residual)), error);
  const double least = k < rank ? std::ldexp(1.0, -static_cast<int>(k)) * std::sqrt(4.0 / 3) : 0;
  EXPECT_LE(error, 1.5 * least + 3000 * eps) << "what the best approximation of this rank leaves";
  return cases;
}
TEST(DistRsvd, HasTheSameBitsOnAnyNumberOfRanks) {
  int cases = compare_rsvd<double>(80, 50, 30, 8, {2, 3, 4, 6, 7, 12});
  cases += compare_rsvd<double>(33, 61, 5, 9, {4});  // of less rank than asked for
  cases += compare_rsvd<float>(60, 40, 20, 6, {3});
  cases += compare_rsvd<std::complex<double>>(40, 30, 20, 5, {4});
  cases += compare_rsvd<float>(50, 40, 20, 6, {2, 3}, "sim:trn2");
  cases += compare_rsvd<double>(24, 20, 12, 4, {2}, "sim:trn2");
  std::printf("%d decompositions compared bit by bit with one rank\n", cases);
}

// Numbers whose squares are not of the type; and as many more columns as there are numbers for.
TEST(DistRsvd, EndsOfTheRange) {
  comm::run(group_of("host", 2), [&](const comm::Communicator& group, const Executor& e) {
    const std::int64_t m = 20, n = 12, k = 5;
    const dist::Matrix<double> a(group, e, {m, n, 5, 7, {1, 2}});
    const auto scaled = [&](int exponent) {
      a.fill([&](std::int64_t i, std::int64_t j) { return std::ldexp(decaying<double>(i, j, m, n, 9), exponent); });
      return rsvd<double>(a, k, {.oversampling = exponent == 0 ? 4 : std::numeric_limits<std::int64_t>::max()});
    };
    const auto one = scaled(0);
    for (const int exponent : {-950, -700, -520, 520, 700, 1000}) {
      const auto r = scaled(exponent);
      ASSERT_TRUE(r.report.outcome.ok()) << exponent;
      for (std::int64_t i = 0; i < k; ++i) {
        const auto at = static_cast<std::size_t>(i);
        EXPECT_NEAR(std::ldexp(r.s[at], -exponent), one.s[at], 1e-13) << exponent;
      }
      // What the best approximation of this rank leaves, and no less.
      const double least = std::ldexp(1.0, -static_cast<int>(k)) * std::sqrt(4.0 / 3 * (1 - std::ldexp(1.0, -8)));
      EXPECT_GE(std::ldexp(r.report.error, -exponent), least * (1 - 1e-12)) << exponent;
      EXPECT_LE(std::ldexp(r.report.error, -exponent), 1.5 * least) << exponent;
    }
  });
}

}  // namespace
}  // namespace trn::solver
