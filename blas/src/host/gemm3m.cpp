// gemm3m on the host: OpenBLAS cgemm3m and zgemm3m in C's layout; operands without unit stride are copied.
#include "../kernels.hpp"
#include "openblas.hpp"
#include "products.hpp"

namespace trn::blas::host {

namespace {

template <ComplexScalar T> void multiply(const GemmArgs& g, const Strided<T>& c, const Placement& place) {
  const auto a = operand(strided<T>(g.a, g.m, g.k, g.am, g.ak)), b = operand(strided<T>(g.b, g.k, g.n, g.bk, g.bn));
  OpenBlas<T>::gemm3m(cblas_order(place.layout), cblas_op(a.layout != place.layout, g.conj_a), cblas_op(b.layout != place.layout, g.conj_b),
                      narrow("blas.gemm3m", "m", g.m), narrow("blas.gemm3m", "n", g.n), narrow("blas.gemm3m", "k", g.k), factor<T>(g.alpha),
                      a.data, narrow("blas.gemm3m", "lda", a.ld), b.data, narrow("blas.gemm3m", "ldb", b.ld), factor<T>(g.beta), c.data,
                      narrow("blas.gemm3m", "ldc", place.ld));
}

template <ComplexScalar T> void run(const GemmArgs& g) {
  const auto c = strided<T>(g.c, g.m, g.n, g.cm, g.cn);
  if (const auto place = placement(c)) return multiply(g, c, *place);
  const Owned<T> dense = g.beta != 0.0 ? dense_copy<T>(c, Layout::RowMajor) : Owned<T>(g.m, g.n);
  multiply(g, dense.view, {Layout::RowMajor, g.n});
  copy_elements<T>(dense.view, c);
}

}  // namespace

void gemm3m(const Executor&, const GemmArgs& args) {
  args.in == DType::Complex64 ? run<std::complex<float>>(args) : run<std::complex<double>>(args);
}

}  // namespace trn::blas::host
