// Cholesky, LU and QR of distributed matrices: the same bits, pivots and outcomes for every number of ranks and grid;
// residuals in long double against the bounds.
#include <atomic>
#include <cmath>

#include <trn/solver/dist_cholesky.hpp>
#include <trn/solver/dist_lu.hpp>
#include <trn/solver/dist_qr.hpp>

#include "support/dist_matrices.hpp"

namespace trn::solver {
namespace {

using namespace dist_test;

// A factorisation with what it said, a solution, on rank 0.
template <class T> struct Result {
  std::vector<T> factor, x;
  std::vector<std::int64_t> pivots;
  std::vector<T> tau;
  Report report;
};

template <class T, class F> Result<T> on_ranks(const std::string& executor, int ranks, const F& program) {
  Result<T> result;
  comm::run(
      group_of(executor, ranks),
      [&](const comm::Communicator& group, const Executor& e) {
        Result<T> mine = program(group, e);
        const std::int64_t index = mine.report.outcome.index;
        EXPECT_EQ(comm::maximum(group, index), comm::minimum(group, index)) << "every rank has the same outcome";
        EXPECT_EQ(comm::maximum(group, mine.report.accuracy.bound), mine.report.accuracy.bound);
        if (group.rank() == 0) result = std::move(mine);
      },
      kLimits);
  return result;
}

template <class T> void expect_equal(const Result<T>& r, const Result<T>& one, int ranks, const dist::Grid& grid) {
  const auto where = [&] { return fmt::format("{} ranks, {} x {}", ranks, grid.rows, grid.columns); };
  EXPECT_EQ(differing(r.factor, one.factor), 0) << where();
  EXPECT_EQ(differing(r.x, one.x), 0) << where();
  EXPECT_EQ(differing(r.tau, one.tau), 0) << where();
  EXPECT_EQ(r.pivots, one.pivots) << where();
  EXPECT_EQ(r.report.outcome, one.report.outcome) << where();
  EXPECT_EQ(r.report.accuracy.bound, one.report.accuracy.bound) << where();
}

// one(ranks, grid) on every grid of these ranks.
template <class F> int compare(std::initializer_list<int> ranks, const F& one) {
  const auto first = one(1, dist::Grid{});
  int cases = 0;
  for (const int p : ranks) {
    for (const dist::Grid& grid : grids(p)) {
      expect_equal(one(p, grid), first, p, grid);
      ++cases;
    }
  }
  return cases;
}

// Hermitian, diagonally dominant but for what `indefinite` says.
template <class T> T positive(std::int64_t i, std::int64_t j, std::int64_t n, std::int64_t indefinite = -1) {
  if (i == j) return T(static_cast<Real<T>>(i == indefinite ? -1 : n));
  const T x = i > j ? number<T>(1, i, j) : number<T>(1, j, i);
  if constexpr (ComplexScalar<T>) return i > j ? x : std::conj(x);
  return x;
}

template <class T> Result<T> cholesky(const std::string& executor, int ranks, const dist::Grid& grid, Uplo uplo,
                                      std::int64_t n, std::int64_t block, std::int64_t indefinite = -1) {
  return on_ranks<T>(executor, ranks, [&](const comm::Communicator& group, const Executor& e) {
    const dist::Matrix<T> a(group, e, {n, n, block, block, grid}), b(group, e, {n, 9, 4, 5, grid});
    a.fill([&](std::int64_t i, std::int64_t j) {  // the other triangle is not looked at and stays
      const bool wanted = uplo == Uplo::Lower ? i >= j : i <= j;
      return wanted ? positive<T>(i, j, n, indefinite) : T(NAN);
    });
    b.fill([](std::int64_t i, std::int64_t j) { return number<T>(2, i, j); });
    const Report report = potrf<T>(uplo, a);
    if (report.outcome.ok()) potrs<T>(uplo, a, b);
    return Result<T>{a.to_host(), b.to_host(), {}, {}, report};
  });
}

template <class T> void check_cholesky(const Result<T>& r, Uplo uplo, std::int64_t n) {
  ASSERT_TRUE(r.report.outcome.ok());
  const auto l = [&](std::int64_t i, std::int64_t p) {  // of A = L L^H
    const auto at = static_cast<std::size_t>(uplo == Uplo::Lower ? i * n + p : p * n + i);
    Wide<T> x = wide(r.factor[at]);
    if constexpr (ComplexScalar<T>) return uplo == Uplo::Lower ? x : std::conj(x);
    return x;
  };
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      const auto at = static_cast<std::size_t>(i * n + j);
      if (uplo == Uplo::Lower ? i < j : i > j) {
        ASSERT_TRUE(std::isnan(std::real(r.factor[at]))) << "the other triangle was written";
        continue;
      }
      Wide<T> sum = 0;
      long double ni = 0, nj = 0;
      for (std::int64_t p = 0; p <= std::min(i, j); ++p) {
        if constexpr (ComplexScalar<T>)
          sum += l(i, p) * std::conj(l(j, p));
        else
          sum += l(i, p) * l(j, p);
        ni += std::norm(l(i, p)), nj += std::norm(l(j, p));
      }
      ASSERT_LE(std::abs(wide(positive<T>(i, j, n)) - sum), r.report.accuracy.bound * std::sqrt(ni * nj))
          << i << " " << j;
    }
  }
  const double u = std::numeric_limits<Real<T>>::epsilon();
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < 9; ++j) {
      Wide<T> sum = 0;
      for (std::int64_t p = 0; p < n; ++p)
        sum += wide(positive<T>(i, p, n)) * wide(r.x[static_cast<std::size_t>(p * 9 + j)]);
      ASSERT_LE(std::abs(sum - wide(number<T>(2, i, j))), 40 * static_cast<double>(n) * u) << "A X - B";
    }
  }
}

template <class T> int compare_cholesky(const std::string& executor, std::int64_t n, std::int64_t block,
                                        std::initializer_list<int> ranks) {
  int cases = 0;
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
    check_cholesky(cholesky<T>(executor, 1, {}, uplo, n, block), uplo, n);
    cases += compare(ranks, [&](int p, const dist::Grid& g) { return cholesky<T>(executor, p, g, uplo, n, block); });
  }
  return cases;
}

TEST(DistCholesky, HasTheSameBitsOnAnyNumberOfRanks) {
  int cases = compare_cholesky<double>("host", 61, 8, {2, 3, 4, 6, 7, 12});
  cases += compare_cholesky<double>("host", 70, 33, {4});
  cases += compare_cholesky<float>("host", 50, 7, {6});
  cases += compare_cholesky<std::complex<double>>("host", 41, 8, {4, 6});
  cases += compare_cholesky<float>("sim:trn2", 40, 16, {4});
  cases += compare_cholesky<float>("sim:trn2", 300, 136, {3});  // panels of several blocks, more than one tile deep
  cases += compare_cholesky<double>("sim:trn2", 24, 8, {2});
  cases += compare_cholesky<std::complex<float>>("sim:trn2", 24, 8, {2});
  std::printf("%d factorisations compared bit by bit with one rank\n", cases);
}
TEST(DistCholesky, TheOutcomeIsEverybodys) {
  for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
    for (const std::int64_t index : {0, 13, 39}) {
      const auto one = cholesky<double>("host", 1, {}, uplo, 40, 8, index);
      EXPECT_EQ(one.report.outcome, (Outcome{Status::NotPositiveDefinite, index}));
      compare({2, 4, 6},
              [&](int p, const dist::Grid& g) { return cholesky<double>("host", p, g, uplo, 40, 8, index); });
    }
  }
}

template <class T> T general(std::int64_t i, std::int64_t j, bool ties) {
  if (ties) return T(static_cast<Real<T>>((i * 7 + j * 3) % 5 - 2 + (i == j ? 1 : 0)));
  return number<T>(3, i, j);
}

template <class T> Result<T> lu(const std::string& executor, int ranks, const dist::Grid& grid, std::int64_t m,
                                std::int64_t n, std::int64_t block, Op op, bool ties, std::int64_t zero = -1) {
  return on_ranks<T>(executor, ranks, [&](const comm::Communicator& group, const Executor& e) {
    const dist::Matrix<T> a(group, e, {m, n, block + 1, block, grid}), b(group, e, {m, 6, 5, 2, grids(ranks)[0]});
    a.fill([&](std::int64_t i, std::int64_t j) { return j == zero ? T(0) : general<T>(i, j, ties); });
    b.fill([](std::int64_t i, std::int64_t j) { return number<T>(2, i, j); });
    const DistPivots done = getrf<T>(a);
    if (m == n && done.report.outcome.ok()) getrs<T>(op, a, done.pivots, b);
    return Result<T>{a.to_host(), b.to_host(), done.pivots, {}, done.report};
  });
}

template <class T> void check_lu(const Result<T>& r, std::int64_t m, std::int64_t n, bool ties) {
  std::vector<std::int64_t> row(static_cast<std::size_t>(m));
  for (std::size_t i = 0; i < row.size(); ++i) row[i] = static_cast<std::int64_t>(i);
  for (std::size_t i = 0; i < r.pivots.size(); ++i) std::swap(row[i], row[static_cast<std::size_t>(r.pivots[i])]);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      Wide<T> sum = 0;
      long double size = 0;
      for (std::int64_t p = 0; p <= std::min({i, j, std::min(m, n) - 1}); ++p) {
        const Wide<T> l = p == i ? Wide<T>(1) : wide(r.factor[static_cast<std::size_t>(i * n + p)]),
                      u = wide(r.factor[static_cast<std::size_t>(p * n + j)]);
        sum += l * u;
        size += std::abs(l) * std::abs(u);
      }
      ASSERT_LE(std::abs(sum - wide(general<T>(row[static_cast<std::size_t>(i)], j, ties))),
                r.report.accuracy.bound * size)
          << i << " " << j;
    }
  }
}

TEST(DistLu, HasTheSameBitsAndPivotsOnAnyNumberOfRanks) {
  int cases = 0;
  std::string executor = "host";
  const auto run = [&]<class T>(T, std::int64_t m, std::int64_t n, std::int64_t block, Op op, bool ties,
                                std::initializer_list<int> ranks) {
    check_lu(lu<T>(executor, 1, {}, m, n, block, op, ties), m, n, ties);
    cases += compare(ranks, [&](int p, const dist::Grid& g) { return lu<T>(executor, p, g, m, n, block, op, ties); });
  };
  run(double(), 50, 50, 8, Op::N, false, {2, 3, 4, 6, 7, 12});
  run(double(), 50, 50, 7, Op::T, true, {4, 6});
  run(double(), 60, 33, 8, Op::N, false, {3, 4});
  run(double(), 21, 45, 8, Op::N, false, {2, 6});
  run(std::complex<double>(), 30, 30, 8, Op::C, false, {4});
  run(float(), 40, 40, 16, Op::N, true, {6});
  executor = "sim:trn2";
  run(float(), 60, 60, 16, Op::N, false, {2, 3, 7});
  run(float(), 40, 70, 24, Op::T, true, {4});
  run(double(), 24, 24, 8, Op::T, false, {3});
  run(std::complex<float>(), 20, 20, 8, Op::C, false, {2});
  std::printf("%d factorisations compared bit by bit with one rank\n", cases);
}
TEST(DistLu, SolvesAndTakesTheFirstOfEqualPivots) {
  const std::int64_t n = 40;
  for (const Op op : {Op::N, Op::T}) {
    const Result<double> r = lu<double>("host", 4, {2, 2}, n, n, 8, op, false);
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < 6; ++j) {
        long double sum = 0, size = 0;
        for (std::int64_t p = 0; p < n; ++p) {
          const long double f = op == Op::N ? general<double>(i, p, false) : general<double>(p, i, false),
                            x = r.x[static_cast<std::size_t>(p * 6 + j)];
          sum += f * x;
          size += std::abs(f * x);
        }
        ASSERT_LE(std::abs(sum - number<double>(2, i, j)), 1e-11L * size);
      }
    }
  }
  // Column 0 holds -2 ... 2 + 1: the first of the largest magnitude is the pivot.
  const Result<double> ties = lu<double>("host", 3, {3, 1}, 20, 20, 4, Op::N, true);
  std::int64_t first = 0;
  for (std::int64_t i = 0; i < 20; ++i) {
    if (std::abs(general<double>(i, 0, true)) > std::abs(general<double>(first, 0, true))) first = i;
  }
  EXPECT_EQ(ties.pivots[0], first);
}
TEST(DistLu, TheOutcomeIsEverybodys) {
  const auto one = lu<double>("host", 1, {}, 30, 30, 8, Op::N, false, 19);
  EXPECT_EQ(one.report.outcome, (Outcome{Status::Singular, 19}));
  compare({2, 4, 6}, [&](int p, const dist::Grid& g) { return lu<double>("host", p, g, 30, 30, 8, Op::N, false, 19); });
}

template <class T> Result<T> qr(const std::string& executor, int ranks, const dist::Grid& grid, std::int64_t m,
                                std::int64_t n, std::int64_t block) {
  return on_ranks<T>(executor, ranks, [&](const comm::Communicator& group, const Executor& e) {
    const dist::Matrix<T> a(group, e, {m, n, block + 1, block, grid}), b(group, e, {m, 3, 5, 2, grids(ranks)[0]});
    a.fill([](std::int64_t i, std::int64_t j) { return number<T>(4, i, j); });
    b.fill([](std::int64_t i, std::int64_t j) { return number<T>(2, i, j); });
    const DistReflections<T> done = geqrf<T>(a);
    if (m >= n) least_squares<T>(a, done.tau, b);
    return Result<T>{a.to_host(), b.to_host(), {}, done.tau, done.report};
  });
}

// Q R from the reflections, in long double.
template <class T> void check_qr(const Result<T>& r, std::int64_t m, std::int64_t n) {
  const std::int64_t order = std::min(m, n);
  std::vector<Wide<T>> product(static_cast<std::size_t>(m * n), Wide<T>(0));
  for (std::int64_t i = 0; i < order; ++i) {
    for (std::int64_t j = i; j < n; ++j)
      product[static_cast<std::size_t>(i * n + j)] = wide(r.factor[static_cast<std::size_t>(i * n + j)]);
  }
  for (std::int64_t q = order - 1; q >= 0; --q) {
    const auto v = [&](std::int64_t i) {
      return i == q ? Wide<T>(1) : wide(r.factor[static_cast<std::size_t>(i * n + q)]);
    };
    for (std::int64_t j = 0; j < n; ++j) {
      Wide<T> dot = 0;
      for (std::int64_t i = q; i < m; ++i) {
        if constexpr (ComplexScalar<T>)
          dot += std::conj(v(i)) * product[static_cast<std::size_t>(i * n + j)];
        else
          dot += v(i) * product[static_cast<std::size_t>(i * n + j)];
      }
      for (std::int64_t i = q; i < m; ++i)
        product[static_cast<std::size_t>(i * n + j)] -= wide(r.tau[static_cast<std::size_t>(q)]) * v(i) * dot;
    }
  }
  long double error = 0, size = 0;
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < n; ++j) {
      error += std::norm(product[static_cast<std::size_t>(i * n + j)] - wide(number<T>(4, i, j)));
      size += std::norm(wide(number<T>(4, i, j)));
    }
  }
  EXPECT_LE(std::sqrt(error), r.report.accuracy.bound * std::sqrt(size));
  EXPECT_LE(std::sqrt(error), 50 * std::numeric_limits<Real<T>>::epsilon() * std::sqrt(size)) << "far within the bound";
  if (m < n) return;
  // Least squares: A^H (A X - B) = 0.
  for (std::int64_t c = 0; c < 3; ++c) {
    std::vector<Wide<T>> residual(static_cast<std::size_t>(m));
    for (std::int64_t i = 0; i < m; ++i) {
      residual[static_cast<std::size_t>(i)] = -wide(number<T>(2, i, c));
      for (std::int64_t j = 0; j < n; ++j)
        residual[static_cast<std::size_t>(i)] +=
            wide(number<T>(4, i, j)) * wide(r.x[static_cast<std::size_t>(j * 3 + c)]);
    }
    for (std::int64_t j = 0; j < n; ++j) {
      Wide<T> dot = 0;
      for (std::int64_t i = 0; i < m; ++i) {
        if constexpr (ComplexScalar<T>)
          dot += std::conj(wide(number<T>(4, i, j))) * residual[static_cast<std::size_t>(i)];
        else
          dot += wide(number<T>(4, i, j)) * residual[static_cast<std::size_t>(i)];
      }
      EXPECT_LE(std::abs(dot), 4000.0 * std::numeric_limits<Real<T>>::epsilon());
    }
  }
}

TEST(DistQr, HasTheSameBitsOnAnyNumberOfRanks) {
  int cases = 0;
  std::string executor = "host";
  const auto run = [&]<class T>(T, std::int64_t m, std::int64_t n, std::int64_t block,
                                std::initializer_list<int> ranks) {
    check_qr(qr<T>(executor, 1, {}, m, n, block), m, n);
    cases += compare(ranks, [&](int p, const dist::Grid& g) { return qr<T>(executor, p, g, m, n, block); });
  };
  run(double(), 55, 30, 8, {2, 3, 4, 6, 7, 12});
  run(double(), 20, 33, 8, {4});
  run(std::complex<double>(), 33, 33, 8, {4, 6});
  run(float(), 40, 17, 5, {3});
  executor = "sim:trn2";
  run(float(), 70, 50, 16, {2, 3, 7});
  run(float(), 30, 40, 16, {4});
  run(double(), 30, 20, 8, {3});
  run(std::complex<float>(), 20, 20, 8, {2});
  std::printf("%d factorisations compared bit by bit with one rank\n", cases);
}

// Eight cores of a chip, two panels each: every rank's own work is its device's.
TEST(DistFactors, DevicesRunTheirKernels) {
  comm::run(comm::Group::open("sim:trn2x8"), [](const comm::Communicator& group, const Executor& e) {
    const auto filled = [&](int seed) {
      dist::Matrix<float> a(group, e, {96, 96, 6, 6, {2, 4}});
      a.fill([&](std::int64_t i, std::int64_t j) { return number<float>(seed, i, j); });
      return a;
    };
    const dist::Matrix<float> a = filled(3), b = filled(5);
    const auto ran = [&](const char* panels, const auto& call) {
      const Recorder recorder(e);
      const Report report = call();
      EXPECT_TRUE(report.outcome.ok());
      EXPECT_EQ(report.algorithm.find("host"), std::string_view::npos) << report.algorithm;
      for (const char* operation : {panels, "blas.gemm"})
        EXPECT_EQ(recorder.family_of(operation), "device") << operation;
      EXPECT_GT(recorder.count(EventKind::Run), 8) << panels;
    };
    ran("solver.getrf", [&] { return getrf<float>(a).report; });
    ran("solver.geqrf", [&] { return geqrf<float>(b).report; });
    const dist::Matrix<double> d(group, e, {16, 16, 8, 8, {2, 4}});
    d.fill([](std::int64_t i, std::int64_t j) { return number<double>(6, i, j); });
    const Report exact = getrf<double>(d).report;
    EXPECT_EQ(exact.algorithm, "blocked lu, strips of panels on the host, exact products");
    EXPECT_EQ(exact.accuracy.mode, Mode::Exact);
  });
}

TEST(DistFactors, ShapesThatDoNotFitAreRefusedOnAllRanks) {
  std::atomic<int> thrown = 0;
  comm::run(group_of("host", 3), [&](const comm::Communicator& group, const Executor& e) {
    const dist::Matrix<double> tall(group, e, {6, 4, 2, 2, {1, 3}}), oblong(group, e, {4, 4, 2, 3, {1, 3}});
    const auto refused = [&](const auto& call) {
      try {
        call();
      } catch (const InvalidArgument&) {
        ++thrown;
      }
    };
    refused([&] { potrf<double>(Uplo::Lower, tall); });
    refused([&] { potrf<double>(Uplo::Lower, oblong); });
    refused([&] { potrf<double>(group.rank() == 1 ? Uplo::Upper : Uplo::Lower, oblong); });
    refused([&] { getrs<double>(Op::N, tall, {0, 1, 2, 3}, oblong); });
    refused([&] { least_squares<double>(oblong, {1.0}, oblong); });
  });
  EXPECT_EQ(thrown, 15);
}

TEST(DistFactors, AFactorThatIsItsOwnRightHandSideIsRefusedAndStays) {
  std::atomic<int> thrown = 0;
  // Two of the ranks have nothing of the matrix.
  comm::run(group_of("host", 4), [&](const comm::Communicator& group, const Executor& e) {
    const std::int64_t n = 7;
    const dist::Matrix<double> a(group, e, {n, n, 4, 4, {2, 1}});
    a.fill(
        [](std::int64_t i, std::int64_t j) { return number<double>(1, i, j) + static_cast<double>(i == j ? n : 0); });
    const std::vector<double> before = a.to_host(), tau(static_cast<std::size_t>(n), 1.0);
    const auto refused = [&](const auto& call) {
      try {
        call();
      } catch (const InvalidArgument& error) {
        if (std::string(error.what()).find("shares memory with the factor") != std::string::npos) ++thrown;
      }
      EXPECT_EQ(differing(a.to_host(), before), 0);
    };
    refused([&] { getrs<double>(Op::N, a, {6, 5, 4, 3, 4, 5, 6}, a); });
    refused([&] { potrs<double>(Uplo::Lower, a, a); });
    refused([&] { ormqr<double>(Op::C, a, tau, a); });
    refused([&] { least_squares<double>(a, tau, a); });
  });
  EXPECT_EQ(thrown, 16);
}

}  // namespace
}  // namespace trn::solver
