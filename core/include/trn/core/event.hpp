// Events: every allocation, copy, dispatch, program build, cache hit and run tells the executor's listeners what it
// did. Tests assert on them (which family ran? was anything copied?), the bench command reads modelled time from them.
//
// Work is done for a purpose: an operation runs because it was asked for, a probe asks the device a question, a warm-up
// and a repetition belong to a measurement. Events carry the purpose, so that adding them up gives the operation's own
// time.
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

// Copy moves an operand; Constant uploads a table or factor that a program needs, which then stays on the device.
//
// Hardware has more to tell: Compile when a program was compiled (not when it was found in a cache), Load and
// Unload of the compiled program, Complete when the runtime said that a run is over, before its Run, and NumericalError
// when it said that the run met a NaN.
//
// A Collective is what a rank did together with the others of its group: its subject names the operation and the
// algorithm that is modelled, its time includes waiting for the last rank.
enum class EventKind : std::uint8_t {
  Allocate,
  Free,
  Copy,
  Constant,
  Dispatch,
  Build,
  CacheHit,
  Run,
  Compile,
  Load,
  Unload,
  Complete,
  NumericalError,
  Collective
};
[[nodiscard]] const char* name(EventKind kind);

enum class Purpose : std::uint8_t { Operation, Probe, WarmUp, Repeat };
[[nodiscard]] const char* name(Purpose purpose);
// Of what the calling thread does now; Operation unless a PurposeScope says otherwise.
[[nodiscard]] Purpose current_purpose() noexcept;

// Everything the calling thread does until the end of the scope has this purpose. An inner scope wins, except that
// within a probe, a warm-up or a repetition nothing becomes an operation again.
class PurposeScope {
 public:
  explicit PurposeScope(Purpose purpose) noexcept;
  ~PurposeScope();
  PurposeScope(const PurposeScope&) = delete;
  PurposeScope& operator=(const PurposeScope&) = delete;

 private:
  Purpose before_;
};

// The number of the Stream whose work the calling thread does now; 0 outside of streams.
[[nodiscard]] int current_queue() noexcept;

struct Event {
  EventKind kind;
  std::string subject;          // operation ("blas.gemm"), program name, or copy direction
  std::string family = {};      // Dispatch: "host" or "device"
  std::int64_t bytes = 0;       // Allocate, Free, Copy, Constant; Load: of the program; Collective: into the rank
  double modelled_seconds = 0;  // Run on a simulator in Timed order, Collective between such
  int queue = current_queue();
  // Modelled seconds on the executor's clock. Of a Run or Collective end - begin is modelled_seconds, but for rounding;
  // other events take no modelled time, and have the clock as far as it had come.
  double begin = 0, end = 0;
  Purpose purpose = current_purpose();
  double measured_seconds = 0;  // Compile, Load: wall time
  std::uint64_t sequence = 0;   // Complete, NumericalError, Run on hardware: the run's number on its executor, from 1
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

// Keeps every event of one executor from now on. It may outlive the executor and does not keep it alive. Whoever reads
// it waits for what is queued on the executor, so that what was asked for before is in it.
class Recorder {
 public:
  explicit Recorder(const Executor& executor);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  [[nodiscard]] std::vector<Event> events() const;
  // An empty subject counts all of the kind, of any purpose.
  [[nodiscard]] int count(EventKind kind, const std::string& subject = "") const;
  // "host", "device", or "" when the operation was not dispatched; the last dispatch wins.
  [[nodiscard]] std::string family_of(const std::string& operation) const;
  // What Run and Collective events of one purpose take; time in which two of them overlap counts once.
  [[nodiscard]] double modelled_seconds(Purpose purpose = Purpose::Operation) const;
  void clear();

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace trn
