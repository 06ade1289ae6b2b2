// geam, dgmm, tpttr and trttp on the host: loops, each element read and written once. Memory is the limit, so a matrix
// that is turned is walked in tiles of 32 x 32 that stay in the first-level cache.
#include <algorithm>

#include <trn/core/parallel.hpp>

#include "../kernels.hpp"
#include "dense.hpp"

namespace trn::blas::host {

namespace {

constexpr std::int64_t kTile = 32;
constexpr std::int64_t kParallel = 1 << 16;  // elements from which threads pay

// element(i, j) for all of a rows x columns matrix, tile by tile; j is the inner index.
template <class F> void for_elements(std::int64_t rows, std::int64_t columns, bool tiled, const F& element) {
  const std::int64_t width = tiled ? kTile : columns;
  parallel_for((rows + kTile - 1) / kTile, rows * columns > kParallel, [&](std::int64_t tile) {
    const std::int64_t i0 = tile * kTile;
    for (std::int64_t j0 = 0; j0 < columns; j0 += width) {
      for (std::int64_t i = i0; i < std::min(rows, i0 + kTile); ++i) {
        for (std::int64_t j = j0; j < std::min(columns, j0 + width); ++j) element(i, j);
      }
    }
  });
}

// conj(x) or x times a factor, by the formula: no special case for NaN, unlike the operator of std::complex.
template <Scalar T> T times(T alpha, T x, bool conj) {
  if constexpr (ComplexScalar<T>) {
    const Real<T> im = conj ? -x.imag() : x.imag();
    return {alpha.real() * x.real() - alpha.imag() * im, alpha.real() * im + alpha.imag() * x.real()};
  } else {
    return alpha * x;
  }
}

template <Scalar T> void add(const GeamArgs& g) {
  auto a = strided<T>(g.a, g.m, g.n, g.am, g.an), b = strided<T>(g.b, g.m, g.n, g.bm, g.bn);
  auto c = strided<T>(g.c, g.m, g.n, g.cm, g.cn);
  if (c.column_stride != 1) a = a.transposed(), b = b.transposed(), c = c.transposed();
  const T alpha = factor<T>(g.alpha), beta = factor<T>(g.beta);
  const bool with_a = alpha != T(0), with_b = beta != T(0);
  const bool tiled = (with_a && a.column_stride != 1) || (with_b && b.column_stride != 1);
  const bool ca = g.conj_a, cb = g.conj_b;
  if (with_a && with_b) {
    for_elements(c.rows, c.columns, tiled,
                 [=](auto i, auto j) { c.at(i, j) = times(alpha, a.at(i, j), ca) + times(beta, b.at(i, j), cb); });
  } else if (with_a) {
    for_elements(c.rows, c.columns, tiled, [=](auto i, auto j) { c.at(i, j) = times(alpha, a.at(i, j), ca); });
  } else if (with_b) {
    for_elements(c.rows, c.columns, tiled, [=](auto i, auto j) { c.at(i, j) = times(beta, b.at(i, j), cb); });
  } else {
    for_elements(c.rows, c.columns, false, [=](auto i, auto j) { c.at(i, j) = T(0); });
  }
}

template <Scalar T> void scale(const DgmmArgs& g) {
  const auto a = strided<T>(g.a, g.m, g.n, g.am, g.an);
  const auto c = strided<T>(g.c, g.m, g.n, g.cm, g.cn);
  const T* x = static_cast<const T*>(g.x);
  const std::int64_t incx = g.incx;
  if (c.column_stride == 1) {
    for_elements(g.m, g.n, a.column_stride != 1,
                 [=](auto i, auto j) { c.at(i, j) = times(x[i * incx], a.at(i, j), false); });
  } else {
    for_elements(g.n, g.m, a.row_stride != 1,
                 [=](auto j, auto i) { c.at(i, j) = times(x[i * incx], a.at(i, j), false); });
  }
}

// visit(packed element, full element) for the triangle.
template <Scalar T, class F> void for_packed(const PackedArgs& p, const F& visit) {
  const auto a = strided<T>(p.a, p.n, p.n, p.am, p.an);
  T* packed = static_cast<T*>(p.packed);
  parallel_for(p.n, p.n * p.n > kParallel, [&](std::int64_t j) {
    T* column = packed + (p.lower ? j * (2 * p.n - j - 1) / 2 : j * (j + 1) / 2);
    for (std::int64_t i = p.lower ? j : 0; i < (p.lower ? p.n : j + 1); ++i) visit(column[i], a.at(i, j));
  });
}

}  // namespace

void geam(const Executor&, const GeamArgs& args) {
  with_scalar(args.dtype, [&]<class T>(T) { add<T>(args); });
}
void dgmm(const Executor&, const DgmmArgs& args) {
  with_scalar(args.dtype, [&]<class T>(T) { scale<T>(args); });
}
void tpttr(const Executor&, const PackedArgs& args) {
  with_scalar(args.dtype, [&]<class T>(T) { for_packed<T>(args, [](T& from, T& to) { to = from; }); });
}
void trttp(const Executor&, const PackedArgs& args) {
  with_scalar(args.dtype, [&]<class T>(T) { for_packed<T>(args, [](T& to, T& from) { to = from; }); });
}

}  // namespace trn::blas::host
