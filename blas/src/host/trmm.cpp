// trmm on the host: OpenBLAS, in place in C after copying B there. Copied besides: a triangle or a C without unit stride.
//
// OpenBLAS fills the other triangle of small blocks with zeros and multiplies them too, so an infinity in B becomes NaN in rows
// that do not depend on it. A B that is not finite therefore goes another way: 64 rows at a time, the part outside the diagonal
// block by gemm, the diagonal block by loops over the triangle alone. Looking for such numbers reads B once.
#include <cmath>

#include "../kernels.hpp"
#include "openblas.hpp"
#include "products.hpp"

namespace trn::blas::host {

namespace {

constexpr std::int64_t kBlock = 64;

template <Scalar T> bool finite(const Strided<const T>& b) {
  // x * 0 is 0 or NaN, and NaN survives a sum.
  const Strided<const T> v = b.column_stride == 1 ? b : b.transposed();
  Real<T> sum = 0;
#pragma omp parallel for reduction(+ : sum) if (v.rows * v.columns > 1 << 16)
  for (std::int64_t i = 0; i < v.rows; ++i) {
    Real<T> row = 0;
    for (std::int64_t j = 0; j < v.columns; ++j) {
      if constexpr (ComplexScalar<T>) {
        row += v.at(i, j).real() * 0 + v.at(i, j).imag() * 0;
      } else {
        row += v.at(i, j) * 0;
      }
    }
    sum += row;
  }
  return sum == 0;
}

// Without a zero that is not in A. B is not C.
template <Scalar T> void by_rows(const Executor& executor, const TrmmArgs& t, const Strided<const T>& b, const Strided<T>& c) {
  const auto a = strided<T>(t.a, t.m, t.m, t.am, t.an);
  const T alpha = factor<T>(t.alpha);
  for (std::int64_t i0 = 0; i0 < t.m; i0 += kBlock) {
    const std::int64_t i1 = std::min(t.m, i0 + kBlock), k0 = t.lower ? 0 : i1, k1 = t.lower ? i0 : t.m;
    gemm(executor, {t.dtype, t.dtype, i1 - i0, t.n, k1 - k0, k1 > k0 ? &a.at(i0, k0) : a.data, t.am, t.an, k1 > k0 ? &b.at(k0, 0) : b.data,
                    b.row_stride, b.column_stride, &c.at(i0, 0), c.row_stride, c.column_stride, t.alpha, 0.0, t.conj_a, false});
    for (std::int64_t j = 0; j < t.n; ++j) {
      for (std::int64_t i = i0; i < i1; ++i) {
        T sum = t.unit ? b.at(i, j) : conjugate(a.at(i, i), t.conj_a) * b.at(i, j);
        for (std::int64_t k = t.lower ? i0 : i + 1; k < (t.lower ? i : i1); ++k) sum += conjugate(a.at(i, k), t.conj_a) * b.at(k, j);
        c.at(i, j) += alpha * sum;
      }
    }
  }
}

// The triangle with zeros beside it.
template <Scalar T> Owned<T> whole(const TrmmArgs& t) {
  Owned<T> full = dense_copy(strided<T>(t.a, t.m, t.m, t.am, t.an), Layout::RowMajor, t.lower ? Part::Lower : Part::Upper, t.conj_a);
  for (std::int64_t i = 0; t.unit && i < t.m; ++i) full.view.at(i, i) = T(1);
  return full;
}

template <Scalar T> void in_place(const TrmmArgs& t, const Strided<T>& c, const Placement& place) {
  const auto a = operand(strided<T>(t.a, t.m, t.m, t.am, t.an));
  const bool transposed = a.layout != place.layout;
  OpenBlas<T>::trmm(cblas_order(place.layout), cblas_uplo(t.lower != transposed), cblas_op(transposed, t.conj_a),
                    t.unit ? CblasUnit : CblasNonUnit, narrow("blas.trmm", "m", t.m), narrow("blas.trmm", "n", t.n), factor<T>(t.alpha), a.data,
                    narrow("blas.trmm", "lda", a.ld), c.data, narrow("blas.trmm", "ldb", place.ld));
}

template <Scalar T> void run(const Executor& executor, const TrmmArgs& t) {
  const auto b = strided<T>(t.b, t.m, t.n, t.bm, t.bn);
  const auto c = strided<T>(t.c, t.m, t.n, t.cm, t.cn);
  if (t.alpha == 0.0) {
    for (std::int64_t i = 0; i < t.m; ++i) {
      for (std::int64_t j = 0; j < t.n; ++j) c.at(i, j) = T(0);
    }
    return;
  }
  const bool regular = finite(b);
  if (!regular || !is_native(t.precision)) {
    const Owned<T> copy = t.b == t.c ? dense_copy<T>(b, Layout::RowMajor) : Owned<T>();
    const Strided<const T> from = t.b == t.c ? copy.view : b;
    if (!regular) return by_rows<T>(executor, t, from, c);
    const Owned<T> a = whole<T>(t);
    *t.accuracy = product<T>(executor, t.precision, factor<T>(t.alpha), a.view, from, T(0), c);
    return;
  }
  if (const auto place = placement(c)) {
    if (t.b != t.c) copy_elements<T>(b, c);
    return in_place(t, c, *place);
  }
  const Owned<T> dense = dense_copy<T>(b, Layout::RowMajor);
  in_place(t, dense.view, {Layout::RowMajor, t.n});
  copy_elements<T>(dense.view, c);
}

}  // namespace

void trmm(const Executor& executor, const TrmmArgs& args) {
  with_scalar(args.dtype, [&]<class T>(T) { run<T>(executor, args); });
}

}  // namespace trn::blas::host
