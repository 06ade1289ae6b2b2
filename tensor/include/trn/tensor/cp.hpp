// CP decomposition: X ~ sum over r of weight_r a_r o b_r o c_r ..., columns of the factors with norm 1.
//
//   Cp<double> c = cp<double>(exec, x, 16);
//   Array<double> y = reconstruct(exec, c);
//
// Alternating least squares with line search, its nonnegative form (HALS), and ALS on a randomly compressed tensor.
// Host; float and double. Devices, for float: X stays there and the products with it are the device's, of three modes
// one kernel each; Grams, solves and errors are the host's. Not converging is a result: look at report.fit and
// report.stop_reason.
#pragma once

#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/scalars.hpp>
#include <trn/tensor/decomposition.hpp>

namespace trn::tensor {

enum class CpMethod : std::uint8_t {
  Als,
  Nonnegative,  // factors and weights >= 0
  Randomized    // ALS on the core of a randomised Tucker decomposition, then on X
};

struct CpOptions {
  CpMethod method = CpMethod::Als;
  int max_iterations = 500;
  double tolerance = 1e-10;  // change of the relative error in one iteration
  bool line_search = true;   // of ALS: steps along the last change, by the cube root of the iteration's number
  int starts = 1;            // the best of several; the first begins with singular vectors, the others at random.
                             // No more are made once the relative error is below `enough`.
  double enough = 1e-6;
  std::uint64_t seed = 0;
};

template <RealScalar T> struct Cp {
  std::vector<T> weights;          // descending
  std::vector<Matrix<T>> factors;  // n_k x rank
  DecompositionReport report;
};

// Throws InvalidArgument for tensors of fewer than 2 dimensions, empty extents and rank < 1.
template <RealScalar T> Cp<T> cp(const Executor& executor, const std::type_identity_t<View<const T>>& x,
                                 std::int64_t rank, const CpOptions& options = {});

template <RealScalar T> Array<T> reconstruct(const Executor& executor, const Cp<T>& c);

}  // namespace trn::tensor
