// The entry points of PBLAS level 3, in s, d, c and z, with Fortran's calling convention. A call that is not legal,
// whose operands are replicated or lie in different contexts, or that has nothing to do, goes to the ScaLAPACK behind:
// its checks and messages are then what the caller meets.
#include "entry.hpp"
#include "level3.hpp"

namespace {

template <class T> bool serve_gemm(Letter ta, Letter tb, Int m, Int n, Int k, const T* alpha, Passed<const T> a,
                                   Passed<const T> b, const T* beta, Passed<T> c) {
  const BlacsGrid* g = shared_grid({a.numbers, b.numbers, c.numbers});
  if (g == nullptr) return false;
  const Op oa = op_of(*ta), ob = op_of(*tb);
  const auto oA = operand(a, *g, oa == Op::N ? *m : *k, oa == Op::N ? *k : *m);
  const auto oB = operand(b, *g, ob == Op::N ? *k : *n, ob == Op::N ? *n : *k);
  const auto oC = operand(c, *g, *m, *n);
  if (!is_op(*ta) || !is_op(*tb) || *m <= 0 || *n <= 0 || *k <= 0 || !ready(*g, oA, oB, oC)) return false;
  gemm<T>(*g, oa, ob, *alpha, oA, oB, *beta, oC);
  return true;
}

template <class T> bool serve_symm(bool hermitian, Letter side, Letter uplo, Int m, Int n, const T* alpha,
                                   Passed<const T> a, Passed<const T> b, const T* beta, Passed<T> c) {
  const BlacsGrid* g = shared_grid({a.numbers, b.numbers, c.numbers});
  if (g == nullptr) return false;
  const int order = side_of(*side) == Side::Left ? *m : *n;
  const auto oA = operand(a, *g, order, order), oB = operand(b, *g, *m, *n);
  const auto oC = operand(c, *g, *m, *n);
  if (!is_side(*side) || !is_uplo(*uplo) || *m <= 0 || *n <= 0 || !ready(*g, oA, oB, oC)) return false;
  symm<T>(*g, hermitian, side_of(*side), uplo_of(*uplo), *alpha, oA, oB, *beta, oC);
  return true;
}

template <class T> bool is_rank_op(Letter trans, bool hermitian) {
  if (!is_op(*trans)) return false;
  return capital(*trans) == 'N' || trn::blas::RealScalar<T> || (capital(*trans) == 'C') == hermitian;
}

template <class T> bool serve_syrk(bool hermitian, Letter uplo, Letter trans, Int n, Int k, T alpha, Passed<const T> a,
                                   T beta, Passed<T> c) {
  const BlacsGrid* g = shared_grid({a.numbers, c.numbers});
  if (g == nullptr) return false;
  const Op op = op_of(*trans);
  const auto oA = operand(a, *g, op == Op::N ? *n : *k, op == Op::N ? *k : *n);
  const auto oC = operand(c, *g, *n, *n);
  if (!is_uplo(*uplo) || !is_rank_op<T>(trans, hermitian) || *n <= 0 || *k <= 0 || !ready(*g, oA, oC)) return false;
  syrk<T>(*g, hermitian, uplo_of(*uplo), op, alpha, oA, beta, oC);
  return true;
}

template <class T> bool serve_syr2k(bool hermitian, Letter uplo, Letter trans, Int n, Int k, T alpha, Passed<const T> a,
                                    Passed<const T> b, T beta, Passed<T> c) {
  const BlacsGrid* g = shared_grid({a.numbers, b.numbers, c.numbers});
  if (g == nullptr) return false;
  const Op op = op_of(*trans);
  const std::int64_t rows = op == Op::N ? *n : *k, columns = op == Op::N ? *k : *n;
  const auto oA = operand(a, *g, rows, columns), oB = operand(b, *g, rows, columns);
  const auto oC = operand(c, *g, *n, *n);
  if (!is_uplo(*uplo) || !is_rank_op<T>(trans, hermitian) || *n <= 0 || *k <= 0 || !ready(*g, oA, oB, oC)) return false;
  syr2k<T>(*g, hermitian, uplo_of(*uplo), op, alpha, oA, oB, beta, oC);
  return true;
}

template <class T> bool serve_trmm(bool solve, Letter side, Letter uplo, Letter trans, Letter diag, Int m, Int n,
                                   const T* alpha, Passed<const T> a, Passed<T> b) {
  const BlacsGrid* g = shared_grid({a.numbers, b.numbers});
  if (g == nullptr) return false;
  const int order = side_of(*side) == Side::Left ? *m : *n;
  const auto oA = operand(a, *g, order, order);
  const auto oB = operand(b, *g, *m, *n);
  if (!is_side(*side) || !is_uplo(*uplo) || !is_op(*trans) || !is_diag(*diag) || *m <= 0 || *n <= 0) return false;
  if (!ready(*g, oA, oB)) return false;
  const auto call = solve ? &trsm<T> : &trmm<T>;
  call(*g, side_of(*side), uplo_of(*uplo), op_of(*trans), diag_of(*diag), *alpha, oA, oB);
  return true;
}

template <class T>
bool serve_tran(bool conjugate, Int m, Int n, const T* alpha, Passed<const T> a, const T* beta, Passed<T> c) {
  const BlacsGrid* g = shared_grid({a.numbers, c.numbers});
  if (g == nullptr) return false;
  const auto oA = operand(a, *g, *n, *m);
  const auto oC = operand(c, *g, *m, *n);
  if (*m <= 0 || *n <= 0 || !ready(*g, oA, oC)) return false;
  tran<T>(*g, conjugate, *alpha, oA, *beta, oC);
  return true;
}

}  // namespace

#define TRN_GEMM(NAME, T)                                                                                           \
  TRN_ENTRY NAME(Letter ta, Letter tb, Int m, Int n, Int k, const T* alpha, TRN_MATRIX(const T, a),                 \
                 TRN_MATRIX(const T, b), const T* beta, TRN_MATRIX(T, c)) {                                         \
    enter(                                                                                                          \
        #NAME, Kind::Gemm,                                                                                          \
        [&] { return serve_gemm<T>(ta, tb, m, n, k, alpha, TRN_PASSED(a), TRN_PASSED(b), beta, TRN_PASSED(c)); },   \
        [&] { call_behind(#NAME, ta, tb, m, n, k, alpha, xa, ia, ja, da, xb, ib, jb, db, beta, xc, ic, jc, dc); }); \
  }
#define TRN_SYMM(NAME, T, HERMITIAN)                                                                                   \
  TRN_ENTRY NAME(Letter side, Letter uplo, Int m, Int n, const T* alpha, TRN_MATRIX(const T, a),                       \
                 TRN_MATRIX(const T, b), const T* beta, TRN_MATRIX(T, c)) {                                            \
    enter(                                                                                                             \
        #NAME, Kind::Symm,                                                                                             \
        [&] {                                                                                                          \
          return serve_symm<T>(HERMITIAN, side, uplo, m, n, alpha, TRN_PASSED(a), TRN_PASSED(b), beta, TRN_PASSED(c)); \
        },                                                                                                             \
        [&] { call_behind(#NAME, side, uplo, m, n, alpha, xa, ia, ja, da, xb, ib, jb, db, beta, xc, ic, jc, dc); });   \
  }
#define TRN_SYRK(NAME, T, FACTOR, HERMITIAN)                                                                     \
  TRN_ENTRY NAME(Letter uplo, Letter trans, Int n, Int k, const FACTOR* alpha, TRN_MATRIX(const T, a),           \
                 const FACTOR* beta, TRN_MATRIX(T, c)) {                                                         \
    enter(                                                                                                       \
        #NAME, Kind::Syrk,                                                                                       \
        [&] {                                                                                                    \
          return serve_syrk<T>(HERMITIAN, uplo, trans, n, k, T(*alpha), TRN_PASSED(a), T(*beta), TRN_PASSED(c)); \
        },                                                                                                       \
        [&] { call_behind(#NAME, uplo, trans, n, k, alpha, xa, ia, ja, da, beta, xc, ic, jc, dc); });            \
  }
#define TRN_SYR2K(NAME, T, FACTOR, HERMITIAN)                                                                         \
  TRN_ENTRY NAME(Letter uplo, Letter trans, Int n, Int k, const T* alpha, TRN_MATRIX(const T, a),                     \
                 TRN_MATRIX(const T, b), const FACTOR* beta, TRN_MATRIX(T, c)) {                                      \
    enter(                                                                                                            \
        #NAME, Kind::Syr2k,                                                                                           \
        [&] {                                                                                                         \
          return serve_syr2k<T>(HERMITIAN, uplo, trans, n, k, *alpha, TRN_PASSED(a), TRN_PASSED(b), T(*beta),         \
                                TRN_PASSED(c));                                                                       \
        },                                                                                                            \
        [&] { call_behind(#NAME, uplo, trans, n, k, alpha, xa, ia, ja, da, xb, ib, jb, db, beta, xc, ic, jc, dc); }); \
  }
#define TRN_TRMM(NAME, KIND, T, SOLVE)                                                                            \
  TRN_ENTRY NAME(Letter side, Letter uplo, Letter trans, Letter diag, Int m, Int n, const T* alpha,               \
                 TRN_MATRIX(const T, a), TRN_MATRIX(T, b)) {                                                      \
    enter(                                                                                                        \
        #NAME, Kind::KIND,                                                                                        \
        [&] { return serve_trmm<T>(SOLVE, side, uplo, trans, diag, m, n, alpha, TRN_PASSED(a), TRN_PASSED(b)); }, \
        [&] { call_behind(#NAME, side, uplo, trans, diag, m, n, alpha, xa, ia, ja, da, xb, ib, jb, db); });       \
  }
#define TRN_TRAN(NAME, T, CONJUGATE)                                                                                  \
  TRN_ENTRY NAME(Int m, Int n, const T* alpha, TRN_MATRIX(const T, a), const T* beta, TRN_MATRIX(T, c)) {             \
    enter(                                                                                                            \
        #NAME, Kind::Tran, [&] { return serve_tran<T>(CONJUGATE, m, n, alpha, TRN_PASSED(a), beta, TRN_PASSED(c)); }, \
        [&] { call_behind(#NAME, m, n, alpha, xa, ia, ja, da, beta, xc, ic, jc, dc); });                              \
  }
#define TRN_ALL(P, T)                   \
  TRN_GEMM(p##P##gemm_, T)              \
  TRN_SYMM(p##P##symm_, T, false)       \
  TRN_SYRK(p##P##syrk_, T, T, false)    \
  TRN_SYR2K(p##P##syr2k_, T, T, false)  \
  TRN_TRMM(p##P##trmm_, Trmm, T, false) \
  TRN_TRMM(p##P##trsm_, Trsm, T, true)
#define TRN_COMPLEX(P, T)                   \
  TRN_SYMM(p##P##hemm_, T, true)            \
  TRN_SYRK(p##P##herk_, T, Real<T>, true)   \
  TRN_SYR2K(p##P##her2k_, T, Real<T>, true) \
  TRN_TRAN(p##P##tranu_, T, false)          \
  TRN_TRAN(p##P##tranc_, T, true)

TRN_ALL(s, float)
TRN_ALL(d, double)
TRN_ALL(c, C8)
TRN_ALL(z, C16)
TRN_COMPLEX(c, C8)
TRN_COMPLEX(z, C16)
TRN_TRAN(pstran_, float, false)
TRN_TRAN(pdtran_, double, false)
