// Level 1: vectors.
#pragma once

#include <trn/blas/level1.hpp>
#include <trn/blas/rotations.hpp>

#include "handle.hpp"

namespace trn::capi::blas {

using Int = std::int64_t;

// cuBLAS takes a size below zero for an empty vector in all of level 1 (measured on an H200, cuBLAS 13).
inline Int length(Int n) { return std::max<Int>(n, 0); }

template <class T> void axpy(Call& c, Int n, const T* alpha, const T* x, Int incx, T* y, Int incy) {
  tb::axpy<T>(c.executor, c.read(alpha, "alpha"), c.vector("x", x, length(n), incx), c.vector("y", y, length(n), incy));
}
template <class T> void copy(Call& c, Int n, const T* x, Int incx, T* y, Int incy) {
  tb::copy<T>(c.executor, c.vector("x", x, length(n), incx), c.vector("y", y, length(n), incy));
}
template <class T> void swap(Call& c, Int n, T* x, Int incx, T* y, Int incy) {
  tb::swap<T>(c.executor, c.vector("x", x, length(n), incx), c.vector("y", y, length(n), incy));
}
template <class T> void scal(Call& c, Int n, const T* alpha, T* x, Int incx) {
  tb::scal<T>(c.executor, c.read(alpha, "alpha"), c.vector("x", x, length(n), incx));
}
template <class T> void scal_real(Call& c, Int n, const Real<T>* alpha, T* x, Int incx) {
  tb::scal_real<T>(c.executor, c.read(alpha, "alpha"), c.vector("x", x, length(n), incx));
}
template <class T> void dot(Call& c, Int n, const T* x, Int incx, const T* y, Int incy, T* result) {
  c.write(result, tb::dot(c.executor, c.vector("x", x, length(n), incx), c.vector("y", y, length(n), incy)));
}
template <class T> void dotc(Call& c, Int n, const T* x, Int incx, const T* y, Int incy, T* result) {
  c.write(result, tb::dotc(c.executor, c.vector("x", x, length(n), incx), c.vector("y", y, length(n), incy)));
}
// cuBLAS gives 0 for increments that are not positive, as BLAS does.
template <class T> void asum(Call& c, Int n, const T* x, Int incx, Real<T>* result) {
  c.write(result, n <= 0 || incx <= 0 ? Real<T>(0) : tb::asum(c.executor, c.vector("x", x, length(n), incx)));
}
template <class T> void nrm2(Call& c, Int n, const T* x, Int incx, Real<T>* result) {
  c.write(result, n <= 0 || incx <= 0 ? Real<T>(0) : tb::nrm2(c.executor, c.vector("x", x, length(n), incx)));
}
// Counts from 1; 0 for an empty vector.
template <class T, class I> void amax(Call& c, Int n, const T* x, Int incx, I* result) {
  c.write(result,
          static_cast<I>(n <= 0 || incx <= 0 ? 0 : tb::amax(c.executor, c.vector("x", x, length(n), incx)) + 1));
}
template <class T, class I> void amin(Call& c, Int n, const T* x, Int incx, I* result) {
  c.write(result,
          static_cast<I>(n <= 0 || incx <= 0 ? 0 : tb::amin(c.executor, c.vector("x", x, length(n), incx)) + 1));
}

template <class T> void rot(Call& c, Int n, T* x, Int incx, T* y, Int incy, const Real<T>* cosine, const T* sine) {
  tb::rot<T>(c.executor, c.vector("x", x, length(n), incx), c.vector("y", y, length(n), incy), c.read(cosine, "c"),
             c.read(sine, "s"));
}
template <class T>
void rot_real(Call& c, Int n, T* x, Int incx, T* y, Int incy, const Real<T>* cosine, const Real<T>* sine) {
  tb::rot<T>(c.executor, c.vector("x", x, length(n), incx), c.vector("y", y, length(n), incy), c.read(cosine, "c"),
             T(c.read(sine, "s")));
}
template <class T> void rotg(Call& c, T* a, T* b, Real<T>* cosine, T* sine) {
  const tb::Rotation<T> r = tb::rotg(c.read(a, "a"), c.read(b, "b"));
  c.write(a, r.r, "a");
  if constexpr (tb::RealScalar<T>) c.write(b, r.z, "b");  // of complex types b stays as it was
  c.write(cosine, r.c, "c");
  c.write(sine, r.s, "s");
}
// The entries h11, h21, h12, h22 of `param`, numbers 1 to 4, that a flag leaves to it; the others are neither read nor
// written.
inline std::vector<Int> entries_of(double flag) {
  if (flag == -1) return {1, 2, 3, 4};
  if (flag == 0) return {2, 3};
  if (flag == 1) return {1, 4};
  return {};
}
template <class T> void rotm(Call& c, Int n, T* x, Int incx, T* y, Int incy, const T* param) {
  T values[5] = {c.read(param, "param")};
  for (const Int i : entries_of(values[0])) values[i] = c.read(param, "param", i);
  tb::rotm<T>(c.executor, c.vector("x", x, length(n), incx), c.vector("y", y, length(n), incy),
              {values[0], values[1], values[2], values[3], values[4]});
}
template <class T> void rotmg(Call& c, T* d1, T* d2, T* x1, const T* y1, T* param) {
  const auto made = tb::rotmg<T>(c.read(d1, "d1"), c.read(d2, "d2"), c.read(x1, "x1"), c.read(y1, "y1"));
  c.write(d1, made.d1, "d1"), c.write(d2, made.d2, "d2"), c.write(x1, made.x1, "x1");
  const T values[] = {made.h.flag, made.h.h11, made.h.h21, made.h.h12, made.h.h22};
  c.write(param, values[0], "param");
  for (const Int i : entries_of(values[0])) c.write(param, values[i], "param", i);
}

}  // namespace trn::capi::blas
