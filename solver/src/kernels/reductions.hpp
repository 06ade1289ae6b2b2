// The kernels of the reductions to tridiagonal, bidiagonal and Hessenberg form: the host's alone. The entry points have
// checked shapes, executors and addresses; kernels look for NaN and infinities themselves.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/solver/reductions.hpp>

namespace trn::solver {

template <Scalar T> struct SytrdArgs {
  Uplo uplo;
  MatrixView<T> a;
  VectorView<Real<T>> d, e;
  VectorView<T> tau;
};
template <Scalar T> struct OrgtrArgs {
  Uplo uplo;
  MatrixView<T> a;
  VectorView<const T> tau;
};
template <Scalar T> struct OrmtrArgs {
  Side side;
  Uplo uplo;
  Op op;
  MatrixView<const T> a;
  VectorView<const T> tau;
  MatrixView<T> c;
};
template <Scalar T> struct GebrdArgs {
  MatrixView<T> a;
  VectorView<Real<T>> d, e;
  VectorView<T> tau_q, tau_p;
};
template <Scalar T> struct OrgbrArgs {
  BidiagonalFactor factor;
  std::int64_t order;
  MatrixView<T> a;
  VectorView<const T> tau;
};
template <Scalar T> struct OrmbrArgs {
  BidiagonalFactor factor;
  Side side;
  Op op;
  std::int64_t order;
  MatrixView<const T> a;
  VectorView<const T> tau;
  MatrixView<T> c;
};
template <Scalar T> struct GehrdArgs {
  MatrixView<T> a;
  VectorView<T> tau;
};
template <Scalar T> struct OrghrArgs {
  MatrixView<T> a;
  VectorView<const T> tau;
};
template <Scalar T> struct OrmhrArgs {
  Side side;
  Op op;
  MatrixView<const T> a;
  VectorView<const T> tau;
  MatrixView<T> c;
};

namespace host {
template <Scalar T> Outcome sytrd(const Executor& executor, const SytrdArgs<T>& args);
template <Scalar T> Outcome orgtr(const Executor& executor, const OrgtrArgs<T>& args);
template <Scalar T> Outcome ormtr(const Executor& executor, const OrmtrArgs<T>& args);
template <Scalar T> Outcome gebrd(const Executor& executor, const GebrdArgs<T>& args);
template <Scalar T> Outcome orgbr(const Executor& executor, const OrgbrArgs<T>& args);
template <Scalar T> Outcome ormbr(const Executor& executor, const OrmbrArgs<T>& args);
template <Scalar T> Outcome gehrd(const Executor& executor, const GehrdArgs<T>& args);
template <Scalar T> Outcome orghr(const Executor& executor, const OrghrArgs<T>& args);
template <Scalar T> Outcome ormhr(const Executor& executor, const OrmhrArgs<T>& args);
}  // namespace host

template <class T> inline constexpr KernelTable<SytrdArgs<T>, Outcome> kSytrd{"solver.sytrd", host::sytrd<T>};
template <class T> inline constexpr KernelTable<OrgtrArgs<T>, Outcome> kOrgtr{"solver.orgtr", host::orgtr<T>};
template <class T> inline constexpr KernelTable<OrmtrArgs<T>, Outcome> kOrmtr{"solver.ormtr", host::ormtr<T>};
template <class T> inline constexpr KernelTable<GebrdArgs<T>, Outcome> kGebrd{"solver.gebrd", host::gebrd<T>};
template <class T> inline constexpr KernelTable<OrgbrArgs<T>, Outcome> kOrgbr{"solver.orgbr", host::orgbr<T>};
template <class T> inline constexpr KernelTable<OrmbrArgs<T>, Outcome> kOrmbr{"solver.ormbr", host::ormbr<T>};
template <class T> inline constexpr KernelTable<GehrdArgs<T>, Outcome> kGehrd{"solver.gehrd", host::gehrd<T>};
template <class T> inline constexpr KernelTable<OrghrArgs<T>, Outcome> kOrghr{"solver.orghr", host::orghr<T>};
template <class T> inline constexpr KernelTable<OrmhrArgs<T>, Outcome> kOrmhr{"solver.ormhr", host::ormhr<T>};

}  // namespace trn::solver
