// The host kernel of raw32 and uniform: pieces of the output shared among threads, each a run of its own position.
// A strided output is drawn piece by piece into a buffer and scattered; a contiguous one is written in place.
#include "host/blocks.hpp"
#include "host/pieces.hpp"
#include "kernels.hpp"

namespace trn::rand::host {

namespace {

State advanced(State state, std::int64_t by) {
  state.position += static_cast<std::uint64_t>(by);
  return state;
}

}  // namespace

void fill(const Executor&, const FillArgs& args) {
  for_pieces<std::uint32_t>(args.out, args.shape, args.strides, 1,
                            [&](std::int64_t first, std::int64_t count, std::uint32_t* to) {
                              fill_run(advanced(args.state, first), args.draw, count, to);
                            });
}

}  // namespace trn::rand::host
