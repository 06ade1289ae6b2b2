// The kernels of batches, both families. The entry points have checked shapes, executors and addresses.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/solver/batched.hpp>

namespace trn::solver {

template <Scalar T> struct PotrfBatchArgs {
  Uplo uplo;
  Batch<T> a;
};
template <Scalar T> struct PotrsBatchArgs {
  Uplo uplo;
  Batch<const T> factors;
  Batch<T> b;
};
template <Scalar T> struct GetrfBatchArgs {
  Batch<T> a;
  MatrixView<std::int64_t> pivots;
};
template <Scalar T> struct GetrsBatchArgs {
  Op op;
  Batch<const T> factors;
  MatrixView<const std::int64_t> pivots;
  Batch<T> b;
};
template <Scalar T> struct GetriBatchArgs {
  Batch<const T> factors;
  MatrixView<const std::int64_t> pivots;
  Batch<T> inverses;
};
template <Scalar T> struct MatinvBatchArgs {
  Batch<const T> a;
  Batch<T> inverses;
};
template <Scalar T> struct GeqrfBatchArgs {
  Batch<T> a;
  MatrixView<T> tau;
};
template <Scalar T> struct GelsBatchArgs { Batch<T> a, b; };
template <Scalar T> struct EighBatchArgs {
  Batch<T> a;
  MatrixView<Real<T>> w;
  EighOptions options;
};
template <Scalar T> struct SvdBatchArgs {
  Batch<const T> a;
  MatrixView<Real<T>> s;
  Batch<T> u, vh;
};

namespace host {
template <Scalar T> BatchOutcomes potrf_batched(const Executor& executor, const PotrfBatchArgs<T>& args);
template <Scalar T> BatchOutcomes potrs_batched(const Executor& executor, const PotrsBatchArgs<T>& args);
template <Scalar T> BatchOutcomes getrf_batched(const Executor& executor, const GetrfBatchArgs<T>& args);
template <Scalar T> BatchOutcomes getrs_batched(const Executor& executor, const GetrsBatchArgs<T>& args);
template <Scalar T> BatchOutcomes getri_batched(const Executor& executor, const GetriBatchArgs<T>& args);
template <Scalar T> BatchOutcomes matinv_batched(const Executor& executor, const MatinvBatchArgs<T>& args);
template <Scalar T> BatchOutcomes geqrf_batched(const Executor& executor, const GeqrfBatchArgs<T>& args);
template <Scalar T> BatchOutcomes gels_batched(const Executor& executor, const GelsBatchArgs<T>& args);
template <Scalar T> BatchOutcomes eigh_batched(const Executor& executor, const EighBatchArgs<T>& args);
template <Scalar T> BatchOutcomes svd_batched(const Executor& executor, const SvdBatchArgs<T>& args);
}  // namespace host

namespace device {
BatchOutcomes potrf_batched(const Executor& executor, const PotrfBatchArgs<float>& args);
BatchOutcomes getrf_batched(const Executor& executor, const GetrfBatchArgs<float>& args);
BatchOutcomes geqrf_batched(const Executor& executor, const GeqrfBatchArgs<float>& args);
BatchOutcomes eigh_batched(const Executor& executor, const EighBatchArgs<float>& args);
BatchOutcomes svd_batched(const Executor& executor, const SvdBatchArgs<float>& args);
}  // namespace device

// The device kernel for float; none for the types that a partition does not compute in.
template <class T, class Args> constexpr auto for_float(BatchOutcomes (*kernel)(const Executor&, const Args&)) {
  if constexpr (std::same_as<T, float>) {
    return kernel;
  } else {
    return nullptr;
  }
}

template <class T> inline constexpr KernelTable<PotrfBatchArgs<T>, BatchOutcomes> kPotrfBatch{
    "solver.potrf_batched", host::potrf_batched<T>, for_float<T>(device::potrf_batched)};
template <class T> inline constexpr KernelTable<PotrsBatchArgs<T>, BatchOutcomes> kPotrsBatch{"solver.potrs_batched",
                                                                                              host::potrs_batched<T>};
template <class T> inline constexpr KernelTable<GetrfBatchArgs<T>, BatchOutcomes> kGetrfBatch{
    "solver.getrf_batched", host::getrf_batched<T>, for_float<T>(device::getrf_batched)};
template <class T> inline constexpr KernelTable<GetrsBatchArgs<T>, BatchOutcomes> kGetrsBatch{"solver.getrs_batched",
                                                                                              host::getrs_batched<T>};
template <class T> inline constexpr KernelTable<GetriBatchArgs<T>, BatchOutcomes> kGetriBatch{"solver.getri_batched",
                                                                                              host::getri_batched<T>};
template <class T> inline constexpr KernelTable<MatinvBatchArgs<T>, BatchOutcomes> kMatinvBatch{
    "solver.matinv_batched", host::matinv_batched<T>};
template <class T> inline constexpr KernelTable<GeqrfBatchArgs<T>, BatchOutcomes> kGeqrfBatch{
    "solver.geqrf_batched", host::geqrf_batched<T>, for_float<T>(device::geqrf_batched)};
template <class T>
inline constexpr KernelTable<GelsBatchArgs<T>, BatchOutcomes> kGelsBatch{"solver.gels_batched", host::gels_batched<T>};
template <class T> inline constexpr KernelTable<EighBatchArgs<T>, BatchOutcomes> kEighBatch{
    "solver.eigh_batched", host::eigh_batched<T>, for_float<T>(device::eigh_batched)};
template <class T> inline constexpr KernelTable<SvdBatchArgs<T>, BatchOutcomes> kSvdBatch{
    "solver.svd_batched", host::svd_batched<T>, for_float<T>(device::svd_batched)};

}  // namespace trn::solver
