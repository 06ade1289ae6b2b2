// Sign functions by the resident programs: the schedules repeated until every diagonal block has converged.
#pragma once

#include <vector>

#include "device/padded.hpp"

namespace trn::solver::device {

// A diagonal block of matrix `tile`: rows first to first + k - 1.
struct DiagonalBlock {
  std::int64_t tile = 0, first = 0, k = 0;
};

// Matrices of order n, `tiles` of them, one after another in device memory; and the values that each row has.
struct ResidentShape {
  std::int64_t n = 128, tiles = 1;
  [[nodiscard]] std::int64_t rows() const { return n * tiles; }
  [[nodiscard]] std::size_t at(const DiagonalBlock& block, std::int64_t i) const {
    return static_cast<std::size_t>(block.tile * n + block.first + i);
  }
};

struct ResidentSigns {
  Array<float> s;
  std::vector<double> distances;  // of X X from I, before the closing step; below kNear: converged
  int steps = 0;                  // of polynomials
  static constexpr double kNear = 0.04;
};

// The signs of A's blocks, shifted; ids and shift as sign_program.hpp says.
[[nodiscard]] ResidentSigns resident_signs(const Executor& executor, const ResidentShape& shape, const float* a,
                                           const std::vector<float>& ids, const std::vector<float>& shift,
                                           const std::vector<DiagonalBlock>& blocks);

// Sums over the rows of each block.
[[nodiscard]] std::vector<double> block_sums(const ResidentShape& shape, const std::vector<float>& rows,
                                             const std::vector<DiagonalBlock>& blocks);

}  // namespace trn::solver::device
