// The entry points of gemv and gbmv.
#include <cmath>
#include <trn/blas/gemv.hpp>

#include "checks.hpp"
#include "kernels.hpp"
#include "precision.hpp"

namespace trn::blas {

namespace {

// The shapes and overlaps that both share. `storage` is the matrix as the overlap check sees it.
template <class T> void check(const char* operation, Op op, std::int64_t rows, std::int64_t columns,
                              const VectorView<const T>& x, const VectorView<T>& y, const checks::Extent& storage) {
  const std::int64_t m = op == Op::N ? rows : columns, n = op == Op::N ? columns : rows;
  require(x.size() == n && y.size() == m,
          "{}: op(A) is {} x {}, x has {} elements, y has {}; they must be m x n, n and m", operation, m, n, x.size(),
          y.size());
  checks::distinct_elements(operation, "y", checks::extent(y));
  checks::no_overlap(operation, "A", storage, "y", checks::extent(y));
  checks::no_overlap(operation, "x", checks::extent(x), "y", checks::extent(y));
}

}  // namespace

template <Scalar T> Accuracy gemv(const Executor& executor, Op op, Number<T> alpha, const ConstMatrix<T>& a,
                                  const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y,
                                  const ProductOptions& options) {
  checks::enumerators("blas.gemv", op, options.precision);
  checks::operand("blas.gemv", "A", executor, a);
  checks::operand("blas.gemv", "x", executor, x);
  checks::operand("blas.gemv", "y", executor, y);
  check<T>("blas.gemv", op, a.rows(), a.columns(), x, y, checks::extent(a));
  const double u = unit_roundoff(dtype_of<T>), n = static_cast<double>(x.size());
  // Native as gemm's. Exact: the product of a row rounded once, alpha, beta y and the sum once each; sqrt(5) u for a
  // complex product.
  const MatrixView<const T> m = op == Op::N ? a : a.transposed();
  const GemmArgs product{dtype_of<T>, dtype_of<T>,    m.rows(),          1,        alpha == T(0) ? 0 : m.columns(),
                         m.data(),    m.row_stride(), m.column_stride(), x.data(), x.stride(),
                         1,           y.data(),       y.stride(),        1,        alpha,
                         beta};
  const Accuracy accuracy =
      choose("blas.gemv", executor, options.precision, product,
             (ComplexScalar<T> ? 2 * std::sqrt(2.0) * (n + 4) : n + 3) * u, (ComplexScalar<T> ? 5 : 3) * u);
  if (a.rows() == 0 || a.columns() == 0 || (alpha == T(0) && beta == T(1))) return accuracy;
  dispatch(kGemv, executor,
           {dtype_of<T>, m.rows(), m.columns(), m.data(), m.row_stride(), m.column_stride(),
            ComplexScalar<T> && op == Op::C, x.data(), x.stride(), y.data(), y.stride(), alpha, beta, accuracy.mode});
  return accuracy;
}

template <Scalar T> void gbmv(const Executor& executor, Op op, Number<T> alpha, const ConstBand<T>& a,
                              const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y) {
  checks::enumerators("blas.gbmv", op);
  checks::operand("blas.gbmv", "A", executor, a);
  checks::operand("blas.gbmv", "x", executor, x);
  checks::operand("blas.gbmv", "y", executor, y);
  const std::int64_t lines = a.layout() == Layout::ColumnMajor ? a.columns() : a.rows();
  check<T>("blas.gbmv", op, a.rows(), a.columns(), x, y,
           {a.data(), {{lines, a.ld()}, {a.kl() + a.ku() + 1, 1}}, sizeof(T)});
  if (a.rows() == 0 || a.columns() == 0 || (alpha == T(0) && beta == T(1))) return;
  dispatch(kGbmv, executor,
           {dtype_of<T>, a.layout(), op, a.rows(), a.columns(), a.kl(), a.ku(), a.data(), a.ld(), x.data(), x.stride(),
            y.data(), y.stride(), alpha, beta});
}

#define TRN_GEMV(T)                                                                                                  \
  template Accuracy gemv<T>(const Executor&, Op, Number<T>, const ConstMatrix<T>&, const ConstVector<T>&, Number<T>, \
                            const VectorView<T>&, const ProductOptions&);                                            \
  template void gbmv<T>(const Executor&, Op, Number<T>, const ConstBand<T>&, const ConstVector<T>&, Number<T>,       \
                        const VectorView<T>&);
TRN_GEMV(float)
TRN_GEMV(double)
TRN_GEMV(std::complex<float>)
TRN_GEMV(std::complex<double>)
#undef TRN_GEMV

}  // namespace trn::blas
