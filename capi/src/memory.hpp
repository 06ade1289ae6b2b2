// The memory that the C API gave out: an interval map from addresses to blocks. Every address argument of every
// routine is looked up here with its whole extent, so that host memory handed over as device memory, a matrix one
// element too long, or a freed block is a status and not a wrong result.
//
// Strict memory (TRN_STRICT_MEMORY=1): the caller gets addresses of pages that cannot be touched, and the bytes lie
// elsewhere. A program that reads device memory from the host then ends with SIGSEGV here as it would on Trainium.
// Every address goes through device_memory() on its way to a kernel.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>

#include <trn/core/array.hpp>

#include "device.hpp"

namespace trn::capi {

enum class MemoryKind : std::uint8_t { Device, Managed, Pinned };

struct Block {
  MemoryKind kind;
  Device* device;
  std::uintptr_t begin;  // what the caller knows
  std::int64_t bytes;
  std::shared_ptr<Buffer> owner;          // null for memory of the caller that was registered
  std::intptr_t shift = 0;                // from what the caller knows to where the bytes lie
  std::shared_ptr<void> pages = nullptr;  // strict memory: what the caller's addresses reserve
};

// 256-byte aligned; null for 0 bytes.
[[nodiscard]] void* allocate(MemoryKind kind, std::size_t bytes);
// A pageable range of the caller's becomes pinned.
void register_pinned(void* address, std::size_t bytes);
// Throws InvalidArgument (WithStatus for registered memory) unless `address` begins a block of that kind.
void release(void* address, MemoryKind kind, bool registered = false);
void release_all(const Device& device);

// While a stream is captured (+1 at its begin, -1 at its end): the blocks that the current call has looked up in
// its own thread. They are forgotten at the end of the call.
void captures_changed(int by);
[[nodiscard]] const std::vector<std::weak_ptr<const Block>>& looked_up();
void forget_looked_up() noexcept;

// The block that holds `address`, if it is one of ours.
[[nodiscard]] std::shared_ptr<const Block> block_of(const void* address);

// Device and managed bytes that are given out on a device.
[[nodiscard]] std::int64_t allocated_bytes(const Device& device);

// Where the bytes of an address of the caller's lie. Throws InvalidArgument unless [address, address + bytes) is
// device (or managed) memory of `device`. 0 bytes are always right: the address as it is. `what` names the argument.
[[nodiscard]] std::intptr_t device_shift(const Device& device, const char* what, const void* address,
                                         std::int64_t bytes);
// Throws InvalidArgument unless an element may begin there.
void require_aligned(const char* what, const void* address, std::size_t alignment);
template <class T>
[[nodiscard]] T* device_memory(const Device& device, const char* what, T* address, std::int64_t bytes) {
  const std::intptr_t shift = device_shift(device, what, address, bytes);
  if constexpr (!std::is_void_v<T>) {
    if (bytes > 0) require_aligned(what, address, alignof(T));
  }
  return reinterpret_cast<T*>(reinterpret_cast<std::intptr_t>(address) + shift);
}

}  // namespace trn::capi
