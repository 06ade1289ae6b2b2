// The entry point of gemm with an epilogue.
#include <trn/blas/gemm_epilogue.hpp>

#include "fold.hpp"
#include "kernels.hpp"
#include "targets.hpp"

namespace trn::blas {

template <Element In, Element Out>
Accuracy detail::gemm_epilogue(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha,
                               const MatrixView<const In>& a, const MatrixView<const In>& b, Compute<Out> beta,
                               const MatrixView<Out>& c, const Epilogue<Out>& epilogue, const ProductOptions& options) {
  constexpr const char* kOperation = "blas.gemm_epilogue";
  checks::enumerators(kOperation, op_a, op_b, options.precision);
  operands::check_enumerator(kOperation, "Activation", epilogue.activation, Activation::GeluTanh);
  operands::check_enumerator(kOperation, "Bias", epilogue.bias_along, Bias::PerColumn);
  checks::operand(kOperation, "A", executor, a);
  checks::operand(kOperation, "B", executor, b);
  checks::operand(kOperation, "C", executor, c);
  const auto fa = folded(op_a, a), fb = folded(op_b, b);
  require(fa.rows() == c.rows() && fb.columns() == c.columns() && fa.columns() == fb.rows(),
          "{}: op(A) is {} x {} (op {}), op(B) is {} x {} (op {}), C is {} x {}; they must be m x k, k x n and m x n",
          kOperation, fa.rows(), fa.columns(), letter(op_a), fb.rows(), fb.columns(), letter(op_b), c.rows(),
          c.columns());
  const bool per_row = epilogue.bias_along == Bias::PerRow;
  if (epilogue.bias) {
    checks::operand(kOperation, "bias", executor, *epilogue.bias);
    const std::int64_t size = per_row ? c.rows() : c.columns();
    require(epilogue.bias->size() == size,
            "{}: bias has {} elements, C is {} x {} and the bias is per {}; it must have {}", kOperation,
            epilogue.bias->size(), c.rows(), c.columns(), per_row ? "row" : "column", size);
  }
  const bool gelu = epilogue.activation == Activation::Gelu || epilogue.activation == Activation::GeluTanh;
  const double u = unit_roundoff(std::is_same_v<Out, double> ? DType::Float64 : DType::Float32);
  const double w = std::is_same_v<Out, Compute<Out>> ? 0 : unit_roundoff(dtype_of<Out>);
  const DType sums = dtype_of<Compute<Out>>;
  Accuracy accuracy{Mode::Native, 1, gemm_error_bound(executor.family(), dtype_of<In>, sums, fa.columns())};
  const auto finished = [&] {
    return Accuracy{accuracy.mode, accuracy.passes, (gelu ? 1.13 : 1) * (accuracy.bound + 2 * u) + 12 * u + w};
  };
  if (c.rows() == 0 || c.columns() == 0) return finished();
  // A target is for the result: the product gets what the epilogue leaves of it.
  Precision precision = options.precision;
  if (precision.has_target()) {
    const double own = (gelu ? 1.13 : 1) * 2 * u + 12 * u + w,
                 left = (precision.target_error() - own) / (gelu ? 1.13 : 1) * (1 - 0x1p-40);
    if (!(left > 0)) refuse_target(kOperation, dtype_of<In>, executor, precision.target_error(), own);
    precision = Precision::target(left);
  }
  checks::distinct_elements(kOperation, "C", checks::extent(c));
  checks::no_overlap(kOperation, "A", checks::extent(a), "C", checks::extent(c));
  checks::no_overlap(kOperation, "B", checks::extent(b), "C", checks::extent(c));
  if (epilogue.bias) checks::no_overlap(kOperation, "bias", checks::extent(*epilogue.bias), "C", checks::extent(c));
  const std::int64_t step = epilogue.bias ? epilogue.bias->stride() : 0;
  const bool nothing = alpha == Compute<Out>(0) || fa.columns() == 0;  // no A, B or alpha is read
  const EpilogueArgs args{{dtype_of<In>, dtype_of<Out>, c.rows(), c.columns(), nothing ? 0 : fa.columns(), fa.data(),
                           fa.row_stride(), fa.column_stride(), fb.data(), fb.row_stride(), fb.column_stride(),
                           c.data(), c.row_stride(), c.column_stride(), nothing ? Compute<Out>(0) : alpha, beta},
                          epilogue.activation,
                          epilogue.bias ? epilogue.bias->data() : nullptr,
                          per_row ? step : 0,
                          per_row ? 0 : step,
                          epilogue.scale,
                          precision,
                          &accuracy};
  naming_target(kOperation, options.precision, [&] { dispatch(kGemmEpilogue, executor, args); });
  return finished();
}

#define TRN_EPILOGUE(In, Out)                                                                                          \
  template Accuracy detail::gemm_epilogue<In, Out>(const Executor&, Op, Op, Compute<Out>, const MatrixView<const In>&, \
                                                   const MatrixView<const In>&, Compute<Out>, const MatrixView<Out>&,  \
                                                   const Epilogue<Out>&, const ProductOptions&);
TRN_EPILOGUE(float, float)
TRN_EPILOGUE(double, double)
TRN_EPILOGUE(bfloat16, bfloat16)
TRN_EPILOGUE(bfloat16, float)
TRN_EPILOGUE(float16, float16)
TRN_EPILOGUE(float16, float)
TRN_EPILOGUE(tfloat32, float)
#undef TRN_EPILOGUE

}  // namespace trn::blas
