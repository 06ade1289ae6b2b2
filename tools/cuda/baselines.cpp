// Times of the CUDA libraries for the rows of docs/baselines.md, as JSON on standard output. Built where CUDA is
// installed (tools/cuda/CMakeLists.txt); CI never builds or runs it.
//
// A time is the least of the repetitions between two events of the stream, operands in the GPU's memory. Factorisations
// overwrite their matrix, so it is restored before each repetition, outside the time.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda_bf16.h>
#include <cuda_fp8.h>
#include <cuda_runtime.h>
#include <cufft.h>
#include <curand.h>
#include <cusolverDn.h>
#include <cusparse.h>
#if __has_include(<cutensor.h>)
#include <cutensor.h>
#endif

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace {

void check(int status, const char* what) {
  if (status == 0) return;
  std::fprintf(stderr, "baselines: %s: status %d\n", what, status);
  std::exit(1);
}
#define CHECK(call) check(static_cast<int>(call), #call)

template <class T> class Memory {
 public:
  explicit Memory(std::size_t count) : count_(count) { CHECK(cudaMalloc(&data_, count * sizeof(T))); }
  ~Memory() { cudaFree(data_); }
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;
  T* get() const { return data_; }
  void put(const std::vector<T>& values) {
    CHECK(cudaMemcpy(data_, values.data(), std::min(count_, values.size()) * sizeof(T), cudaMemcpyHostToDevice));
  }

 private:
  std::size_t count_;
  T* data_ = nullptr;
};

double seconds(
    const std::function<void()>& run, const std::function<void()>& before = [] {}, int repeats = 10) {
  cudaEvent_t begin, end;
  CHECK(cudaEventCreate(&begin));
  CHECK(cudaEventCreate(&end));
  double least = 1e9;
  for (int i = -2; i < repeats; ++i) {  // two to warm up
    before();
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaEventRecord(begin));
    run();
    CHECK(cudaEventRecord(end));
    CHECK(cudaEventSynchronize(end));
    float ms = 0;
    CHECK(cudaEventElapsedTime(&ms, begin, end));
    if (i >= 0) least = std::min(least, ms * 1e-3);
  }
  cudaEventDestroy(begin), cudaEventDestroy(end);
  return least;
}

bool first_row = true;
void row(const std::string& op, const std::string& shape, const std::string& dtype, double s) {
  std::printf("%s  {\"op\": \"%s\", \"shape\": \"%s\", \"dtype\": \"%s\", \"seconds\": %.6e}", first_row ? "" : ",\n",
              op.c_str(), shape.c_str(), dtype.c_str(), s);
  first_row = false;
  std::fflush(stdout);
}

template <class T> std::vector<T> random(std::size_t count) {
  std::vector<T> x(count);
  std::uint64_t state = 88172645463325252u;
  for (T& v : x) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    v = static_cast<T>(static_cast<double>(state >> 11) * 0x1p-52 - 1);
  }
  return x;
}

// Random bytes under a mask that keeps exponents small: constant operands would let the clocks rise.
void fill_bits(void* data, std::size_t bytes, unsigned char mask) {
  std::vector<unsigned char> host(bytes);
  std::uint64_t state = 1234567;
  for (unsigned char& b : host) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    b = static_cast<unsigned char>(state >> 20) & mask;
  }
  CHECK(cudaMemcpy(data, host.data(), bytes, cudaMemcpyHostToDevice));
}

void products() {
  cublasHandle_t h;
  CHECK(cublasCreate(&h));
  const int n = 4096;
  const std::size_t count = static_cast<std::size_t>(n) * n;
  Memory<float> a(count), b(count), c(count);
  a.put(random<float>(count)), b.put(random<float>(count));
  const float one = 1, zero = 0;
  const auto gemm = [&](cublasComputeType_t compute) {
    CHECK(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a.get(), CUDA_R_32F, n, b.get(), CUDA_R_32F, n,
                       &zero, c.get(), CUDA_R_32F, n, compute, CUBLAS_GEMM_DEFAULT));
  };
  row("blas.gemm", "4096^3", "fp32", seconds([&] { gemm(CUBLAS_COMPUTE_32F); }));
  row("blas.gemm", "4096^3", "tf32", seconds([&] { gemm(CUBLAS_COMPUTE_32F_FAST_TF32); }));
  {
    Memory<double> x(count), y(count), z(count);
    x.put(random<double>(count)), y.put(random<double>(count));
    const double d1 = 1, d0 = 0;
    row("blas.gemm", "4096^3", "fp64", seconds([&] {
          CHECK(cublasDgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &d1, x.get(), n, y.get(), n, &d0, z.get(), n));
        }));
  }
  for (const int m : {1024, 4096}) {
    Memory<__nv_bfloat16> x(count), y(count), z(count);
    fill_bits(x.get(), count * 2, 0xbf);
    fill_bits(y.get(), count * 2, 0xbf);
    row("blas.gemm", std::to_string(m) + "^3", "bf16", seconds([&] {
          CHECK(cublasGemmEx(h, CUBLAS_OP_N, CUBLAS_OP_N, m, m, m, &one, x.get(), CUDA_R_16BF, m, y.get(), CUDA_R_16BF,
                             m, &zero, z.get(), CUDA_R_16BF, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
        }));
  }
  {  // 8-bit floats, one scale for each matrix; A transposed, as cuBLASLt wants them
    cublasLtHandle_t lt;
    CHECK(cublasLtCreate(&lt));
    Memory<__nv_fp8_e4m3> x(count), y(count);
    Memory<__nv_bfloat16> z(count);
    Memory<float> scales(2);
    Memory<char> work(64 << 20);
    fill_bits(x.get(), count, 0xbf);
    fill_bits(y.get(), count, 0xbf);
    scales.put({1.0F, 1.0F});
    cublasLtMatmulDesc_t desc;
    CHECK(cublasLtMatmulDescCreate(&desc, CUBLAS_COMPUTE_32F, CUDA_R_32F));
    const cublasOperation_t t = CUBLAS_OP_T;
    const void *sa = scales.get(), *sb = scales.get();  // 16-byte aligned, as cuBLASLt wants them
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_TRANSA, &t, sizeof t));
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, &sa, sizeof sa));
    CHECK(cublasLtMatmulDescSetAttribute(desc, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, &sb, sizeof sb));
    cublasLtMatrixLayout_t la, lb, lc;
    CHECK(cublasLtMatrixLayoutCreate(&la, CUDA_R_8F_E4M3, n, n, n));
    CHECK(cublasLtMatrixLayoutCreate(&lb, CUDA_R_8F_E4M3, n, n, n));
    CHECK(cublasLtMatrixLayoutCreate(&lc, CUDA_R_16BF, n, n, n));
    cublasLtMatmulPreference_t preference;
    CHECK(cublasLtMatmulPreferenceCreate(&preference));
    const std::size_t bytes = 64 << 20;
    CHECK(cublasLtMatmulPreferenceSetAttribute(preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &bytes,
                                               sizeof bytes));
    cublasLtMatmulHeuristicResult_t found{};
    int results = 0;
    const int status = cublasLtMatmulAlgoGetHeuristic(lt, desc, la, lb, lc, lc, preference, 1, &found, &results);
    if (status == 0 && results > 0) {
      row("blas.scaled_gemm", "4096^3", "fp8_e4m3", seconds([&] {
            CHECK(cublasLtMatmul(lt, desc, &one, x.get(), la, y.get(), lb, &zero, z.get(), lc, z.get(), lc, &found.algo,
                                 work.get(), bytes, nullptr));
          }));
    } else {
      std::fprintf(stderr, "baselines: cuBLASLt offers no product of 8-bit floats here (status %d)\n", status);
    }
  }
  row("blas.syrk", "4096 x 4096", "fp32", seconds([&] {
        CHECK(cublasSsyrk(h, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, n, n, &one, a.get(), n, &zero, c.get(), n));
      }));
  {
    std::vector<float> tri = random<float>(count);
    for (int i = 0; i < n; ++i) tri[static_cast<std::size_t>(i) * n + i] = 4096;
    Memory<float> l(count);
    l.put(tri);
    row("blas.trsm", "4096 x 4096", "fp32", seconds([&] {
          CHECK(cublasStrsm(h, CUBLAS_SIDE_LEFT, CUBLAS_FILL_MODE_LOWER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, n, n, &one,
                            l.get(), n, c.get(), n));
        }));
  }
  row("blas.gemm_batched", "1000 of 64^3", "fp32", seconds([&] {
        CHECK(cublasSgemmStridedBatched(h, CUBLAS_OP_N, CUBLAS_OP_N, 64, 64, 64, &one, a.get(), 64, 4096, b.get(), 64,
                                        4096, &zero, c.get(), 64, 4096, 1000));
      }));
  cublasDestroy(h);
}

void transforms() {
  Memory<cufftComplex> x(std::size_t{1} << 24);
  fill_bits(x.get(), (std::size_t{1} << 24) * sizeof(cufftComplex), 0x3f);
  const auto many = [&](int n, int batch) {
    cufftHandle plan;
    CHECK(cufftPlan1d(&plan, n, CUFFT_C2C, batch));
    row("fft.c2c", std::to_string(batch) + " of " + std::to_string(n), "complex64",
        seconds([&] { CHECK(cufftExecC2C(plan, x.get(), x.get(), CUFFT_FORWARD)); }));
    cufftDestroy(plan);
  };
  many(1024, 8192), many(65536, 128), many(1000, 8192), many(1 << 20, 8);
  {
    cufftHandle plan;
    CHECK(cufftPlan3d(&plan, 128, 128, 128, CUFFT_C2C));
    row("fft.c2c", "128 x 128 x 128", "complex64",
        seconds([&] { CHECK(cufftExecC2C(plan, x.get(), x.get(), CUFFT_FORWARD)); }));
    cufftDestroy(plan);
  }
  {
    cufftHandle plan;
    CHECK(cufftPlan1d(&plan, 4096, CUFFT_R2C, 2048));
    Memory<float> real(std::size_t{4096} * 2048);
    real.put(random<float>(std::size_t{4096} * 2048));
    row("fft.r2c", "2048 of 4096", "fp32", seconds([&] { CHECK(cufftExecR2C(plan, real.get(), x.get())); }));
    cufftDestroy(plan);
  }
  {
    Memory<cufftDoubleComplex> z(1024 * 2048);
    fill_bits(z.get(), std::size_t{1024} * 2048 * sizeof(cufftDoubleComplex), 0x3f);
    cufftHandle plan;
    CHECK(cufftPlan1d(&plan, 1024, CUFFT_Z2Z, 2048));
    row("fft.c2c", "2048 of 1024", "complex128",
        seconds([&] { CHECK(cufftExecZ2Z(plan, z.get(), z.get(), CUFFT_FORWARD)); }));
    cufftDestroy(plan);
  }
}

void numbers() {
  const std::size_t n = std::size_t{1} << 26;
  Memory<float> x(n);
  curandGenerator_t g;
  CHECK(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10));
  row("rand.uniform", "2^26", "fp32", seconds([&] { CHECK(curandGenerateUniform(g, x.get(), n)); }));
  row("rand.normal", "2^26", "fp32", seconds([&] { CHECK(curandGenerateNormal(g, x.get(), n, 0, 1)); }));
  curandGenerator_t s;
  CHECK(curandCreateGenerator(&s, CURAND_RNG_QUASI_SOBOL32));
  row("rand.sobol", "2^26", "uint32",
      seconds([&] { CHECK(curandGenerate(s, reinterpret_cast<unsigned*>(x.get()), n)); }));
  curandDestroyGenerator(g), curandDestroyGenerator(s);
}

template <class T> std::vector<T> definite(int n) {
  std::vector<T> a(static_cast<std::size_t>(n) * n);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < n; ++j) a[static_cast<std::size_t>(i) * n + j] = i == j ? T(n) : T(1) / T(1 + std::abs(i - j));
  }
  return a;
}

void factorisations() {
  cusolverDnHandle_t h;
  CHECK(cusolverDnCreate(&h));
  Memory<int> info(1);
  const auto potrf = [&](int n) {
    const std::vector<float> from = definite<float>(n);
    Memory<float> a(from.size()), keep(from.size());
    keep.put(from);
    int work = 0;
    CHECK(cusolverDnSpotrf_bufferSize(h, CUBLAS_FILL_MODE_LOWER, n, a.get(), n, &work));
    Memory<float> room(static_cast<std::size_t>(work));
    row("solver.potrf", std::to_string(n), "fp32",
        seconds(
            [&] { CHECK(cusolverDnSpotrf(h, CUBLAS_FILL_MODE_LOWER, n, a.get(), n, room.get(), work, info.get())); },
            [&] { CHECK(cudaMemcpy(a.get(), keep.get(), from.size() * 4, cudaMemcpyDeviceToDevice)); }));
  };
  potrf(1024), potrf(4096);
  const auto eigh = [&](int n) {
    const std::vector<float> from = definite<float>(n);
    Memory<float> a(from.size()), keep(from.size()), w(static_cast<std::size_t>(n));
    keep.put(from);
    int work = 0;
    CHECK(cusolverDnSsyevd_bufferSize(h, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, a.get(), n, w.get(),
                                      &work));
    Memory<float> room(static_cast<std::size_t>(work));
    row("solver.eigh", std::to_string(n), "fp32",
        seconds(
            [&] {
              CHECK(cusolverDnSsyevd(h, CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, a.get(), n, w.get(),
                                     room.get(), work, info.get()));
            },
            [&] { CHECK(cudaMemcpy(a.get(), keep.get(), from.size() * 4, cudaMemcpyDeviceToDevice)); }, 5));
  };
  eigh(512), eigh(1024);
  // Values and vectors: the least of QR iterations, Jacobi rotations and the polar decomposition.
  const auto svd = [&](int n) {
    const std::vector<float> from = random<float>(static_cast<std::size_t>(n) * n);
    Memory<float> a(from.size()), keep(from.size()), u(from.size()), v(from.size()), s(static_cast<std::size_t>(n));
    keep.put(from);
    int work = 0;
    CHECK(cusolverDnSgesvd_bufferSize(h, n, n, &work));
    Memory<float> room(static_cast<std::size_t>(work));
    const auto restore = [&] { CHECK(cudaMemcpy(a.get(), keep.get(), from.size() * 4, cudaMemcpyDeviceToDevice)); };
    const double by_iteration = seconds(
        [&] {
          CHECK(cusolverDnSgesvd(h, 'S', 'S', n, n, a.get(), n, s.get(), u.get(), n, v.get(), n, room.get(), work,
                                 nullptr, info.get()));
        },
        restore, 5);
    gesvdjInfo_t jacobi;
    CHECK(cusolverDnCreateGesvdjInfo(&jacobi));
    CHECK(cusolverDnSgesvdj_bufferSize(h, CUSOLVER_EIG_MODE_VECTOR, 1, n, n, a.get(), n, s.get(), u.get(), n, v.get(),
                                       n, &work, jacobi));
    Memory<float> more(static_cast<std::size_t>(work));
    const double by_jacobi = seconds(
        [&] {
          CHECK(cusolverDnSgesvdj(h, CUSOLVER_EIG_MODE_VECTOR, 1, n, n, a.get(), n, s.get(), u.get(), n, v.get(), n,
                                  more.get(), work, info.get(), jacobi));
        },
        restore, 5);
    CHECK(cusolverDnDestroyGesvdjInfo(jacobi));
    cusolverDnParams_t params;
    CHECK(cusolverDnCreateParams(&params));
    std::size_t there = 0, here = 0;
    double error = 0;
    const auto polar = [&](auto&& call, auto&&... rest) {
      return call(h, params, CUSOLVER_EIG_MODE_VECTOR, 1, n, n, CUDA_R_32F, a.get(), n, CUDA_R_32F, s.get(), CUDA_R_32F,
                  u.get(), n, CUDA_R_32F, v.get(), n, CUDA_R_32F, rest...);
    };
    CHECK(polar(cusolverDnXgesvdp_bufferSize, &there, &here));
    Memory<char> on_device(std::max<std::size_t>(1, there));
    std::vector<char> on_host(std::max<std::size_t>(1, here));
    const double by_polar = seconds(
        [&] {
          CHECK(polar(cusolverDnXgesvdp, static_cast<void*>(on_device.get()), there, static_cast<void*>(on_host.data()),
                      here, info.get(), &error));
        },
        restore, 5);
    CHECK(cusolverDnDestroyParams(params));
    std::fprintf(stderr, "baselines: svd %d: %.3g s by iteration, %.3g by rotations, %.3g by the polar decomposition\n",
                 n, by_iteration, by_jacobi, by_polar);
    row("solver.svd", std::to_string(n), "fp32", std::min({by_iteration, by_jacobi, by_polar}));
  };
  svd(512);
  const int n = 1024;
  const std::vector<float> from = random<float>(static_cast<std::size_t>(n) * n);
  Memory<float> a(from.size()), keep(from.size()), tau(n);
  keep.put(from);
  int work = 0;
  CHECK(cusolverDnSgeqrf_bufferSize(h, n, n, a.get(), n, &work));
  Memory<float> room(static_cast<std::size_t>(work));
  row("solver.geqrf", "1024", "fp32",
      seconds([&] { CHECK(cusolverDnSgeqrf(h, n, n, a.get(), n, tau.get(), room.get(), work, info.get())); },
              [&] { CHECK(cudaMemcpy(a.get(), keep.get(), from.size() * 4, cudaMemcpyDeviceToDevice)); }));
  cusolverDnDestroy(h);
}

// Neighbours of a point on a square or cubic grid, itself among them: those that differ by 1 in one direction, or (all)
// in any number of them.
struct Grid {
  std::string name;
  int side, dimensions;
  bool all;
};

// A grid's matrix in CSR times a matrix of `columns`, and the entries of a product of two such matrices where the grid
// has entries.
void sparse(const Grid& grid, int columns) {
  const int side = grid.side, deep = grid.dimensions == 3 ? side : 1, rows = side * side * deep;
  std::vector<int> offsets{0}, index;
  std::vector<float> values;
  for (int i = 0; i < rows; ++i) {
    const int x = i % side, y = i / side % side, z = i / (side * side);
    for (int dz = -1; dz <= 1; ++dz) {
      for (int dy = -1; dy <= 1; ++dy) {
        for (int dx = -1; dx <= 1; ++dx) {
          const int away = std::abs(dx) + std::abs(dy) + std::abs(dz);
          if (!grid.all && away > 1) continue;
          if (x + dx < 0 || x + dx >= side || y + dy < 0 || y + dy >= side || z + dz < 0 || z + dz >= deep) continue;
          index.push_back(((z + dz) * side + y + dy) * side + x + dx);
          values.push_back(away == 0 ? static_cast<float>(grid.all ? 26 : 2 * grid.dimensions) : -1.0F);
        }
      }
    }
    offsets.push_back(static_cast<int>(index.size()));
  }
  Memory<int> o(offsets.size()), c(index.size());
  Memory<float> v(values.size()), b(static_cast<std::size_t>(rows) * columns),
      y(static_cast<std::size_t>(rows) * columns);
  o.put(offsets), c.put(index), v.put(values);
  b.put(random<float>(static_cast<std::size_t>(rows) * columns));
  cusparseHandle_t h;
  CHECK(cusparseCreate(&h));
  cusparseSpMatDescr_t a;
  CHECK(cusparseCreateCsr(&a, rows, rows, static_cast<int64_t>(values.size()), o.get(), c.get(), v.get(),
                          CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_32F));
  cusparseDnMatDescr_t db, dy;
  CHECK(cusparseCreateDnMat(&db, rows, columns, columns, b.get(), CUDA_R_32F, CUSPARSE_ORDER_ROW));
  CHECK(cusparseCreateDnMat(&dy, rows, columns, columns, y.get(), CUDA_R_32F, CUSPARSE_ORDER_ROW));
  const float one = 1, zero = 0;
  std::size_t bytes = 0;
  const auto n = CUSPARSE_OPERATION_NON_TRANSPOSE;
  CHECK(cusparseSpMM_bufferSize(h, n, n, &one, a, db, &zero, dy, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG2, &bytes));
  Memory<char> room(std::max<std::size_t>(1, bytes));
  const std::string shape = grid.name + ":" + std::to_string(side) + ", " + std::to_string(columns) + " columns";
  row("sparse.spmm", shape, "fp32", seconds([&] {
        CHECK(cusparseSpMM(h, n, n, &one, a, db, &zero, dy, CUDA_R_32F, CUSPARSE_SPMM_CSR_ALG2, room.get()));
      }));
  // Rows of y times rows of b: B^T is b with its extents and its order turned around.
  cusparseDnMatDescr_t bt;
  CHECK(cusparseCreateDnMat(&bt, columns, rows, columns, b.get(), CUDA_R_32F, CUSPARSE_ORDER_COL));
  CHECK(cusparseSDDMM_bufferSize(h, n, n, &one, dy, bt, &zero, a, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, &bytes));
  Memory<char> more(std::max<std::size_t>(1, bytes));
  CHECK(cusparseSDDMM_preprocess(h, n, n, &one, dy, bt, &zero, a, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, more.get()));
  row("sparse.sddmm", shape, "fp32", seconds([&] {
        CHECK(cusparseSDDMM(h, n, n, &one, dy, bt, &zero, a, CUDA_R_32F, CUSPARSE_SDDMM_ALG_DEFAULT, more.get()));
      }));
  cusparseDestroy(h);
}

#if __has_include(<cutensor.h>)
// A contraction in float32 arithmetic of row-major tensors, all modes named by letters.
void contraction(const char* shape, const std::string& a, const std::string& b, const std::string& c,
                 const std::function<std::int64_t(char)>& extent_of) {
  cutensorHandle_t h;
  CHECK(cutensorCreate(&h));
  struct Tensor {
    std::vector<std::int32_t> modes;
    std::size_t count = 1;
    cutensorTensorDescriptor_t description;
  };
  const auto tensor = [&](const std::string& letters) {
    Tensor t;
    t.modes.assign(letters.begin(), letters.end());
    std::vector<std::int64_t> extents, strides(letters.size());
    for (const char letter : letters) extents.push_back(extent_of(letter));
    for (std::size_t i = letters.size(); i-- > 0;) {
      strides[i] = static_cast<std::int64_t>(t.count);
      t.count *= static_cast<std::size_t>(extents[i]);
    }
    CHECK(cutensorCreateTensorDescriptor(h, &t.description, static_cast<std::uint32_t>(letters.size()), extents.data(),
                                         strides.data(), CUTENSOR_R_32F, 128));
    return t;
  };
  const Tensor ta = tensor(a), tb = tensor(b), tc = tensor(c);
  Memory<float> x(ta.count), y(tb.count), z(tc.count);
  x.put(random<float>(ta.count)), y.put(random<float>(tb.count));
  cutensorOperationDescriptor_t operation;
  const auto same = CUTENSOR_OP_IDENTITY;
  CHECK(cutensorCreateContraction(h, &operation, ta.description, ta.modes.data(), same, tb.description, tb.modes.data(),
                                  same, tc.description, tc.modes.data(), same, tc.description, tc.modes.data(),
                                  CUTENSOR_COMPUTE_DESC_32F));
  cutensorPlanPreference_t preference;
  CHECK(cutensorCreatePlanPreference(h, &preference, CUTENSOR_ALGO_DEFAULT, CUTENSOR_JIT_MODE_NONE));
  std::uint64_t bytes = 0;
  CHECK(cutensorEstimateWorkspaceSize(h, operation, preference, CUTENSOR_WORKSPACE_DEFAULT, &bytes));
  cutensorPlan_t plan;
  CHECK(cutensorCreatePlan(h, &plan, operation, preference, bytes));
  Memory<char> room(std::max<std::size_t>(1, bytes));
  const float one = 1, zero = 0;
  row("tensor.einsum", shape, "fp32", seconds([&] {
        CHECK(cutensorContract(h, plan, &one, x.get(), y.get(), &zero, z.get(), z.get(), room.get(), bytes, nullptr));
      }));
  cutensorDestroyPlan(plan), cutensorDestroyPlanPreference(preference), cutensorDestroyOperationDescriptor(operation);
  for (const Tensor* t : {&ta, &tb, &tc}) cutensorDestroyTensorDescriptor(t->description);
  cutensorDestroy(h);
}

void tensors() {
  contraction("abc,cbd->da, 512 64 64 512", "abc", "cbd", "da", [](char x) { return x == 'a' || x == 'd' ? 512 : 64; });
  contraction("abcd,dcef->efab, all 32", "abcd", "dcef", "efab", [](char) { return 32; });
}
#else
void tensors() { std::fprintf(stderr, "baselines: built without cuTENSOR; no rows of tensors\n"); }
#endif

}  // namespace

int main() {
  cudaDeviceProp device{};
  CHECK(cudaGetDeviceProperties(&device, 0));
  int runtime = 0, driver = 0;
  CHECK(cudaRuntimeGetVersion(&runtime));
  CHECK(cudaDriverGetVersion(&driver));
  std::printf("{\"device\": \"%s\", \"cuda_runtime\": %d, \"cuda_driver\": %d, \"cublas\": %d, \"rows\": [\n",
              device.name, runtime, driver, CUBLAS_VERSION);
  products();
  transforms();
  numbers();
  factorisations();
  sparse({"poisson2d", 100, 2, false}, 128);
  sparse({"poisson2d", 1000, 2, false}, 128);
  sparse({"poisson3d", 24, 3, false}, 128);
  sparse({"stencil27", 24, 3, true}, 128);
  tensors();
  std::printf("\n]}\n");
}
