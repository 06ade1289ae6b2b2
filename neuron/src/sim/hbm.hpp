// HBM of the simulated device: one stack, which the cores that share it draw from, and one core's arrays in it. An
// array is host memory that knows which of its bytes were ever written.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "sim/memory.hpp"

namespace trn::neuron {

// How much of one stack is in use, by all its cores.
class HbmStack {
 public:
  explicit HbmStack(std::int64_t capacity) : capacity_(capacity) {}
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  [[nodiscard]] std::int64_t used() const;
  // False when there is not as much left.
  [[nodiscard]] bool take(std::int64_t bytes);
  void give_back(std::int64_t bytes) noexcept;

 private:
  mutable std::mutex mutex_;
  std::int64_t capacity_, used_ = 0;
};

namespace sim {

// The arrays of one core. `owner` names it in messages.
class Hbm {
 public:
  // One array: while it is held its memory stays, and counts as used.
  struct Block {
    Block(std::int64_t size, std::shared_ptr<HbmStack> from)
        : bytes(size), data(size), written(size), stack(std::move(from)) {}
    ~Block() { stack->give_back(bytes); }
    Block(const Block&) = delete;
    Block& operator=(const Block&) = delete;
    std::int64_t bytes;
    LazyBytes data, written;  // written: not zero where something was
    std::shared_ptr<HbmStack> stack;
  };

  Hbm(std::string owner, std::shared_ptr<HbmStack> stack) : owner_(std::move(owner)), stack_(std::move(stack)) {}
  [[nodiscard]] const HbmStack& stack() const { return *stack_; }
  [[nodiscard]] const std::shared_ptr<HbmStack>& shared_stack() const { return stack_; }
  // Another stack, before the first array.
  void use(std::shared_ptr<HbmStack> stack);

  // Null when the stack has not as much left.
  [[nodiscard]] void* allocate(std::int64_t bytes);
  // Takes the array away from the core; it is free when the result goes.
  [[nodiscard]] std::unique_ptr<Block> take(void* address) noexcept;
  // The written-state of `bytes` bytes from `address` on, all inside one array; throws DeviceError otherwise. `what`
  // opens the message.
  [[nodiscard]] std::uint8_t* require_inside(const void* address, std::int64_t bytes, const std::string& what);

 private:
  std::string owner_;
  std::shared_ptr<HbmStack> stack_;
  std::mutex mutex_;
  std::map<const std::byte*, std::unique_ptr<Block>> blocks_;
};

}  // namespace sim

}  // namespace trn::neuron
