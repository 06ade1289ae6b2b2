// Events: every allocation, copy, dispatch, program build, cache hit and run tells the executor's listeners what it did.
// Tests assert on them (which family ran? was anything copied?), the bench command reads modelled time from them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace trn {

enum class EventKind : std::uint8_t { Allocate, Free, Copy, Dispatch, Build, CacheHit, Run };
[[nodiscard]] const char* name(EventKind kind);

struct Event {
  EventKind kind;
  std::string subject;           // operation ("blas.gemm"), program name, or copy direction
  std::string family = {};       // Dispatch: "host" or "device"
  std::int64_t bytes = 0;        // Allocate, Free, Copy
  double modelled_seconds = 0;   // Run on a simulator in Timed order
};

// The listeners of one executor, called in the order of subscription and outside the hub's lock: a listener may itself
// subscribe, unsubscribe or emit, and one that is being called on another thread may outlive its unsubscribe() by that
// call. Listeners should not throw: what they throw reaches whoever emitted, except that Free swallows it.
class EventHub {
 public:
  using Listener = std::function<void(const Event&)>;
  int subscribe(Listener listener);
  void unsubscribe(int id);
  void emit(const Event& event) const;
  // False: emit() would do nothing. Callers on hot paths ask first and save the event.
  [[nodiscard]] bool has_listeners() const { return count_.load(std::memory_order_acquire) > 0; }

 private:
  mutable std::mutex mutex_;
  std::atomic<std::size_t> count_ = 0;  // size of listeners_
  std::vector<std::pair<int, Listener>> listeners_;
  int next_id_ = 0;
};

class Executor;

// Keeps every event of one executor from now on. It may outlive the executor and does not keep it alive.
class Recorder {
 public:
  explicit Recorder(const Executor& executor);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  [[nodiscard]] std::vector<Event> events() const;
  // An empty subject counts all of the kind.
  [[nodiscard]] int count(EventKind kind, const std::string& subject = "") const;
  // "host", "device", or "" when the operation was not dispatched; the last dispatch wins.
  [[nodiscard]] std::string family_of(const std::string& operation) const;
  [[nodiscard]] double modelled_seconds() const;  // summed over Run events
  void clear();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace trn
