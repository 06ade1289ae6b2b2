// gesvd through gesdd, syev and sygv (heev, hegv) with vectors through syevd and sygvd: divide and conquer instead of
// QR steps, two to eighteen times as fast. The contract stays the older routine's: its arguments, its workspaces (the
// larger ones are our own), its info. Where divide and conquer gives up, the older routine runs on the original.
//
// Queries and illegal arguments, jobs without vectors of eigenproblems, and small problems, where both are the same QR
// steps, go to the older routine at once.
#include <algorithm>
#include <complex>
#include <cstdint>
#include <vector>

#include "../letters.hpp"
#include "device_svd.hpp"
#include "forward.hpp"

namespace trn::dropin {

namespace {

constexpr int kSmall = 25;  // LAPACK's SMLSIZ: up to here divide and conquer does not divide

template <class T> constexpr bool kComplex = !std::is_same_v<T, Real<T>>;

template <class T> std::vector<T> array(std::int64_t n) { return std::vector<T>(static_cast<std::size_t>(n)); }
// What a query wrote, at least `least`, and within 32 bits.
template <class T> int size_of(const T& queried, std::int64_t least) {
  const double wanted = static_cast<double>(std::real(queried));
  return static_cast<int>(std::max<std::int64_t>(least, static_cast<std::int64_t>(std::min(wanted, 2147483647.0))));
}
bool countable(std::initializer_list<std::int64_t> sizes) {
  return std::all_of(sizes.begin(), sizes.end(), [](std::int64_t n) { return n <= 2147483647; });
}
template <class T>
void copy(std::int64_t m, std::int64_t n, const T* from, std::int64_t from_ld, T* to, std::int64_t to_ld) {
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(from + j * from_ld, m, to + j * to_ld);
}

}  // namespace

// gesvd's arguments are legal, there is something to do, and this is not a query.
template <class T> bool legal_svd(char ju, char jv, int m, int n, int lda, int ldu, int ldvt, int lwork) {
  const auto known = [](char c) { return c == 'A' || c == 'S' || c == 'O' || c == 'N'; };
  const std::int64_t k = std::min(m, n), longer = std::max(m, n);
  if (!known(ju) || !known(jv) || (ju == 'O' && jv == 'O') || k <= 0) return false;
  const std::int64_t least = kComplex<T> ? 2 * k + longer : std::max(3 * k + longer, 5 * k);
  const std::int64_t v_rows = jv == 'A' ? n : jv == 'S' ? k : 1;
  return lda >= m && ldu >= 1 && lwork >= least && !((ju == 'A' || ju == 'S') && ldu < m) && ldvt >= v_rows;
}

// gesdd(job, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, rwork, iwork, info). False: nothing was changed.
template <class T, class F> bool svd_divided(char ju, char jv, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu,
                                             T* vt, int ldvt, int lwork, const F& gesdd) {
  const std::int64_t k = std::min(m, n), longer = std::max(m, n);
  if (!legal_svd<T>(ju, jv, m, n, lda, ldu, ldvt, lwork) || k <= kSmall) return false;
  const bool wants_u = ju != 'N', wants_v = jv != 'N', full = ju == 'A' || jv == 'A';
  const bool vectors = wants_u || wants_v;
  const std::int64_t columns = full ? m : k, rows = full ? n : k;
  const std::int64_t reals = !kComplex<T> ? 1
                             : vectors    ? std::max(5 * k * k + 5 * k, 2 * longer * k + 2 * k * k + k)
                                          : 7 * k;
  const std::int64_t work_least = kComplex<T> ? k * k + 3 * k + longer : 4 * k * k + 7 * k + longer;
  if (!countable({m * columns, rows * n, reals, work_least, std::int64_t{m} * n})) return false;
  std::vector<T> own(static_cast<std::size_t>(std::int64_t{m} * n));
  copy<T>(m, n, a, lda, own.data(), m);
  // Straight to the caller's memory where it has the shape that gesdd fills.
  const bool direct_u = vectors && (ju == 'A' || (ju == 'S' && (!full || m == k)));
  const bool direct_v = vectors && (jv == 'A' || (jv == 'S' && (!full || n == k)));
  std::vector<T> own_u = array<T>(vectors && !direct_u ? m * columns : 1),
                 own_v = array<T>(vectors && !direct_v ? rows * n : 1);
  T *to_u = direct_u ? u : own_u.data(), *to_v = direct_v ? vt : own_v.data();
  const int ld_u = direct_u ? ldu : m, ld_v = direct_v ? ldvt : static_cast<int>(rows);
  const char job = !vectors ? 'N' : full ? 'A' : 'S';
  std::vector<Real<T>> values = array<Real<T>>(k), real = array<Real<T>>(reals);
  std::vector<int> integers = array<int>(8 * k);
  T query{};
  int info = 0;
  gesdd(job, own.data(), m, values.data(), to_u, ld_u, to_v, ld_v, &query, -1, real.data(), integers.data(), info);
  if (info != 0) return false;
  const int size = size_of(query, work_least);
  std::vector<T> work = array<T>(size);
  gesdd(job, own.data(), m, values.data(), to_u, ld_u, to_v, ld_v, work.data(), size, real.data(), integers.data(),
        info);
  if (info != 0) return false;  // the older routine overwrites U and V^T
  std::copy(values.begin(), values.end(), s);
  if (ju == 'O') copy<T>(m, k, to_u, ld_u, a, lda);
  if (jv == 'O') copy<T>(k, n, to_v, ld_v, a, lda);
  if (ju == 'S' && !direct_u) copy<T>(m, k, to_u, ld_u, u, ldu);
  if (jv == 'S' && !direct_v) copy<T>(k, n, to_v, ld_v, vt, ldvt);
  return true;
}

// syevd(a, lda, w, work, lwork, rwork, lrwork, iwork, liwork, info), or sygvd with b as well.
template <class T, class F> bool eigen_divided(char job, char uplo, int n, T* a, int lda, T* b, int ldb, Real<T>* w,
                                               int lwork, int& info, const F& routine) {
  const std::int64_t order = n;
  if (capital(job) != 'V' || !is_uplo(uplo) || n <= kSmall || lda < n || (b && ldb < n)) return false;
  if (lwork < (kComplex<T> ? 2 * order - 1 : 3 * order - 1)) return false;
  const std::int64_t least = kComplex<T> ? 2 * order + order * order : 1 + 6 * order + 2 * order * order;
  const std::int64_t reals = kComplex<T> ? 1 + 5 * order + 2 * order * order : 1, integers = 3 + 5 * order;
  if (!countable({least, reals, order * order})) return false;
  std::vector<T> own(static_cast<std::size_t>(order * order)), own_b(b ? own.size() : 1);
  copy<T>(n, n, a, lda, own.data(), n);
  if (b) copy<T>(n, n, b, ldb, own_b.data(), n);
  std::vector<Real<T>> real = array<Real<T>>(reals), values = array<Real<T>>(order);
  std::vector<int> integer = array<int>(integers);
  T query{};
  Real<T> real_query{};
  int integer_query = 0, state = 0;
  routine(own.data(), n, own_b.data(), n, values.data(), &query, -1, &real_query, -1, &integer_query, -1, state);
  if (state != 0) return false;
  const int size = size_of(query, least);
  std::vector<T> work = array<T>(size);
  routine(own.data(), n, own_b.data(), n, values.data(), work.data(), size, real.data(), static_cast<int>(reals),
          integer.data(), static_cast<int>(integers), state);
  if (state != 0) return false;  // not converged, or B not positive definite: the older routine says so itself
  copy<T>(n, n, own.data(), n, a, lda);
  if (b) {  // its triangle holds the factor
    for (int j = 0; j < n; ++j) {
      const int first = capital(uplo) == 'U' ? 0 : j, last = capital(uplo) == 'U' ? j + 1 : n;
      std::copy(own_b.data() + std::int64_t{j} * n + first, own_b.data() + std::int64_t{j} * n + last,
                b + std::int64_t{j} * ldb + first);
    }
  }
  std::copy(values.begin(), values.end(), w);
  info = 0;
  return true;
}

}  // namespace trn::dropin

using namespace trn::dropin;  // the macros below are outside of any namespace
using Complex8 = std::complex<float>;
using Complex16 = std::complex<double>;

#define TRN_FRONT extern "C" __attribute__((visibility("default"))) void

// Real and complex routines differ by a real workspace.
#define TRN_DRIVERS(p, T, R, herm, SVD, DD, EV, EVD, GV, GVD, PARAMETER, PASS, PASS_DD, PASS_EVD)                   \
  TRN_BEHIND(p##gesvd_, SVD, 2)                                                                                     \
  extern "C" void trn_private_##p##gesdd_(TRN_A##DD TRN_L1);                                                        \
  TRN_BEHIND(p##herm##ev_, EV, 2)                                                                                   \
  extern "C" void trn_private_##p##herm##evd_(TRN_A##EVD TRN_L2);                                                   \
  TRN_BEHIND(p##herm##gv_, GV, 2)                                                                                   \
  extern "C" void trn_private_##p##herm##gvd_(TRN_A##GVD TRN_L2);                                                   \
  TRN_FRONT p##gesvd_(char* ju, char* jv, int* m, int* n, T* a, int* lda, R* s, T* u, int* ldu, T* vt, int* ldvt,   \
                      T* work, int* lwork PARAMETER, int* info, std::size_t l1, std::size_t l2) {                   \
    bool done = legal_svd<T>(capital(*ju), capital(*jv), *m, *n, *lda, *ldu, *ldvt, *lwork) &&                      \
                svd_on_device(capital(*ju), capital(*jv), *m, *n, a, *lda, s, u, *ldu, vt, *ldvt);                  \
    if (!done) {                                                                                                    \
      count(Kind::SingularValues, true);                                                                            \
      done = svd_divided<T>(capital(*ju), capital(*jv), *m, *n, a, *lda, s, u, *ldu, vt, *ldvt, *lwork,             \
                            [&](char job, T* x, int ldx, R* values, T* to_u, int ld_u, T* to_v, int ld_v, T* w,     \
                                int size, [[maybe_unused]] R* real, int* integers, int& state) {                    \
                              trn_private_##p##gesdd_(&job, m, n, x, &ldx, values, to_u, &ld_u, to_v, &ld_v, w,     \
                                                      &size PASS_DD, integers, &state, 1);                          \
                            });                                                                                     \
    }                                                                                                               \
    if (!done)                                                                                                      \
      return trn_private_##p##gesvd_(ju, jv, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork PASS, info, l1, l2);    \
    *info = 0;                                                                                                      \
    int query = -1, state = 0; /* work(1): the best size, as the older routine leaves it */                         \
    trn_private_##p##gesvd_(ju, jv, m, n, a, lda, s, u, ldu, vt, ldvt, work, &query PASS, &state, l1, l2);          \
  }                                                                                                                 \
  TRN_FRONT p##herm##ev_(char* job, char* uplo, int* n, T* a, int* lda, R* w, T* work, int* lwork PARAMETER,        \
                         int* info, std::size_t l1, std::size_t l2) {                                               \
    count(Kind::Eigenvalues, true);                                                                                 \
    const bool done =                                                                                               \
        eigen_divided<T>(*job, *uplo, *n, a, *lda, static_cast<T*>(nullptr), 0, w, *lwork, *info,                   \
                         [&](T* x, int ldx, T*, int, R* values, T* wk, int size, [[maybe_unused]] R* real,          \
                             [[maybe_unused]] int reals, int* integers, int many, int& state) {                     \
                           trn_private_##p##herm##evd_(job, uplo, n, x, &ldx, values, wk, &size PASS_EVD, integers, \
                                                       &many, &state, 1, 1);                                        \
                         });                                                                                        \
    if (!done) return trn_private_##p##herm##ev_(job, uplo, n, a, lda, w, work, lwork PASS, info, l1, l2);          \
    int query = -1, state = 0;                                                                                      \
    trn_private_##p##herm##ev_(job, uplo, n, a, lda, w, work, &query PASS, &state, l1, l2);                         \
  }                                                                                                                 \
  TRN_FRONT p##herm##gv_(int* type, char* job, char* uplo, int* n, T* a, int* lda, T* b, int* ldb, R* w, T* work,   \
                         int* lwork PARAMETER, int* info, std::size_t l1, std::size_t l2) {                         \
    count(Kind::Eigenvalues, true);                                                                                 \
    const bool done =                                                                                               \
        *type >= 1 && *type <= 3 &&                                                                                 \
        eigen_divided<T>(*job, *uplo, *n, a, *lda, b, *ldb, w, *lwork, *info,                                       \
                         [&](T* x, int ldx, T* y, int ldy, R* values, T* wk, int size, [[maybe_unused]] R* real,    \
                             [[maybe_unused]] int reals, int* integers, int many, int& state) {                     \
                           trn_private_##p##herm##gvd_(type, job, uplo, n, x, &ldx, y, &ldy, values, wk,            \
                                                       &size PASS_EVD, integers, &many, &state, 1, 1);              \
                         });                                                                                        \
    if (!done)                                                                                                      \
      return trn_private_##p##herm##gv_(type, job, uplo, n, a, lda, b, ldb, w, work, lwork PASS, info, l1, l2);     \
    int query = -1, state = 0;                                                                                      \
    trn_private_##p##herm##gv_(type, job, uplo, n, a, lda, b, ldb, w, work, &query PASS, &state, l1, l2);           \
  }
#define TRN_NOTHING
#define TRN_COMMA_RWORK_S , float* rwork
#define TRN_COMMA_RWORK_D , double* rwork
#define TRN_COMMA_NAME , rwork
#define TRN_COMMA_REAL , real
#define TRN_COMMA_REALS , real, &reals
TRN_DRIVERS(s, float, float, sy, 14, 14, 9, 11, 12, 14, TRN_NOTHING, TRN_NOTHING, TRN_NOTHING, TRN_NOTHING)
TRN_DRIVERS(d, double, double, sy, 14, 14, 9, 11, 12, 14, TRN_NOTHING, TRN_NOTHING, TRN_NOTHING, TRN_NOTHING)
TRN_DRIVERS(c, Complex8, float, he, 15, 15, 10, 13, 13, 16, TRN_COMMA_RWORK_S, TRN_COMMA_NAME, TRN_COMMA_REAL,
            TRN_COMMA_REALS)
TRN_DRIVERS(z, Complex16, double, he, 15, 15, 10, 13, 13, 16, TRN_COMMA_RWORK_D, TRN_COMMA_NAME, TRN_COMMA_REAL,
            TRN_COMMA_REALS)
