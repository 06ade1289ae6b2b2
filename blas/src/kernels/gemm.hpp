// The kernels of gemm, both families.
#pragma once

#include <complex>

#include <trn/blas/gemm_program.hpp>
#include <trn/core/dispatch.hpp>
#include <trn/core/precision.hpp>

namespace trn::blas {

// A gemm after its entry point: operands as addresses and strides, ops folded into the strides, no extent zero except
// k.
struct GemmArgs {
  DType in, out;
  std::int64_t m, n, k;
  const void* a;
  std::int64_t am, ak;
  const void* b;
  std::int64_t bk, bn;
  void* c;
  std::int64_t cm, cn;
  std::complex<double> alpha, beta;
  bool conj_a = false, conj_b = false;  // complex types only
  Mode mode = Mode::Native;             // never Exact: that has kernels of its own (exact.hpp)
};

// C^T = op(B)^T op(A)^T: the same product with rows and columns exchanged.
[[nodiscard]] inline GemmArgs transposed(const GemmArgs& g) {
  return {g.in, g.out, g.n,  g.m,  g.k,     g.b,    g.bn,     g.bk,     g.a,   g.ak,
          g.am, g.c,   g.cn, g.cm, g.alpha, g.beta, g.conj_b, g.conj_a, g.mode};
}

namespace host {
void gemm(const Executor& executor, const GemmArgs& args);
}
namespace device {
void gemm(const Executor& executor, const GemmArgs& args);
}

inline constexpr KernelTable<GemmArgs> kGemm{"blas.gemm", host::gemm, device::gemm};

}  // namespace trn::blas
