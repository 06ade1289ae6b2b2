// cuSOLVER's dense routines through the C face: what the factors and eigenpairs say is multiplied out again in long
// double. Also info, statuses and devices.
#include <gtest/gtest.h>
#include <trnsolver.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <vector>

#include "mem.hpp"

namespace {

using capi_test::Mem;

using Z = std::complex<double>;
using L = std::complex<long double>;
constexpr int n = 12;  // order of the square matrices
constexpr double kTolerance = 40 * n * 1.1e-16;

// Column-major matrices in long double.
struct Wide {
  int rows, columns;
  std::vector<L> x;
  Wide(int r, int c) : rows(r), columns(c), x(static_cast<std::size_t>(r) * static_cast<std::size_t>(c)) {}
  template <class T> Wide(int r, int c, const std::vector<T>& from, int ld) : Wide(r, c) {
    for (int j = 0; j < c; ++j)
      for (int i = 0; i < r; ++i) (*this)(i, j) = L(from[static_cast<std::size_t>(i + j * ld)]);
  }
  L& operator()(int i, int j) { return x[static_cast<std::size_t>(i + j * rows)]; }
  [[nodiscard]] L operator()(int i, int j) const { return x[static_cast<std::size_t>(i + j * rows)]; }
  [[nodiscard]] Wide adjoint() const {
    Wide t(columns, rows);
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) t(j, i) = std::conj((*this)(i, j));
    return t;
  }
  // What lies in one triangle; a unit diagonal if asked for.
  [[nodiscard]] Wide triangle(bool lower, bool unit = false) const {
    Wide t = *this;
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < columns; ++j) {
        if (lower ? j > i : j < i) t(i, j) = 0;
        if (unit && i == j) t(i, j) = 1;
      }
    return t;
  }
  [[nodiscard]] Wide part(int r, int c) const {
    Wide t(r, c);
    for (int i = 0; i < r; ++i)
      for (int j = 0; j < c; ++j) t(i, j) = (*this)(i, j);
    return t;
  }
};
Wide operator*(const Wide& a, const Wide& b) {
  Wide c(a.rows, b.columns);
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < b.columns; ++j)
      for (int k = 0; k < a.columns; ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}
double distance(const Wide& a, const Wide& b) {
  long double sum = 0;
  for (std::size_t i = 0; i < a.x.size(); ++i) sum += std::norm(a.x[i] - b.x[i]);
  return static_cast<double>(std::sqrt(sum));
}
Wide identity(int order) {
  Wide one(order, order);
  for (int i = 0; i < order; ++i) one(i, i) = 1;
  return one;
}
Wide diagonal(const std::vector<double>& d, int count) {
  Wide one(count, count);
  for (int i = 0; i < count; ++i) one(i, i) = d[static_cast<std::size_t>(i)];
  return one;
}

template <class T> std::vector<T> random(int count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<T> v(static_cast<std::size_t>(count));
  for (T& x : v) {
    if constexpr (std::is_same_v<T, Z>) {
      x = {uniform(engine), uniform(engine)};
    } else {
      x = static_cast<T>(uniform(engine));
    }
  }
  return v;
}
// Hermitian, and positive definite by its diagonal.
template <class T> std::vector<T> definite(unsigned seed) {
  auto a = random<T>(n * n, seed);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      T& lower = a[static_cast<std::size_t>(i + j * n)];
      if (i == j) lower = T(2 * n);
      if constexpr (std::is_same_v<T, Z>) {
        a[static_cast<std::size_t>(j + i * n)] = std::conj(lower);
      } else {
        a[static_cast<std::size_t>(j + i * n)] = lower;
      }
    }
  return a;
}

class Solver : public testing::Test {
 protected:
  void SetUp() override { open("host"); }
  void TearDown() override {
    EXPECT_EQ(trnsolverDnDestroy(handle), TRNSOLVER_STATUS_SUCCESS);
    EXPECT_EQ(trnsolverDnDestroy(handle), TRNSOLVER_STATUS_NOT_INITIALIZED);
    trnSetDevice(0);
  }
  void open(const char* executor) {
    int number = 0;
    ASSERT_EQ(trnDeviceOpen(executor, &number), trnSuccess);
    ASSERT_EQ(trnSetDevice(number), trnSuccess);
    ASSERT_EQ(trnsolverDnCreate(&handle), TRNSOLVER_STATUS_SUCCESS);
  }
  trnsolverDnHandle_t handle = nullptr;
};
#define TRN_OK(call) ASSERT_EQ((call), TRNSOLVER_STATUS_SUCCESS) << trnGetLastErrorText()

TEST_F(Solver, Cholesky) {
  const auto a = definite<double>(1), b = random<double>(n * 2, 2);
  const Mem<double> da(a), db(b);
  const Mem<int> info(std::vector<int>{7});
  int lwork = -1;
  TRN_OK(trnsolverDnDpotrf_bufferSize(handle, TRNBLAS_FILL_MODE_LOWER, n, da, n, &lwork));
  EXPECT_GE(lwork, 0);
  TRN_OK(trnsolverDnDpotrf(handle, TRNBLAS_FILL_MODE_LOWER, n, da, n, nullptr, lwork, info));
  EXPECT_EQ(info.get()[0], 0);
  const Wide l = Wide(n, n, da.get(), n).triangle(true), exact(n, n, a, n);
  EXPECT_LT(distance(l * l.adjoint(), exact), kTolerance * 2 * n);
  TRN_OK(trnsolverDnDpotrs(handle, TRNBLAS_FILL_MODE_LOWER, n, 2, da, n, db, n, info));
  EXPECT_LT(distance(exact * Wide(n, 2, db.get(), n), Wide(n, 2, b, n)), kTolerance * 2 * n);
  TRN_OK(trnsolverDnDpotri(handle, TRNBLAS_FILL_MODE_LOWER, n, da, n, nullptr, 0, info));
  Wide inverse(n, n, da.get(), n);
  for (int i = 0; i < n; ++i)
    for (int j = i + 1; j < n; ++j) inverse(i, j) = inverse(j, i);
  EXPECT_LT(distance(exact * inverse, identity(n)), kTolerance * 2 * n);

  auto broken = a;
  broken[3 + 3 * n] = -1;  // the minor of order 4
  const Mem<double> dbroken(broken);
  TRN_OK(trnsolverDnDpotrf(handle, TRNBLAS_FILL_MODE_UPPER, n, dbroken, n, nullptr, 0, info));
  EXPECT_EQ(info.get()[0], 4);
  broken[3 + 3 * n] = std::numeric_limits<double>::quiet_NaN();
  const Mem<double> nan(broken);
  TRN_OK(trnsolverDnDpotrf(handle, TRNBLAS_FILL_MODE_UPPER, n, nan, n, nullptr, 0, info));
  EXPECT_EQ(info.get()[0], 4);
}

TEST_F(Solver, CholeskyOfComplexBatches) {
  std::vector<std::vector<Z>> a;
  std::vector<std::unique_ptr<Mem<Z>>> blocks, sides;
  std::vector<trnDoubleComplex*> matrices, vectors;
  for (unsigned p = 0; p < 3; ++p) {
    a.push_back(definite<Z>(10 + p));
    if (p == 1) a[p][0] = -1;
    blocks.push_back(std::make_unique<Mem<Z>>(a[p]));
    sides.push_back(std::make_unique<Mem<Z>>(random<Z>(n, 20 + p)));
    matrices.push_back(blocks[p]->z()), vectors.push_back(sides[p]->z());
  }
  const Mem<trnDoubleComplex*> list(matrices), right(vectors);
  const Mem<int> info(std::vector<int>(3, 9));
  TRN_OK(trnsolverDnZpotrfBatched(handle, TRNBLAS_FILL_MODE_LOWER, n, list, n, info, 3));
  EXPECT_EQ(info.get(), (std::vector<int>{0, 1, 0}));
  const Wide l = Wide(n, n, blocks[2]->get(), n).triangle(true);
  EXPECT_LT(distance(l * l.adjoint(), Wide(n, n, a[2], n)), 2 * kTolerance * 2 * n);
  const auto b = sides[2]->get();
  TRN_OK(trnsolverDnZpotrsBatched(handle, TRNBLAS_FILL_MODE_LOWER, n, 1, list, n, right, n, info, 3));
  EXPECT_LT(distance(Wide(n, n, a[2], n) * Wide(n, 1, sides[2]->get(), n), Wide(n, 1, b, n)), 2 * kTolerance * 2 * n);
}

template <class Get>
void expect_lu(const std::vector<double>& a, const std::vector<double>& factors, const Get& pivot) {
  Wide rows(n, n, a, n);
  for (int i = 0; i < n; ++i) {
    const int other = static_cast<int>(pivot(i)) - 1;
    ASSERT_GE(other, i);
    for (int j = 0; j < n; ++j) std::swap(rows(i, j), rows(other, j));
  }
  const Wide both(n, n, factors, n);
  EXPECT_LT(distance(both.triangle(true, true) * both.triangle(false), rows), kTolerance * n);
}

TEST_F(Solver, LuOfBothWidths) {
  const auto a = random<double>(n * n, 3), b = random<double>(n, 4);
  const Mem<double> da(a), db(b), dx(a), dy(b);
  const Mem<int> pivots(n), info(1);
  TRN_OK(trnsolverDnDgetrf(handle, n, n, da, n, nullptr, pivots, info));
  expect_lu(a, da.get(), [p = pivots.get()](int i) { return p[static_cast<std::size_t>(i)]; });
  TRN_OK(trnsolverDnDgetrs(handle, TRNBLAS_OP_T, n, 1, da, n, pivots, db, n, info));
  EXPECT_LT(distance(Wide(n, n, a, n).adjoint() * Wide(n, 1, db.get(), n), Wide(n, 1, b, n)), kTolerance * n * n);

  trnsolverDnParams_t params;
  std::size_t device = 0, host = 9;
  const Mem<std::int64_t> wide(n);
  ASSERT_EQ(trnsolverDnCreateParams(&params), 0);
  TRN_OK(trnsolverDnXgetrf_bufferSize(handle, params, n, n, TRN_R_64F, dx, n, TRN_R_64F, &device, &host));
  TRN_OK(trnsolverDnXgetrf(handle, params, n, n, TRN_R_64F, dx, n, wide, TRN_R_64F, nullptr, 0, nullptr, 0, info));
  expect_lu(a, dx.get(), [p = wide.get()](int i) { return p[static_cast<std::size_t>(i)]; });
  TRN_OK(trnsolverDnXgetrs(handle, params, TRNBLAS_OP_N, n, 1, TRN_R_64F, dx, n, wide, TRN_R_64F, dy, n, info));
  EXPECT_LT(distance(Wide(n, n, a, n) * Wide(n, 1, dy.get(), n), Wide(n, 1, b, n)), kTolerance * n * n);
  EXPECT_EQ(trnsolverDnXgetrf(handle, params, n, n, TRN_R_64F, dx, n, wide, TRN_R_32F, nullptr, 0, nullptr, 0, info),
            TRNSOLVER_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(trnsolverDnDestroyParams(params), 0);
  EXPECT_EQ(trnsolverDnDestroyParams(params), TRNSOLVER_STATUS_NOT_INITIALIZED);

  const Mem<double> zero(static_cast<std::size_t>(n * n));
  TRN_OK(trnsolverDnDgetrf(handle, n, n, zero, n, nullptr, pivots, info));
  EXPECT_EQ(info.get()[0], 1);
}

TEST_F(Solver, Qr) {
  const int m = 17;
  const auto a = random<Z>(m * n, 5);
  const Mem<Z> da(a), tau(static_cast<std::size_t>(n)), dc(a);
  const Mem<int> info(1);
  TRN_OK(trnsolverDnZgeqrf(handle, m, n, da.z(), m, tau.z(), nullptr, 0, info));
  const Wide r = Wide(m, n, da.get(), m).triangle(false);
  // Q^H A is R.
  TRN_OK(trnsolverDnZunmqr(handle, TRNBLAS_SIDE_LEFT, TRNBLAS_OP_C, m, n, n, da.z(), m, tau.z(), dc.z(), m, nullptr, 0,
                           info));
  EXPECT_LT(distance(Wide(m, n, dc.get(), m), r), 4 * kTolerance * m);
  TRN_OK(trnsolverDnZungqr(handle, m, n, n, da.z(), m, tau.z(), nullptr, 0, info));
  const Wide q(m, n, da.get(), m);
  EXPECT_LT(distance(q.adjoint() * q, identity(n)), 4 * kTolerance * m);
  EXPECT_LT(distance(q * r.part(n, n), Wide(m, n, a, m)), 4 * kTolerance * m);
}

TEST_F(Solver, Eigenvalues) {
  const auto a = definite<double>(6), b = definite<double>(7);
  const Mem<double> da(a), w(n), dx(a), wx(std::vector<double>(n, -7)), ga(a), gb(b), gw(n);
  const Mem<int> info(1);
  TRN_OK(trnsolverDnDsyevd(handle, TRNSOLVER_EIG_MODE_VECTOR, TRNBLAS_FILL_MODE_UPPER, n, da, n, w, nullptr, 0, info));
  const Wide exact(n, n, a, n), v(n, n, da.get(), n);
  EXPECT_LT(distance(exact * v, v * diagonal(w.get(), n)), kTolerance * 4 * n);
  EXPECT_LT(distance(v.adjoint() * v, identity(n)), kTolerance * 4);
  const auto values = w.get();
  EXPECT_TRUE(std::is_sorted(values.begin(), values.end()));

  int found = 0;
  TRN_OK(trnsolverDnDsyevdx(handle, TRNSOLVER_EIG_MODE_VECTOR, TRNSOLVER_EIG_RANGE_I, TRNBLAS_FILL_MODE_LOWER, n, dx, n,
                            0, 0, 3, 5, &found, wx, nullptr, 0, info));
  ASSERT_EQ(found, 3);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(wx.get()[i], values[i + 2], kTolerance * 4 * n);
  const Wide some(n, 3, dx.get(), n);
  EXPECT_LT(distance(exact * some, some * diagonal(wx.get(), 3)), kTolerance * 4 * n);
  // What lies behind those three stays as it was.
  for (std::size_t i = 3; i < n; ++i) EXPECT_EQ(wx.get()[i], -7);
  for (std::size_t i = 3 * n; i < a.size(); ++i) EXPECT_EQ(dx.get()[i], a[i]);

  TRN_OK(trnsolverDnDsygvd(handle, TRNSOLVER_EIG_TYPE_1, TRNSOLVER_EIG_MODE_VECTOR, TRNBLAS_FILL_MODE_LOWER, n, ga, n,
                           gb, n, gw, nullptr, 0, info));
  const Wide gv(n, n, ga.get(), n), right(n, n, b, n), factor = Wide(n, n, gb.get(), n).triangle(true);
  EXPECT_LT(distance(exact * gv, right * gv * diagonal(gw.get(), n)), kTolerance * 8 * n);
  EXPECT_LT(distance(factor * factor.adjoint(), right), kTolerance * 2 * n);

  trnsolverDnParams_t params;
  ASSERT_EQ(trnsolverDnCreateParams(&params), 0);
  const Mem<double> xa(a), xw(n);
  TRN_OK(trnsolverDnXsyevd(handle, params, TRNSOLVER_EIG_MODE_NOVECTOR, TRNBLAS_FILL_MODE_LOWER, n, TRN_R_64F, xa, n,
                           TRN_R_64F, xw, TRN_R_64F, nullptr, 0, nullptr, 0, info));
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(xw.get()[i], values[i], kTolerance * 4 * n);
  trnsolverDnDestroyParams(params);
}

TEST_F(Solver, SingularValues) {
  const int m = 17;
  const auto a = random<double>(m * n, 8);
  const Wide exact(m, n, a, m);
  const Mem<int> info(1);
  for (const char job : {'A', 'S'}) {
    const int columns = job == 'A' ? m : n;
    const Mem<double> da(a), s(n), u(static_cast<std::size_t>(m * columns)), vt(static_cast<std::size_t>(n * n));
    TRN_OK(trnsolverDnDgesvd(handle, job, job, m, n, da, m, s, u, m, vt, n, nullptr, 0, nullptr, info));
    const Wide left(m, columns, u.get(), m), right(n, n, vt.get(), n);
    EXPECT_LT(distance(left.adjoint() * left, identity(columns)), kTolerance * m);
    EXPECT_LT(distance(left.part(m, n) * diagonal(s.get(), n) * right, exact), kTolerance * m);
  }
  const Mem<double> da(a), s(n), alone(n);
  TRN_OK(trnsolverDnDgesvd(handle, 'O', 'N', m, n, da, m, s, nullptr, m, nullptr, n, nullptr, 0, nullptr, info));
  const Wide left(m, n, da.get(), m);
  EXPECT_LT(distance(left.adjoint() * left, identity(n)), kTolerance * m);
  const Mem<double> db(a);
  TRN_OK(trnsolverDnDgesvd(handle, 'N', 'N', m, n, db, m, alone, nullptr, m, nullptr, n, nullptr, 0, nullptr, info));
  for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(alone.get()[i], s.get()[i], kTolerance * m);
}

TEST_F(Solver, InverseOfATriangle) {
  const auto a = definite<double>(9);
  const Mem<double> da(a);
  const Mem<int> info(1);
  TRN_OK(trnsolverDnXtrtri(handle, TRNBLAS_FILL_MODE_UPPER, TRNBLAS_DIAG_NON_UNIT, n, TRN_R_64F, da, n, nullptr, 0,
                           nullptr, 0, info));
  EXPECT_LT(distance(Wide(n, n, a, n).triangle(false) * Wide(n, n, da.get(), n).triangle(false), identity(n)),
            kTolerance * n);
}

TEST_F(Solver, BadArgumentsAreStatuses) {
  std::vector<double> host(n * n, 1.0);
  const Mem<double> da(host);
  const Mem<int> info(1), pivots(n);
  int lwork = 0, host_info = 0;
  const auto upper = TRNBLAS_FILL_MODE_UPPER;
  EXPECT_EQ(trnsolverDnDpotrf(handle, upper, n, host.data(), n, nullptr, 0, info), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnsolverDnDpotrf(handle, upper, n, da, n, nullptr, 0, &host_info), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnsolverDnDpotrf(handle, upper, n, da, n - 1, nullptr, 0, info), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnsolverDnDpotrf(handle, upper, n + 1, da, n + 1, nullptr, 0, info), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnsolverDnDpotrf(handle, static_cast<trnblasFillMode_t>(99), n, da, n, nullptr, 0, info),
            TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnsolverDnDpotrf(handle, upper, -1, da, n, nullptr, 0, info), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnsolverDnDpotrf_bufferSize(handle, upper, -1, da, n, &lwork), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnsolverDnDpotrf(handle, upper, 0, nullptr, 1, nullptr, 0, info), TRNSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(trnsolverDnDgetrs(handle, TRNBLAS_OP_N, n, 1, da, n, pivots, da, n, info), TRNSOLVER_STATUS_INVALID_VALUE)
      << "pivots of 0 are not rows";
  EXPECT_EQ(trnsolverDnDgesvd(handle, 'X', 'N', n, n, da, n, da, da, n, da, n, nullptr, 0, nullptr, info),
            TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnsolverDnDgesvd(handle, -1, 'N', n, n, da, n, da, da, n, da, n, nullptr, 0, nullptr, info),
            TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_STREQ(trnGetLastErrorText(), "trnsolverDnDgesvd: a job is -1; it must be A, S, O or N");
  EXPECT_EQ(da.get(), host) << "what is refused is not written";
}

// On a device: Cholesky in float and LU in float and double run there.
TEST_F(Solver, OnASimulatedDevice) {
  trnsolverDnDestroy(handle);
  open("sim:trn2");
  const auto wide = definite<double>(11);
  const std::vector<float> a(wide.begin(), wide.end());
  const Mem<float> da(a);
  const Mem<int> info(std::vector<int>{5}), pivots(n);
  TRN_OK(trnsolverDnSpotrf(handle, TRNBLAS_FILL_MODE_LOWER, n, da, n, nullptr, 0, info));
  EXPECT_EQ(info.get()[0], 0);
  const Wide l = Wide(n, n, da.get(), n).triangle(true);
  EXPECT_LT(distance(l * l.adjoint(), Wide(n, n, a, n)), 40 * n * 6e-8 * 2 * n);
  // A x = the sum of A's columns has x = 1.
  std::vector<float> sums(n);
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < n; ++i) sums[i] += a[j * n + i];
  }
  const Mem<float> factor(a), x(sums);
  TRN_OK(trnsolverDnSgetrf(handle, n, n, factor, n, nullptr, pivots, info));
  EXPECT_EQ(info.get()[0], 0);
  TRN_OK(trnsolverDnSgetrs(handle, TRNBLAS_OP_N, n, 1, factor, n, pivots, x, n, info));
  for (const float value : x.get()) EXPECT_NEAR(value, 1, 1e-4);
  const Mem<double> doubles(wide);
  TRN_OK(trnsolverDnDgetrf(handle, n, n, doubles, n, nullptr, pivots, info));
  expect_lu(wide, doubles.get(), [p = pivots.get()](int i) { return p[static_cast<std::size_t>(i)]; });
}

}  // namespace
