// What follows a sign function in spectral divide and conquer, as one device program: an orthogonal Q whose columns
// span the ranges of (I + S) / 2 and (I - S) / 2, and Q^T A Q.
#pragma once

#include <cstdint>

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::solver {

// Whether the caller wants Q^T, or has rows that are to be multiplied by it.
enum class SplitResult : std::uint8_t { Basis, Rows };

struct SplitShape {
  std::int64_t n = 128;    // a multiple of 128, at most resident_order(machine)
  std::int64_t tiles = 1;  // matrices; more than one only for n = 128
  SplitResult result = SplitResult::Rows;
  bool operator==(const SplitShape&) const = default;
};

// Tensors, tiles x n x n: inputs "a" (symmetric), "s" (its sign function, block by block), "g" (random numbers inside
// of the blocks), and "rows" for SplitResult::Rows; outputs "a_out" = Q^T A Q, symmetric to the last bit, and
// "rows_out" = Q^T rows, or Q^T.
// tiles x n: inputs "ids" (rows with equal ids are a block) and "order": k - 2 i - 1 for row i of a block of k, and a
// large number where G is I / 2 and S is I, which gives Q = I. Outputs "trace": of the block of S, at each of its rows;
// and "departure": the sums of squares of Q^T Q - I before the last step.
//
// A block with trace t has r = (k + t) / 2 eigenvalues above the shift; they come first. With D = diag(+-1), + for the
// first r columns of each block, G + (S G) D are the two projectors times columns of G. Its polar factor U has
// orthonormal columns in the same spaces; G's square blocks are ill-conditioned and amplify the error of S, so that
// (U + (S U) D) / 2 and its polar factor follow: Q. Products only, no panel.
[[nodiscard]] tile::Program split_program(const SplitShape& shape, const tile::Machine& machine);

// The window of a larger matrix, out of which a half is taken.
struct WindowShape {
  std::int64_t n = 128;     // a multiple of 128
  std::int64_t stride = 1;  // between rows of the larger matrix
  bool operator==(const WindowShape&) const = default;
};

// Tensors: inputs "a" (n x n, with the stride) and "live" (n): 1 for rows and columns that are wanted, else 0. Outputs
// "w" (n x n): A with zeros elsewhere; "sums" (3 x n): of absolute values and of squares of each row, and the diagonal.
[[nodiscard]] tile::Program window_program(const WindowShape& shape, const tile::Machine& machine);

}  // namespace trn::solver
