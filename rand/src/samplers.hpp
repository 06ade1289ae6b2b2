// The distributions whose values draw from words of their own element: their parameters after the entry points' checks.
#pragma once

#include <cstdint>
#include <trn/rand/binomial.hpp>
#include <trn/rand/gamma.hpp>
#include <trn/rand/poisson.hpp>
#include <trn/rand/truncated_normal.hpp>
#include <trn/rand/von_mises.hpp>
#include <variant>
#include <vector>

namespace trn::rand {

// Rows of K elements.
struct MultinomialRows {
  std::int64_t trials = 0;
  std::vector<double> p;
};
struct DirichletRows {
  std::vector<double> alpha;
};
struct MultivariateNormalRows {
  std::vector<double> mean, factor;  // K, and the lower triangle L in K x K row-major
};

using Sampler = std::variant<GammaOptions, ChiSquaredOptions, BetaOptions, StudentTOptions, FisherFOptions,
                             TruncatedNormalOptions, VonMisesOptions, PoissonOptions, BinomialOptions, GeometricOptions,
                             HypergeometricOptions, MultinomialRows, DirichletRows, MultivariateNormalRows>;

}  // namespace trn::rand
