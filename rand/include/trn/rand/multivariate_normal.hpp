// multivariate_normal: rows of K = last extent of out numbers, mean + L z with L L^T = covariance and z standard
// normal.
//
// L is the Cholesky factor, computed in double; a pivot that is 0 up to rounding (K 2^-50 times its own variance)
// makes its column 0, so a semidefinite covariance is accepted. A row is K elements. Order, words, bits, executors and
// refusals are those of gamma.hpp. Refused: a covariance that is not K x K row-major, not finite, not symmetric (to K
// 2^-50 of sqrt(c_ii c_jj)), or not positive semidefinite.
#pragma once

#include <span>
#include <trn/core/view.hpp>
#include <trn/rand/generator.hpp>

namespace trn::rand {

void multivariate_normal(const Executor& executor, Generator& generator, const View<float>& out,
                         std::span<const double> mean, std::span<const double> covariance);
void multivariate_normal(const Executor& executor, Generator& generator, const View<double>& out,
                         std::span<const double> mean, std::span<const double> covariance);

}  // namespace trn::rand
