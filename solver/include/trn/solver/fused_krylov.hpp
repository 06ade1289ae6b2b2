// Conjugate gradients and Chebyshev's iteration in blocks of steps, each block one device program: the matrix and all
// vectors stay in SBUF (krylov_program.hpp), and the host sees the norms of up to 32 steps at a time. For symmetric
// matrices that fit: dense ones up to order 2432 (trn1: 2304, trn3: 2688), with 128 columns at a time up to 2176 (1920,
// 2304), sparse ones by their tiles. A step costs what its product and two sums over partitions take instead of half a
// dozen launches.
//
// krylov.hpp says when a column has converged and what the outcomes are; they are the same here, as are iteration
// counts but for roundings: scalars are float32 here, and the host's there. A column that has converged is left as it
// is. What differs:
//
// - float32 on devices; no preconditioner. On the host: cg and chebyshev.
// - KrylovOptions::monitor is called for every step of a block after the block has run. Where it says stop, x is that
//   of the block's end, and so is the count of iterations.
// - chebyshev runs every block to its end, of at most 32 steps, even if columns converge before.
// - A dense matrix is taken as symmetric; contiguous rows or columns.
// - More columns than there is room for run one group after another. The monitor hears the steps of each group, from 1,
//   with the residuals of its columns; where it says stop, the groups behind still run.
//
// NotImplemented where A does not fit into SBUF: use cg.
#pragma once

#include <trn/core/block_tiles.hpp>
#include <trn/solver/krylov.hpp>

namespace trn::solver {

// An operator that has its matrix as tiles in its executor's memory.
template <class A>
concept TiledOperator = LinearOperator<A, float> && requires(const A& a) {
  { a.block_tiles() } -> std::convertible_to<BlockTiles>;
};

namespace detail {
// A matrix of one of both forms; `dense` is without address for tiles.
struct ResidentMatrix {
  OperatorRef<float> a;
  std::optional<MatrixView<const float>> dense;
  BlockTiles tiles;
};
IterationReport fused_cg(const ResidentMatrix& a, const MatrixView<const float>& b, const MatrixView<float>& x,
                         const KrylovOptions& options);
IterationReport fused_chebyshev(const ResidentMatrix& a, const MatrixView<const float>& b, const MatrixView<float>& x,
                                const SpectrumBounds& spectrum, const KrylovOptions& options);
}  // namespace detail

// Symmetric positive definite A.
inline IterationReport fused_cg(const DenseOperator<float>& a, const ConstMatrix<float>& b, const MatrixView<float>& x,
                                const KrylovOptions& options = {}) {
  return detail::fused_cg({a, a.matrix(), {}}, b, x, options);
}
template <TiledOperator A> IterationReport fused_cg(const A& a, const ConstMatrix<float>& b, const MatrixView<float>& x,
                                                    const KrylovOptions& options = {}) {
  return detail::fused_cg({a, {}, a.block_tiles()}, b, x, options);
}
// Symmetric A with its spectrum in [lo, hi], lo > 0.
inline IterationReport fused_chebyshev(const DenseOperator<float>& a, const ConstMatrix<float>& b,
                                       const MatrixView<float>& x, const SpectrumBounds& spectrum,
                                       const KrylovOptions& options = {}) {
  return detail::fused_chebyshev({a, a.matrix(), {}}, b, x, spectrum, options);
}
template <TiledOperator A> IterationReport fused_chebyshev(const A& a, const ConstMatrix<float>& b,
                                                           const MatrixView<float>& x, const SpectrumBounds& spectrum,
                                                           const KrylovOptions& options = {}) {
  return detail::fused_chebyshev({a, {}, a.block_tiles()}, b, x, spectrum, options);
}

}  // namespace trn::solver
