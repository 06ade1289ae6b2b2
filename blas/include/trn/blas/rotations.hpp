// Plane rotations: apply one to two vectors (rot, rotm), make one (rotg, rotmg). cuBLAS: cublasSrot, cublasDrotg, ...
#pragma once

#include <trn/blas/types.hpp>

namespace trn::blas {

// x_i, y_i = c x_i + s y_i, c y_i - conj(s) x_i. S is T or Real<T> (csrot, zdrot).
template <Scalar T>
void rot(const Executor& executor, const VectorView<T>& x, const VectorView<T>& y, Real<T> c, Number<T> s);

// The rotation that takes (a, b) to (r, 0): [c s; -conj(s) c] [a; b] = [r; 0]. z recovers c and s as the BLAS standard
// says (real types; 0 for complex ones). Host scalars.
template <Scalar T> struct Rotation {
  Real<T> c;
  T s, r, z;
};
template <Scalar T> [[nodiscard]] Rotation<T> rotg(T a, T b);

// Modified (fast) Givens: flag -1: H = [h11 h12; h21 h22]; 0: [1 h12; h21 1]; 1: [h11 1; -1 h22]; -2: identity. As in
// BLAS, the entries that a flag implies are not written by rotmg.
template <RealScalar T> struct ModifiedRotation {
  T flag = -2, h11 = 0, h21 = 0, h12 = 0, h22 = 0;  // the order of BLAS's array `param`
};
template <RealScalar T> void rotm(const Executor& executor, const VectorView<T>& x, const VectorView<T>& y,
                                  const ModifiedRotation<std::type_identity_t<T>>& h);

template <RealScalar T> struct ModifiedRotationSetup {
  T d1, d2, x1;
  ModifiedRotation<T> h;
};
template <RealScalar T>
[[nodiscard]] ModifiedRotationSetup<T> rotmg(T d1, T d2, T x1, T y1, ModifiedRotation<T> previous = {});

}  // namespace trn::blas
