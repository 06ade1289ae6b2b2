// Communicator: what is more than a call of its transport.
#include <trn/comm/communicator.hpp>

#include "clock.hpp"

namespace trn::comm {

Communicator Communicator::split(int color, int key) const {
  Communicator part(transport_->split(color, key));
  if (clock_) part.clock_ = clock_->of_part(part);
  return part;
}

const tile::Fabric* Communicator::fabric() const { return clock_ ? &clock_->fabric() : nullptr; }

Communicator Communicator::with_fabric(const tile::Fabric& fabric, const tile::Placement& placement,
                                       const Executor& executor) const {
  Communicator timed(transport_);
  timed.clock_ = std::make_shared<RankClock>(fabric, placement, executor, *this);
  return timed;
}

void Communicator::check(std::string_view operation, std::initializer_list<std::int64_t> values) const {
  transport_->check({operation, {values.begin(), values.size()}});
}

}  // namespace trn::comm
