// A program as it is written for cuBLAS, cuFFT and cuRAND.
#include <cstdio>
#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cufft.h>
#include <curand.h>

// The overloads that CUDA has for C++ alone: types of addresses, and arguments that may be left out.
bool overloads(cudaStream_t stream) {
  const dim3 threads(8, 4);
  const size_t count = threads.x * threads.y * threads.z;
  int *device = nullptr, *managed = nullptr, *pinned = nullptr, *mapped = nullptr;
  cudaEvent_t event;
  if (cudaMalloc(&device, count * sizeof(int)) != cudaSuccess || cudaMallocManaged(&managed, count * sizeof(int)) != cudaSuccess ||
      cudaMallocHost(&pinned, count * sizeof(int)) != cudaSuccess ||
      cudaHostAlloc(&mapped, count * sizeof(int), cudaHostAllocDefault) != cudaSuccess || cudaEventCreate(&event) != cudaSuccess)
    return false;
  for (size_t i = 0; i < count; ++i) mapped[i] = static_cast<int>(i) + 7;
  if (cudaMemsetAsync(device, 0, count * sizeof(int)) != cudaSuccess ||
      cudaMemcpyAsync(device, mapped, count / 2 * sizeof(int), cudaMemcpyHostToDevice) != cudaSuccess || cudaEventRecord(event) != cudaSuccess ||
      cudaStreamWaitEvent(stream, event) != cudaSuccess || cudaStreamAttachMemAsync(stream, managed) != cudaSuccess ||
      cudaStreamAttachMemAsync(stream, static_cast<void*>(managed)) != cudaSuccess ||
      cudaMemcpyAsync(managed, device, count * sizeof(int), cudaMemcpyDeviceToDevice, stream) != cudaSuccess ||
      cudaMemcpyAsync(pinned, device, count * sizeof(int), cudaMemcpyDeviceToHost, stream) != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
    return false;
  bool right = true;
  for (size_t i = 0; i < count; ++i) {
    const int wanted = i < count / 2 ? static_cast<int>(i) + 7 : 0;
    right = right && pinned[i] == wanted && managed[i] == wanted;
  }
  return cudaEventDestroy(event) == cudaSuccess && cudaFree(device) == cudaSuccess && cudaFree(managed) == cudaSuccess &&
         cudaFreeHost(pinned) == cudaSuccess && cudaFreeHost(mapped) == cudaSuccess && right;
}

int main() {
  cublasHandle_t handle;
  cudaStream_t stream;
  float *a = nullptr, *c = nullptr;
  const float one = 1, zero = 0;
  std::vector<float> ones(900, 1.0f);
  if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS || cudaStreamCreate(&stream) != cudaSuccess) return 1;
  cublasSetStream(handle, stream);
  cudaMalloc(&a, 900 * sizeof(float));
  cudaMalloc(&c, 900 * sizeof(float));
  cudaMemcpyAsync(a, ones.data(), 900 * sizeof(float), cudaMemcpyHostToDevice, stream);
  if (cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, 30, 30, 30, &one, a, 30, a, 30, &zero, c, 30) != CUBLAS_STATUS_SUCCESS) return 2;
  cudaMemcpyAsync(ones.data(), c, 900 * sizeof(float), cudaMemcpyDeviceToHost, stream);
  cudaStreamSynchronize(stream);
  if (!overloads(stream)) return 4;
  int version = 0;
  curandGenerator_t generator;
  if (cufftGetVersion(&version) != CUFFT_SUCCESS || curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) != CURAND_STATUS_SUCCESS)
    return 3;
  std::printf("%g\n", ones[7]);
}
