// Which values of a draw a rank makes, and in how large stretches.
#include <trn/rand/dist_fill.hpp>

#include <algorithm>

#include <trn/core/error.hpp>

namespace trn::rand::detail {

namespace {

constexpr std::int64_t kStretch = std::int64_t{1} << 18;  // a device draws that much at once whatever it keeps

Strides row_major(const Shape& shape) {
  Strides strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

// Values from the first of a box to its last.
std::int64_t stretch_of(const Shape& extent, const Strides& global) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < extent.size(); ++d) last += (extent[d] - 1) * global[d];
  return last + 1;
}

bool is_packed(const Shape& extent, const Strides& strides) {
  std::int64_t expected = 1;
  for (std::size_t d = extent.size(); d-- > 0; expected *= extent[d]) {
    if (extent[d] > 1 && strides[d] != expected) return false;
  }
  return true;
}

struct Walk {
  const std::function<State(std::int64_t)>& at;  // the state before a value of the whole draw
  const std::function<void(const DrawnBox&)>& each;
  Strides global;
  bool device;

  void box(const Shape& begin, const Shape& extent, std::int64_t offset, const Strides& strides) const {
    std::int64_t first = 0;
    for (std::size_t d = 0; d < begin.size(); ++d) first += begin[d] * global[d];
    const std::int64_t own = element_count(extent), stretch = stretch_of(extent, global);
    const std::int64_t most = device ? std::max(2 * own, kStretch) : own;
    if (stretch <= most) {
      const bool direct = stretch == own && (!device || is_packed(extent, strides));
      return each({Generator(at(first)), stretch, extent, global, offset, strides, direct});
    }
    std::size_t cut = 0;
    while (extent[cut] == 1) ++cut;
    Shape from = begin, part = extent;
    part[cut] = 1;
    for (std::int64_t i = 0; i < extent[cut]; ++i) {
      from[cut] = begin[cut] + i;
      box(from, part, offset + i * strides[cut], strides);
    }
  }
};

}  // namespace

bool one_word_doubles(const State& state) {
  return state.algorithm == Algorithm::Mrg32k3a || state.algorithm == Algorithm::Mt19937;
}
bool pairs_doubles(const State& state) {
  return state.algorithm == Algorithm::Xorwow || state.algorithm == Algorithm::Philox4x32_10;
}

void draw_pieces(const DistDraw& draw, Generator& generator, const DistTarget& target,
                 const std::function<void(const DrawnBox&)>& each) {
  const State& state = generator.state();
  std::vector<std::int64_t> said = draw.said;
  for (const std::uint64_t x : {std::uint64_t(state.algorithm), state.seed, state.stream, state.position,
                                std::uint64_t(state.ordering), std::uint64_t{state.dimensions}, state.origin})
    said.push_back(static_cast<std::int64_t>(x));
  said.insert(said.end(), target.shape.begin(), target.shape.end());
  target.group.transport().check({draw.operation, said});

  require(!is_quasi(state.algorithm),
          "{}: {} makes points, whose coordinates are not numbered as the elements of a distributed array are; use a "
          "pseudo-random generator, or draw on one rank",
          draw.operation, name(state.algorithm));
  const auto total = static_cast<std::uint64_t>(element_count(target.shape));
  const std::uint64_t half = draw.pairs_from_origin ? (state.position - state.origin) % 2 : 0;
  const std::uint64_t room = last_position(state.algorithm) - state.position;
  require(half <= room && total <= (room - half) / draw.words,
          "{}: position {} + {} values of {} words exceeds 2^64 - 1; take another stream or seed", draw.operation,
          state.position, total, draw.words);
  const std::function<State(std::int64_t)> at = [&](std::int64_t value) {
    State s = state;
    s.position += half + draw.words * static_cast<std::uint64_t>(value);
    return s;
  };
  const Walk walk{at, each, row_major(target.shape), target.family == Family::Device};
  const std::size_t rank = target.shape.size();
  comm::together(target.group, [&] {
    // No values: the operation still says what it thinks of its options.
    each({Generator(state), 0, Shape(rank, 0), Strides(rank, 1), 0, Strides(rank, 1), true});
    for (const dist::Part& part : target.parts)
      if (element_count(part.extent) > 0) walk.box(part.begin, part.extent, part.offset, part.strides);
  });
  if (total > 0) generator = Generator(at(static_cast<std::int64_t>(total)));
}

}  // namespace trn::rand::detail
