// Constants: small arrays that programs read and nobody writes (factors, tables, generator states), kept on the device
// by their content. The second call with the same values uploads nothing. Up to a limit of bytes; the one that was not
// used for the longest time goes first.
#pragma once

#include <cstdint>
#include <list>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

namespace trn {
class Backend;
}

namespace trn::tile {

class Constants {
  struct Entry {
    std::string content;
    void* address = nullptr;
    int uses = 0;
  };
  using Place = std::list<Entry>::iterator;

 public:
  explicit Constants(Backend& backend, std::int64_t limit_bytes = std::int64_t{8} << 20)
      : backend_(backend), limit_(limit_bytes) {}
  // The memory goes with the device.
  ~Constants() = default;
  Constants(const Constants&) = delete;
  Constants& operator=(const Constants&) = delete;

  // Memory with these bytes, which stays while this is held. Runs are ordered before what is freed afterwards, so it
  // may go as soon as the run is asked for.
  class Held {
   public:
    Held(Held&& other) noexcept;
    Held& operator=(Held&&) = delete;
    ~Held();
    [[nodiscard]] const void* data() const;

   private:
    friend class Constants;
    Held(Constants& owner, Place entry) : owner_(&owner), entry_(entry) {}
    Constants* owner_;
    Place entry_;
  };
  // `subject` names what needs it in the Constant event of an upload. More bytes than the limit go when they are let
  // go.
  [[nodiscard]] Held get(std::span<const std::byte> bytes, const std::string& subject);

  [[nodiscard]] std::int64_t bytes() const;

 private:
  void release(Place entry) noexcept;
  // Frees entries that nobody holds until at most `limit` bytes are left, as far as that goes; the lock is held.
  void shrink(std::int64_t limit) noexcept;
  void* upload(std::span<const std::byte> bytes);

  Backend& backend_;
  std::int64_t limit_, bytes_ = 0;
  mutable std::mutex mutex_;
  std::list<Entry> entries_;  // latest use first
  std::unordered_map<std::string_view, Place> by_content_;
};

}  // namespace trn::tile
