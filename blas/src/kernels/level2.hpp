// The kernels of level 2, both families. Vectors arrive as in level1.hpp: the address of element 0 and a signed stride.
// Matrices arrive in one of three storage forms; n (and m) >= 1 except where said.
#pragma once

#include <complex>
#include <cstdint>

#include <trn/blas/storage.hpp>
#include <trn/core/dispatch.hpp>
#include <trn/core/dtype.hpp>
#include <trn/core/precision.hpp>

namespace trn::blas {

// y = alpha op(A) x + beta y, the op folded: op(A)(i, j) = a[i am + j an], conjugated when conj_a. m, n >= 1.
struct GemvArgs {
  DType dtype;
  std::int64_t m, n;
  const void* a;
  std::int64_t am, an;
  bool conj_a;
  const void* x;
  std::int64_t incx;
  void* y;
  std::int64_t incy;
  std::complex<double> alpha, beta;
  Mode mode = Mode::Native;  // or Exact: every row's product is rounded once before alpha and beta
};

// A = alpha x y^T + A, or alpha x conj(y)^T + A. A(i, j) at a[i am + j an]. alpha not 0.
struct GerArgs {
  DType dtype;
  std::int64_t m, n;
  const void* x;
  std::int64_t incx;
  const void* y;
  std::int64_t incy;
  bool conj_y;
  void* a;
  std::int64_t am, an;
  std::complex<double> alpha;
};

// A band matrix of `rows` x `columns` with kl lower and ku upper diagonals, laid out as BandView says.
struct GbmvArgs {
  DType dtype;
  Layout layout;
  Op op;
  std::int64_t rows, columns, kl, ku;
  const void* a;
  std::int64_t ld;
  const void* x;
  std::int64_t incx;
  void* y;
  std::int64_t incy;
  std::complex<double> alpha, beta;
};

// A square matrix of which one triangle is stored. Which members say where it lies depends on the form:
//   Full: element (i, j) at a[i row_stride + j column_stride];  Packed: `layout`;  Band: `layout`, k diagonals beside
//     the main one, ld.
enum class Form : std::uint8_t { Full, Packed, Band };
struct Triangle {
  Form form;
  Uplo uplo;  // of the logical matrix
  std::int64_t n;
  std::int64_t row_stride = 0, column_stride = 0;
  Layout layout = Layout::ColumnMajor;
  std::int64_t k = 0, ld = 0;
};

// y = alpha A x + beta y: symv, sbmv, spmv; with `hermitian` hemv, hbmv, hpmv.
struct SymvArgs {
  DType dtype;
  Triangle shape;
  bool hermitian;
  const void* a;
  const void* x;
  std::int64_t incx;
  void* y;
  std::int64_t incy;
  std::complex<double> alpha, beta;
};

// A = alpha x x^T + A (y null), A = alpha x y^T + alpha y x^T + A; with `hermitian` the conjugated forms. alpha not 0.
struct SyrArgs {
  DType dtype;
  Triangle shape;  // Full or Packed
  bool hermitian;
  const void* x;
  std::int64_t incx;
  const void* y;
  std::int64_t incy;
  void* a;
  std::complex<double> alpha;
};

// x = op(A) x, or with `solve` x = op(A)^-1 x.
struct TrmvArgs {
  DType dtype;
  Triangle shape;
  bool solve;
  Op op;
  Diag diag;
  const void* a;
  void* x;
  std::int64_t incx;
};

namespace host {
void gemv(const Executor& executor, const GemvArgs& args);
void ger(const Executor& executor, const GerArgs& args);
void gbmv(const Executor& executor, const GbmvArgs& args);
void symv(const Executor& executor, const SymvArgs& args);
void syr(const Executor& executor, const SyrArgs& args);
void trmv(const Executor& executor, const TrmvArgs& args);
}  // namespace host
namespace device {
void gemv(const Executor& executor, const GemvArgs& args);
void ger(const Executor& executor, const GerArgs& args);
}  // namespace device

inline constexpr KernelTable<GemvArgs> kGemv{"blas.gemv", host::gemv, device::gemv};
inline constexpr KernelTable<GbmvArgs> kGbmv{"blas.gbmv", host::gbmv, nullptr};
inline constexpr KernelTable<GerArgs> kGer{"blas.ger", host::ger, device::ger};

inline constexpr KernelTable<SymvArgs> kSymv{"blas.symv", host::symv, nullptr};
inline constexpr KernelTable<SymvArgs> kHemv{"blas.hemv", host::symv, nullptr};
inline constexpr KernelTable<SymvArgs> kSbmv{"blas.sbmv", host::symv, nullptr};
inline constexpr KernelTable<SymvArgs> kHbmv{"blas.hbmv", host::symv, nullptr};
inline constexpr KernelTable<SymvArgs> kSpmv{"blas.spmv", host::symv, nullptr};
inline constexpr KernelTable<SymvArgs> kHpmv{"blas.hpmv", host::symv, nullptr};

inline constexpr KernelTable<SyrArgs> kSyr{"blas.syr", host::syr, nullptr};
inline constexpr KernelTable<SyrArgs> kHer{"blas.her", host::syr, nullptr};
inline constexpr KernelTable<SyrArgs> kSyr2{"blas.syr2", host::syr, nullptr};
inline constexpr KernelTable<SyrArgs> kHer2{"blas.her2", host::syr, nullptr};
inline constexpr KernelTable<SyrArgs> kSpr{"blas.spr", host::syr, nullptr};
inline constexpr KernelTable<SyrArgs> kHpr{"blas.hpr", host::syr, nullptr};
inline constexpr KernelTable<SyrArgs> kSpr2{"blas.spr2", host::syr, nullptr};
inline constexpr KernelTable<SyrArgs> kHpr2{"blas.hpr2", host::syr, nullptr};

inline constexpr KernelTable<TrmvArgs> kTrmv{"blas.trmv", host::trmv, nullptr};
inline constexpr KernelTable<TrmvArgs> kTrsv{"blas.trsv", host::trmv, nullptr};
inline constexpr KernelTable<TrmvArgs> kTbmv{"blas.tbmv", host::trmv, nullptr};
inline constexpr KernelTable<TrmvArgs> kTbsv{"blas.tbsv", host::trmv, nullptr};
inline constexpr KernelTable<TrmvArgs> kTpmv{"blas.tpmv", host::trmv, nullptr};
inline constexpr KernelTable<TrmvArgs> kTpsv{"blas.tpsv", host::trmv, nullptr};

}  // namespace trn::blas
