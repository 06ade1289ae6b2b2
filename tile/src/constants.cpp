// Constants on a device by content: see constants.hpp.
#include <trn/core/error.hpp>
#include <trn/core/executor.hpp>
#include <trn/tile/constants.hpp>
#include <utility>

namespace trn::tile {

namespace {

// Every constant is an allocation, and those of generators change with every call.
constexpr std::size_t kMost = 256;

}  // namespace

Constants::Held::Held(Held&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)), entry_(other.entry_) {}

Constants::Held::~Held() {
  if (owner_) owner_->release(entry_);
}

const void* Constants::Held::data() const { return entry_->address; }

Constants::Held Constants::get(std::span<const std::byte> bytes, const std::string& subject) {
  const std::string_view content(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  Place entry;
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = by_content_.find(content); found != by_content_.end()) {
      entry = found->second;
      entries_.splice(entries_.begin(), entries_, entry);
      ++entry->uses;
      return {*this, entry};
    }
    const auto size = static_cast<std::int64_t>(bytes.size());
    shrink(limit_ - size);
    // Whoever finds it uses it at once: it is there, or at least before that use in the device's queue.
    void* address = upload(bytes);
    entries_.emplace_front(Entry{std::string(content), address, 1});
    entry = entries_.begin();
    by_content_.emplace(entry->content, entry);
    bytes_ += size;
  }
  Held held(*this, entry);
  EventHub& events = backend_.events();
  if (events.has_listeners()) {
    Event event{EventKind::Constant, subject, {}, static_cast<std::int64_t>(bytes.size())};
    event.begin = event.end = backend_.clock();
    events.emit(event);
  }
  return held;
}

std::int64_t Constants::bytes() const {
  const std::scoped_lock lock(mutex_);
  return bytes_;
}

void* Constants::upload(std::span<const std::byte> bytes) {
  const auto size = static_cast<std::int64_t>(bytes.size());
  void* address = nullptr;
  try {
    address = backend_.allocate(size);
  } catch (const DeviceError&) {
    shrink(0);  // the memory is full: what is kept without need goes first
    address = backend_.allocate(size);
  }
  try {
    backend_.copy_in(address, bytes.data(), size);
  } catch (...) {
    backend_.deallocate(address, size);
    throw;
  }
  return address;
}

void Constants::release(Place entry) noexcept {
  const std::scoped_lock lock(mutex_);
  --entry->uses;
  shrink(limit_);
}

void Constants::shrink(std::int64_t limit) noexcept {
  for (auto at = entries_.end(); (bytes_ > limit || entries_.size() >= kMost) && at != entries_.begin();) {
    --at;
    if (at->uses > 0) continue;
    const auto size = static_cast<std::int64_t>(at->content.size());
    by_content_.erase(at->content);
    backend_.deallocate(at->address, size);
    bytes_ -= size;
    at = entries_.erase(at);
  }
}

}  // namespace trn::tile
