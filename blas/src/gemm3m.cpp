// The entry point of gemm3m. Re and Im are sums of three products of k terms each. With |ar br| + |ai bi| <= |a||b| and
// (|ar| + |ai|)(|br| + |bi|) <= 2 |a||b|, the real part errs by (k + 2) u |a||b| and the imaginary one by 3 (k + 5) u
// |a||b|; together sqrt(10) (k + 5) u, and alpha and beta take three more roundings of complex products.
#include <cmath>

#include <trn/blas/gemm.hpp>

#include "fold.hpp"
#include "kernels.hpp"

namespace trn::blas {

template <ComplexScalar T> Accuracy gemm3m(const Executor& executor, Op op_a, Op op_b, Number<T> alpha,
                                           const ConstMatrix<T>& a, const ConstMatrix<T>& b, Number<T> beta,
                                           const MatrixView<T>& c, const GemmOptions& options) {
  if (options.componentwise || options.precision != Precision{})
    return detail::gemm<T, T>(executor, op_a, op_b, alpha, a, b, beta, c, options);
  checks::enumerators("blas.gemm3m", op_a, op_b);
  checks::operand("blas.gemm3m", "A", executor, a);
  checks::operand("blas.gemm3m", "B", executor, b);
  checks::operand("blas.gemm3m", "C", executor, c);
  const auto fa = folded(op_a, a), fb = folded(op_b, b);
  require(fa.rows() == c.rows() && fb.columns() == c.columns() && fa.columns() == fb.rows(),
          "blas.gemm3m: op(A) is {} x {} (op {}), op(B) is {} x {} (op {}), C is {} x {}; they must be m x k, k x n "
          "and m x n",
          fa.rows(), fa.columns(), letter(op_a), fb.rows(), fb.columns(), letter(op_b), c.rows(), c.columns());
  const double terms = static_cast<double>(fa.columns());
  const Accuracy accuracy{Mode::Native, 3, std::sqrt(10.0) * (terms + 8) * unit_roundoff(dtype_of<T>)};
  if (c.rows() == 0 || c.columns() == 0) return accuracy;
  checks::distinct_elements("blas.gemm3m", "C", checks::extent(c));
  checks::no_overlap("blas.gemm3m", "A", checks::extent(a), "C", checks::extent(c));
  checks::no_overlap("blas.gemm3m", "B", checks::extent(b), "C", checks::extent(c));
  const bool nothing = alpha == T(0) || fa.columns() == 0;  // C = beta C: no A, B or alpha is read
  dispatch(kGemm3m, executor,
           {dtype_of<T>, dtype_of<T>, c.rows(), c.columns(), nothing ? 0 : fa.columns(), fa.data(), fa.row_stride(),
            fa.column_stride(), fb.data(), fb.row_stride(), fb.column_stride(), c.data(), c.row_stride(),
            c.column_stride(), nothing ? T(0) : alpha, beta, op_a == Op::C, op_b == Op::C});
  return accuracy;
}

#define TRN_GEMM3M(T)                                                                                           \
  template Accuracy gemm3m<T>(const Executor&, Op, Op, Number<T>, const ConstMatrix<T>&, const ConstMatrix<T>&, \
                              Number<T>, const MatrixView<T>&, const GemmOptions&);
TRN_GEMM3M(std::complex<float>)
TRN_GEMM3M(std::complex<double>)
#undef TRN_GEMM3M

}  // namespace trn::blas
