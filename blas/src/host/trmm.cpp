// trmm on the host: OpenBLAS, in place in C after copying B there. Copied besides: a triangle or a C without unit
// stride.
//
// OpenBLAS fills the other triangle of small blocks with zeros and multiplies them too, so an infinity in B would
// become NaN in rows that do not depend on it. The numbers of B that are not finite are therefore replaced in the
// product and added afterwards, each times the part of its column of A that is stored: where they arrive nothing else
// matters. Looking for them reads B once.
#include <cmath>

#include <trn/core/parallel.hpp>

#include "../gemm_accuracy.hpp"
#include "../kernels.hpp"
#include "openblas.hpp"
#include "products.hpp"

namespace trn::blas::host {

namespace {

template <Scalar T> bool all_finite(const Strided<const T>& b) {
  // x * 0 is 0 or NaN, and NaN survives a sum.
  const Strided<const T> v = b.column_stride == 1 ? b : b.transposed();
  const auto sum = parallel_sum<Real<T>>(v.rows, v.rows * v.columns > 1 << 16, [&](std::int64_t i) {
    Real<T> row = 0;
    for (std::int64_t j = 0; j < v.columns; ++j) {
      if constexpr (ComplexScalar<T>) {
        row += v.at(i, j).real() * 0 + v.at(i, j).imag() * 0;
      } else {
        row += v.at(i, j) * 0;
      }
    }
    return row;
  });
  return sum == 0;
}

template <Scalar T> bool finite(T x) {
  if constexpr (ComplexScalar<T>) {
    return std::isfinite(x.real()) && std::isfinite(x.imag());
  } else {
    return std::isfinite(x);
  }
}

// What stands in the product for a number that is not finite: finite, and of its sign, so that beside an infinity of A
// it adds nothing else.
template <Scalar T> T placeholder(T x) {
  if constexpr (ComplexScalar<T>) {
    return T(1);
  } else {
    return std::signbit(x) ? T(-1) : T(1);
  }
}

// C += alpha A X for the elements X of B that are not finite, along the stored part of A alone.
template <Scalar T> void add_not_finite(const TrmmArgs& t, const Strided<const T>& b, const Strided<T>& c) {
  const auto a = strided<T>(t.a, t.m, t.m, t.am, t.an);
  const T alpha = factor<T>(t.alpha);
  for (std::int64_t k = 0; k < t.m; ++k) {
    for (std::int64_t j = 0; j < t.n; ++j) {
      if (finite(b.at(k, j))) continue;
      const T x = alpha * b.at(k, j);
      for (std::int64_t i = t.lower ? k : 0; i < (t.lower ? t.m : k + 1); ++i) {
        c.at(i, j) += i == k && t.unit ? x : conjugate(a.at(i, k), t.conj_a) * x;
      }
    }
  }
}

// The triangle with zeros beside it.
template <Scalar T> Owned<T> whole(const TrmmArgs& t) {
  Owned<T> full = dense_copy(strided<T>(t.a, t.m, t.m, t.am, t.an), Layout::RowMajor,
                             t.lower ? Part::Lower : Part::Upper, t.conj_a);
  for (std::int64_t i = 0; t.unit && i < t.m; ++i) full.view.at(i, i) = T(1);
  return full;
}

template <Scalar T> void in_place(const TrmmArgs& t, const Strided<T>& c, const Placement& place) {
  const auto a = operand(strided<T>(t.a, t.m, t.m, t.am, t.an));
  const bool transposed = a.layout != place.layout;
  OpenBlas<T>::trmm(cblas_order(place.layout), cblas_uplo(t.lower != transposed), cblas_op(transposed, t.conj_a),
                    t.unit ? CblasUnit : CblasNonUnit, narrow("blas.trmm", "m", t.m), narrow("blas.trmm", "n", t.n),
                    factor<T>(t.alpha), a.data, narrow("blas.trmm", "lda", a.ld), c.data,
                    narrow("blas.trmm", "ldb", place.ld));
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
  if (!t.precision.has_target()) require_mode("blas.trmm", t.precision.mode(), t.dtype, Family::Host);
  const bool regular = all_finite(b), native = is_native(t.precision);
  // B is needed after C was written: in place, and where numbers were left out.
  const Owned<T> copy = !regular || (!native && t.b == t.c) ? dense_copy<T>(b, Layout::RowMajor) : Owned<T>();
  const Owned<T> kept = regular ? Owned<T>() : dense_copy<T>(b, Layout::RowMajor);
  for (std::int64_t i = 0; !regular && i < t.m; ++i) {
    for (std::int64_t j = 0; j < t.n; ++j) {
      if (!finite(copy.view.at(i, j))) copy.view.at(i, j) = placeholder(copy.view.at(i, j));
    }
  }
  const Strided<const T> from = copy.view.data ? Strided<const T>(copy.view) : b;
  if (!native) {
    const Owned<T> a = whole<T>(t);
    *t.accuracy = product<T>(executor, t.precision, factor<T>(t.alpha), a.view, from, T(0), c);
  } else if (const auto place = placement(c)) {
    if (from.data != c.data) copy_elements<T>(from, c);
    in_place(t, c, *place);
  } else {
    const Owned<T> dense = dense_copy<T>(from, Layout::RowMajor);
    in_place(t, dense.view, {Layout::RowMajor, t.n});
    copy_elements<T>(dense.view, c);
  }
  if (!regular) add_not_finite<T>(t, kept.view, c);
}

}  // namespace

void trmm(const Executor& executor, const TrmmArgs& args) {
  with_scalar(args.dtype, [&]<class T>(T) { run<T>(executor, args); });
}

}  // namespace trn::blas::host
