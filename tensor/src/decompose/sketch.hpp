// Orthonormal bases of the approximate range of an unfolding, from Gaussian sketches: Q of W Omega, Omega with
// rank + oversampling columns from Philox; `power` times Q of W (W^H Q). Cut to the leading `rank` directions.
#pragma once

#include <trn/tensor/tucker.hpp>

#include "decompose/dense.hpp"

namespace trn::tensor {

// n x rank, row-major.
template <Scalar T>
std::vector<T> sketched_range(const Dense<T>& x, std::int64_t mode, std::int64_t rank, const TuckerOptions& options);

}  // namespace trn::tensor
