// Products of two sparse matrices, and of two dense ones sampled at a sparse pattern.
// cuSPARSE: SpGEMM, SpGEMMreuse, SpGEMM_getNumProducts, SDDMM.
//
// C = alpha A B has an entry wherever a product of entries falls, also when the sum is zero. Its rows are sorted. An
// element is the sum of its products in the order of A's columns: the same bits for any number of threads. The bound:
// |C - exact|(i,j) <= (k + 2) u |alpha| (|A||B|)(i,j), k the products that meet there (complex: each part, k + 5).
// Extents must fit 32 bits; counts of entries and products are 64 bits wide.
#pragma once

#include <trn/core/precision.hpp>
#include <trn/sparse/formats.hpp>

namespace trn::sparse {

// The symbolic phase: once for a pair of patterns; numbers as often as values change.
template <Scalar T> class SpgemmPlan {
 public:
  SpgemmPlan(const Executor& executor, const Pattern<>& a, const Pattern<>& b);
  // A and B must have the plan's patterns (compared unless they are the same objects).
  [[nodiscard]] Csr<T> execute(T alpha, const Csr<T>& a, const Csr<T>& b) const;
  [[nodiscard]] const Pattern<>& pattern() const { return c_; }  // of C
  [[nodiscard]] std::int64_t products() const { return products_; }

 private:
  std::int64_t products_ = 0;  // before c_, whose maker counts them
  Pattern<> a_, b_, c_;
};

// The same for matrices of square blocks, whose products are dense: on the host of any size of block, by trnblas's
// gemm; on a device (float) of 128 x 128 (spgemm_programs.hpp), with the patterns looked at on the host when the plan
// is made. An element is the sum over A's blocks in the order of their columns; with b the size of a block and g the
// most blocks of a row of A, the bound on devices is (min(b g, 128) + 2 g + 4) u |alpha| (|A||B|)(i,j), on the host (b
// g + g + 2) u. What lies beyond the extents is zero in A and B, and in C.
struct BlockSpgemmReport {
  std::int64_t products = 0;    // of blocks
  double modelled_seconds = 0;  // devices: launch included
  double host_seconds = 0;      // of one host core at a nominal 60 GFLOP/s
};
template <Scalar T> class BlockSpgemmPlan {
 public:
  BlockSpgemmPlan(const Executor& executor, const Bsr<T>& a, const Bsr<T>& b);
  // A and B must have the plan's patterns, extents and blocks.
  [[nodiscard]] Bsr<T> execute(T alpha, const Bsr<T>& a, const Bsr<T>& b) const;
  [[nodiscard]] const Pattern<>& pattern() const { return c_; }  // of C's blocks, on the executor
  [[nodiscard]] const BlockSpgemmReport& report() const { return report_; }

 private:
  Extents extents_;
  std::int64_t block_ = 0, inner_ = 0;
  BlockSpgemmReport report_;
  Pattern<> a_, b_, c_;
  std::shared_ptr<const void> state_;  // devices
};

// Both phases in one pass, which is quicker when it is done once.
template <Scalar T, Index I> [[nodiscard]] Csr<T, I> spgemm(const Executor& executor, std::type_identity_t<T> alpha,
                                                            const Csr<T, I>& a, const Csr<T, I>& b);
// A^k, k >= 0.
template <Scalar T> [[nodiscard]] Csr<T> power(const Executor& executor, const Csr<T>& a, std::int64_t k);

// On the pattern of S: alpha (A B)(i,j) + beta S(i,j). A is rows x k, B is k x columns. The bound:
// (k + 2) u (|alpha| (|A||B|)(i,j) + |beta S(i,j)|); beta = 0 never reads the values of S.
// On a device (float; k up to 4096) windows of 128 rows are multiplied with the columns that they have entries in, and
// the entries picked from the products: sddmm_programs.hpp. There the bound has min(k, 128) + 2 ceil(k / 128) + 6, not
// k + 2 (trn/tile/words.hpp); S and the result are on the device, the pattern is looked at on the host in each call.
template <Scalar T> [[nodiscard]] Csr<T> sddmm(const Executor& executor, std::type_identity_t<T> alpha,
                                               const std::type_identity_t<MatrixView<const T>>& a,
                                               const std::type_identity_t<MatrixView<const T>>& b,
                                               std::type_identity_t<T> beta, const Csr<T>& s);

}  // namespace trn::sparse
