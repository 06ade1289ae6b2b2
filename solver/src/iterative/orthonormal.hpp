// Orthonormal bases of blocks by products and small eigenproblems alone, so that they run wherever gemm does.
#pragma once

#include <trn/solver/eigh.hpp>

#include "iterative/blocks.hpp"

namespace trn::solver::iterative {

// Columns that span those of W, without the part of W in the span of the orthonormal columns of `against`. Directions
// shorter than 16 k u beside the columns of W (each taken with length 1) are dropped, so that there may be fewer.
//
// Each pass: unit columns, G = W^H W = V L V^H on the host, W V. The columns of W V are orthogonal but for u sqrt(k),
// also the short ones, whose lengths the next pass takes as the new unit (Stathopoulos and Wu 2002, with the division
// by the eigenvalue's root replaced by the measured length). Two passes, three for nearly dependent columns.
template <Scalar T> Block<T> orthonormal(const MatrixView<const T>& w, const MatrixView<const T>* against = nullptr);

// Eigenvalues (ascending) and vectors of a small Hermitian matrix on the host; false when it holds NaN.
template <Scalar T> bool small_eigh(Small<T>& a, std::vector<Real<T>>& values);

}  // namespace trn::solver::iterative
