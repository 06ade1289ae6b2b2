// The team: members sleep on a condition variable, join the current loop, take pieces from a shared counter.
#include <trn/core/team.hpp>

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace trn {
namespace {

struct Loop {
  std::int64_t count;
  PieceBody body;
  std::atomic<std::int64_t> next{0};
  std::mutex error_mutex{};
  std::exception_ptr error{};

  void work(int worker) {
    for (std::int64_t i; (i = next.fetch_add(1)) < count;) {
      try {
        body.call(body.object, i, worker);
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
    if (threads <= 1 || loop.count <= 1 || busy_.test_and_set(std::memory_order_acquire)) return loop.work(0);
    {
      const std::scoped_lock lock(mutex_);
      grow(threads - 1);
      loop_ = &loop;
      places_ = threads - 1;
      generation_.fetch_add(1, std::memory_order_relaxed);
    }
    if (static_cast<int>(members_.size()) < threads)
      wake_.notify_all();
    else
      for (int i = 1; i < threads; ++i) wake_.notify_one();
    loop.work(0);
    {
      const std::scoped_lock lock(mutex_);
      loop_ = nullptr;  // nobody else may join
    }
    // The last pieces end about now: look for it a moment before going to sleep.
    for (int spin = 0; spin < kSpins && working_.load(std::memory_order_acquire) != 0; ++spin) pause();
    if (working_.load(std::memory_order_acquire) != 0) {
      std::unique_lock lock(mutex_);
      idle_.wait(lock, [this] { return working_.load(std::memory_order_acquire) == 0; });
    }
    busy_.clear(std::memory_order_release);
  }

 private:
  // Fewer where the system gives no more.
  void grow(int members) {
    try {
      while (static_cast<int>(members_.size()) < members) members_.emplace_back([this] { serve(); });
    } catch (const std::system_error&) {
    }
  }

  void serve() {
    std::uint64_t seen = 0;
    for (;;) {
      // The next loop often comes within microseconds.
      for (int spin = 0; spin < kSpins && generation_.load(std::memory_order_relaxed) == seen; ++spin) pause();
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return closing_ || (loop_ && places_ > 0); });
      if (closing_) return;
      seen = generation_.load(std::memory_order_relaxed);
      Loop& loop = *loop_;
      const int worker = places_--;
      working_.fetch_add(1, std::memory_order_relaxed);
      lock.unlock();
      loop.work(worker);
      lock.lock();
      if (working_.fetch_sub(1, std::memory_order_acq_rel) == 1) idle_.notify_all();
    }
  }

  static constexpr int kSpins = 200;  // some 4 microseconds

  std::atomic_flag busy_;                     // set by the loop under way
  std::atomic<std::uint64_t> generation_{0};  // counts loops
  std::atomic<int> working_{0};               // members; grows under mutex_
  std::mutex mutex_;
  std::condition_variable wake_, idle_;
  std::vector<std::thread> members_;
  Loop* loop_ = nullptr;
  int places_ = 0;
  bool closing_ = false;
};

}  // namespace

void run_pieces(std::int64_t count, int threads, PieceBody body) {
  static Team team;
  Loop loop{count, body};
  team.run(loop, threads);
  if (loop.error) std::rethrow_exception(loop.error);
}

}  // namespace trn
