// The entry points of tpttr and trttp. A triangle packed row by row is the other triangle of the transposed matrix
// packed column by column.
#include <trn/blas/packed.hpp>

#include "fold.hpp"
#include "kernels.hpp"

namespace trn::blas {

namespace {

template <class P, class A> void convert(const KernelTable<PackedArgs>& table, const Executor& executor,
                                         const PackedView<P>& packed, const MatrixView<A>& a, bool writes_a) {
  checks::operand(table.operation, "the packed triangle", executor, packed);
  checks::operand(table.operation, "A", executor, a);
  require(a.rows() == packed.n() && a.columns() == packed.n(),
          "{}: A is {} x {}, the packed triangle has order {}; A must be {} x {}", table.operation, a.rows(),
          a.columns(), packed.n(), packed.n(), packed.n());
  if (packed.n() == 0) return;
  if (writes_a) checks::distinct_elements(table.operation, "A", checks::extent(a));
  const checks::Extent line{packed.data(), {{packed.size(), 1}}, sizeof(P), 1};
  require(!checks::overlap(line, checks::extent(a)), "{}: A shares memory with the packed triangle; give each its own",
          table.operation);
  const bool row_major = packed.layout() == Layout::RowMajor;
  const auto fa = row_major ? a.transposed() : a;
  using T = std::remove_const_t<P>;
  dispatch(table, executor,
           {dtype_of<T>, packed.n(), (packed.uplo() == Uplo::Lower) != row_major, const_cast<T*>(packed.data()),
            const_cast<T*>(fa.data()), fa.row_stride(), fa.column_stride()});
}

}  // namespace

template <Scalar T> void tpttr(const Executor& executor, const ConstPacked<T>& packed, const MatrixView<T>& a) {
  convert(kTpttr, executor, packed, a, true);
}
template <Scalar T> void trttp(const Executor& executor, const ConstMatrix<T>& a, const PackedView<T>& packed) {
  convert(kTrttp, executor, packed, a, false);
}

#define TRN_PACKED(T)                                                                   \
  template void tpttr<T>(const Executor&, const ConstPacked<T>&, const MatrixView<T>&); \
  template void trttp<T>(const Executor&, const ConstMatrix<T>&, const PackedView<T>&);
TRN_PACKED(float)
TRN_PACKED(double)
TRN_PACKED(std::complex<float>)
TRN_PACKED(std::complex<double>)
#undef TRN_PACKED

}  // namespace trn::blas
