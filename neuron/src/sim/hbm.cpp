// The memory of the simulated device: see hbm.hpp.
#include "sim/hbm.hpp"

#include <trn/core/error.hpp>

namespace trn::neuron {

std::int64_t HbmStack::used() const {
  const std::scoped_lock lock(mutex_);
  return used_;
}

bool HbmStack::take(std::int64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (bytes > capacity_ - used_) return false;
  used_ += bytes;
  return true;
}

void HbmStack::give_back(std::int64_t bytes) noexcept {
  const std::scoped_lock lock(mutex_);
  used_ -= bytes;
}

namespace sim {

void Hbm::use(std::shared_ptr<HbmStack> stack) {
  const std::scoped_lock lock(mutex_);
  ensure(blocks_.empty(), "{}: has arrays in its stack already", owner_);
  stack_ = std::move(stack);
}

void* Hbm::allocate(std::int64_t bytes) {
  if (!stack_->take(bytes)) return nullptr;
  // Both grow with what is touched: a large array costs nothing until it is used.
  std::unique_ptr<Block> block;
  try {
    block = std::make_unique<Block>(bytes, stack_);
  } catch (...) {
    stack_->give_back(bytes);
    throw;
  }
  std::byte* address = block->data.data();
  const std::scoped_lock lock(mutex_);
  blocks_.emplace(address, std::move(block));
  return address;
}

std::unique_ptr<Hbm::Block> Hbm::take(void* address) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto found = blocks_.find(static_cast<std::byte*>(address));
  if (found == blocks_.end()) return nullptr;
  std::unique_ptr<Block> block = std::move(found->second);
  blocks_.erase(found);
  return block;
}

std::uint8_t* Hbm::require_inside(const void* address, std::int64_t bytes, const std::string& what) {
  const std::scoped_lock lock(mutex_);
  const auto* at = static_cast<const std::byte*>(address);
  const auto next = blocks_.upper_bound(at);
  const Block* block = next == blocks_.begin() ? nullptr : std::prev(next)->second.get();
  const std::int64_t offset = block ? at - block->data.data() : 0;
  if (!block || offset + bytes > block->bytes) {
    throw DeviceError(
        fmt::format("{}: {} {} bytes at {} reaches outside the arrays of this device; allocate them on it, "
                    "with room for every element of the view",
                    owner_, what, bytes, address),
        "out-of-bounds");
  }
  return reinterpret_cast<std::uint8_t*>(block->written.data()) + offset;
}

}  // namespace sim

}  // namespace trn::neuron
