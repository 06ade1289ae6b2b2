// Handles and tensors: see memory.hpp.
#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <trn/core/error.hpp>

namespace trn::neuron::nrt {

namespace {

constexpr std::uint64_t kPage = 4096;
// ThreadSanitizer has no room for more than a part of it.
#if defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kWindow = std::uint64_t{64} << 30;
#else
constexpr std::uint64_t kWindow = std::uint64_t{16} << 40;
#endif
// Slices that no tensor set uses are kept up to this number in one array.
constexpr std::size_t kKeptSlices = 64;

std::uint64_t pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

}  // namespace

// Where the whole range is not to be had (a limit on address space, a sanitizer), less will do.
Window::Window(std::uint64_t bytes) {
  void* place = MAP_FAILED;
  for (bytes = pages(bytes); place == MAP_FAILED; bytes /= 2) {
    if (bytes < kPage)
      throw DeviceError("neuron: no range of addresses can be reserved; is RLIMIT_AS set?", "no-window");
    place = mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place != MAP_FAILED) end_ = reinterpret_cast<std::uintptr_t>(place) + bytes;
  }
  begin_ = next_ = reinterpret_cast<std::uintptr_t>(place);
}

Window& Window::of_process() {
  static Window& window = *new Window(kWindow);  // never destroyed: handles may outlive statics
  return window;
}

std::uintptr_t Window::take(std::uint64_t bytes) {
  if (bytes > end_ - begin_) return 0;
  const std::uint64_t size = pages(std::max<std::uint64_t>(bytes, 1)) + kPage;
  const std::scoped_lock lock(mutex_);
  // From the last place on to the end, then once more from the beginning.
  for (const bool wrapped : {false, true}) {
    std::uintptr_t at = wrapped ? begin_ : next_;
    auto live = taken_.lower_bound(at);
    if (live != taken_.begin() && std::prev(live)->second > at) at = std::prev(live)->second;
    for (; live != taken_.end() && live->first - at < size; ++live) at = live->second;
    if (end_ - at < size) continue;
    taken_.emplace_hint(live, at, at + size);
    next_ = at + size;
    return at;
  }
  return 0;
}

void Window::give_back(std::uintptr_t begin) noexcept {
  const std::scoped_lock lock(mutex_);
  taken_.erase(begin);
}

Memory::~Memory() {
  // What is left here is left to the runtime: the core is lost, or the process ends.
  for (const auto& [begin, block] : blocks_) Window::of_process().give_back(begin);
}

Status Memory::allocate(std::size_t bytes, Block*& block) {
  auto made = std::make_unique<Block>();
  made->bytes = bytes;
  made->begin = Window::of_process().take(bytes);
  if (made->begin == 0) return kResource;
  if (bytes > 0) {
    char name[32];
    std::snprintf(name, sizeof name, "trn%llu", static_cast<unsigned long long>(++number_));
    const Status status =
        quietly(*queue_, runtime_.call().nrt_tensor_allocate, kDeviceMemory, core_, bytes, name, &made->tensor);
    if (status != kSuccess) {
      Window::of_process().give_back(made->begin);
      return status;
    }
  }
  bytes_ += bytes;
  block = made.get();
  blocks_.emplace(made->begin, std::move(made));
  return kSuccess;
}

Block* Memory::find(const void* address, std::size_t bytes) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  auto found = blocks_.upper_bound(at);
  if (found == blocks_.begin()) return nullptr;
  Block& block = *std::prev(found)->second;
  const std::size_t offset = at - block.begin;
  return offset <= block.bytes && bytes <= block.bytes - offset ? &block : nullptr;
}

std::unique_ptr<Block> Memory::take(void* address) {
  const auto found = blocks_.find(reinterpret_cast<std::uintptr_t>(address));
  if (found == blocks_.end()) return nullptr;
  std::unique_ptr<Block> block = std::move(found->second);
  blocks_.erase(found);
  return block;
}

void Memory::release(std::unique_ptr<Block> block) noexcept {
  if (may_free()) {
    for (Slice& slice : block->slices) quietly(*queue_, runtime_.call().nrt_tensor_free, &slice.tensor);
    if (block->tensor) quietly(*queue_, runtime_.call().nrt_tensor_free, &block->tensor);
  }
  bytes_ -= block->bytes;
  Window::of_process().give_back(block->begin);
}

Status Memory::part(Block& block, std::size_t offset, std::size_t bytes, Tensor*& tensor, Slice*& slice) {
  slice = nullptr;
  tensor = block.tensor;
  if (offset == 0 && bytes == block.bytes) return kSuccess;
  const auto known = std::find_if(block.slices.begin(), block.slices.end(),
                                  [&](const Slice& s) { return s.offset == offset && s.bytes == bytes; });
  if (known == block.slices.end()) {
    char name[32];
    std::snprintf(name, sizeof name, "trn%llu", static_cast<unsigned long long>(++number_));
    Tensor* made = nullptr;
    const Status status =
        quietly(*queue_, runtime_.call().nrt_tensor_allocate_slice, block.tensor, offset, bytes, name, &made);
    if (status != kSuccess) return status;
    block.slices.push_back({offset, bytes, made, 0});
    slice = &block.slices.back();
  } else {
    slice = &*known;
  }
  ++slice->uses;
  tensor = slice->tensor;
  return kSuccess;
}

void Memory::unuse(Block& block, Slice* slice) noexcept {
  if (!slice || --slice->uses > 0 || block.slices.size() <= kKeptSlices || !may_free()) return;
  quietly(*queue_, runtime_.call().nrt_tensor_free, &slice->tensor);
  block.slices.remove_if([slice](const Slice& s) { return &s == slice; });
}

std::vector<std::uintptr_t> Memory::addresses() const {
  std::vector<std::uintptr_t> all;
  for (const auto& [begin, block] : blocks_) all.push_back(begin);
  return all;
}

}  // namespace trn::neuron::nrt
