// cublasXt and cusolverMg: operands and results in host memory, a grid of one device; against the definition in long
// double, on the host and, in float, on a simulator.
#include <trnblas_xt.h>
#include <trnsolver_mg.h>

#include <array>

#include "typed.hpp"

namespace {

using capi_test::Dense, capi_test::kComplex, capi_test::kData, capi_test::kReal, capi_test::kUnit, capi_test::Mem;
using capi_test::On, capi_test::Random, capi_test::Sum, capi_test::wide, capi_test::Wide;
template <class T> using Real = typename capi_test::Real<T>::type;

TRN_ROW(trnblasXt, gemm)
TRN_ROW(trnblasXt, symm)
TRN_ROW(trnblasXt, syrk)
TRN_ROW(trnblasXt, syr2k)
TRN_ROW(trnblasXt, syrkx)
TRN_ROW(trnblasXt, trmm)
TRN_ROW(trnblasXt, trsm)

std::size_t at(std::size_t i, std::size_t j, std::size_t ld) { return j * ld + i; }

class Xt {
 public:
  Xt() { EXPECT_EQ(trnblasXtCreate(&handle), 0); }
  ~Xt() { trnblasXtDestroy(handle); }
  Xt(const Xt&) = delete;
  Xt& operator=(const Xt&) = delete;
  operator trnblasXtHandle_t() const { return handle; }
  trnblasXtHandle_t handle = nullptr;
};

// C has rows to spare below the matrix, which stay as they are.
template <class T> void expect_gemm(const Xt& xt) {
  constexpr std::size_t m = 9, n = 6, k = 7, ldc = 12;
  Random random(5);
  const auto a = random.numbers<T>(k * m), b = random.numbers<T>(k * n), c0 = random.numbers<T>(ldc * n);
  auto c = c0;
  const T alpha = random.number<T>(), beta = random.number<T>();
  ASSERT_EQ(
      gemm<T>(xt.handle, TRNBLAS_OP_T, TRNBLAS_OP_N, m, n, k, &alpha, a.data(), k, b.data(), k, &beta, c.data(), ldc),
      0)
      << trnGetLastErrorText();
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < ldc; ++i) {
      if (i >= m) {
        EXPECT_EQ(c[at(i, j, ldc)], c0[at(i, j, ldc)]);
        continue;
      }
      Sum sum;
      sum.add(wide(beta) * wide(c0[at(i, j, ldc)]));
      for (std::size_t p = 0; p < k; ++p) sum.add(wide(alpha) * wide(a[at(p, i, k)]) * wide(b[at(p, j, k)]));
      sum.expect(c[at(i, j, ldc)], 64);
    }
}

template <class T> class CublasXt : public testing::Test {};
using Types = testing::Types<float, double, std::complex<float>, std::complex<double>>;
TYPED_TEST_SUITE(CublasXt, Types);

TYPED_TEST(CublasXt, ProductsOfHostMemory) { expect_gemm<TypeParam>(Xt()); }

TYPED_TEST(CublasXt, TheOtherRoutines) {
  using T = TypeParam;
  const Xt xt;
  constexpr std::size_t n = 5, k = 4;
  Random random(6);
  auto s = random.numbers<T>(n * n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < j; ++i) s[at(i, j, n)] = s[at(j, i, n)];  // symmetric
  const auto b = random.numbers<T>(n * k), d = random.numbers<T>(n * k);
  const T one(1), zero(0);
  std::vector<T> c(n * k);
  ASSERT_EQ(symm<T>(xt.handle, TRNBLAS_SIDE_LEFT, TRNBLAS_FILL_MODE_LOWER, n, k, &one, s.data(), n, b.data(), n, &zero,
                    c.data(), n),
            0);
  for (std::size_t j = 0; j < k; ++j)
    for (std::size_t i = 0; i < n; ++i) {
      Sum sum;
      for (std::size_t p = 0; p < n; ++p) sum.add(wide(s[at(i, p, n)]) * wide(b[at(p, j, n)]));
      sum.expect(c[at(i, j, n)]);
    }
  std::vector<T> r(n * n), r2(n * n), rx(n * n);
  ASSERT_EQ(syrk<T>(xt.handle, TRNBLAS_FILL_MODE_LOWER, TRNBLAS_OP_N, n, k, &one, b.data(), n, &zero, r.data(), n), 0);
  ASSERT_EQ(syr2k<T>(xt.handle, TRNBLAS_FILL_MODE_LOWER, TRNBLAS_OP_N, n, k, &one, b.data(), n, d.data(), n, &zero,
                     r2.data(), n),
            0);
  ASSERT_EQ(syrkx<T>(xt.handle, TRNBLAS_FILL_MODE_LOWER, TRNBLAS_OP_N, n, k, &one, b.data(), n, b.data(), n, &zero,
                     rx.data(), n),
            0);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i < n; ++i) {
      Sum one_sum, two;
      for (std::size_t p = 0; p < k; ++p) {
        one_sum.add(wide(b[at(i, p, n)]) * wide(b[at(j, p, n)]));
        two.add(wide(b[at(i, p, n)]) * wide(d[at(j, p, n)])), two.add(wide(d[at(i, p, n)]) * wide(b[at(j, p, n)]));
      }
      if (i < j) {
        EXPECT_EQ(r[at(i, j, n)], T(0));  // the other triangle stays
      } else {
        one_sum.expect(r[at(i, j, n)]), two.expect(r2[at(i, j, n)], 32), one_sum.expect(rx[at(i, j, n)]);
      }
    }
  // T X = B, and T times it again.
  for (std::size_t i = 0; i < n; ++i) s[at(i, i, n)] += T(4);
  auto x = b;
  ASSERT_EQ(trsm<T>(xt.handle, TRNBLAS_SIDE_LEFT, TRNBLAS_FILL_MODE_LOWER, TRNBLAS_OP_N, TRNBLAS_DIAG_NON_UNIT, n, k,
                    &one, s.data(), n, x.data(), n),
            0);
  ASSERT_EQ(trmm<T>(xt.handle, TRNBLAS_SIDE_LEFT, TRNBLAS_FILL_MODE_LOWER, TRNBLAS_OP_N, TRNBLAS_DIAG_NON_UNIT, n, k,
                    &one, s.data(), n, x.data(), n, x.data(), n),
            0);
  for (std::size_t i = 0; i < x.size(); ++i) EXPECT_LE(std::abs(wide(x[i]) - wide(b[i])), 100 * kUnit<T>);
}

TEST(CublasXtHermitian, UpdatesOfHostMemory) {
  const Xt xt;
  using T = std::complex<double>;
  Random random(7);
  constexpr std::size_t n = 3, k = 2;
  const auto a = random.numbers<T>(n * k);
  const double one = 1, zero = 0;
  const trnDoubleComplex c_one{1, 0};
  std::vector<T> c(n * n), c2(n * n), cx(n * n), p(n * k);
  const auto z = [](const std::vector<T>& v) { return reinterpret_cast<const trnDoubleComplex*>(v.data()); };
  const auto out = [](std::vector<T>& v) { return reinterpret_cast<trnDoubleComplex*>(v.data()); };
  ASSERT_EQ(trnblasXtZherk(xt, TRNBLAS_FILL_MODE_LOWER, TRNBLAS_OP_N, n, k, &one, z(a), n, &zero, out(c), n), 0);
  ASSERT_EQ(
      trnblasXtZher2k(xt, TRNBLAS_FILL_MODE_LOWER, TRNBLAS_OP_N, n, k, &c_one, z(a), n, z(a), n, &zero, out(c2), n), 0);
  ASSERT_EQ(
      trnblasXtZherkx(xt, TRNBLAS_FILL_MODE_LOWER, TRNBLAS_OP_N, n, k, &c_one, z(a), n, z(a), n, &zero, out(cx), n), 0);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = j; i < n; ++i) {
      Sum sum;
      for (std::size_t q = 0; q < k; ++q) sum.add(wide(a[at(i, q, n)]) * std::conj(wide(a[at(j, q, n)])));
      sum.expect(c[at(i, j, n)]), sum.expect(c2[at(i, j, n)] / 2.0), sum.expect(cx[at(i, j, n)]);
    }
  const trnDoubleComplex c_zero{0, 0};
  ASSERT_EQ(trnblasXtZhemm(xt, TRNBLAS_SIDE_LEFT, TRNBLAS_FILL_MODE_LOWER, n, k, &c_one, z(c), n, z(a), n, &c_zero,
                           out(p), n),
            0);
  Sum sum;
  for (std::size_t q = 0; q < n; ++q) sum.add(wide(c[at(2, q, n)]) * wide(a[at(q, 1, n)]));
  sum.expect(p[at(2, 1, n)]);
}

TEST(CublasXtDevice, ASimulatorGetsCopies) {
  const On device("sim:trn2");
  const Xt xt;
  expect_gemm<float>(xt);
  // Operands may lie on the device already.
  const Mem<float> a(std::vector<float>{1, 2, 3, 4});
  std::array<float, 4> c{};
  const float one = 1, zero = 0;
  ASSERT_EQ(trnblasXtSgemm(xt, TRNBLAS_OP_N, TRNBLAS_OP_N, 2, 2, 2, &one, a, 2, a, 2, &zero, c.data(), 2), 0)
      << trnGetLastErrorText();
  EXPECT_EQ(c, (std::array<float, 4>{7, 10, 15, 22}));
}

TEST(CublasXtHandles, SettingsAndBadInput) {
  const Xt xt;
  int value = 0, ids[] = {0, 0}, wrong[] = {99};
  EXPECT_EQ(trnblasXtMaxBoards(&value), 0);
  EXPECT_GE(value, 1);
  EXPECT_EQ(trnblasXtGetNumBoards(1, ids, &value), 0);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(trnblasXtDeviceSelect(xt, 1, ids), 0);
  EXPECT_EQ(trnblasXtDeviceSelect(xt, 1, wrong), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnblasXtGetNumBoards(1, wrong, &value), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnblasXtDeviceSelect(xt, 0, ids), TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnblasXtSetBlockDim(xt, 512), 0);
  EXPECT_EQ(trnblasXtGetBlockDim(xt, &value), 0);
  EXPECT_EQ(value, 512);
  EXPECT_EQ(trnblasXtSetBlockDim(xt, 0), TRNBLAS_STATUS_INVALID_VALUE);
  trnblasXtPinnedMemMode_t mode = TRNBLASXT_PINNING_DISABLED;
  EXPECT_EQ(trnblasXtSetPinningMemMode(xt, TRNBLASXT_PINNING_ENABLED), 0);
  EXPECT_EQ(trnblasXtGetPinningMemMode(xt, &mode), 0);
  EXPECT_EQ(mode, TRNBLASXT_PINNING_ENABLED);
  EXPECT_EQ(trnblasXtSetCpuRatio(xt, TRNBLASXT_GEMM, TRNBLASXT_FLOAT, 0.5F), TRNBLAS_STATUS_NOT_SUPPORTED);
  const double one = 1;
  double c[4] = {};
  EXPECT_EQ(trnblasXtDgemm(xt, TRNBLAS_OP_N, TRNBLAS_OP_N, 2, 2, 2, &one, nullptr, 2, c, 2, &one, c, 2),
            TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnblasXtDgemm(xt, TRNBLAS_OP_N, TRNBLAS_OP_N, SIZE_MAX, 2, 2, &one, c, 2, c, 2, &one, c, 2),
            TRNBLAS_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnblasXtDgemm(nullptr, TRNBLAS_OP_N, TRNBLAS_OP_N, 2, 2, 2, &one, c, 2, c, 2, &one, c, 2),
            TRNBLAS_STATUS_NOT_INITIALIZED);
}

// A grid of one device with an n x n matrix of type T at (1, 1) of a larger one.
template <class T> class Grid {
 public:
  explicit Grid(int size) : n(size) {
    int device = 0;
    trnGetDevice(&device);
    EXPECT_EQ(trnsolverMgCreate(&handle), 0);
    EXPECT_EQ(trnsolverMgDeviceSelect(handle, 1, &device), 0);
    EXPECT_EQ(trnsolverMgCreateDeviceGrid(&grid, 1, 1, &device, TRNLIBMG_GRID_MAPPING_COL_MAJOR), 0);
    EXPECT_EQ(trnsolverMgCreateMatrixDesc(&square, n, n, n, 2, kData<T>, grid), 0) << trnGetLastErrorText();
    EXPECT_EQ(trnsolverMgCreateMatrixDesc(&column, n, 1, n, 2, kData<T>, grid), 0);
  }
  ~Grid() {
    trnsolverMgDestroyMatrixDesc(square), trnsolverMgDestroyMatrixDesc(column);
    trnsolverMgDestroyGrid(grid), trnsolverMgDestroy(handle);
  }
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;
  int n;
  trnsolverMgHandle_t handle = nullptr;
  trnLibMgGrid_t grid = nullptr;
  trnLibMgMatrixDesc_t square = nullptr, column = nullptr;
};

template <class T> class SolverGrid : public testing::Test {};
TYPED_TEST_SUITE(SolverGrid, Types);

TYPED_TEST(SolverGrid, SolvesAndFactors) {
  using T = TypeParam;
  constexpr int n = 6;
  const Grid<T> g(n);
  Random random(8);
  // Hermitian, positive definite.
  auto a = random.numbers<T>(n * n);
  for (std::size_t j = 0; j < n; ++j)
    for (std::size_t i = 0; i <= j; ++i) {
      if constexpr (kComplex<T>)
        a[at(i, j, n)] = i == j ? T(8) : std::conj(a[at(j, i, n)]);
      else
        a[at(i, j, n)] = i == j ? T(8) : a[at(j, i, n)];
    }
  const auto b = random.numbers<T>(n);
  std::int64_t work = -1;
  int info = 9;
  void* none[] = {nullptr};
  const auto expect_solved = [&](const std::vector<T>& x) {
    for (std::size_t i = 0; i < n; ++i) {
      Sum sum;
      for (std::size_t k = 0; k < n; ++k) sum.add(wide(a[at(i, k, n)]) * wide(x[k]));
      sum.expect(b[i], 200);
    }
  };
  {
    const Mem<T> ma(a), mb(b);
    const Mem<int> pivots(n);
    void *la[] = {static_cast<T*>(ma)}, *lb[] = {static_cast<T*>(mb)};
    int* lp[] = {pivots};
    ASSERT_EQ(trnsolverMgGetrf_bufferSize(g.handle, n, n, la, 1, 1, g.square, lp, kData<T>, &work), 0);
    EXPECT_GE(work, 0);
    ASSERT_EQ(trnsolverMgGetrf(g.handle, n, n, la, 1, 1, g.square, lp, kData<T>, none, work, &info), 0)
        << trnGetLastErrorText();
    EXPECT_EQ(info, 0);
    ASSERT_EQ(trnsolverMgGetrs(g.handle, TRNBLAS_OP_N, n, 1, la, 1, 1, g.square, lp, lb, 1, 1, g.column, kData<T>, none,
                               work, &info),
              0)
        << trnGetLastErrorText();
    expect_solved(mb.get());
  }
  {
    const Mem<T> ma(a), mb(b);
    void *la[] = {static_cast<T*>(ma)}, *lb[] = {static_cast<T*>(mb)};
    ASSERT_EQ(trnsolverMgPotrf(g.handle, TRNBLAS_FILL_MODE_LOWER, n, la, 1, 1, g.square, kData<T>, none, work, &info),
              0);
    EXPECT_EQ(info, 0);
    ASSERT_EQ(trnsolverMgPotrs(g.handle, TRNBLAS_FILL_MODE_LOWER, n, 1, la, 1, 1, g.square, lb, 1, 1, g.column,
                               kData<T>, none, work, &info),
              0);
    expect_solved(mb.get());
    ASSERT_EQ(trnsolverMgPotri(g.handle, TRNBLAS_FILL_MODE_LOWER, n, la, 1, 1, g.square, kData<T>, none, work, &info),
              0);
    // The first column of the inverse solves for the first unit vector.
    const auto inverse = ma.get();
    for (std::size_t i = 0; i < n; ++i) {
      Sum sum;
      for (std::size_t k = 0; k < n; ++k) sum.add(wide(a[at(i, k, n)]) * wide(inverse[k]));
      EXPECT_LE(std::abs(sum.value() - Wide(i == 0 ? 1 : 0)), 400 * kUnit<T>);
    }
  }
  {
    const Mem<T> ma(a);
    void* la[] = {static_cast<T*>(ma)};
    std::vector<Real<T>> w(n);  // in host memory
    ASSERT_EQ(trnsolverMgSyevd(g.handle, TRNSOLVER_EIG_MODE_VECTOR, TRNBLAS_FILL_MODE_LOWER, n, la, 1, 1, g.square,
                               w.data(), kReal<T>, kData<T>, none, work, &info),
              0)
        << trnGetLastErrorText();
    EXPECT_EQ(info, 0);
    const auto v = ma.get();
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t i = 0; i < n; ++i) {
        Sum sum;
        for (std::size_t k = 0; k < n; ++k) sum.add(wide(a[at(i, k, n)]) * wide(v[at(k, j, n)]));
        EXPECT_LE(std::abs(sum.value() - static_cast<long double>(w[j]) * wide(v[at(i, j, n)])), 400 * kUnit<T>);
      }
  }
}

TEST(SolverGridDevice, CholeskyOnASimulator) {
  const On device("sim:trn2");
  const Grid<float> g(2);
  const Mem<float> a(std::vector<float>{4, 2, 2, 5});
  void *list[] = {static_cast<float*>(a)}, *none[] = {nullptr};
  int info = 9;
  ASSERT_EQ(trnsolverMgPotrf(g.handle, TRNBLAS_FILL_MODE_LOWER, 2, list, 1, 1, g.square, TRN_R_32F, none, 0, &info), 0)
      << trnGetLastErrorText();
  EXPECT_EQ(info, 0);
  EXPECT_NEAR(a.get()[0], 2, 1e-6);
  EXPECT_NEAR(a.get()[3], 2, 1e-6);
}

TEST(SolverGridBadInput, IsRefused) {
  const Grid<double> g(3);
  int device = 0, info = 0, two[] = {0, 0};
  trnGetDevice(&device);
  trnLibMgGrid_t grid = nullptr;
  trnLibMgMatrixDesc_t descriptor = nullptr;
  EXPECT_EQ(trnsolverMgDeviceSelect(g.handle, 2, two), TRNSOLVER_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(trnsolverMgCreateDeviceGrid(&grid, 1, 2, two, TRNLIBMG_GRID_MAPPING_COL_MAJOR),
            TRNSOLVER_STATUS_NOT_SUPPORTED);
  int wrong = 99;
  EXPECT_EQ(trnsolverMgCreateDeviceGrid(&grid, 1, 1, &wrong, TRNLIBMG_GRID_MAPPING_COL_MAJOR),
            TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnsolverMgCreateMatrixDesc(&descriptor, 3, 3, 2, 2, TRN_R_64F, g.grid), TRNSOLVER_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(trnsolverMgCreateMatrixDesc(&descriptor, 3, 3, 3, 2, TRN_R_64F, &info), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(trnsolverMgDestroyGrid(&info), TRNSOLVER_STATUS_INVALID_VALUE);
  const Mem<double> a(9);
  void *list[] = {static_cast<double*>(a)}, *none[] = {nullptr};
  const auto factor = [&](int row, trnLibMgMatrixDesc_t of, trnDataType type, int n) {
    return trnsolverMgPotrf(g.handle, TRNBLAS_FILL_MODE_LOWER, n, list, row, 1, of, type, none, 0, &info);
  };
  EXPECT_EQ(factor(0, g.square, TRN_R_64F, 3), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(factor(1, nullptr, TRN_R_64F, 3), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(factor(1, g.square, TRN_R_32F, 3), TRNSOLVER_STATUS_NOT_SUPPORTED);
  EXPECT_EQ(factor(1, g.square, TRN_R_64F, 4), TRNSOLVER_STATUS_INVALID_VALUE);
  EXPECT_EQ(factor(1, g.square, TRN_R_64F, -1), TRNSOLVER_STATUS_INVALID_VALUE);
}

}  // namespace
