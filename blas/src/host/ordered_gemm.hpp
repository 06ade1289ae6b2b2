// The host kernel of ordered_gemm.
#pragma once

#include <complex>
#include <cstdint>

namespace trn::blas::host {

// Element (i, j) at data[i * row + j * column]; conj: its conjugate is meant.
template <class T> struct OrderedOperand {
  const T* data;
  std::int64_t row, column;
  bool conj;
};

// C(i, j) at c[i * cm + j * cn], one of which is 1.
template <class T> void ordered_gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, OrderedOperand<T> a,
                                     OrderedOperand<T> b, T beta, T* c, std::int64_t cm, std::int64_t cn);

}  // namespace trn::blas::host
