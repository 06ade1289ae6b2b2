// Element types that are chosen at run time.
#pragma once

#include <complex>
#include <initializer_list>

#include <trn_types.h>

#include "call.hpp"

namespace trn::capi {

using Type = trnDataType;

[[nodiscard]] inline Type real_of(Type type) {
  return type == TRN_C_32F ? TRN_R_32F : type == TRN_C_64F ? TRN_R_64F : type;
}
inline void require_one_type(std::initializer_list<Type> types) {
  for (const Type t : types)
    if (t != *types.begin())
      fail<NotImplemented>("operands and arithmetic of different types ({} and {})", static_cast<int>(*types.begin()),
                           static_cast<int>(t));
}
// Calls f(static_cast<T*>(nullptr)) for the type.
template <class F> void with_type(Type type, const F& f) {
  switch (type) {
    case TRN_R_32F:
      return f(static_cast<float*>(nullptr));
    case TRN_R_64F:
      return f(static_cast<double*>(nullptr));
    case TRN_C_32F:
      return f(static_cast<std::complex<float>*>(nullptr));
    case TRN_C_64F:
      return f(static_cast<std::complex<double>*>(nullptr));
    case TRN_R_16F:
    case TRN_R_16BF:
    case TRN_R_8I:
    case TRN_R_32I:
    case TRN_R_8F_E4M3:
    case TRN_R_8F_E4M3_240:
    case TRN_R_8F_E5M2:
    case TRN_R_4F_E2M1:
      fail<NotImplemented>("element type {}; there are float, double and their complex types", static_cast<int>(type));
  }
  fail<InvalidArgument>("element type {} is not known", static_cast<int>(type));
}
// The same for operands that all have one type, `types`, or its real type, `reals`.
template <class F> void by_type(std::initializer_list<Type> types, std::initializer_list<Type> reals, const F& f) {
  const Type type = *types.begin();
  require_one_type(types);
  for (const Type real : reals) require_one_type({real_of(type), real});
  with_type(type, f);
}
// Addresses of such operands.
template <class T> T* as(void* p) { return static_cast<T*>(p); }
template <class T> const T* as(const void* p) { return static_cast<const T*>(p); }

}  // namespace trn::capi
