// The entry points of symmetric and Hermitian matrix times vector, in the three storage forms.
#include <trn/blas/symv.hpp>

#include "kernels.hpp"
#include "triangle_checks.hpp"

namespace trn::blas {

namespace {

template <class T, class A> void multiply(const KernelTable<SymvArgs>& kernels, const Executor& executor,
                                          bool hermitian, Uplo uplo, T alpha, const A& a, const VectorView<const T>& x,
                                          T beta, const VectorView<T>& y) {
  const char* operation = kernels.operation;
  checks::enumerators(operation, uplo);
  checks::operand(operation, "A", executor, a);
  checks::operand(operation, "x", executor, x);
  checks::operand(operation, "y", executor, y);
  const Triangle shape = checks::triangle(operation, uplo, a);
  checks::length(operation, "x", x, shape.n);
  checks::length(operation, "y", y, shape.n);
  checks::distinct_elements(operation, "y", checks::extent(y));
  checks::no_overlap(operation, "A", checks::extent(a), "y", checks::extent(y));
  checks::no_overlap(operation, "x", checks::extent(x), "y", checks::extent(y));
  if (shape.n == 0 || (alpha == T(0) && beta == T(1))) return;
  dispatch(kernels, executor,
           {dtype_of<T>, shape, hermitian, a.data(), x.data(), x.stride(), y.data(), y.stride(), alpha, beta});
}

}  // namespace

template <Scalar T> void symv(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstMatrix<T>& a,
                              const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y) {
  multiply<T>(kSymv, executor, false, uplo, alpha, a, x, beta, y);
}
template <ComplexScalar T> void hemv(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstMatrix<T>& a,
                                     const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y) {
  multiply<T>(kHemv, executor, true, uplo, alpha, a, x, beta, y);
}
template <Scalar T> void sbmv(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstBand<T>& a,
                              const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y) {
  multiply<T>(kSbmv, executor, false, uplo, alpha, a, x, beta, y);
}
template <ComplexScalar T> void hbmv(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstBand<T>& a,
                                     const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y) {
  multiply<T>(kHbmv, executor, true, uplo, alpha, a, x, beta, y);
}
template <Scalar T> void spmv(const Executor& executor, Number<T> alpha, const ConstPacked<T>& a,
                              const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y) {
  multiply<T>(kSpmv, executor, false, a.uplo(), alpha, a, x, beta, y);
}
template <ComplexScalar T> void hpmv(const Executor& executor, Number<T> alpha, const ConstPacked<T>& a,
                                     const ConstVector<T>& x, Number<T> beta, const VectorView<T>& y) {
  multiply<T>(kHpmv, executor, true, a.uplo(), alpha, a, x, beta, y);
}

#define TRN_FORMS(T, full, band, packed)                                                                           \
  template void full<T>(const Executor&, Uplo, Number<T>, const ConstMatrix<T>&, const ConstVector<T>&, Number<T>, \
                        const VectorView<T>&);                                                                     \
  template void band<T>(const Executor&, Uplo, Number<T>, const ConstBand<T>&, const ConstVector<T>&, Number<T>,   \
                        const VectorView<T>&);                                                                     \
  template void packed<T>(const Executor&, Number<T>, const ConstPacked<T>&, const ConstVector<T>&, Number<T>,     \
                          const VectorView<T>&);
TRN_FORMS(float, symv, sbmv, spmv)
TRN_FORMS(double, symv, sbmv, spmv)
TRN_FORMS(std::complex<float>, symv, sbmv, spmv)
TRN_FORMS(std::complex<double>, symv, sbmv, spmv)
TRN_FORMS(std::complex<float>, hemv, hbmv, hpmv)
TRN_FORMS(std::complex<double>, hemv, hbmv, hpmv)
#undef TRN_FORMS

}  // namespace trn::blas
