// Host memory behind the simulated memories. Two kinds: zero bytes (HBM arrays and what is known about them), and bytes
// whose old content nobody reads (SBUF and PSUM), which a run hands to the next. A fresh page costs the host half a
// microsecond: with fresh memory for every run a small program would spend most of its time there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace trn::neuron::sim {

// Zero bytes. Large ones come from the operating system, which gives real pages only to what is touched.
class LazyBytes {
 public:
  explicit LazyBytes(std::int64_t bytes);
  [[nodiscard]] std::byte* data() const { return data_.get(); }

 private:
  struct Release {
    std::size_t bytes;
    void operator()(std::byte* address) const;
  };
  std::unique_ptr<std::byte, Release> data_;
};

// Bytes of any content, or zero bytes where `zero` asks for them. Released ones are kept for the next who wants as many
// (rounded up to a power of two), up to kKept bytes of all threads together; the rest goes back to the system.
class ReusedBytes {
 public:
  static constexpr std::size_t kKept = std::size_t{32} << 20;
  ReusedBytes(std::int64_t bytes, bool zero);
  ~ReusedBytes();
  ReusedBytes(const ReusedBytes&) = delete;
  ReusedBytes& operator=(const ReusedBytes&) = delete;
  [[nodiscard]] std::byte* data() const { return data_; }

 private:
  std::size_t size_;
  bool keep_;
  std::byte* data_;
};

}  // namespace trn::neuron::sim
