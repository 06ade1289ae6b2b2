// The map of the memory that was given out: see memory.hpp.
#include "memory.hpp"

#include <sys/mman.h>

#include <atomic>
#include <map>

#include <trn/core/stream.hpp>

#include "call.hpp"

namespace trn::capi {

namespace {

constexpr std::uintptr_t kAlignment = 256;

struct Registry {
  std::mutex mutex;
  std::map<std::uintptr_t, std::shared_ptr<const Block>> blocks;  // by first byte
};

// Never destroyed, as the devices.
Registry& registry() {
  static Registry& made = *new Registry;
  return made;
}

void insert(Block block) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  r.blocks[block.begin] = std::make_shared<const Block>(std::move(block));
}

// The block that holds the byte, with the registry locked.
std::shared_ptr<const Block> find(const Registry& r, std::uintptr_t at) {
  auto after = r.blocks.upper_bound(at);
  if (after == r.blocks.begin()) return nullptr;
  const auto& block = std::prev(after)->second;
  return at - block->begin < static_cast<std::uintptr_t>(block->bytes) ? block : nullptr;
}

bool strict_memory() {
  static const bool flag = flag_or_exit("TRN_STRICT_MEMORY");
  return flag;
}
// Addresses that nothing else has and nobody can read or write.
std::shared_ptr<void> untouchable(std::size_t bytes) {
  void* const pages = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (pages == MAP_FAILED) throw OutOfMemory(fmt::format("{} bytes of addresses could not be reserved", bytes));
  return {pages, [bytes](void* p) { munmap(p, bytes); }};
}

const char* name(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::Device:
      return "device";
    case MemoryKind::Managed:
      return "managed";
    case MemoryKind::Pinned:
      return "pinned host";
  }
  return "";
}

}  // namespace

void* allocate(MemoryKind kind, std::size_t bytes) {
  if (bytes == 0) return nullptr;
  require(bytes <= static_cast<std::size_t>(INT64_MAX) - kAlignment, "{} bytes are more than an address space has",
          bytes);
  Device& d = current_device();
  const Executor executor = kind == MemoryKind::Pinned ? Executor::host() : d.executor;
  // Backends align to 64 bytes: the block begins at the next multiple of 256.
  const auto size = static_cast<std::int64_t>(bytes);
  auto owner = std::make_shared<Buffer>(executor, size + static_cast<std::int64_t>(kAlignment) - 64);
  const auto begin = (reinterpret_cast<std::uintptr_t>(owner->data()) + kAlignment - 1) / kAlignment * kAlignment;
  if (kind == MemoryKind::Managed) {
    // The host will write there without telling the device, whose simulator refuses bytes that nobody wrote.
    const std::vector<std::byte> zeros(bytes);
    copy_bytes(Executor::host(), zeros.data(), executor, reinterpret_cast<void*>(begin), size);
    executor.synchronize();  // a queued executor would write them over what the host writes next
  }
  if (kind != MemoryKind::Device || !strict_memory()) {
    insert({kind, &d, begin, size, std::move(owner)});
    return reinterpret_cast<void*>(begin);
  }
  auto pages = untouchable(bytes);
  const auto shown = reinterpret_cast<std::uintptr_t>(pages.get());
  insert({kind, &d, shown, size, std::move(owner), static_cast<std::intptr_t>(begin - shown), std::move(pages)});
  return reinterpret_cast<void*>(shown);
}

void register_pinned(void* address, std::size_t bytes) {
  require(address && bytes > 0, "an empty range cannot be registered");
  require(bytes <= static_cast<std::size_t>(INT64_MAX) && reinterpret_cast<std::uintptr_t>(address) + bytes > bytes,
          "{} bytes are more than an address space has", bytes);
  {
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    const auto after = r.blocks.lower_bound(at);  // a block that begins within the range, or one that holds its begin
    if (find(r, at) || (after != r.blocks.end() && after->first - at < bytes))
      throw WithStatus(712, "this memory, or part of it, is registered or allocated already");
  }
  insert({MemoryKind::Pinned, &current_device(), reinterpret_cast<std::uintptr_t>(address),
          static_cast<std::int64_t>(bytes), nullptr});
}

void release(void* address, MemoryKind kind, bool registered) {
  if (!address) return;
  Registry& r = registry();
  std::shared_ptr<const Block> gone;  // freed outside the lock
  {
    const std::lock_guard lock(r.mutex);
    const auto found = r.blocks.find(reinterpret_cast<std::uintptr_t>(address));
    const bool ours =
        found != r.blocks.end() && (found->second->owner == nullptr) == registered &&
        (found->second->kind == kind || (kind == MemoryKind::Device && found->second->kind == MemoryKind::Managed));
    if (!ours && registered) throw WithStatus(713, "this memory was not registered");
    require(ours, "{} does not begin a block of {} memory; it was freed already, or comes from elsewhere", address,
            name(kind));
    gone = found->second;
  }
  synchronize(*gone->device);  // nothing queued may still use it
  const std::lock_guard lock(r.mutex);
  r.blocks.erase(reinterpret_cast<std::uintptr_t>(address));
}

void release_all(const Device& device) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::erase_if(r.blocks, [&](const auto& entry) {
    return entry.second->device == &device && entry.second->kind != MemoryKind::Pinned;
  });
}

std::int64_t allocated_bytes(const Device& device) {
  Registry& r = registry();
  const std::lock_guard lock(r.mutex);
  std::int64_t sum = 0;
  for (const auto& [begin, block] : r.blocks)
    if (block->device == &device && block->kind != MemoryKind::Pinned) sum += block->bytes;
  return sum;
}

namespace {
std::atomic<int> captures = 0;
thread_local std::vector<std::weak_ptr<const Block>> seen;
}  // namespace
void captures_changed(int by) { captures += by; }
const std::vector<std::weak_ptr<const Block>>& looked_up() { return seen; }
void forget_looked_up() noexcept {
  if (!seen.empty()) seen.clear();
}

std::shared_ptr<const Block> block_of(const void* address) {
  Registry& r = registry();
  std::shared_ptr<const Block> found;
  {
    const std::lock_guard lock(r.mutex);
    found = find(r, reinterpret_cast<std::uintptr_t>(address));
  }
  if (found && captures > 0 && current_queue() == 0)
    seen.push_back(found);  // the threads of streams make no calls, and end none
  return found;
}

void require_aligned(const char* what, const void* address, std::size_t alignment) {
  require(reinterpret_cast<std::uintptr_t>(address) % alignment == 0,
          "{} = {} is not a multiple of {} bytes, and its elements begin at such addresses", what, address, alignment);
}

std::intptr_t device_shift(const Device& device, const char* what, const void* address, std::int64_t bytes) {
  if (bytes == 0) return 0;
  require(address != nullptr, "{} is null", what);
  const auto block = block_of(address);
  require(block != nullptr && block->kind != MemoryKind::Pinned,
          "{} = {} is not device memory; allocate it with trnMalloc and copy the data there", what, address);
  require(block->device == &device, "{} lies on device {} and the call is for device {}", what, block->device->number,
          device.number);
  const std::int64_t room =
      block->bytes - static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(address) - block->begin);
  require(bytes <= room, "{} needs {} bytes and {} are left in its block", what, bytes, room);
  return block->shift;
}

}  // namespace trn::capi
