// The functional half of the simulator: on-chip and HBM memory, and one execute() per instruction. It knows nothing of
// time or order; run.cpp decides what is executed when.
#pragma once

#include <memory>
#include <span>
#include <trn/neuron/sim.hpp>
#include <trn/tile/allocate.hpp>
#include <trn/tile/walk.hpp>

namespace trn::neuron::sim {

// Which bytes of HBM hold data. The simulated device keeps one for its allocations; bindings outside any known
// allocation count as initialised.
class HbmShadow {
 public:
  virtual ~HbmShadow() = default;
  // One byte per byte of memory from `address`: 0 = never written. Null when nothing is known about the address.
  virtual std::uint8_t* state(const void* address) = 0;
};

class Interpreter {
 public:
  // Every Input and Output must be bound. Program, machine, allocation and shadow outlive the interpreter.
  Interpreter(const tile::Program& program, const tile::Machine& machine, const tile::Allocation& allocation,
              const SimOptions& options, std::span<const tile::Binding> bindings, HbmShadow* shadow);
  ~Interpreter();

  void execute(std::int32_t instruction, const tile::Point& point);
  // Before iteration k of a dynamic loop: whether it runs. Throws DeviceError "trip-count" when there would be more
  // than the loop declares.
  [[nodiscard]] bool enters(std::int32_t loop, std::int64_t k, const tile::Point& point);
  // The end of the program: every Output element must have been written.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace trn::neuron::sim
