// The entry points of rank-1 and rank-2 updates of one triangle, full and packed.
#include <trn/blas/syr.hpp>

#include "kernels.hpp"
#include "triangle_checks.hpp"

namespace trn::blas {

namespace {

template <class T> void separate(const char*, const PackedView<T>&) {}  // packed elements never overlap
template <class T> void separate(const char* operation, const MatrixView<T>& a) {
  checks::distinct_elements(operation, "A", checks::extent(a));
}

// y is null for the updates with one vector.
template <class T, class A> void update(const KernelTable<SyrArgs>& kernels, const Executor& executor, bool hermitian,
                                        Uplo uplo, T alpha, const VectorView<const T>& x, const VectorView<const T>* y,
                                        const A& a) {
  const char* operation = kernels.operation;
  checks::enumerators(operation, uplo);
  checks::operand(operation, "x", executor, x);
  if (y) checks::operand(operation, "y", executor, *y);
  checks::operand(operation, "A", executor, a);
  const Triangle shape = checks::triangle(operation, uplo, a);
  checks::length(operation, "x", x, shape.n);
  if (y) checks::length(operation, "y", *y, shape.n);
  separate(operation, a);
  checks::no_overlap(operation, "x", checks::extent(x), "A", checks::extent(a));
  if (y) checks::no_overlap(operation, "y", checks::extent(*y), "A", checks::extent(a));
  if (shape.n == 0 || alpha == T(0)) return;
  dispatch(kernels, executor,
           {dtype_of<T>, shape, hermitian, x.data(), x.stride(), y ? y->data() : nullptr, y ? y->stride() : 0, a.data(),
            alpha});
}

}  // namespace

template <Scalar T>
void syr(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstVector<T>& x, const MatrixView<T>& a) {
  update<T>(kSyr, executor, false, uplo, alpha, x, nullptr, a);
}
template <ComplexScalar T>
void her(const Executor& executor, Uplo uplo, Real<T> alpha, const ConstVector<T>& x, const MatrixView<T>& a) {
  update<T>(kHer, executor, true, uplo, alpha, x, nullptr, a);
}
template <Scalar T> void syr2(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstVector<T>& x,
                              const ConstVector<T>& y, const MatrixView<T>& a) {
  update<T>(kSyr2, executor, false, uplo, alpha, x, &y, a);
}
template <ComplexScalar T> void her2(const Executor& executor, Uplo uplo, Number<T> alpha, const ConstVector<T>& x,
                                     const ConstVector<T>& y, const MatrixView<T>& a) {
  update<T>(kHer2, executor, true, uplo, alpha, x, &y, a);
}
template <Scalar T>
void spr(const Executor& executor, Number<T> alpha, const ConstVector<T>& x, const PackedView<T>& a) {
  update<T>(kSpr, executor, false, a.uplo(), alpha, x, nullptr, a);
}
template <ComplexScalar T>
void hpr(const Executor& executor, Real<T> alpha, const ConstVector<T>& x, const PackedView<T>& a) {
  update<T>(kHpr, executor, true, a.uplo(), alpha, x, nullptr, a);
}
template <Scalar T> void spr2(const Executor& executor, Number<T> alpha, const ConstVector<T>& x,
                              const ConstVector<T>& y, const PackedView<T>& a) {
  update<T>(kSpr2, executor, false, a.uplo(), alpha, x, &y, a);
}
template <ComplexScalar T> void hpr2(const Executor& executor, Number<T> alpha, const ConstVector<T>& x,
                                     const ConstVector<T>& y, const PackedView<T>& a) {
  update<T>(kHpr2, executor, true, a.uplo(), alpha, x, &y, a);
}

#define TRN_UPDATES(T, Alpha, one, two, packed_one, packed_two)                                         \
  template void one<T>(const Executor&, Uplo, Alpha, const ConstVector<T>&, const MatrixView<T>&);      \
  template void two<T>(const Executor&, Uplo, Number<T>, const ConstVector<T>&, const ConstVector<T>&,  \
                       const MatrixView<T>&);                                                           \
  template void packed_one<T>(const Executor&, Alpha, const ConstVector<T>&, const PackedView<T>&);     \
  template void packed_two<T>(const Executor&, Number<T>, const ConstVector<T>&, const ConstVector<T>&, \
                              const PackedView<T>&);
TRN_UPDATES(float, float, syr, syr2, spr, spr2)
TRN_UPDATES(double, double, syr, syr2, spr, spr2)
TRN_UPDATES(std::complex<float>, std::complex<float>, syr, syr2, spr, spr2)
TRN_UPDATES(std::complex<double>, std::complex<double>, syr, syr2, spr, spr2)
TRN_UPDATES(std::complex<float>, float, her, her2, hpr, hpr2)
TRN_UPDATES(std::complex<double>, double, her, her2, hpr, hpr2)
#undef TRN_UPDATES

}  // namespace trn::blas
