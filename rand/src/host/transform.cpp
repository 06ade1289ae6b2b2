// The host kernel of every distribution with a fixed number of words per value: a chunk of words in cache, transformed
// to a chunk of values, then the next. Pieces of the output are shared among threads.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "host/blocks.hpp"
#include "host/pieces.hpp"
#include "host/transforms.hpp"
#include "host/words.hpp"
#include "kernels.hpp"

namespace trn::rand::host {

namespace {

constexpr std::int64_t kChunk = 2048;  // values: words and values of a chunk are 32 KiB at most
static_assert(kChunk % kTransformGrain == 0);

// Values first .. first + count - 1 of the draw. They come in pairs, so the first may be the second half of one.
template <class T, class Convert> void make_values(const State& begin, const DrawWords& source, std::int64_t words_each,
                                                   std::int64_t first, std::int64_t count, T* out,
                                                   const Convert& convert) {
  alignas(64) std::uint32_t words[2 * kChunk];
  alignas(64) T values[kChunk];
  std::int64_t at = first * words_each;  // after the draw's first word
  auto skip = static_cast<std::int64_t>((begin.position + static_cast<std::uint64_t>(at)) /
                                        static_cast<std::uint64_t>(words_each) % 2);
  at -= skip * words_each;
  while (count > 0) {
    const std::int64_t taken = std::min(kChunk - skip, count);
    const std::int64_t made = (skip + taken + kTransformGrain - 1) / kTransformGrain * kTransformGrain;
    source.read(at, made * words_each, words);
    if (made == taken) {  // all of it is asked for
      convert(words, made, out);
    } else {
      convert(words, made, values);
      std::copy_n(values + skip, taken, out);
    }
    at += kChunk * words_each;
    out += taken;
    count -= taken;
    skip = 0;
  }
}

// One value before the first, and a grain beyond the last, may be looked at.
DrawWords words_of(const TransformArgs& args, std::int64_t words_each) {
  const std::int64_t before = args.state.position < static_cast<std::uint64_t>(words_each) ? 0 : -words_each;
  return {args.state, before, (element_count(args.out.shape) + kTransformGrain) * words_each};
}

// Coordinates of points, 32 or 53 bits of them, as 64-bit words in the middle of their steps.
template <class T> void run_points(const TransformArgs& args) {
  const std::int64_t n = element_count(args.out.shape);
  const std::int64_t made = (n + kTransformGrain - 1) / kTransformGrain * kTransformGrain;
  std::vector<double> coordinates(static_cast<std::size_t>(made));
  fill(Executor::host(), {args.state, Draw::HalfOpenDouble, coordinates.data(), {n}, {1}});
  const Algorithm a = args.state.algorithm;
  const bool narrow = a == Algorithm::Sobol32 || a == Algorithm::ScrambledSobol32 || a == Algorithm::OwenSobol32;
  const std::uint64_t half = std::uint64_t{1} << (narrow ? 31 : 10);
  for_pieces<T>(args.out.data, args.out.shape, args.out.strides, 1, [&](std::int64_t first, std::int64_t count, T* to) {
    alignas(64) std::uint64_t words[kTransformGrain];
    alignas(64) T values[kTransformGrain];
    for (std::int64_t i = 0; i < count; i += kTransformGrain) {
      const std::int64_t taken = std::min(kTransformGrain, count - i);
      for (std::int64_t k = 0; k < taken; ++k) {
        words[k] = static_cast<std::uint64_t>(coordinates[static_cast<std::size_t>(first + i + k)] * 0x1p64) + half;
      }
      std::fill(words + taken, words + kTransformGrain, half);
      transform_values(args.transform, reinterpret_cast<const std::uint32_t*>(words), kTransformGrain, values);
      std::copy_n(values, taken, to + i);
    }
  });
}

template <class T> void run(const TransformArgs& args) {
  if (is_quasi(args.state.algorithm)) return run_points<T>(args);
  const Transform& t = args.transform;
  const std::int64_t words_each = words_per_value(t.law, sizeof(T) == 8);
  const DrawWords source = words_of(args, words_each);
  for_pieces<T>(args.out.data, args.out.shape, args.out.strides, 1, [&](std::int64_t first, std::int64_t count, T* to) {
    make_values(args.state, source, words_each, first, count, to,
                [&](const std::uint32_t* words, std::int64_t n, T* values) { transform_values(t, words, n, values); });
  });
}

// 0 and 1 as uint32, or `one` as the bits of the float 1.
void run_bernoulli(const TransformArgs& args) {
  const double p = args.transform.location;
  const bool always = p == 1;
  const std::uint64_t threshold = always ? 0 : static_cast<std::uint64_t>(std::ldexp(p, 64));
  const std::uint32_t one = args.out.dtype == DType::Float32 ? 0x3f800000 : 1;
  const DrawWords source = words_of(args, 1);
  for_pieces<std::uint32_t>(args.out.data, args.out.shape, args.out.strides, 1,
                            [&](std::int64_t first, std::int64_t count, std::uint32_t* to) {
                              make_values(args.state, source, 1, first, count, to,
                                          [&](const auto* words, auto n, auto* values) {
                                            bernoulli_values(threshold, always, words, n, values);
                                            for (std::int64_t i = 0; i < n; ++i) values[i] *= one;
                                          });
                            });
}

}  // namespace

void transform(const Executor&, const TransformArgs& args) {
  if (args.transform.law == Law::Bernoulli) return run_bernoulli(args);
  if (args.out.dtype == DType::Float64) return run<double>(args);
  run<float>(args);
}

}  // namespace trn::rand::host
