// Communicator: a rank's handle on its group. Cheap; copies share the group.
//
// A rank is one executor (one logical core with its own memory) and the thread or process that drives it. Collective
// operations are called by every rank of the group, in the same order and with the same arguments where the
// documentation does not say otherwise; that is checked.
#pragma once

#include <initializer_list>
#include <memory>
#include <string_view>

#include <trn/comm/transport.hpp>

namespace trn {
class Executor;
namespace tile {
struct Fabric;
struct Placement;
}  // namespace tile
}  // namespace trn

namespace trn::comm {

class RankClock;

class Communicator {
 public:
  // A group of one.
  [[nodiscard]] static Communicator self();
  explicit Communicator(std::shared_ptr<Transport> transport) : transport_(std::move(transport)) {}

  [[nodiscard]] int rank() const { return transport_->rank(); }
  [[nodiscard]] int size() const { return transport_->size(); }
  [[nodiscard]] Transport& transport() const { return *transport_; }
  // Collective: the ranks that say the same colour, in the order of (key, rank).
  [[nodiscard]] Communicator split(int color, int key = 0) const;
  // What connects the ranks; null where time is not modelled.
  [[nodiscard]] const tile::Fabric* fabric() const;
  // The same ranks with modelled time: this group's ranks are those of the placement, in order, and `executor` is this
  // rank's. Collective operations then set all ranks' clocks to the latest one plus their cost (tile/fabric.hpp) and
  // tell a Collective event. Every rank has to ask for it. Groups of simulators have it (group.hpp).
  [[nodiscard]] Communicator with_fabric(const tile::Fabric& fabric, const tile::Placement& placement,
                                         const Executor& executor) const;
  [[nodiscard]] const std::shared_ptr<RankClock>& clock() const { return clock_; }
  // Collective. What an operation on distributed operands says before it begins (transport.hpp).
  void check(std::string_view operation, std::initializer_list<std::int64_t> values) const;
  // The same group, not merely one of the same ranks.
  friend bool operator==(const Communicator& a, const Communicator& b) { return a.transport_ == b.transport_; }

 private:
  std::shared_ptr<Transport> transport_;
  std::shared_ptr<RankClock> clock_;
};

}  // namespace trn::comm
