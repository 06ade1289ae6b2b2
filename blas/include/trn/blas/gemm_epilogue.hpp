// gemm with what usually follows it: D = activation(alpha op(A) op(B) + beta C + bias) * scale, in one pass over D.
// cuBLASLt: CUBLASLT_EPILOGUE_BIAS, RELU, GELU and their combinations; D_SCALE.
//
// bias has one element per row (Bias::PerRow) or per column of D. Relu: max(x, 0), NaN stays NaN. Gelu: x Phi(x) with the
// error function; GeluTanh: its tanh approximation, 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))). D may be C.
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

template <Element In, Element Out> requires GemmTypes<In, Out> && (!ComplexScalar<Out>)
Accuracy gemm_epilogue(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha, const MatrixView<const In>& a,
                       const MatrixView<const In>& b, Compute<Out> beta, const MatrixView<Out>& c, const Epilogue<Out>& epilogue,
                       const ProductOptions& options = {});

}  // namespace trn::blas
