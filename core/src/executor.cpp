// The host backend: ordinary memory, aligned for SIMD. The names of all executor kinds are resolved elsewhere.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>
#include <trn/core/instruction_set.hpp>

#ifdef __linux__
#include <sys/mman.h>
#endif

namespace trn {
namespace {

constexpr std::align_val_t kAlignment{64};

// Asks for large pages behind large blocks: the first touch of fresh memory costs one fault for 2 MiB instead of 512,
// and conversions that write much and read little take half the time.
void prefer_large_pages([[maybe_unused]] void* address, [[maybe_unused]] std::int64_t bytes) {
#ifdef MADV_HUGEPAGE
  constexpr std::uintptr_t kPage = 4096;
  constexpr std::int64_t kLarge = std::int64_t{4} << 20;
  if (bytes < kLarge) return;
  const std::uintptr_t begin = (reinterpret_cast<std::uintptr_t>(address) + kPage - 1) / kPage * kPage,
                       end = (reinterpret_cast<std::uintptr_t>(address) + static_cast<std::uintptr_t>(bytes)) / kPage *
                             kPage;
  (void)madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);  // a wish: no matter if it is refused
#endif
}

class HostBackend final : public Backend {
 public:
  HostBackend() : Backend("host", Family::Host) {}

  void* allocate(std::int64_t bytes) override {
    require(bytes >= 0, "host: allocation of {} bytes; the size must be >= 0", bytes);
    void* address = ::operator new(static_cast<std::size_t>(bytes), kAlignment, std::nothrow);
    if (!address)
      throw DeviceError(fmt::format("host: out of memory allocating {} bytes; free arrays or use smaller ones", bytes),
                        "over-capacity");
    prefer_large_pages(address, bytes);
    return address;
  }
  void deallocate(void* address, std::int64_t) noexcept override { ::operator delete(address, kAlignment); }
  void copy_in(void* to, const void* from_host, std::int64_t bytes) override { move_bytes(to, from_host, bytes); }
  void copy_out(void* to_host, const void* from, std::int64_t bytes) override { move_bytes(to_host, from, bytes); }
  void copy_within(void* to, const void* from, std::int64_t bytes) override { move_bytes(to, from, bytes); }

 private:
  static void move_bytes(void* to, const void* from, std::int64_t bytes) {
    if (bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }
};

}  // namespace

void Backend::pass_time(Event event, double) {
  if (events_.has_listeners()) events_.emit(event);
}

void Backend::copy_within(void* to, const void* from, std::int64_t bytes) {
  const auto block = std::make_unique_for_overwrite<std::byte[]>(static_cast<std::size_t>(bytes));
  copy_out(block.get(), from, bytes);
  copy_in(to, block.get(), bytes);
}

const char* name(Family family) {
  switch (family) {
    case Family::Host:
      return "host";
    case Family::Device:
      return "device";
  }
  fail<InternalError>("family: {} is not an enumerator", static_cast<int>(family));
}

Executor Executor::host() {
  static const Executor executor = [] {
    heed_instruction_set();
    return Executor(std::make_shared<HostBackend>());
  }();
  return executor;
}

}  // namespace trn
