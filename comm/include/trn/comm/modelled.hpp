// The modelled time of an exchange that a library makes itself, by the transport: for groups whose time is modelled.
#pragma once

#include <cstdint>
#include <span>

#include <trn/comm/communicator.hpp>

namespace trn::comm {

// Collective over the whole group. Each rank exchanges `bytes` in all with `partners`, ranks of the group that have it
// among theirs in turn, such as those of its row of a grid: the time is that of an all-to-all among them, from when the
// latest rank of the group has come.
void spend_all_to_all(const Communicator& group, std::int64_t bytes, std::span<const int> partners);

}  // namespace trn::comm
