// What one does with sparse matrices besides multiplying them: transpose, cut, glue, add, compare, drop, reorder.
// cuSPARSE: csr2csc, csrgeam2, csr2csr_compress, pruneCsr2csr, nnz; SciPy: the operators and methods of csr_matrix.
//
// All on the host; the results are new values. Sums and products of two matrices take both patterns as they are, so an
// entry that cancels to zero stays an entry.
#pragma once

#include <trn/sparse/csr.hpp>

namespace trn::sparse {

template <Scalar T, Index I> [[nodiscard]] Csr<T, I> transpose(const Csr<T, I>& a);
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> adjoint(const Csr<T, I>& a);  // conjugate transpose
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> conjugate(const Csr<T, I>& a);

// alpha A + beta B on the union of the patterns.
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> add(std::type_identity_t<T> alpha, const Csr<T, I>& a,
                                                         std::type_identity_t<T> beta, const Csr<T, I>& b);
// A(i,j) B(i,j) on the intersection.
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> multiply_elements(const Csr<T, I>& a, const Csr<T, I>& b);
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> scale(std::type_identity_t<T> alpha, const Csr<T, I>& a);

// Entries with |a(i,j)| > threshold; NaN is kept. With 0, what is stored as zero goes.
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> prune(const Csr<T, I>& a, std::type_identity_t<Real<T>> threshold);
// The lower or upper triangle, up to diagonal `k` (0: with the main one).
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> triangle(const Csr<T, I>& a, Uplo uplo, std::int64_t k = 0);
// A(i,i), zero where there is no entry.
template <Scalar T, Index I> [[nodiscard]] std::vector<T> diagonal(const Csr<T, I>& a);
template <Scalar T, Index I = std::int32_t> [[nodiscard]] Csr<T, I> identity(const Executor& executor, std::int64_t n);

// Rows [row, row + rows) and columns [column, column + columns).
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> slice(const Csr<T, I>& a, std::int64_t row, std::int64_t rows,
                                                           std::int64_t column, std::int64_t columns);
// Row k of the result is row order[k] of A; rows may come twice or not at all.
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> take_rows(const Csr<T, I>& a, std::span<const std::int64_t> order);
// P A Q: row k of the result is row rows[k] of A, column k is column columns[k]. Both must be permutations.
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> permute(const Csr<T, I>& a, std::span<const std::int64_t> rows,
                                                             std::span<const std::int64_t> columns);
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> stack_rows(std::span<const Csr<T, I>> parts);  // above one another
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> stack_columns(std::span<const Csr<T, I>> parts);  // side by side

// The same entries with equal values; -0 equals 0, NaN equals nothing.
template <Scalar T, Index I> [[nodiscard]] bool equal(const Csr<T, I>& a, const Csr<T, I>& b);
template <Scalar T, Index I> [[nodiscard]] std::vector<std::int64_t> entries_per_row(const Csr<T, I>& a);

// Which symmetries hold exactly, and how wide the band is.
struct Structure {
  bool pattern_symmetric = false, symmetric = false, hermitian = false, skew = false;
  std::int64_t lower_bandwidth = 0, upper_bandwidth = 0;
  std::int64_t empty_rows = 0, empty_columns = 0, longest_row = 0, missing_diagonal = 0;
};
template <Scalar T, Index I> [[nodiscard]] Structure structure(const Csr<T, I>& a);

// A permutation's inverse; throws InvalidArgument when it is none.
[[nodiscard]] Permutation inverse(std::span<const std::int64_t> permutation);

}  // namespace trn::sparse
