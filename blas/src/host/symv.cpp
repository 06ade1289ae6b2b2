// Symmetric and Hermitian matrices of level 2 on the host: products (symv, hemv and their band and packed forms) and
// updates (syr, her, syr2, her2 and theirs). OpenBLAS, except for two cases that are ours: full matrices without a unit
// stride, and updates whose vectors contain zeros, since the reference skips those columns and OpenBLAS does not (0 *
// infinity).
#include <vector>

#include "../kernels.hpp"
#include "cblas.hpp"
#include "triangles.hpp"
#include "vectors.hpp"

namespace trn::blas::host {

namespace {

// Dense copy of the stored triangle of S, column by column; the other one stays zero and is not read by the routines
// that get it.
template <class T> std::vector<T> packed(const Triangle& t, const T* a) {
  const Columns<const T> s(t, a);
  std::vector<T> dense(static_cast<std::size_t>(t.n * t.n));
  for (std::int64_t j = 0; j < t.n; ++j) {
    const T* column = s.column(j);
    for (std::int64_t i = s.begin(j); i < s.end(j); ++i)
      dense[static_cast<std::size_t>(j * t.n + i)] = column[i * s.stride()];
  }
  return dense;
}

template <class T> void multiply(const SymvArgs& g) {
  const Triangle& t = g.shape;
  const int n = narrow("blas.symv", "n", t.n), k = narrow("blas.symv", "the number of diagonals", t.k);
  const Native storage = native(t);
  require(t.form == Form::Full || storage.usable,
          "blas.symv: the leading dimension is {}, the host BLAS takes at most {}; copy the band", t.ld, kIntMax);
  const std::vector<T> dense = storage.usable ? std::vector<T>() : packed(t, static_cast<const T*>(g.a));
  const T* a = storage.usable ? static_cast<const T*>(g.a) : dense.data();
  const int ld = static_cast<int>(storage.ld);
  const Input<T> x(g.x, t.n, g.incx);
  InOut<T> y(g.y, t.n, g.incy);
  const T alpha = factor<T>(g.alpha), beta = factor<T>(g.beta);
  const CBLAS_UPLO uplo = cb::code(t.uplo);
  if constexpr (ComplexScalar<T>) {
    if (g.hermitian) {
      switch (t.form) {
        case Form::Full:
          cb::hemv(storage.order, uplo, n, alpha, a, ld, x.data(), x.increment(), beta, y.data(), y.increment());
          break;
        case Form::Packed:
          cb::hpmv(storage.order, uplo, n, alpha, a, x.data(), x.increment(), beta, y.data(), y.increment());
          break;
        case Form::Band:
          cb::hbmv(storage.order, uplo, n, k, alpha, a, ld, x.data(), x.increment(), beta, y.data(), y.increment());
          break;
      }
      return y.store();
    }
  }
  switch (t.form) {
    case Form::Full:
      cb::symv(storage.order, uplo, n, alpha, a, ld, x.data(), x.increment(), beta, y.data(), y.increment());
      break;
    case Form::Packed:
      cb::spmv(storage.order, uplo, n, alpha, a, x.data(), x.increment(), beta, y.data(), y.increment());
      break;
    case Form::Band:
      cb::sbmv(storage.order, uplo, n, k, alpha, a, ld, x.data(), x.increment(), beta, y.data(), y.increment());
      break;
  }
  y.store();
}

// The update of S, column by column. For A = S^T the Hermitian update of S is the one with conjugated vectors: S =
// alpha conj(x) x^T + S, and for two vectors also exchanged: S = alpha conj(y) x^T + conj(alpha) conj(x) y^T + S.
template <class T> void update_columns(const SyrArgs& g) {
  const std::int64_t n = g.shape.n;
  const Columns<T> s(g.shape, static_cast<T*>(g.a));
  const bool flip = g.hermitian && s.transposed(), two = g.y != nullptr;
  std::vector<T> x = gathered<T>(g.x, n, g.incx, flip), y = two ? gathered<T>(g.y, n, g.incy, flip) : x;
  if (two && flip) x.swap(y);
  const T alpha = factor<T>(g.alpha);
  for (std::int64_t j = 0; j < n; ++j) {
    const T xj = x[static_cast<std::size_t>(j)], yj = y[static_cast<std::size_t>(j)];
    T* column = s.column(j);
    T& diagonal = column[j * s.stride()];
    if (xj != T(0) || yj != T(0)) {
      const T by_x = alpha * conjugated(yj, g.hermitian), by_y = conjugated(alpha * xj, g.hermitian);
      for (std::int64_t i = s.begin(j); i < s.end(j); ++i) {
        const T xi = x[static_cast<std::size_t>(i)];
        column[i * s.stride()] += two ? xi * by_x + y[static_cast<std::size_t>(i)] * by_y : xi * by_x;
      }
    }
    if constexpr (ComplexScalar<T>) {
      if (g.hermitian) diagonal = diagonal.real();
    }
  }
}

template <class T> void update(const SyrArgs& g) {
  const Triangle& t = g.shape;
  const int n = narrow("blas.syr", "n", t.n);
  const Native storage = native(t);
  const bool two = g.y != nullptr;
  const bool zero =
      has_zero(static_cast<const T*>(g.x), t.n, g.incx) || (two && has_zero(static_cast<const T*>(g.y), t.n, g.incy));
  if (!storage.usable || zero) return update_columns<T>(g);
  T* a = static_cast<T*>(g.a);
  const int ld = static_cast<int>(storage.ld);
  const Input<T> x(g.x, t.n, g.incx), y(two ? g.y : g.x, t.n, two ? g.incy : g.incx);
  const T alpha = factor<T>(g.alpha);
  const CBLAS_UPLO uplo = cb::code(t.uplo);
  const bool full = t.form == Form::Full;
  if constexpr (ComplexScalar<T>) {
    if (g.hermitian) {
      if (two && full)
        return cb::her2(storage.order, uplo, n, alpha, x.data(), x.increment(), y.data(), y.increment(), a, ld);
      if (two) return cb::hpr2(storage.order, uplo, n, alpha, x.data(), x.increment(), y.data(), y.increment(), a);
      if (full) return cb::her(storage.order, uplo, n, alpha.real(), x.data(), x.increment(), a, ld);
      return cb::hpr(storage.order, uplo, n, alpha.real(), x.data(), x.increment(), a);
    }
  }
  if (ComplexScalar<T> && two && (x.increment() < 0 || y.increment() < 0)) {
    // csyr2, zsyr2, cspr2 and zspr2 of OpenBLAS 0.3.21 step back by parts instead of elements: they get dense copies.
    const std::vector<T> u = gathered<T>(g.x, t.n, g.incx, false), v = gathered<T>(g.y, t.n, g.incy, false);
    return full ? cb::syr2(storage.order, uplo, n, alpha, u.data(), 1, v.data(), 1, a, ld)
                : cb::spr2(storage.order, uplo, n, alpha, u.data(), 1, v.data(), 1, a);
  }
  if (two && full)
    return cb::syr2(storage.order, uplo, n, alpha, x.data(), x.increment(), y.data(), y.increment(), a, ld);
  if (two) return cb::spr2(storage.order, uplo, n, alpha, x.data(), x.increment(), y.data(), y.increment(), a);
  if (full) return cb::syr(storage.order, uplo, n, alpha, x.data(), x.increment(), a, ld);
  cb::spr(storage.order, uplo, n, alpha, x.data(), x.increment(), a);
}

}  // namespace

void symv(const Executor&, const SymvArgs& args) {
  with_type(args.dtype, [&]<class T>(T) { multiply<T>(args); });
}

void syr(const Executor&, const SyrArgs& args) {
  with_type(args.dtype, [&]<class T>(T) { update<T>(args); });
}

}  // namespace trn::blas::host
