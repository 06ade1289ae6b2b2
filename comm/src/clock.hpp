// The modelled time of a rank among others. Each rank's executor has a clock of its own runs; a collective operation
// sets those of all ranks to the latest one plus the operation's cost.
//
// Bytes and clocks of all ranks travel in one exchange, so that every rank prices the same and every transport models
// the same seconds. Ranks whose cores share an HBM stack have its bandwidth together: what they read and wrote since
// they last met cannot have taken less than the stack needs for the sum.
//
// What is asked for ahead (ahead.hpp) begins when the latest rank has asked and the lanes of all are free; engines go
// on, and wait for it, and for what their stack needs, in arrive().
#pragma once

#include <memory>
#include <span>
#include <vector>

#include <trn/comm/communicator.hpp>
#include <trn/core/executor.hpp>
#include <trn/tile/fabric.hpp>

namespace trn::comm {

class RankClock {
 public:
  RankClock(const tile::Fabric& fabric, const tile::Placement& placement, Executor executor, const Communicator& group);
  // Collective: the clock of a group of some of these ranks.
  [[nodiscard]] std::shared_ptr<RankClock> of_part(const Communicator& part) const;

  [[nodiscard]] const tile::Fabric& fabric() const { return fabric_; }
  // `among`: the ranks of the group that the bytes go around; none: all of it.
  void spend(const Communicator& group, tile::CollectiveKind kind, double bytes, std::span<const int> among = {});
  void spend_with(const Communicator& group, int to, double sent, int from, double received);
  void set_ahead(bool ahead) { since_->ahead = ahead; }
  void arrive();

 private:
  // What this rank did since it last met others, and the lane of what was asked for ahead; shared by all of its groups.
  struct Since {
    double clock = 0, hbm_bytes = 0;
    double lane = 0, stack = 0;  // until when: collective operations; what this rank's stack needs
    bool ahead = false;
  };
  RankClock(const RankClock& whole, std::vector<int> ranks);
  [[nodiscard]] double hbm_bytes() const;
  void pass(const char* what, const tile::CollectiveCost& cost, double from);

  const tile::Fabric& fabric_;
  tile::Placement placement_;
  Executor executor_;
  std::vector<int> ranks_;  // of this group, in the placement
  int self_;                // this rank, there
  tile::Members members_;
  std::shared_ptr<Since> since_;
};

namespace detail {
// Nothing where time is not modelled. Collective like what it is called for; `bytes` as collective_cost() counts them,
// the largest of all ranks is priced; -1: host memory, which has no modelled time.
void spend_time(const Communicator& group, tile::CollectiveKind kind, std::int64_t bytes);
void spend_time_with(const Communicator& group, int to, std::int64_t sent, int from, std::int64_t received);
}  // namespace detail

}  // namespace trn::comm
