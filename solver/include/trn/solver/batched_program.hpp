// Device programs of batches of small float32 matrices: one matrix in each partition, 128 at a time, all of them at
// the same step. Indices are on the free axis, so a search for the largest element of a column is one instruction, and
// pivoting is true partial pivoting. A matrix that fails or is not finite touches no other.
#pragma once

#include <cstdint>

#include <trn/tile/machine.hpp>
#include <trn/tile/program.hpp>

namespace trn::solver {

// The largest m and n: a program holds a handful of m x n tiles in every partition.
inline constexpr std::int64_t kBatchOrder = 64;

// `count` matrices of m x n, `stride` elements apart, with the strides of their rows and columns.
struct BatchProgramShape {
  std::int64_t count = 1, m = 1, n = 1;
  std::int64_t stride = 1, row = 1, column = 1;
  bool upper = false;  // which triangle of a symmetric matrix is read
  bool operator==(const BatchProgramShape&) const = default;
};

// Programs that read "a" have an output "flags" (count): zero, or m n less the place i n + j of the first element, row
// by row, that is read and NaN or infinite.

// Input "a", output "factor" in its memory: L or U in the named triangle, the other as it was. Output "pivots"
// (count, n): the squared diagonal of the factor; from the first that is not positive on the factor means nothing.
[[nodiscard]] tile::Program potrf_batch_program(const BatchProgramShape& shape, const tile::Machine& machine);

// Input "a", output "factors" in its memory: L below the diagonal, U on and above it. Output "places" (count, min(m,
// n)): m less the row that was exchanged with row k; "diagonal", of U.
[[nodiscard]] tile::Program getrf_batch_program(const BatchProgramShape& shape, const tile::Machine& machine);

// Input "a", output "factors" in its memory: Householder's v below the diagonal, R on and above it. Output "tau"
// (count, min(m, n)).
[[nodiscard]] tile::Program geqrf_batch_program(const BatchProgramShape& shape, const tile::Machine& machine);

// Cyclic Jacobi sweeps of symmetric matrices of order n, N = n rounded up to even.
struct JacobiShape {
  BatchProgramShape batch;
  std::int64_t sweeps = 1;
  bool begins = true;  // from "a", else from the state of the program before
  bool vectors = true;
  bool operator==(const JacobiShape&) const = default;
};
// Input "a" and output "flags", or inputs "matrix_in" and "vectors_in" (count, N, N). Outputs "matrix", nearly diagonal
// after enough sweeps, "vectors", in rows, "off" (count): the largest |element| off the diagonal, and with `begins`
// "scale" (count), a power of two: A = scale V^T matrix V, with matrix below 4.
[[nodiscard]] tile::Program eigh_batch_program(const JacobiShape& shape, const tile::Machine& machine);
// Inputs "matrix", "vectors" and "scale"; outputs "w" (count, n), ascending, and "a": vectors in columns.
[[nodiscard]] tile::Program eigh_sort_program(const JacobiShape& shape, const tile::Machine& machine);

}  // namespace trn::solver
