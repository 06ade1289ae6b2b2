// Clocks of ranks: see clock.hpp.
#include "clock.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <trn/comm/ahead.hpp>
#include <trn/comm/modelled.hpp>
#include <trn/core/error.hpp>
#include <trn/tile/machine.hpp>
#include <trn/tile/shared_stack.hpp>
#include <utility>

namespace trn::comm {

RankClock::RankClock(const tile::Fabric& fabric, const tile::Placement& placement, Executor executor,
                     const Communicator& group)
    : fabric_(fabric),
      placement_(placement),
      executor_(std::move(executor)),
      ranks_(static_cast<std::size_t>(group.size())),
      self_(group.rank()),
      since_(std::make_shared<Since>()) {
  placement_.validate(fabric_);
  require(placement_.size() >= group.size(), "comm: a placement of {} ranks for a group of {}", placement_.size(),
          group.size());
  std::iota(ranks_.begin(), ranks_.end(), 0);
  members_ = tile::members(placement_, ranks_);
  since_->clock = executor_.backend().clock();
  since_->hbm_bytes = hbm_bytes();
}

RankClock::RankClock(const RankClock& whole, std::vector<int> ranks)
    : fabric_(whole.fabric_),
      placement_(whole.placement_),
      executor_(whole.executor_),
      ranks_(std::move(ranks)),
      self_(whole.self_),
      members_(tile::members(placement_, ranks_)),
      since_(whole.since_) {}

std::shared_ptr<RankClock> RankClock::of_part(const Communicator& part) const {
  // Ranks of a part come in an order of their own: each says which it is.
  const auto mine = static_cast<std::int32_t>(self_);
  std::vector<std::int32_t> all(static_cast<std::size_t>(part.size()));
  part.transport().all_gather(&mine, sizeof mine, all.data());
  return std::shared_ptr<RankClock>(new RankClock(*this, std::vector<int>(all.begin(), all.end())));
}

double RankClock::hbm_bytes() const {
  const auto* const stack = dynamic_cast<const tile::SharedStack*>(&executor_.backend());
  return stack ? stack->hbm_bytes() : 0;
}

void RankClock::pass(const char* what, const tile::CollectiveCost& cost, double from) {
  Event event{EventKind::Collective, std::string(what) + " " + name(cost.algorithm)};
  event.bytes = static_cast<std::int64_t>(cost.wire_bytes);
  const double until = from + cost.seconds();
  since_->lane = std::max(since_->lane, until);
  executor_.backend().pass_time(std::move(event), since_->ahead ? 0 : until);
  executor_.backend().drain();
  since_->clock = std::max(executor_.backend().clock(), since_->stack);
  since_->hbm_bytes = hbm_bytes();
}

void RankClock::arrive() {
  const double until = std::max(since_->lane, since_->stack);
  executor_.backend().drain();
  if (executor_.backend().clock() >= until) return;
  executor_.backend().pass_time({EventKind::Collective, "arrive"}, until);
  executor_.backend().drain();
  since_->clock = executor_.backend().clock();
}

void RankClock::spend(const Communicator& group, tile::CollectiveKind kind, double bytes, std::span<const int> among) {
  struct Said {
    double clock, bytes, since, hbm_bytes;
  };
  executor_.backend().drain();
  const Said mine{std::max(executor_.backend().clock(), since_->lane), bytes, since_->clock,
                  hbm_bytes() - since_->hbm_bytes};
  std::vector<Said> all(static_cast<std::size_t>(group.size()));
  group.transport().all_gather(&mine, sizeof mine, all.data());
  double latest = 0, largest = -1;
  struct Stack {
    double since, bytes;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Stack> stacks;  // by chip and number
  const std::int64_t per_stack = tile::machine(fabric_.machine).cores_per_stack();
  for (std::size_t r = 0; r < all.size(); ++r) {
    latest = std::max(latest, all[r].clock);
    largest = std::max(largest, all[r].bytes);
    const tile::Placement::Place at = placement_.place(ranks_[r]);
    const auto [stack, added] = stacks.try_emplace(
        {std::int64_t{at.node} * placement_.chips + at.chip, at.core / per_stack}, Stack{all[r].since, 0});
    stack->second.since = std::min(stack->second.since, all[r].since);
    stack->second.bytes += all[r].hbm_bytes;
  }
  if (largest < 0) return;
  const tile::Placement::Place here = placement_.place(self_);
  const std::pair own{std::int64_t{here.node} * placement_.chips + here.chip, here.core / per_stack};
  for (const auto& [place, stack] : stacks) {
    const double until = stack.since + stack.bytes / fabric_.stack_bytes_per_s;
    latest = std::max(latest, until);
    if (place == own) since_->stack = until;
  }
  std::vector<int> some;
  for (const int rank : among) some.push_back(ranks_[static_cast<std::size_t>(rank)]);
  const tile::Members who = some.empty() ? members_ : tile::members(placement_, some);
  pass(name(kind), tile::collective_cost(fabric_, kind, largest, who), latest);
}

void RankClock::spend_with(const Communicator& group, int to, double sent, int from, double received) {
  executor_.backend().drain();
  const double mine = std::max(executor_.backend().clock(), since_->lane);
  double theirs = mine;
  group.transport().send_receive(to, &mine, sizeof mine, from, &theirs, sizeof theirs);
  tile::CollectiveCost dearest;
  for (const auto& [partner, bytes] : {std::pair{to, sent}, std::pair{from, received}}) {
    if (partner < 0 || partner == group.rank() || bytes < 0) continue;
    tile::Members pair = tile::members(placement_, std::vector<int>{ranks_[static_cast<std::size_t>(partner)],
                                                                    ranks_[static_cast<std::size_t>(group.rank())]});
    pair.sharing = 1;  // [choice] of neighbours side by side one pair crosses a border
    const auto cost = tile::collective_cost(fabric_, tile::CollectiveKind::SendReceive, bytes, pair);
    if (cost.seconds() > dearest.seconds()) dearest = cost;
  }
  if (dearest.seconds() == 0) return;
  pass(name(tile::CollectiveKind::SendReceive), dearest, std::max(mine, theirs));
}

Ahead::Ahead(const Communicator& group) : clock_(group.clock()) {
  if (clock_) clock_->set_ahead(true);
}
Ahead::~Ahead() {
  if (clock_) clock_->set_ahead(false);
}
void arrive(const Communicator& group) {
  if (group.clock()) group.clock()->arrive();
}

void spend_all_to_all(const Communicator& group, std::int64_t bytes, std::span<const int> partners) {
  if (group.clock() && group.size() > 1)
    group.clock()->spend(group, tile::CollectiveKind::AllToAll, static_cast<double>(bytes), partners);
}

namespace detail {

void spend_time(const Communicator& group, tile::CollectiveKind kind, std::int64_t bytes) {
  if (group.clock() && group.size() > 1) group.clock()->spend(group, kind, static_cast<double>(bytes));
}
void spend_time_with(const Communicator& group, int to, std::int64_t sent, int from, std::int64_t received) {
  if (group.clock() && group.size() > 1)
    group.clock()->spend_with(group, to, static_cast<double>(sent), from, static_cast<double>(received));
}

}  // namespace detail

}  // namespace trn::comm
