// From one rank to another. The sender posts a letter and waits until it is taken; the receiver copies straight from
// the sender's memory. Letters of a pair are taken in the order in which they were sent.
#include <fmt/format.h>

#include <cstring>

#include "threads/transport.hpp"

namespace trn::comm::threads {

void Threads::take_letter(World::Lock& lock, World::Wait& wait, const Take& take, std::string& refused) {
  World& world = *group_->world;
  std::deque<Letter*>& box = group_->letters[{take.from, rank_}];
  world.wait(
      lock, wait, [&] { return !box.empty(); },
      [&] { return std::vector<int>{group_->members[static_cast<std::size_t>(take.from)]}; });
  Letter& letter = *box.front();
  box.pop_front();
  if (letter.bytes != take.bytes || letter.says != take.says) {
    refused = letter.bytes != take.bytes
                  ? fmt::format("comm: rank {} sends {} bytes to rank {}, which expects {}", take.from, letter.bytes,
                                rank_, take.bytes)
                  : fmt::format("comm: rank {} sends rank {} something of another type or count than it expects",
                                take.from, rank_);
    letter.refused = refused;
  } else if (letter.bytes > 0) {
    letter.reading = true;
    lock.unlock();
    std::memcpy(take.data, letter.data, static_cast<std::size_t>(letter.bytes));
    lock.lock();
  }
  letter.taken = true;
  world.wake(group_.get());
}

void Threads::exchange(const Give& give, const Take& take) {
  require(give.to < size() && take.from < size(), "comm: send_receive to rank {} and from rank {} in a group of {}",
          give.to, take.from, size());
  require((give.to == rank_) == (take.from == rank_),
          "comm: rank {} sends to rank {} and takes from rank {}: what it sends itself it also takes", rank_, give.to,
          take.from);
  const std::int64_t values[] = {give.to, give.to < 0 ? 0 : give.bytes, take.from, take.from < 0 ? 0 : take.bytes};
  const Signature signature{"send_receive(to, bytes, from, bytes)", values};
  World& world = *group_->world;
  World::Lock lock = world.lock();
  world.require_alive(group_->members[static_cast<std::size_t>(rank_)], signature);
  World::Wait wait = waiting(signature, 0);
  Letter letter{give.data, give.bytes, give.says};
  std::string refused;
  std::deque<Letter*>* box = give.to < 0 ? nullptr : &group_->letters[{rank_, give.to}];
  if (box) {
    box->push_back(&letter);
    world.wake(group_.get());
  }
  try {
    if (take.from >= 0) take_letter(lock, wait, take, refused);
    if (box) {
      world.wait(
          lock, wait, [&] { return letter.taken; },
          [&] { return std::vector<int>{group_->members[static_cast<std::size_t>(give.to)]}; });
    }
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    if (box) {
      if (letter.reading) world.wait_surely(lock, wait, [&] { return letter.taken; });
      std::erase(*box, &letter);
    }
    throw;
  }
  lock.unlock();
  require(refused.empty(), "{}", refused);
  require(letter.refused.empty(), "{}", letter.refused);
}

void Threads::send_receive(int to, const void* send, std::int64_t send_bytes, int from, void* receive,
                           std::int64_t receive_bytes) {
  exchange({to, send, send_bytes, 0}, {from, receive, receive_bytes, 0});
}

}  // namespace trn::comm::threads
