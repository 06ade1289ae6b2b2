// The two queues: see queue.hpp.
#include "queue.hpp"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

#include "status.hpp"

namespace trn::neuron::nrt {

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

std::atomic<int> blocking{0};

// The runtime's own queue.
class RuntimeQueue final : public Queue {
 public:
  RuntimeQueue(const Runtime& runtime, const NeuronOptions& options)
      : runtime_(runtime), limit_(options.time_limit), timed_(options.profile == Profile::Time) {}
  bool quiet(std::unique_lock<std::mutex>&) override { return true; }

 private:
  Status submit(Slot& slot) override {
    slot.result = kSuccess;
    if (timed_) slot.launch.begun = Clock::now();
    return runtime_.call().nrta_execute_schedule(slot.launch.model, slot.launch.in, slot.launch.out, 0, &slot.result,
                                                 &slot.sequence);
  }
  // An answer that is an error says nothing about the run, unless it says that nothing will run any more: ask again.
  bool over(Slot& slot, Status& result) {
    bool completed = false;
    const Status status = runtime_.call().nrta_is_completed(slot.sequence, &completed);
    if (status != kSuccess) {
      result = status;
      return meaning_of(status).recovery == Recovery::RestartProcess;
    }
    if (completed) result = slot.result;  // valid from now on
    return completed;
  }
  // Most kernels take microseconds: ask at once for a while, then at growing distances up to a millisecond.
  bool wait_over(Slot& slot, Status& result) override {
    const bool in_time = wait_within_limit(slot, result);
    if (timed_) slot.launch.over = Clock::now();
    return in_time;
  }
  bool wait_within_limit(Slot& slot, Status& result) {
    constexpr int kAtOnce = 256;
    const Clock::time_point begin = Clock::now();
    Seconds pause(5e-6);
    for (int asked = 0;; ++asked) {
      if (over(slot, result)) return true;
      if (asked < kAtOnce) continue;
      if (Seconds(Clock::now() - begin).count() > limit_) return false;
      std::this_thread::sleep_for(pause);
      pause = std::min(pause * 1.5, Seconds(1e-3));
    }
  }

  const Runtime& runtime_;
  double limit_;
  bool timed_;
};

// A thread that calls the blocking nrt_execute. Its state outlives the queue when a call never returns.
class ThreadQueue final : public Queue {
 public:
  ThreadQueue(const Runtime& runtime, const NeuronOptions& options)
      : shared_(std::make_shared<Shared>(runtime, options.busy_limit)), limit_(options.time_limit) {}
  ~ThreadQueue() override {
    if (!thread_.joinable()) return;
    std::unique_lock<std::mutex> lock;
    const bool stuck = !quiet(lock);
    shared_->closing = true;
    lock.unlock();
    shared_->changed.notify_all();
    if (stuck) {
      thread_.detach();
    } else {
      thread_.join();
    }
  }
  void stop() override {
    const std::scoped_lock lock(shared_->mutex);
    shared_->failed = shared_->closing = true;
    shared_->changed.notify_all();
    if (thread_.joinable()) thread_.detach();  // nobody will join it: the core is lost, and what it has stays
  }
  bool quiet(std::unique_lock<std::mutex>& lock) override {
    lock = std::unique_lock(shared_->mutex);
    return shared_->changed.wait_for(lock, Seconds(limit_), [&] { return shared_->begun == shared_->ended; });
  }

 private:
  struct Work {
    Model* model;
    const TensorSet* in;
    TensorSet* out;
  };
  struct Answer {
    Status result = kSkipped;
    Clock::time_point begun{}, over{};
  };
  struct Shared {
    Shared(const Runtime& r, double busy) : runtime(r), busy_limit(busy) {}
    const Runtime& runtime;
    const double busy_limit;
    std::mutex mutex;
    std::condition_variable changed;
    std::array<Work, kDepth> work{};
    std::array<Answer, kDepth> answers{};
    std::uint64_t added = 0, begun = 0, ended = 0;  // numbers of runs
    bool failed = false, closing = false;
  };

  // A core that is busy refuses a run without starting it.
  static Answer execute(const Shared& shared, const Work& work) {
    const Clock::time_point begin = Clock::now();
    for (;;) {
      Answer answer;
      answer.begun = Clock::now();
      answer.result = shared.runtime.call().nrt_execute(work.model, work.in, work.out);
      answer.over = Clock::now();
      if (answer.result != kCoreBusy && answer.result != kQueueFull) return answer;
      if (Seconds(answer.over - begin).count() > shared.busy_limit) return answer;
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }

  static void serve(const std::shared_ptr<Shared>& shared) {
    std::unique_lock lock(shared->mutex);
    for (;;) {
      shared->changed.wait(lock, [&] { return shared->closing || shared->begun < shared->added; });
      if (shared->closing) return;
      const std::size_t at = shared->begun++ % kDepth;
      Answer answer;
      if (!shared->failed) {
        const Work work = shared->work[at];
        ++blocking;
        lock.unlock();
        answer = execute(*shared, work);
        lock.lock();
        --blocking;
      }
      if (answer.result != kSuccess && answer.result != kNumericalError) shared->failed = true;
      shared->answers[at] = answer;
      ++shared->ended;
      shared->changed.notify_all();
    }
  }

  Status submit(Slot& slot) override {
    if (!thread_.joinable()) thread_ = std::thread(serve, shared_);
    const std::scoped_lock lock(shared_->mutex);
    if (in_flight() == 0) shared_->failed = false;  // whoever adds knows of the failure
    shared_->work[shared_->added % kDepth] = {slot.launch.model, slot.launch.in, slot.launch.out};
    slot.sequence = ++shared_->added;
    shared_->changed.notify_all();
    return kSuccess;
  }
  bool wait_over(Slot& slot, Status& result) override {
    std::unique_lock lock(shared_->mutex);
    const bool in_time =
        shared_->changed.wait_for(lock, Seconds(limit_), [&] { return shared_->ended >= slot.sequence; });
    if (!in_time) return false;
    const Answer& answer = shared_->answers[(slot.sequence - 1) % kDepth];
    result = answer.result;
    slot.launch.begun = answer.begun;
    slot.launch.over = answer.over;
    return true;
  }

  std::shared_ptr<Shared> shared_;
  double limit_;
  std::thread thread_;
};

}  // namespace

int blocking_calls() { return blocking; }

std::unique_ptr<Queue> Queue::open(const Runtime& runtime, const NeuronOptions& options) {
  if (runtime.call().asynchronous()) return std::make_unique<RuntimeQueue>(runtime, options);
  return std::make_unique<ThreadQueue>(runtime, options);
}

Status Queue::add(const Launch& launch) {
  Slot& slot = slots_[(first_ + count_) % kDepth];
  slot.launch = launch;
  const Status status = submit(slot);
  if (status == kSuccess) {
    ++count_;
  } else {
    slot.launch = {};
  }
  return status;
}

const Launch* Queue::wait(Status& result, bool& lost) {
  lost = false;
  if (count_ == 0) return nullptr;
  Slot& slot = slots_[first_];
  if (!wait_over(slot, result)) {
    lost = true;
    result = kTimeout;
  }
  return &slot.launch;
}

void Queue::pop() {
  slots_[first_].launch = {};
  first_ = (first_ + 1) % kDepth;
  --count_;
}

}  // namespace trn::neuron::nrt
