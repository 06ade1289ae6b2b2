// The threads transport: ranks are threads of one process and read each other's memory, so that every byte is copied
// once by whoever receives it. Short data is copied twice, which takes less time than to wait for its readers.
//
// A collective operation is a round. Every rank posts what it says and where its data lies; the last one to arrive
// compares, so that all have one verdict; then each takes what is its own. Data may be read until the last rank has
// said that it is done. Two rounds are kept in turn: nobody can be two ahead.
#pragma once

#include <array>
#include <deque>
#include <map>
#include <utility>

#include "threads/world.hpp"

namespace trn::comm::threads {

class Group;

// One rank's part in a round. It lies in the rank's frame while the rank is in the operation.
struct Post {
  Signature said = {};  // by check() or announce()
  Signature signature = {};
  const void* send = nullptr;
  std::span<const std::int64_t> send_bytes = {}, send_offsets = {}, receive_bytes = {};
  bool splits = false;
  int color = 0, key = 0;
  // What the rank calls, as its user knows it.
  [[nodiscard]] const Signature& shown() const { return said.operation.empty() ? signature : said; }
};

struct Round {
  std::vector<const Post*> posts;
  int arrived = 0, done = 0;
  std::uint64_t judged = 0, finished = 0;  // the last operation at which all had arrived; that all had done
  std::string verdict;                     // what is wrong, or nothing
  std::vector<std::pair<std::shared_ptr<Group>, int>> parts;  // of a split: each rank's new group and its rank there
  std::vector<std::byte> notes;  // kNote bytes for each rank: short data, whose sender need not wait for its readers
};
inline constexpr std::int64_t kNote = 256;

// Something on its way from one rank to another, in the sender's frame.
struct Letter {
  const void* data;
  std::int64_t bytes;
  std::uint64_t says;
  bool reading = false, taken = false;
  std::string refused = {};
};

// What the ranks of one group share.
class Group {
 public:
  Group(std::shared_ptr<World> its_world, std::vector<int> its_members);
  [[nodiscard]] int size() const { return static_cast<int>(members.size()); }
  // The last to arrive says what everybody finds.
  void judge(Round& round, std::uint64_t operation) const;

  const std::shared_ptr<World> world;
  const std::vector<int> members;  // ranks of the world
  std::array<Round, 2> rounds;
  std::map<std::pair<int, int>, std::deque<Letter*>> letters;  // by (from, to)
};

class Threads : public Transport {
 public:
  Threads(std::shared_ptr<Group> group, int rank) : group_(std::move(group)), rank_(rank) {}
  [[nodiscard]] std::string_view name() const override { return "threads"; }
  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int size() const override { return group_->size(); }
  void check(const Signature& signature) override;
  void announce(const Signature& signature) override;
  void broadcast(int root, void* data, std::int64_t bytes) override;
  void all_gather(const void* mine, std::int64_t bytes, void* all) override;
  void all_to_all(const void* send, std::span<const std::int64_t> send_bytes,
                  std::span<const std::int64_t> send_offsets, void* receive,
                  std::span<const std::int64_t> receive_bytes, std::span<const std::int64_t> receive_offsets) override;
  void send_receive(int to, const void* send, std::int64_t send_bytes, int from, void* receive,
                    std::int64_t receive_bytes) override;
  void exchange(const Give& give, const Take& take) override;
  void barrier() override;
  [[nodiscard]] std::shared_ptr<Transport> split(int color, int key) override;

 private:
  // Posts, and returns when all have arrived. Throws InvalidArgument when they disagree.
  Round& arrive(Post& post);
  // Puts short data into this rank's note of the next round, where the others find it.
  void note(const void* data, std::int64_t bytes);
  // This rank has read what it wanted; `wait`: returns when all have.
  void done(Round& round, const Post& post, bool wait);
  [[nodiscard]] World::Wait waiting(const Signature& signature, std::uint64_t operation) const;
  void take_letter(World::Lock& lock, World::Wait& wait, const Take& take, std::string& refused);

  std::shared_ptr<Group> group_;
  int rank_;
  std::uint64_t operation_ = 0;  // number of the round in which this rank is, from 1
  // Of the next one, if anything was announced.
  bool announced_ = false;
  std::string said_operation_;
  std::vector<std::int64_t> said_values_;
};

// The transports of a new world of so many ranks.
[[nodiscard]] std::vector<std::shared_ptr<Transport>> open(const std::shared_ptr<World>& world, int ranks);

}  // namespace trn::comm::threads
