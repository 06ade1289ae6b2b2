// cuSOLVER's steps inside of eigenvalues and singular values by their numbers, in four element types: tridiagonal and
// bidiagonal form, their unitary matrices made and applied, multiplied out in long double; statuses.
#include <trnsolver.h>

#include <algorithm>

#include "typed.hpp"

namespace {

using namespace capi_test;
constexpr auto kOk = TRNSOLVER_STATUS_SUCCESS;
constexpr auto kInvalid = TRNSOLVER_STATUS_INVALID_VALUE;
#define TRN_OK(call) ASSERT_EQ((call), kOk) << trnGetLastErrorText()

TRN_ROW2(sytrd, trnsolverDn, sytrd, hetrd)
TRN_ROW2(sytrd_size, trnsolverDn, sytrd_bufferSize, hetrd_bufferSize)
TRN_ROW2(orgtr, trnsolverDn, orgtr, ungtr)
TRN_ROW2(orgtr_size, trnsolverDn, orgtr_bufferSize, ungtr_bufferSize)
TRN_ROW2(ormtr, trnsolverDn, ormtr, unmtr)
TRN_ROW2(ormtr_size, trnsolverDn, ormtr_bufferSize, unmtr_bufferSize)
TRN_ROW2(gebrd, trnsolverDn, gebrd, gebrd)
TRN_ROW2(gebrd_size, trnsolverDn, gebrd_bufferSize, gebrd_bufferSize)
TRN_ROW2(orgbr, trnsolverDn, orgbr, ungbr)
TRN_ROW2(orgbr_size, trnsolverDn, orgbr_bufferSize, ungbr_bufferSize)

struct Handle {
  Handle() { EXPECT_EQ(trnsolverDnCreate(&h), kOk); }
  ~Handle() { trnsolverDnDestroy(h); }
  trnsolverDnHandle_t h = nullptr;
};
template <class T> T* at(const Mem<T>& m) { return m; }
std::size_t place(int i) { return static_cast<std::size_t>(i); }
template <class T> Dense<Wide> matrix(const std::vector<T>& v, int rows, int columns, int ld) {
  Dense<Wide> a{rows, columns};
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) a(i, j) = wide(v[place(i + j * ld)]);
  return a;
}
Dense<Wide> operator*(const Dense<Wide>& a, const Dense<Wide>& b) {
  Dense<Wide> c{a.rows, b.columns};
  for (int i = 0; i < a.rows; ++i)
    for (int j = 0; j < b.columns; ++j)
      for (int k = 0; k < a.columns; ++k) c(i, j) += a(i, k) * b(k, j);
  return c;
}
long double distance(const Dense<Wide>& a, const Dense<Wide>& b) {
  long double sum = 0;
  for (std::size_t k = 0; k < a.x.size(); ++k) sum += std::norm(a.x[k] - b.x[k]);
  return std::sqrt(sum);
}
Dense<Wide> identity(int n) {
  Dense<Wide> one{n, n};
  for (int i = 0; i < n; ++i) one(i, i) = 1;
  return one;
}

template <class T> void tridiagonal(bool lower) {
  using R = typename Real<T>::type;
  const Handle h;
  Random random(41);
  constexpr int n = 7, ld = 9, columns = 3;
  const auto uplo = lower ? TRNBLAS_FILL_MODE_LOWER : TRNBLAS_FILL_MODE_UPPER;
  const long double bound = 60 * kUnit<T> * n;
  Dense<Wide> exact{n, n};
  std::vector<T> stored(place(ld * n), T(NAN));  // the other triangle is not read
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      const T x = i == j ? T(std::real(random.number<T>())) : random.number<T>();
      exact(i, j) = wide(x), exact(j, i) = std::conj(wide(x));
      T mirrored = x;
      if constexpr (kComplex<T>) mirrored = std::conj(x);
      stored[place(lower ? i + j * ld : j + i * ld)] = lower ? x : mirrored;
    }
  const Mem<T> a(stored), tau(n - 1), work(1);
  const Mem<R> d(n), e(n - 1);
  const Mem<int> info(std::vector<int>{7});
  int size = 0;
  TRN_OK(sytrd_size<T>(h.h, uplo, n, at(a), ld, at(d), at(e), at(tau), &size));
  EXPECT_GE(size, 1);
  TRN_OK(sytrd<T>(h.h, uplo, n, at(a), ld, at(d), at(e), at(tau), at(work), 1, at(info)));
  EXPECT_EQ(info.get(), std::vector<int>{0});
  const Mem<T> made(a.get());
  TRN_OK(orgtr_size<T>(h.h, uplo, n, at(made), ld, at(tau), &size));
  TRN_OK(orgtr<T>(h.h, uplo, n, at(made), ld, at(tau), at(work), 1, at(info)));
  const auto q = matrix(made.get(), n, n, ld);
  Dense<Wide> t{n, n};
  for (int i = 0; i < n; ++i) {
    t(i, i) = wide(d.get()[place(i)]);
    if (i > 0) t(i, i - 1) = t(i - 1, i) = wide(e.get()[place(i - 1)]);
  }
  EXPECT_LT(distance(q * t * op(2, q), exact), bound);
  EXPECT_LT(distance(op(2, q) * q, identity(n)), bound);
  // Q C and C Q^H.
  for (const bool left : {true, false}) {
    const int rows = left ? n : columns, width = left ? columns : n;
    const Mem<T> c(random.numbers<T>(rows * width));
    const auto start = matrix(c.get(), rows, width, rows);
    const auto side = left ? TRNBLAS_SIDE_LEFT : TRNBLAS_SIDE_RIGHT;
    const auto turned = left ? TRNBLAS_OP_N : TRNBLAS_OP_C;
    TRN_OK(ormtr_size<T>(h.h, side, uplo, turned, rows, width, at(a), ld, at(tau), at(c), rows, &size));
    TRN_OK(ormtr<T>(h.h, side, uplo, turned, rows, width, at(a), ld, at(tau), at(c), rows, at(work), 1, at(info)));
    EXPECT_LT(distance(matrix(c.get(), rows, width, rows), left ? q * start : start * op(2, q)), bound);
  }
  EXPECT_EQ(sytrd<T>(h.h, uplo, n, at(a), n - 1, at(d), at(e), at(tau), at(work), 1, at(info)), kInvalid);
  EXPECT_EQ(sytrd<T>(h.h, uplo, -1, at(a), ld, at(d), at(e), at(tau), at(work), 1, at(info)), kInvalid);
  EXPECT_EQ(sytrd<T>(h.h, uplo, n + 1, at(a), ld, at(d), at(e), at(tau), at(work), 1, at(info)), kInvalid);
  EXPECT_EQ(orgtr<T>(h.h, trnblasFillMode_t(9), n, at(a), ld, at(tau), at(work), 1, at(info)), kInvalid);
  EXPECT_EQ(ormtr<T>(h.h, trnblasSideMode_t(9), uplo, TRNBLAS_OP_N, n, 1, at(a), ld, at(tau), at(made), n, at(work), 1,
                     at(info)),
            kInvalid);
  TRN_OK(sytrd<T>(h.h, uplo, 0, at(a), 1, at(d), at(e), at(tau), at(work), 1, at(info)));
}

template <class T> void bidiagonal(int m, int n) {
  using R = typename Real<T>::type;
  const Handle h;
  Random random(42);
  const int ld = m + 2, k = std::min(m, n);
  const long double bound = 60 * kUnit<T> * std::max(m, n);
  const Mem<T> a(random.numbers<T>(ld * n)), tau_q(place(k)), tau_p(place(k)), work(1);
  const auto exact = matrix(a.get(), m, n, ld);
  const Mem<R> d(place(k)), e(place(std::max(k - 1, 1)));
  const Mem<int> info(1);
  int size = 0;
  TRN_OK(gebrd_size<T>(h.h, m, n, &size));
  TRN_OK(gebrd<T>(h.h, m, n, at(a), ld, at(d), at(e), at(tau_q), at(tau_p), at(work), size, at(info)));
  const Mem<T> left(a.get()), right(a.get());
  TRN_OK(orgbr_size<T>(h.h, TRNBLAS_SIDE_LEFT, m, k, n, at(left), ld, at(tau_q), &size));
  TRN_OK(orgbr<T>(h.h, TRNBLAS_SIDE_LEFT, m, k, n, at(left), ld, at(tau_q), at(work), 1, at(info)));
  TRN_OK(orgbr<T>(h.h, TRNBLAS_SIDE_RIGHT, k, n, m, at(right), ld, at(tau_p), at(work), 1, at(info)));
  const auto q = matrix(left.get(), m, k, ld), ph = matrix(right.get(), k, n, ld);
  Dense<Wide> b{k, k};
  for (int i = 0; i < k; ++i) {
    b(i, i) = wide(d.get()[place(i)]);
    if (i + 1 < k) (m >= n ? b(i, i + 1) : b(i + 1, i)) = wide(e.get()[place(i)]);
  }
  EXPECT_LT(distance(q * b * ph, exact), bound);
  EXPECT_LT(distance(op(2, q) * q, identity(k)), bound);
  EXPECT_LT(distance(ph * op(2, ph), identity(k)), bound);
  EXPECT_EQ(orgbr<T>(h.h, TRNBLAS_SIDE_LEFT, m, m + 1, n, at(left), ld, at(tau_q), at(work), 1, at(info)), kInvalid);
  EXPECT_EQ(orgbr<T>(h.h, TRNBLAS_SIDE_LEFT, m, k, -1, at(left), ld, at(tau_q), at(work), 1, at(info)), kInvalid);
  EXPECT_EQ(gebrd<T>(h.h, m, n, at(a), m - 1, at(d), at(e), at(tau_q), at(tau_p), at(work), 1, at(info)), kInvalid);
}

TEST(CSolverReductions, Tridiagonal) {
  for_types([]<class T>(T) { tridiagonal<T>(true), tridiagonal<T>(false); });
}
TEST(CSolverReductions, Bidiagonal) {
  for_types([]<class T>(T) { bidiagonal<T>(8, 5), bidiagonal<T>(5, 8), bidiagonal<T>(4, 4), bidiagonal<T>(3, 1); });
}
TEST(CSolverReductions, ADeviceHasNone) {
  const On device("sim:trn2");
  const Handle h;
  const Mem<float> a(9), d(3), e(2), tau(2), work(1);
  const Mem<int> info(1);
  EXPECT_EQ(trnsolverDnSsytrd(h.h, TRNBLAS_FILL_MODE_LOWER, 3, a, 3, d, e, tau, work, 1, info),
            TRNSOLVER_STATUS_NOT_SUPPORTED);
}

}  // namespace
