// Event delivery, and the Recorder that tests and the bench command read.
#include <algorithm>
#include <trn/core/error.hpp>
#include <trn/core/event.hpp>
#include <trn/core/executor.hpp>

namespace trn {

const char* name(EventKind kind) {
  switch (kind) {
    case EventKind::Allocate:
      return "allocate";
    case EventKind::Free:
      return "free";
    case EventKind::Copy:
      return "copy";
    case EventKind::Constant:
      return "constant";
    case EventKind::Dispatch:
      return "dispatch";
    case EventKind::Build:
      return "build";
    case EventKind::CacheHit:
      return "cache hit";
    case EventKind::Run:
      return "run";
    case EventKind::Compile:
      return "compile";
    case EventKind::Load:
      return "load";
    case EventKind::Unload:
      return "unload";
    case EventKind::Complete:
      return "complete";
    case EventKind::NumericalError:
      return "numerical error";
    case EventKind::Collective:
      return "collective";
  }
  fail<InternalError>("event kind: {} is not an enumerator", static_cast<int>(kind));
}

const char* name(Purpose purpose) {
  switch (purpose) {
    case Purpose::Operation:
      return "operation";
    case Purpose::Probe:
      return "probe";
    case Purpose::WarmUp:
      return "warm-up";
    case Purpose::Repeat:
      return "repeat";
  }
  fail<InternalError>("purpose: {} is not an enumerator", static_cast<int>(purpose));
}

namespace {
thread_local Purpose purpose_now = Purpose::Operation;
}  // namespace

Purpose current_purpose() noexcept { return purpose_now; }
PurposeScope::PurposeScope(Purpose purpose) noexcept : before_(purpose_now) {
  if (purpose != Purpose::Operation) purpose_now = purpose;
}
PurposeScope::~PurposeScope() { purpose_now = before_; }

int EventHub::subscribe(Listener listener) {
  const std::lock_guard lock(mutex_);
  listeners_.emplace_back(next_id_, std::move(listener));
  count_.store(listeners_.size(), std::memory_order_release);
  return next_id_++;
}

void EventHub::unsubscribe(int id) {
  const std::lock_guard lock(mutex_);
  std::erase_if(listeners_, [id](const auto& entry) { return entry.first == id; });
  count_.store(listeners_.size(), std::memory_order_release);
}

void EventHub::emit(const Event& event) const {
  if (!has_listeners()) return;
  std::vector<std::pair<int, Listener>> listeners;
  {
    const std::lock_guard lock(mutex_);
    listeners = listeners_;
  }
  for (const auto& entry : listeners) entry.second(event);
}

// Shared with the listener, which may still be running on another thread when the Recorder goes away.
struct Recorder::State {
  mutable std::mutex mutex;
  std::vector<Event> events;
  std::weak_ptr<Backend> backend;
  int id = 0;

  // What was asked for before is in `events` afterwards. Called without the lock: the queue's own events take it.
  void settle() const {
    if (const auto executor = backend.lock()) executor->drain();
  }
};

Recorder::Recorder(const Executor& executor) : state_(std::make_shared<State>()) {
  state_->backend = executor.shared_backend();
  state_->id = executor.backend().events().subscribe([state = state_](const Event& event) {
    const std::lock_guard lock(state->mutex);
    state->events.push_back(event);
  });
}

Recorder::~Recorder() {
  if (const auto backend = state_->backend.lock()) backend->events().unsubscribe(state_->id);
}

std::vector<Event> Recorder::events() const {
  state_->settle();
  const std::lock_guard lock(state_->mutex);
  return state_->events;
}

int Recorder::count(EventKind kind, const std::string& subject) const {
  state_->settle();
  const std::lock_guard lock(state_->mutex);
  return static_cast<int>(std::count_if(state_->events.begin(), state_->events.end(), [&](const Event& event) {
    return event.kind == kind && (subject.empty() || event.subject == subject);
  }));
}

std::string Recorder::family_of(const std::string& operation) const {
  state_->settle();
  const std::lock_guard lock(state_->mutex);
  const auto last = std::find_if(state_->events.rbegin(), state_->events.rend(), [&](const Event& event) {
    return event.kind == EventKind::Dispatch && event.subject == operation;
  });
  return last == state_->events.rend() ? "" : last->family;
}

double Recorder::modelled_seconds(Purpose purpose) const {
  state_->settle();
  std::vector<Event> runs;
  {
    const std::lock_guard lock(state_->mutex);
    for (const Event& event : state_->events) {
      const bool takes_time = event.kind == EventKind::Run || event.kind == EventKind::Collective;
      if (takes_time && event.purpose == purpose) runs.push_back(event);
    }
  }
  std::stable_sort(runs.begin(), runs.end(), [](const Event& a, const Event& b) { return a.begin < b.begin; });
  // Durations as they were given, so that runs one after another add up without the rounding of the clock.
  double seconds = 0, reached = 0;
  for (const Event& run : runs) {
    if (run.begin >= reached) {
      seconds += run.modelled_seconds;
    } else if (run.end > reached) {
      seconds += run.end - reached;
    }
    reached = std::max(reached, run.end);
  }
  return seconds;
}

void Recorder::clear() {
  state_->settle();
  const std::lock_guard lock(state_->mutex);
  state_->events.clear();
}

}  // namespace trn
