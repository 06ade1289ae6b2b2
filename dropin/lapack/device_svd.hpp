// gesvd and gesdd on the chosen executor.
#pragma once

#include <complex>

namespace trn::dropin {

template <class T> struct RealOf { using type = T; };
template <class R> struct RealOf<std::complex<R>> { using type = R; };
template <class T> using Real = typename RealOf<T>::type;

// gesvd's jobs: A, S, O, N. Whether the executor served the call; if not, nothing was changed. The caller has checked
// the jobs, sizes and leading dimensions.
template <class T>
bool svd_on_device(char ju, char jv, int m, int n, T* a, int lda, Real<T>* s, T* u, int ldu, T* vt, int ldvt);

}  // namespace trn::dropin
