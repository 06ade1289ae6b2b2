// gemm3m on the host: OpenBLAS cgemm3m and zgemm3m in C's layout; operands without unit stride are copied.
//
// With threads of its own OpenBLAS 0.3.21 (built for OpenMP) never returns from these two: their threads start threads
// again and wait for a slot that their parents hold. C is therefore cut into one strip per thread here, and inside a
// parallel region OpenBLAS stays on the thread it is called from.

#include <algorithm>

#include <trn/core/openmp_pieces.hpp>
#include <trn/core/parallel.hpp>

#include "../kernels.hpp"
#include "openblas.hpp"
#include "products.hpp"

namespace trn::blas::host {

namespace {

template <ComplexScalar T> void multiply(const GemmArgs& g, const Strided<T>& c, const Placement& place) {
  const auto a = operand(strided<T>(g.a, g.m, g.k, g.am, g.ak)), b = operand(strided<T>(g.b, g.k, g.n, g.bk, g.bn));
  const int k = narrow("blas.gemm3m", "k", g.k), lda = narrow("blas.gemm3m", "lda", a.ld),
            ldb = narrow("blas.gemm3m", "ldb", b.ld);
  const int ldc = narrow("blas.gemm3m", "ldc", place.ld), m = narrow("blas.gemm3m", "m", g.m),
            n = narrow("blas.gemm3m", "n", g.n);
  const auto step = [](const Operand<T>& x, bool along_rows) {
    return (x.layout == Layout::RowMajor) == along_rows ? x.ld : 1;
  };
  const bool by_rows = m > n;
  const int strips = std::min(by_rows ? m : n, loop_threads()), extent = by_rows ? m : n;
  openmp_pieces(strips, loop_threads() > 1 ? std::max(2, strips) : 1, [&](std::int64_t strip, int) {
    const int begin = static_cast<int>(extent * strip / strips),
              size = static_cast<int>(extent * (strip + 1) / strips) - begin;
    OpenBlas<T>::gemm3m(cblas_order(place.layout), cblas_op(a.layout != place.layout, g.conj_a),
                        cblas_op(b.layout != place.layout, g.conj_b), by_rows ? size : m, by_rows ? n : size, k,
                        factor<T>(g.alpha), a.data + (by_rows ? begin * step(a, true) : 0), lda,
                        b.data + (by_rows ? 0 : begin * step(b, false)), ldb, factor<T>(g.beta),
                        c.data + begin * (by_rows ? c.row_stride : c.column_stride), ldc);
  });
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
