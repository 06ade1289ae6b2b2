// Rank-structured matrices against sums in 113-bit arithmetic: the error they report holds for the matrix before
// compression, in products, factors and solves.
#include <trn/sparse/rank_structured.hpp>

#include <omp.h>

#include <cmath>
#include <complex>
#include <limits>

#include <trn/core/event.hpp>

#include "silicon/allocations.hpp"
#include "sparse_support.hpp"

namespace trn::sparse {
namespace {

const Executor kRankHost = Executor::host();

// Hermitian, and positive definite: the diagonal dominates.
enum class Kernel1d { Inverse, Exponential, LowRankAndDiagonal };
constexpr Kernel1d kKernels[] = {Kernel1d::Inverse, Kernel1d::Exponential, Kernel1d::LowRankAndDiagonal};

template <Scalar T> T turned(double value, std::int64_t i, std::int64_t j) {
  if constexpr (ComplexScalar<T>)  // times exp(i (y - x)): Hermitian still, ranks as they were
    return T(static_cast<Real<T>>(value * std::cos(0.01 * static_cast<double>(i - j))),
             static_cast<Real<T>>(value * std::sin(0.01 * static_cast<double>(i - j))));
  else
    return (void)i, (void)j, static_cast<T>(value);
}
template <Scalar T> Elements<T> kernel(Kernel1d which, std::int64_t n) {
  if (which == Kernel1d::LowRankAndDiagonal) {
    auto left = random_vector<double>(3 * std::max<std::int64_t>(n, 1), 5);
    return [n, left](std::int64_t i, std::int64_t j) {
      double sum = i == j ? 3.0 * static_cast<double>(n) : 0;
      for (std::int64_t k = 0; k < 3; ++k)
        sum += left[static_cast<std::size_t>(k * n + i)] * left[static_cast<std::size_t>(k * n + j)];
      return turned<T>(sum, i, j);
    };
  }
  return [which, n](std::int64_t i, std::int64_t j) {
    const double distance = std::abs(static_cast<double>(i - j));
    if (which == Kernel1d::Exponential)
      return turned<T>(i == j ? 3.0 : std::exp(-distance * 8 / static_cast<double>(n)), i, j);
    return turned<T>(i == j ? 2 * std::log(static_cast<double>(n)) + 3 : 1 / distance, i, j);
  };
}

template <Scalar T> double unit() { return static_cast<double>(std::numeric_limits<Real<T>>::epsilon()) / 2; }
template <Scalar T> MatrixView<T> columns_of(std::vector<T>& v, std::int64_t rows) {
  return MatrixView<T>::column_major(kRankHost, v.data(), rows,
                                     rows == 0 ? 0 : static_cast<std::int64_t>(v.size()) / rows);
}
template <Scalar T> double size_of(const std::vector<T>& v) {
  double sum = 0;
  for (const T& x : v) sum += static_cast<double>(std::norm(x));
  return std::sqrt(sum);
}

// || op(A) x - y ||_F, op(A) x summed in 113 bits.
template <Scalar T> double distance(const Elements<T>& a, Op op, std::int64_t rows, std::int64_t inner,
                                    const std::vector<T>& x, const std::vector<T>& y) {
  const std::int64_t n = static_cast<std::int64_t>(y.size()) / rows;
  std::vector<QuadComplex> row(static_cast<std::size_t>(inner));
  Quad sum = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t k = 0; k < inner; ++k) {
      QuadComplex e = quad(op == Op::N ? a(i, k) : a(k, i));
      if (op == Op::C) e.im = -e.im;
      row[static_cast<std::size_t>(k)] = e;
    }
    for (std::int64_t j = 0; j < n; ++j) {
      QuadComplex s = quad(y[static_cast<std::size_t>(j * rows + i)]);
      s.re = -s.re, s.im = -s.im;
      for (std::int64_t k = 0; k < inner; ++k)
        s = s + row[static_cast<std::size_t>(k)] * quad(x[static_cast<std::size_t>(j * inner + k)]);
      sum += s.re * s.re + s.im * s.im;
    }
  }
  return std::sqrt(static_cast<double>(sum));
}

// Roundings of a product: at most 2 n + rank + 3 in an element (times 4 for complex ones), of
// || |A~| ||_F <= sqrt(rank) (norm + error), for each block has its singular values in one factor.
template <Scalar T> double roundings(const RankReport& r, std::int64_t n) {
  return (ComplexScalar<T> ? 4 : 1) * unit<T>() * static_cast<double>(2 * n + r.largest_rank + 3) *
         std::sqrt(static_cast<double>(std::max<std::int64_t>(1, r.largest_rank))) * (r.norm + r.error);
}

template <Scalar T> void check_products(RankShape shape, std::int64_t n, std::int64_t tile, double tolerance) {
  for (const Kernel1d which : kKernels) {
    const auto elements = kernel<T>(which, n);
    const RankMatrix<T> a(shape, {n, n}, elements, {.tolerance = tolerance, .tile = tile});
    const RankReport& r = a.report();
    EXPECT_LE(r.error, tolerance * r.norm);
    const std::int64_t columns = n > 200 ? 1 : 2;
    auto x = random_vector<T>(n * columns, 7);
    for (const Op op : {Op::N, Op::T, Op::C}) {
      std::vector<T> y(x.size());
      a.apply(op, T(1), columns_of(x, n), T(0), columns_of(y, n));
      EXPECT_LE(distance(elements, op, n, n, x, y), (r.error + roundings<T>(r, n)) * size_of(x))
          << n << ' ' << static_cast<int>(which) << ' ' << static_cast<int>(op);
    }
  }
}

TEST(RankStructured, ProductsKeepTheErrorTheyReport) {
  for (const RankShape shape : {RankShape::Blr, RankShape::Hodlr}) {
    for (const std::int64_t n : {1, 2, 127, 128, 129}) {
      check_products<double>(shape, n, 32, 1e-9);
      check_products<std::complex<double>>(shape, n, 64, 1e-6);
    }
    check_products<float>(shape, 201, 48, 1e-4);
    check_products<std::complex<float>>(shape, 110, 32, 1e-3);
    check_products<double>(shape, 260, 128, 1e-13);
  }
}

TEST(RankStructured, RanksAndStorageAreThoseOfTheKernel) {
  // exp(-|x - y|) on a line is a product of a function of x and one of y off the diagonal: rank 1, also in sums of 3.
  const std::int64_t n = 512;
  for (const RankShape shape : {RankShape::Blr, RankShape::Hodlr}) {
    const RankMatrix<double> e(shape, {n, n}, kernel<double>(Kernel1d::Exponential, n), {.tile = 64});
    EXPECT_EQ(e.report().largest_rank, 1);
    EXPECT_EQ(e.report().dense_blocks, 8);
    EXPECT_EQ(e.report().low_rank_blocks, shape == RankShape::Blr ? 56 : 14);
    EXPECT_EQ(e.report().stored, 8 * 64 * 64 + (shape == RankShape::Blr ? 56 * 2 * 64 : 2 * (256 + 256) * 3));
    const RankMatrix<double> three(shape, {n, n}, kernel<double>(Kernel1d::LowRankAndDiagonal, n), {.tile = 64});
    EXPECT_EQ(three.report().largest_rank, 3);
    // A looser tolerance stores less; so does 1/|x - y| than all of n^2.
    const auto inverse = kernel<double>(Kernel1d::Inverse, n);
    const RankMatrix<double> tight(shape, {n, n}, inverse, {.tolerance = 1e-10, .tile = 64});
    const RankMatrix<double> loose(shape, {n, n}, inverse, {.tolerance = 1e-3, .tile = 64});
    EXPECT_LT(loose.report().stored, tight.report().stored);
    EXPECT_LT(tight.report().stored, n * n / 2);
    EXPECT_GT(loose.report().error, tight.report().error);
  }
  // Noise has no low rank: blocks stay dense and nothing is left out.
  const auto noise = random_vector<double>(200 * 200, 11);
  const RankMatrix<double> full(RankShape::Blr, MatrixView<const double>(kRankHost, noise.data(), 200, 200, 200, 1),
                                {.tile = 50});
  EXPECT_EQ(full.report().low_rank_blocks, 0);
  EXPECT_EQ(full.report().error, 0);
  EXPECT_EQ(full.report().stored, 200 * 200);
  // Blocks of zeros have rank 0.
  const auto nothing = blr<float>({40, 70}, [](std::int64_t, std::int64_t) { return 0.0f; }, {.tile = 16});
  EXPECT_EQ(nothing.report().largest_rank, 0);
  EXPECT_EQ(nothing.report().error, 0);
}

TEST(RankStructured, AppliesAnyShapeStrideAndFactor) {
  const std::int64_t rows = 130, columns = 75;
  const Elements<double> elements = [](std::int64_t i, std::int64_t j) {
    return 1 / (1 + std::abs(static_cast<double>(i) - 1.7 * static_cast<double>(j)));
  };
  const auto a = blr<double>({rows, columns}, elements, {.tolerance = 1e-12, .tile = 32});
  auto x = random_vector<double>(columns * 2, 1);  // row-major
  std::vector<double> y(static_cast<std::size_t>(rows * 6), std::numeric_limits<double>::quiet_NaN());
  const MatrixView<double> wide(kRankHost, y.data(), rows, 2, 6, 3);
  const MatrixView<const double> in(kRankHost, x.data(), columns, 2, 2, 1);
  a.apply(Op::N, 2.0, in, 0.0, wide);  // beta = 0 does not read y
  a.apply(Op::N, 1.0, in, -0.5, wide);
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < 6; ++j) {
      const double got = y[static_cast<std::size_t>(i * 6 + j)];
      if (j % 3 != 0) {
        EXPECT_TRUE(std::isnan(got));
      } else {  // 2 A x, then A x - A x
        EXPECT_NEAR(got, 0, 1e-13);
      }
    }
  }
  std::vector<double> z(static_cast<std::size_t>(columns)), w = random_vector<double>(rows, 2);
  a.apply(Op::T, 1.0, columns_of(w, rows), 0.0, columns_of(z, columns));
  EXPECT_LE(distance(elements, Op::T, columns, rows, w, z),
            (a.report().error + roundings<double>(a.report(), rows)) * size_of(w));
  const auto empty = blr<double>({0, 0}, elements);
  std::vector<double> none;
  empty.apply(Op::N, 1.0, MatrixView<const double>(kRankHost, nullptr, 0, 1, 1, 1), 0.0,
              MatrixView<double>(kRankHost, nullptr, 0, 1, 1, 1));
}

TEST(RankStructured, AppliesWithoutAllocating) {
  const std::int64_t n = 150, columns = 20;  // more columns than work space holds at once
  const auto elements = kernel<std::complex<double>>(Kernel1d::Inverse, n);
  using Z = std::complex<double>;
  auto x = random_vector<Z>(n * columns, 1);
  std::vector<Z> y(x.size()), one(static_cast<std::size_t>(n));
  for (const RankShape shape : {RankShape::Blr, RankShape::Hodlr}) {
    const RankMatrix<Z> a(shape, {n, n}, elements, {.tile = 32});
    const RankFactors<Z> f(a);
    const auto in = columns_of(x, n), out = columns_of(y, n);
    for (const Op op : {Op::N, Op::T, Op::C}) {
      a.apply(op, Z(1), in, Z(0), out);  // OpenBLAS and OpenMP have made their own by now
      const std::uint64_t before = neuron::testing::allocations();
      a.apply(op, Z(2), in, Z(1), out);
      EXPECT_EQ(neuron::testing::allocations(), before);
    }
    a.apply(Op::N, Z(1), in, Z(0), out);
    for (std::int64_t j = 0; j < columns; ++j) {  // every panel has the product of its own columns
      const MatrixView<const Z> single(kRankHost, x.data() + j * n, n, 1, 1, n);
      a.apply(Op::N, Z(1), single, Z(0), columns_of(one, n));
      for (std::int64_t i = 0; i < n; ++i)
        EXPECT_LE(std::abs(one[static_cast<std::size_t>(i)] - y[static_cast<std::size_t>(j * n + i)]),
                  2 * roundings<Z>(a.report(), n) * std::sqrt(static_cast<double>(n)));
    }
    f.apply(Op::N, Z(1), in, Z(0), out);
    const std::uint64_t before = neuron::testing::allocations();
    f.apply(Op::N, Z(1), in, Z(0), out);
    (void)f.solve(in, out, 2);
    EXPECT_EQ(neuron::testing::allocations(), before);
  }
}

TEST(RankStructured, SampledBlocksAreNeverFormed) {
  const std::int64_t n = 800;
  for (const Kernel1d which : kKernels) {
    const auto elements = kernel<double>(which, n);
    for (const double tolerance : {1e-4, 1e-9}) {
      const RankMatrix<double> a(RankShape::Hodlr, {n, n}, elements,
                                 {.tolerance = tolerance, .tile = 64, .compression = RankCompression::Sampled});
      const RankMatrix<double> b(RankShape::Hodlr, {n, n}, elements, {.tolerance = tolerance, .tile = 64});
      const RankReport &r = a.report(), &exact = b.report();
      EXPECT_LT(r.evaluated, n * n / 2) << static_cast<int>(which);
      EXPECT_EQ(exact.evaluated, n * n);
      EXPECT_LE(r.largest_rank, exact.largest_rank + 2);
      EXPECT_NEAR(r.norm / exact.norm, 1, 2 * tolerance);
      EXPECT_LE(r.error, tolerance * r.norm);
      // Against all elements, in 113 bits: the estimate holds for these kernels.
      auto x = random_vector<double>(n, 7);
      std::vector<double> y(x.size());
      a.apply(Op::N, 1, columns_of(x, n), 0, columns_of(y, n));
      EXPECT_LE(distance(elements, Op::N, n, n, x, y), (r.error + roundings<double>(r, n)) * size_of(x))
          << static_cast<int>(which) << ' ' << tolerance;
    }
  }
  // Complex tiles; blocks of zeros; noise, which has no low rank and is evaluated after all; entries that are not
  // finite.
  const auto turning = kernel<std::complex<double>>(Kernel1d::Inverse, 300);
  const RankMatrix<std::complex<double>> tiles(
      RankShape::Blr, {300, 300}, turning, {.tolerance = 1e-6, .tile = 100, .compression = RankCompression::Sampled});
  auto z = random_vector<std::complex<double>>(300, 2);
  std::vector<std::complex<double>> w(z.size());
  tiles.apply(Op::C, 1, columns_of(z, 300), 0, columns_of(w, 300));
  EXPECT_LE(distance(turning, Op::C, 300, 300, z, w),
            (tiles.report().error + roundings<std::complex<double>>(tiles.report(), 300)) * size_of(z));
  const RankOptions sampled{.tile = 50, .compression = RankCompression::Sampled};
  EXPECT_EQ(blr<float>(
                {200, 130}, [](std::int64_t, std::int64_t) { return 0.0f; }, sampled)
                .report()
                .largest_rank,
            0);
  const auto noise = random_vector<double>(200 * 200, 11);
  const auto full = blr<double>(
      {200, 200}, [&](std::int64_t i, std::int64_t j) { return noise[static_cast<std::size_t>(i * 200 + j)]; },
      sampled);
  EXPECT_EQ(full.report().low_rank_blocks, 0);
  EXPECT_EQ(full.report().error, 0);
  EXPECT_IN("(0, 120) is not finite", message_of<InvalidArgument>([&] {
              (void)blr<double>(
                  {200, 200}, [](std::int64_t, std::int64_t j) { return j == 120 ? NAN : 1.0; }, sampled);
            }));
}

template <Scalar T> void check_solves(std::int64_t n, std::int64_t tile, double tolerance) {
  for (const Kernel1d which : kKernels) {
    const auto elements = kernel<T>(which, n);
    for (int method = 0; method < 3; ++method) {
      const RankMatrix<T> a(method == 2 ? RankShape::Hodlr : RankShape::Blr, {n, n}, elements,
                            {.tolerance = tolerance, .tile = tile});
      const RankFactors<T> f(a, method == 1 ? RankFactor::Cholesky : RankFactor::Lu);
      ASSERT_TRUE(f.outcome().ok()) << n << ' ' << method;
      auto b = random_vector<T>(2 * n, 3);
      std::vector<T> x(b.size());
      for (const int refinements : {0, 2}) {
        const RankSolve solved = f.solve(columns_of(b, n), columns_of(x, n), refinements);
        const double truth = distance(elements, Op::N, n, n, x, b), size = size_of(x), norm = a.report().norm;
        EXPECT_LE(truth, solved.residual_bound) << n << ' ' << method << ' ' << static_cast<int>(which);
        // Before refinement (A~ + F) x = b; roundings of factors and substitutions are at most
        // 3 n u || |L||U| ||_F, and |L||U| of a matrix whose diagonal dominates is within sqrt(n) of |A|.
        const double own = 3 * static_cast<double>(n) * (ComplexScalar<T> ? 4 : 1) * unit<T>() *
                           std::sqrt(static_cast<double>(n)) * norm * size;
        // The residual itself is rounded: u of b and of the product's terms.
        const double residual_roundings = roundings<T>(a.report(), n) * size + 2 * unit<T>() * size_of(b);
        if (refinements == 0) {
          EXPECT_LE(solved.residual, f.truncation() * size + own + residual_roundings);
        }
        EXPECT_LE(f.truncation(), 2 * tolerance * norm);
        // The bound is worth having: compression and roundings, no more.
        EXPECT_LE(solved.residual_bound, 4 * (tolerance * norm * size + own) + 2 * roundings<T>(a.report(), n) * size);
      }
    }
  }
}

// Squares of these norms leave the range of double.
TEST(RankStructured, ReportsOfTinyAndHugeElements) {
  const auto report = [](RankShape shape, RankCompression compression, int exponent) {
    const Elements<double> element = [&](std::int64_t i, std::int64_t j) {
      return std::ldexp(1 / (1 + std::abs(static_cast<double>(i - j))), exponent);
    };
    return RankMatrix<double>(shape, {120, 120}, element, {.tolerance = 1e-4, .tile = 16, .compression = compression})
        .report();
  };
  for (const RankShape shape : {RankShape::Blr, RankShape::Hodlr}) {
    for (const int exponent : {-700, 700}) {
      const RankReport plain = report(shape, RankCompression::Sampled, 0),
                       scaled = report(shape, RankCompression::Sampled, exponent);
      EXPECT_GT(plain.error, 0);
      EXPECT_NEAR(std::ldexp(scaled.norm, -exponent), plain.norm, 1e-9 * plain.norm);
      EXPECT_NEAR(std::ldexp(scaled.error, -exponent), plain.error, 1e-9 * plain.error);
      const RankReport measured = report(shape, RankCompression::Measured, exponent);
      EXPECT_NEAR(std::ldexp(measured.norm, -exponent), plain.norm, 1e-4 * plain.norm);
      EXPECT_LE(measured.error, 1e-4 * measured.norm);
    }
  }
}

TEST(RankStructured, SolvesLeaveNoMoreThanTheySay) {
  for (const std::int64_t n : {1, 31, 32, 33, 129, 300}) check_solves<double>(n, 32, 1e-8);
  check_solves<std::complex<double>>(150, 40, 1e-7);
  check_solves<float>(200, 64, 1e-4);
  check_solves<std::complex<float>>(100, 32, 1e-3);
}

TEST(RankStructured, FactorsExchangeRowsWithinATile) {
  // Zeros on the diagonal, so that LU without exchanges would divide by zero at once.
  const std::int64_t n = 90;
  const Elements<double> elements = [](std::int64_t i, std::int64_t j) {
    if (i / 2 == j / 2) return i == j ? 0.0 : 5.0;
    return 1 / (1 + std::abs(static_cast<double>(i - j)));
  };
  for (const RankShape shape : {RankShape::Blr, RankShape::Hodlr}) {
    const RankMatrix<double> a(shape, {n, n}, elements, {.tolerance = 1e-10, .tile = 16});
    const RankFactors<double> f(a);
    ASSERT_TRUE(f.outcome().ok());
    auto b = random_vector<double>(n, 3);
    std::vector<double> x(b.size()), y = b;
    const RankSolve solved = f.solve(columns_of(b, n), columns_of(x, n));
    EXPECT_LE(distance(elements, Op::N, n, n, x, b), solved.residual_bound);
    EXPECT_LE(solved.residual_bound, 1e-7 * size_of(b));
    f.apply(Op::N, 2.0, columns_of(b, n), -1.0, columns_of(y, n));  // 2 A^-1 b - b
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], 2 * x[i] - b[i], 1e-6);
  }
}

TEST(RankStructured, BitsDoNotDependOnThreads) {
  const std::int64_t n = 220;
  const int threads = omp_get_max_threads();
  for (const RankShape shape : {RankShape::Blr, RankShape::Hodlr}) {
    std::vector<double> first;
    for (const int t : {1, 2, 3}) {
      omp_set_num_threads(t);
      const RankMatrix<double> a(shape, {n, n}, kernel<double>(Kernel1d::Inverse, n), {.tile = 32});
      auto b = random_vector<double>(2 * n, 3);
      std::vector<double> x(b.size());
      RankFactors<double>(a).solve(columns_of(b, n), columns_of(x, n));
      if (first.empty()) first = x;
      EXPECT_EQ(x, first) << t;
    }
  }
  omp_set_num_threads(threads);
}

TEST(RankStructured, TroubleIsAResultAndMistakesAreRefused) {
  const std::int64_t n = 40;
  const auto diagonal = [](double zero_at) {
    return Elements<double>([zero_at](std::int64_t i, std::int64_t j) {
      return i != j ? 0.0 : static_cast<double>(i) == zero_at ? 0.0 : 1.0;
    });
  };
  for (const RankShape shape : {RankShape::Blr, RankShape::Hodlr}) {
    const RankFactors<double> f(RankMatrix<double>(shape, {n, n}, diagonal(23), {.tile = 10}));
    EXPECT_EQ(f.outcome().status, Status::Singular);
    EXPECT_EQ(f.outcome().index, 23);
    std::vector<double> b(static_cast<std::size_t>(n), 1), x = b;
    EXPECT_TRUE(std::isnan(f.solve(columns_of(b, n), columns_of(x, n)).residual));
    EXPECT_TRUE(std::isnan(x[0]));
  }
  const RankFactors<double> negative(
      blr<double>({n, n}, [](std::int64_t i, std::int64_t j) { return i == j ? (i == 31 ? -1.0 : 1.0) : 0.0; },
                  {.tile = 10}),
      RankFactor::Cholesky);
  EXPECT_EQ(negative.outcome().status, Status::NotPositive);
  EXPECT_EQ(negative.outcome().index, 31);
  const auto one = [](std::int64_t, std::int64_t) { return 1.0; };
  EXPECT_IN("(3, 2) is not finite", message_of<InvalidArgument>([&] {
              (void)blr<double>({5, 5}, [](std::int64_t i, std::int64_t j) {
                return i == 3 && j == 2 ? std::numeric_limits<double>::infinity() : 1.0;
              });
            }));
  EXPECT_IN("is square", message_of<InvalidArgument>([&] { (void)hodlr<double>({5, 6}, one); }));
  EXPECT_IN("tolerance", message_of<InvalidArgument>([&] { (void)blr<double>({5, 5}, one, {.tolerance = 0}); }));
  EXPECT_IN("tiles of 0", message_of<InvalidArgument>([&] { (void)blr<double>({5, 5}, one, {.tile = 0}); }));
  EXPECT_IN("LU factors only", message_of<NotImplemented>([&] {
              (void)RankFactors<double>(hodlr<double>({5, 5}, one), RankFactor::Cholesky);
            }));
  EXPECT_IN("5 x 6", message_of<InvalidArgument>([&] { (void)RankFactors<double>(blr<double>({5, 6}, one)); }));
  EXPECT_IN("float", message_of<NotImplemented>([&] {
              (void)blr<double>({5, 5}, one).to(Executor::open("sim:trn2"));
            }));
}

TEST(RankStructured, DeviceProductsAreGroupedProducts) {
  const Executor device = Executor::open("sim:trn2");
  for (const RankShape shape : {RankShape::Blr, RankShape::Hodlr}) {
    for (const std::int64_t n : {127, 128, 300}) {
      const auto elements = kernel<float>(Kernel1d::Inverse, n);
      const RankMatrix<float> here(shape, {n, n}, elements, {.tolerance = 1e-4, .tile = 64});
      const RankMatrix<float> a = here.to(device);
      for (const bool by_columns : {true, false}) {
        const std::int64_t columns = 3;
        auto x = random_vector<float>(n * columns, 5), start = random_vector<float>(n * columns, 6);
        std::vector<float> row_x(x.size()), row_y(x.size());
        for (std::int64_t i = 0; i < n; ++i) {
          for (std::int64_t j = 0; j < columns; ++j) {
            row_x[static_cast<std::size_t>(i * columns + j)] = x[static_cast<std::size_t>(j * n + i)];
            row_y[static_cast<std::size_t>(i * columns + j)] = start[static_cast<std::size_t>(j * n + i)];
          }
        }
        const Array<float> dx = Array<float>::from_host(device, {n * columns}, by_columns ? x : row_x);
        const Array<float> dy = Array<float>::from_host(device, {n * columns}, by_columns ? start : row_y);
        const auto view = [&](const Array<float>& v) {
          return by_columns ? MatrixView<float>::column_major(device, v.data(), n, columns)
                            : MatrixView<float>::row_major(device, v.data(), n, columns);
        };
        const Recorder recorder(device);
        a.apply(Op::N, 1, view(dx), -1, view(dy));
        EXPECT_EQ(recorder.family_of("blas.gemm_batched"), name(Family::Device));
        EXPECT_GT(recorder.modelled_seconds(), 0);
        std::vector<float> y = dy.to_host();
        const Recorder again(device);  // memory that the first call took stays
        a.apply(Op::N, 1, view(dx), -1, view(dy));
        EXPECT_EQ(again.count(EventKind::Allocate), 0);
        if (!by_columns) {
          for (std::int64_t i = 0; i < n; ++i) {
            for (std::int64_t j = 0; j < columns; ++j)
              row_y[static_cast<std::size_t>(j * n + i)] = y[static_cast<std::size_t>(i * columns + j)];
          }
          y = row_y;
        }
        for (std::size_t i = 0; i < y.size(); ++i) y[i] += start[i];  // A x again, one rounding more
        const double size = size_of(x);
        EXPECT_LE(
            distance(elements, Op::N, n, n, x, y),
            (here.report().error + roundings<float>(here.report(), n)) * size + 4 * unit<float>() * size_of(start))
            << n << ' ' << by_columns;
      }
      EXPECT_IN("op N", message_of<NotImplemented>([&] {
                  const Array<float> v(device, {n}), w(device, {n});
                  a.apply(Op::T, 1, MatrixView<const float>(device, v.data(), n, 1, 1, 1), 0,
                          MatrixView<float>(device, w.data(), n, 1, 1, 1));
                }));
    }
  }
}

}  // namespace
}  // namespace trn::sparse
