// The door of gemm: checks arguments, folds transposes into strides, dispatches.
#include <trn/blas/gemm.hpp>

#include <algorithm>
#include <cmath>

#include <trn/tile/machine.hpp>

#include "checks.hpp"
#include "kernels.hpp"

namespace trn::blas {

namespace {

const char* letter(Op op) { return op == Op::N ? "N" : op == Op::T ? "T" : "C"; }

}  // namespace

template <Element In, Element Out>
Accuracy detail::gemm(const Executor& executor, Op op_a, Op op_b, Compute<Out> alpha, const MatrixView<const In>& a,
                      const MatrixView<const In>& b, Compute<Out> beta, const MatrixView<Out>& c, const GemmOptions&) {
  checks::operand("blas.gemm", "A", executor, a);
  checks::operand("blas.gemm", "B", executor, b);
  checks::operand("blas.gemm", "C", executor, c);
  const MatrixView<const In> ta = op_a == Op::N ? a : a.transposed(), tb = op_b == Op::N ? b : b.transposed();
  require(ta.rows() == c.rows() && tb.columns() == c.columns() && ta.columns() == tb.rows(),
          "blas.gemm: op(A) is {} x {} (op {}), op(B) is {} x {} (op {}), C is {} x {}; they must be m x k, k x n and m x n",
          ta.rows(), ta.columns(), letter(op_a), tb.rows(), tb.columns(), letter(op_b), c.rows(), c.columns());
  const Accuracy accuracy{Mode::Native, 1, gemm_error_bound(executor.family(), dtype_of<In>, dtype_of<Out>, ta.columns())};
  if (c.rows() == 0 || c.columns() == 0) return accuracy;
  checks::distinct_elements("blas.gemm", "C", checks::extent(c));
  checks::no_overlap("blas.gemm", "A", checks::extent(a), "C", checks::extent(c));
  checks::no_overlap("blas.gemm", "B", checks::extent(b), "C", checks::extent(c));
  dispatch(kGemm, executor,
           {dtype_of<In>, dtype_of<Out>, c.rows(), c.columns(), ta.columns(), ta.data(), ta.row_stride(), ta.column_stride(),
            tb.data(), tb.row_stride(), tb.column_stride(), c.data(), c.row_stride(), c.column_stride(), alpha, beta, ComplexScalar<In> && op_a == Op::C,
            ComplexScalar<In> && op_b == Op::C});
  return accuracy;
}

double gemm_error_bound(Family family, DType in, DType out, std::int64_t k) {
  const bool wide = real_of(in) == DType::Float64;
  const double u = unit_roundoff(wide ? DType::Float64 : DType::Float32);
  const double w = wide || real_of(out) == DType::Float32 ? 0 : unit_roundoff(out);
  const std::int64_t group = tile::machines().front().partitions;  // products that one matmul sums; the same on every machine
  const double terms = family == Family::Host ? static_cast<double>(k) : static_cast<double>(std::min(k, group) + (k + group - 1) / group);
  // A complex product is two real ones, each rounded; |re| + |im| <= sqrt(2) |z| (Higham, section 3.6).
  return (is_complex(in) ? 2 * std::sqrt(2.0) * (terms + 4) : terms + 3) * u + w;
}

#define TRN_GEMM(In, Out)                                                                                                \
  template Accuracy detail::gemm<In, Out>(const Executor&, Op, Op, Compute<Out>, const MatrixView<const In>&, const MatrixView<const In>&, \
                                          Compute<Out>, const MatrixView<Out>&, const GemmOptions&);
TRN_GEMM(float, float)
TRN_GEMM(double, double)
TRN_GEMM(std::complex<float>, std::complex<float>)
TRN_GEMM(std::complex<double>, std::complex<double>)
TRN_GEMM(bfloat16, bfloat16)
TRN_GEMM(bfloat16, float)
TRN_GEMM(float16, float16)
TRN_GEMM(float16, float)
TRN_GEMM(tfloat32, float)
#undef TRN_GEMM

}  // namespace trn::blas
