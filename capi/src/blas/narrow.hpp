// What cuBLAS does not have: products of 8-bit floats with scales, microscaling matrices, and results of 16 or 8 bits
// that are rounded at random.
#pragma once

#include "typed.hpp"

namespace trn::capi::blas {

void scaled_gemm(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const float* alpha, const void* a,
                 Type a_type, Int lda, const float* scale_a, Int scale_a_rows, Int scale_a_columns, const void* b,
                 Type b_type, Int ldb, const float* scale_b, Int scale_b_rows, Int scale_b_columns, const float* beta,
                 void* to, Type c_type, Int ldc);
void quantize(Call& c, OpArg trans, Int rows, Int columns, const float* x, Int ldx, void* q, Type q_type, Int ldq,
              float* scale, Int scale_rows, Int scale_columns);
void mx_quantize(Call& c, OpArg trans, Int rows, Int depth, const void* x, Type x_type, Int ldx, Type mx_type,
                 trnblasMxMatrix_t* result);
void mx_from_host(Call& c, Int rows, Int depth, Type mx_type, const unsigned char* codes, const unsigned char* scales,
                  trnblasMxMatrix_t* result);
void mx_to_host(Call& c, trnblasMxMatrix_t matrix, float* values);
void mx_destroy(trnblasMxMatrix_t matrix);
void gemm_quantized(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const float* alpha, const float* a,
                    Int lda, const float* b, Int ldb, const float* beta, float* to, Int ldc, const char* mode);
void mx_gemm(Call& c, const float* alpha, trnblasMxMatrix_t a, trnblasMxMatrix_t b, const float* beta, void* to,
             Type c_type, Int ldc);
void axpy_stochastic(Call& c, Int n, const float* alpha, const void* x, Type x_type, Int incx, void* y, Type y_type,
                     Int incy, unsigned long long seed, unsigned long long step);
void axpby_stochastic(Call& c, Int n, const float* alpha, const void* x, Type x_type, Int incx, const float* beta,
                      void* y, Type y_type, Int incy, unsigned long long seed, unsigned long long step);
void scal_stochastic(Call& c, Int n, const float* alpha, void* x, Type x_type, Int incx, unsigned long long seed,
                     unsigned long long step);
void copy_stochastic(Call& c, Int n, const float* x, Int incx, void* y, Type y_type, Int incy, unsigned long long seed,
                     unsigned long long step);
void gemm_stochastic(Call& c, OpArg transa, OpArg transb, Int m, Int n, Int k, const float* alpha, const void* a,
                     Type a_type, Int lda, const void* b, Type b_type, Int ldb, const float* beta, void* to,
                     Type c_type, Int ldc, unsigned long long seed, unsigned long long step);

}  // namespace trn::capi::blas
