// The kernels of sparse products and solves, both families. Where a device has none, the place is empty and a plan made
// there throws NotImplemented. Entry points have checked shapes, executors and addresses.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/sparse/spmm.hpp>

namespace trn::sparse {

namespace detail {
// What a plan of either family holds; `state` is the kernels' own.
template <Scalar T> struct SpmmData {
  AnySparse<T> source;
  SpmmOptions options;
  Extents extents;  // of op(A)
  PlanReport report;
  std::shared_ptr<const void> state;
  std::optional<Accuracy> accuracy = {};  // where the kernels know it better than the entry point
  std::optional<Permutation> permutation = {};
};
}  // namespace detail

template <Scalar T> struct SpmmPlanArgs {
  AnySparse<T> a;
  SpmmOptions options;
};
template <Scalar T> struct SpmmArgs {
  const detail::SpmmData<T>* plan;
  T alpha;
  MatrixView<const T> b;
  T beta;
  MatrixView<T> c;
  Workspace workspace;
  const MatrixView<const bfloat16>* narrow = nullptr;  // devices: B, in place of b
};
template <Scalar T> using SpmmMade = std::shared_ptr<const detail::SpmmData<T>>;

namespace host {
template <Scalar T> SpmmMade<T> plan_spmm(const Executor& executor, const SpmmPlanArgs<T>& args);
template <Scalar T> void spmm(const Executor& executor, const SpmmArgs<T>& args);
}  // namespace host
namespace device {
SpmmMade<float> plan_spmm(const Executor& executor, const SpmmPlanArgs<float>& args);
void spmm(const Executor& executor, const SpmmArgs<float>& args);
}  // namespace device

template <class T>
inline constexpr KernelTable<SpmmPlanArgs<T>, SpmmMade<T>> kSpmmPlan{"sparse.spmm.plan", host::plan_spmm<T>};
template <> inline constexpr KernelTable<SpmmPlanArgs<float>, SpmmMade<float>> kSpmmPlan<float>{
    "sparse.spmm.plan", host::plan_spmm<float>, device::plan_spmm};
template <class T> inline constexpr KernelTable<SpmmArgs<T>> kSpmm{"sparse.spmm", host::spmm<T>};
template <> inline constexpr KernelTable<SpmmArgs<float>> kSpmm<float>{"sparse.spmm", host::spmm<float>, device::spmm};

// The matrix in the order that was asked for; on the host.
template <Scalar T>
[[nodiscard]] AnySparse<T> reordered(const AnySparse<T>& a, Reorder reorder, std::optional<Permutation>& order);

}  // namespace trn::sparse
