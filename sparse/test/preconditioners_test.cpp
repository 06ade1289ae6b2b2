// Incomplete factors, preconditioners and orderings: what they promise, checked against dense arithmetic.
#include <cmath>
#include <complex>
#include <numeric>

#include <trn/sparse/gallery.hpp>
#include <trn/sparse/ilu.hpp>
#include <trn/sparse/ordering.hpp>
#include <trn/sparse/preconditioners.hpp>
#include <trn/sparse/spgemm.hpp>

#include "sparse_support.hpp"

namespace trn::sparse {
namespace {

template <class T> class FactorsOf : public testing::Test {};
using All = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(FactorsOf, All);

const Executor kFactorHost = Executor::host();

template <Scalar T> MatrixView<T> column(std::vector<T>& v) {
  return MatrixView<T>(kFactorHost, v.data(), static_cast<std::int64_t>(v.size()), 1, 1, 1);
}

// op(M) as a dense matrix, row by row.
template <Scalar T, class M> std::vector<T> matrix_of(const M& m, Op op = Op::N) {
  const std::int64_t n = m.rows();
  std::vector<T> unit(static_cast<std::size_t>(n * n)), out(unit.size());
  for (std::int64_t i = 0; i < n; ++i) unit[static_cast<std::size_t>(i * n + i)] = T(1);
  m.apply(op, T(1), MatrixView<const T>(kFactorHost, unit.data(), n, n, n, 1), T(0),
          MatrixView<T>(kFactorHost, out.data(), n, n, n, 1));
  return out;
}
template <Scalar T>
std::vector<std::complex<double>> times(const std::vector<T>& a, const std::vector<T>& b, std::int64_t n) {
  std::vector<std::complex<double>> c(static_cast<std::size_t>(n * n));
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t k = 0; k < n; ++k) {
      for (std::int64_t j = 0; j < n; ++j)
        c[static_cast<std::size_t>(i * n + j)] += std::complex<double>(a[static_cast<std::size_t>(i * n + k)]) *
                                                  std::complex<double>(b[static_cast<std::size_t>(k * n + j)]);
    }
  }
  return c;
}
template <Scalar T> void expect_identity(const std::vector<std::complex<double>>& c, std::int64_t n, double limit) {
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < n; ++j)
      ASSERT_LE(std::abs(c[static_cast<std::size_t>(i * n + j)] - (i == j ? 1.0 : 0.0)), limit) << i << ", " << j;
  }
}

template <Scalar T> Csr<T> dominant(std::int64_t n, std::uint64_t seed) {
  return add<T>(T(1), random_csr<T>(n, n, 4, seed), T(6), identity<T>(kFactorHost, n));
}

TYPED_TEST(FactorsOf, IluAgreesWithAOnItsPattern) {
  using T = TypeParam;
  const auto a = dominant<T>(60, 3);
  const double eps = std::numeric_limits<Real<T>>::epsilon();
  for (const int level : {0, 1, 60}) {
    const auto f = ilu(a, {.level = level});
    ASSERT_TRUE(f.outcome().ok());
    const auto product =
        spgemm<T>(kFactorHost, T(1), add<T>(T(1), f.lower(), T(1), identity<T>(kFactorHost, 60)), f.upper());
    const auto p = dense(product), d = dense(a);
    for (std::size_t k = 0; k < d.size(); ++k) {
      if (d[k] != T(0) || level == 60) {
        ASSERT_LE(std::abs(p[k] - d[k]), 50 * eps);
      }
    }
    if (level == 60) expect_identity<T>(times(matrix_of<T>(f), d, 60), 60, 500 * eps);  // all the fill: exact LU
    const auto again = refactor(f, a);
    EXPECT_TRUE(equal(again.upper(), f.upper()));
    // op C of the operator is the adjoint of op N.
    const auto m = matrix_of<T>(f), h = matrix_of<T>(f, Op::C);
    for (std::int64_t i = 0; i < 60; ++i) {
      for (std::int64_t j = 0; j < 60; ++j)
        ASSERT_LE(std::abs(std::conj(std::complex<double>(m[static_cast<std::size_t>(i * 60 + j)])) -
                           std::complex<double>(h[static_cast<std::size_t>(j * 60 + i)])),
                  100 * eps);
    }
  }
  const auto t = ilut(a, {.drop = 0, .largest = 60});
  ASSERT_TRUE(t.outcome().ok());
  expect_identity<T>(times(matrix_of<T>(t), dense(a), 60), 60, 500 * eps);
  const auto few = ilut(a, {.drop = 1e-2, .largest = 3});
  for (const std::int64_t count : entries_per_row(few.upper())) EXPECT_LE(count, 4);
}

TYPED_TEST(FactorsOf, IncompleteCholesky) {
  using T = TypeParam;
  const double eps = std::numeric_limits<Real<T>>::epsilon();
  const auto r = random_csr<T>(50, 50, 3, 5);
  const auto a = add<T>(T(1), add<T>(T(1), r, T(1), adjoint(r)), T(12), identity<T>(kFactorHost, 50));
  const auto f = ic0(a);
  ASSERT_TRUE(f.outcome().ok());
  const auto p = dense(spgemm<T>(kFactorHost, T(1), f.lower(), adjoint(f.lower()))), d = dense(a);
  for (std::size_t k = 0; k < d.size(); ++k) {
    if (d[k] != T(0)) {
      ASSERT_LE(std::abs(p[k] - d[k]), 50 * eps * 12);
    }
  }
  const auto tri = poisson<T>(40);  // tridiagonal: no fill, so the factor is exact
  expect_identity<T>(times(matrix_of<T>(ic0(tri)), dense(tri), 40), 40, 4000 * eps);
}

TEST(Factors, ZeroPivotsAreResults) {
  const std::vector<std::int64_t> rows{0, 0, 1}, columns{0, 1, 0};
  const std::vector<double> values{1, 2, 3};
  const auto a = Csr<double>::from_triplets(kFactorHost, {2, 2}, {rows, columns, values});
  const auto f = ilu(a);
  EXPECT_EQ(f.outcome(), (Outcome{Status::ZeroPivot, 1}));
  std::vector<double> x{1, 1}, y{0, 0};
  f.apply(Op::N, 1, column(x), 0, column(y));
  EXPECT_TRUE(std::isnan(y[0]) && std::isnan(y[1]));
  const std::vector<std::int64_t> all{0, 0, 1, 1}, other{0, 1, 0, 1};
  const std::vector<double> singular{1, 2, 2, 4};
  const auto s = Csr<double>::from_triplets(kFactorHost, {2, 2}, {all, other, singular});
  EXPECT_EQ(ilu(s).outcome(), (Outcome{Status::ZeroPivot, 1}));
  EXPECT_EQ(ilut(s, {.drop = 0}).outcome(), (Outcome{Status::ZeroPivot, 1}));
  const auto boosted = ilu(s, {.boost = {.tolerance = 1e-10, .value = 7}});
  EXPECT_EQ(boosted.outcome(), (Outcome{Status::Ok, -1, 1}));
  EXPECT_EQ(boosted.upper().values().data()[2], 7);
  EXPECT_EQ(ic0(scale<double>(-1, s)).outcome(), (Outcome{Status::NotPositive, 0}));
  EXPECT_EQ(ic0(a).outcome(), (Outcome{Status::ZeroPivot, 1}));
  EXPECT_EQ(jacobi(a).outcome(), (Outcome{Status::ZeroPivot, 1}));
  EXPECT_EQ(BlockJacobi<double>(s, 2).outcome(), (Outcome{Status::ZeroPivot, 0}));
  EXPECT_EQ(Ssor<double>(a).outcome().status, Status::ZeroPivot);
  EXPECT_EQ(Chebyshev<double>(a).outcome(), (Outcome{Status::ZeroPivot, 1}));
}

TYPED_TEST(FactorsOf, BlockJacobiInvertsItsBlocks) {
  using T = TypeParam;
  const auto a = dominant<T>(23, 3);
  const auto d = dense(a);
  for (const std::int64_t b : {1, 4, 23}) {
    const BlockJacobi<T> m(a, b);
    std::vector<T> blocks(d.size());
    for (std::int64_t i = 0; i < 23; ++i) {
      for (std::int64_t j = 0; j < 23; ++j) {
        if (i / b == j / b) blocks[static_cast<std::size_t>(i * 23 + j)] = d[static_cast<std::size_t>(i * 23 + j)];
      }
    }
    expect_identity<T>(times(matrix_of<T>(m), blocks, 23), 23, 200 * std::numeric_limits<Real<T>>::epsilon());
  }
}

TYPED_TEST(FactorsOf, SsorIsItsFormula) {
  using T = TypeParam;
  const std::int64_t n = 24;
  const auto a = dominant<T>(n, 8);
  for (const double w : {1.0, 1.4}) {
    const Ssor<T> m(a, w);
    EXPECT_GT(m.colours(), 1);
    const Permutation order = colouring(a.pattern()).order();
    const auto d = dense(permute(a, order, order));
    std::vector<T> low(d.size()), high(d.size());
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const auto k = static_cast<std::size_t>(i * n + j);
        const T diagonal = d[static_cast<std::size_t>(j * n + j)];
        // w/(2-w) (D/w + L) D^-1, with the scaling in the first factor.
        const T l = i == j ? d[k] / static_cast<Real<T>>(w) : j < i ? d[k] : T(0);
        low[k] = l / diagonal * static_cast<Real<T>>(w / (2 - w));
        high[k] = i == j ? d[k] / static_cast<Real<T>>(w) : j > i ? d[k] : T(0);
      }
    }
    const auto whole = times(low, high, n);
    std::vector<T> back(d.size());
    for (std::int64_t i = 0; i < n; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        const auto v = whole[static_cast<std::size_t>(i * n + j)];
        T value;
        if constexpr (ComplexScalar<T>)
          value = T(v);
        else
          value = static_cast<T>(v.real());
        back[static_cast<std::size_t>(order[static_cast<std::size_t>(i)] * n + order[static_cast<std::size_t>(j)])] =
            value;
      }
    }
    expect_identity<T>(times(matrix_of<T>(m), back, n), n, 500 * std::numeric_limits<Real<T>>::epsilon());
  }
}

TEST(Preconditioners, ChebyshevDampsItsInterval) {
  const auto a = poisson<double>(20, 20);
  const Chebyshev<double> m(a, {.degree = 8});
  EXPECT_NEAR(m.largest(), 2.0 * 1.1, 0.2);
  // The sine of highest frequency in both directions, an eigenvector of D^-1 A near 2, is all but removed.
  std::vector<double> x(400), y(400), r(400);
  for (int i = 0; i < 400; ++i)
    x[static_cast<std::size_t>(i)] = std::sin(M_PI * 20 * (i % 20 + 1) / 21) * std::sin(M_PI * 20 * (i / 20 + 1) / 21);
  m.apply(Op::N, 1, column(x), 0, column(y));
  SpmmPlan<double>(kFactorHost, a).execute(1, column(y), 0, column(r));
  double before = 0, after = 0;
  for (std::size_t i = 0; i < 400; ++i) before = std::hypot(before, x[i]), after = std::hypot(after, x[i] - r[i]);
  EXPECT_LT(after, 0.2 * before);
  EXPECT_IN("only op N", message_of<NotImplemented>([&] { m.apply(Op::T, 1, column(x), 0, column(y)); }));
}

TYPED_TEST(FactorsOf, ApproximateInverseIsTheBestOnItsPattern) {
  using T = TypeParam;
  const auto a = dominant<T>(30, 2);
  const auto m = approximate_inverse(a);
  EXPECT_TRUE(m.pattern().equals(a.pattern()));
  // The residual of each column is orthogonal to the columns of A that could change it.
  const auto d = dense(a), dm = dense(m);
  const auto r = times(d, dm, 30);
  const double eps = std::numeric_limits<Real<T>>::epsilon();
  double norm = 0;
  for (std::int64_t j = 0; j < 30; ++j) {
    for (std::int64_t k = 0; k < 30; ++k) {
      if (dm[static_cast<std::size_t>(k * 30 + j)] == T(0)) continue;
      std::complex<double> dot = 0;
      for (std::int64_t i = 0; i < 30; ++i) {
        const std::complex<double> residual = r[static_cast<std::size_t>(i * 30 + j)] - (i == j ? 1.0 : 0.0);
        dot += std::conj(std::complex<double>(d[static_cast<std::size_t>(i * 30 + k)])) * residual;
        norm += std::norm(residual);
      }
      ASSERT_LE(std::abs(dot), 1000 * eps);
    }
  }
  EXPECT_GT(norm, 0);
}

TEST(Ordering, GivesPermutationsThatDoTheirWork) {
  const auto a = poisson<double>(30, 30);
  std::vector<std::int64_t> natural(900), shuffled;
  std::iota(natural.begin(), natural.end(), 0);
  shuffled = natural;
  std::mt19937_64 r(1);
  std::shuffle(shuffled.begin(), shuffled.end(), r);
  const auto mixed = permute(a, shuffled, shuffled);
  const Permutation rcm = reverse_cuthill_mckee(mixed.pattern());
  EXPECT_LE(structure(permute(mixed, rcm, rcm)).lower_bandwidth, 31);
  const std::int64_t before = cholesky_entries(a.pattern(), natural);
  const Permutation degree = minimum_degree(mixed.pattern()), nested = nested_dissection(mixed.pattern());
  (void)inverse(degree), (void)inverse(nested);
  EXPECT_LT(cholesky_entries(mixed.pattern(), degree), before / 2);
  EXPECT_LT(cholesky_entries(mixed.pattern(), nested), before * 2 / 3);
  const auto parts = partition(mixed.pattern(), 64);
  (void)inverse(parts);
  EXPECT_LT(block_fill(mixed.pattern(), 64, parts).blocks, block_fill(mixed.pattern(), 64).blocks / 2);
  const Permutation best = order_of(mixed.pattern(), Reorder::Best, 64);
  EXPECT_LE(block_fill(mixed.pattern(), 64, best).blocks, block_fill(mixed.pattern(), 64, rcm).blocks);
  // Fill counted by brute force on a small matrix.
  const auto small = random_csr<double>(12, 12, 2, 3);
  std::vector<char> full(144, 0);
  const auto d = dense(small);
  for (std::size_t i = 0; i < 12; ++i) {
    for (std::size_t j = 0; j < 12; ++j) full[12 * i + j] = i == j || d[12 * i + j] != 0 || d[12 * j + i] != 0;
  }
  std::int64_t count = 0;
  for (std::size_t k = 0; k < 12; ++k) {
    for (std::size_t i = k; i < 12; ++i) {
      count += full[12 * i + k];
      for (std::size_t j = k + 1; j < 12; ++j) full[12 * i + j] |= i > k && full[12 * i + k] && full[12 * j + k];
    }
  }
  std::vector<std::int64_t> twelve(natural.begin(), natural.begin() + 12);
  EXPECT_EQ(cholesky_entries(small.pattern(), twelve), count);
  for (const std::int64_t n : {0, 1}) {
    const auto tiny = identity<double>(kFactorHost, n);
    for (const Reorder kind : {Reorder::None, Reorder::ReverseCuthillMcKee, Reorder::Partition, Reorder::MinimumDegree,
                               Reorder::NestedDissection, Reorder::Best})
      EXPECT_EQ(static_cast<std::int64_t>(order_of(tiny.pattern(), kind).size()), n);
  }
}

TEST(Ordering, PartitionFindsClustersAndKeepsItsSizes) {
  // Cliques of 64 in a ring, one edge from each to the next, numbered at random: no other parts of 64 leave fewer than
  // the 16 blocks of edges beside the diagonal.
  const std::int64_t size = 64, cliques = 8, n = size * cliques;
  std::vector<std::int64_t> place(static_cast<std::size_t>(n)), is, js;
  std::iota(place.begin(), place.end(), 0);
  std::mt19937_64 r(9);
  std::shuffle(place.begin(), place.end(), r);
  const auto join = [&](std::int64_t i, std::int64_t j) {
    is.push_back(place[static_cast<std::size_t>(i)]), js.push_back(place[static_cast<std::size_t>(j)]);
  };
  for (std::int64_t c = 0; c < cliques; ++c) {
    for (std::int64_t i = 0; i < size; ++i) {
      for (std::int64_t j = 0; j < size; ++j) join(c * size + i, c * size + j);
    }
    join(c * size, (c + 1) % cliques * size + 1), join((c + 1) % cliques * size + 1, c * size);
  }
  const auto a = Csr<double>::from_triplets(kFactorHost, {n, n}, {is, js, std::vector<double>(is.size(), 1.0)});
  EXPECT_EQ(block_fill(a.pattern(), size, partition(a.pattern(), size)).blocks, 3 * cliques);
  // Sizes that divide nothing, isolated vertices, an unsymmetric pattern.
  const auto mixed = random_csr<double>(331, 331, 2, 5);
  for (const std::int64_t part : {1, 7, 100, 331, 1000}) (void)inverse(partition(mixed.pattern(), part));
}

TEST(Ordering, ColoursSeparateNeighbours) {
  const auto grid = colouring(poisson<double>(13, 17).pattern());
  EXPECT_LE(grid.colours, 3);
  const auto a = rmat<double>(9, 4);
  const auto c = colouring(a.pattern());
  const std::int64_t* offsets = a.pattern().offsets().data();
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      const std::int32_t j = a.pattern().indices().data()[k];
      if (i != j) {
        ASSERT_NE(c.colour[static_cast<std::size_t>(i)], c.colour[static_cast<std::size_t>(j)]);
      }
    }
  }
}

}  // namespace
}  // namespace trn::sparse
