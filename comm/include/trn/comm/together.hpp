// together(): what may fail on one rank only (memory of a device, a file) and then has to fail on all, with the same
// error, so that nobody waits for a rank that gave up.
//
//   auto buffer = comm::together(group, [&] { return Array<float>(executor, shape); });
#pragma once

#include <exception>
#include <optional>
#include <type_traits>

#include <trn/comm/communicator.hpp>

namespace trn::comm {

namespace detail {
// Collective. Throws the error of the lowest rank that has one, on all ranks, "rank 2: " in front of its message.
void agree(const Communicator& group, const std::exception_ptr& mine);
}  // namespace detail

// f() on every rank; collective, and f itself must not be. A CommError passes as it is.
template <class F> auto together(const Communicator& group, const F& f) {
  std::exception_ptr error;
  if constexpr (std::is_void_v<decltype(f())>) {
    try {
      f();
    } catch (...) {
      error = std::current_exception();
    }
    detail::agree(group, error);
  } else {
    std::optional<decltype(f())> result;
    try {
      result.emplace(f());
    } catch (...) {
      error = std::current_exception();
    }
    detail::agree(group, error);
    return std::move(*result);
  }
}

}  // namespace trn::comm
