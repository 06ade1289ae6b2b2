// QR on simulated devices: LAPACK's ratios in 80-bit arithmetic for the explicit Q and for the one that v and tau stand
// for, the condition numbers at which CholeskyQR2 breaks down in float32, dependent columns, scales, outcomes.
#include <trn/solver/cholesky.hpp>
#include <trn/solver/qr.hpp>

#include "device_support.hpp"

namespace trn::solver::testing {
namespace {

using Wd = Dense<long double>;

// H(0) ... H(k-1) of geqrf's result, first `columns` columns.
Wd explicit_q(const Wd& a, const std::vector<float>& tau, std::int64_t columns) {
  const std::int64_t m = a.rows;
  Wd q(m, columns);
  for (std::int64_t i = 0; i < std::min(m, columns); ++i) q(i, i) = 1;
  for (auto j = static_cast<std::int64_t>(tau.size()) - 1; j >= 0; --j) {
    for (std::int64_t c = 0; c < columns; ++c) {
      long double sum = q(j, c);
      for (std::int64_t i = j + 1; i < m; ++i) sum += a(i, j) * q(i, c);
      sum *= tau[static_cast<std::size_t>(j)];
      q(j, c) -= sum;
      for (std::int64_t i = j + 1; i < m; ++i) q(i, c) -= a(i, j) * sum;
    }
  }
  return q;
}
Wd first_rows(const Wd& a, std::int64_t rows) {
  Wd b(rows, a.columns);
  std::copy(a.values.begin(), a.values.begin() + rows * a.columns, b.values.begin());
  return b;
}

struct Factored {
  Wd factor;
  std::vector<float> tau;
};

// geqrf and orgqr with every ratio; the factor for more.
Factored check(const Executor& executor, const Wd& a, Layout layout = Layout::RowMajor) {
  const std::int64_t m = a.rows, n = a.columns, k = std::min(m, n);
  SCOPED_TRACE(::testing::Message() << executor.name() << ' ' << m << " x " << n << " layout "
                                    << static_cast<int>(layout));
  Held<float> held(layout, a);
  OnDevice<float> device(executor, held);
  const Array<float> tau(executor, {k});
  Recorder recorder(executor);
  const Report report = geqrf(executor, device.view(), VectorView<float>(tau.view()));
  EXPECT_EQ(recorder.family_of("solver.geqrf"), "device");
  EXPECT_TRUE(report.outcome.ok());
  EXPECT_EQ(report.algorithm, "blocked qr");
  device.fetch();
  EXPECT_TRUE(held.surroundings_untouched());
  Factored f{held.values(), tau.to_host()};
  const Wd r = triangle(first_rows(f.factor, k), Uplo::Upper), implied = explicit_q(f.factor, f.tau, k);
  const long double size = norm1(a);
  // A reflection of a rounded v with a rounded tau is orthogonal to |tau (v v^T)| 3 u = 3 eps: up to 3 k^(1/2) in all.
  EXPECT_LT(orthogonality(implied, eps<float>), 3 * std::sqrt(static_cast<long double>(std::max<std::int64_t>(k, 1))));
  const Wd residual = minus(times(implied, r), a);
  EXPECT_LT(ratio(residual, size, m, eps<float>), 1);
  long double difference = 0, whole = 0;
  for (const long double x : residual.values) difference += x * x;
  for (const long double x : a.values) whole += x * x;
  EXPECT_LE(std::sqrt(difference), report.accuracy.bound * std::sqrt(whole));
  if (m < n) return f;
  EXPECT_TRUE(orgqr<float>(executor, device.view(), VectorView<float>(tau.view())).outcome.ok());
  device.fetch();
  const Wd q = held.values();
  EXPECT_LT(orthogonality(q, eps<float>), 1);
  EXPECT_LT(ratio(minus(times(q, r), a), size, m, eps<float>), 1);
  return f;
}

TEST(QrDevice, RatiosForEveryShape) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(1);
  for (const Layout layout : kLayouts) {
    check(trn2, random_matrix<float>(1, 1, random), layout);
    check(trn2, random_matrix<float>(6, 4, random), layout);
    check(trn2, random_matrix<float>(4, 7, random), layout);
  }
  check(trn2, random_matrix<float>(33, 31, random));
  check(trn2, random_matrix<float>(129, 127, random), Layout::ColumnMajor);
  check(trn2, random_matrix<float>(128, 128, random));
  check(trn2, random_matrix<float>(257, 129, random), Layout::PaddedColumns);
  check(trn2, random_matrix<float>(140, 200, random));
  check(trn2, random_matrix<float>(300, 300, random), Layout::ColumnMajor);
  for (const char* machine : {"trn1", "trn3"}) {
    check(neuron::open_simulator(machine), random_matrix<float>(150, 130, random));
  }
  const Matrix<float> empty(trn2, 0, 3);
  const Array<float> none(trn2, {0});
  EXPECT_TRUE(geqrf(trn2, empty.view(), VectorView<float>(none.view())).outcome.ok());
}

// Random columns made dependent: singular values from 1 down to 1 / kappa.
Wd with_condition(std::int64_t m, std::int64_t n, long double kappa, Random& random) {
  Wd x = random_matrix<float>(m, n, random), y = random_matrix<float>(n, n, random);
  for (std::int64_t j = 0; j < n; ++j) {  // Gram-Schmidt, twice, on both
    for (Wd* w : {&x, &y}) {
      for (int pass = 0; pass < 2; ++pass) {
        for (std::int64_t k = 0; k < j; ++k) {
          long double dot = 0;
          for (std::int64_t i = 0; i < w->rows; ++i) dot += (*w)(i, k) * (*w)(i, j);
          for (std::int64_t i = 0; i < w->rows; ++i) (*w)(i, j) -= dot * (*w)(i, k);
        }
      }
      long double norm = 0;
      for (std::int64_t i = 0; i < w->rows; ++i) norm += (*w)(i, j) * (*w)(i, j);
      for (std::int64_t i = 0; i < w->rows; ++i) (*w)(i, j) /= std::sqrt(norm);
    }
  }
  for (std::int64_t j = 0; j < n; ++j) {
    const long double s = std::pow(kappa, -static_cast<long double>(j) / static_cast<long double>(n - 1));
    for (std::int64_t i = 0; i < m; ++i) x(i, j) *= s;
  }
  return rounded<float>(times(x, transposed(y)));
}

// Where the plain Gram matrix has no Cholesky factor in float32, so that CholeskyQR2 has no first pass.
TEST(QrDevice, BeyondCholeskyQr2) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(2);
  int broken = 0;
  for (const long double kappa : {1e3L, 1e4L, 1e5L, 1e6L, 1e8L}) {
    const Wd a = with_condition(200, 60, kappa, random);
    check(trn2, a);
    Held<float> gram(Layout::RowMajor, times(transposed(a), a));
    const bool breaks = !potrf(Executor::host(), Uplo::Lower, gram.view()).outcome.ok();
    EXPECT_FALSE(breaks && kappa < 2e3L);
    broken += breaks ? 1 : 0;
  }
  EXPECT_GE(broken, 3);
}

TEST(QrDevice, DependentColumnsZerosAndScales) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(3);
  Wd a = random_matrix<float>(90, 40, random);
  for (std::int64_t i = 0; i < 90; ++i) a(i, 7) = 0, a(i, 20) = a(i, 3), a(i, 39) = 2 * a(i, 1);
  check(trn2, a);
  Wd one(50, 20);
  for (auto& x : one.values) x = 1;
  check(trn2, one);
  const Factored zero = check(trn2, Wd(70, 30));
  for (const float t : zero.tau) EXPECT_EQ(t, 0);
  for (const long double scale : {1e-30L, 1e30L}) {
    Wd b = random_matrix<float>(140, 135, random);
    for (auto& x : b.values) x *= scale;
    check(trn2, rounded<float>(b));
  }
}

TEST(QrDevice, OrmqrOnEverySide) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(4);
  const Wd a = random_matrix<float>(150, 140, random);
  Held<float> held(Layout::RowMajor, a);
  OnDevice<float> device(trn2, held);
  const Array<float> tau(trn2, {140});
  ASSERT_TRUE(geqrf(trn2, device.view(), VectorView<float>(tau.view())).outcome.ok());
  device.fetch();
  const Wd q = explicit_q(held.values(), tau.to_host(), 150);
  for (const Side side : {Side::Left, Side::Right}) {
    for (const Op op : {Op::N, Op::T, Op::C}) {
      const Wd c = side == Side::Left ? random_matrix<float>(150, 9, random) : random_matrix<float>(9, 150, random);
      Held<float> x(Layout::ColumnMajor, c);
      OnDevice<float> dx(trn2, x);
      ASSERT_TRUE(ormqr<float>(trn2, side, op, device.view(), VectorView<float>(tau.view()), dx.view()).outcome.ok());
      dx.fetch();
      const Wd oq = op == Op::N ? q : transposed(q);
      const Wd expected = side == Side::Left ? times(oq, c) : times(c, oq);
      EXPECT_LT(ratio(minus(x.values(), expected), norm1(c), 150, eps<float>), 1);
    }
  }
}

TEST(QrDevice, TheClassAndLeastSquares) {
  const Executor trn2 = neuron::open_simulator("trn2");
  Random random(5);
  const Wd a = random_matrix<float>(160, 50, random);
  Held<float> held(Layout::RowMajor, a), b(Layout::RowMajor, random_matrix<float>(160, 2, random));
  const Wd rhs = b.values();
  OnDevice<float> da(trn2, held), db(trn2, b);
  const Qr<float> qr(trn2, da.view());
  EXPECT_LT(orthogonality(fetched(qr.q()), eps<float>), 1);
  EXPECT_LT(orthogonality(fetched(qr.q(Basis::Full)), eps<float>), 1);
  EXPECT_LT(ratio(minus(times(fetched(qr.q()), fetched(qr.r())), a), norm1(a), 160, eps<float>), 1);
  ASSERT_TRUE(qr.solve(db.view()).outcome.ok());
  db.fetch();
  const Wd x = first_rows(b.values(), 50), residual = minus(rhs, times(a, x));
  // The residual is orthogonal to the columns of A.
  EXPECT_LT(norm1(times(transposed(a), residual)), 160 * eps<float> * norm1(a) * norm1(rhs));
  EXPECT_NEAR(qr.condition(), Qr<float>(Executor::host(), held.view()).condition(), 1e-2 * qr.condition());
}

TEST(QrDevice, NotFiniteAndOrders) {
  Random random(6);
  Wd bad = random_matrix<float>(20, 10, random);
  bad(3, 4) = INFINITY;
  bad(7, 1) = NAN;
  const Executor trn2 = neuron::open_simulator("trn2");
  Held<float> held(Layout::ColumnMajor, bad);
  OnDevice<float> device(trn2, held);
  const Array<float> tau(trn2, {10});
  EXPECT_EQ(geqrf(trn2, device.view(), VectorView<float>(tau.view())).outcome, (Outcome{Status::NotFinite, 34}));
  device.fetch();
  for (const long double x : held.values().values) EXPECT_TRUE(std::isnan(x));
  const std::int64_t n = shuffled_extent(130);
  const Wd a = random_matrix<float>(n + 10, n, random);
  const auto run = [&](const neuron::Order& order) {
    const Executor executor = neuron::open_simulator("trn2", {.order = order});
    Held<float> x(Layout::RowMajor, a);
    OnDevice<float> dx(executor, x);
    const Array<float> t(executor, {n});
    EXPECT_TRUE(geqrf(executor, dx.view(), VectorView<float>(t.view())).outcome.ok());
    dx.fetch();
    return x;
  };
  Held<float> expected = run(neuron::Order::in_order()), other = run(neuron::Order::shuffled(3));
  EXPECT_TRUE(same_bits(expected, other));
}

}  // namespace
}  // namespace trn::solver::testing
