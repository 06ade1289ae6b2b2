// The kernels of factor_steps.hpp: the host's alone.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/solver/factor_steps.hpp>

namespace trn::solver {

template <Scalar T> struct LaswpArgs {
  MatrixView<T> a;
  std::int64_t first;
  VectorView<const std::int64_t> pivots;
  Exchanges exchanges;
};
template <Scalar T> struct LauumArgs {
  Uplo uplo;
  MatrixView<T> a;
};
template <Scalar T> struct LarftArgs {
  ReflectionOrder order;
  ReflectionStorage storage;
  MatrixView<const T> v;
  VectorView<const T> tau;
  MatrixView<T> t;
};

namespace host {
template <Scalar T> Outcome laswp(const Executor& executor, const LaswpArgs<T>& args);
template <Scalar T> Outcome lauum(const Executor& executor, const LauumArgs<T>& args);
template <Scalar T> Outcome larft(const Executor& executor, const LarftArgs<T>& args);
}  // namespace host

template <class T> inline constexpr KernelTable<LaswpArgs<T>, Outcome> kLaswp{"solver.laswp", host::laswp<T>};
template <class T> inline constexpr KernelTable<LauumArgs<T>, Outcome> kLauum{"solver.lauum", host::lauum<T>};
template <class T> inline constexpr KernelTable<LarftArgs<T>, Outcome> kLarft{"solver.larft", host::larft<T>};

}  // namespace trn::solver
