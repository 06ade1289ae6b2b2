// The entry points of triangular matrix times vector and triangular solve, in the three storage forms.
#include <trn/blas/trmv.hpp>

#include "kernels.hpp"
#include "triangle_checks.hpp"

namespace trn::blas {

namespace {

template <class T, class A> void apply(const KernelTable<TrmvArgs>& kernels, const Executor& executor, bool solve,
                                       Uplo uplo, Op op, Diag diag, const A& a, const VectorView<T>& x) {
  const char* operation = kernels.operation;
  checks::enumerators(operation, uplo, op, diag);
  checks::operand(operation, "A", executor, a);
  checks::operand(operation, "x", executor, x);
  const Triangle shape = checks::triangle(operation, uplo, a);
  checks::length(operation, "x", x, shape.n);
  checks::distinct_elements(operation, "x", checks::extent(x));
  checks::no_overlap(operation, "A", checks::extent(a), "x", checks::extent(x));
  if (shape.n == 0) return;
  dispatch(kernels, executor, {dtype_of<T>, shape, solve, op, diag, a.data(), x.data(), x.stride()});
}

}  // namespace

template <Scalar T>
void trmv(const Executor& executor, Uplo uplo, Op op, Diag diag, const ConstMatrix<T>& a, const VectorView<T>& x) {
  apply<T>(kTrmv, executor, false, uplo, op, diag, a, x);
}
template <Scalar T>
void trsv(const Executor& executor, Uplo uplo, Op op, Diag diag, const ConstMatrix<T>& a, const VectorView<T>& x) {
  apply<T>(kTrsv, executor, true, uplo, op, diag, a, x);
}
template <Scalar T>
void tbmv(const Executor& executor, Uplo uplo, Op op, Diag diag, const ConstBand<T>& a, const VectorView<T>& x) {
  apply<T>(kTbmv, executor, false, uplo, op, diag, a, x);
}
template <Scalar T>
void tbsv(const Executor& executor, Uplo uplo, Op op, Diag diag, const ConstBand<T>& a, const VectorView<T>& x) {
  apply<T>(kTbsv, executor, true, uplo, op, diag, a, x);
}
template <Scalar T>
void tpmv(const Executor& executor, Op op, Diag diag, const ConstPacked<T>& a, const VectorView<T>& x) {
  apply<T>(kTpmv, executor, false, a.uplo(), op, diag, a, x);
}
template <Scalar T>
void tpsv(const Executor& executor, Op op, Diag diag, const ConstPacked<T>& a, const VectorView<T>& x) {
  apply<T>(kTpsv, executor, true, a.uplo(), op, diag, a, x);
}

#define TRN_TRIANGULAR(T)                                                                              \
  template void trmv<T>(const Executor&, Uplo, Op, Diag, const ConstMatrix<T>&, const VectorView<T>&); \
  template void trsv<T>(const Executor&, Uplo, Op, Diag, const ConstMatrix<T>&, const VectorView<T>&); \
  template void tbmv<T>(const Executor&, Uplo, Op, Diag, const ConstBand<T>&, const VectorView<T>&);   \
  template void tbsv<T>(const Executor&, Uplo, Op, Diag, const ConstBand<T>&, const VectorView<T>&);   \
  template void tpmv<T>(const Executor&, Op, Diag, const ConstPacked<T>&, const VectorView<T>&);       \
  template void tpsv<T>(const Executor&, Op, Diag, const ConstPacked<T>&, const VectorView<T>&);
TRN_TRIANGULAR(float)
TRN_TRIANGULAR(double)
TRN_TRIANGULAR(std::complex<float>)
TRN_TRIANGULAR(std::complex<double>)
#undef TRN_TRIANGULAR

}  // namespace trn::blas
