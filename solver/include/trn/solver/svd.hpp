// Singular value decomposition A = U diag(s) V^H. cuSOLVER: cusolverDn<t>gesvd, gesvdj, cusolverDnXgesvd. LAPACK:
// gesdd, divide and conquer, which also stands for gesvd: it is three to eighteen times as fast.
//
// Certify::Rigorous proves a bound for every singular value by Exact products (src/certify/spectra.hpp has the
// theorem). A is m x n and not changed; s has k = min(m, n) elements, descending. Thin: U is m x k, V^H k x n. Full: U
// is m x m, V^H n x n. Bound: |s - exact| <= bound ||A||_2; max(m, n) eps, an estimate as for eigh. Devices, real
// types: polar factor and eigh in float, for double refined with Exact products (of R, where A = Q R has more rows
// than columns); the bound is the norm of A V - U S as it was computed, in units of ||A||_2.
#pragma once

#include <vector>

#include <trn/solver/qr.hpp>
#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

struct SvdOptions {
  Certify certify = Certify::Estimate;
};

struct SvdReport : Report {
  std::vector<double> error_bounds;  // of |s[i] - exact|, absolute; empty unless Rigorous
};

// The shapes of U and V^H say whether the thin or the full decomposition is wanted. NotConverged and NotFinite: all
// outputs are NaN.
template <Scalar T> SvdReport svd(const Executor& executor, const ConstMatrix<T>& a, const VectorView<Real<T>>& s,
                                  const MatrixView<T>& u, const MatrixView<T>& vh, const SvdOptions& options = {});

// Singular values alone; A may be a view of const or of writable elements.
namespace detail {
template <Scalar T>
Report singular_values(const Executor& executor, const MatrixView<const T>& a, const VectorView<Real<T>>& s);
}
template <class A>
requires Scalar<std::remove_const_t<A>> Report singular_values(const Executor& executor, const MatrixView<A>& a,
                                                               const VectorView<Real<std::remove_const_t<A>>>& s) {
  return detail::singular_values<std::remove_const_t<A>>(executor, a, s);
}

}  // namespace trn::solver
