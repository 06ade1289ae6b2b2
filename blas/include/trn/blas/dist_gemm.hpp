// Products of distributed matrices: gemm, syrk, herk. The names and the meaning of their local namesakes (gemm.hpp,
// syrk.hpp), on dist::Matrix; collective over the group. cuBLASMp: cublasMpMatmul, cublasMpSyrk. PBLAS: p?gemm,
// p?syrk, p?herk.
//
// C stays where it is; A and B come to it in panels of fixed width along k, broadcast in the rows and columns of C's
// grid. Operands may have any blocks and grids on one group: one whose blocks do not lie as C's do is redistributed.
//
// The same bits for every number of ranks, grid, block size and transport:
//   Native, other modes   the order of a sum depends on k alone: ordered_gemm on the host, gemm on devices. The host's
//                         emulation of float32 modes is called block by block of C, so there the blocks matter
//   Exact                 the bits of the local operation: all ranks agree on its plan, and the whole of k is gathered
//
// Where C is small beside k, or its parts would be too small to keep a core busy, more ranks help only when they divide
// k (2.5-D). In Exact they can: Layers{c} takes c copies of C's grid, ranks [l g, (l + 1) g) of the group for a grid
// of g, and layer l multiplies its range of k. Integers of different layers are added without error, so that the bits
// are those of one call for any number of layers. C lies on the first layer. Other modes round sums whose order would
// depend on the layers, and refuse them.
//
// The result is the same on every rank, its bound the local operation's. Ranks that pass different arguments, operands
// of another group, shapes that do not fit: InvalidArgument on all of them, C as it was. So it is when one rank fails
// (no memory on its device): all throw that error. A target, which would need the norms of the whole operands, is
// refused with InvalidArgument: ask for a mode.
#pragma once

#include <trn/blas/types.hpp>
#include <trn/comm/matrix.hpp>

namespace trn::blas {

// C = alpha op(A) op(B) + beta C.
template <Scalar T> Accuracy gemm(Op op_a, Op op_b, Number<T> alpha, const dist::Matrix<T>& a, const dist::Matrix<T>& b,
                                  Number<T> beta, const dist::Matrix<T>& c, const ProductOptions& options = {});

// The same in Exact on `count` copies of C's grid, of which the group must have the ranks.
struct Layers {
  int count = 1;
};
template <Scalar T> Accuracy gemm(Op op_a, Op op_b, Number<T> alpha, const dist::Matrix<T>& a, const dist::Matrix<T>& b,
                                  Number<T> beta, const dist::Matrix<T>& c, const ProductOptions& options,
                                  const Layers& layers);

// The named triangle of C = alpha op(A) op(A)^T + beta C; op is N or T (C for real types).
template <Scalar T> Accuracy syrk(Uplo uplo, Op op, Number<T> alpha, const dist::Matrix<T>& a, Number<T> beta,
                                  const dist::Matrix<T>& c, const ProductOptions& options = {});
// The named triangle of C = alpha op(A) op(A)^H + beta C; op is N or C. Imaginary parts of the diagonal are not read,
// and become zero.
template <ComplexScalar T> Accuracy herk(Uplo uplo, Op op, Real<T> alpha, const dist::Matrix<T>& a, Real<T> beta,
                                         const dist::Matrix<T>& c, const ProductOptions& options = {});

}  // namespace trn::blas
