// cuSOLVER's other ways to the same numbers through the C face: Jacobi's, approximate, randomised, mixed precision, any
// square matrix, LU without pivots. What comes out is multiplied out again.
#include <trnsolver.h>

#include <cmath>
#include <complex>
#include <random>

#include "mem.hpp"

namespace {

using capi_test::Mem;
constexpr int m = 6, n = 4;

struct Handle {
  Handle() { EXPECT_EQ(trnsolverDnCreate(&h), TRNSOLVER_STATUS_SUCCESS); }
  ~Handle() { trnsolverDnDestroy(h); }
  operator trnsolverDnHandle_t() const { return h; }
  trnsolverDnHandle_t h = nullptr;
};
std::vector<double> random(int size, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<double> v(static_cast<std::size_t>(size));
  for (double& x : v) x = std::uniform_real_distribution<double>(-1, 1)(engine);
  return v;
}
double at(const std::vector<double>& a, int i, int j, int ld) { return a[static_cast<std::size_t>(i + j * ld)]; }

// || A - U S V^T || for column-major factors.
double residual(const std::vector<double>& a, const std::vector<double>& u, const std::vector<double>& s,
                const std::vector<double>& v, int rows, int columns, int rank) {
  long double sum = 0;
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) {
      long double r = at(a, i, j, rows);
      for (int k = 0; k < rank; ++k)
        r -= static_cast<long double>(at(u, i, k, rows)) * s[static_cast<std::size_t>(k)] * at(v, j, k, columns);
      sum += r * r;
    }
  return static_cast<double>(std::sqrt(sum));
}

TEST(CSolverVariants, JacobiEigenvaluesAndTheirResidual) {
  const Handle h;
  auto a = random(n * n, 1);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < i; ++j) a[static_cast<std::size_t>(j + i * n)] = at(a, i, j, n);
  const Mem<double> da(a), w(n), work(1);
  const Mem<int> info(1);
  trnsolversyevjInfo_t params;
  ASSERT_EQ(trnsolverDnCreateSyevjInfo(&params), TRNSOLVER_STATUS_SUCCESS);
  int lwork = 0, sweeps = -1;
  double claimed = 1;
  const auto vectors = TRNSOLVER_EIG_MODE_VECTOR;
  EXPECT_EQ(trnsolverDnDsyevj_bufferSize(h, vectors, TRNBLAS_FILL_MODE_LOWER, n, da, n, w, &lwork, params),
            TRNSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(lwork, 1);
  EXPECT_EQ(trnsolverDnXsyevjGetResidual(h, params, &claimed), TRNSOLVER_STATUS_NOT_SUPPORTED);  // nothing was done
  ASSERT_EQ(trnsolverDnDsyevj(h, vectors, TRNBLAS_FILL_MODE_LOWER, n, da, n, w, work, lwork, info, params),
            TRNSOLVER_STATUS_SUCCESS)
      << trnGetLastErrorText();
  EXPECT_EQ(info.get()[0], 0);
  const double found = residual(a, da.get(), w.get(), da.get(), n, n, n);
  EXPECT_LT(found, 1e-14);
  EXPECT_EQ(trnsolverDnXsyevjGetResidual(h, params, &claimed), TRNSOLVER_STATUS_SUCCESS);
  EXPECT_NEAR(claimed, found, 1e-14);
  EXPECT_EQ(trnsolverDnXsyevjGetSweeps(h, params, &sweeps), TRNSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(sweeps, 0);
  trnsolverDnDestroySyevjInfo(params);
  EXPECT_EQ(trnsolverDnDsyevj(h, vectors, TRNBLAS_FILL_MODE_LOWER, n, da, n, w, work, lwork, info, params),
            TRNSOLVER_STATUS_INVALID_VALUE);  // stale parameters
}

TEST(CSolverVariants, SingularTriples) {
  const Handle h;
  const auto a = random(m * n, 2);
  const Mem<double> da(a), s(n), u(m * m), v(n * n), work(1), first(2), u2(m * 2), v2(n * 2);
  const Mem<int> info(1);
  trnsolvergesvdjInfo_t params;
  trnsolverDnCreateGesvdjInfo(&params);
  const auto vectors = TRNSOLVER_EIG_MODE_VECTOR;
  for (const int econ : {0, 1}) {
    ASSERT_EQ(trnsolverDnDgesvdj(h, vectors, econ, m, n, da, m, s, u, m, v, n, work, 1, info, params),
              TRNSOLVER_STATUS_SUCCESS)
        << trnGetLastErrorText();
    EXPECT_LT(residual(a, u.get(), s.get(), v.get(), m, n, n), 2e-14);
  }
  double norm = 0;
  ASSERT_EQ(trnsolverDnDgesvdaStridedBatched(h, vectors, 2, m, n, da, m, m * n, first, 2, u2, m, m * 2, v2, n, n * 2,
                                             work, 1, info, &norm, 1),
            TRNSOLVER_STATUS_SUCCESS)
      << trnGetLastErrorText();
  EXPECT_NEAR(norm, std::hypot(s.get()[2], s.get()[3]), 1e-13);  // what the others hold
  EXPECT_NEAR(residual(a, u2.get(), first.get(), v2.get(), m, n, 2), norm, 1e-13);
  ASSERT_EQ(trnsolverDnXgesvdr(h, nullptr, 'S', 'S', m, n, 2, 1, 2, TRN_R_64F, da, m, TRN_R_64F, first, TRN_R_64F, u2,
                               m, TRN_R_64F, v2, n, TRN_R_64F, nullptr, 0, nullptr, 0, info),
            TRNSOLVER_STATUS_SUCCESS)
      << trnGetLastErrorText();
  EXPECT_NEAR(residual(a, u2.get(), first.get(), v2.get(), m, n, 2), norm, 1e-13);
  trnsolverDnDestroyGesvdjInfo(params);
}

// A v = w v for a rotation, whose pair is (cos, +- sin), and a third eigenvalue; packed as LAPACK does.
TEST(CSolverVariants, EigenvaluesOfAnyMatrix) {
  const Handle h;
  const double c = std::cos(0.7), s = std::sin(0.7);
  const std::vector<double> a{c, s, 0, -s, c, 0, 1, 2, 3};  // column-major
  const Mem<double> da(a), w(6), vr(9);
  const Mem<int> info(1);
  ASSERT_EQ(
      trnsolverDnXgeev(h, nullptr, TRNSOLVER_EIG_MODE_NOVECTOR, TRNSOLVER_EIG_MODE_VECTOR, 3, TRN_R_64F, da, 3,
                       TRN_R_64F, w, TRN_R_64F, nullptr, 3, TRN_R_64F, vr, 3, TRN_R_64F, nullptr, 0, nullptr, 0, info),
      TRNSOLVER_STATUS_SUCCESS)
      << trnGetLastErrorText();
  const auto values = w.get(), x = vr.get();
  for (int j = 0; j < 3; ++j) {
    const std::complex<double> lambda(values[static_cast<std::size_t>(j)], values[static_cast<std::size_t>(j + 3)]);
    for (int i = 0; i < 3; ++i) {
      const auto vector = [&](int r) {
        if (lambda.imag() == 0) return std::complex<double>(at(x, r, j, 3));
        const int first = lambda.imag() > 0 ? j : j - 1;
        return std::complex<double>(at(x, r, first, 3), (lambda.imag() > 0 ? 1 : -1) * at(x, r, first + 1, 3));
      };
      std::complex<double> left = 0;
      for (int k = 0; k < 3; ++k) left += at(a, i, k, 3) * vector(k);
      EXPECT_LT(std::abs(left - lambda * vector(i)), 1e-14);
    }
  }
}

TEST(CSolverVariants, SolutionsAndLuWithoutPivots) {
  const Handle h;
  auto a = random(n * n, 3);
  for (int i = 0; i < n; ++i) a[static_cast<std::size_t>(i * (n + 1))] += 4;  // no pivots are needed
  const auto b = random(n, 4);
  const Mem<double> da(a), db(b), x(n), work(1);
  const Mem<int> pivots(n), info(1);
  int iterations = -1;
  const auto check = [&](const std::vector<double>& solution) {
    for (int i = 0; i < n; ++i) {
      long double r = b[static_cast<std::size_t>(i)];
      for (int j = 0; j < n; ++j) r -= static_cast<long double>(at(a, i, j, n)) * solution[static_cast<std::size_t>(j)];
      EXPECT_LT(std::abs(static_cast<double>(r)), 1e-14);
    }
  };
  ASSERT_EQ(trnsolverDnDSgesv(h, n, 1, da, n, pivots, db, n, x, n, work, 8, &iterations, info),
            TRNSOLVER_STATUS_SUCCESS)
      << trnGetLastErrorText();
  EXPECT_EQ(iterations, 0);
  check(x.get());
  EXPECT_EQ(da.get(), a);
  ASSERT_EQ(trnsolverDnDgetrf(h, n, n, da, n, work, nullptr, info), TRNSOLVER_STATUS_SUCCESS) << trnGetLastErrorText();
  ASSERT_EQ(trnsolverDnDgetrs(h, TRNBLAS_OP_N, n, 1, da, n, nullptr, db, n, info), TRNSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(info.get()[0], 0);
  check(db.get());
  const Mem<double> zero({0, 1, 1, 0});
  EXPECT_EQ(trnsolverDnDgetrf(h, 2, 2, zero, 2, work, nullptr, info), TRNSOLVER_STATUS_SUCCESS);
  EXPECT_EQ(info.get()[0], 1);  // the first pivot is zero
}

}  // namespace
