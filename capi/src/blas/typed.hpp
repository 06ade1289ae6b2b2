// Routines whose element types are chosen at run time (cuBLAS's Ex). gemm takes the pairs of types that trn::blas::gemm
// has; the others want one type for all operands and the arithmetic.
#pragma once

#include "../element_types.hpp"
#include "extended.hpp"

namespace trn::capi::blas {

using Type = trnDataType;

void axpy_ex(Call& c, Int n, const void* alpha, Type alpha_type, const void* x, Type x_type, Int incx, void* y,
             Type y_type, Int incy, Type execution);
void copy_ex(Call& c, Int n, const void* x, Type x_type, Int incx, void* y, Type y_type, Int incy);
void swap_ex(Call& c, Int n, void* x, Type x_type, Int incx, void* y, Type y_type, Int incy);
void asum_ex(Call& c, Int n, const void* x, Type x_type, Int incx, void* result, Type result_type, Type execution);
// The index has the width of the call's integers.
template <class I> void amax_ex(Call& c, Int n, const void* x, Type x_type, Int incx, I* result) {
  with_type(x_type, [&]<class T>(T*) { amax<T>(c, n, static_cast<const T*>(x), incx, result); });
}
template <class I> void amin_ex(Call& c, Int n, const void* x, Type x_type, Int incx, I* result) {
  with_type(x_type, [&]<class T>(T*) { amin<T>(c, n, static_cast<const T*>(x), incx, result); });
}
void dot_ex(Call& c, Int n, const void* x, Type x_type, Int incx, const void* y, Type y_type, Int incy, void* result,
            Type result_type, Type execution);
void dotc_ex(Call& c, Int n, const void* x, Type x_type, Int incx, const void* y, Type y_type, Int incy, void* result,
             Type result_type, Type execution);
void scal_ex(Call& c, Int n, const void* alpha, Type alpha_type, void* x, Type x_type, Int incx, Type execution);
void nrm2_ex(Call& c, Int n, const void* x, Type x_type, Int incx, void* result, Type result_type, Type execution);
void rot_ex(Call& c, Int n, void* x, Type x_type, Int incx, void* y, Type y_type, Int incy, const void* cosine,
            const void* sine, Type cs_type, Type execution);
void syrk_ex(Call& c, UploArg uplo, OpArg trans, Int n, Int k, const std::complex<float>* alpha, const void* a,
             Type a_type, Int lda, const std::complex<float>* beta, void* to, Type c_type, Int ldc);
void herk_ex(Call& c, UploArg uplo, OpArg trans, Int n, Int k, const float* alpha, const void* a, Type a_type, Int lda,
             const float* beta, void* to, Type c_type, Int ldc);
void gemm_ex(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const void* alpha, const void* a, Type a_type,
             Int lda, const void* b, Type b_type, Int ldb, const void* beta, void* to, Type c_type, Int ldc,
             trnblasComputeType_t compute, trnblasGemmAlgo_t algorithm);
void gemm_batched_ex(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const void* alpha, const void* const* a,
                     Type a_type, Int lda, const void* const* b, Type b_type, Int ldb, const void* beta,
                     void* const* to, Type c_type, Int ldc, Int count, trnblasComputeType_t compute,
                     trnblasGemmAlgo_t algorithm);
void gemm_strided_batched_ex(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const void* alpha, const void* a,
                             Type a_type, Int lda, Int stride_a, const void* b, Type b_type, Int ldb, Int stride_b,
                             const void* beta, void* to, Type c_type, Int ldc, Int stride_c, Int count,
                             trnblasComputeType_t compute, trnblasGemmAlgo_t algorithm);
void gemm_grouped_batched_ex(Call& c, const OpArg* transa, const OpArg* transb, const int* m, const int* n,
                             const int* k, const void* alpha, const void* const* a, Type a_type, const int* lda,
                             const void* const* b, Type b_type, const int* ldb, const void* beta, void* const* to,
                             Type c_type, const int* ldc, Int groups, const int* sizes, trnblasComputeType_t compute);

}  // namespace trn::capi::blas
