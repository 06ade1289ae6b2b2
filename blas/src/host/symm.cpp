// symm and hemm on the host: OpenBLAS in C's layout. Copied: a B of the other layout, a C without unit stride, and the
// triangle of A where OpenBLAS would read its conjugate. Other precisions: gemm with A written out.
#include "../kernels.hpp"
#include "openblas.hpp"
#include "products.hpp"

namespace trn::blas::host {

namespace {

// The whole of A from its lower triangle.
template <Scalar T> Owned<T> whole(const SymmArgs& s) {
  const auto a = strided<T>(s.a, s.m, s.m, s.am, s.an);
  Owned<T> full = dense_copy(a, Layout::RowMajor, Part::Lower, s.conj_a);
  copy_elements(a.transposed(), full.view, Part::Upper, s.hermitian != s.conj_a);
  if constexpr (ComplexScalar<T>) {
    for (std::int64_t i = 0; s.hermitian && i < s.m; ++i) full.view.at(i, i) = a.at(i, i).real();
  }
  return full;
}

// Memory in the call's layout is A itself; in the other layout it is A^T, which is A when symmetric and conj(A) when
// Hermitian.
template <Scalar T> void multiply(const SymmArgs& s, const Strided<T>& c, const Placement& place) {
  const auto a = strided<T>(s.a, s.m, s.m, s.am, s.an);
  Operand<T> oa = operand(a);
  if (s.hermitian && (oa.layout != place.layout) != s.conj_a) oa = operand_in(a, place.layout, Part::Lower, s.conj_a);
  const Operand<T> ob = operand_in(strided<T>(s.b, s.m, s.n, s.bm, s.bn), place.layout);
  const auto call = [&](auto routine) {
    routine(cblas_order(place.layout), cblas_uplo(oa.layout == place.layout), narrow("blas.symm", "m", s.m),
            narrow("blas.symm", "n", s.n), factor<T>(s.alpha), oa.data, narrow("blas.symm", "lda", oa.ld), ob.data,
            narrow("blas.symm", "ldb", ob.ld), factor<T>(s.beta), c.data, narrow("blas.symm", "ldc", place.ld));
  };
  if constexpr (ComplexScalar<T>) {
    if (s.hermitian) return call(OpenBlas<T>::hemm);
  }
  call(OpenBlas<T>::symm);
}

template <Scalar T> void run(const Executor& executor, const SymmArgs& s) {
  const auto c = strided<T>(s.c, s.m, s.n, s.cm, s.cn);
  if (!is_native(s.precision)) {
    const Owned<T> a = s.alpha != 0.0 ? whole<T>(s) : Owned<T>(s.m, s.m);
    *s.accuracy = product<T>(executor, s.precision, factor<T>(s.alpha), a.view, strided<T>(s.b, s.m, s.n, s.bm, s.bn),
                             factor<T>(s.beta), c);
    return;
  }
  if (const auto place = placement(c)) return multiply(s, c, *place);
  const Owned<T> dense = s.beta != 0.0 ? dense_copy<T>(c, Layout::RowMajor) : Owned<T>(s.m, s.n);
  multiply(s, dense.view, {Layout::RowMajor, s.n});
  copy_elements<T>(dense.view, c);
}

}  // namespace

void symm(const Executor& executor, const SymmArgs& args) {
  with_scalar(args.dtype, [&]<class T>(T) { run<T>(executor, args); });
}

}  // namespace trn::blas::host
