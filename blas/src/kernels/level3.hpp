// The kernels of level 3 beside gemm: symm and hemm, the rank-k updates, trmm, trsm, gemm3m.
//
// Entry points fold what can be folded, so that a kernel sees few cases: Side::Right is the transposed problem, ops are
// swapped strides and a flag for conjugation, and wherever the mathematics allows the triangle is the lower one. No
// extent is zero except k, strides are in elements. `conj_x` is false for real types. beta = 0 never reads C.
//
// The entry point presets *accuracy to Native and its bound; a kernel that takes another mode for `precision`
// overwrites it.
#pragma once

#include "gemm.hpp"

namespace trn::blas {

// C = alpha A B + beta C. A is m x m, only its lower triangle is stored: A(i, j) for i >= j at a[i am + j an], and A(j,
// i) is the same, or its conjugate when hermitian (the diagonal's imaginary parts then are never read). conj_a: conj(A)
// stands in A's place. B and C are m x n. alpha = 0: C = beta C, A and B are not read.
struct SymmArgs {
  DType dtype;
  std::int64_t m, n;
  const void* a;
  std::int64_t am, an;
  const void* b;
  std::int64_t bm, bn;
  void* c;
  std::int64_t cm, cn;
  std::complex<double> alpha, beta;
  bool hermitian = false, conj_a = false;
  Precision precision = {};
  Accuracy* accuracy = nullptr;
};

// The lower triangle of C (n x n), C(i, j) for i >= j at c[i cm + j cn]; the rest is neither read nor written.
// With A' = A or conj(A), B' = B or conj(B), both n x k, and ^t the transpose (hermitian: the conjugate transpose):
//
//   RankK::One, Pair   C = alpha A' B'^t + beta C       (One: b, its strides and conj_b repeat a's)
//   RankK::Two         C = alpha A' B'^t + alpha* B' A'^t + beta C, alpha* = conj(alpha) when hermitian, else alpha
//
// hermitian: beta is real (so is alpha for One), and the imaginary parts of the diagonal become zero and are never
// read. alpha = 0 arrives as k = 0: C = beta C. k = 0 with beta = 1 does not arrive.
enum class RankK : std::uint8_t { One, Pair, Two };
struct SyrkArgs {
  DType dtype;
  RankK kind;
  std::int64_t n, k;
  const void* a;
  std::int64_t an, ak;
  const void* b;
  std::int64_t bn, bk;
  void* c;
  std::int64_t cm, cn;
  std::complex<double> alpha, beta;
  bool hermitian = false, conj_a = false, conj_b = false;
  Precision precision = {};
  Accuracy* accuracy = nullptr;
};

// C = alpha A B with A (m x m) triangular: A(i, j) at a[i am + j an], lower or upper, unit: the diagonal is 1 and not
// read. B and C are m x n; c == b (then with b's strides) means in place, otherwise they do not overlap. alpha = 0: C
// becomes zero, A and B are not read.
struct TrmmArgs {
  DType dtype;
  std::int64_t m, n;
  const void* a;
  std::int64_t am, an;
  bool lower, unit, conj_a;
  const void* b;
  std::int64_t bm, bn;
  void* c;
  std::int64_t cm, cn;
  std::complex<double> alpha;
  Precision precision = {};
  Accuracy* accuracy = nullptr;
};

// A X = alpha B with A as in TrmmArgs; X (m x n) replaces B. alpha = 0: B becomes zero, neither is read.
struct TrsmArgs {
  DType dtype;
  std::int64_t m, n;
  const void* a;
  std::int64_t am, an;
  bool lower, unit, conj_a;
  void* b;
  std::int64_t bm, bn;
  std::complex<double> alpha;
  Precision precision = {};
  Accuracy* accuracy = nullptr;
};

// What the host's trsm keeps in the type itself: residual <= this * |A||X|, elementwise, for m rows.
[[nodiscard]] double trsm_error_bound(DType dtype, std::int64_t m);

namespace host {
void symm(const Executor& executor, const SymmArgs& args);
void syrk(const Executor& executor, const SyrkArgs& args);
void trmm(const Executor& executor, const TrmmArgs& args);
void trsm(const Executor& executor, const TrsmArgs& args);
void gemm3m(const Executor& executor, const GemmArgs& args);
}  // namespace host
namespace device {
void symm(const Executor& executor, const SymmArgs& args);
void trmm(const Executor& executor, const TrmmArgs& args);
void syrk(const Executor& executor, const SyrkArgs& args);
void trsm(const Executor& executor, const TrsmArgs& args);
void gemm3m(const Executor& executor, const GemmArgs& args);
}  // namespace device

inline constexpr KernelTable<SymmArgs> kSymm{"blas.symm", host::symm, device::symm};
inline constexpr KernelTable<SymmArgs> kHemm{"blas.hemm", host::symm, device::symm};
inline constexpr KernelTable<SyrkArgs> kSyrk{"blas.syrk", host::syrk, device::syrk};
inline constexpr KernelTable<SyrkArgs> kHerk{"blas.herk", host::syrk, device::syrk};
inline constexpr KernelTable<SyrkArgs> kSyr2k{"blas.syr2k", host::syrk, device::syrk};
inline constexpr KernelTable<SyrkArgs> kHer2k{"blas.her2k", host::syrk, device::syrk};
inline constexpr KernelTable<SyrkArgs> kSyrkx{"blas.syrkx", host::syrk, device::syrk};
inline constexpr KernelTable<SyrkArgs> kHerkx{"blas.herkx", host::syrk, device::syrk};
inline constexpr KernelTable<TrmmArgs> kTrmm{"blas.trmm", host::trmm, device::trmm};
inline constexpr KernelTable<TrsmArgs> kTrsm{"blas.trsm", host::trsm, device::trsm};
inline constexpr KernelTable<GemmArgs> kGemm3m{"blas.gemm3m", host::gemm3m, device::gemm3m};

}  // namespace trn::blas
