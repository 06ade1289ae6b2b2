// Long calls that can be interrupted and watched: an executor's events are the places where a call looks whether Ctrl-C
// was pressed, and where it says how far it has come. And what has to be done before a process forks.
#include "watch.hpp"

#include <omp.h>

#include <chrono>

#include <trn/core/event.hpp>

#include "bindings.hpp"
#include "context.hpp"

namespace trn::python {
namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kEvery = std::chrono::milliseconds(50);  // between two looks

// Of the calling thread.
thread_local int depth = 0;
thread_local std::int64_t launches = 0;
thread_local double modelled = 0;
thread_local Clock::time_point last_look;

// An event of a call of this thread, outside of its teams and queues: only there may an exception leave the call.
void look(const Event& event) {
  if (depth == 0 || current_queue() != 0 || omp_in_parallel()) return;
  if (event.kind == EventKind::Run) ++launches, modelled += event.modelled_seconds;
  if (event.kind != EventKind::Run && event.kind != EventKind::Dispatch) return;
  const Clock::time_point now = Clock::now();
  if (now - last_look < kEvery) return;
  last_look = now;
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  python_function("tell_progress")(event.subject.c_str(), launches, modelled);
}

// Subscribes until it is destroyed.
class Watch {
 public:
  explicit Watch(const Executor& executor) : backend_(executor.shared_backend()) {
    number_ = backend_->events().subscribe(look);
  }
  ~Watch() { backend_->events().unsubscribe(number_); }
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

 private:
  std::shared_ptr<Backend> backend_;
  int number_ = 0;
};

}  // namespace

void look_for_interrupt() {
  if (depth == 0 || current_queue() != 0 || omp_in_parallel()) return;
  const Clock::time_point now = Clock::now();
  if (now - last_look < kEvery) return;
  last_look = now;
  const nb::gil_scoped_acquire locked;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

RunScope::RunScope() {
  if (depth++ == 0) launches = 0, modelled = 0;
}
RunScope::~RunScope() { --depth; }

void watch(const Executor& executor) {
  if (executor.family() != Family::Host) executor.backend().events().subscribe(look);
}

void bind_watch(nb::module_& m) {
  nb::class_<Watch>(m, "Watch").def(nb::init<const Executor&>());
  // The child of a fork has one thread: it begins with a team of its own instead of waiting for the parent's.
  m.def("before_fork", [] { omp_pause_resource_all(omp_pause_soft); });
}

}  // namespace trn::python
