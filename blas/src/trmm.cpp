// The entry points of trmm. B op(A) is the transposed problem: C^T = op(A)^T B^T.
#include <trn/blas/trmm.hpp>

#include <trn/blas/gemm.hpp>

#include "fold.hpp"
#include "kernels.hpp"
#include "targets.hpp"

namespace trn::blas {

namespace {

template <class T> Accuracy multiply(const Executor& executor, Side side, Uplo uplo, Op op, Diag diag, T alpha,
                                     const MatrixView<const T>& a, const MatrixView<const T>& b, const MatrixView<T>& c,
                                     const GemmOptions& options) {
  checks::enumerators("blas.trmm", side, uplo, op, diag, options.precision);
  checks::operand("blas.trmm", "A", executor, a);
  checks::operand("blas.trmm", "B", executor, b);
  checks::operand("blas.trmm", "C", executor, c);
  const std::int64_t order = side == Side::Left ? c.rows() : c.columns();
  require(b.rows() == c.rows() && b.columns() == c.columns() && a.rows() == order && a.columns() == order,
          "blas.trmm: A is {} x {}, B is {} x {}, C is {} x {}, side {}; B and C must have one shape, and A must be {} "
          "x {}",
          a.rows(), a.columns(), b.rows(), b.columns(), c.rows(), c.columns(), letter(side), order, order);
  check_bounds("blas.trmm", executor, options.componentwise, c.rows(), c.columns(),
               {{"A", checks::extent(a)}, {"B", checks::extent(b)}, {"C", checks::extent(c)}});
  Accuracy accuracy{Mode::Native, 1, gemm_error_bound(executor.family(), dtype_of<T>, dtype_of<T>, order)};
  if (c.rows() == 0 || c.columns() == 0) return no_work(executor, dtype_of<T>, options.precision);
  if (alpha == T(0)) accuracy.bound = 0;  // zeros
  checks::distinct_elements("blas.trmm", "C", checks::extent(c));
  checks::no_overlap("blas.trmm", "A", checks::extent(a), "C", checks::extent(c));
  if (!same_view(b, c)) checks::no_overlap("blas.trmm", "B", checks::extent(b), "C", checks::extent(c));
  const FoldedTriangle<T> triangle(side, uplo, op, a);
  const auto fb = side == Side::Left ? b : b.transposed();
  const auto fc = side == Side::Left ? c : c.transposed();
  const TrmmArgs args{dtype_of<T>,
                      fc.rows(),
                      fc.columns(),
                      triangle.a.data(),
                      triangle.a.row_stride(),
                      triangle.a.column_stride(),
                      triangle.lower,
                      diag == Diag::Unit,
                      triangle.conj,
                      fb.data(),
                      fb.row_stride(),
                      fb.column_stride(),
                      fc.data(),
                      fc.row_stride(),
                      fc.column_stride(),
                      alpha,
                      options.precision,
                      &accuracy};
  run_level3(
      kTrmm, executor, args, turned(options.componentwise, side == Side::Right), exact_trmm,
      [&]() -> Level3Sizes {
        if (alpha == T(0)) return {};
        Level3Sizes found{{.alpha = std::abs(args.alpha)}, order, 1, operands_of(executor, args)};
        found.sizes.norms = norms_of(*found.operands);
        return found;
      },
      [](ProductSizes&) {});
  return accuracy;
}

}  // namespace

template <Scalar T> Accuracy trmm(const Executor& executor, Side side, Uplo uplo, Op op, Diag diag, Number<T> alpha,
                                  const ConstMatrix<T>& a, const MatrixView<T>& b, const GemmOptions& options) {
  return multiply<T>(executor, side, uplo, op, diag, alpha, a, b, b, options);
}
template <Scalar T> Accuracy trmm(const Executor& executor, Side side, Uplo uplo, Op op, Diag diag, Number<T> alpha,
                                  const ConstMatrix<T>& a, const ConstMatrix<T>& b, const MatrixView<T>& c,
                                  const GemmOptions& options) {
  return multiply<T>(executor, side, uplo, op, diag, alpha, a, b, c, options);
}

#define TRN_TRMM(T)                                                                                  \
  template Accuracy trmm<T>(const Executor&, Side, Uplo, Op, Diag, Number<T>, const ConstMatrix<T>&, \
                            const MatrixView<T>&, const GemmOptions&);                               \
  template Accuracy trmm<T>(const Executor&, Side, Uplo, Op, Diag, Number<T>, const ConstMatrix<T>&, \
                            const ConstMatrix<T>&, const MatrixView<T>&, const GemmOptions&);
TRN_TRMM(float)
TRN_TRMM(double)
TRN_TRMM(std::complex<float>)
TRN_TRMM(std::complex<double>)
#undef TRN_TRMM

}  // namespace trn::blas
