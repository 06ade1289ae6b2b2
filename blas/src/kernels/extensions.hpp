// The kernels of what BLAS lacks and cuBLAS has: geam, dgmm, packed triangles, batches, gemm with an epilogue.
// Folded by the entry points as in level3.hpp: ops are strides and a flag, Side::Right and row-major packing the
// transposed problem.
#pragma once

#include <cstddef>
#include <span>

#include <trn/blas/gemm_epilogue.hpp>

#include "gemm.hpp"

namespace trn::blas {

// C = alpha A' + beta B', all m x n, ' = conjugated where the flag says so. a is not read when alpha is 0, b not when
// beta is. c == a (same strides) and c == b (same strides) are in place; otherwise C overlaps nothing.
struct GeamArgs {
  DType dtype;
  std::int64_t m, n;
  const void* a;
  std::int64_t am, an;
  const void* b;
  std::int64_t bm, bn;
  void* c;
  std::int64_t cm, cn;
  std::complex<double> alpha, beta;
  bool conj_a = false, conj_b = false;
};

// C(i, j) = x_i A(i, j), m x n. c == a (same strides) is in place.
struct DgmmArgs {
  DType dtype;
  std::int64_t m, n;
  const void* a;
  std::int64_t am, an;
  const void* x;
  std::int64_t incx;
  void* c;
  std::int64_t cm, cn;
};

// One triangle of A (n x n, A(i, j) at a[i am + j an]) and its packed form, column by column: lower (i >= j) at
// i + j (2n - j - 1) / 2, else (i <= j) at i + j (j + 1) / 2. tpttr reads `packed` and writes `a`, trttp the reverse.
struct PackedArgs {
  DType dtype;
  std::int64_t n;
  bool lower;
  void* packed;
  void* a;
  std::int64_t am, an;
};

// C_p = alpha A_p B_p + beta C_p. Products of one shape are a group; no m, n or count is zero, k may be. Matrix p of a
// group lies at the address number first + p of the lists or, where there are no lists, at a + p stride_a (one group
// then).
struct BatchGroup {
  std::int64_t m, n, k;
  std::int64_t am, ak, bk, bn, cm, cn;
  bool conj_a = false, conj_b = false;
  std::complex<double> alpha, beta;
  std::int64_t first = 0, count = 0;
};
struct GemmBatchArgs {
  DType dtype;
  std::span<const BatchGroup> groups;
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  std::int64_t stride_a = 0, stride_b = 0, stride_c = 0;
  const void* const* a_list = nullptr;
  const void* const* b_list = nullptr;
  void* const* c_list = nullptr;
  Precision precision = {};
  Accuracy* accuracy = nullptr;

  [[nodiscard]] const void* a_of(const BatchGroup& g, std::int64_t p) const {
    return a_list ? a_list[g.first + p] : static_cast<const std::byte*>(a) + p * stride_a * size_bytes(dtype);
  }
  [[nodiscard]] const void* b_of(const BatchGroup& g, std::int64_t p) const {
    return b_list ? b_list[g.first + p] : static_cast<const std::byte*>(b) + p * stride_b * size_bytes(dtype);
  }
  [[nodiscard]] void* c_of(const BatchGroup& g, std::int64_t p) const {
    return c_list ? c_list[g.first + p] : static_cast<std::byte*>(c) + p * stride_c * size_bytes(dtype);
  }
};

// A_p X_p = alpha B_p, X_p replaces B_p (m x n); A_p (m x m) as in TrsmArgs. alpha = 0: B_p becomes zero, nothing is
// read.
struct TrsmBatchArgs {
  DType dtype;
  std::int64_t m, n, count;
  std::int64_t am, an;
  bool lower, unit, conj_a;
  std::int64_t bm, bn;
  std::complex<double> alpha;
  const void* const* a;
  void* const* b;
};

// C = activation(alpha A B + beta C + bias) * scale, one rounding to the type of C. *accuracy is that of the product
// alone. bias (of that type; null: none) has an element per row or per column of C, so one of bias_m, bias_n is zero;
// element (i, j) takes bias[i bias_m + j bias_n].
struct EpilogueArgs {
  GemmArgs gemm;
  Activation activation = Activation::None;
  const void* bias = nullptr;
  std::int64_t bias_m = 0, bias_n = 0;
  double scale = 1;
  Precision precision = {};
  Accuracy* accuracy = nullptr;
};

namespace host {
void geam(const Executor& executor, const GeamArgs& args);
void dgmm(const Executor& executor, const DgmmArgs& args);
void tpttr(const Executor& executor, const PackedArgs& args);
void trttp(const Executor& executor, const PackedArgs& args);
void gemm_batched(const Executor& executor, const GemmBatchArgs& args);
void trsm_batched(const Executor& executor, const TrsmBatchArgs& args);
void gemm_epilogue(const Executor& executor, const EpilogueArgs& args);
}  // namespace host
namespace device {
void gemm_batched(const Executor& executor, const GemmBatchArgs& args);
void trsm_batched(const Executor& executor, const TrsmBatchArgs& args);
}  // namespace device

inline constexpr KernelTable<GeamArgs> kGeam{"blas.geam", host::geam, nullptr};
inline constexpr KernelTable<DgmmArgs> kDgmm{"blas.dgmm", host::dgmm, nullptr};
inline constexpr KernelTable<PackedArgs> kTpttr{"blas.tpttr", host::tpttr, nullptr};
inline constexpr KernelTable<PackedArgs> kTrttp{"blas.trttp", host::trttp, nullptr};
inline constexpr KernelTable<GemmBatchArgs> kGemmBatched{"blas.gemm_batched", host::gemm_batched, device::gemm_batched};
inline constexpr KernelTable<TrsmBatchArgs> kTrsmBatched{"blas.trsm_batched", host::trsm_batched, device::trsm_batched};
inline constexpr KernelTable<EpilogueArgs> kGemmEpilogue{"blas.gemm_epilogue", host::gemm_epilogue, nullptr};

}  // namespace trn::blas
