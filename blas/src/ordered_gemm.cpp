// The entry point of ordered_gemm.
#include <trn/blas/ordered_gemm.hpp>

#include <trn/blas/gemm.hpp>

#include "checks.hpp"
#include "host/ordered_gemm.hpp"

namespace trn::blas {

template <Scalar T> Accuracy ordered_gemm(const Executor& executor, Op op_a, Op op_b, Number<T> alpha,
                                          const ConstMatrix<T>& a, const ConstMatrix<T>& b, Number<T> beta,
                                          const MatrixView<T>& c) {
  constexpr const char* operation = "blas.ordered_gemm";
  if (executor.family() != Family::Host) return gemm(executor, op_a, op_b, alpha, a, b, beta, c);
  checks::enumerators(operation, op_a, op_b);
  checks::operand(operation, "A", executor, a);
  checks::operand(operation, "B", executor, b);
  checks::operand(operation, "C", executor, c);
  const MatrixView<const T> ta = op_a == Op::N ? a : a.transposed(), tb = op_b == Op::N ? b : b.transposed();
  require(ta.rows() == c.rows() && tb.columns() == c.columns() && ta.columns() == tb.rows(),
          "{}: op(A) is {} x {}, op(B) is {} x {}, C is {} x {}; they must be m x k, k x n and m x n", operation,
          ta.rows(), ta.columns(), tb.rows(), tb.columns(), c.rows(), c.columns());
  require(c.row_stride() == 1 || c.column_stride() == 1, "{}: C has strides {} and {}; one of them must be 1",
          operation, c.row_stride(), c.column_stride());
  checks::distinct_elements(operation, "C", checks::extent(c));
  checks::no_overlap(operation, "A", checks::extent(a), "C", checks::extent(c));
  checks::no_overlap(operation, "B", checks::extent(b), "C", checks::extent(c));
  const auto operand = [](const MatrixView<const T>& x, Op op) {
    return host::OrderedOperand<T>{x.data(), x.row_stride(), x.column_stride(), ComplexScalar<T> && op == Op::C};
  };
  host::ordered_gemm<T>(c.rows(), c.columns(), ta.columns(), alpha, operand(ta, op_a), operand(tb, op_b), beta,
                        c.data(), c.row_stride(), c.column_stride());
  return {Mode::Native, 1, gemm_error_bound(Family::Host, dtype_of<T>, dtype_of<T>, ta.columns())};
}

#define TRN_ORDERED(T)                                                                                                \
  template Accuracy ordered_gemm<T>(const Executor&, Op, Op, Number<T>, const ConstMatrix<T>&, const ConstMatrix<T>&, \
                                    Number<T>, const MatrixView<T>&);
TRN_ORDERED(float)
TRN_ORDERED(double)
TRN_ORDERED(std::complex<float>)
TRN_ORDERED(std::complex<double>)
#undef TRN_ORDERED

}  // namespace trn::blas
