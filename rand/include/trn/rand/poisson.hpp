// poisson: out(i) = k with probability e^-lambda lambda^k / k!. cuRAND: curandGeneratePoisson.
//
// Exact at every lambda: inversion below 10, rejection by ratio of uniforms above (Stadlober 1990), with probabilities
// from Loader's formulas, which do not cancel; no normal approximation anywhere. As uint32 lambda may be up to 4.29e9,
// as double, which holds the integers, up to 2^50. Order, words, bits, executors and refusals are those of gamma.hpp.
#pragma once

#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

struct PoissonOptions {
  double lambda = 1;
};

void poisson(const Executor& executor, Generator& generator, const View<std::uint32_t>& out,
             const PoissonOptions& options = {});
void poisson(const Executor& executor, Generator& generator, const View<double>& out,
             const PoissonOptions& options = {});

}  // namespace trn::rand
