// The entry points of raw32, raw64, uniform and latin_hypercube.
#include <trn/core/enumerators.hpp>
#include <trn/rand/quasi.hpp>
#include <trn/rand/raw32.hpp>
#include <trn/rand/raw64.hpp>
#include <trn/rand/uniform.hpp>

#include "checks.hpp"
#include "kernels.hpp"

namespace trn::rand {

namespace {

// cuRAND's pairs of Xorwow and Philox, counted from the origin.
bool pairs_from_origin(Algorithm algorithm, Draw draw) {
  return draw == Draw::OpenClosedDouble && (algorithm == Algorithm::Xorwow || algorithm == Algorithm::Philox4x32_10);
}

std::uint64_t words_per_value(Algorithm algorithm, Draw draw) {
  const bool one =
      draw == Draw::OpenClosedDouble && (algorithm == Algorithm::Mrg32k3a || algorithm == Algorithm::Mt19937);
  return element_bytes(draw) == 4 || one ? 1 : 2;
}

bool has_64_bits(Algorithm a) {
  return a == Algorithm::Sobol64 || a == Algorithm::ScrambledSobol64 || a == Algorithm::Halton ||
         a == Algorithm::ScrambledHalton;
}

// Whole points, of bits that the algorithm has.
State state_after_points(const char* operation, const State& state, Draw draw, std::uint64_t count) {
  require(count % state.dimensions == 0, "{}: {} values are not a multiple of {} dimensions; draw whole points",
          operation, count, state.dimensions);
  require(draw != Draw::Raw32 || !has_64_bits(state.algorithm), "{}: {} has 64-bit fractions; use raw64", operation,
          name(state.algorithm));
  require(draw != Draw::Raw64 || has_64_bits(state.algorithm), "{}: {} has 32-bit fractions; use raw32", operation,
          name(state.algorithm));
  const std::uint64_t points = count / state.dimensions;
  require(points <= last_position(state.algorithm) - state.position,
          "{}: position {} + {} points exceeds {}, which {} ends at", operation, state.position, points,
          last_position(state.algorithm), name(state.algorithm));
  State after = state;
  after.position += points;
  return after;
}

// Where the generator stands after `count` values.
State state_after(const char* operation, const State& state, Draw draw, std::uint64_t count) {
  if (is_quasi(state.algorithm)) return state_after_points(operation, state, draw, count);
  const std::uint64_t each = words_per_value(state.algorithm, draw),
                      room = last_position(state.algorithm) - state.position;
  const std::uint64_t half = pairs_from_origin(state.algorithm, draw) ? (state.position - state.origin) % 2 : 0;
  require(half <= room && count <= (room - half) / each,
          "{}: position {} + {} values of {} words exceeds 2^64 - 1; take another stream or seed", operation,
          state.position, count, each);
  State after = state;
  after.position += half + each * count;
  return after;
}

template <class T> void fill(const KernelTable<FillArgs>& kernels, Draw draw, const Executor& executor,
                             Generator& generator, const View<T>& out) {
  const char* operation = kernels.operation;
  (void)checked_output(operation, executor, out);
  const std::int64_t count = out.size();
  if (count == 0) return;
  const State after = state_after(operation, generator.state(), draw, static_cast<std::uint64_t>(count));
  dispatch(kernels, executor, {generator.state(), draw, out.data(), out.shape(), out.strides()});
  generator = Generator(after);
}

template <class T> void draw_latin(const Executor& executor, Generator& generator, const View<T>& out) {
  const char* operation = kLatin.operation;
  const Output checked = checked_output(operation, executor, out);
  require(out.rank() == 2, "{}: out has shape {}; give it (dimensions, points)", operation, to_string(out.shape()));
  require(!is_quasi(generator.state().algorithm), "{}: {} makes points; give a pseudo-random generator", operation,
          name(generator.state().algorithm));
  if (out.size() == 0) return;
  require(out.shape()[1] <= std::int64_t{1} << 32, "{}: {} points; at most 2^32", operation, out.shape()[1]);
  require(dtype_of<T> == DType::Float64 || out.shape()[1] <= std::int64_t{1} << 23,
          "{}: {} points in float, whose slices hold no float each; at most 2^23, or use double", operation,
          out.shape()[1]);
  Generator after = generator;
  after.skip(static_cast<std::uint64_t>(out.size()));
  dispatch(kLatin, executor, {generator.state(), checked});
  generator = after;
}

}  // namespace

void latin_hypercube(const Executor& executor, Generator& generator, const View<float>& out) {
  draw_latin(executor, generator, out);
}
void latin_hypercube(const Executor& executor, Generator& generator, const View<double>& out) {
  draw_latin(executor, generator, out);
}

void raw32(const Executor& executor, Generator& generator, const View<std::uint32_t>& out) {
  fill(kRaw32, Draw::Raw32, executor, generator, out);
}

void raw64(const Executor& executor, Generator& generator, const View<std::uint64_t>& out) {
  fill(kRaw64, Draw::Raw64, executor, generator, out);
}

void uniform(const Executor& executor, Generator& generator, const View<float>& out, Interval interval) {
  operands::check_enumerator(kUniform.operation, "Interval", interval, Interval::HalfOpen);
  fill(kUniform, interval == Interval::OpenClosed ? Draw::OpenClosed : Draw::HalfOpen, executor, generator, out);
}

void uniform(const Executor& executor, Generator& generator, const View<double>& out, Interval interval) {
  operands::check_enumerator(kUniform.operation, "Interval", interval, Interval::HalfOpen);
  fill(kUniform, interval == Interval::OpenClosed ? Draw::OpenClosedDouble : Draw::HalfOpenDouble, executor, generator,
       out);
}

}  // namespace trn::rand
