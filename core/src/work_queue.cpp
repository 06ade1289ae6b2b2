// Work in order, done by the queue's thread or by those who wait: see work_queue.hpp.
#include <trn/core/work_queue.hpp>
#include <utility>

namespace trn {

WorkQueue::~WorkQueue() {
  {
    const std::scoped_lock lock(mutex_);
    closing_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t WorkQueue::add(std::function<void()> work) {
  const std::scoped_lock lock(mutex_);
  if (!thread_.joinable()) thread_ = std::thread([this] { serve(); });
  pieces_.push_back(std::move(work));
  if (idle_ && at_work_ == std::thread::id()) work_.notify_one();
  return ++added_;
}

void WorkQueue::wait(std::uint64_t number) {
  std::unique_lock lock(mutex_);
  while (done_ < number && at_work_ != std::this_thread::get_id()) {
    if (at_work_ == std::thread::id()) {
      do_one(lock);
      continue;
    }
    ++waiting_;
    progress_.wait(lock);
    --waiting_;
  }
}

std::uint64_t WorkQueue::added() const {
  const std::scoped_lock lock(mutex_);
  return added_;
}

bool WorkQueue::done(std::uint64_t number) const {
  const std::scoped_lock lock(mutex_);
  return done_ >= number;
}

void WorkQueue::serve() {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (!pieces_.empty() && at_work_ == std::thread::id()) {
      do_one(lock);
    } else if (pieces_.empty() && closing_) {
      return;
    } else {
      idle_ = true;
      work_.wait(lock);
      idle_ = false;
    }
  }
}

void WorkQueue::do_one(std::unique_lock<std::mutex>& lock) {
  std::function<void()> piece = std::move(pieces_.front());
  pieces_.pop_front();
  at_work_ = std::this_thread::get_id();
  lock.unlock();
  piece();
  piece = nullptr;  // what it holds goes before it counts as done
  lock.lock();
  at_work_ = std::thread::id();
  ++done_;
  if (waiting_ > 0) progress_.notify_all();
  if (idle_ && !pieces_.empty()) work_.notify_one();
}

}  // namespace trn
