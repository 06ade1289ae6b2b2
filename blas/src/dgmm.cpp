// The entry point of dgmm. A diag(x) is the transposed problem: C^T = diag(x) A^T.
#include <trn/blas/dgmm.hpp>

#include "fold.hpp"
#include "kernels.hpp"

namespace trn::blas {

template <Scalar T> void dgmm(const Executor& executor, Side side, const ConstMatrix<T>& a, const ConstVector<T>& x,
                              const MatrixView<T>& c) {
  checks::enumerators("blas.dgmm", side);
  checks::operand("blas.dgmm", "A", executor, a);
  checks::operand("blas.dgmm", "x", executor, x);
  checks::operand("blas.dgmm", "C", executor, c);
  const std::int64_t order = side == Side::Left ? c.rows() : c.columns();
  require(a.rows() == c.rows() && a.columns() == c.columns() && x.size() == order,
          "blas.dgmm: A is {} x {}, C is {} x {}, x has {} elements, side {}; A and C must have one shape, and x {} "
          "elements",
          a.rows(), a.columns(), c.rows(), c.columns(), x.size(), letter(side), order);
  if (c.rows() == 0 || c.columns() == 0) return;
  checks::distinct_elements("blas.dgmm", "C", checks::extent(c));
  if (!same_view<T>(a, c)) checks::no_overlap("blas.dgmm", "A", checks::extent(a), "C", checks::extent(c));
  checks::no_overlap("blas.dgmm", "x", checks::extent(x), "C", checks::extent(c));
  const auto fa = side == Side::Left ? a : a.transposed();
  const auto fc = side == Side::Left ? c : c.transposed();
  dispatch(kDgmm, executor,
           {dtype_of<T>, fc.rows(), fc.columns(), fa.data(), fa.row_stride(), fa.column_stride(), x.data(), x.stride(),
            fc.data(), fc.row_stride(), fc.column_stride()});
}

#define TRN_DGMM(T) \
  template void dgmm<T>(const Executor&, Side, const ConstMatrix<T>&, const ConstVector<T>&, const MatrixView<T>&);
TRN_DGMM(float)
TRN_DGMM(double)
TRN_DGMM(std::complex<float>)
TRN_DGMM(std::complex<double>)
#undef TRN_DGMM

}  // namespace trn::blas
