// Rank-1 and rank-2 updates of one triangle: A = alpha x x^T + A (syr, spr), A = alpha x x^H + A (her, hpr),
// A = alpha x y^T + alpha y x^T + A (syr2, spr2), A = alpha x y^H + conj(alpha) y x^H + A (her2, hpr2).
// The other triangle is neither read nor written; the Hermitian forms set the diagonal's imaginary parts to zero.
#pragma once

#include <trn/blas/storage.hpp>

namespace trn::blas {

template <Scalar T>
void syr(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstVector<T>& x, const MatrixView<T>& a);
template <ComplexScalar T>
void her(const Executor& executor, Uplo uplo, Real<T> alpha, const ConstVector<T>& x, const MatrixView<T>& a);
template <Scalar T> void syr2(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstVector<T>& x,
                              const ConstVector<T>& y, const MatrixView<T>& a);
template <ComplexScalar T> void her2(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstVector<T>& x,
                                     const ConstVector<T>& y, const MatrixView<T>& a);

template <Scalar T>
void spr(const Executor& executor, Number<T> alpha, const ConstVector<T>& x, const PackedView<T>& a);
template <ComplexScalar T>
void hpr(const Executor& executor, Real<T> alpha, const ConstVector<T>& x, const PackedView<T>& a);
template <Scalar T> void spr2(const Executor& executor, Number<T> alpha, const ConstVector<T>& x,
                              const ConstVector<T>& y, const PackedView<T>& a);
template <ComplexScalar T> void hpr2(const Executor& executor, Number<T> alpha, const ConstVector<T>& x,
                                     const ConstVector<T>& y, const PackedView<T>& a);

}  // namespace trn::blas
