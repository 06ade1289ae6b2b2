// cuBLAS's routines for element types chosen at run time (Ex) that are complex floats alone. The table makes most of
// the others from the templates; typed.cpp and gemm_ex.cpp have the rest.
#pragma once

#include "../element_types.hpp"
#include "extended.hpp"

namespace trn::capi::blas {

inline void require_complex_floats(Type a, Type b) {
  if (a != TRN_C_32F || b != TRN_C_32F) fail<NotImplemented>("matrices that are not complex floats");
}
template <class T> void syrk_ex(Call& c, UploArg uplo, OpArg trans, Int n, Int k, const T* alpha, const void* a,
                                Type a_type, Int lda, const T* beta, void* to, Type c_type, Int ldc) {
  require_complex_floats(a_type, c_type);
  syrk(c, uplo, trans, n, k, alpha, as<T>(a), lda, beta, as<T>(to), ldc);
}
template <class T> void herk_ex(Call& c, UploArg uplo, OpArg trans, Int n, Int k, const Real<T>* alpha, const void* a,
                                Type a_type, Int lda, const Real<T>* beta, void* to, Type c_type, Int ldc) {
  require_complex_floats(a_type, c_type);
  herk(c, uplo, trans, n, k, alpha, as<T>(a), lda, beta, as<T>(to), ldc);
}

}  // namespace trn::capi::blas
