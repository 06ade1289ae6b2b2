// truncated_normal: a normal with this mean and stddev, given that it lies in [low, high]; the ends may be infinite.
//
// Rejection from the normal, from an exponential in the tail, or from a uniform, whichever is accepted most often
// (Robert 1995). In the last two a value is low + stddev t (or high - stddev t), t >= 0 with the relative accuracy of a
// double, so the tail keeps its shape however many standard deviations away it lies: the value has the one rounding of
// that sum, and a float one more, which may take it just outside [low, high]. Order, words, bits, executors and
// refusals are those of gamma.hpp; low < high, and stddev is positive. [low, high] lies at most 1e8 standard deviations
// from the mean: beyond, the distances of neighbouring doubles are longer than the distribution is wide.
#pragma once

#include <limits>
#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

struct TruncatedNormalOptions {
  double mean = 0, stddev = 1;
  double low = -std::numeric_limits<double>::infinity(), high = std::numeric_limits<double>::infinity();
};

void truncated_normal(const Executor& executor, Generator& generator, const View<float>& out,
                      const TruncatedNormalOptions& options = {});
void truncated_normal(const Executor& executor, Generator& generator, const View<double>& out,
                      const TruncatedNormalOptions& options = {});

}  // namespace trn::rand
