// SharedStack: what a simulated core has beside tile::Device, so that a group of cores knows which of them share an HBM
// stack: memory is counted once for all of them, and so is bandwidth (comm/src/clock.cpp).
#pragma once

namespace trn::tile {

class SharedStack {
 public:
  SharedStack() = default;
  virtual ~SharedStack() = default;
  SharedStack(const SharedStack&) = delete;
  SharedStack& operator=(const SharedStack&) = delete;

  // From now on this core has its arrays in the stack of another one. Throws InternalError when it has some already.
  virtual void share_stack_of(SharedStack& other) = 0;
  // What runs have read and written so far.
  [[nodiscard]] virtual double hbm_bytes() const = 0;
};

}  // namespace trn::tile
