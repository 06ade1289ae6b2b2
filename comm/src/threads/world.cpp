// How a world ends: see world.hpp.
#include "threads/world.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace trn::comm::threads {
namespace {

// What a rank waits in.
std::string place(const World::Wait& wait) {
  const std::string text = text_of(wait.signature);
  return wait.operation == 0 ? text : fmt::format("{}, operation {} of its group", text, wait.operation);
}

}  // namespace

void World::require_alive(int rank, const Signature& signature) const {
  if (!failed_) return;
  throw CommError(fmt::format("comm: rank {} leaves {}: {}", rank, text_of(signature), failure_), failed_rank_);
}

void World::fail(int rank, std::string message) {
  if (failed_) return;
  failed_ = true;
  failed_rank_ = rank;
  failure_ = std::move(message);
  for (Wait* wait : waits_) wait->wake.notify_one();
}

void World::give_up_returned(const Wait& wait, int rank) {
  fail(rank, fmt::format("rank {} has returned from its program and takes no part in {}", rank, place(wait)));
  throw CommError(fmt::format("comm: {}", failure_), failed_rank_);
}

void World::give_up_late(const Wait& wait, const std::vector<int>& missing) {
  fail(missing.empty() ? -1 : missing.front(),
       fmt::format("{} {} did not come to {}, within {:g} s. Where the ranks are:\n{}",
                   missing.size() == 1 ? "rank" : "ranks", fmt::join(missing, ", "), place(wait), watchdog_seconds_,
                   dump()));
}

std::string World::dump() const {
  std::string text;
  for (int rank = 0; rank < ranks_; ++rank) {
    bool waits = false;
    for (const Wait* wait : waits_) {
      if (wait->rank != rank) continue;
      waits = true;
      text += fmt::format("  rank {} waits {:.1f} s in {}\n", rank,
                          std::chrono::duration<double>(Clock::now() - wait->since).count(), place(*wait));
    }
    if (waits) continue;
    text += fmt::format("  rank {} {}\n", rank,
                        returned_[static_cast<std::size_t>(rank)] ? "has returned" : "is in none of our operations");
  }
  return text;
}

void World::returned(int rank) {
  const Lock held = lock();
  returned_[static_cast<std::size_t>(rank)] = true;
  for (Wait* wait : waits_) wait->wake.notify_one();
}

void World::failed(int rank, const std::string& message) {
  const Lock held = lock();
  returned_[static_cast<std::size_t>(rank)] = true;
  fail(rank, fmt::format("rank {} failed: {}", rank, message));
}

}  // namespace trn::comm::threads
