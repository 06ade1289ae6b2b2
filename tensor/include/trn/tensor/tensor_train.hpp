// Tensor trains: X(i_0, i_1, ...) = G_0(i_0) G_1(i_1) ..., a product of matrices; core k is r_k x n_k x r_k+1 with
// r_0 = r_d = 1.
//
//   TensorTrain<double> t = tensor_train<double>(exec, x, {.epsilon = 1e-8});
//   TensorTrain<double> u = round(exec, add(exec, t, t), {.epsilon = 1e-8});
//
// Host; float, double and their complex types.
#pragma once

#include <span>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/core/scalars.hpp>
#include <trn/tensor/decomposition.hpp>

namespace trn::tensor {

struct TensorTrainOptions {
  double epsilon = 0;         // ||X - reconstruct|| <= epsilon ||X||, barring rounding
  std::int64_t max_rank = 0;  // 0: no limit; overrides epsilon
};

template <Scalar T> struct TensorTrain {
  std::vector<Array<T>> cores;
  DecompositionReport
      report;  // of tensor_train; of round: norm, discarded, bound and fit, the error taken as the bound
  [[nodiscard]] Shape shape() const {
    Shape s;
    for (const Array<T>& core : cores) s.push_back(core.shape()[1]);
    return s;
  }
  [[nodiscard]] std::vector<std::int64_t> ranks() const {  // r_0 .. r_d
    std::vector<std::int64_t> r{1};
    for (const Array<T>& core : cores) r.push_back(core.shape()[2]);
    return r;
  }
};

// TT-SVD: one SVD per bond, the discarded values' norm at most epsilon ||X|| / sqrt(d - 1) each.
template <Scalar T> TensorTrain<T> tensor_train(const Executor& executor, const std::type_identity_t<View<const T>>& x,
                                                const TensorTrainOptions& options = {});
template <Scalar T> Array<T> reconstruct(const Executor& executor, const TensorTrain<T>& t);
// The same tensor with smaller ranks: orthogonalised from the right, then truncated from the left.
template <Scalar T>
TensorTrain<T> round(const Executor& executor, const TensorTrain<T>& t, const TensorTrainOptions& options = {});

template <Scalar T> TensorTrain<T> add(const Executor& executor, const TensorTrain<T>& a, const TensorTrain<T>& b);
template <Scalar T>
TensorTrain<T> scale(const Executor& executor, std::type_identity_t<T> alpha, const TensorTrain<T>& a);
template <Scalar T> TensorTrain<T> hadamard(const Executor& executor, const TensorTrain<T>& a, const TensorTrain<T>& b);
// The sum of conj(a) b.
template <Scalar T> T dot(const Executor& executor, const TensorTrain<T>& a, const TensorTrain<T>& b);
// By orthogonalisation: sqrt(dot(a, a)) would lose half of the digits of a small difference.
template <Scalar T> double norm(const Executor& executor, const TensorTrain<T>& a);
template <Scalar T> T evaluate(const TensorTrain<T>& a, std::span<const std::int64_t> index);

}  // namespace trn::tensor
