// The doors of raw32 and uniform, and the generator's own checks.
#include <algorithm>
#include <limits>
#include <numeric>
#include <trn/rand/raw32.hpp>
#include <trn/rand/uniform.hpp>
#include <vector>

#include "kernels.hpp"

namespace trn::rand {

namespace {

constexpr std::uint64_t kLastPosition = std::numeric_limits<std::uint64_t>::max();
constexpr int kPhiloxStreamBits = 48;
__extension__ using Wide = __int128;  // products of extents and strides

// Sufficient, and all that sliced, transposed or reversed arrays need: sorted by stride, each stride clears everything
// that the smaller ones reach.
bool elements_are_apart(const Shape& shape, const Strides& strides) {
  std::vector<std::size_t> order(shape.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto distance = [&](std::size_t d) { return strides[d] < 0 ? -Wide{strides[d]} : Wide{strides[d]}; };
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return distance(a) < distance(b); });
  Wide reach = 0;
  for (const std::size_t d : order) {
    if (shape[d] == 1) continue;
    if (distance(d) <= reach) return false;
    reach += distance(d) * (shape[d] - 1);
  }
  return true;
}

template <class T>
void fill(const KernelTable<FillArgs>& kernels, Draw draw, const Executor& executor, Generator& generator,
          const View<T>& out) {
  const char* operation = kernels.operation;
  require(out.executor() == executor,
          "{}: out lives on executor '{}', the call runs on '{}'; give it an array of that executor", operation,
          out.executor().name(), executor.name());
  const std::int64_t count = out.size();
  if (count == 0) return;
  require(out.data() != nullptr, "{}: out has shape {} but its pointer is null", operation, to_string(out.shape()));
  require(elements_are_apart(out.shape(), out.strides()),
          "{}: out has shape {} and strides {}, so elements overlap or interleave; give every element its own place",
          operation, to_string(out.shape()), to_string(out.strides()));
  require(
      executor.family() == Family::Host || out.is_contiguous(),
      "{}: out has shape {} and strides {}; on executor '{}' it must be contiguous: draw into an Array and copy() it",
      operation, to_string(out.shape()), to_string(out.strides()), executor.name());
  Generator after = generator;
  after.skip(static_cast<std::uint64_t>(count));
  dispatch(kernels, executor, {generator.state(), draw, out.data(), out.shape(), out.strides()});
  generator = after;
}

}  // namespace

Generator::Generator(const State& state) : state_(state) {
  const bool known = state.algorithm == Algorithm::Philox4x32_10 || state.algorithm == Algorithm::Threefry4x32_20;
  require(known, "rand.Generator: algorithm {} does not exist; use Philox4x32_10 or Threefry4x32_20",
          static_cast<int>(state.algorithm));
  require(
      state.algorithm != Algorithm::Philox4x32_10 || state.stream >> kPhiloxStreamBits == 0,
      "rand.Generator: stream {} with Philox4x32_10, which has streams 0 to 2^{} - 1; use Threefry4x32_20 for others",
      state.stream, kPhiloxStreamBits);
}

void Generator::skip(std::uint64_t n) {
  require(n <= kLastPosition - state_.position,
          "rand.Generator: position {} + {} values exceeds 2^64 - 1; take another stream or seed", state_.position, n);
  state_.position += n;
}

void raw32(const Executor& executor, Generator& generator, const View<std::uint32_t>& out) {
  fill(kRaw32, Draw::Raw32, executor, generator, out);
}

void uniform(const Executor& executor, Generator& generator, const View<float>& out, Interval interval) {
  fill(kUniform, interval == Interval::OpenClosed ? Draw::OpenClosed : Draw::HalfOpen, executor, generator, out);
}

}  // namespace trn::rand
