// The door of gemm: checks arguments, folds transposes into strides, dispatches.
#include <trn/blas/gemm.hpp>

#include <algorithm>

#include "kernels.hpp"

namespace trn::blas {

namespace {

template <class T> void check_operand(const Executor& executor, const MatrixView<T>& view, const char* operand) {
  require(view.executor() == executor, "blas.gemm: {} lives on executor '{}', the call runs on '{}'; copy it there with to() first",
          operand, view.executor().name(), executor.name());
  require(view.data() != nullptr || view.rows() == 0 || view.columns() == 0, "blas.gemm: {} is {} x {} but its pointer is null",
          operand, view.rows(), view.columns());
}

// Two elements of C may not share an address, or the result would depend on the order of writes: one direction's stride
// must clear the whole extent of the other.
template <class T> void check_output_strides(const MatrixView<T>& c) {
  const std::int64_t rs = std::abs(c.row_stride()), cs = std::abs(c.column_stride());
  const auto clears = [](std::int64_t outer, std::int64_t count, std::int64_t inner, std::int64_t inner_count) {
    return (count == 1 || outer > inner * (inner_count - 1)) && (inner_count == 1 || inner >= 1);
  };
  require(clears(rs, c.rows(), cs, c.columns()) || clears(cs, c.columns(), rs, c.rows()),
          "blas.gemm: C is {} x {} with strides ({}, {}), so elements overlap; give it a leading dimension that separates them",
          c.rows(), c.columns(), c.row_stride(), c.column_stride());
}

const char* letter(Op op) { return op == Op::N ? "N" : "T"; }

}  // namespace

template <Element In, Element Out>
void gemm(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha, const MatrixView<In>& a, const MatrixView<In>& b,
          Compute<Out> beta, const MatrixView<Out>& c) {
  check_operand(executor, a, "A");
  check_operand(executor, b, "B");
  check_operand(executor, c, "C");
  const MatrixView<In> ta = op_a == Op::N ? a : a.transposed(), tb = op_b == Op::N ? b : b.transposed();
  require(ta.rows() == c.rows() && tb.columns() == c.columns() && ta.columns() == tb.rows(),
          "blas.gemm: op(A) is {} x {} (op {}), op(B) is {} x {} (op {}), C is {} x {}; they must be m x k, k x n and m x n",
          ta.rows(), ta.columns(), letter(op_a), tb.rows(), tb.columns(), letter(op_b), c.rows(), c.columns());
  if (c.rows() == 0 || c.columns() == 0) return;
  check_output_strides(c);
  dispatch(kGemm, executor,
           {dtype_of<In>, dtype_of<Out>, c.rows(), c.columns(), ta.columns(), ta.data(), ta.row_stride(), ta.column_stride(),
            tb.data(), tb.row_stride(), tb.column_stride(), c.data(), c.row_stride(), c.column_stride(), alpha, beta});
}

double gemm_error_bound(Family family, DType in, DType out, std::int64_t k) {
  const double u = in == DType::Float64 ? unit_roundoff(DType::Float64) : unit_roundoff(DType::Float32);
  const double w = out == in && (in == DType::Float64 || in == DType::Float32) ? 0
                   : out == DType::Float32                                     ? 0
                                                                               : unit_roundoff(out);
  const double terms = family == Family::Host ? static_cast<double>(k)
                                              : static_cast<double>(std::min<std::int64_t>(k, 128) + (k + 127) / 128);
  return (terms + 3) * u + w;
}

#define TRN_GEMM(In, Out)                                                                                                \
  template void gemm<In, Out>(const Executor&, Op, Op, Compute<Out>, const MatrixView<In>&, const MatrixView<In>&, \
                              Compute<Out>, const MatrixView<Out>&);
TRN_GEMM(float, float)
TRN_GEMM(double, double)
TRN_GEMM(bfloat16, bfloat16)
TRN_GEMM(bfloat16, float)
TRN_GEMM(float16, float16)
TRN_GEMM(float16, float)
TRN_GEMM(tfloat32, float)
#undef TRN_GEMM

}  // namespace trn::blas
