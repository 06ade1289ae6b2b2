// Triangular and band solves: residuals in 113-bit arithmetic; zero pivots as results. Values that no enumeration has,
// options outside their range, and what incomplete factors, files and transposes do at the ends of theirs.
#include <cmath>
#include <complex>
#include <functional>

#include <omp.h>

#include <trn/sparse/gallery.hpp>
#include <trn/sparse/harwell_boeing.hpp>
#include <trn/sparse/ilu.hpp>
#include <trn/sparse/matrix_market.hpp>
#include <trn/sparse/ordering.hpp>
#include <trn/sparse/triangular.hpp>
#include <trn/sparse/tridiagonal.hpp>

#include "sparse_support.hpp"

namespace trn::sparse {
namespace {

template <class T> class SolvesOf : public testing::Test {};
using All = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(SolvesOf, All);

const Executor kSolveHost = Executor::host();
template <Scalar T> constexpr double kUnit = std::numeric_limits<Real<T>>::epsilon() / 2;

// Random entries and a diagonal of about 3.
template <Scalar T> Csr<T> with_diagonal(std::int64_t n, std::uint64_t seed) {
  return add<T>(T(1), random_csr<T>(n, n, 5, seed), T(3), identity<T>(kSolveHost, n));
}

TYPED_TEST(SolvesOf, TriangularResiduals) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 127, 128, 129}) {
    const auto a = with_diagonal<T>(n, 7);
    for (const Uplo uplo : {Uplo::Lower, Uplo::Upper}) {
      for (const Diag diag : {Diag::NonUnit, Diag::Unit}) {
        for (const Op op : {Op::N, Op::T, Op::C}) {
          const auto b = random_vector<T>(n * 3, 5);
          std::vector<T> x(b.size()), y(b.size(), T(1));
          const TriangularPlan<T> plan(kSolveHost, a, {.op = op, .uplo = uplo, .diag = diag});
          const MatrixView<const T> bv(kSolveHost, b.data(), n, 3, 3, 1);
          ASSERT_TRUE(plan.solve(T(2), bv, MatrixView<T>(kSolveHost, x.data(), n, 3, 3, 1)).ok());
          // The operator form, in the other layout and with a beta, gives 2 op(A)^-1 b - y.
          const TriangularPlan<T> plain(kSolveHost, a, {.op = Op::N, .uplo = uplo, .diag = diag});
          plain.apply(op, T(2), bv, T(-1), MatrixView<T>(kSolveHost, y.data(), n, 3, 1, n));
          Csr<T> t = triangle(a, uplo, diag == Diag::Unit ? (uplo == Uplo::Lower ? -1 : 1) : 0);
          if (diag == Diag::Unit) t = add<T>(T(1), t, T(1), identity<T>(kSolveHost, n));
          if (op != Op::N) t = op == Op::T ? transpose(t) : adjoint(t);
          const auto d = dense(t);
          for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < 3; ++j) {
              QuadComplex r = quad(T(2)) * quad(b[static_cast<std::size_t>(3 * i + j)]);
              double size = 0, k = 0;
              for (std::int64_t l = 0; l < n; ++l) {
                const T v = d[static_cast<std::size_t>(i * n + l)], z = x[static_cast<std::size_t>(3 * l + j)];
                if (v == T(0)) continue;
                r = r + quad(T(-v)) * quad(z);
                size += std::abs(std::complex<double>(v)) * std::abs(std::complex<double>(z));
                k += 1;
              }
              // A complex product rounds twice more than a real one, a division about four times.
              ASSERT_LE(modulus(r), (k + (ComplexScalar<T> ? 6 : 2)) * kUnit<T> * size) << n << " " << i;
              const std::complex<double> other(y[static_cast<std::size_t>(j * n + i)]),
                  own(x[static_cast<std::size_t>(3 * i + j)]);
              ASSERT_LE(std::abs(other + 1.0 - own), 1e4 * kUnit<T> * (1 + std::abs(own)));
            }
          }
        }
      }
    }
  }
}

TEST(Triangular, ZeroPivotIsAResult) {
  const std::vector<std::int64_t> rows{0, 2, 2}, columns{0, 0, 2};
  const std::vector<double> values{1, 5, 2};
  const auto a = Csr<double>::from_triplets(kSolveHost, {3, 3}, {rows, columns, values});
  const TriangularPlan<double> plan(kSolveHost, a);
  std::vector<double> x{1, 1, 1};
  const Outcome o = plan.solve(1, MatrixView<const double>(kSolveHost, x.data(), 3, 1, 1, 1),
                               MatrixView<double>(kSolveHost, x.data(), 3, 1, 1, 1));
  EXPECT_EQ(o, (Outcome{Status::ZeroPivot, 1}));
  EXPECT_TRUE(std::isnan(x[0]));
  EXPECT_TRUE(TriangularPlan<double>(kSolveHost, a, {.diag = Diag::Unit}).outcome().ok());
  EXPECT_IN("must be square",
            message_of<InvalidArgument>([] { TriangularPlan<double>(kSolveHost, random_csr<double>(3, 4, 1, 1)); }));
}

TEST(Triangular, TheSameBitsForAnyNumberOfThreads) {
  const auto a = poisson<double>(200, 200);
  const TriangularPlan<double> plan(kSolveHost, a);
  EXPECT_EQ(plan.levels(), 399);
  const auto b = random_vector<double>(40000, 1);
  const int threads = omp_get_max_threads();
  std::vector<std::vector<double>> results;
  for (const int t : {1, 2, 5}) {
    omp_set_num_threads(t);
    std::vector<double> x(b.size());
    // Rows of one colour are one level: wide enough for threads.
    const TriangularPlan<double> wide(kSolveHost, permute(
                                                      a,
                                                      [&] {
                                                        std::vector<std::int64_t> order;
                                                        for (int colour = 0; colour < 2; ++colour) {
                                                          for (std::int64_t i = 0; i < 40000; ++i) {
                                                            if ((i / 200 + i % 200) % 2 == colour) order.push_back(i);
                                                          }
                                                        }
                                                        return order;
                                                      }(),
                                                      [&] {
                                                        std::vector<std::int64_t> order;
                                                        for (int colour = 0; colour < 2; ++colour) {
                                                          for (std::int64_t i = 0; i < 40000; ++i) {
                                                            if ((i / 200 + i % 200) % 2 == colour) order.push_back(i);
                                                          }
                                                        }
                                                        return order;
                                                      }()));
    EXPECT_EQ(wide.levels(), 2);
    wide.solve(1, MatrixView<const double>(kSolveHost, b.data(), 40000, 1, 1, 1),
               MatrixView<double>(kSolveHost, x.data(), 40000, 1, 1, 1));
    results.push_back(x);
  }
  omp_set_num_threads(threads);
  for (const auto& r : results) EXPECT_EQ(r, results[0]);
}

TYPED_TEST(SolvesOf, BandSystems) {
  using T = TypeParam;
  for (const std::int64_t n : {1, 2, 3, 127, 129}) {
    for (const bool interleaved : {true, false}) {
      const std::int64_t count = 19;
      const auto view = [&](std::vector<T>& v) {
        return MatrixView<T>(kSolveHost, v.data(), n, count, interleaved ? count : 1, interleaved ? 1 : n);
      };
      std::vector<std::vector<T>> d;
      for (std::uint64_t k = 0; k < 5; ++k) d.push_back(random_vector<T>(n * count, k + 1));
      const auto check = [&](int band, const std::vector<T>& x, const std::vector<T>& b, double grow) {
        for (std::int64_t s = 0; s < count; ++s) {
          const auto at = [&](const std::vector<T>& v, std::int64_t i) {
            return v[static_cast<std::size_t>(interleaved ? i * count + s : s * n + i)];
          };
          double largest = 0, residual = 0;
          for (std::int64_t i = 0; i < n; ++i) {
            QuadComplex r = quad(at(b, i));
            double size = std::abs(std::complex<double>(at(b, i)));
            for (int q = -band; q <= band; ++q) {
              if (i + q < 0 || i + q >= n) continue;
              const T v = at(d[static_cast<std::size_t>(q + 2)], i);
              r = r + quad(T(-v)) * quad(at(x, i + q));
              size += std::abs(std::complex<double>(v)) * std::abs(std::complex<double>(at(x, i + q)));
            }
            residual = std::max(residual, modulus(r)), largest = std::max(largest, size);
          }
          ASSERT_LE(residual, grow * kUnit<T> * largest) << n << " system " << s;
        }
      };
      const auto b = random_vector<T>(n * count, 9);
      std::vector<T> x = b;
      ASSERT_TRUE(solve_tridiagonal<T>(kSolveHost, view(d[1]), view(d[2]), view(d[3]), view(x)).ok());
      check(1, x, b, 200);
      x = b;
      ASSERT_TRUE(
          solve_pentadiagonal<T>(kSolveHost, view(d[0]), view(d[1]), view(d[2]), view(d[3]), view(d[4]), view(x)).ok());
      check(2, x, b, 500);
      for (T& v : d[2]) v += T(4);
      x = b;
      ASSERT_TRUE(solve_tridiagonal<T>(kSolveHost, view(d[1]), view(d[2]), view(d[3]), view(x), Pivoting::None).ok());
      check(1, x, b, 20);
    }
  }
}

TEST(Band, ZeroPivotSpoilsItsSystemAlone) {
  std::vector<double> low{0, 0, 1, 1}, diag{1, 0, 2, 0}, up{1, 0, 0, 0}, b{1, 2, 3, 4};
  const auto view = [](std::vector<double>& v) { return MatrixView<double>(kSolveHost, v.data(), 2, 2, 2, 1); };
  for (const Pivoting p : {Pivoting::Partial, Pivoting::None}) {
    std::vector<double> x = b;
    EXPECT_EQ(solve_tridiagonal<double>(kSolveHost, view(low), view(diag), view(up), view(x), p),
              (Outcome{Status::ZeroPivot, 1}));
    EXPECT_TRUE(std::isnan(x[1]));
    EXPECT_EQ(x[0], -1);
    EXPECT_EQ(x[2], 2);
  }
}

TEST(Robust, EnumeratorsAndOptionsAreChecked) {
  const auto a = poisson<double>(4, 4);
  const auto none = [](const std::function<void()>& f) {
    EXPECT_IN("none of its values", message_of<InvalidArgument>(f));
  };
  none([&] { TriangularPlan<double>(kSolveHost, a, {.op = static_cast<Op>(3)}); });
  none([&] { TriangularPlan<double>(kSolveHost, a, {.uplo = static_cast<Uplo>(9)}); });
  none([&] { TriangularPlan<double>(kSolveHost, a, {.diag = static_cast<Diag>(2)}); });
  none([&] { (void)order_of(a.pattern(), static_cast<Reorder>(6)); });
  EXPECT_IN("a multiple",
            message_of<InvalidArgument>([&] { (void)convert<Sell<double>>(a, {.height = 8, .sigma = 12}); }));
  EXPECT_IN("shift", message_of<InvalidArgument>([&] { (void)ic0(a, std::nan("")); }));
}

TEST(Robust, IncompleteCholeskySaysWhatIsWrong) {
  using Z = std::complex<double>;
  const std::vector<std::int64_t> is{0, 1, 1}, js{0, 0, 1};
  const auto outcome = [&](const std::vector<Z>& v) {
    return ic0(Csr<Z>::from_triplets(kSolveHost, {2, 2}, {is, js, v})).outcome();
  };
  EXPECT_EQ(outcome({4, 2, 2}), (Outcome{Status::Ok, -1}));
  EXPECT_EQ(outcome({4, 2, 1}), (Outcome{Status::ZeroPivot, 1}));  // 1 - (2/2)^2
  EXPECT_EQ(outcome({4, 2, 0.5}), (Outcome{Status::NotPositive, 1}));
  EXPECT_EQ(outcome({-4, 2, 1}), (Outcome{Status::NotPositive, 0}));
  EXPECT_EQ(outcome({4, 2, Z(3, 1)}), (Outcome{Status::NotPositive, 1}));  // a diagonal that is not real
  EXPECT_EQ(outcome({4, INFINITY, 1}), (Outcome{Status::NotFinite, 1}));
}

TEST(Robust, FilesRoundOnceAndRefuseWhatTheirReadersRefuse) {
  // A decimal just above the middle between two floats, so near that its double is the middle itself.
  const std::string text =
      "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1.00000005960464477539062500001\n";
  EXPECT_EQ(parse_matrix_market<float>(text, "t").values().data()[0], std::nextafter(1.0F, 2.0F));
  const std::string whole = "%%MatrixMarket matrix coordinate integer general\n1 1 1\n1 1 9007199791611905\n";
  EXPECT_EQ(parse_matrix_market<float>(whole, "t").values().data()[0], 9007200328482816.0F);
  EXPECT_IN("beyond the range of float", message_of<InvalidArgument>([] {
              (void)parse_matrix_market<float>("%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1e39\n", "t");
            }));
  for (const double bad : {std::nan(""), double(INFINITY), -double(INFINITY)}) {
    const TemporaryFile file(".rb");
    const auto a = Csr<double>::from_triplets(
        kSolveHost, {1, 1}, {std::vector<std::int64_t>{0}, std::vector<std::int64_t>{0}, std::vector<double>{bad}});
    EXPECT_IN("not finite", message_of<InvalidArgument>([&] { write_rutherford_boeing(file.path(), a); }));
  }
}

// Patterns that are symmetric, almost symmetric, or not at all; many columns, so that buckets are used.
TEST(Robust, TransposesOfEveryKind) {
  const auto check = [](const Csr<double>& a) {
    const Csr<double> t = transpose(a);
    expect_valid(t);
    ASSERT_EQ(t.rows(), a.columns());
    std::int64_t k = 0;
    std::vector<std::int64_t> next(t.pattern().offsets().data(), t.pattern().offsets().data() + t.rows());
    for (std::int64_t i = 0; i < a.rows(); ++i) {
      for (; k < a.pattern().offsets().data()[i + 1]; ++k) {
        const std::int64_t at = next[static_cast<std::size_t>(a.pattern().indices().data()[k])]++;
        ASSERT_EQ(t.pattern().indices().data()[at], i);
        ASSERT_EQ(t.values().data()[at], a.values().data()[k]);
      }
    }
  };
  check(poisson<double>(30, 20)), check(random_csr<double>(70, 90, 3, 1)), check(rmat<double>(17));
  const auto grid = poisson<double>(12, 12);
  EXPECT_TRUE(transpose(grid).pattern().shares(grid.pattern()));
  const auto off = Csr<double>::from_triplets(
      kSolveHost, {144, 144}, {std::vector<std::int64_t>{140}, std::vector<std::int64_t>{3}, std::vector<double>{5}});
  check(add<double>(1, grid, 1, off)), check(add<double>(1, grid, 1, transpose(off)));
  // Entries enough for several threads, and one too many in the first, a middle and the last rows.
  const int threads = omp_get_max_threads();
  const auto large = stencil27<double>(28, 28, 28);
  for (const int count : {1, 2, 5}) {
    omp_set_num_threads(count);
    check(large);
    EXPECT_TRUE(transpose(large).pattern().shares(large.pattern()));
    const std::int64_t n = large.rows();
    for (const auto& [i, j] : {std::pair<std::int64_t, std::int64_t>{0, n - 1}, {n / 2, 3}, {n - 1, n / 2}})
      check(add<double>(1, large, 1,
                        Csr<double>::from_triplets(
                            kSolveHost, {n, n},
                            {std::vector<std::int64_t>{i}, std::vector<std::int64_t>{j}, std::vector<double>{5}})));
  }
  omp_set_num_threads(threads);
}

}  // namespace
}  // namespace trn::sparse
