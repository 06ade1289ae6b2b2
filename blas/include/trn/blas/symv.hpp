// Symmetric or Hermitian matrix times vector: y = alpha A x + beta y, from one triangle of A (symv, hemv), a band
// (sbmv, hbmv) or a packed triangle (spmv, hpmv). The other triangle is never read; for the Hermitian forms neither are
// the imaginary parts of the diagonal. For a band, kl = 0 says that the upper triangle is stored, ku = 0 the lower one.
// symv, sbmv and spmv also take complex symmetric matrices (LAPACK's csymv, cspmv).
#pragma once

#include <trn/blas/storage.hpp>

namespace trn::blas {

template <Scalar T> void symv(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstMatrix<T>& a,
                              const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y);
template <ComplexScalar T> void hemv(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstMatrix<T>& a,
                                     const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y);

template <Scalar T> void sbmv(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstBand<T>& a,
                              const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y);
template <ComplexScalar T> void hbmv(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstBand<T>& a,
                                     const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y);

template <Scalar T> void spmv(const Executor& executor, Number<T> alpha, const ConstPacked<T>& a,
                              const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y);
template <ComplexScalar T> void hpmv(const Executor& executor, Number<T> alpha, const ConstPacked<T>& a,
                                     const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y);

}  // namespace trn::blas
