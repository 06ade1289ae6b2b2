// The doors of raw32 and uniform, and the generator's own checks.
#include <algorithm>
#include <limits>
#include <numeric>
#include <trn/rand/raw32.hpp>
#include <trn/rand/uniform.hpp>
#include <vector>

#include "door.hpp"
#include "kernels.hpp"

namespace trn::rand {

namespace {

constexpr std::uint64_t kLastPosition = std::numeric_limits<std::uint64_t>::max();
constexpr int kPhiloxStreamBits = 48;
template <class T>
void fill(const KernelTable<FillArgs>& kernels, Draw draw, const Executor& executor, Generator& generator,
          const View<T>& out) {
  const char* operation = kernels.operation;
  (void)checked_output(operation, executor, out);
  const std::int64_t count = out.size();
  if (count == 0) return;
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
