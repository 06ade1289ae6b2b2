// The host kernel of ordered_gemm.
#pragma once

#include <complex>
#include <cstdint>

#include <trn/blas/ordered_gemm.hpp>

namespace trn::blas::host {

// Element (i, j) at data[i * row + j * column]; conj: its conjugate is meant.
template <class T> struct OrderedOperand {
  const T* data;
  std::int64_t row, column;
  bool conj;
};

// C(i, j) at c[i * cm + j * cn], one of which is 1. `piece` products are added before C is rounded.
template <class T> void ordered_gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, OrderedOperand<T> a,
                                     OrderedOperand<T> b, T beta, T* c, std::int64_t cm, std::int64_t cn,
                                     std::int64_t piece = kOrderedDepth);

}  // namespace trn::blas::host
