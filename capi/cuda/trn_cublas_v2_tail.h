/* What C++ programs find beside the functions of the table. */
#ifndef TRN_CUBLAS_V2_TAIL_H
#define TRN_CUBLAS_V2_TAIL_H

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VER_MINOR 0
#define CUBLAS_VER_PATCH 0
#define CUBLAS_VERSION (CUBLAS_VER_MAJOR * 10000 + CUBLAS_VER_MINOR * 100 + CUBLAS_VER_PATCH)

#ifdef __cplusplus
inline cublasStatus_t cublasSetEmulationStrategy(cublasHandle_t handle, cudaEmulationStrategy strategy) {
  return cublasSetEmulationStrategy(handle, static_cast<cublasEmulationStrategy_t>(strategy));
}

/* Older programs name the arithmetic by a data type. */
inline cublasComputeType_t trnComputeTypeOf(cudaDataType type) {
  return type == CUDA_R_64F || type == CUDA_C_64F ? CUBLAS_COMPUTE_64F
         : type == CUDA_R_16F                     ? CUBLAS_COMPUTE_16F
                                                  : CUBLAS_COMPUTE_32F;
}
inline cublasStatus_t cublasGemmEx(cublasHandle_t handle, cublasOperation_t transa, cublasOperation_t transb, int m,
                                   int n, int k, const void* alpha, const void* A, cudaDataType Atype, int lda,
                                   const void* B, cudaDataType Btype, int ldb, const void* beta, void* C,
                                   cudaDataType Ctype, int ldc, cudaDataType computeType, cublasGemmAlgo_t algo) {
  return cublasGemmEx(handle, transa, transb, m, n, k, alpha, A, Atype, lda, B, Btype, ldb, beta, C, Ctype, ldc,
                      trnComputeTypeOf(computeType), algo);
}
#endif

#endif
