// The drop-in BLAS where Netlib's testers do not look: error handlers of the program's own, vectors that overlap or
// have increment 0, complex results by value, special values.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstddef>
#include <string>
#include <vector>

__extension__ typedef _Complex double Complex;

extern "C" {
void daxpy_(const int* n, const double* alpha, const double* x, const int* incx, double* y, const int* incy);
void dcopy_(const int* n, const double* x, const int* incx, double* y, const int* incy);
void dswap_(const int* n, double* x, const int* incx, double* y, const int* incy);
void dscal_(const int* n, const double* alpha, double* x, const int* incx);
double dnrm2_(const int* n, const double* x, const int* incx);
double dasum_(const int* n, const double* x, const int* incx);
int idamax_(const int* n, const double* x, const int* incx);
float sdsdot_(const int* n, const float* b, const float* x, const int* incx, const float* y, const int* incy);
Complex zdotc_(const int* n, const Complex* x, const int* incx, const Complex* y, const int* incy);
void dgemm_(const char* ta, const char* tb, const int* m, const int* n, const int* k, const double* alpha,
            const double* a, const int* lda, const double* b, const int* ldb, const double* beta, double* c,
            const int* ldc, std::size_t, std::size_t);
void cblas_dgemm(int order, int ta, int tb, int m, int n, int k, double alpha, const double* a, int lda,
                 const double* b, int ldb, double beta, double* c, int ldc);
void cblas_zgemm(int order, int ta, int tb, int m, int n, int k, const void* alpha, const void* a, int lda,
                 const void* b, int ldb, const void* beta, void* c, int ldc);
void cblas_zgemv(int order, int ta, int m, int n, const void* alpha, const void* a, int lda, const void* x, int incx,
                 const void* beta, void* y, int incy);
void dgemv_(const char* op, const int* m, const int* n, const double* alpha, const double* a, const int* lda,
            const double* x, const int* incx, const double* beta, double* y, const int* incy, std::size_t);
double ddot_(const int* n, const double* x, const int* incx, const double* y, const int* incy);
int lsame_(const char* a, const char* b, std::size_t, std::size_t);
extern int RowMajorStrg;

// The program's own handlers: the library must call these.
std::string last_routine;
int last_position = 0, last_row_major = -1;
void xerbla_(const char* routine, const int* position, std::size_t length) {
  last_routine.assign(routine, length), last_position = *position;
}
void cblas_xerbla(int position, const char* routine, const char*, ...) {
  last_routine = routine, last_position = position, last_row_major = RowMajorStrg;
}
}

namespace {

const int kOne = 1, kZero = 0, kBack = -1;

TEST(Dropin, CallsTheProgramsErrorHandlers) {
  const int two = 2, three = 3;
  const double one = 1, a[9] = {};
  double c[9];
  std::fill(c, c + 9, 7.0);
  dgemm_("N", "n", &three, &three, &three, &one, a, &two, a, &three, &one, c, &three, 1, 1);
  EXPECT_EQ(last_routine, "DGEMM ");
  EXPECT_EQ(last_position, 8);
  dgemm_("X", "n", &three, &three, &three, &one, a, &two, a, &three, &one, c, &three, 1, 1);
  EXPECT_EQ(last_position, 1);
  // Column-major: lda is argument 9. Row-major: the handler sees the transposed call, and RowMajorStrg says so.
  cblas_dgemm(102, 111, 111, 3, 3, 3, 1, a, 2, a, 3, 1, c, 3);
  EXPECT_EQ(last_routine, "cblas_dgemm");
  EXPECT_TRUE(last_position == 9 && last_row_major == 0) << last_position << ' ' << last_row_major;
  cblas_dgemm(101, 111, 111, 3, 3, 3, 1, a, 2, a, 3, 1, c, 3);
  EXPECT_TRUE(last_position == 11 && last_row_major == 1) << last_position << ' ' << last_row_major;
  cblas_dgemm(100, 111, 111, 3, 3, 3, 1, a, 3, a, 3, 1, c, 3);
  EXPECT_EQ(last_position, 1);
  cblas_dgemm(101, 111, 110, 3, 3, 3, 1, a, 3, a, 3, 1, c, 3);
  EXPECT_EQ(last_position, 3);
  EXPECT_EQ(RowMajorStrg, 0);
  for (const double x : c) EXPECT_EQ(x, 7);
}

// What the reference's loops do: increment 0 fills and accumulates, overlapping copies run forward.
TEST(Dropin, VectorsThatMeet) {
  const int n = 4, three = 3;
  const double two = 2, seven = 7;
  std::vector<double> x{1, 2, 3, 4}, y(4);
  dcopy_(&n, &seven, &kZero, y.data(), &kOne);
  EXPECT_EQ(y, (std::vector<double>{7, 7, 7, 7}));
  double sum = 1;
  daxpy_(&n, &two, x.data(), &kOne, &sum, &kZero);
  EXPECT_EQ(sum, 21);
  daxpy_(&n, &two, x.data(), &kOne, x.data(), &kOne);
  EXPECT_EQ(x, (std::vector<double>{3, 6, 9, 12}));
  dcopy_(&three, x.data() + 1, &kOne, x.data(), &kOne);
  EXPECT_EQ(x, (std::vector<double>{6, 9, 12, 12}));
  dcopy_(&three, x.data(), &kOne, x.data() + 1, &kOne);  // the first value runs through
  EXPECT_EQ(x, (std::vector<double>{6, 6, 6, 6}));
  x = {1, 2, 3, 4};
  dswap_(&n, x.data(), &kOne, x.data(), &kOne);
  EXPECT_EQ(x, (std::vector<double>{1, 2, 3, 4}));
  const int half = 2;
  dswap_(&half, x.data(), &kOne, x.data() + 2, &kBack);
  EXPECT_EQ(x, (std::vector<double>{4, 3, 2, 1}));
}

TEST(Dropin, IncrementsBelowOne) {
  const int n = 3, none = 0;
  const double two = 2;
  std::vector<double> x{3, 0, 4};
  EXPECT_EQ(dnrm2_(&n, x.data(), &kBack), 5);
  EXPECT_EQ(dasum_(&n, x.data(), &kBack), 0);
  EXPECT_EQ(idamax_(&n, x.data(), &kBack), 0);
  dscal_(&n, &two, x.data(), &kBack);
  EXPECT_EQ(x, (std::vector<double>{3, 0, 4}));
  EXPECT_EQ(idamax_(&n, x.data(), &kOne), 3);
  EXPECT_EQ(idamax_(&none, x.data(), &kOne), 0);
  x[1] = NAN;
  EXPECT_EQ(idamax_(&n, x.data(), &kOne), 3);
}

// The short way to OpenBLAS leaves these to the entry points of trnblas: they are refused, or right all the same.
TEST(Dropin, WhatTheShortWayLeavesAlone) {
  const int two = 2, four = 4, one_row = 1;
  const double one = 1, zero = 0;
  double a[4] = {1, 2, 3, 4}, other[4] = {};
  EXPECT_DEATH(dgemm_("N", "N", &two, &two, &two, &one, a, &two, a, &two, &zero, a, &two, 1, 1), "shares memory");
  EXPECT_DEATH(dgemm_("N", "N", &two, &two, &two, &one, nullptr, &two, a, &two, &zero, other, &two, 1, 1), "null");
  // Columns of A and C in turn: the ranges meet, the elements do not.
  double turns[8] = {1, 2, 0, 0, 3, 4, 0, 0};
  dgemm_("N", "T", &two, &two, &two, &one, turns, &four, a, &two, &zero, turns + 2, &four, 1, 1);
  EXPECT_EQ(turns[2], 10);
  EXPECT_EQ(turns[3], 14);
  EXPECT_EQ(turns[6], 14);
  EXPECT_EQ(turns[7], 20);
  // x between the elements of y, and both in A's last rows.
  double rows[4] = {1, 2, 3, 4};
  dgemv_("N", &one_row, &two, &one, rows, &two, rows, &two, &one, rows + 1, &two, 1);
  EXPECT_EQ(rows[1], 2 + 1 * 1 + 3 * 3);
  double nan[2] = {NAN, 1};
  dscal_(&two, &zero, nan, &kOne);
  EXPECT_TRUE(std::isnan(nan[0]));
  EXPECT_EQ(nan[1], 0);
  EXPECT_EQ(ddot_(&two, a, &kZero, a + 1, &kBack), 1 * 3 + 1 * 2);
}

// Every order, operation and the conjugation of the short way, against the sums written out.
TEST(Dropin, ProductsOfEveryKind) {
  using Number = std::complex<double>;
  const int m = 2, n = 3, k = 4;
  const Number alpha(0.5, -1), beta(2, 1);
  std::vector<Number> a, b, c0;
  for (int i = 0; i < 16; ++i) {
    a.emplace_back(i % 5 - 2, i % 3);
    b.emplace_back(i % 4, 1 - i % 7);
    c0.emplace_back(i, -i);
  }
  const auto at = [](int order, const std::vector<Number>& x, int i, int j, int ld) {
    return x[static_cast<std::size_t>(order == 101 ? i * ld + j : i + j * ld)];
  };
  for (const int order : {101, 102}) {
    for (const int ta : {111, 112, 113}) {
      for (const int tb : {111, 112, 113}) {
        const auto element = [&](const std::vector<Number>& x, int op, int i, int j) {
          const Number v = op == 111 ? at(order, x, i, j, 4) : at(order, x, j, i, 4);
          return op == 113 ? std::conj(v) : v;
        };
        std::vector<Number> c = c0;
        cblas_zgemm(order, ta, tb, m, n, k, &alpha, a.data(), 4, b.data(), 4, &beta, c.data(), 4);
        for (int i = 0; i < m; ++i) {
          for (int j = 0; j < n; ++j) {
            Number sum = 0;
            for (int q = 0; q < k; ++q) sum += element(a, ta, i, q) * element(b, tb, q, j);
            EXPECT_EQ(at(order, c, i, j, 4), alpha * sum + beta * at(order, c0, i, j, 4)) << order << ta << tb;
          }
        }
      }
      std::vector<Number> y = c0;
      cblas_zgemv(order, ta, 2, 3, &alpha, a.data(), 4, b.data(), 2, &beta, y.data(), 1);
      for (std::size_t i = 0; i < (ta == 111 ? 2u : 3u); ++i) {
        Number sum = 0;
        for (int q = 0; q < (ta == 111 ? 3 : 2); ++q) {
          const int row = static_cast<int>(i);
          const Number v = ta == 111 ? at(order, a, row, q, 4) : at(order, a, q, row, 4);
          sum += (ta == 113 ? std::conj(v) : v) * b[static_cast<std::size_t>(2 * q)];
        }
        EXPECT_EQ(y[i], alpha * sum + beta * c0[i]) << order << ta;
      }
    }
  }
}

TEST(Dropin, ValuesComeBackInRegisters) {
  const int n = 2;
  Complex x[2], y[2];
  __real__ x[0] = 1, __imag__ x[0] = 2, __real__ x[1] = 0, __imag__ x[1] = 3;
  __real__ y[0] = 2, __imag__ y[0] = 0, __real__ y[1] = 0, __imag__ y[1] = 1;
  const Complex r = zdotc_(&n, x, &kOne, y, &kOne);
  EXPECT_EQ(__real__ r, 5);
  EXPECT_EQ(__imag__ r, -4);
  // In double: 1e7 * 1e7 + 1 - 1e7 * 1e7 is 1 and more than a float holds on the way.
  const int three = 3;
  const float a[3] = {1e7f, 1, -1e7f}, b[3] = {1e7f, 1, 1e7f}, offset = 0.5f;
  EXPECT_EQ(sdsdot_(&three, &offset, a, &kOne, b, &kOne), 1.5f);
  EXPECT_TRUE(lsame_("u", "U", 1, 1) && !lsame_("u", "L", 1, 1));
}

}  // namespace
