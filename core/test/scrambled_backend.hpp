// A small device for tests: its memory holds every byte XOR 0xA5, so that reading or writing it without copy_out and
// copy_in gives wrong values, and it refuses addresses outside its live allocations.
#pragma once

#include <map>
#include <memory>
#include <new>
#include <string>
#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>

#include "support/message_of.hpp"

namespace trn::testing_support {

class ScrambledBackend final : public Backend {
 public:
  explicit ScrambledBackend(std::string name) : Backend(std::move(name), Family::Device) {}

  void* allocate(std::int64_t bytes) override {
    void* address = ::operator new (static_cast<std::size_t>(bytes), std::align_val_t{64});
    live_[static_cast<const std::byte*>(address)] = bytes;
    return address;
  }
  void deallocate(void* address, std::int64_t bytes) noexcept override {
    const auto found = live_.find(static_cast<const std::byte*>(address));
    if (found == live_.end() || found->second != bytes) ++bad_frees;
    live_.erase(static_cast<const std::byte*>(address));
    ::operator delete (address, std::align_val_t{64});
  }
  void copy_in(void* to, const void* from_host, std::int64_t bytes) override {
    ++copies_in;
    check(to, bytes);
    scramble(to, from_host, bytes);
  }
  void copy_out(void* to_host, const void* from, std::int64_t bytes) override {
    ++copies_out;
    check(from, bytes);
    scramble(to_host, from, bytes);
  }

  int copies_in = 0, copies_out = 0, bad_frees = 0;
  [[nodiscard]] std::size_t live_allocations() const { return live_.size(); }

 private:
  static void scramble(void* to, const void* from, std::int64_t bytes) {
    const auto* in = static_cast<const std::byte*>(from);
    auto* out = static_cast<std::byte*>(to);
    for (std::int64_t i = 0; i < bytes; ++i) out[i] = in[i] ^ std::byte{0xA5};
  }
  void check(const void* address, std::int64_t bytes) const {
    const auto* first = static_cast<const std::byte*>(address);
    auto after = live_.upper_bound(first);
    if (after == live_.begin() || first + bytes > std::prev(after)->first + std::prev(after)->second) {
      throw DeviceError("scrambled device: access outside its allocations");
    }
  }
  std::map<const std::byte*, std::int64_t> live_;
};

struct ScrambledDevice {
  explicit ScrambledDevice(const std::string& name = "fake:0")
      : backend(std::make_shared<ScrambledBackend>(name)), executor(backend) {}
  std::shared_ptr<ScrambledBackend> backend;
  Executor executor;
};

}  // namespace trn::testing_support
