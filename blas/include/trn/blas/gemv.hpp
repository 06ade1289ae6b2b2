// Matrix times vector: y = alpha op(A) x + beta y. cuBLAS: cublasSgemv, cublasSgbmv, ...
//
// beta = 0 never reads y. y must not overlap A or x. Any strides. Returns at once when A has no row or no column or
// when alpha = 0 and beta = 1, as BLAS does.
// |y - exact|_i <= bound (|alpha| ||a_i|| ||x|| + |beta y_i|), a_i row i of op(A), barring over- and underflow.
// With a target the operands are looked at: what underflow can lose counts, and operands that are not finite, or whose
// partial sums may overflow, are refused.
#pragma once

#include <trn/blas/storage.hpp>

namespace trn::blas {

template <Scalar T> Accuracy gemv(const Executor& executor, Op op, Number<T> alpha, const ConstMatrix<T>& a,
                                  const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y,
                                  const ProductOptions& options = {});

// A is a band matrix.
template <Scalar T> void gbmv(const Executor& executor, Op op, Number<T> alpha, const ConstBand<T>& a,
                              const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y);

}  // namespace trn::blas
