// Preloaded by tests: the first element of a Cholesky factor and the largest singular value are off by a part in 1e12.
// Netlib's testers must notice.
#include <dlfcn.h>

#include <cstddef>

namespace {
constexpr double kFault = 1 + 1e-12;
template <class F> F next(F, const char* name) { return reinterpret_cast<F>(dlsym(RTLD_NEXT, name)); }
}  // namespace

extern "C" {

__attribute__((visibility("default"))) void dpotrf_(const char* uplo, const int* n, double* a, const int* lda,
                                                    int* info, std::size_t length) {
  next(dpotrf_, "dpotrf_")(uplo, n, a, lda, info, length);
  if (*n > 0) a[0] *= kFault;
}

__attribute__((visibility("default"))) void dgesvd_(const char* ju, const char* jv, const int* m, const int* n,
                                                    double* a, const int* lda, double* s, double* u, const int* ldu,
                                                    double* vt, const int* ldvt, double* work, const int* lwork,
                                                    int* info, std::size_t l1, std::size_t l2) {
  next(dgesvd_, "dgesvd_")(ju, jv, m, n, a, lda, s, u, ldu, vt, ldvt, work, lwork, info, l1, l2);
  if (*m > 0 && *n > 0 && *lwork != -1) s[0] *= kFault;
}
}
