// gemm: C = alpha * op(A) * op(B) + beta * C. cuBLAS: cublasSgemm, cublasDgemm, cublasGemmEx.
//
// Types in and out: float->float, double->double (host), bfloat16->bfloat16 or float, float16->float16 or float,
// tfloat32->float. Everything but double accumulates in fp32. Any strides, any size including 0; beta == 0 never reads C.
// C must not overlap A or B; operands that start at the same address, or are overlapping blocks of one matrix, are refused.
//
// Accuracy, elementwise, with u = 2^-24 (2^-53 for double) and w = the rounding of the output type (0 when it is the
// compute type): |C - exact| <= gemm_error_bound(...) * (|alpha| |A||B| + |beta| |C|), barring over- and underflow.
#pragma once

#include <concepts>
#include <type_traits>

#include <trn/core/array.hpp>

namespace trn::blas {

enum class Op : std::uint8_t { N, T };

// alpha and beta of a gemm that writes T.
template <class T> struct ComputeOf { using type = float; };
template <> struct ComputeOf<double> { using type = double; };
template <class T> using Compute = typename ComputeOf<T>::type;

// The pairs of types that gemm offers.
template <class In, class Out>
concept GemmTypes = (std::same_as<In, Out> && (std::same_as<In, float> || std::same_as<In, double> || std::same_as<In, bfloat16> ||
                                               std::same_as<In, float16>)) ||
                    (std::same_as<Out, float> && (std::same_as<In, bfloat16> || std::same_as<In, float16> || std::same_as<In, tfloat32>));

namespace detail {
template <Element In, Element Out>
void gemm(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha, const MatrixView<const In>& a, const MatrixView<const In>& b,
          Compute<Out> beta, const MatrixView<Out>& c);
}

// A and B may be views of const or of writable elements.
template <Element A, Element B, Element Out>
  requires std::same_as<std::remove_const_t<A>, std::remove_const_t<B>> && GemmTypes<std::remove_const_t<A>, Out>
void gemm(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha, const MatrixView<A>& a, const MatrixView<B>& b, Compute<Out> beta,
          const MatrixView<Out>& c) {
  detail::gemm<std::remove_const_t<A>, Out>(executor, op_a, op_b, alpha, a, b, beta, c);
}

// The type of C when nobody says: the operands' own, float for tfloat32.
template <class In> using GemmOutput = std::conditional_t<std::same_as<In, tfloat32>, float, In>;

// The value form: C = A * B, C allocated on the executor.
template <Element T> requires GemmTypes<T, GemmOutput<T>>
[[nodiscard]] Matrix<GemmOutput<T>> gemm(const Executor& executor, const Matrix<T>& a, const Matrix<T>& b) {
  Matrix<GemmOutput<T>> c(executor, a.rows(), b.columns());
  gemm(executor, Op::N, Op::N, 1, a.view(), b.view(), 0, c.view());
  return c;
}

// The factor of the accuracy statement above. Host: any order of k additions, (k + 3)u. Device: sums of up to 128 fused
// products, then one addition per group of 128, (min(k, 128) + ceil(k / 128) + 3)u. Plus w. First order in u.
[[nodiscard]] double gemm_error_bound(Family family, DType in, DType out, std::int64_t k);

}  // namespace trn::blas
