// Level 1 as the reference BLAS has it, over the entry points of trnblas: sizes below 1 return, some routines do
// nothing for increments below 1, vectors may overlap or have increment 0 although written. The last two are not for
// the entry points: a plain loop in the reference's order does them.
#pragma once

#include <cmath>
#include <trn/blas/level1.hpp>
#include <trn/blas/rotations.hpp>

#include "direct.hpp"
#include "operands.hpp"

namespace trn::dropin {

using blas::Real;

// Whether the entry points would refuse the pair: y (and x when it is written too) squeezed into one element, or common
// memory. Memory ranges are compared, which calls interleaved vectors common: the loop is right for them as well.
template <class X, class Y> bool entangled(int n, const X* x, int incx, const Y* y, int incy, bool x_written) {
  if (n > 1 && (incy == 0 || (x_written && incx == 0))) return true;
  const auto last = [n](const auto* v, std::int64_t inc) { return v + (n - 1) * std::abs(inc); };
  return !(last(x, incx) < y || last(y, incy) < x);
}
template <class X, class Y> bool same(const X* x, int incx, const Y* y, int incy) {
  return static_cast<const void*>(x) == y && incx == incy;
}

// f(x_i, y_i) in the reference's order.
template <class X, class Y, class F> void in_order(int n, X* x, int incx, Y* y, int incy, F f) {
  X* px = first(x, n, incx);
  Y* py = first(y, n, incy);
  for (std::int64_t i = 0; i < n; ++i) f(px[i * incx], py[i * incy]);
}

template <class T> void axpy(int n, T alpha, const T* x, int incx, T* y, int incy) {
  if (n <= 0 || alpha == T(0)) return;
  if (entangled(n, x, incx, y, incy, false) && !(same(x, incx, y, incy) && incy != 0)) {
    return on_host(Level::One,
                   [&](const Executor&) { in_order(n, x, incx, y, incy, [&](const T& a, T& b) { b += alpha * a; }); });
  }
  if (direct::plain(x, incx, y, incy) && x != y && direct::serves(Level::One))
    return direct::axpy(n, alpha, x, incx, y, incy);
  on_executor(Level::One, [&](const Executor& e, Precision) {
    Vector<const T> vx(e, x, n, incx);
    Vector<T> vy(e, y, n, incy);
    blas::axpy(e, alpha, vx.view(), vy.view());
    vy.commit();
  });
}

template <class T> void copy(int n, const T* x, int incx, T* y, int incy) {
  if (n <= 0) return;
  if (entangled(n, x, incx, y, incy, false)) {
    return on_host(Level::One,
                   [&](const Executor&) { in_order(n, x, incx, y, incy, [&](const T& a, T& b) { b = a; }); });
  }
  if (direct::plain(x, incx, y, incy) && direct::serves(Level::One)) return direct::copy(n, x, incx, y, incy);
  on_executor(Level::One, [&](const Executor& e, Precision) {
    Vector<const T> vx(e, x, n, incx);
    Vector<T> vy(e, y, n, incy);
    blas::copy(e, vx.view(), vy.view());
    vy.commit();
  });
}

template <class T> void swap(int n, T* x, int incx, T* y, int incy) {
  if (n <= 0) return;
  if (entangled(n, x, incx, y, incy, true)) {
    return on_host(Level::One,
                   [&](const Executor&) { in_order(n, x, incx, y, incy, [&](T& a, T& b) { std::swap(a, b); }); });
  }
  if (direct::plain(x, incx, y, incy) && direct::serves(Level::One)) return direct::swap(n, x, incx, y, incy);
  on_executor(Level::One, [&](const Executor& e, Precision) {
    Vector<T> vx(e, x, n, incx), vy(e, y, n, incy);
    blas::swap(e, vx.view(), vy.view());
    vx.commit(), vy.commit();
  });
}

template <class T> void scal(int n, T alpha, T* x, int incx) {
  if (n <= 0 || incx <= 0) return;
  if (direct::plain(x, incx) && alpha != T(0) && direct::serves(Level::One)) return direct::scal(n, alpha, x, incx);
  on_executor(Level::One, [&](const Executor& e, Precision) {
    Vector<T> vx(e, x, n, incx);
    blas::scal(e, alpha, vx.view());
    vx.commit();
  });
}

template <class T> void scal_real(int n, Real<T> alpha, T* x, int incx) {
  if (n <= 0 || incx <= 0) return;
  on_executor(Level::One, [&](const Executor& e, Precision) {
    Vector<T> vx(e, x, n, incx);
    blas::scal_real(e, alpha, vx.view());
    vx.commit();
  });
}

template <class T> T dot(int n, const T* x, int incx, const T* y, int incy, bool conj) {
  if (n <= 0) return T(0);
  if (direct::plain(x, incx, y, incy) && direct::serves(Level::One)) return direct::dot(n, x, incx, y, incy, conj);
  return on_executor(
      Level::One,
      [&](const Executor& e, Precision p) {
        const Vector<const T> vx(e, x, n, incx), vy(e, y, n, incy);
        return conj ? blas::dotc(e, vx.view(), vy.view(), p).value : blas::dot(e, vx.view(), vy.view(), p).value;
      },
      &Environment::sums);
}

// The sum of products of floats in double precision, which holds each product exactly: dsdot, and sdsdot with an
// offset.
inline double dot_in_double(int n, double offset, const float* x, int incx, const float* y, int incy) {
  if (n <= 0) return offset;
  return on_host(Level::One, [&](const Executor&) {
    double sum = offset;
    in_order(n, x, incx, y, incy, [&](float a, float b) { sum += static_cast<double>(a) * static_cast<double>(b); });
    return sum;
  });
}

template <class T> Real<T> asum(int n, const T* x, int incx) {
  if (n <= 0 || incx <= 0) return 0;
  return on_executor(
      Level::One,
      [&](const Executor& e, Precision p) { return blas::asum(e, Vector<const T>(e, x, n, incx).view(), p).value; },
      &Environment::sums);
}

template <class T> Real<T> nrm2(int n, const T* x, int incx) {
  if (n <= 0) return 0;
  return on_executor(
      Level::One,
      [&](const Executor& e, Precision p) { return blas::nrm2(e, Vector<const T>(e, x, n, incx).view(), p).value; },
      &Environment::sums);
}

// From 1; 0 when there is none.
template <class T> int amax(int n, const T* x, int incx) {
  if (n <= 0 || incx <= 0) return 0;
  return on_executor(Level::One, [&](const Executor& e, Precision) {
    return static_cast<int>(blas::amax(e, Vector<const T>(e, x, n, incx).view())) + 1;
  });
}

template <class T, class S> void rot(int n, T* x, int incx, T* y, int incy, Real<T> c, S s) {
  if (n <= 0) return;
  if (entangled(n, x, incx, y, incy, true)) {
    return on_host(Level::One, [&](const Executor&) {
      in_order(n, x, incx, y, incy, [&](T& a, T& b) {
        const T t = c * a + s * b;
        b = c * b - s * a;
        a = t;
      });
    });
  }
  on_executor(Level::One, [&](const Executor& e, Precision) {
    Vector<T> vx(e, x, n, incx), vy(e, y, n, incy);
    blas::rot(e, vx.view(), vy.view(), c, s);
    vx.commit(), vy.commit();
  });
}

template <class T> void rotg(T* a, T* b, Real<T>* c, T* s) {
  const auto r = on_host(Level::One, [&](const Executor&) { return blas::rotg(*a, *b); });
  *a = r.r, *c = r.c, *s = r.s;
  if constexpr (blas::RealScalar<T>) *b = r.z;
}

template <class T> void rotm(int n, T* x, int incx, T* y, int incy, const T* param) {
  if (n <= 0 || param[0] == T(-2)) return;
  if (entangled(n, x, incx, y, incy, true)) {
    const T flag = param[0];
    const T h11 = flag == 0 ? T(1) : param[1], h21 = flag > 0 ? T(-1) : param[2], h12 = flag > 0 ? T(1) : param[3],
            h22 = flag == 0 ? T(1) : param[4];
    return on_host(Level::One, [&](const Executor&) {
      in_order(n, x, incx, y, incy, [&](T& a, T& b) {
        const T t = h11 * a + h12 * b;
        b = h21 * a + h22 * b;
        a = t;
      });
    });
  }
  on_executor(Level::One, [&](const Executor& e, Precision) {
    Vector<T> vx(e, x, n, incx), vy(e, y, n, incy);
    blas::rotm(e, vx.view(), vy.view(), {param[0], param[1], param[2], param[3], param[4]});
    vx.commit(), vy.commit();
  });
}

template <class T> void rotmg(T* d1, T* d2, T* x1, T y1, T* param) {
  const auto r = on_host(Level::One, [&](const Executor&) {
    return blas::rotmg(*d1, *d2, *x1, y1, blas::ModifiedRotation<T>{param[0], param[1], param[2], param[3], param[4]});
  });
  *d1 = r.d1, *d2 = r.d2, *x1 = r.x1;
  param[0] = r.h.flag, param[1] = r.h.h11, param[2] = r.h.h21, param[3] = r.h.h12, param[4] = r.h.h22;
}

}  // namespace trn::dropin
