// gemm: C = alpha * op(A) * op(B) + beta * C. cuBLAS: cublasSgemm, cublasDgemm, cublasCgemm, cublasZgemm,
// cublasCgemm3m.
//
// Types in and out: float, double, complex<float>, complex<double>; bfloat16->bfloat16 or float, float16->float16 or
// float, tfloat32->float. Everything but double accumulates in fp32 (Precision says more). Any strides, any size
// including 0; beta == 0 never reads C. A C that shares an element with
// A or B, or two of whose elements share a place, is refused.
//
// Accuracy, elementwise: |C - exact|(i,j) <= bound * (|alpha| ||a_i|| ||b_j|| + |beta c_ij|); the bound is in the
// result. Native keeps more: gemm_error_bound(...) * (|alpha| |A||B| + |beta| |C|)(i,j). The bound is barring over- and
// underflow, with a target or in Exact only overflow of C itself; componentwise all of it counts, as do NaN and
// infinities (docs/precision.md). u = 2^-24 (2^-53 for double), w rounds to the output.
#pragma once

#include <optional>

#include <trn/blas/types.hpp>
#include <trn/core/array.hpp>

namespace trn::blas {

// alpha and beta of a gemm that writes T.
template <class T> struct ComputeOf { using type = float; };
template <Scalar T> struct ComputeOf<T> { using type = T; };
template <class T> using Compute = typename ComputeOf<T>::type;

// The pairs of types that gemm offers.
template <class In, class Out>
concept GemmTypes = (std::same_as<In, Out> &&
                     (Scalar<In> || std::same_as<In, bfloat16> || std::same_as<In, float16>)) ||
                    (std::same_as<Out, float> &&
                     (std::same_as<In, bfloat16> || std::same_as<In, float16> || std::same_as<In, tfloat32>));

struct GemmOptions {
  Precision precision = {};
  // When given (m x n, host memory), receives a bound of |C - exact| for every element, computed from the operands.
  std::optional<MatrixView<double>> componentwise{};
};

namespace detail {
template <Element In, Element Out>
Accuracy gemm(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha, const MatrixView<const In>& a,
              const MatrixView<const In>& b, Compute<Out> beta, const MatrixView<Out>& c, const GemmOptions& options);
}

// A and B may be views of const or of writable elements.
template <Element A, Element B, Element Out>
requires std::same_as<std::remove_const_t<A>, std::remove_const_t<B>> && GemmTypes<std::remove_const_t<A>, Out> Accuracy
gemm(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha, const MatrixView<A>& a, const MatrixView<B>& b,
     Compute<Out> beta, const MatrixView<Out>& c, const GemmOptions& options = {}) {
  return detail::gemm<std::remove_const_t<A>, Out>(executor, op_a, op_b, alpha, a, b, beta, c, options);
}

// The type of C when nobody says: the operands' own, float for tfloat32.
template <class In> using GemmOutput = std::conditional_t<std::same_as<In, tfloat32>, float, In>;

// The value form: C = A * B, C allocated on the executor.
template <Element T>
requires GemmTypes<T, GemmOutput<T>>
[[nodiscard]] Matrix<GemmOutput<T>> gemm(const Executor& executor, const Matrix<T>& a, const Matrix<T>& b,
                                         const GemmOptions& options = {}) {
  Matrix<GemmOutput<T>> c(executor, a.rows(), b.columns());
  gemm(executor, Op::N, Op::N, Compute<GemmOutput<T>>(1), a.view(), b.view(), Compute<GemmOutput<T>>(0), c.view(),
       options);
  return c;
}

// The complex product from three real ones: Re = P - Q, Im = (Ar + Ai)(Br + Bi) - P - Q, P = Ar Br, Q = Ai Bi. A
// quarter less arithmetic than gemm; sqrt(10) (k + 8) u |A||B| bounds the error, but a small imaginary part may be lost
// beside a large real one. With a precision other than Native, or `componentwise`, the call is gemm's. cuBLAS:
// cublasCgemm3m.
template <ComplexScalar T> Accuracy gemm3m(const Executor& executor, Op op_a, Op op_b, Number<T> alpha,
                                           const ConstMatrix<T>& a, const ConstMatrix<T>& b, Number<T> beta,
                                           const MatrixView<T>& c, const GemmOptions& options = {});

// The factor of the accuracy statement above, for every mode but Exact (whose bound depends on the operands). First
// order in u. The terms of the modes are trn/tile/words.hpp's; docs/precision.md lists them. Complex: 2 sqrt(2) times
// as much, two real products per part.
//   Native   host: any order of k additions, (k + 3)u + w; device: (min(k, 128) + 2 ceil(k / 128) + 6)u for float32,
//     whether a matmul is
//            one chain of fused multiply-adds or two passes over high and low words, (min(k, 128) + ceil(k / 128) + 3)u
//              + w for 16 bits.
//   Others   what the words leave out, two roundings of 2^-11 or 2^-8 for Tf32 and Bf16, 8u for Tf32x3, 1u for Bf16x6,
//     and the sums':
//            as for 16 bits; with two accumulators and, in Bf16x6, compensated groups where there are several words.
[[nodiscard]] double gemm_error_bound(Family family, DType in, DType out, std::int64_t k, Mode mode = Mode::Native);

}  // namespace trn::blas
