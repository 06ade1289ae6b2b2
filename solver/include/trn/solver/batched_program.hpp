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

// One-sided Jacobi sweeps of m x n matrices: p = max(m, n), q = min(m, n), N = q rounded up to even; `vectors` and
// `upper` have no meaning. Input "a" and output "flags", or inputs "matrix_in" (count, N, p) and "vectors_in" (count,
// N, N). Outputs "matrix" and "vectors": what becomes U S and V, their columns in rows; "off" (count): the square of
// the largest cosine of two columns that the last sweep met; with `begins` "scale" (count), a power of two: A, or A^T
// where m < n, is scale matrix^T vectors.
[[nodiscard]] tile::Program svd_batch_program(const JacobiShape& shape, const tile::Machine& machine);
// Where vectors go: `left` p x q, or p x p, whose last columns become zero; `right` q x q.
struct SvdSortShape {
  BatchProgramShape left, right;
  bool operator==(const SvdSortShape&) const = default;
};
// Inputs "matrix", "vectors" and "scale"; outputs "s" (count, q), descending, "left" and "right": vectors in columns,
// "missing" (count): how many of the first q columns of `left` are zeros, because the singular value is below 2^-50 of
// the matrix.
[[nodiscard]] tile::Program svd_sort_program(const SvdSortShape& shape, const tile::Machine& machine);
// Columns from `first` on are orthonormal to one another and to those before, or zeros.
struct OrthonormalShape {
  BatchProgramShape batch;
  std::int64_t first = 0;
  bool operator==(const OrthonormalShape&) const = default;
};
// Input "u_in", output "u" in its memory: the zeros have become orthonormal columns.
[[nodiscard]] tile::Program orthonormal_batch_program(const OrthonormalShape& shape, const tile::Machine& machine);

}  // namespace trn::solver
