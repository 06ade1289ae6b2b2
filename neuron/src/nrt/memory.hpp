// The memory of one core. A device address is a handle: a place in a range of addresses that the process has reserved
// and nobody may touch, so that arithmetic on addresses works and a host dereference ends the program at once. What
// lies there is a tensor of the runtime; a part of it is a slice.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "queue.hpp"

namespace trn::neuron::nrt {

// The reserved range, one for the process. Addresses are given out in order and come back only when the end is reached,
// so that a stale address is an error and not another array.
class Window {
 public:
  [[nodiscard]] static Window& of_process();
  explicit Window(std::uint64_t bytes);  // for tests: a small one
  // The first byte of `bytes` reserved ones and a guard page, page-aligned; 0 when the window is full.
  [[nodiscard]] std::uintptr_t take(std::uint64_t bytes);
  void give_back(std::uintptr_t begin) noexcept;
  [[nodiscard]] std::uint64_t bytes() const { return end_ - begin_; }

 private:
  std::mutex mutex_;
  std::uintptr_t begin_ = 0, end_ = 0, next_ = 0;
  std::map<std::uintptr_t, std::uintptr_t> taken_;  // begin and end, guard page included
};

struct Bound;  // model.hpp: tensor sets for one choice of addresses

struct Slice {
  std::size_t offset, bytes;
  Tensor* tensor;
  int uses;  // by tensor sets
};

// One array. It stays until the last run that uses it is over.
struct Block {
  std::uintptr_t begin = 0;
  std::size_t bytes = 0;
  Tensor* tensor = nullptr;    // null for no bytes
  std::uint64_t last_use = 0;  // the number of the last run that uses it
  std::list<Slice> slices;
  std::vector<Bound*> users;
};

class Memory {
 public:
  Memory(Runtime& runtime, int core, const std::unique_ptr<Queue>& queue)
      : runtime_(runtime), core_(core), queue_(queue) {}
  ~Memory();
  Memory(const Memory&) = delete;
  Memory& operator=(const Memory&) = delete;

  // A status that is not success leaves `block` alone.
  [[nodiscard]] Status allocate(std::size_t bytes, Block*& block);
  // The array that holds all `bytes` bytes from `address` on, or null.
  [[nodiscard]] Block* find(const void* address, std::size_t bytes);
  // Takes the array out: its address is not known any more. Null when there is none at this address.
  [[nodiscard]] std::unique_ptr<Block> take(void* address);
  // Gives it back to the runtime. No tensor set uses it any more.
  void release(std::unique_ptr<Block> block) noexcept;

  // The tensor for a part of an array: the array's own, or a slice, which is kept for the next time. `slice` is null
  // for the array's own.
  [[nodiscard]] Status part(Block& block, std::size_t offset, std::size_t bytes, Tensor*& tensor, Slice*& slice);
  void unuse(Block& block, Slice* slice) noexcept;

  [[nodiscard]] std::uint64_t bytes_in_use() const { return bytes_; }
  [[nodiscard]] std::size_t arrays() const { return blocks_.size(); }
  [[nodiscard]] std::vector<std::uintptr_t> addresses() const;
  // The core is lost: what is there is left to the runtime, and nothing is called any more.
  void abandon() { abandoned_ = true; }

 private:
  [[nodiscard]] bool may_free() const { return !abandoned_ && runtime_.usable(); }

  Runtime& runtime_;
  int core_;
  const std::unique_ptr<Queue>& queue_;
  bool abandoned_ = false;
  std::uint64_t bytes_ = 0, number_ = 0;
  std::map<std::uintptr_t, std::unique_ptr<Block>> blocks_;
};

}  // namespace trn::neuron::nrt
