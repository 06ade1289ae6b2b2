// Multigrid as a preconditioner of conjugate gradients, and integral screening against brute force.
#include <cmath>
#include <complex>

#include <trn/sparse/amg.hpp>
#include <trn/sparse/gallery.hpp>
#include <trn/sparse/screening.hpp>

#include "sparse_support.hpp"

namespace trn::sparse {
namespace {

const Executor kAmgHost = Executor::host();

// Iterations of preconditioned conjugate gradients until the recomputed residual is below `tolerance`.
template <Scalar T, class M> int iterations(const Csr<T>& a, const M& m, double tolerance) {
  const std::int64_t n = a.rows();
  const auto size = static_cast<std::size_t>(n);
  const SparseOperator<T> op(kAmgHost, a);
  const auto view = [&](std::vector<T>& v) { return MatrixView<T>(kAmgHost, v.data(), n, 1, 1, 1); };
  std::vector<T> b = random_vector<T>(n, 3), x(size), r = b, z(size), p(size), q(size);
  const auto dot = [&](const std::vector<T>& u, const std::vector<T>& v) {
    std::complex<double> s = 0;
    for (std::size_t i = 0; i < size; ++i) s += std::conj(std::complex<double>(u[i])) * std::complex<double>(v[i]);
    return s.real();
  };
  const double start = std::sqrt(dot(b, b));
  double rz = 0;
  for (int k = 1; k <= 200; ++k) {
    m.apply(Op::N, T(1), view(r), T(0), view(z));
    const double next = dot(r, z);
    EXPECT_GT(next, 0);  // positive definite
    for (std::size_t i = 0; i < size; ++i) p[i] = z[i] + (k == 1 ? Real<T>(0) : static_cast<Real<T>>(next / rz)) * p[i];
    rz = next;
    op.apply(Op::N, T(1), view(p), T(0), view(q));
    const auto step = static_cast<Real<T>>(rz / dot(p, q));
    for (std::size_t i = 0; i < size; ++i) x[i] += step * p[i];
    r = b;
    op.apply(Op::N, T(-1), view(x), T(1), view(r));
    if (std::sqrt(dot(r, r)) <= tolerance * start) return k;
  }
  return 1000;
}

TEST(Amg, IterationsDoNotGrowWithTheGrid) {
  for (const std::int64_t n : {12, 24}) {
    const auto a = poisson<double>(n, n, n);
    const auto m = smoothed_aggregation(a);
    ASSERT_TRUE(m.outcome().ok());
    EXPECT_GE(m.levels().size(), 2U);
    EXPECT_LT(m.operator_complexity(), 2.0);
    EXPECT_LE(iterations(a, m, 1e-8), 13) << n;
  }
  const auto flat = poisson<double>(60, 60);
  EXPECT_LE(iterations(flat, smoothed_aggregation(flat), 1e-8), 14);
  EXPECT_GT(iterations(flat, jacobi(flat), 1e-8), 60);  // what multigrid is for
  using Z = std::complex<double>;
  const auto z = poisson<Z>(30, 30);
  EXPECT_LE(iterations(z, smoothed_aggregation(z), 1e-8), 14);
  const auto f = poisson<float>(30, 30);
  EXPECT_LE(iterations(f, smoothed_aggregation(f), 1e-4), 9);
}

TEST(Amg, RigidMotionsHelpElasticity) {
  const auto a = elasticity<double>(40, 40);
  const auto motions = elasticity_motions<double>(40, 40);
  const auto with = Amg<double>(a, {.nullspace = MatrixView<const double>(motions.view()), .block = 2});
  const auto without = Amg<double>(a, {.block = 2});
  ASSERT_TRUE(with.outcome().ok());
  const int better = iterations(a, with, 1e-8), worse = iterations(a, without, 1e-8);
  EXPECT_LE(better, 20);
  EXPECT_LT(better, worse);
}

TEST(Amg, IsHermitianAndSaysWhatWentWrong) {
  const auto a = poisson<double>(25, 25);
  const auto m = smoothed_aggregation(a, {.coarsest = 40});
  auto x = random_vector<double>(625, 1), y = random_vector<double>(625, 2);
  std::vector<double> mx(625), my(625);
  const auto view = [](std::vector<double>& v) { return MatrixView<double>(kAmgHost, v.data(), 625, 1, 1, 1); };
  m.apply(Op::N, 1, view(x), 0, view(mx));
  m.apply(Op::C, 1, view(y), 0, view(my));
  double left = 0, right = 0;
  for (std::size_t i = 0; i < 625; ++i) left += y[i] * mx[i], right += x[i] * my[i];
  EXPECT_NEAR(left, right, 1e-10 * std::abs(left));
  std::vector<double> zero(static_cast<std::size_t>(a.nnz()), 0.0);
  EXPECT_EQ(Amg<double>(a.with_values(VectorView<const double>(kAmgHost, zero.data(), a.nnz()))).outcome().status,
            Status::ZeroPivot);
  EXPECT_IN("whole nodes", message_of<InvalidArgument>([&] { Amg<double>(a, {.block = 2}); }));
  EXPECT_IN("near-nullspace is", message_of<InvalidArgument>([&] {
              Amg<double>(a, {.nullspace = MatrixView<const double>(kAmgHost, x.data(), 5, 1, 1, 1)});
            }));
  const auto wide = poisson<double>(60, 60);  // no entry is more than 10 times its diagonal: nothing is strong
  EXPECT_IN("3600 rows are left", message_of<InvalidArgument>([&] { Amg<double>(wide, {.strength = 10}); }));
}

// The matrix with Dirichlet conditions at the rows that `fixed` marks: rows and columns of the identity times `value`,
// as finite-element codes leave them, with stored zeros where `zeros` says so.
Csr<double> with_dirichlet(const Csr<double>& a, const std::vector<char>& fixed, double value, bool zeros) {
  std::vector<std::int64_t> is, js;
  std::vector<double> vs;
  const std::int64_t* offsets = a.pattern().offsets().data();
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    for (std::int64_t k = offsets[i]; k < offsets[i + 1]; ++k) {
      const std::int64_t j = a.pattern().indices().data()[k];
      const bool held = fixed[static_cast<std::size_t>(i)] != 0 || fixed[static_cast<std::size_t>(j)] != 0;
      if (held && i != j && !zeros) continue;
      is.push_back(i), js.push_back(j);
      vs.push_back(!held ? a.values().data()[k] : i == j ? value : 0.0);
    }
  }
  return Csr<double>::from_triplets(kAmgHost, a.extents(), {is, js, vs});
}

TEST(Amg, RowsOfDirichletConditionsAreLeftOutOfCoarsening) {
  // 70 x 70 points of which 2470 are fixed: more than the last level may have. The rest is a grid of 49 x 50.
  const std::int64_t n = 70, free_rows = 49, free_columns = 50;
  std::vector<char> fixed(static_cast<std::size_t>(n * n), 1);
  std::vector<std::int64_t> inner;
  for (std::int64_t i = 10; i < 10 + free_rows; ++i) {
    for (std::int64_t j = 10; j < 10 + free_columns; ++j)
      fixed[static_cast<std::size_t>(i * n + j)] = 0, inner.push_back(i * n + j);
  }
  const std::int64_t held = n * n - free_rows * free_columns;
  ASSERT_GT(held, 2000);
  const auto small = poisson<double>(free_rows, free_columns);
  const int alone = iterations(small, smoothed_aggregation(small), 1e-8);
  for (const bool zeros : {false, true}) {
    const auto a = with_dirichlet(poisson<double>(n, n), fixed, 7.5, zeros);
    const auto m = smoothed_aggregation(a);
    ASSERT_TRUE(m.outcome().ok());
    EXPECT_EQ(m.levels()[0].separate, held);
    ASSERT_GE(m.levels().size(), 2U);
    // What is coarsened is the free grid alone, as if the others were not there.
    EXPECT_EQ(m.levels()[0].aggregates, smoothed_aggregation(small).levels()[0].aggregates);
    EXPECT_EQ(m.levels()[1].rows, m.levels()[0].aggregates);
    EXPECT_LE(std::abs(iterations(a, m, 1e-8) - alone), 1) << zeros;
    // A fixed row is solved by one cycle: x = b / 7.5 to the last bit of a product with the rounded inverse.
    std::vector<double> b = random_vector<double>(n * n, 9), x(b.size());
    m.apply(Op::N, 1, MatrixView<const double>(kAmgHost, b.data(), n * n, 1, 1, 1), 0,
            MatrixView<double>(kAmgHost, x.data(), n * n, 1, 1, 1));
    for (std::size_t i = 0; i < b.size(); ++i) {
      if (fixed[i] != 0) {
        EXPECT_NEAR(x[i], b[i] / 7.5, 0x1p-52 * std::abs(b[i] / 7.5));
      }
    }
  }
}

TEST(Amg, NodesThatNothingConnectsAreSolvedByTheirBlocks) {
  const std::int64_t n = 3000;
  const auto m = smoothed_aggregation(identity<double>(kAmgHost, n));
  ASSERT_TRUE(m.outcome().ok());
  EXPECT_EQ(m.levels().size(), 1U);
  EXPECT_EQ(m.levels()[0].separate, n);
  // Blocks [2 1; 1 3] of two unknowns: the inverse is [3 -1; -1 2] / 5. A zero pivot is a result, with its row.
  std::vector<std::int64_t> is, js;
  std::vector<double> vs;
  for (std::int64_t i = 0; i < n; i += 2) {
    for (const std::int64_t r : {0, 1}) {
      for (const std::int64_t c : {0, 1}) is.push_back(i + r), js.push_back(i + c), vs.push_back(r != c ? 1 : 2 + r);
    }
  }
  const auto blocks = Csr<double>::from_triplets(kAmgHost, {n, n}, {is, js, vs});
  const Amg<double> pairs(blocks, {.block = 2});
  std::vector<double> b = random_vector<double>(n, 4), x(b.size());
  const auto view = [&](std::vector<double>& v) { return MatrixView<double>(kAmgHost, v.data(), n, 1, 1, 1); };
  pairs.apply(Op::N, 1, view(b), 0, view(x));
  for (std::size_t i = 0; i < b.size(); i += 2) {
    EXPECT_NEAR(x[i], (3 * b[i] - b[i + 1]) / 5, 1e-15);
    EXPECT_NEAR(x[i + 1], (2 * b[i + 1] - b[i]) / 5, 1e-15);
  }
  vs[4] = 1, vs[5] = 1, vs[6] = 1, vs[7] = 1;  // the second block is singular
  const auto singular = Csr<double>::from_triplets(kAmgHost, {n, n}, {is, js, vs});
  const Outcome outcome = Amg<double>(singular, {.block = 2}).outcome();
  EXPECT_EQ(outcome.status, Status::ZeroPivot);
  EXPECT_EQ(outcome.index, 2);
}

TEST(Screening, KeepsByTheProductOfBounds) {
  // The Python suite dropped every pair below sqrt(threshold), and with it quartets of one small and one large pair.
  const std::vector<double> two{1e-6, 10};
  const Quartets q(two, two, 1e-6);
  EXPECT_EQ(q.count(0), 1);
  EXPECT_EQ(q.kets()[0], 1);
  EXPECT_EQ(q.count(1), 2);
  EXPECT_EQ(q.kept(), 3);
  std::mt19937_64 r(1);
  std::uniform_real_distribution<double> exponent(-9, 1);
  std::vector<double> bra(60), ket(80);
  for (double& v : bra) v = std::pow(10, exponent(r));
  for (double& v : ket) v = std::pow(10, exponent(r));
  bra[3] = 0, ket[5] = 0;
  for (const double t : {0.0, 1e-10, 1e-5, 1.0, 1e3}) {
    const Quartets s(bra, ket, t);
    std::int64_t kept = 0;
    for (std::size_t p = 0; p < bra.size(); ++p) {
      std::vector<char> in(ket.size(), 0);
      for (std::int64_t k = 0; k < s.count(static_cast<std::int64_t>(p)); ++k)
        in[static_cast<std::size_t>(s.kets()[static_cast<std::size_t>(k)])] = 1;
      for (std::size_t k = 0; k < ket.size(); ++k) {
        EXPECT_EQ(in[k] != 0, bra[p] * ket[k] > t);
        kept += bra[p] * ket[k] > t;
      }
    }
    EXPECT_EQ(s.kept(), kept);
  }
  EXPECT_EQ(schwarz_bounds(std::vector<double>{4, -9}), (std::vector<double>{2, 3}));
  EXPECT_IN("threshold", message_of<InvalidArgument>([&] { Quartets(bra, ket, -1); }));
  EXPECT_IN("a bound is", message_of<InvalidArgument>([&] { Quartets(std::vector<double>{-1}, ket, 1); }));
}

TEST(Screening, MasksHard) {
  const auto a = poisson<double>(4);
  const std::vector<double> q{1, 1e-5, 1e-5, 1};
  const auto kept = screened(a, q, 1e-10);
  // 1e-5 * 1e-5 rounds to a little more than 1e-10; what is kept keeps its value whole.
  EXPECT_EQ(kept.nnz(), (1e-5 * 1e-5 > 1e-10 ? 10 : 6));
  const auto few = screened(a, q, 1e-6);
  EXPECT_EQ(dense(few), (std::vector<double>{2, -1, 0, 0, -1, 0, 0, 0, 0, 0, 0, -1, 0, 0, -1, 2}));
}

}  // namespace
}  // namespace trn::sparse
