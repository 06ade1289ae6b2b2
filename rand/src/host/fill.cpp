// The host kernel of raw32 and uniform: pieces of the output shared among threads, each a run of its own position.
// A strided output is drawn piece by piece into a buffer and scattered; a contiguous one is written in place.
#include <algorithm>
#include <vector>

#include "host/blocks.hpp"
#include "kernels.hpp"

namespace trn::rand::host {

namespace {

constexpr std::int64_t kPiece = 1 << 15;  // values: 128 KiB, some 30 us of work, and the strided buffer fits in cache

State advanced(State state, std::int64_t by) {
  state.position += static_cast<std::uint64_t>(by);
  return state;
}

// values[i] to element number first + i in row-major order, as 32-bit words.
void scatter(const FillArgs& args, std::int64_t first, std::int64_t count, const std::uint32_t* values) {
  const std::size_t rank = args.shape.size();
  std::vector<std::int64_t> index(rank);
  std::int64_t rest = first, offset = 0;
  for (std::size_t d = rank; d-- > 0; rest /= args.shape[d]) {
    index[d] = rest % args.shape[d];
    offset += index[d] * args.strides[d];
  }
  auto* out = static_cast<std::uint32_t*>(args.out);
  for (std::int64_t i = 0; i < count; ++i) {
    out[offset] = values[i];
    for (std::size_t d = rank; d-- > 0;) {
      offset += args.strides[d];
      if (++index[d] < args.shape[d]) break;
      offset -= args.shape[d] * args.strides[d];
      index[d] = 0;
    }
  }
}

}  // namespace

void fill(const Executor&, const FillArgs& args) {
  const std::int64_t count = element_count(args.shape), pieces = (count + kPiece - 1) / kPiece;
  const bool contiguous = count == 1 || args.strides == row_major_strides(args.shape);
#pragma omp parallel if (pieces > 1)
  {
    std::vector<std::uint32_t> buffer(contiguous ? 0 : static_cast<std::size_t>(std::min(count, kPiece)));
#pragma omp for schedule(static)
    for (std::int64_t piece = 0; piece < pieces; ++piece) {
      const std::int64_t first = piece * kPiece, size = std::min(kPiece, count - first);
      const State state = advanced(args.state, first);
      if (contiguous) {
        fill_run(state, args.draw, size, static_cast<std::uint32_t*>(args.out) + first);
      } else {
        fill_run(state, args.draw, size, buffer.data());
        scatter(args, first, size, buffer.data());
      }
    }
  }
}

}  // namespace trn::rand::host
