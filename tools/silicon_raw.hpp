// Questions of silicon-check that go to the runtime itself: the executor refuses these things before the runtime sees
// them, so that only its own functions can tell what it does. On a core that nobody uses meanwhile.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <trn/core/executor.hpp>

#include "nrt/declarations.hpp"
#include "nrt/model.hpp"

namespace trn::tools::silicon {

class Raw {
 public:
  // Throws InvalidArgument for an executor that is not `neuron`.
  explicit Raw(const Executor& executor);

  // How the runtime takes a file: "loaded", or "status N". What it loads is unloaded.
  [[nodiscard]] std::string load(std::span<const std::byte> neff) const;
  // The file of a program, compiled as the executor does it.
  [[nodiscard]] neuron::nrt::Compiled compile(const tile::Program& program) const;

  // y = 2 x + 1 (line_program) with x and y in one allocation, the very same tensor or slices of which half overlaps:
  // "right", "wrong", or "status N at FUNCTION".
  [[nodiscard]] std::string run_in_one(std::int64_t columns, bool same_tensor) const;
  // The same with x on another core.
  [[nodiscard]] std::string run_across(std::int64_t columns, const Executor& other) const;
  // A run of some seconds while the runtime's own limit is one second: "status 5 at nrt_execute", "over in time". The
  // core may be lost afterwards.
  [[nodiscard]] std::string run_beyond_the_limit() const;
  // A tensor, or a slice, of no bytes: "given" or "status N".
  [[nodiscard]] std::string empty_tensor(bool slice) const;
  // How many runs the queue takes before it is full, up to `most`: "64", "over 256"; and whether any run was seen to be
  // over before one that was scheduled earlier: "in order", "out of order".
  [[nodiscard]] std::string queue_depth(int most) const;
  [[nodiscard]] std::string completion_order() const;
  // Two threads that write and read tensors of this core at the same time: "right" or what went wrong.
  [[nodiscard]] std::string two_threads() const;
  // A child made by fork() that calls the runtime, ended after some seconds: "status N", "ended by signal N", "hangs".
  [[nodiscard]] std::string forked_child() const;

 private:
  const Executor executor_;
  neuron::nrt::Core& core_;
};

// As the last question to a runtime: closes it, and how it starts again: "starts", "status N".
[[nodiscard]] std::string restarted_runtime();

}  // namespace trn::tools::silicon
