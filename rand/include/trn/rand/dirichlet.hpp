// dirichlet: rows of K = last extent of out positive numbers that sum to 1, with density proportional to the product of
// x_k^(alpha_k - 1).
//
// Gammas divided by their sum, in logarithms, so that a small alpha gives no 0 / 0. A row is K elements. Order, words,
// bits, executors and refusals are those of gamma.hpp; alpha has K numbers, each finite and positive.
#pragma once

#include <span>
#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

void dirichlet(const Executor& executor, Generator& generator, const View<float>& out, std::span<const double> alpha);
void dirichlet(const Executor& executor, Generator& generator, const View<double>& out, std::span<const double> alpha);

}  // namespace trn::rand
