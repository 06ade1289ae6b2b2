// A program as it is written for cuBLAS, cuFFT and cuRAND.
#include <cstdio>
#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <cufft.h>
#include <curand.h>

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
  int version = 0;
  curandGenerator_t generator;
  if (cufftGetVersion(&version) != CUFFT_SUCCESS || curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) != CURAND_STATUS_SUCCESS)
    return 3;
  std::printf("%g\n", ones[7]);
}
