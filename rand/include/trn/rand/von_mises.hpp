// von_mises: an angle in [-pi, pi] with density e^(kappa cos(x - mean)) / (2 pi I0(kappa)).
//
// Best and Fisher's rejection (1979). Order, words, bits, executors and refusals are those of gamma.hpp; kappa from 0
// to 1e100, kappa = 0 is uniform. The mean is any finite angle.
#pragma once

#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

struct VonMisesOptions {
  double mean = 0, kappa = 1;
};

void von_mises(const Executor& executor, Generator& generator, const View<float>& out,
               const VonMisesOptions& options = {});
void von_mises(const Executor& executor, Generator& generator, const View<double>& out,
               const VonMisesOptions& options = {});

}  // namespace trn::rand
