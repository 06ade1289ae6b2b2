// truncated_normal: a normal with this mean and stddev, given that it lies in [low, high]; the ends may be infinite.
//
// Rejection from the normal, from an exponential in the tail, or from a uniform, whichever is accepted most often
// (Robert 1995): exact also where the interval lies many standard deviations away,
// up to the rounding of mean + stddev z: a float may round to a number just outside [low, high]. Order, words, bits, executors and
// refusals are those of gamma.hpp; low < high, and stddev is positive.
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
