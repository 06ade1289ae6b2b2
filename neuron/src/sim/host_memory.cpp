// Host memory of the simulated memories: see host_memory.hpp.
#include "sim/host_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <trn/core/error.hpp>
#include <utility>

namespace trn::neuron::sim {

namespace {

std::byte* map(std::size_t size) {
  void* address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (address == MAP_FAILED) fail<DeviceError>("simulator: the host refused {} bytes for simulated memory", size);
  ::madvise(address, size, MADV_HUGEPAGE);  // fewer page faults where the host allows it; no matter if it does not
  return static_cast<std::byte*>(address);
}

// Below this size clearing is cheaper than a mapping and its page faults.
constexpr std::size_t kMapped = std::size_t{128} << 10;
constexpr std::size_t kAlignment = 64;

// What ReusedBytes keeps: a list of blocks for each power of two. The link is in the block itself, so keeping one
// allocates nothing. Constant-initialised and never destroyed: a queue may release memory while the process ends.
struct Block {
  Block* next;
};
struct Kept {
  std::mutex mutex;
  std::array<Block*, 64> blocks{};
  std::size_t bytes = 0;
};
constinit Kept kept;

}  // namespace

LazyBytes::LazyBytes(std::int64_t bytes) {
  auto size = static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1));
  std::byte* address = nullptr;
  if (size < kMapped) {
    size = (size + kAlignment - 1) / kAlignment * kAlignment;
    address = static_cast<std::byte*>(std::aligned_alloc(kAlignment, size));
    if (!address) fail<DeviceError>("simulator: the host refused {} bytes for simulated memory", size);
    std::memset(address, 0, size);
  } else {
    address = map(size);
  }
  data_ = std::unique_ptr<std::byte, Release>(address, Release{size});
}

void LazyBytes::Release::operator()(std::byte* address) const {
  if (bytes < kMapped) {
    std::free(address);
  } else {
    ::munmap(address, bytes);
  }
}

ReusedBytes::ReusedBytes(std::int64_t bytes, bool zero)
    : size_(std::bit_ceil(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 4096)))), keep_(!zero) {
  if (keep_) {
    const std::scoped_lock lock(kept.mutex);
    Block*& first = kept.blocks[static_cast<std::size_t>(std::countr_zero(size_))];
    if (first) {
      data_ = reinterpret_cast<std::byte*>(std::exchange(first, first->next));
      kept.bytes -= size_;
      return;
    }
  }
  data_ = map(size_);
}

ReusedBytes::~ReusedBytes() {
  if (keep_) {
    const std::scoped_lock lock(kept.mutex);
    if (kept.bytes + size_ <= kKept) {
      Block*& first = kept.blocks[static_cast<std::size_t>(std::countr_zero(size_))];
      first = new (data_) Block{first};
      kept.bytes += size_;
      return;
    }
  }
  ::munmap(data_, size_);
}

}  // namespace trn::neuron::sim
