// The host kernel of raw32, raw64 and uniform, and the words of any generator. A contiguous output is written in place.
// A strided one is drawn into a buffer and scattered: by pieces from Philox and Threefry, as a whole from the others.
#include <algorithm>
#include <vector>

#include <trn/core/parallel.hpp>

#include "host/blocks.hpp"
#include "host/pieces.hpp"
#include "host/sources.hpp"
#include "host/steps.hpp"
#include "host/words.hpp"
#include "kernels.hpp"

namespace trn::rand::host {

namespace {

State advanced(State state, std::uint64_t by) {
  state.position += by;
  return state;
}

// make(first, count) for pieces of n values, shared among threads.
template <class F> void in_pieces(std::int64_t n, F make) {
  constexpr std::int64_t kPiece = 1 << 15;
  const std::int64_t pieces = (n + kPiece - 1) / kPiece;
  parallel_for(pieces, pieces > 1, [&](std::int64_t p) { make(p * kPiece, std::min(kPiece, n - p * kPiece)); });
}

// Philox and Threefry: any piece is a run of its own position.
void fill_piece(const State& state, Draw draw, std::int64_t first, std::int64_t n, void* out) {
  const auto at = static_cast<std::uint64_t>(first);
  if (draw == Draw::OpenClosedDouble && state.algorithm == Algorithm::Philox4x32_10) {
    return philox_doubles(state, pair_index(state) + at, n, static_cast<double*>(out));
  }
  if (element_bytes(draw) == 4) return fill_run(advanced(state, at), draw, n, out);
  fill_run(advanced(state, 2 * at), Draw::Raw32, 2 * n, out);
  convert_words(draw, n, out);
}

void fill_source(const State& state, Draw draw, std::int64_t n, void* out) {
  if (is_quasi(state.algorithm)) return fill_quasi(state, draw, n, out);
  if (draw == Draw::Raw64 || draw == Draw::HalfOpenDouble) {
    fill_source(state, Draw::Raw32, 2 * n, out);
    return in_pieces(n, [&](std::int64_t first, std::int64_t size) {
      convert_words(draw, size, static_cast<std::uint64_t*>(out) + first);
    });
  }
  switch (state.algorithm) {
    case Algorithm::Philox4x32_10:
    case Algorithm::Threefry4x32_20:
      return in_pieces(n, [&](std::int64_t first, std::int64_t size) {
        fill_piece(state, draw, first, size, static_cast<std::byte*>(out) + first * element_bytes(draw));
      });
    case Algorithm::Xorwow:
      return fill_xorwow(state, draw, pair_index(state), n, out);
    case Algorithm::Mrg32k3a:
      return fill_mrg32k3a(state, draw, n, out);
    case Algorithm::Mt19937:
      return fill_mt19937(state, draw, n, out);
    default:
      fail<InternalError>("rand: {} has no words", name(state.algorithm));
  }
}

// T: an integer of the element's size; floats are moved as their bits.
template <class T> void fill_as(const FillArgs& args) {
  if (is_block_algorithm(args.state.algorithm)) {
    return for_pieces<T>(args.out, args.shape, args.strides, 1, [&](std::int64_t first, std::int64_t n, T* to) {
      fill_piece(args.state, args.draw, first, n, to);
    });
  }
  const std::int64_t count = element_count(args.shape);
  if (is_row_major(args.shape, args.strides)) {
    return fill_source(args.state, args.draw, count, args.out);
  }
  std::vector<T> values(static_cast<std::size_t>(count));
  fill_source(args.state, args.draw, count, values.data());
  scatter(static_cast<T*>(args.out), args.shape, args.strides, 0, count, static_cast<const T*>(values.data()));
}

}  // namespace

void fill(const Executor&, const FillArgs& args) {
  if (element_bytes(args.draw) == 8) return fill_as<std::uint64_t>(args);
  fill_as<std::uint32_t>(args);
}

void words(const State& state, std::uint64_t first, std::int64_t n, std::uint32_t* out) {
  require(!is_quasi(state.algorithm), "rand: {} makes points; this draw takes the words of a pseudo-random algorithm",
          name(state.algorithm));
  if (n == 0) return;
  fill_source(advanced(state, first), Draw::Raw32, n, out);
}

DrawWords::DrawWords(const State& state, std::int64_t before, std::int64_t n) : state_(state), before_(before) {
  require(!is_quasi(state.algorithm), "rand: {} makes points; this draw takes the words of a pseudo-random algorithm",
          name(state.algorithm));
  if (is_block_algorithm(state.algorithm)) return;
  words_.resize(static_cast<std::size_t>(n - before));
  // From position + before (modulo 2^64) on, but not beyond the last word: what is asked for there is not used, and
  // stays 0.
  const std::uint64_t first = state.position + static_cast<std::uint64_t>(before),
                      left = 0 - first;  // left = 0: all 2^64
  const auto wanted = static_cast<std::uint64_t>(n - before);
  const std::uint64_t made = left == 0 ? wanted : std::min(wanted, left);
  words(state, static_cast<std::uint64_t>(before), static_cast<std::int64_t>(made), words_.data());
}

void DrawWords::read(std::int64_t first, std::int64_t n, std::uint32_t* out) const {
  if (words_.empty()) return fill_run(advanced(state_, static_cast<std::uint64_t>(first)), Draw::Raw32, n, out);
  std::copy_n(words_.begin() + (first - before_), n, out);
}

}  // namespace trn::rand::host
