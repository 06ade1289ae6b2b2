// Counts: binomial, geometric, hypergeometric and multinomial.
//
//   binomial         k successes in `trials`, each with probability p
//   geometric        the number of the first success, 1, 2, ...: P(k) = p (1 - p)^(k - 1)
//   hypergeometric   k good ones among `sample` taken from good + bad without putting back
//   multinomial      `trials` things into K = last extent of out, thing by thing with probabilities p: each row sums to
//                    trials
//
// Exact as poisson.hpp says; order, words, bits, executors and refusals are those of gamma.hpp. A row of multinomial is
// K elements, each a binomial of what is left. geometric as uint32 needs p >= 1.1e-8, so that no value exceeds 2^32 -
// 1; as double p >= 1e-300. It is 1 + floor(e / -ln(1 - p)) with e in steps of 2^-53: for p below 2^-53 values step by
// 2^-53 / p instead of 1, which shows in those below 2^53 only, 2^53 p of all. Refused: p outside [0, 1] (geometric:
// p = 0), negative counts, trials or good + bad above 2^31 - 1, sample > good + bad, probabilities of multinomial that
// are negative, as many as not K, or whose sum differs from 1 by more than 1e-9.
#pragma once

#include <span>
#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

struct BinomialOptions {
  std::int64_t trials = 1;
  double p = 0.5;
};
struct GeometricOptions {
  double p = 0.5;
};
struct HypergeometricOptions {
  std::int64_t good = 1, bad = 1, sample = 1;
};

void binomial(const Executor& executor, Generator& generator, const View<std::uint32_t>& out,
              const BinomialOptions& options = {});
void geometric(const Executor& executor, Generator& generator, const View<std::uint32_t>& out,
               const GeometricOptions& options = {});
void geometric(const Executor& executor, Generator& generator, const View<double>& out,
               const GeometricOptions& options = {});
void hypergeometric(const Executor& executor, Generator& generator, const View<std::uint32_t>& out,
                    const HypergeometricOptions& options = {});
void multinomial(const Executor& executor, Generator& generator, const View<std::uint32_t>& out, std::int64_t trials,
                 std::span<const double> p);

}  // namespace trn::rand
