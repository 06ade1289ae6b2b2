// First attempts of rejection samplers for many elements at once, on vectors: operation for operation what the samplers
// for one element do (continuous_samplers.hpp, discrete_samplers.hpp), so that the bits are theirs. Compiled once per
// instruction set and chosen at run time by Highway.
#pragma once

#include <array>
#include <cstdint>

namespace trn::rand::host {

// Elements are handled in whole multiples of this; the arrays of a call have room for them.
inline constexpr std::int64_t kAttemptGrain = 8;

// Constants of StandardGamma.
struct GammaAttempt {
  double boost, d, c;
};
// words: four 64-bit numbers of each element, x and y of a normal, the uniform of the test, the exponential of the
// boost. accepted[i] is not 0 where value[i] is the element's; elsewhere the sampler has to begin anew, and value[i] is
// anything.
void gamma_attempts(const GammaAttempt& by, const std::uint64_t* words, std::int64_t n, double* value,
                    std::uint64_t* accepted);

// Constants of PoissonSampler, lambda >= kInversionMean.
struct PoissonAttempt {
  double lambda, centre, width, log_top;
  std::array<double, 16> stirling;  // stirling_error(k) for k < 16
};
// words: two 64-bit numbers of each element, u and v. Not accepted: the next attempt takes the next block.
void poisson_attempts(const PoissonAttempt& by, const std::uint64_t* words, std::int64_t n, double* value,
                      std::uint64_t* accepted);

}  // namespace trn::rand::host
