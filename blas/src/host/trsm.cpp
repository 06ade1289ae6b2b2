// trsm on the host: OpenBLAS in B's layout; copied: a triangle or a B without unit stride. Other precisions: 64 rows at a time in
// a copy, B_i = alpha B_i - A_i X_before by one gemm of that precision, then the diagonal block by OpenBLAS in the type itself.
//
// Residual of a block row, with g the bound of the product and d that of solving with 64 rows: the update errs by
// g (||a_i|| ||x_j|| + |alpha b_ij|), the solve by d ||a_i|| ||x_j||, and |alpha b_ij| <= (1 + total) ||a_i|| ||x_j||. So total
// <= 2 g + d to first order; a target e asks the products for e / 4.
#include "../gemm_accuracy.hpp"
#include "../kernels.hpp"
#include "openblas.hpp"
#include "products.hpp"

namespace trn::blas::host {

namespace {

constexpr std::int64_t kBlock = 64;

template <Scalar T> void in_place(const TrsmArgs& t, const Strided<T>& b, const Placement& place) {
  const auto a = operand(strided<T>(t.a, t.m, t.m, t.am, t.an));
  const bool transposed = a.layout != place.layout;
  OpenBlas<T>::trsm(cblas_order(place.layout), cblas_uplo(t.lower != transposed), cblas_op(transposed, t.conj_a),
                    t.unit ? CblasUnit : CblasNonUnit, narrow("blas.trsm", "m", t.m), narrow("blas.trsm", "n", t.n), factor<T>(t.alpha), a.data,
                    narrow("blas.trsm", "lda", a.ld), b.data, narrow("blas.trsm", "ldb", place.ld));
}

template <Scalar T> void by_products(const Executor& executor, const TrsmArgs& t, const Strided<T>& b) {
  const Owned<T> a = dense_copy(strided<T>(t.a, t.m, t.m, t.am, t.an), Layout::RowMajor, t.lower ? Part::Lower : Part::Upper, t.conj_a);
  const Owned<T> x = dense_copy<T>(b, Layout::RowMajor);
  const std::int64_t blocks = (t.m + kBlock - 1) / kBlock;
  const double solve = trsm_error_bound(t.dtype, std::min(t.m, kBlock));
  if (t.precision.has_target() && solve > t.precision.target_error() / 2) {
    refuse_target("blas.trsm", t.dtype, executor, t.precision.target_error(), 2 * solve);
  }
  Accuracy worst{Mode::Native, 0, 0};
  for (std::int64_t step = 0; step < blocks; ++step) {
    const std::int64_t i0 = (t.lower ? step : blocks - 1 - step) * kBlock, rows = std::min(kBlock, t.m - i0), i1 = i0 + rows;
    const std::int64_t k0 = t.lower ? 0 : i1, k = t.lower ? i0 : t.m - i1;
    const auto block = x.view.block(i0, 0, rows, t.n);
    worsen(worst, product<T>(executor, share(t.precision, 4), T(-1), a.view.block(i0, k0, rows, k), x.view.block(k0, 0, k, t.n),
                             factor<T>(t.alpha), block));
    TrsmArgs diagonal = t;
    diagonal.m = rows, diagonal.a = &a.view.at(i0, i0), diagonal.am = a.view.row_stride, diagonal.an = 1, diagonal.conj_a = false;
    diagonal.alpha = 1;
    in_place(diagonal, block, {Layout::RowMajor, t.n});
  }
  copy_elements<T>(x.view, b);
  worst.bound = 2 * worst.bound + solve;
  *t.accuracy = worst;
}

template <Scalar T> void run(const Executor& executor, const TrsmArgs& t) {
  const auto b = strided<T>(t.b, t.m, t.n, t.bm, t.bn);
  if (t.alpha == 0.0) {
    for (std::int64_t i = 0; i < t.m; ++i) {
      for (std::int64_t j = 0; j < t.n; ++j) b.at(i, j) = T(0);
    }
    return;
  }
  if (!is_native(t.precision)) return by_products(executor, t, b);
  if (const auto place = placement(b)) return in_place(t, b, *place);
  const Owned<T> dense = dense_copy<T>(b, Layout::RowMajor);
  in_place(t, dense.view, {Layout::RowMajor, t.n});
  copy_elements<T>(dense.view, b);
}

}  // namespace

void trsm(const Executor& executor, const TrsmArgs& args) {
  with_scalar(args.dtype, [&]<class T>(T) { run<T>(executor, args); });
}

}  // namespace trn::blas::host
