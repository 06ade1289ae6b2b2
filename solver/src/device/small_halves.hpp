// Spectral divide and conquer of halves that fit a tile of the Tensor Engine: all of them at once, level by level.
//
// A level is one sign program and one split program for up to eight tiles. The halves of a tile stay in it: Q^T A Q
// has them as its diagonal blocks, and what is neglected between them goes along. Blocks of at most 16 are left to the
// host, which diagonalises them in double.
#pragma once

#include <optional>
#include <vector>

#include "device/random_matrix.hpp"
#include "device/spectral_division.hpp"

namespace trn::solver::device {

// A problem of order k <= 128: the window of a larger symmetric matrix, whose eigenvalues number from `index`.
struct SmallHalf {
  const float* a = nullptr;
  std::int64_t stride = 0, k = 0, index = 0;
};

struct SmallResult {
  bool converged = true;
  std::int64_t begin = 0, count = 0;  // the wanted eigenvectors are the first `count` rows of the 128 x 128 `rows`
  MatrixView<const float> rows;
};

// One of several problems that a division consists of; what they have in common.
struct DivisionState {
  const Executor& executor;
  Wanted wanted;
  Gaussian random{20240607};
  double negligible = 0;  // matrices no larger count as multiples of the identity
  int steps = 0, depth = 0;
};

// sigma: the middle of the largest gap between diagonal elements, among those around the median. On a matrix that is
// nearly diagonal it falls between eigenvalues; on any other it is about the median.
[[nodiscard]] double middle(std::vector<float> diagonal);

// kept: where the memory of the results stays.
[[nodiscard]] std::vector<SmallResult> divide_small(DivisionState& state, const std::vector<SmallHalf>& halves,
                                                    int depth, std::vector<Array<float>>& kept);

}  // namespace trn::solver::device
