// Streams and markers over WorkQueue.
#include <atomic>
#include <chrono>
#include <exception>
#include <trn/core/error.hpp>
#include <trn/core/stream.hpp>
#include <trn/core/work_queue.hpp>
#include <utility>

namespace trn {

namespace {

thread_local int queue_now = 0;
std::atomic<int> last_number{0};

// For the time of one piece of a stream's work: its number and the purpose of whoever enqueued it.
class WorkScope {
 public:
  WorkScope(int queue, Purpose purpose) : before_(std::exchange(queue_now, queue)), purpose_(purpose) {}
  ~WorkScope() { queue_now = before_; }
  WorkScope(const WorkScope&) = delete;
  WorkScope& operator=(const WorkScope&) = delete;

 private:
  int before_;
  PurposeScope purpose_;
};

double clock_of(const Executor& executor) {
  if (executor.family() == Family::Device) return executor.backend().clock();
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

int current_queue() noexcept { return queue_now; }

namespace detail {

struct StreamState {
  explicit StreamState(Executor e) : executor(std::move(e)), number(++last_number) {}

  // Runs `work` unless something failed before, and keeps what it throws. Only the queue's pieces touch `error`, one at
  // a time, and synchronize() takes it by a piece of its own.
  void attempt(const std::function<void()>& work) noexcept {
    if (error) return;
    try {
      work();
    } catch (...) {
      error = std::current_exception();
    }
  }

  const Executor executor;
  const int number;
  std::exception_ptr error;
  WorkQueue queue;  // last: it ends first
};

}  // namespace detail

struct Marker::Point {
  std::weak_ptr<detail::StreamState> stream;
  std::uint64_t number = 0;
  std::atomic<bool> reached = false;
  double seconds = 0;
};

bool Marker::reached() const { return !point_ || point_->reached.load(std::memory_order_acquire); }

void Marker::synchronize() const {
  if (reached()) return;
  // A stream that is gone has done its work.
  if (const auto stream = point_->stream.lock()) stream->queue.wait(point_->number);
}

double Marker::seconds() const {
  require(point_ && reached(), "marker: {}; call synchronize() first",
          point_ ? "it is not reached" : "it was never recorded");
  return point_->seconds;
}

Stream::Stream(Executor executor) : state_(std::make_shared<detail::StreamState>(std::move(executor))) {}

Stream::~Stream() { state_->queue.drain(); }

const Executor& Stream::executor() const { return state_->executor; }
int Stream::number() const { return state_->number; }

void Stream::enqueue(std::function<void()> work) {
  state_->queue.add([state = state_.get(), purpose = current_purpose(), work = std::move(work)] {
    const WorkScope scope(state->number, purpose);
    state->attempt(work);
  });
}

Marker Stream::mark() {
  Marker marker;
  marker.point_ = std::make_shared<Marker::Point>();
  marker.point_->stream = state_;
  marker.point_->number = state_->queue.add([state = state_.get(), point = marker.point_] {
    state->attempt([&] { state->executor.synchronize(); });
    point->seconds = clock_of(state->executor);
    point->reached.store(true, std::memory_order_release);
  });
  return marker;
}

void Stream::wait(const Marker& marker) {
  if (marker.reached()) return;
  state_->queue.add([marker] { marker.synchronize(); });
}

void Stream::synchronize() {
  require(queue_now != state_->number, "stream {}: its own work waits for it; synchronize from outside",
          state_->number);
  std::exception_ptr error;
  state_->queue.wait(state_->queue.add([state = state_.get(), &error] {
    state->attempt([&] { state->executor.synchronize(); });
    error = std::exchange(state->error, nullptr);
  }));
  if (error) std::rethrow_exception(error);
}

bool Stream::idle() const { return state_->queue.done(state_->queue.added()); }

}  // namespace trn
