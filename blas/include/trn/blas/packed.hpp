// A triangle between packed and full storage. cuBLAS: cublasStpttr, cublasStrttp, ... The other triangle of A is
// untouched.
#pragma once

#include <trn/blas/storage.hpp>

namespace trn::blas {

// A's triangle (the packed view says which) = the packed one.
template <Scalar T> void tpttr(const Executor& executor, const ConstPacked<T>& packed, const MatrixView<T>& a);
// The packed triangle = A's.
template <Scalar T> void trttp(const Executor& executor, const ConstMatrix<T>& a, const PackedView<T>& packed);

}  // namespace trn::blas
