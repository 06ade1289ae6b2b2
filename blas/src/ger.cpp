// The entry points of ger and gerc.
#include <trn/blas/ger.hpp>

#include "checks.hpp"
#include "kernels.hpp"

namespace trn::blas {

namespace {

template <class T> void update(const Executor& executor, T alpha, const VectorView<const T>& x,
                               const VectorView<const T>& y, bool conj, const MatrixView<T>& a) {
  checks::operand("blas.ger", "x", executor, x);
  checks::operand("blas.ger", "y", executor, y);
  checks::operand("blas.ger", "A", executor, a);
  require(x.size() == a.rows() && y.size() == a.columns(),
          "blas.ger: x has {} elements, y has {}, A is {} x {}; they must be m, n and m x n", x.size(), y.size(),
          a.rows(), a.columns());
  checks::distinct_elements("blas.ger", "A", checks::extent(a));
  checks::no_overlap("blas.ger", "x", checks::extent(x), "A", checks::extent(a));
  checks::no_overlap("blas.ger", "y", checks::extent(y), "A", checks::extent(a));
  if (a.rows() == 0 || a.columns() == 0 || alpha == T(0)) return;
  dispatch(kGer, executor,
           {dtype_of<T>, a.rows(), a.columns(), x.data(), x.stride(), y.data(), y.stride(), conj, a.data(),
            a.row_stride(), a.column_stride(), alpha});
}

}  // namespace

template <Scalar T> void ger(const Executor& executor, Number<T> alpha, const ConstVector<T>& x,
                             const ConstVector<T>& y, const MatrixView<T>& a) {
  update<T>(executor, alpha, x, y, false, a);
}
template <Scalar T> void gerc(const Executor& executor, Number<T> alpha, const ConstVector<T>& x,
                              const ConstVector<T>& y, const MatrixView<T>& a) {
  update<T>(executor, alpha, x, y, ComplexScalar<T>, a);
}

#define TRN_GER(T)                                                                               \
  template void ger<T>(const Executor&, Number<T>, const ConstVector<T>&, const ConstVector<T>&, \
                       const MatrixView<T>&);                                                    \
  template void gerc<T>(const Executor&, Number<T>, const ConstVector<T>&, const ConstVector<T>&, const MatrixView<T>&);
TRN_GER(float)
TRN_GER(double)
TRN_GER(std::complex<float>)
TRN_GER(std::complex<double>)
#undef TRN_GER

}  // namespace trn::blas
