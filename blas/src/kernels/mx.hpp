// The kernels of mx_gemm and mx_quantize, both families.
#pragma once

#include <trn/blas/mx_program.hpp>
#include <trn/core/dispatch.hpp>

namespace trn::blas {

// Extents are not zero; the factors are in the shape, too.
struct MxGemmArgs {
  MxGemmShape shape;
  const MxMatrix *a, *b;
  void* c;
  float alpha, beta;
};

struct MxQuantizeArgs {
  MxQuantizeShape shape;
  const void* x;
  const MxMatrix* to;
};

namespace host {
void mx_gemm(const Executor& executor, const MxGemmArgs& args);
void mx_quantize(const Executor& executor, const MxQuantizeArgs& args);
}  // namespace host
namespace device {
void mx_gemm(const Executor& executor, const MxGemmArgs& args);
void mx_quantize(const Executor& executor, const MxQuantizeArgs& args);
}  // namespace device

inline constexpr KernelTable<MxGemmArgs> kMxGemm{"blas.mx_gemm", host::mx_gemm, device::mx_gemm};
inline constexpr KernelTable<MxQuantizeArgs> kMxQuantize{"blas.mx_quantize", host::mx_quantize, device::mx_quantize};

}  // namespace trn::blas
