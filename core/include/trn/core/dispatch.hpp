// Dispatch: one operation's kernels, one per family, and the call that picks by the executor's family and says so.
#pragma once

#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>

namespace trn {

// A library's src/kernels.hpp holds one of these per operation and argument type; a missing kernel is a null pointer.
template <class Args> struct KernelTable {
  const char* operation;  // "blas.gemm"
  void (*host)(const Executor&, const Args&) = nullptr;
  void (*device)(const Executor&, const Args&) = nullptr;
};

template <class Args> void dispatch(const KernelTable<Args>& kernels, const Executor& executor, const Args& args) {
  const auto kernel = executor.family() == Family::Host ? kernels.host : kernels.device;
  if (!kernel) {
    fail<NotImplemented>("{}: no {} kernel for these types on executor '{}'; use an executor of the other family",
                         kernels.operation, name(executor.family()), executor.name());
  }
  EventHub& events = executor.backend().events();
  if (events.has_listeners()) events.emit({EventKind::Dispatch, kernels.operation, name(executor.family())});
  kernel(executor, args);
}

}  // namespace trn
