// Calls of the libraries for silicon-check's section "operations": every operation that has a device kernel, for every
// element type, at small shapes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <trn/core/executor.hpp>

namespace trn::tools::silicon {

struct Call {
  std::string name;
  // Throws NotImplemented where the executor's machine does not have it.
  std::function<void(const Executor&)> run;
};
// The rows of `trnsci coverage` for blas, solver and tensor, and what these tables lack. tests/check_silicon.py holds
// the operations that all of them dispatch against the kernel tables of the libraries.
[[nodiscard]] std::vector<Call> calls();

}  // namespace trn::tools::silicon
