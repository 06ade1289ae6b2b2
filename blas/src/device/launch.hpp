// What the launches of the product kernels share: factors as inputs, programs from the cache, and C = beta C where
// nothing is multiplied.
#pragma once

#include <complex>
#include <trn/blas/gemm_program.hpp>
#include <trn/core/executor.hpp>

namespace trn::blas::device {

// One run of the product kernel. Strides of the shape count elements of its dtype and its factors are set from alpha
// and beta. alpha = 0 and k = 0 give C = beta C.
struct ProductCall {
  GemmShape shape;
  const void *a, *b;
  void* c;
  std::complex<double> alpha, beta;
};
void run_product(const Executor& executor, const ProductCall& call);

// C = beta * C, or of a square C one triangle; hermitian: the diagonal's imaginary parts become zero.
struct ScaleShape {
  DType dtype = DType::Float32;
  std::int64_t m = 1, n = 1, cm = 1, cn = 1;  // strides in real numbers
  Factor beta = Factor::Zero;
  Region region = Region::All;
  bool hermitian = false;
  bool operator==(const ScaleShape&) const = default;
};
[[nodiscard]] tile::Program scale_program(const ScaleShape& shape, const tile::Machine& machine);

}  // namespace trn::blas::device
