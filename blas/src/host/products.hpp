// Products with a stated precision on host matrices, for the level-3 kernels whose precision is not Native: each of
// them is a few calls of gemm, whose modes and bounds they inherit.
#pragma once

#include <algorithm>

#include <trn/blas/gemm.hpp>

#include "dense.hpp"

namespace trn::blas::host {

// C = alpha A B + beta C; conj(A) in A's place, which is the conjugate transpose of A^T, and the same for B.
template <Scalar T> Accuracy product(const Executor& executor, const Precision& precision, T alpha,
                                     const Strided<const T>& a, const Strided<const T>& b, T beta, const Strided<T>& c,
                                     bool conj_a = false, bool conj_b = false) {
  const auto view = [&](const auto& x) {
    using X = std::remove_reference_t<decltype(*x.data)>;
    return MatrixView<X>(executor, x.data, x.rows, x.columns, x.row_stride, x.column_stride);
  };
  return detail::gemm<T, T>(executor, conj_a ? Op::C : Op::N, conj_b ? Op::C : Op::N, alpha,
                            view(conj_a ? a.transposed() : a), view(conj_b ? b.transposed() : b), beta, view(c),
                            GemmOptions{precision, {}});
}

// What holds for a result made of several products: the weakest bound, the costliest mode.
inline void worsen(Accuracy& total, const Accuracy& one) {
  if (one.passes >= total.passes) total.mode = one.mode, total.passes = one.passes;
  total.bound = std::max(total.bound, one.bound);
}

// A precision for each of several products whose bounds add up.
inline Precision share(const Precision& precision, double parts) {
  return precision.has_target() ? Precision::target(precision.target_error() / parts) : precision;
}

}  // namespace trn::blas::host
