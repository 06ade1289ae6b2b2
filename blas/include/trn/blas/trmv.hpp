// Triangular matrix and vector: x = op(A) x (trmv, tbmv, tpmv) and x = op(A)^-1 x (trsv, tbsv, tpsv), A full, band or
// packed. The other triangle is never read, nor the diagonal when it is Unit. No test for singularity: a zero on the
// diagonal gives infinities or NaN, as in BLAS.
#pragma once

#include <trn/blas/storage.hpp>

namespace trn::blas {

template <Scalar T>
void trmv(const Executor& executor, Uplo uplo, Op op, Diag diag, const ConstMatrix<T>& a, const VectorView<T>& x);
template <Scalar T>
void trsv(const Executor& executor, Uplo uplo, Op op, Diag diag, const ConstMatrix<T>& a, const VectorView<T>& x);
template <Scalar T>
void tbmv(const Executor& executor, Uplo uplo, Op op, Diag diag, const ConstBand<T>& a, const VectorView<T>& x);
template <Scalar T>
void tbsv(const Executor& executor, Uplo uplo, Op op, Diag diag, const ConstBand<T>& a, const VectorView<T>& x);
template <Scalar T>
void tpmv(const Executor& executor, Op op, Diag diag, const ConstPacked<T>& a, const VectorView<T>& x);
template <Scalar T>
void tpsv(const Executor& executor, Op op, Diag diag, const ConstPacked<T>& a, const VectorView<T>& x);

}  // namespace trn::blas
