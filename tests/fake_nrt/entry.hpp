// What every call of the fake begins with: it is counted, faults are planted, and the rules of calling are checked.
#pragma once

#include <unistd.h>

#include <chrono>
#include <mutex>
#include <thread>

#include "state.hpp"

namespace fake {

// Holds the state's mutex. While it lives, the thread is inside a call on one core, if it says so.
class Entry {
 public:
  explicit Entry(const char* function, bool before_init = false) : function_(function), lock(state().mutex) {
    State& s = state();
    if (const Fault* found = s.counted(function)) {
      const Fault fault = *found;
      if (fault.crash) _exit(86);
      if (fault.hang) hang(lock);
      status = fault.hang ? trn::neuron::nrt::kClosed : fault.status;
      planted = true;
    }
    if (s.phase != State::Phase::Open && !before_init) {
      s.note(std::string(function) + ": the runtime is not open");
      status = s.phase == State::Phase::Fresh ? trn::neuron::nrt::kUninitialized : trn::neuron::nrt::kClosed;
    }
  }
  ~Entry() {
    if (core_) --core_->inside;
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

  [[nodiscard]] bool refused() const { return status != trn::neuron::nrt::kSuccess || planted; }
  // The call is one on this core.
  FakeCore& on(int index) {
    core_ = &state().core(index);
    if (core_->inside++ > 0) wrong("two threads are in calls on core " + std::to_string(index));
    return *core_;
  }
  Status wrong(const std::string& text, Status result = trn::neuron::nrt::kInvalid) {
    state().note(std::string(function_) + ": " + text);
    return result;
  }

 private:
  const char* function_;
  FakeCore* core_ = nullptr;

 public:
  std::unique_lock<std::mutex> lock;
  Status status = trn::neuron::nrt::kSuccess;
  bool planted = false;
};

}  // namespace fake
