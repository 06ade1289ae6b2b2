// The door of trsm. X op(A) = alpha B is the transposed problem: op(A)^T X^T = alpha B^T.
#include <trn/blas/trsm.hpp>

#include <cmath>

#include "exact_level3.hpp"
#include "fold.hpp"
#include "kernels.hpp"

namespace trn::blas {

template <Scalar T>
Accuracy trsm(const Executor& executor, Side side, Uplo uplo, Op op, Diag diag, Number<T> alpha, const ConstMatrix<T>& a,
              const MatrixView<T>& b, const ProductOptions& options) {
  checks::operand("blas.trsm", "A", executor, a);
  checks::operand("blas.trsm", "B", executor, b);
  const std::int64_t order = side == Side::Left ? b.rows() : b.columns();
  require(a.rows() == order && a.columns() == order, "blas.trsm: A is {} x {}, B is {} x {}, side {}; A must be {} x {}", a.rows(), a.columns(),
          b.rows(), b.columns(), letter(side), order, order);
  Accuracy accuracy{Mode::Native, 1, trsm_error_bound(dtype_of<T>, order)};
  if (b.rows() == 0 || b.columns() == 0) return accuracy;
  checks::distinct_elements("blas.trsm", "B", checks::extent(b));
  checks::no_overlap("blas.trsm", "A", checks::extent(a), "B", checks::extent(b));
  const FoldedTriangle<T> triangle(side, uplo, op, a);
  const auto fb = side == Side::Left ? b : b.transposed();
  dispatch_product(kTrsm, executor,
           {dtype_of<T>, fb.rows(), fb.columns(), triangle.a.data(), triangle.a.row_stride(), triangle.a.column_stride(), triangle.lower,
            diag == Diag::Unit, triangle.conj, fb.data(), fb.row_stride(), fb.column_stride(), alpha, options.precision, &accuracy}, exact_trsm);
  return accuracy;
}

// Substitution in any order: (A + E) x = b with |E| <= (m + c) u |A| (Higham, Accuracy and Stability, theorem 8.5); the product with
// alpha, and a reciprocal of the diagonal instead of a division, are two roundings more. A complex product counts as in gemm,
// a complex reciprocal as three of them.
double trsm_error_bound(DType dtype, std::int64_t m) {
  const double u = unit_roundoff(dtype), terms = static_cast<double>(m);
  return is_complex(dtype) ? 2 * std::sqrt(2.0) * (terms + 8) * u : (terms + 5) * u;
}

#define TRN_TRSM(T) \
  template Accuracy trsm<T>(const Executor&, Side, Uplo, Op, Diag, Number<T>, const ConstMatrix<T>&, const MatrixView<T>&, const ProductOptions&);
TRN_TRSM(float)
TRN_TRSM(double)
TRN_TRSM(std::complex<float>)
TRN_TRSM(std::complex<double>)
#undef TRN_TRSM

}  // namespace trn::blas
