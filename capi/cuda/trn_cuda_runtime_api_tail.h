/* What cuda_runtime_api.h has beside the functions of the table. */
#ifndef TRN_CUDA_RUNTIME_API_TAIL_H
#define TRN_CUDA_RUNTIME_API_TAIL_H

#define CUDART_VERSION 13000
#define CUDA_VERSION 13000

#ifdef __cplusplus
extern "C" {
#endif
/* The struct may grow: the library is told the size that the program was compiled with. */
cudaError_t trnGetDeviceProperties(struct cudaDeviceProp* prop, int device, size_t size);
static inline cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp* prop, int device) {
  return trnGetDeviceProperties(prop, device, sizeof *prop);
}
#ifdef __cplusplus
}
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph) {
  return cudaGraphInstantiate(executable, graph, 0);
}
#endif

#endif
