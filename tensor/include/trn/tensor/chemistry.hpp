// Integral transformations of quantum chemistry, from atomic to molecular orbitals.
//
//   ao_to_mo        (pq|rs) = sum (mu nu|lambda sigma) C1(mu, p) C2(nu, q) C3(lambda, r) C4(sigma, s)
//   df_half         (P|i nu) = sum (P|mu nu) C1(mu, i)
//   df_to_mo        (P|i a) = sum (P|mu nu) C1(mu, i) C2(nu, a)
//
// Any subset of orbitals: the C are n x anything. Four quarter transformations, in flops 2 (n^4 p + n^3 p q +
// n^2 p q s + n p q r s); with `symmetric` a half of the first two, and half of the others where C1 and C2 are the same
// view. Error, elementwise and first order: at most 4 (n + 3) u times the same sum of absolute values. Host; float and
// double.
#pragma once

#include <array>

#include <trn/core/array.hpp>
#include <trn/core/scalars.hpp>

namespace trn::tensor {

struct TransformOptions {
  // The integrals are those of real orbitals: the same with mu and nu, or lambda and sigma, exchanged. Only sigma <=
  // lambda is read.
  bool symmetric = false;
  // For intermediates, at one time; p is taken in blocks that fit. 0: no limit. Throws InvalidArgument when one p does
  // not fit.
  std::int64_t live_elements = 0;
};

template <RealScalar T> Array<T> ao_to_mo(const Executor& executor, const std::type_identity_t<View<const T>>& ao,
                                          const std::array<std::type_identity_t<MatrixView<const T>>, 4>& orbitals,
                                          const TransformOptions& options = {});

// (P|mu nu) has the shape naux x n x n.
template <RealScalar T> Array<T> df_half(const Executor& executor, const std::type_identity_t<View<const T>>& integrals,
                                         const std::type_identity_t<MatrixView<const T>>& c1);
template <RealScalar T> Array<T> df_to_mo(const Executor& executor,
                                          const std::type_identity_t<View<const T>>& integrals,
                                          const std::type_identity_t<MatrixView<const T>>& c1,
                                          const std::type_identity_t<MatrixView<const T>>& c2);

}  // namespace trn::tensor
