// gemm: C = alpha * op(A) * op(B) + beta * C. cuBLAS: cublasSgemm, cublasDgemm, cublasGemmEx.
//
// Types in and out: float->float, double->double (host), bfloat16->bfloat16 or float, float16->float16 or float,
// tfloat32->float. Everything but double accumulates in fp32. Any strides, any size including 0; beta == 0 never reads C.
// C must not overlap A or B.
//
// Accuracy, elementwise, with u = 2^-24 (2^-53 for double) and w = the rounding of the output type (0 when it is the
// compute type): |C - exact| <= gemm_error_bound(...) * (|alpha| |A||B| + |beta| |C|), barring over- and underflow.
#pragma once

#include <trn/core/array.hpp>

namespace trn::blas {

enum class Op : std::uint8_t { N, T };

// alpha and beta of a gemm that writes T.
template <class T> struct ComputeOf { using type = float; };
template <> struct ComputeOf<double> { using type = double; };
template <class T> using Compute = typename ComputeOf<T>::type;

template <Element In, Element Out>
void gemm(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha, const MatrixView<In>& a, const MatrixView<In>& b,
          Compute<Out> beta, const MatrixView<Out>& c);

// The value form: C = A * B, C allocated on the executor.
template <Element T> [[nodiscard]] Matrix<T> gemm(const Executor& executor, const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<T> c(executor, a.rows(), b.columns());
  gemm<T, T>(executor, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view());
  return c;
}

// The factor of the accuracy statement above. Host: any order of k additions, (k + 3)u. Device: sums of up to 128 fused
// products, then one addition per group of 128, (min(k, 128) + ceil(k / 128) + 3)u. Plus w. First order in u.
[[nodiscard]] double gemm_error_bound(Family family, DType in, DType out, std::int64_t k);

}  // namespace trn::blas
