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
template <class X> struct MatrixElement { using type = void; };
template <class T> struct MatrixElement<MatrixView<T>> { using type = T; };
template <class T> struct MatrixElement<Matrix<T>> { using type = T; };
template <class T> struct MatrixElement<View<T>> { using type = T; };
template <class T> struct MatrixElement<Array<T>> { using type = T; };

// Throws InvalidArgument that names the operand unless the rank is 2.
void require_matrix(const char* operation, const char* operand, const Shape& shape);
template <class T> [[nodiscard]] MatrixView<T> matrix_of(const char*, const char*, const MatrixView<T>& x) { return x; }
template <class T> [[nodiscard]] MatrixView<T> matrix_of(const char*, const char*, const Matrix<T>& x) { return x; }
template <class T> [[nodiscard]] MatrixView<T> matrix_of(const char* operation, const char* operand, const View<T>& x) {
  require_matrix(operation, operand, x.shape());
  return {x.executor(), x.data(), x.shape()[0], x.shape()[1], x.strides()[0], x.strides()[1]};
}
template <class T>
[[nodiscard]] MatrixView<T> matrix_of(const char* operation, const char* operand, const Array<T>& x) {
  return matrix_of(operation, operand, x.view());
}

template <Element In, Element Out>
Accuracy gemm(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha, const MatrixView<const In>& a,
              const MatrixView<const In>& b, Compute<Out> beta, const MatrixView<Out>& c, const GemmOptions& options);
}  // namespace detail

// What a product takes as a matrix, and the type of its elements: a MatrixView or Matrix, a View or Array of rank 2.
template <class X> using MatrixElement = typename detail::MatrixElement<X>::type;
template <class X>
concept MatrixOperand = !std::is_void_v<MatrixElement<X>>;

// A and B, whose elements may be const or writable, and a C for them.
template <class A, class B, class C>
concept GemmOperands = MatrixOperand<A> && MatrixOperand<B> && MatrixOperand<C> &&
    std::same_as<std::remove_const_t<MatrixElement<A>>, std::remove_const_t<MatrixElement<B>>> &&
    GemmTypes<std::remove_const_t<MatrixElement<A>>, MatrixElement<C>>;

template <class A, class B, class C>
requires GemmOperands<A, B, C> Accuracy gemm(const Executor& executor, Op op_a, Op op_b,
                                             Compute<MatrixElement<C>> alpha, const A& a, const B& b,
                                             Compute<MatrixElement<C>> beta, const C& c,
                                             const GemmOptions& options = {}) {
  constexpr const char* operation = "blas.gemm";
  return detail::gemm<std::remove_const_t<MatrixElement<A>>, MatrixElement<C>>(
      executor, op_a, op_b, alpha, detail::matrix_of(operation, "A", a), detail::matrix_of(operation, "B", b), beta,
      detail::matrix_of(operation, "C", c), options);
}

// The type of C when nobody says: the operands' own, float for tfloat32.
template <class In> using GemmOutput = std::conditional_t<std::same_as<In, tfloat32>, float, In>;

// The value form: C = A * B, C allocated on the executor.
template <MatrixOperand A, MatrixOperand B, class In = std::remove_const_t<MatrixElement<A>>>
requires std::same_as<In, std::remove_const_t<MatrixElement<B>>> && GemmTypes<In, GemmOutput<In>>
[[nodiscard]] Matrix<GemmOutput<In>> gemm(const Executor& executor, const A& a, const B& b,
                                          const GemmOptions& options = {}) {
  const MatrixView<const In> va = detail::matrix_of("blas.gemm", "A", a), vb = detail::matrix_of("blas.gemm", "B", b);
  Matrix<GemmOutput<In>> c(executor, va.rows(), vb.columns());
  using Factor = Compute<GemmOutput<In>>;
  gemm(executor, Op::N, Op::N, Factor(1), va, vb, Factor(0), c, options);
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
