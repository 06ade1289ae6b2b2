// The kernels of sparse products and solves, both families. No device kernels exist yet: their places are empty, and a
// plan made on a device throws NotImplemented. Entry points have checked shapes, executors and addresses.
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
};
template <Scalar T> using SpmmMade = std::shared_ptr<const detail::SpmmData<T>>;

namespace host {
template <Scalar T> SpmmMade<T> plan_spmm(const Executor& executor, const SpmmPlanArgs<T>& args);
template <Scalar T> void spmm(const Executor& executor, const SpmmArgs<T>& args);
}  // namespace host

template <class T>
inline constexpr KernelTable<SpmmPlanArgs<T>, SpmmMade<T>> kSpmmPlan{"sparse.spmm.plan", host::plan_spmm<T>};
template <class T> inline constexpr KernelTable<SpmmArgs<T>> kSpmm{"sparse.spmm", host::spmm<T>};

}  // namespace trn::sparse
