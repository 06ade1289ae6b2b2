// World: what the ranks of one run() share, all of their groups included: the lock, who waits where, and the failure
// that ends them all.
//
// A rank waits in wait() only, on a condition variable of its own. It leaves when what it waits for is there, when the
// world has failed, when a rank that it needs has returned, or when the watchdog's time is over; the last two make the
// world fail. What is there comes first: an operation at which everybody has arrived is carried out even if another
// rank fails meanwhile.
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include <trn/comm/transport.hpp>

namespace trn::comm::threads {

class World {
 public:
  using Clock = std::chrono::steady_clock;
  using Lock = std::unique_lock<std::mutex>;

  // One rank's waiting, in its own frame.
  struct Wait {
    int rank;                 // of the world
    const void* group;        // whom to wake
    Signature signature;      // for the dump
    std::uint64_t operation;  // number of the operation in its group; 0 of a letter
    Clock::time_point since = {};
    std::condition_variable wake = {};
  };

  World(int ranks, double watchdog_seconds)
      : ranks_(ranks), watchdog_seconds_(watchdog_seconds), returned_(static_cast<std::size_t>(ranks), false) {}

  [[nodiscard]] Lock lock() { return Lock(mutex_); }
  // The rest is called with the lock held.

  // Throws CommError when the world has failed.
  void require_alive(int rank, const Signature& signature) const;
  // Returns when ready(). missing() lists the ranks of the world that it is still waiting for.
  template <class Ready, class Missing> void wait(Lock& lock, Wait& wait, const Ready& ready, const Missing& missing) {
    if (ready()) return;
    const Enrolled enrolled(*this, wait);
    while (!ready()) {
      require_alive(wait.rank, wait.signature);
      const std::vector<int> absent = missing();
      for (const int rank : absent) {
        if (returned_[static_cast<std::size_t>(rank)]) give_up_returned(wait, rank);
      }
      if (wait.wake.wait_until(lock, deadline(wait)) == std::cv_status::timeout && !ready() && !failed_) {
        give_up_late(wait, missing());
      }
    }
  }
  // The same for what is sure to come soon, and must be waited for whatever happens.
  template <class Ready> void wait_surely(Lock& lock, Wait& wait, const Ready& ready) {
    if (ready()) return;
    const Enrolled enrolled(*this, wait);
    wait.wake.wait(lock, ready);
  }
  // Wakes the ranks that wait in a group.
  void wake(const void* group) const {
    for (Wait* wait : waits_) {
      if (wait->group == group) wait->wake.notify_one();
    }
  }

  // The lock is not held: a rank's program is over, or threw.
  void returned(int rank);
  void failed(int rank, const std::string& message);

 private:
  struct Enrolled {
    Enrolled(World& world, Wait& wait) : waits(world.waits_), self(&wait) {
      wait.since = Clock::now();
      waits.push_back(self);
    }
    ~Enrolled() { std::erase(waits, self); }
    Enrolled(const Enrolled&) = delete;
    Enrolled& operator=(const Enrolled&) = delete;
    std::vector<Wait*>& waits;
    Wait* self;
  };

  [[nodiscard]] Clock::time_point deadline(const Wait& wait) const {
    return wait.since + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(watchdog_seconds_));
  }
  void fail(int rank, std::string message);
  [[noreturn]] void give_up_returned(const Wait& wait, int rank);
  void give_up_late(const Wait& wait, const std::vector<int>& missing);
  [[nodiscard]] std::string dump() const;

  std::mutex mutex_;
  int ranks_;
  double watchdog_seconds_;
  std::vector<bool> returned_;
  std::vector<Wait*> waits_;
  bool failed_ = false;
  int failed_rank_ = -1;
  std::string failure_;
};

}  // namespace trn::comm::threads
