// The Fortran entry points: LP64 integers, gfortran's conventions. Names are lower case with an underscore behind,
// arguments are addresses; the lengths of CHARACTER arguments, which gfortran passes behind the others, are not needed
// and not declared: on every ABI that gfortran has for 64-bit machines the caller removes what the callee does not
// know. Functions return REAL and COMPLEX values as C does.
#include "level1.hpp"
#include "level2.hpp"
#include "level3.hpp"

namespace {

using namespace trn::dropin;
using S = float;
using D = double;
using C = std::complex<float>;
using Z = std::complex<double>;

// What a COMPLEX function returns: C's complex types, in registers.
__extension__ typedef _Complex float ReturnC;
__extension__ typedef _Complex double ReturnZ;
ReturnC returned(C z) {
  ReturnC r;
  __real__ r = z.real(), __imag__ r = z.imag();
  return r;
}
ReturnZ returned(Z z) {
  ReturnZ r;
  __real__ r = z.real(), __imag__ r = z.imag();
  return r;
}

using Int = const int*;
using Char = const char*;

}  // namespace

#define TRN_ENTRY extern "C" __attribute__((visibility("default")))

// p: prefix, P: prefix in capitals, T: type.
#define TRN_ALL(p, P, T)                                                                                              \
  TRN_ENTRY void p##axpy_(Int n, const T* alpha, const T* x, Int incx, T* y, Int incy) {                              \
    axpy(*n, *alpha, x, *incx, y, *incy);                                                                             \
  }                                                                                                                   \
  TRN_ENTRY void p##copy_(Int n, const T* x, Int incx, T* y, Int incy) { copy(*n, x, *incx, y, *incy); }              \
  TRN_ENTRY void p##swap_(Int n, T* x, Int incx, T* y, Int incy) { trn::dropin::swap(*n, x, *incx, y, *incy); }       \
  TRN_ENTRY void p##scal_(Int n, const T* alpha, T* x, Int incx) { scal(*n, *alpha, x, *incx); }                      \
  TRN_ENTRY int i##p##amax_(Int n, const T* x, Int incx) { return amax(*n, x, *incx); }                               \
  TRN_ENTRY void p##rotg_(T* a, T* b, Real<T>* c, T* s) { rotg(a, b, c, s); }                                         \
  TRN_ENTRY void p##gemv_(Char t, Int m, Int n, const T* alpha, const T* a, Int lda, const T* x, Int incx,            \
                          const T* beta, T* y, Int incy) {                                                            \
    gemv({#P "GEMV "}, *t, *m, *n, *alpha, a, *lda, x, *incx, *beta, y, *incy);                                       \
  }                                                                                                                   \
  TRN_ENTRY void p##gbmv_(Char t, Int m, Int n, Int kl, Int ku, const T* alpha, const T* a, Int lda, const T* x,      \
                          Int incx, const T* beta, T* y, Int incy) {                                                  \
    gbmv({#P "GBMV "}, *t, *m, *n, *kl, *ku, *alpha, a, *lda, x, *incx, *beta, y, *incy);                             \
  }                                                                                                                   \
  TRN_ENTRY void p##gemm_(Char ta, Char tb, Int m, Int n, Int k, const T* alpha, const T* a, Int lda, const T* b,     \
                          Int ldb, const T* beta, T* c, Int ldc) {                                                    \
    gemm({#P "GEMM "}, *ta, *tb, *m, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);                               \
  }                                                                                                                   \
  TRN_ENTRY void p##symm_(Char side, Char u, Int m, Int n, const T* alpha, const T* a, Int lda, const T* b, Int ldb,  \
                          const T* beta, T* c, Int ldc) {                                                             \
    symm({#P "SYMM "}, false, *side, *u, *m, *n, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);                           \
  }                                                                                                                   \
  TRN_ENTRY void p##syrk_(Char u, Char t, Int n, Int k, const T* alpha, const T* a, Int lda, const T* beta, T* c,     \
                          Int ldc) {                                                                                  \
    syrk({#P "SYRK "}, false, *u, *t, *n, *k, *alpha, a, *lda, *beta, c, *ldc);                                       \
  }                                                                                                                   \
  TRN_ENTRY void p##syr2k_(Char u, Char t, Int n, Int k, const T* alpha, const T* a, Int lda, const T* b, Int ldb,    \
                           const T* beta, T* c, Int ldc) {                                                            \
    syr2k({#P "SYR2K"}, false, *u, *t, *n, *k, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);                             \
  }                                                                                                                   \
  TRN_ENTRY void p##trmm_(Char side, Char u, Char t, Char d, Int m, Int n, const T* alpha, const T* a, Int lda, T* b, \
                          Int ldb) {                                                                                  \
    trmm({#P "TRMM "}, false, *side, *u, *t, *d, *m, *n, *alpha, a, *lda, b, *ldb);                                   \
  }                                                                                                                   \
  TRN_ENTRY void p##trsm_(Char side, Char u, Char t, Char d, Int m, Int n, const T* alpha, const T* a, Int lda, T* b, \
                          Int ldb) {                                                                                  \
    trmm({#P "TRSM "}, true, *side, *u, *t, *d, *m, *n, *alpha, a, *lda, b, *ldb);                                    \
  }                                                                                                                   \
  TRN_ENTRY void p##trmv_(Char u, Char t, Char d, Int n, const T* a, Int lda, T* x, Int incx) {                       \
    trmv({#P "TRMV "}, Stored::Full, false, *u, *t, *d, *n, 0, a, *lda, x, *incx);                                    \
  }                                                                                                                   \
  TRN_ENTRY void p##trsv_(Char u, Char t, Char d, Int n, const T* a, Int lda, T* x, Int incx) {                       \
    trmv({#P "TRSV "}, Stored::Full, true, *u, *t, *d, *n, 0, a, *lda, x, *incx);                                     \
  }                                                                                                                   \
  TRN_ENTRY void p##tpmv_(Char u, Char t, Char d, Int n, const T* a, T* x, Int incx) {                                \
    trmv({#P "TPMV "}, Stored::Packed, false, *u, *t, *d, *n, 0, a, 0, x, *incx);                                     \
  }                                                                                                                   \
  TRN_ENTRY void p##tpsv_(Char u, Char t, Char d, Int n, const T* a, T* x, Int incx) {                                \
    trmv({#P "TPSV "}, Stored::Packed, true, *u, *t, *d, *n, 0, a, 0, x, *incx);                                      \
  }                                                                                                                   \
  TRN_ENTRY void p##tbmv_(Char u, Char t, Char d, Int n, Int k, const T* a, Int lda, T* x, Int incx) {                \
    trmv({#P "TBMV "}, Stored::Band, false, *u, *t, *d, *n, *k, a, *lda, x, *incx);                                   \
  }                                                                                                                   \
  TRN_ENTRY void p##tbsv_(Char u, Char t, Char d, Int n, Int k, const T* a, Int lda, T* x, Int incx) {                \
    trmv({#P "TBSV "}, Stored::Band, true, *u, *t, *d, *n, *k, a, *lda, x, *incx);                                    \
  }

// Matrix-vector products with one stored triangle: names sy/sb/sp or he/hb/hp.
#define TRN_TRIANGLE(p, P, T, full, FULL, band, BAND, packed, PACKED, hermitian)                                       \
  TRN_ENTRY void p##full##mv_(Char u, Int n, const T* alpha, const T* a, Int lda, const T* x, Int incx, const T* beta, \
                              T* y, Int incy) {                                                                        \
    symv({#P #FULL "MV "}, Stored::Full, hermitian, *u, *n, 0, *alpha, a, *lda, x, *incx, *beta, y, *incy);            \
  }                                                                                                                    \
  TRN_ENTRY void p##band##mv_(Char u, Int n, Int k, const T* alpha, const T* a, Int lda, const T* x, Int incx,         \
                              const T* beta, T* y, Int incy) {                                                         \
    symv({#P #BAND "MV "}, Stored::Band, hermitian, *u, *n, *k, *alpha, a, *lda, x, *incx, *beta, y, *incy);           \
  }                                                                                                                    \
  TRN_ENTRY void p##packed##mv_(Char u, Int n, const T* alpha, const T* a, const T* x, Int incx, const T* beta, T* y,  \
                                Int incy) {                                                                            \
    symv({#P #PACKED "MV "}, Stored::Packed, hermitian, *u, *n, 0, *alpha, a, 0, x, *incx, *beta, y, *incy);           \
  }                                                                                                                    \
  TRN_ENTRY void p##full##r2_(Char u, Int n, const T* alpha, const T* x, Int incx, const T* y, Int incy, T* a,         \
                              Int lda) {                                                                               \
    syr2({#P #FULL "R2 "}, Stored::Full, hermitian, *u, *n, *alpha, x, *incx, y, *incy, a, *lda);                      \
  }                                                                                                                    \
  TRN_ENTRY void p##packed##r2_(Char u, Int n, const T* alpha, const T* x, Int incx, const T* y, Int incy, T* a) {     \
    syr2({#P #PACKED "R2 "}, Stored::Packed, hermitian, *u, *n, *alpha, x, *incx, y, *incy, a, 0);                     \
  }                                                                                                                    \
  TRN_ENTRY void p##full##r_(Char u, Int n, const Factor<T, hermitian>* alpha, const T* x, Int incx, T* a, Int lda) {  \
    syr({#P #FULL "R  "}, Stored::Full, hermitian, *u, *n, T(*alpha), x, *incx, a, *lda);                              \
  }                                                                                                                    \
  TRN_ENTRY void p##packed##r_(Char u, Int n, const Factor<T, hermitian>* alpha, const T* x, Int incx, T* a) {         \
    syr({#P #PACKED "R  "}, Stored::Packed, hermitian, *u, *n, T(*alpha), x, *incx, a, 0);                             \
  }

namespace {
// Hermitian rank-1 updates have a real factor.
template <class T, bool hermitian> using Factor = std::conditional_t<hermitian, Real<T>, T>;
}  // namespace

#define TRN_REAL(p, P, T)                                                                                           \
  TRN_ALL(p, P, T)                                                                                                  \
  TRN_TRIANGLE(p, P, T, sy, SY, sb, SB, sp, SP, false)                                                              \
  TRN_ENTRY T p##dot_(Int n, const T* x, Int incx, const T* y, Int incy) {                                          \
    return dot(*n, x, *incx, y, *incy, false);                                                                      \
  }                                                                                                                 \
  TRN_ENTRY T p##asum_(Int n, const T* x, Int incx) { return asum(*n, x, *incx); }                                  \
  TRN_ENTRY T p##nrm2_(Int n, const T* x, Int incx) { return nrm2(*n, x, *incx); }                                  \
  TRN_ENTRY void p##rot_(Int n, T* x, Int incx, T* y, Int incy, const T* c, const T* s) {                           \
    rot(*n, x, *incx, y, *incy, *c, *s);                                                                            \
  }                                                                                                                 \
  TRN_ENTRY void p##rotm_(Int n, T* x, Int incx, T* y, Int incy, const T* h) { rotm(*n, x, *incx, y, *incy, h); }   \
  TRN_ENTRY void p##rotmg_(T* d1, T* d2, T* x1, const T* y1, T* h) { rotmg(d1, d2, x1, *y1, h); }                   \
  TRN_ENTRY void p##ger_(Int m, Int n, const T* alpha, const T* x, Int incx, const T* y, Int incy, T* a, Int lda) { \
    ger({#P "GER  "}, false, *m, *n, *alpha, x, *incx, y, *incy, a, *lda);                                          \
  }

// rp: the prefix of the real type, as in scasum and csscal.
#define TRN_COMPLEX(p, P, T, rp, Return)                                                                             \
  TRN_ALL(p, P, T)                                                                                                   \
  TRN_TRIANGLE(p, P, T, he, HE, hb, HB, hp, HP, true)                                                                \
  TRN_ENTRY Return p##dotu_(Int n, const T* x, Int incx, const T* y, Int incy) {                                     \
    return returned(dot(*n, x, *incx, y, *incy, false));                                                             \
  }                                                                                                                  \
  TRN_ENTRY Return p##dotc_(Int n, const T* x, Int incx, const T* y, Int incy) {                                     \
    return returned(dot(*n, x, *incx, y, *incy, true));                                                              \
  }                                                                                                                  \
  TRN_ENTRY Real<T> rp##p##asum_(Int n, const T* x, Int incx) { return asum(*n, x, *incx); }                         \
  TRN_ENTRY Real<T> rp##p##nrm2_(Int n, const T* x, Int incx) { return nrm2(*n, x, *incx); }                         \
  TRN_ENTRY void p##rp##scal_(Int n, const Real<T>* alpha, T* x, Int incx) { scal_real(*n, *alpha, x, *incx); }      \
  TRN_ENTRY void p##rp##rot_(Int n, T* x, Int incx, T* y, Int incy, const Real<T>* c, const Real<T>* s) {            \
    rot(*n, x, *incx, y, *incy, *c, *s);                                                                             \
  }                                                                                                                  \
  TRN_ENTRY void p##geru_(Int m, Int n, const T* alpha, const T* x, Int incx, const T* y, Int incy, T* a, Int lda) { \
    ger({#P "GERU "}, false, *m, *n, *alpha, x, *incx, y, *incy, a, *lda);                                           \
  }                                                                                                                  \
  TRN_ENTRY void p##gerc_(Int m, Int n, const T* alpha, const T* x, Int incx, const T* y, Int incy, T* a, Int lda) { \
    ger({#P "GERC "}, true, *m, *n, *alpha, x, *incx, y, *incy, a, *lda);                                            \
  }                                                                                                                  \
  TRN_ENTRY void p##hemm_(Char side, Char u, Int m, Int n, const T* alpha, const T* a, Int lda, const T* b, Int ldb, \
                          const T* beta, T* c, Int ldc) {                                                            \
    symm({#P "HEMM "}, true, *side, *u, *m, *n, *alpha, a, *lda, b, *ldb, *beta, c, *ldc);                           \
  }                                                                                                                  \
  TRN_ENTRY void p##herk_(Char u, Char t, Int n, Int k, const Real<T>* alpha, const T* a, Int lda,                   \
                          const Real<T>* beta, T* c, Int ldc) {                                                      \
    syrk({#P "HERK "}, true, *u, *t, *n, *k, T(*alpha), a, *lda, T(*beta), c, *ldc);                                 \
  }                                                                                                                  \
  TRN_ENTRY void p##her2k_(Char u, Char t, Int n, Int k, const T* alpha, const T* a, Int lda, const T* b, Int ldb,   \
                           const Real<T>* beta, T* c, Int ldc) {                                                     \
    syr2k({#P "HER2K"}, true, *u, *t, *n, *k, *alpha, a, *lda, b, *ldb, T(*beta), c, *ldc);                          \
  }

TRN_REAL(s, S, S)
TRN_REAL(d, D, D)
TRN_COMPLEX(c, C, C, s, ReturnC)
TRN_COMPLEX(z, Z, Z, d, ReturnZ)

TRN_ENTRY double dsdot_(Int n, const float* x, Int incx, const float* y, Int incy) {
  return dot_in_double(*n, 0, x, *incx, y, *incy);
}
TRN_ENTRY float sdsdot_(Int n, const float* b, const float* x, Int incx, const float* y, Int incy) {
  return static_cast<float>(dot_in_double(*n, *b, x, *incx, y, *incy));
}
TRN_ENTRY float scabs1_(const C* z) { return std::abs(z->real()) + std::abs(z->imag()); }
TRN_ENTRY double dcabs1_(const Z* z) { return std::abs(z->real()) + std::abs(z->imag()); }
