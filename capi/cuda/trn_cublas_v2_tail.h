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
#endif

#endif
