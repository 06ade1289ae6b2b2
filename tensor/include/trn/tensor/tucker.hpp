// Tucker decomposition: X ~ G x_0 U_0 x_1 U_1 ..., each U_k with orthonormal columns, G the core.
//
//   Tucker<double> t = tucker<double>(exec, x, {.ranks = {5, 5, 5}});
//   Array<double> y = reconstruct(exec, t);
//
// Factors are left singular vectors of unfoldings, from a QR factorisation of the transposed unfolding and the SVD of
// R: a Gram matrix would lose half of the digits. Host; float, double and their complex types.
#pragma once

#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/scalars.hpp>
#include <trn/tensor/decomposition.hpp>

namespace trn::tensor {

enum class TuckerMethod : std::uint8_t {
  Hosvd,      // every factor from X: error^2 <= the sum of all discarded singular values squared
  StHosvd,    // every factor from what the ones before left of X: error^2 is that sum, for less work
  Hooi,       // StHosvd, then each factor anew from X times the others, until the core's norm settles
  Randomized  // StHosvd with ranges from Gaussian sketches (Philox) instead of singular vectors
};

struct TuckerOptions {
  TuckerMethod method = TuckerMethod::StHosvd;
  std::vector<std::int64_t> ranks = {};  // one per mode, 0: as epsilon says; empty: all as epsilon says
  double epsilon = 0;                    // error <= epsilon ||X||, barring rounding; not for Randomized
  int max_iterations = 50;               // of Hooi
  double tolerance = 1e-12;              // of Hooi: relative change of the core's norm
  std::uint64_t seed = 0;                // of Randomized, with `oversampling` more columns and `power` iterations
  std::int64_t oversampling = 8;
  int power = 2;
};

template <Scalar T> struct Tucker {
  Array<T> core;                   // r_0 x r_1 x ...
  std::vector<Matrix<T>> factors;  // n_k x r_k
  DecompositionReport report;
};

// Throws InvalidArgument for rank 0 tensors, empty extents, and ranks that do not fit.
template <Scalar T> Tucker<T> tucker(const Executor& executor, const std::type_identity_t<View<const T>>& x,
                                     const TuckerOptions& options = {});

template <Scalar T> Array<T> reconstruct(const Executor& executor, const Tucker<T>& t);

}  // namespace trn::tensor
