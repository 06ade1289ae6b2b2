// WorkQueue: pieces of work that happen one after another, in the order in which they are added. A thread of the queue
// does them, started by the first one; and whoever waits helps: it does the next piece itself when nobody is at work,
// so that adding one piece and waiting for it costs no change of threads. Streams and the queued simulator stand on it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace trn {

class WorkQueue {
 public:
  WorkQueue() = default;
  // Does what is left first.
  ~WorkQueue();
  WorkQueue(const WorkQueue&) = delete;
  WorkQueue& operator=(const WorkQueue&) = delete;

  // Adds a piece of work, which must not throw, and returns its number: 1, 2, ...
  std::uint64_t add(std::function<void()> work);
  // Returns when the pieces up to `number` are done. From within a piece of this queue it returns at once: a piece
  // cannot wait for itself, and those before it are done.
  void wait(std::uint64_t number);
  void drain() { wait(added()); }
  [[nodiscard]] std::uint64_t added() const;
  [[nodiscard]] bool done(std::uint64_t number) const;

 private:
  void serve();
  // Does the first piece; `lock` is held before and afterwards.
  void do_one(std::unique_lock<std::mutex>& lock);

  mutable std::mutex mutex_;
  std::condition_variable work_, progress_;
  std::deque<std::function<void()>> pieces_;  // not begun
  std::uint64_t added_ = 0, done_ = 0;
  std::thread::id at_work_;  // who does a piece; none: nobody
  int waiting_ = 0;          // threads that wait for progress
  bool idle_ = false;        // the queue's thread waits for work
  bool closing_ = false;
  std::thread thread_;
};

}  // namespace trn
