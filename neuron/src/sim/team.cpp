// The team: members sleep on a condition variable, join the current loop, take pieces from a shared counter.
#include "sim/team.hpp"

#include <omp.h>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace trn::neuron::sim {

namespace {

struct Loop {
  std::int64_t count;
  const std::function<void(std::int64_t)>& body;
  std::atomic<std::int64_t> next{0};
  std::mutex error_mutex;
  std::exception_ptr error;

  void work() {
    for (std::int64_t i; (i = next.fetch_add(1)) < count;) {
      try {
        body(i);
      } catch (...) {
        const std::scoped_lock lock(error_mutex);
        if (!error) error = std::current_exception();
        next = count;
      }
    }
  }
};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

class Team {
 public:
  ~Team() {
    {
      const std::scoped_lock lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    for (std::thread& member : members_) member.join();
  }

  void run(Loop& loop, int threads) {
    const std::unique_lock one_loop(loops_, std::try_to_lock);
    if (!one_loop || threads <= 1 || loop.count <= 1) return loop.work();
    {
      const std::scoped_lock lock(mutex_);
      while (static_cast<int>(members_.size()) < threads - 1) members_.emplace_back([this] { serve(); });
      loop_ = &loop;
      places_ = threads - 1;
      generation_.fetch_add(1);
    }
    wake_.notify_all();
    loop.work();
    std::unique_lock lock(mutex_);
    loop_ = nullptr;  // nobody else may join
    idle_.wait(lock, [this] { return working_ == 0; });
  }

 private:
  void serve() {
    std::uint64_t seen = 0;
    for (;;) {
      // The next loop often comes within microseconds: look for it a moment before going to sleep.
      for (int spin = 0; spin < kSpins && generation_.load(std::memory_order_relaxed) == seen; ++spin) pause();
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closing_ || (loop_ && places_ > 0); });
      if (closing_) return;
      seen = generation_.load();
      Loop& loop = *loop_;
      --places_;
      ++working_;
      lock.unlock();
      loop.work();
      lock.lock();
      if (--working_ == 0) idle_.notify_all();
    }
  }

  static constexpr int kSpins = 1000;  // some 20 microseconds

  std::atomic<std::uint64_t> generation_{0};  // counts loops
  std::mutex loops_;  // held by the loop under way
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::vector<std::thread> members_;
  Loop* loop_ = nullptr;
  int places_ = 0, working_ = 0;
  bool closing_ = false;
};

}  // namespace

void for_pieces(std::int64_t count, const std::function<void(std::int64_t)>& body) {
  static Team team;
  Loop loop{count, body};
  team.run(loop, omp_get_max_threads());
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace trn::neuron::sim
