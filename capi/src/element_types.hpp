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
    default:
      fail<NotImplemented>("element type {}; there are float, double and their complex types", static_cast<int>(type));
  }
}

}  // namespace trn::capi
