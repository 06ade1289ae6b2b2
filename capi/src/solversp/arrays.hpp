// Arrays of callers that lie in host or in device memory, as cuSOLVER's names say: those in Host take host memory.
#pragma once

#include "../sparse/operands.hpp"

namespace trn::capi::solversp {

using blas::Call;
using Int = std::int64_t;

enum class Where : std::uint8_t { Host, Device };

template <class T> [[nodiscard]] std::vector<T> get(Call& c, Where where, const char* what, const T* from, Int n) {
  if (where == Where::Device) return sparse::fetch<T>(c, what, from, n);
  require(n >= 0 && (n == 0 || from != nullptr), "{} has {} elements, or its address is null", what, n);
  return {from, from + n};
}
template <class T> void put(Call& c, Where where, const char* what, T* to, const std::vector<T>& from) {
  if (where == Where::Device) return sparse::store(c, what, to, from);
  require(from.empty() || to != nullptr, "{} is null", what);
  std::copy(from.begin(), from.end(), to);
}

}  // namespace trn::capi::solversp
