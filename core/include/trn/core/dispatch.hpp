// Dispatch: one operation's kernels, one per family, and the call that picks by the executor's family and says so.
#pragma once

#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>

namespace trn {

// A library's src/kernels.hpp (or a file of src/kernels/) holds one of these per operation and argument type; a missing
// kernel is a null pointer. What a kernel has to say, a bound for instance, it returns.
template <class Args, class Result = void> struct KernelTable {
  const char* operation;  // "blas.gemm"
  Result (*host)(const Executor&, const Args&) = nullptr;
  Result (*device)(const Executor&, const Args&) = nullptr;
};

// The kernel for the executor's family; throws NotImplemented where there is none.
template <class Args, class Result>
[[nodiscard]] auto kernel_of(const KernelTable<Args, Result>& kernels, const Executor& executor) {
  const auto kernel = executor.family() == Family::Host ? kernels.host : kernels.device;
  if (!kernel) {
    fail<NotImplemented>("{}: no {} kernel for these types on executor '{}'; use an executor of the other family",
                         kernels.operation, name(executor.family()), executor.name());
  }
  return kernel;
}

template <class Args, class Result>
Result dispatch(const KernelTable<Args, Result>& kernels, const Executor& executor, const Args& args) {
  const auto kernel = kernel_of(kernels, executor);
  EventHub& events = executor.backend().events();
  if (events.has_listeners()) events.emit({EventKind::Dispatch, kernels.operation, name(executor.family())});
  return kernel(executor, args);
}

// The same without an event, for a question about an operation (its bound, the sizes it takes) that is answered without
// doing anything on the executor.
template <class Args, class Result>
[[nodiscard]] Result ask(const KernelTable<Args, Result>& kernels, const Executor& executor, const Args& args) {
  return kernel_of(kernels, executor)(executor, args);
}

}  // namespace trn
