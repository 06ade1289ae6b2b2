// static_stores: results leave by descriptors that are made beforehand.
//
// A copy with hardware descriptors stands in the queue of the engine that triggers it, for stores the Scalar Engine's:
// it waits there for its data, holds up what follows for its descriptor time, and longer while transfers back up.
// Static descriptors cost 30 ns in the queue of whichever engine made the data. Their addresses must be known
// beforehand, so a program may have them when it is written out instruction by instruction; in the device loops of a
// longer one addresses come from registers.
#pragma once

#include <cstdint>

#include <trn/tile/program.hpp>

namespace trn::tile {

// Executed instructions of a program that is written out: what emit_nki() unrolls unless told otherwise.
inline constexpr std::int64_t kWrittenOut = 20000;

// The program with static descriptors for every copy to HBM that leaves them open and does not convert; the same
// program where it is longer than kWrittenOut, or the machine has no others.
[[nodiscard]] Program static_stores(Program program);

}  // namespace trn::tile
