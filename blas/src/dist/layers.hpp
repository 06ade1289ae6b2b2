// A product in Exact whose k is divided among layers of ranks (2.5-D).
#pragma once

#include "exact/plan.hpp"
#include "product.hpp"

namespace trn::blas::distributed {

// Collective; operands and `layers` were checked, and k is not 0. The bits and the accuracy of multiply() in Exact.
template <class T> Accuracy multiply_in_layers(const Product<T>& p, const dist::Matrix<T>& a, const dist::Matrix<T>& b,
                                               const dist::Matrix<T>& c, int layers);

// The maxima over all ranks.
[[nodiscard]] exact::Reach agree(const comm::Communicator& group, const exact::Reach& mine);

}  // namespace trn::blas::distributed
