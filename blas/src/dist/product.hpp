// The one product behind gemm, syrk and herk on distributed operands: stationary C (SUMMA), over a region of C.
#pragma once

#include "region.hpp"

namespace trn::blas::distributed {

template <class T> struct Product {
  const char* operation;
  Op op_a, op_b;
  T alpha, beta;
  Region region = Region::All;
  bool hermitian = false;  // the diagonal of C is real
  bool square = false;     // op(B) is op(A) transposed
};

// Collective; operands were checked. The accuracy is the same on all ranks.
template <class T> Accuracy multiply(const Product<T>& p, const dist::Matrix<T>& a, const dist::Matrix<T>& b,
                                     const dist::Matrix<T>& c, Mode mode);

// Refuses a target, and a mode that the executor does not have.
void check_precision(const char* operation, const Precision& precision, DType dtype, Family family);

}  // namespace trn::blas::distributed
