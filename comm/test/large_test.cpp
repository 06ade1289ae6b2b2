// Counts and offsets beyond 32 bits, in little memory: addresses that show the same 16 MiB again and again, with pages
// of their own at the end.
#include <sys/mman.h>
#include <unistd.h>
#include <trn/comm/collectives.hpp>

#include "ranks.hpp"

namespace trn::comm {
namespace {

using namespace testing_support;

constexpr std::int64_t kPiece = std::int64_t{16} << 20, kRepeated = std::int64_t{1} << 32, kEnd = 8192;

class LargeMemory {
 public:
  LargeMemory() : file_(memfd_create("comm_test", 0)) {
    const int none = PROT_NONE, both = PROT_READ | PROT_WRITE;
    if (file_ < 0 || ftruncate(file_, kPiece) != 0) throw std::bad_alloc();
    void* base = mmap(nullptr, kRepeated + kEnd, none, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (base == MAP_FAILED) throw std::bad_alloc();
    data_ = static_cast<std::uint8_t*>(base);
    for (std::int64_t at = 0; at < kRepeated; at += kPiece) {
      if (mmap(data_ + at, kPiece, both, MAP_SHARED | MAP_FIXED, file_, 0) == MAP_FAILED) throw std::bad_alloc();
    }
    if (mprotect(data_ + kRepeated, kEnd, both) != 0) throw std::bad_alloc();
  }
  ~LargeMemory() {
    munmap(data_, kRepeated + kEnd);
    close(file_);
  }
  LargeMemory(const LargeMemory&) = delete;
  LargeMemory& operator=(const LargeMemory&) = delete;
  [[nodiscard]] std::uint8_t* data() const { return data_; }

 private:
  int file_;
  std::uint8_t* data_ = nullptr;
};

// ThreadSanitizer keeps several bytes for every byte that was touched, by its address.
#if !defined(__SANITIZE_THREAD__)
TEST(Large, MoreThan32BitsOfBytes) {
  constexpr std::int64_t kCount = kRepeated + kEnd - 5;
  on_ranks(2, [](const Communicator& c) {
    const LargeMemory memory;
    if (c.rank() == 1) {
      for (std::int64_t i = 0; i < kEnd; ++i) memory.data()[kRepeated + i] = static_cast<std::uint8_t>(i % 251 + 1);
      memory.data()[0] = 77;
    }
    broadcast(c, 1, View<std::uint8_t>(Executor::host(), memory.data(), {kCount}));
    ASSERT_EQ(memory.data()[0], 77);
    ASSERT_EQ(memory.data()[kRepeated - kPiece], 77);
    for (std::int64_t i = 0; i < kEnd; ++i) {
      const bool moved = kRepeated + i < kCount || c.rank() == 1;
      ASSERT_EQ(memory.data()[kRepeated + i], moved ? i % 251 + 1 : 0) << i;
    }
  });
}
#endif

TEST(Large, OffsetsBeyond32Bits) {
  on_ranks(3, [](const Communicator& c) {
    const LargeMemory from, to;
    // Rank r's three bytes for rank s lie at the end.
    for (int s = 0; s < 3; ++s) {
      for (int i = 0; i < 3; ++i) {
        from.data()[kRepeated + 100 * s + i] = static_cast<std::uint8_t>(100 * c.rank() + 10 * s + i);
      }
    }
    const std::vector<std::int64_t> bytes(3, 3), out{kRepeated, kRepeated + 100, kRepeated + 200};
    const std::vector<std::int64_t> in{kRepeated + 2000, kRepeated + 1000, kRepeated};
    c.transport().all_to_all(from.data(), bytes, out, to.data(), bytes, in);
    for (int r = 0; r < 3; ++r) {
      for (int i = 0; i < 3; ++i) {
        ASSERT_EQ(to.data()[in[static_cast<std::size_t>(r)] + i], 100 * r + 10 * c.rank() + i);
      }
    }
  });
}

}  // namespace
}  // namespace trn::comm
