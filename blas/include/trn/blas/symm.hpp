// C = alpha A B + beta C (Side::Left) or alpha B A + beta C (Side::Right) with A symmetric (symm) or Hermitian (hemm),
// read from the triangle `uplo`. beta = 0 never reads C; C must not overlap A or B. hemm never reads the diagonal's
// imaginary parts. Componentwise bounds as for syrk. cuBLAS: cublasSsymm, cublasChemm, ...
#pragma once

#include <trn/blas/gemm.hpp>

namespace trn::blas {

template <Scalar T> Accuracy symm(const Executor& executor, Side side, Uplo uplo, Number<T> alpha,
                                  const ConstMatrix<T>& a, const ConstMatrix<T>& b, Number<T> beta,
                                  const MatrixView<T>& c, const GemmOptions& options = {});
template <ComplexScalar T> Accuracy hemm(const Executor& executor, Side side, Uplo uplo, Number<T> alpha,
                                         const ConstMatrix<T>& a, const ConstMatrix<T>& b, Number<T> beta,
                                         const MatrixView<T>& c, const GemmOptions& options = {});

}  // namespace trn::blas
