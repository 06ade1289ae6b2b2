// The bodies of cuSPARSE's routines: everything that capi/api/sparse.api names. A handle is a cuBLAS handle of another
// name: the same device, stream, pointer mode and look-up of addresses. Products with dense matrices (SpMV, SpMM,
// SDDMM) run where the handle is; what trn::sparse does on the host alone is NOT_SUPPORTED on a device.
#pragma once

#include <trnsparse.h>

#include "../blas/handle.hpp"
#include "descriptors.hpp"

struct trnsparseContext : trnblasContext {
  using trnblasContext::trnblasContext;
};

namespace trn::capi::sparse {

using blas::Call;
struct Face : Statuses<trnsparseStatus_t, 1, 3, 10, 2, 6, 7> {
  using Call = blas::Call;
  static auto find(trnsparseHandle_t handle) { return living(handle); }
};
using blas::get_stream, blas::set_stream;

// A call of a routine without scalars of the host's, which a captured stream may keep for later.
template <class F>
trnsparseStatus_t call_captured(trnsparseHandle_t handle, const char* function, const F& body) noexcept {
  const auto live = alive<trnsparseContext>().get(handle);
  if (!live || !live->stream->captured()) return call<Face>(handle, function, body);
  return call<Face>(function, [&] {
    enqueue(*live->stream, [live, body] {
      Call c(*live);
      body(c);
    });
  });
}

// Routines find memory of their own: a few bytes will do for a buffer. Descriptors and sizes are checked.
template <class A> void check_argument(A value) {
  if constexpr (std::is_same_v<A, int>) require(value >= 0, "a size is {}", value);
  if constexpr (requires { look(value); }) (void)look(value);
}
template <class... A> void prepare(Call&, A... arguments) { (check_argument(arguments), ...); }
template <class... A> void buffer_size(Call& c, A... arguments) {
  prepare(c, arguments...);
  auto* const result = std::get<sizeof...(A) - 1>(std::tuple(arguments...));
  require(result != nullptr, "the address of the buffer's size is null");
  *result = 16;
}

}  // namespace trn::capi::sparse

#include "sparse_bodies.hpp"
