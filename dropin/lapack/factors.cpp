// potrf, getrf, geqrf, syevd (heevd) and gesvd: on the chosen executor where trnsolver has a kernel for the call there,
// in LAPACK's own routine otherwise. Illegal arguments, workspace queries and what is not finite always go to LAPACK.
#include <complex>

#include <trn/solver/cholesky.hpp>
#include <trn/solver/eigh.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/svd.hpp>

#include "../letters.hpp"
#include "../operands.hpp"
#include "device_svd.hpp"
#include "forward.hpp"

namespace trn::dropin {

namespace {

using solver::Outcome, solver::Status;

// Whether run(executor) served the call: it ran there and its outcome is one that LAPACK's info can say.
template <class F> bool served(Kind kind, const F& run) {
  const Environment& env = environment();
  if (env.on_host) return false;
  try {
    if (!run(env.executor)) return false;
    count(kind, false);
    return true;
  } catch (const NotImplemented&) {
    return false;
  } catch (const std::exception& e) {
    stop(e);
  }
}
bool has_info(const Outcome& outcome) {
  return outcome.status != Status::NotFinite && outcome.status != Status::TargetMissed;
}
// FactorOptions, EighOptions: with the precision where they have one.
template <class Options> Options with_precision(Options options = {}) {
  if constexpr (requires { options.precision; }) options.precision = environment().products;
  return options;
}

template <class T> bool potrf(const char* uplo, const int* n, T* a, const int* lda, int* info) {
  if (!is_uplo(*uplo) || *n <= 0 || *lda < *n) return false;
  return served(Kind::Cholesky, [&](const Executor& e) {
    General<T> m(e, a, *n, *n, *lda, Layout::ColumnMajor);
    const auto report = solver::potrf(e, uplo_of(*uplo), m.view(), with_precision<solver::FactorOptions>());
    if (!has_info(report.outcome)) return false;
    m.commit(uplo_of(*uplo));
    *info = static_cast<int>(report.outcome.lapack_info());
    return true;
  });
}

template <class T> bool getrf(const int* m, const int* n, T* a, const int* lda, int* pivots, int* info) {
  if (*m <= 0 || *n <= 0 || *lda < *m) return false;
  return served(Kind::Lu, [&](const Executor& e) {
    General<T> x(e, a, *m, *n, *lda, Layout::ColumnMajor);
    const std::int64_t k = std::min(*m, *n);
    const Array<std::int64_t> rows(e, Shape{k});
    const auto report = solver::getrf(e, x.view(), VectorView<std::int64_t>(e, rows.data(), k),
                                      with_precision<solver::FactorOptions>());
    if (!has_info(report.outcome)) return false;
    x.commit();
    const auto host = rows.to_host();
    for (std::int64_t i = 0; i < k; ++i) pivots[i] = static_cast<int>(host[static_cast<std::size_t>(i)]) + 1;
    *info = static_cast<int>(report.outcome.lapack_info());
    return true;
  });
}

template <class T> bool geqrf(const int* m, const int* n, T* a, const int* lda, T* tau, const int* lwork, int* info) {
  if (*m <= 0 || *n <= 0 || *lda < *m || *lwork < *n) return false;
  return served(Kind::Qr, [&](const Executor& e) {
    General<T> x(e, a, *m, *n, *lda, Layout::ColumnMajor);
    Vector<T> t(e, tau, std::min(*m, *n), 1);
    const auto report = solver::geqrf(e, x.view(), t.view(), with_precision<solver::FactorOptions>());
    if (!report.outcome.ok()) return false;
    x.commit(), t.commit();
    *info = 0;
    return true;
  });
}

template <class T>
bool syevd(const char* job, const char* uplo, const int* n, T* a, const int* lda, Real<T>* w, int* info) {
  const char j = capital(*job);
  if ((j != 'N' && j != 'V') || !is_uplo(*uplo) || *n <= 0 || *lda < *n) return false;
  return served(Kind::Eigenvalues, [&](const Executor& e) {
    General<T> x(e, a, *n, *n, *lda, Layout::ColumnMajor);
    Vector<Real<T>> values(e, w, *n, 1);
    solver::EighOptions options;
    options.vectors = j == 'V' ? solver::Vectors::Yes : solver::Vectors::No;
    options.uplo = uplo_of(*uplo);
    const auto report = solver::eigh(e, x.view(), values.view(), with_precision(options));
    if (!report.outcome.ok()) return false;
    if (j == 'V') x.commit();
    values.commit();
    *info = 0;
    return true;
  });
}

// The first rows and columns of a result.
template <class T> void put(const Matrix<T>& from, std::int64_t rows, std::int64_t columns, T* to, std::int64_t ld) {
  const std::vector<T> values = from.to_host();
  for (std::int64_t i = 0; i < rows; ++i) {
    for (std::int64_t j = 0; j < columns; ++j)
      to[i + j * ld] = values[static_cast<std::size_t>(i * from.columns() + j)];
  }
}

}  // namespace

template <class T>
bool svd_on_device(char ju, char jv, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt) {
  return served(Kind::SingularValues, [&](const Executor& e) {
    const General<T> x(e, a, m, n, lda, Layout::ColumnMajor);
    const std::int64_t k = std::min(m, n);
    Vector<Real<T>> values(e, s, k, 1);
    if (ju == 'N' && jv == 'N') {
      if (!solver::singular_values(e, x.view(), values.view()).outcome.ok()) return false;
      values.commit();
      return true;
    }
    const bool full = ju == 'A' || jv == 'A';
    const Matrix<T> left(e, m, full ? m : k), right(e, full ? n : k, n);
    if (!solver::svd<T>(e, x.view(), values.view(), left.view(), right.view()).outcome.ok()) return false;
    values.commit();
    if (ju != 'N') put(left, m, ju == 'A' ? m : k, ju == 'O' ? a : u, ju == 'O' ? lda : ldu);
    if (jv != 'N') put(right, jv == 'A' ? n : k, n, jv == 'O' ? a : vt, jv == 'O' ? lda : ldvt);
    return true;
  });
}
#define TRN_SVD(T) template bool svd_on_device(char, char, int, int, T*, int, Real<T>*, T*, int, T*, int);
TRN_SVD(float)
TRN_SVD(double)
TRN_SVD(std::complex<float>)
TRN_SVD(std::complex<double>)

}  // namespace trn::dropin

using namespace trn::dropin;  // the macros below are outside of any namespace
using Complex8 = std::complex<float>;
using Complex16 = std::complex<double>;

#define TRN_FRONT extern "C" __attribute__((visibility("default"))) void

#define TRN_FACTORS(p, T)                                                                       \
  TRN_BEHIND(p##potrf_, 5, 1)                                                                   \
  TRN_BEHIND(p##getrf_, 6, 0)                                                                   \
  TRN_BEHIND(p##geqrf_, 8, 0)                                                                   \
  TRN_FRONT p##potrf_(char* uplo, int* n, T* a, int* lda, int* info, std::size_t length) {      \
    if (potrf(uplo, n, a, lda, info)) return;                                                   \
    count(Kind::Cholesky, true);                                                                \
    trn_private_##p##potrf_(uplo, n, a, lda, info, length);                                     \
  }                                                                                             \
  TRN_FRONT p##getrf_(int* m, int* n, T* a, int* lda, int* pivots, int* info) {                 \
    if (getrf(m, n, a, lda, pivots, info)) return;                                              \
    count(Kind::Lu, true);                                                                      \
    trn_private_##p##getrf_(m, n, a, lda, pivots, info);                                        \
  }                                                                                             \
  TRN_FRONT p##geqrf_(int* m, int* n, T* a, int* lda, T* tau, T* work, int* lwork, int* info) { \
    if (geqrf(m, n, a, lda, tau, lwork, info)) return;                                          \
    count(Kind::Qr, true);                                                                      \
    trn_private_##p##geqrf_(m, n, a, lda, tau, work, lwork, info);                              \
  }
TRN_FACTORS(s, float)
TRN_FACTORS(d, double)
TRN_FACTORS(c, Complex8)
TRN_FACTORS(z, Complex16)

// The least workspaces of LAPACK: on the device they are not used, but a caller that gives less is told so.
#define TRN_SYEVD(p, T)                                                                                             \
  TRN_BEHIND(p##syevd_, 11, 2)                                                                                      \
  TRN_FRONT p##syevd_(char* job, char* uplo, int* n, T* a, int* lda, T* w, T* work, int* lwork, int* iwork,         \
                      int* liwork, int* info, std::size_t l1, std::size_t l2) {                                     \
    const std::int64_t order = *n, most = capital(*job) == 'V' ? 1 + 6 * order + 2 * order * order : 2 * order + 1; \
    if (*lwork >= most && *liwork >= (capital(*job) == 'V' ? 3 + 5 * order : 1) &&                                  \
        syevd(job, uplo, n, a, lda, w, info))                                                                       \
      return;                                                                                                       \
    count(Kind::Eigenvalues, true);                                                                                 \
    trn_private_##p##syevd_(job, uplo, n, a, lda, w, work, lwork, iwork, liwork, info, l1, l2);                     \
  }
TRN_SYEVD(s, float)
TRN_SYEVD(d, double)

#define TRN_HEEVD(p, T, R)                                                                                             \
  TRN_BEHIND(p##heevd_, 13, 2)                                                                                         \
  TRN_FRONT p##heevd_(char* job, char* uplo, int* n, T* a, int* lda, R* w, T* work, int* lwork, R* rwork, int* lrwork, \
                      int* iwork, int* liwork, int* info, std::size_t l1, std::size_t l2) {                            \
    const std::int64_t order = *n;                                                                                     \
    const bool vectors = capital(*job) == 'V';                                                                         \
    if (*lwork >= (vectors ? 2 * order + order * order : order + 1) &&                                                 \
        *lrwork >= (vectors ? 1 + 5 * order + 2 * order * order : order) &&                                            \
        *liwork >= (vectors ? 3 + 5 * order : 1) && syevd(job, uplo, n, a, lda, w, info))                              \
      return;                                                                                                          \
    count(Kind::Eigenvalues, true);                                                                                    \
    trn_private_##p##heevd_(job, uplo, n, a, lda, w, work, lwork, rwork, lrwork, iwork, liwork, info, l1, l2);         \
  }
TRN_HEEVD(c, Complex8, float)
TRN_HEEVD(z, Complex16, double)
