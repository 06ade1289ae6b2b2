// bernoulli: out(i) = 1 with probability p, else 0, as uint32 or float.
//
// Value n takes word n and, where that one alone does not decide, its neighbour n ^ 1: the probability is p rounded to
// a multiple of 2^-64. Exact integer comparisons: the same bits everywhere. The position moves by one word per value.
// Throws InvalidArgument, draws nothing and writes nothing when `out` breaks the rules of raw32 or p is not in [0, 1].
#pragma once

#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

struct BernoulliOptions {
  double p = 0.5;
};

void bernoulli(const Executor& executor, Generator& generator, const View<std::uint32_t>& out,
               const BernoulliOptions& options = {});
void bernoulli(const Executor& executor, Generator& generator, const View<float>& out,
               const BernoulliOptions& options = {});

}  // namespace trn::rand
