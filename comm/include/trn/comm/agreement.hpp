// Agreement: together() in pieces, for an operation that computes and communicates by turns.
//
//   Agreement agreement(group);
//   agreement.attempt([&] { buffer.emplace(executor, shape); });   // may fail here and not elsewhere
//   ...                                                            // collective operations
//   agreement.settle();                                            // all go on, or all throw the same
//
// A rank whose attempt failed takes part in the collective operations that come before settle(): nobody waits for it.
#pragma once

#include <exception>
#include <utility>

#include <trn/comm/together.hpp>

namespace trn::comm {

class Agreement {
 public:
  explicit Agreement(Communicator group) : group_(std::move(group)) {}
  // Does nothing after a failure. CommError is not kept: the group is at its end.
  template <class F> void attempt(const F& work) {
    if (error_) return;
    try {
      work();
    } catch (const CommError&) {
      throw;
    } catch (...) {
      error_ = std::current_exception();
    }
  }
  [[nodiscard]] bool failed() const { return error_ != nullptr; }
  // Collective. Where some rank failed, every rank throws what the lowest of them threw.
  void settle() { detail::agree(group_, std::exchange(error_, nullptr)); }

 private:
  Communicator group_;
  std::exception_ptr error_;
};

}  // namespace trn::comm
