// A program as it is written for cuBLAS, cuFFT and cuRAND.
#include <cstdio>
#include <vector>

#include <cuComplex.h>
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

bool more_overloads() {
  float* rows = nullptr;
  float2* pairs = nullptr;
  size_t pitch = 0;
  cudaEvent_t event;
  const float2 pair = make_float2(3, 4);
  float2 found[2] = {make_float2(0, 0), make_float2(0, 0)};
  if (cudaMallocPitch(&rows, &pitch, sizeof pair, 2) != cudaSuccess || cudaMallocAsync(&pairs, sizeof pair, cudaStreamLegacy) != cudaSuccess ||
      cudaEventCreate(&event, cudaEventDisableTiming) != cudaSuccess)
    return false;
  if (cudaMemset2DAsync(rows, pitch, 0, sizeof pair, 2) != cudaSuccess ||
      cudaMemcpyAsync(pairs, &pair, sizeof pair, cudaMemcpyHostToDevice) != cudaSuccess ||
      cudaMemcpyPeerAsync(rows, 0, pairs, 0, sizeof pair) != cudaSuccess || cudaEventRecordWithFlags(event) != cudaSuccess ||
      cudaMemcpy2DAsync(found, sizeof pair, rows, pitch, sizeof pair, 2, cudaMemcpyDeviceToHost) != cudaSuccess ||
      cudaDeviceSynchronize() != cudaSuccess || cudaEventDestroy(event) != cudaSuccess || cudaFree(rows) != cudaSuccess ||
      cudaFree(pairs) != cudaSuccess)
    return false;
  // (3 + 4i) / (1 + 2i) = 2.2 - 0.4i, also where squares of the parts overflow.
  const cuComplex narrow = cuCdivf(make_cuComplex(3e30f, 4e30f), make_cuComplex(1e30f, 2e30f));
  const cuDoubleComplex wide = cuCdiv(make_cuDoubleComplex(3e300, 4e300), make_cuDoubleComplex(1e300, 2e300)),
                        sum = cuCfma(wide, make_cuDoubleComplex(1, 2), cuComplexFloatToDouble(narrow));
  const auto near = [](double x, double y, double unit) { return x - y < 4 * unit && y - x < 4 * unit; };
  return found[0].x == 3 && found[0].y == 4 && found[1].x == 0 && near(narrow.x, 2.2, 2e-7) && near(narrow.y, -0.4, 2e-7) &&
         near(wide.x, 2.2, 4e-16) && near(wide.y, -0.4, 4e-16) && near(sum.x, 5.2, 1e-6) && near(sum.y, 3.6, 1e-6) &&
         cuComplexDoubleToFloat(sum).x == static_cast<float>(sum.x);
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
  if (!overloads(stream) || !more_overloads()) return 4;
  int version = 0;
  curandGenerator_t generator;
  if (cufftGetVersion(&version) != CUFFT_SUCCESS || curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_DEFAULT) != CURAND_STATUS_SUCCESS)
    return 3;
  std::printf("%g\n", ones[7]);
}
