/* cuda_runtime.h: the runtime for C++ programs. Kernels need a GPU compiler; this header makes that plain. */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include "cuda_runtime_api.h"
#include "vector_functions.h"

#include <string.h>
#include <time.h>

#define __host__
#define __device__
#define __forceinline__ inline
#define __global__ _Pragma("GCC error \"device kernels (__global__) need a GPU compiler; trnsci runs the libraries' functions, not kernels\"")

#ifdef __cplusplus
template <class T> cudaError_t cudaMalloc(T** address, size_t bytes) { return ::cudaMalloc(reinterpret_cast<void**>(address), bytes); }
template <class T> cudaError_t cudaMallocHost(T** address, size_t bytes, unsigned = 0) {
  return ::cudaMallocHost(reinterpret_cast<void**>(address), bytes);
}
template <class T> cudaError_t cudaHostAlloc(T** address, size_t bytes, unsigned flags) {
  return ::cudaHostAlloc(reinterpret_cast<void**>(address), bytes, flags);
}
template <class T> cudaError_t cudaMallocManaged(T** address, size_t bytes, unsigned flags = cudaMemAttachGlobal) {
  return ::cudaMallocManaged(reinterpret_cast<void**>(address), bytes, flags);
}
template <class T> cudaError_t cudaMallocAsync(T** address, size_t bytes, cudaStream_t stream) {
  return ::cudaMallocAsync(reinterpret_cast<void**>(address), bytes, stream);
}
template <class T> cudaError_t cudaMallocPitch(T** address, size_t* pitch, size_t width, size_t height) {
  return ::cudaMallocPitch(reinterpret_cast<void**>(address), pitch, width, height);
}
inline cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return ::cudaMemcpyAsync(to, from, bytes, kind, nullptr);
}
inline cudaError_t cudaMemsetAsync(void* to, int value, size_t bytes) { return ::cudaMemsetAsync(to, value, bytes, nullptr); }
inline cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width, size_t height,
                                     cudaMemcpyKind kind) {
  return ::cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, nullptr);
}
inline cudaError_t cudaMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device, size_t bytes) {
  return ::cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, nullptr);
}
inline cudaError_t cudaMemset2DAsync(void* to, size_t pitch, int value, size_t width, size_t height) {
  return ::cudaMemset2DAsync(to, pitch, value, width, height, nullptr);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) { return ::cudaEventCreateWithFlags(event, flags); }
inline cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream = nullptr) {
  return ::cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
inline cudaError_t cudaEventRecord(cudaEvent_t event) { return ::cudaEventRecord(event, nullptr); }
inline cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event) { return ::cudaStreamWaitEvent(stream, event, 0); }
// Declared once more, for its default arguments: a definition with these parameters would be the function itself.
extern "C" cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* address, size_t bytes = 0,
                                                unsigned flags = cudaMemAttachSingle);
template <class T> cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, T* address, size_t bytes = 0,
                                                        unsigned flags = cudaMemAttachSingle) {
  return ::cudaStreamAttachMemAsync(stream, static_cast<void*>(address), bytes, flags);
}
#endif

#endif
