// A gemm whose bits depend on k alone: C(i, j) is the same number in whichever call it is computed, for every m, n and
// number of threads. gemm promises that on devices and in Exact; OpenBLAS, which it calls on the host, does not: rows
// and columns at the edge of a call are added in another order. Operations on distributed operands divide C differently
// for every number of ranks, so they need this one.
//
// C = alpha * op(A) * op(B) + beta * C. On the host: k is cut into pieces of kOrderedDepth, each is added in order with
// fused multiply-adds where the processor has them, and C is rounded after each. On devices the call is gemm's.
// Bound: gemm's Native one. Operands as gemm takes them; beta == 0 never reads C.
#pragma once

#include <trn/blas/types.hpp>

namespace trn::blas {

inline constexpr std::int64_t kOrderedDepth = 256;

template <Scalar T> Accuracy ordered_gemm(const Executor& executor, Op op_a, Op op_b, Number<T> alpha,
                                          const ConstMatrix<T>& a, const ConstMatrix<T>& b, Number<T> beta,
                                          const MatrixView<T>& c);

}  // namespace trn::blas
