// The arguments of gemm's kernels from views: ops become strides and a flag for conjugation.
#pragma once

#include <trn/blas/gemm.hpp>

#include "kernels/gemm.hpp"

namespace trn::blas {

// op(A) is m x k, op(B) k x n, C m x n; alpha = 0 reads neither A nor B: as if k were 0. And k = 0 reads no alpha, as
// if it were 0: an infinite one times the empty sum would be NaN.
template <class In, class Out> GemmArgs gemm_arguments(Op op_a, Op op_b, Compute<Out> alpha,
                                                       const MatrixView<const In>& a, const MatrixView<const In>& b,
                                                       Compute<Out> beta, const MatrixView<Out>& c) {
  const MatrixView<const In> ta = op_a == Op::N ? a : a.transposed(), tb = op_b == Op::N ? b : b.transposed();
  const bool nothing = alpha == Compute<Out>(0) || ta.columns() == 0;
  return {dtype_of<In>,
          dtype_of<Out>,
          c.rows(),
          c.columns(),
          nothing ? 0 : ta.columns(),
          ta.data(),
          ta.row_stride(),
          ta.column_stride(),
          tb.data(),
          tb.row_stride(),
          tb.column_stride(),
          c.data(),
          c.row_stride(),
          c.column_stride(),
          nothing ? Compute<Out>(0) : alpha,
          beta,
          ComplexScalar<In> && op_a == Op::C,
          ComplexScalar<In> && op_b == Op::C};
}

}  // namespace trn::blas
