// The kernels of scaled_gemm and quantize, both families.
#pragma once

#include <trn/blas/scaled_gemm_program.hpp>
#include <trn/core/dispatch.hpp>

namespace trn::blas {

// Extents of the shape are not zero; beta is in the shape's Factor, too.
struct ScaledArgs {
  ScaledShape shape;
  const void *a, *b;
  const float *scale_a, *scale_b;
  void* c;
  float alpha, beta;
};

struct QuantizeArgs {
  QuantizeShape shape;
  const float* x;
  void* q;
  float* scale;
};

namespace host {
void scaled_gemm(const Executor& executor, const ScaledArgs& args);
void quantize(const Executor& executor, const QuantizeArgs& args);
}  // namespace host
namespace device {
void scaled_gemm(const Executor& executor, const ScaledArgs& args);
void quantize(const Executor& executor, const QuantizeArgs& args);
}  // namespace device

inline constexpr KernelTable<ScaledArgs> kScaledGemm{"blas.scaled_gemm", host::scaled_gemm, device::scaled_gemm};
inline constexpr KernelTable<QuantizeArgs> kQuantize{"blas.quantize", host::quantize, device::quantize};

}  // namespace trn::blas
