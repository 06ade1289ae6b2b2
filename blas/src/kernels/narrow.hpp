// The kernels of stores in 16 or 8 bits, both families.
#pragma once

#include <cstdint>

#include <trn/core/dispatch.hpp>
#include <trn/core/dtype.hpp>
#include <trn/core/rounding.hpp>

namespace trn::blas {

// y = round(alpha x + beta y), m x n, m and n >= 1, strides in elements; fp32 in between, one rounding per operator.
// Without x (null) that term is missing, with beta = 0 the other: y is not read then. A vector is one row. y is narrow,
// or float32 in a copy of narrow numbers, which rounds nothing.
struct NarrowArgs {
  DType x_type, y_type;
  std::int64_t m, n;
  const void* x;
  std::int64_t xr, xc;
  void* y;
  std::int64_t yr, yc;
  float alpha, beta;
  Rounding rounding;
};

namespace host {
void narrow(const Executor& executor, const NarrowArgs& args);
}
namespace device {
void narrow(const Executor& executor, const NarrowArgs& args);
}

inline constexpr KernelTable<NarrowArgs> kNarrowAxpy{"blas.axpy", host::narrow, device::narrow};
inline constexpr KernelTable<NarrowArgs> kNarrowAxpby{"blas.axpby", host::narrow, device::narrow};
inline constexpr KernelTable<NarrowArgs> kNarrowScal{"blas.scal", host::narrow, device::narrow};
inline constexpr KernelTable<NarrowArgs> kRound{"blas.round", host::narrow,
                                                device::narrow};  // copies, and C after gemm

}  // namespace trn::blas
