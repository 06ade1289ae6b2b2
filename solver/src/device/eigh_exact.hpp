// Eigenvectors in double by refinement with Exact products: see eigh_exact.cpp.
#pragma once

#include "device/exact_columns.hpp"

namespace trn::solver::device {

struct RefinedVectors {
  Doubles x;  // columns in ascending order of eigenvalues; empty where something did not converge
  int steps = 0, levels = 0;
};
// Of a symmetric matrix whose elements are about 1. Eigenvalues that differ by no more than `floor` are equal.
[[nodiscard]] RefinedVectors refined_vectors(const Executor& executor, const Doubles& a, double floor);

}  // namespace trn::solver::device
