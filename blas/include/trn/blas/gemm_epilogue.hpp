// gemm with what usually follows it: D = activation(alpha op(A) op(B) + beta C + bias) * scale, in one pass over D.
// cuBLASLt: CUBLASLT_EPILOGUE_BIAS, RELU, GELU and their combinations; D_SCALE.
//
// bias has one element per row (Bias::PerRow) or per column of C, and must not overlap it. Relu: max(x, 0), NaN stays
// NaN. Gelu: x Phi(x) with the error function; GeluTanh: its tanh approximation, 0.5 x (1 + tanh(sqrt(2/pi) (x +
// 0.044715 x^3))); both give NaN for -infinity (0 times infinity). The sum is formed in the compute type and rounded to
// the type of C once, at the end.
//
// Accuracy: |C - exact|(i,j) <= bound |scale| (|alpha| ||a_i|| ||b_j|| + |beta c_ij| + |bias|). The slope of both gelus
// stays below 1.13, so the bound is 1.13 (the product's + 2u) + 12u + w: the functions themselves err by at most 10u
// |x|. A target is for that bound: the product gets what is left of it.
#pragma once

#include <optional>

#include <trn/blas/gemm.hpp>

namespace trn::blas {

enum class Activation : std::uint8_t { None, Relu, Gelu, GeluTanh };
enum class Bias : std::uint8_t { PerRow, PerColumn };

template <class Out> struct Epilogue {
  Activation activation = Activation::None;
  std::optional<VectorView<const Out>> bias{};
  Bias bias_along = Bias::PerRow;
  Compute<Out> scale = 1;
};

namespace detail {
template <Element In, Element Out>
Accuracy gemm_epilogue(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha, const MatrixView<const In>& a,
                       const MatrixView<const In>& b, Compute<Out> beta, const MatrixView<Out>& c,
                       const Epilogue<Out>& epilogue, const ProductOptions& options);
}

template <Element A, Element B, Element Out>
requires std::same_as<std::remove_const_t<A>, std::remove_const_t<B>> && GemmTypes<std::remove_const_t<A>, Out> &&
    (!ComplexScalar<Out>)Accuracy
    gemm_epilogue(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha, const MatrixView<A>& a,
                  const MatrixView<B>& b, Compute<Out> beta, const MatrixView<Out>& c,
                  const Epilogue<std::type_identity_t<Out>>& epilogue, const ProductOptions& options = {}) {
  return detail::gemm_epilogue<std::remove_const_t<A>, Out>(executor, op_a, op_b, alpha, a, b, beta, c, epilogue,
                                                            options);
}

}  // namespace trn::blas
