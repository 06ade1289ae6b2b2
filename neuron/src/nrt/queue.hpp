// Runs that were given to the runtime and are not known to be over: at most three of one core, in order. With runtime
// 3.0 the runtime has the queue; before that a thread of ours calls it for one run after another. Both keep the same
// contract.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <trn/core/event.hpp>
#include <trn/tile/device.hpp>

#include "runtime.hpp"

namespace trn::neuron::nrt {

// Two or three keep the device busy, says the runtime's guide.
inline constexpr std::size_t kDepth = 3;
// A run behind one that failed: it was not started.
inline constexpr Status kSkipped = ~Status{0};

struct Launch {
  Model* model = nullptr;
  const TensorSet* in = nullptr;
  TensorSet* out = nullptr;
  std::uint64_t number = 0;                            // on its core, from 1
  std::shared_ptr<const tile::Executable> executable;  // keeps the model loaded
  Purpose purpose = Purpose::Operation;                // of the caller, and its stream
  int stream = 0;
  // By the host's clock, where NeuronOptions::profile asks for times: when the run was given to the runtime and when
  // it was known to be over. A blocking call tells both exactly. The runtime's own queue is asked by its user, so a run
  // may have been over for a while when somebody asks.
  std::chrono::steady_clock::time_point begun{}, over{};
};

class Queue {
 public:
  [[nodiscard]] static std::unique_ptr<Queue> open(const Runtime& runtime, const NeuronOptions& options);
  virtual ~Queue() = default;
  Queue(const Queue&) = delete;
  Queue& operator=(const Queue&) = delete;

  [[nodiscard]] std::size_t in_flight() const { return count_; }
  [[nodiscard]] bool full() const { return count_ == kDepth; }
  // Gives one more to the runtime. Not when full(). Anything but success: it is not in the queue.
  [[nodiscard]] Status add(const Launch& launch);
  // Waits for the oldest; null when the queue is empty. A run that is not over within the limit has the status
  // kTimeout, and `lost` says that nobody knows whether it still runs. It stays in the queue until pop().
  [[nodiscard]] const Launch* wait(Status& result, bool& lost);
  void pop();
  // Runs that were not started are not started any more, and nothing is added.
  virtual void stop() {}
  // No run of ours is inside the runtime while `lock` is held, if it has to be: the documentation promises nothing
  // about other calls beside a blocking nrt_execute. False: a run does not come out of it within the limit.
  [[nodiscard]] virtual bool quiet(std::unique_lock<std::mutex>& lock) = 0;

 protected:
  struct Slot {
    Launch launch;
    Sequence sequence = 0;
    Status result = kSuccess;
  };
  Queue() = default;

 private:
  virtual Status submit(Slot& slot) = 0;
  // False when the limit has passed.
  virtual bool wait_over(Slot& slot, Status& result) = 0;

  std::array<Slot, kDepth> slots_;  // the runtime writes results into them: they stay where they are
  std::size_t first_ = 0, count_ = 0;
};

// Threads of this process inside a blocking nrt_execute, or just about to be. A lost core leaves its own there.
[[nodiscard]] int blocking_calls();

// A call of the runtime while it is quiet.
template <class Result, class... Parameters, class... Arguments>
Result quietly(Queue& queue, Result (*function)(Parameters...), Arguments... arguments) {
  std::unique_lock<std::mutex> lock;
  if (!queue.quiet(lock)) {
    if constexpr (std::is_same_v<Result, Status>) return kTimeout;
    if constexpr (std::is_void_v<Result>) return;
  }
  return function(arguments...);
}

}  // namespace trn::neuron::nrt
