// Communicator: what is more than a call of its transport.
#include <trn/comm/communicator.hpp>

namespace trn::comm {

Communicator Communicator::split(int color, int key) const { return Communicator(transport_->split(color, key)); }

void Communicator::check(std::string_view operation, std::initializer_list<std::int64_t> values) const {
  transport_->check({operation, {values.begin(), values.size()}});
}

}  // namespace trn::comm
