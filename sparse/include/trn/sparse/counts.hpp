// Arithmetic and traffic of sparse operations: what a benchmark divides by time. Operations are those on stored entries
// of real matrices; complex ones take four times as many. Bytes are those that must be read and written once: entries
// of `size` bytes with an index of 4 each, dense operands as they are. Row offsets are left out.
#pragma once

namespace trn::sparse::counts {

struct Work {
  double flops = 0, bytes = 0;
};
inline constexpr double kComplexFactor = 4, kIndexBytes = 4;

// A multiplication and an addition for each entry and column.
[[nodiscard]] constexpr Work spmm(double nnz, double rows, double columns, double n, double size, double matrix_bytes) {
  return {2 * nnz * n, matrix_bytes + size * n * (rows + columns)};
}
[[nodiscard]] constexpr Work sddmm(double nnz, double rows, double columns, double k, double size) {
  return {2 * nnz * k, nnz * (size + kIndexBytes) + size * k * (rows + columns)};
}
// `products` of entries; both operands and the result with `entries` of them.
[[nodiscard]] constexpr Work spgemm(double products, double nnz_a, double nnz_b, double entries, double size) {
  return {2 * products, (size + kIndexBytes) * (nnz_a + nnz_b + entries)};
}
// A triangle with `stored` entries and n right-hand sides: B is read, X written.
[[nodiscard]] constexpr Work spsv(double stored, double rows, double n, double size) {
  return {2 * stored * n, stored * (size + kIndexBytes) + 2 * size * rows * n};
}
// Factored: a product with the pivots, and a multiplication and an addition on either way; three factors are read.
[[nodiscard]] constexpr Work tridiagonal(double n, double count, double size) {
  return {5 * n * count, 5 * size * n * count};
}
[[nodiscard]] constexpr Work transpose(double nnz, double size) { return {0, 2 * nnz * (size + kIndexBytes)}; }
// Two products forward, five backward, for each of `blocks` of `side` x `side` pairs.
[[nodiscard]] constexpr Work attention(double blocks, double side, double heads, double d, bool backward) {
  return {(backward ? 10 : 4) * blocks * side * side * d * heads, 0};
}

}  // namespace trn::sparse::counts
