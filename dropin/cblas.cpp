// The C entry points (CBLAS). Both orders go to the same routines as the Fortran names. Illegal enumerators are
// reported here, other illegal arguments by the routines, with Netlib's positions. Complex factors come by address,
// real ones by value.
#include "level1.hpp"
#include "level2.hpp"
#include "level3.hpp"

namespace {

using namespace trn::dropin;
using S = float;
using D = double;
using C = std::complex<float>;
using Z = std::complex<double>;

// A factor as CBLAS passes it.
template <class T> struct FactorOf { using type = const T*; };
template <> struct FactorOf<float> { using type = float; };
template <> struct FactorOf<double> { using type = double; };
template <class T> using F = typename FactorOf<T>::type;
inline float value(float x) { return x; }
inline double value(double x) { return x; }
template <class T> T value(const T* x) { return *x; }

// Turns enumerators into Fortran's letters; the first illegal one is reported and ends the call.
class Letters {
 public:
  Letters(const char* routine, int order) : who_{routine, true, order == 101 ? Layout::RowMajor : Layout::ColumnMajor} {
    if (order != 101 && order != 102) illegal(1, "Illegal Order setting, %d\n", order);
  }
  char op(int position, int v) {
    if (v == 111) return 'N';
    if (v == 112) return 'T';
    if (v == 113) return 'C';
    return illegal(position, "Illegal Trans setting, %d\n", v);
  }
  char uplo(int position, int v) {
    return v == 121 ? 'U' : v == 122 ? 'L' : illegal(position, "Illegal Uplo setting, %d\n", v);
  }
  char diag(int position, int v) {
    return v == 131 ? 'N' : v == 132 ? 'U' : illegal(position, "Illegal Diag setting, %d\n", v);
  }
  char side(int position, int v) {
    return v == 141 ? 'L' : v == 142 ? 'R' : illegal(position, "Illegal Side setting, %d\n", v);
  }
  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] const Caller& who() const { return who_; }

 private:
  char illegal(int position, const char* text, int v) {
    if (!good_) return ' ';
    good_ = false;
    RowMajorStrg = who_.layout == Layout::RowMajor ? 1 : 0;
    cblas_xerbla(position, who_.name, text, v);
    RowMajorStrg = 0;
    return ' ';
  }
  Caller who_;
  bool good_ = true;
};

}  // namespace

#define TRN_ENTRY extern "C" __attribute__((visibility("default")))

#define TRN_ALL(p, T)                                                                                                 \
  TRN_ENTRY void cblas_##p##axpy(int n, F<T> alpha, const T* x, int incx, T* y, int incy) {                           \
    axpy(n, value(alpha), x, incx, y, incy);                                                                          \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##copy(int n, const T* x, int incx, T* y, int incy) { copy(n, x, incx, y, incy); }          \
  TRN_ENTRY void cblas_##p##swap(int n, T* x, int incx, T* y, int incy) { trn::dropin::swap(n, x, incx, y, incy); }   \
  TRN_ENTRY void cblas_##p##scal(int n, F<T> alpha, T* x, int incx) { scal(n, value(alpha), x, incx); }               \
  TRN_ENTRY std::size_t cblas_i##p##amax(int n, const T* x, int incx) {                                               \
    const int i = amax(n, x, incx);                                                                                   \
    return i > 0 ? static_cast<std::size_t>(i) - 1 : 0;                                                               \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##rotg(T* a, T* b, Real<T>* c, T* s) { rotg(a, b, c, s); }                                  \
  TRN_ENTRY void cblas_##p##gemv(int order, int t, int m, int n, F<T> alpha, const T* a, int lda, const T* x,         \
                                 int incx, F<T> beta, T* y, int incy) {                                               \
    Letters l("cblas_" #p "gemv", order);                                                                             \
    const char trans = l.op(2, t);                                                                                    \
    if (l.good()) gemv(l.who(), trans, m, n, value(alpha), a, lda, x, incx, value(beta), y, incy);                    \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##gbmv(int order, int t, int m, int n, int kl, int ku, F<T> alpha, const T* a, int lda,     \
                                 const T* x, int incx, F<T> beta, T* y, int incy) {                                   \
    Letters l("cblas_" #p "gbmv", order);                                                                             \
    const char trans = l.op(2, t);                                                                                    \
    if (l.good()) gbmv(l.who(), trans, m, n, kl, ku, value(alpha), a, lda, x, incx, value(beta), y, incy);            \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##gemm(int order, int ta, int tb, int m, int n, int k, F<T> alpha, const T* a, int lda,     \
                                 const T* b, int ldb, F<T> beta, T* c, int ldc) {                                     \
    Letters l("cblas_" #p "gemm", order);                                                                             \
    const char oa = l.op(2, ta), ob = l.op(3, tb);                                                                    \
    if (l.good()) gemm(l.who(), oa, ob, m, n, k, value(alpha), a, lda, b, ldb, value(beta), c, ldc);                  \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##symm(int order, int s, int u, int m, int n, F<T> alpha, const T* a, int lda, const T* b,  \
                                 int ldb, F<T> beta, T* c, int ldc) {                                                 \
    Letters l("cblas_" #p "symm", order);                                                                             \
    const char side = l.side(2, s), uplo = l.uplo(3, u);                                                              \
    if (l.good()) symm(l.who(), false, side, uplo, m, n, value(alpha), a, lda, b, ldb, value(beta), c, ldc);          \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##syrk(int order, int u, int t, int n, int k, F<T> alpha, const T* a, int lda, F<T> beta,   \
                                 T* c, int ldc) {                                                                     \
    Letters l("cblas_" #p "syrk", order);                                                                             \
    const char uplo = l.uplo(2, u), trans = l.op(3, t);                                                               \
    if (l.good()) syrk(l.who(), false, uplo, trans, n, k, value(alpha), a, lda, value(beta), c, ldc);                 \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##syr2k(int order, int u, int t, int n, int k, F<T> alpha, const T* a, int lda, const T* b, \
                                  int ldb, F<T> beta, T* c, int ldc) {                                                \
    Letters l("cblas_" #p "syr2k", order);                                                                            \
    const char uplo = l.uplo(2, u), trans = l.op(3, t);                                                               \
    if (l.good()) syr2k(l.who(), false, uplo, trans, n, k, value(alpha), a, lda, b, ldb, value(beta), c, ldc);        \
  }                                                                                                                   \
  TRN_TRMM(p, T, trmm, false)                                                                                         \
  TRN_TRMM(p, T, trsm, true)                                                                                          \
  TRN_TRMV(p, T, trmv, tpmv, tbmv, false)                                                                             \
  TRN_TRMV(p, T, trsv, tpsv, tbsv, true)

#define TRN_TRMM(p, T, name, solve)                                                                                    \
  TRN_ENTRY void cblas_##p##name(int order, int s, int u, int t, int d, int m, int n, F<T> alpha, const T* a, int lda, \
                                 T* b, int ldb) {                                                                      \
    Letters l("cblas_" #p #name, order);                                                                               \
    const char side = l.side(2, s), uplo = l.uplo(3, u), trans = l.op(4, t), diag = l.diag(5, d);                      \
    if (l.good()) trmm(l.who(), solve, side, uplo, trans, diag, m, n, value(alpha), a, lda, b, ldb);                   \
  }
#define TRN_TRMV(p, T, full, packed, band, solve)                                                                     \
  TRN_ENTRY void cblas_##p##full(int order, int u, int t, int d, int n, const T* a, int lda, T* x, int incx) {        \
    Letters l("cblas_" #p #full, order);                                                                              \
    const char uplo = l.uplo(2, u), trans = l.op(3, t), diag = l.diag(4, d);                                          \
    if (l.good()) trmv(l.who(), Stored::Full, solve, uplo, trans, diag, n, 0, a, lda, x, incx);                       \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##packed(int order, int u, int t, int d, int n, const T* a, T* x, int incx) {               \
    Letters l("cblas_" #p #packed, order);                                                                            \
    const char uplo = l.uplo(2, u), trans = l.op(3, t), diag = l.diag(4, d);                                          \
    if (l.good()) trmv(l.who(), Stored::Packed, solve, uplo, trans, diag, n, 0, a, 0, x, incx);                       \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##band(int order, int u, int t, int d, int n, int k, const T* a, int lda, T* x, int incx) { \
    Letters l("cblas_" #p #band, order);                                                                              \
    const char uplo = l.uplo(2, u), trans = l.op(3, t), diag = l.diag(4, d);                                          \
    if (l.good()) trmv(l.who(), Stored::Band, solve, uplo, trans, diag, n, k, a, lda, x, incx);                       \
  }

#define TRN_TRIANGLE(p, T, full, band, packed, hermitian)                                                             \
  TRN_ENTRY void cblas_##p##full##mv(int order, int u, int n, F<T> alpha, const T* a, int lda, const T* x, int incx,  \
                                     F<T> beta, T* y, int incy) {                                                     \
    Letters l("cblas_" #p #full "mv", order);                                                                         \
    const char uplo = l.uplo(2, u);                                                                                   \
    if (l.good())                                                                                                     \
      symv(l.who(), Stored::Full, hermitian, uplo, n, 0, value(alpha), a, lda, x, incx, value(beta), y, incy);        \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##band##mv(int order, int u, int n, int k, F<T> alpha, const T* a, int lda, const T* x,     \
                                     int incx, F<T> beta, T* y, int incy) {                                           \
    Letters l("cblas_" #p #band "mv", order);                                                                         \
    const char uplo = l.uplo(2, u);                                                                                   \
    if (l.good())                                                                                                     \
      symv(l.who(), Stored::Band, hermitian, uplo, n, k, value(alpha), a, lda, x, incx, value(beta), y, incy);        \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##packed##mv(int order, int u, int n, F<T> alpha, const T* a, const T* x, int incx,         \
                                       F<T> beta, T* y, int incy) {                                                   \
    Letters l("cblas_" #p #packed "mv", order);                                                                       \
    const char uplo = l.uplo(2, u);                                                                                   \
    if (l.good())                                                                                                     \
      symv(l.who(), Stored::Packed, hermitian, uplo, n, 0, value(alpha), a, 0, x, incx, value(beta), y, incy);        \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##full##r(int order, int u, int n, Real<T> alpha, const T* x, int incx, T* a, int lda) {    \
    Letters l("cblas_" #p #full "r", order);                                                                          \
    const char uplo = l.uplo(2, u);                                                                                   \
    if (l.good()) syr(l.who(), Stored::Full, hermitian, uplo, n, T(alpha), x, incx, a, lda);                          \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##packed##r(int order, int u, int n, Real<T> alpha, const T* x, int incx, T* a) {           \
    Letters l("cblas_" #p #packed "r", order);                                                                        \
    const char uplo = l.uplo(2, u);                                                                                   \
    if (l.good()) syr(l.who(), Stored::Packed, hermitian, uplo, n, T(alpha), x, incx, a, 0);                          \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##full##r2(int order, int u, int n, F<T> alpha, const T* x, int incx, const T* y, int incy, \
                                     T* a, int lda) {                                                                 \
    Letters l("cblas_" #p #full "r2", order);                                                                         \
    const char uplo = l.uplo(2, u);                                                                                   \
    if (l.good()) syr2(l.who(), Stored::Full, hermitian, uplo, n, value(alpha), x, incx, y, incy, a, lda);            \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##packed##r2(int order, int u, int n, F<T> alpha, const T* x, int incx, const T* y,         \
                                       int incy, T* a) {                                                              \
    Letters l("cblas_" #p #packed "r2", order);                                                                       \
    const char uplo = l.uplo(2, u);                                                                                   \
    if (l.good()) syr2(l.who(), Stored::Packed, hermitian, uplo, n, value(alpha), x, incx, y, incy, a, 0);            \
  }

#define TRN_GER(p, T, name, conj)                                                                                 \
  TRN_ENTRY void cblas_##p##name(int order, int m, int n, F<T> alpha, const T* x, int incx, const T* y, int incy, \
                                 T* a, int lda) {                                                                 \
    Letters l("cblas_" #p #name, order);                                                                          \
    if (l.good()) ger(l.who(), conj, m, n, value(alpha), x, incx, y, incy, a, lda);                               \
  }

#define TRN_REAL(p, T)                                                                                                \
  TRN_ALL(p, T)                                                                                                       \
  TRN_TRIANGLE(p, T, sy, sb, sp, false)                                                                               \
  TRN_GER(p, T, ger, false)                                                                                           \
  TRN_ENTRY T cblas_##p##dot(int n, const T* x, int incx, const T* y, int incy) {                                     \
    return dot(n, x, incx, y, incy, false);                                                                           \
  }                                                                                                                   \
  TRN_ENTRY T cblas_##p##asum(int n, const T* x, int incx) { return asum(n, x, incx); }                               \
  TRN_ENTRY T cblas_##p##nrm2(int n, const T* x, int incx) { return nrm2(n, x, incx); }                               \
  TRN_ENTRY void cblas_##p##rot(int n, T* x, int incx, T* y, int incy, T c, T s) { rot(n, x, incx, y, incy, c, s); }  \
  TRN_ENTRY void cblas_##p##rotm(int n, T* x, int incx, T* y, int incy, const T* h) { rotm(n, x, incx, y, incy, h); } \
  TRN_ENTRY void cblas_##p##rotmg(T* d1, T* d2, T* x1, T y1, T* h) { rotmg(d1, d2, x1, y1, h); }

#define TRN_COMPLEX(p, T, rp)                                                                                         \
  TRN_ALL(p, T)                                                                                                       \
  TRN_TRIANGLE(p, T, he, hb, hp, true)                                                                                \
  TRN_GER(p, T, geru, false)                                                                                          \
  TRN_GER(p, T, gerc, true)                                                                                           \
  TRN_ENTRY void cblas_##p##dotu_sub(int n, const T* x, int incx, const T* y, int incy, T* r) {                       \
    *r = dot(n, x, incx, y, incy, false);                                                                             \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##dotc_sub(int n, const T* x, int incx, const T* y, int incy, T* r) {                       \
    *r = dot(n, x, incx, y, incy, true);                                                                              \
  }                                                                                                                   \
  TRN_ENTRY Real<T> cblas_##rp##p##asum(int n, const T* x, int incx) { return asum(n, x, incx); }                     \
  TRN_ENTRY Real<T> cblas_##rp##p##nrm2(int n, const T* x, int incx) { return nrm2(n, x, incx); }                     \
  TRN_ENTRY void cblas_##p##rp##scal(int n, Real<T> alpha, T* x, int incx) { scal_real(n, alpha, x, incx); }          \
  TRN_ENTRY void cblas_##p##rp##rot(int n, T* x, int incx, T* y, int incy, Real<T> c, Real<T> s) {                    \
    rot(n, x, incx, y, incy, c, s);                                                                                   \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##hemm(int order, int s, int u, int m, int n, F<T> alpha, const T* a, int lda, const T* b,  \
                                 int ldb, F<T> beta, T* c, int ldc) {                                                 \
    Letters l("cblas_" #p "hemm", order);                                                                             \
    const char side = l.side(2, s), uplo = l.uplo(3, u);                                                              \
    if (l.good()) symm(l.who(), true, side, uplo, m, n, value(alpha), a, lda, b, ldb, value(beta), c, ldc);           \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##herk(int order, int u, int t, int n, int k, Real<T> alpha, const T* a, int lda,           \
                                 Real<T> beta, T* c, int ldc) {                                                       \
    Letters l("cblas_" #p "herk", order);                                                                             \
    const char uplo = l.uplo(2, u), trans = l.op(3, t);                                                               \
    if (l.good()) syrk(l.who(), true, uplo, trans, n, k, T(alpha), a, lda, T(beta), c, ldc);                          \
  }                                                                                                                   \
  TRN_ENTRY void cblas_##p##her2k(int order, int u, int t, int n, int k, F<T> alpha, const T* a, int lda, const T* b, \
                                  int ldb, Real<T> beta, T* c, int ldc) {                                             \
    Letters l("cblas_" #p "her2k", order);                                                                            \
    const char uplo = l.uplo(2, u), trans = l.op(3, t);                                                               \
    if (l.good()) syr2k(l.who(), true, uplo, trans, n, k, value(alpha), a, lda, b, ldb, T(beta), c, ldc);             \
  }

TRN_REAL(s, S)
TRN_REAL(d, D)
TRN_COMPLEX(c, C, s)
TRN_COMPLEX(z, Z, d)

TRN_ENTRY double cblas_dsdot(int n, const float* x, int incx, const float* y, int incy) {
  return dot_in_double(n, 0, x, incx, y, incy);
}
TRN_ENTRY float cblas_sdsdot(int n, float b, const float* x, int incx, const float* y, int incy) {
  return static_cast<float>(dot_in_double(n, b, x, incx, y, incy));
}
TRN_ENTRY float cblas_scabs1(const C* z) { return std::abs(z->real()) + std::abs(z->imag()); }
TRN_ENTRY double cblas_dcabs1(const Z* z) { return std::abs(z->real()) + std::abs(z->imag()); }
