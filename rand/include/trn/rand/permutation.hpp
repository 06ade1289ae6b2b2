// Orders and choices.
//
//   permutation   out = 0 .. n - 1 in random order, all n! equally likely: n = size of out
//   shuffle       the same for the rows (first index) of values, in place
//   choice        out(i) = numbers in 0 .. population - 1: independent (Replacement::With), or all different and in
//                 random order (Replacement::Without); with `weights`, in proportion to them
//
// Fisher and Yates's exchanges: number i exchanges with one of i .. n - 1, chosen as integers.hpp does with element
// position + i, so the result depends on (algorithm, seed, stream, position) and the size alone. The position moves by
// the number of rows or of numbers chosen; weighted choices take two words per number, without replacement two per
// member of the population (Efraimidis and Spirakis 2006: the smallest e / weight, e exponential). Host only;
// algorithms as in integers.hpp. Refused: population < 1 or above 2^31 - 1, more numbers than the population without
// replacement (than members of positive weight), weights that are negative, not finite, all 0, or as many as not the
// population.
#pragma once

#include <span>
#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

enum class Replacement : std::uint8_t { With, Without };

struct ChoiceOptions {
  Replacement replacement = Replacement::With;
  std::span<const double> weights = {};  // empty: all the same
};

void permutation(const Executor& executor, Generator& generator, const View<std::int32_t>& out);
void shuffle(const Executor& executor, Generator& generator, const View<float>& values);
void shuffle(const Executor& executor, Generator& generator, const View<double>& values);
void shuffle(const Executor& executor, Generator& generator, const View<std::int32_t>& values);
void choice(const Executor& executor, Generator& generator, const View<std::int32_t>& out, std::int64_t population,
            const ChoiceOptions& options = {});

}  // namespace trn::rand
