// Collective operations of the threads transport; letters.cpp has those between two ranks.
#include "threads/transport.hpp"

#include <fmt/format.h>

#include <cstring>
#include <numeric>

namespace trn::comm::threads {
namespace {

void copy_bytes_once(void* to, const void* from, std::int64_t bytes) {
  if (bytes > 0 && to != from) std::memcpy(to, from, static_cast<std::size_t>(bytes));
}

bool same(const Signature& a, const Signature& b) {
  return a.operation == b.operation && std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end());
}

std::string difference(const Signature& first, int rank, const Signature& other, std::uint64_t operation, int ranks) {
  return fmt::format(
      "comm: rank 0 calls {} and rank {} calls {} as operation {} of a group of {}; every rank must call the same",
      text_of(first), rank, text_of(other), operation, ranks);
}

}  // namespace

Group::Group(std::shared_ptr<World> its_world, std::vector<int> its_members)
    : world(std::move(its_world)), members(std::move(its_members)) {
  for (Round& round : rounds) {
    round.posts.resize(members.size());
    round.notes.resize(members.size() * kNote);
  }
}

void Group::judge(Round& round, std::uint64_t operation) const {
  round.verdict.clear();
  const auto post = [&](int r) -> const Post& { return *round.posts[static_cast<std::size_t>(r)]; };
  for (int r = 1; r < size(); ++r) {
    if (!same(post(r).said, post(0).said)) {
      round.verdict = difference(post(0).shown(), r, post(r).shown(), operation, size());
      return;
    }
    if (!same(post(r).signature, post(0).signature)) {
      round.verdict = difference(post(0).signature, r, post(r).signature, operation, size());
      return;
    }
  }
  if (!post(0).send_bytes.empty()) {
    for (int from = 0; from < size(); ++from) {
      for (int to = 0; to < size(); ++to) {
        const std::int64_t sent = post(from).send_bytes[static_cast<std::size_t>(to)];
        const std::int64_t expected = post(to).receive_bytes[static_cast<std::size_t>(from)];
        if (sent == expected) continue;
        round.verdict = fmt::format("comm: rank {} sends {} bytes to rank {}, which expects {}, in operation {}", from,
                                    sent, to, expected, operation);
        return;
      }
    }
  }
  if (post(0).splits) {
    std::vector<int> order(members.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
      return std::pair(post(a).color, post(a).key) < std::pair(post(b).color, post(b).key);
    });
    round.parts.assign(members.size(), {});
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      std::vector<int> chosen;
      for (; end < order.size() && post(order[end]).color == post(order[begin]).color; ++end) {
        chosen.push_back(members[static_cast<std::size_t>(order[end])]);
      }
      const auto part = std::make_shared<Group>(world, chosen);
      for (std::size_t i = begin; i < end; ++i) {
        round.parts[static_cast<std::size_t>(order[i])] = {part, static_cast<int>(i - begin)};
      }
    }
  }
}

World::Wait Threads::waiting(const Signature& signature, std::uint64_t operation) const {
  return {group_->members[static_cast<std::size_t>(rank_)], group_.get(), signature, operation};
}

Round& Threads::arrive(Post& post) {
  ++operation_;
  if (std::exchange(announced_, false) && post.said.operation.empty()) post.said = {said_operation_, said_values_};
  Round& round = group_->rounds[operation_ % 2];
  World& world = *group_->world;
  World::Lock lock = world.lock();
  world.require_alive(group_->members[static_cast<std::size_t>(rank_)], post.shown());
  round.posts[static_cast<std::size_t>(rank_)] = &post;
  if (++round.arrived == size()) {
    group_->judge(round, operation_);
    round.judged = operation_;
    world.wake(group_.get());
  } else {
    World::Wait wait = waiting(post.shown(), operation_);
    world.wait(
        lock, wait, [&] { return round.judged == operation_; },
        [&] {
          std::vector<int> missing;
          for (std::size_t r = 0; r < round.posts.size(); ++r) {
            if (!round.posts[r]) missing.push_back(group_->members[r]);
          }
          return missing;
        });
  }
  if (!round.verdict.empty()) {
    const std::string text = round.verdict;
    lock.unlock();
    done(round, post, false);
    throw InvalidArgument(text);
  }
  return round;
}

void Threads::done(Round& round, const Post& post, bool wait_for_all) {
  World& world = *group_->world;
  World::Lock lock = world.lock();
  if (++round.done == size()) {
    round.done = round.arrived = 0;
    std::fill(round.posts.begin(), round.posts.end(), nullptr);
    round.parts.clear();
    round.finished = operation_;
    world.wake(group_.get());
  } else if (wait_for_all) {
    // Nobody stops between arriving and being done, so this ends, and must not end early: others read our memory.
    World::Wait wait = waiting(post.shown(), operation_);
    world.wait_surely(lock, wait, [&] { return round.finished == operation_; });
  }
}

// The note of two rounds ago has no readers any more: all of them have arrived at the last one.
void Threads::note(const void* data, std::int64_t bytes) {
  Round& round = group_->rounds[(operation_ + 1) % 2];
  copy_bytes_once(round.notes.data() + rank_ * kNote, data, bytes);
}

void Threads::check(const Signature& signature) {
  Post post{signature, {"check", {}}};
  done(arrive(post), post, false);
}

void Threads::announce(const Signature& signature) {
  announced_ = true;
  said_operation_ = signature.operation;
  said_values_.assign(signature.values.begin(), signature.values.end());
}

void Threads::broadcast(int root, void* data, std::int64_t bytes) {
  const std::int64_t values[] = {root, bytes};
  const bool is_root = rank_ == root, is_short = bytes <= kNote;
  if (is_root && is_short) note(data, bytes);
  Post post{{}, {"broadcast of bytes(root, bytes)", values}, data};
  Round& round = arrive(post);
  if (!is_root) {
    copy_bytes_once(
        data, is_short ? round.notes.data() + root * kNote : round.posts[static_cast<std::size_t>(root)]->send, bytes);
  }
  done(round, post, is_root && !is_short);
}

void Threads::all_gather(const void* mine, std::int64_t bytes, void* all) {
  const std::int64_t values[] = {bytes};
  const bool is_short = bytes <= kNote;
  if (is_short) note(mine, bytes);
  Post post{{}, {"all_gather of bytes(bytes)", values}, mine};
  Round& round = arrive(post);
  // Each begins with its own, so that not all read the same memory at once.
  for (int i = 0; i < size(); ++i) {
    const int from = (rank_ + i) % size();
    const void* theirs =
        is_short ? round.notes.data() + from * kNote : round.posts[static_cast<std::size_t>(from)]->send;
    copy_bytes_once(static_cast<std::byte*>(all) + from * bytes, theirs, bytes);
  }
  done(round, post, !is_short);
}

void Threads::all_to_all(const void* send, std::span<const std::int64_t> send_bytes,
                         std::span<const std::int64_t> send_offsets, void* receive,
                         std::span<const std::int64_t> receive_bytes, std::span<const std::int64_t> receive_offsets) {
  Post post{{}, {"all_to_all of bytes", {}}, send, send_bytes, send_offsets, receive_bytes};
  Round& round = arrive(post);
  for (int i = 0; i < size(); ++i) {
    const auto from = static_cast<std::size_t>((rank_ + i) % size());
    const Post& theirs = *round.posts[from];
    copy_bytes_once(static_cast<std::byte*>(receive) + receive_offsets[from],
                    static_cast<const std::byte*>(theirs.send) + theirs.send_offsets[static_cast<std::size_t>(rank_)],
                    receive_bytes[from]);
  }
  done(round, post, true);
}

void Threads::barrier() {
  Post post{{}, {"barrier", {}}};
  done(arrive(post), post, false);
}

std::shared_ptr<Transport> Threads::split(int color, int key) {
  Post post{{}, {"split", {}}};
  post.splits = true;
  post.color = color;
  post.key = key;
  Round& round = arrive(post);
  auto [group, rank] = round.parts[static_cast<std::size_t>(rank_)];  // nobody changes it before all are done
  done(round, post, false);
  return std::make_shared<Threads>(std::move(group), rank);
}

std::vector<std::shared_ptr<Transport>> open(const std::shared_ptr<World>& world, int ranks) {
  std::vector<int> members(static_cast<std::size_t>(ranks));
  std::iota(members.begin(), members.end(), 0);
  const auto group = std::make_shared<Group>(world, members);
  std::vector<std::shared_ptr<Transport>> transports;
  for (int r = 0; r < ranks; ++r) transports.push_back(std::make_shared<Threads>(group, r));
  return transports;
}

}  // namespace trn::comm::threads
