// The kernels of the factorisations, both families. Devices have all but those of indefinite matrices: float's are
// programs, those of the other types composed of products (device/composed.hpp).
//
// The entry points have checked shapes, executors and addresses. Kernels look for NaN and infinities themselves. One
// that has more to say than its outcome writes it into `report`, which holds what is said of the host's kernel: device
// kernels put their own algorithm and accuracy there.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/solver/ldl.hpp>
#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver {

using Pivots = VectorView<std::int64_t>;
using ConstPivots = VectorView<const std::int64_t>;

template <Scalar T> struct TriangleArgs {  // potrf, potri, mirror
  Uplo uplo;
  MatrixView<T> a;
  Report* report = nullptr;
};
template <Scalar T> struct CopyTriangleArgs {  // the triangle of A into B; the rest of B becomes zero
  Uplo uplo;
  MatrixView<const T> a;
  MatrixView<T> b;
};
template <Scalar T> struct PotrsArgs {
  Uplo uplo;
  MatrixView<const T> factor;
  MatrixView<T> b;
  Report* report = nullptr;
};
template <Scalar T> struct GetrfArgs {
  MatrixView<T> a;
  Pivots pivots;
  Report* report = nullptr;
};
template <Scalar T> struct GetrsArgs {
  Op op;
  MatrixView<const T> factor;
  ConstPivots pivots;
  MatrixView<T> b;
  Report* report = nullptr;
};
template <Scalar T> struct GetriArgs {
  MatrixView<T> factor;
  ConstPivots pivots;
  Report* report = nullptr;
};
template <Scalar T> struct GeqrfArgs {
  MatrixView<T> a;
  VectorView<T> tau;
  Report* report = nullptr;
};
template <Scalar T> struct OrgqrArgs {
  MatrixView<T> a;
  VectorView<const T> tau;
  Report* report = nullptr;
};
template <Scalar T> struct OrmqrArgs {
  Side side;
  Op op;
  MatrixView<const T> a;
  VectorView<const T> tau;
  MatrixView<T> c;
  Report* report = nullptr;
};
template <Scalar T> struct SytrfArgs {
  Uplo uplo;
  Symmetry symmetry;
  MatrixView<T> a;
  Pivots pivots;
};
template <Scalar T> struct SytrsArgs {
  Uplo uplo;
  Symmetry symmetry;
  MatrixView<const T> factor;
  ConstPivots pivots;
  MatrixView<T> b;
};
template <Scalar T> struct SytriArgs {
  Uplo uplo;
  Symmetry symmetry;
  MatrixView<T> factor;
  ConstPivots pivots;
};
template <Scalar T> struct TrtriArgs {
  Uplo uplo;
  Diag diag;
  MatrixView<T> a;
  Report* report = nullptr;
};
template <Scalar T> struct TrtrsArgs {
  Uplo uplo;
  Op op;
  Diag diag;
  MatrixView<const T> a;
  MatrixView<T> b;
  Report* report = nullptr;
};
// A factor and the norm of what was factored; a reciprocal condition number is the result.
template <Scalar T> struct ConditionArgs {
  MatrixView<const T> factor;
  Real<T> norm = 0;
  Norm which = Norm::One;
  Uplo uplo = Uplo::Lower;
  Diag diag = Diag::NonUnit;
  Symmetry symmetry = Symmetry::Hermitian;
  ConstPivots pivots{Executor::host(), nullptr, 0};
};

namespace host {
template <Scalar T> void copy_triangle(const Executor& executor, const CopyTriangleArgs<T>& args);
template <Scalar T> void mirror(const Executor& executor, const TriangleArgs<T>& args);
template <Scalar T> Real<T> factored_norm(const Executor& executor, const ConditionArgs<T>& args);
template <Scalar T> Outcome potrf(const Executor& executor, const TriangleArgs<T>& args);
template <Scalar T> Outcome potrs(const Executor& executor, const PotrsArgs<T>& args);
template <Scalar T> Outcome potri(const Executor& executor, const TriangleArgs<T>& args);
template <Scalar T> Real<T> pocon(const Executor& executor, const ConditionArgs<T>& args);
template <Scalar T> Outcome getrf(const Executor& executor, const GetrfArgs<T>& args);
template <Scalar T> Outcome getrs(const Executor& executor, const GetrsArgs<T>& args);
template <Scalar T> Outcome getri(const Executor& executor, const GetriArgs<T>& args);
template <Scalar T> Real<T> gecon(const Executor& executor, const ConditionArgs<T>& args);
template <Scalar T> Outcome geqrf(const Executor& executor, const GeqrfArgs<T>& args);
template <Scalar T> Outcome orgqr(const Executor& executor, const OrgqrArgs<T>& args);
template <Scalar T> Outcome ormqr(const Executor& executor, const OrmqrArgs<T>& args);
template <Scalar T> Outcome sytrf(const Executor& executor, const SytrfArgs<T>& args);
template <Scalar T> Outcome sytrs(const Executor& executor, const SytrsArgs<T>& args);
template <Scalar T> Outcome sytri(const Executor& executor, const SytriArgs<T>& args);
template <Scalar T> Real<T> sycon(const Executor& executor, const ConditionArgs<T>& args);
template <Scalar T> Outcome trtri(const Executor& executor, const TrtriArgs<T>& args);
template <Scalar T> Outcome trtrs(const Executor& executor, const TrtrsArgs<T>& args);
template <Scalar T> Real<T> trcon(const Executor& executor, const ConditionArgs<T>& args);
}  // namespace host

namespace device {
template <Scalar T> void copy_triangle(const Executor& executor, const CopyTriangleArgs<T>& args);
template <Scalar T> void mirror(const Executor& executor, const TriangleArgs<T>& args);
template <Scalar T> Real<T> factored_norm(const Executor& executor, const ConditionArgs<T>& args);
template <Scalar T> Outcome potrf(const Executor& executor, const TriangleArgs<T>& args);
template <Scalar T> Outcome potrs(const Executor& executor, const PotrsArgs<T>& args);
template <Scalar T> Outcome potri(const Executor& executor, const TriangleArgs<T>& args);
template <Scalar T> Real<T> pocon(const Executor& executor, const ConditionArgs<T>& args);
template <Scalar T> Outcome trtri(const Executor& executor, const TrtriArgs<T>& args);
template <Scalar T> Outcome trtrs(const Executor& executor, const TrtrsArgs<T>& args);
template <Scalar T> Real<T> trcon(const Executor& executor, const ConditionArgs<T>& args);
template <Scalar T> Outcome geqrf(const Executor& executor, const GeqrfArgs<T>& args);
template <Scalar T> Outcome orgqr(const Executor& executor, const OrgqrArgs<T>& args);
template <Scalar T> Outcome ormqr(const Executor& executor, const OrmqrArgs<T>& args);
template <Scalar T> Outcome getrf(const Executor& executor, const GetrfArgs<T>& args);
template <Scalar T> Outcome getrs(const Executor& executor, const GetrsArgs<T>& args);
template <Scalar T> Outcome getri(const Executor& executor, const GetriArgs<T>& args);
template <Scalar T> Real<T> gecon(const Executor& executor, const ConditionArgs<T>& args);
template <> Outcome getrf(const Executor& executor, const GetrfArgs<float>& args);
template <> Outcome getrs(const Executor& executor, const GetrsArgs<float>& args);
template <> Outcome getri(const Executor& executor, const GetriArgs<float>& args);
template <> Outcome geqrf(const Executor& executor, const GeqrfArgs<float>& args);
template <> Outcome orgqr(const Executor& executor, const OrgqrArgs<float>& args);
template <> Outcome ormqr(const Executor& executor, const OrmqrArgs<float>& args);
}  // namespace device

template <class T> inline constexpr KernelTable<CopyTriangleArgs<T>> kCopyTriangle{
    "solver.copy_triangle", host::copy_triangle<T>, device::copy_triangle<T>};
// A Hermitian matrix's other triangle from the one that holds it.
template <class T>
inline constexpr KernelTable<TriangleArgs<T>> kMirror{"solver.mirror", host::mirror<T>, device::mirror<T>};
// ||A||_1 of what Cholesky factored: as it is given on the host; an estimate from the factor, seldom less than a third
// of it, on devices, where the given one is not read.
template <class T> inline constexpr KernelTable<ConditionArgs<T>, Real<T>> kFactoredNorm{
    "solver.factored_norm", host::factored_norm<T>, device::factored_norm<T>};
template <class T>
inline constexpr KernelTable<TriangleArgs<T>, Outcome> kPotrf{"solver.potrf", host::potrf<T>, device::potrf<T>};
template <class T>
inline constexpr KernelTable<PotrsArgs<T>, Outcome> kPotrs{"solver.potrs", host::potrs<T>, device::potrs<T>};
template <class T>
inline constexpr KernelTable<TriangleArgs<T>, Outcome> kPotri{"solver.potri", host::potri<T>, device::potri<T>};
template <class T>
inline constexpr KernelTable<ConditionArgs<T>, Real<T>> kPocon{"solver.pocon", host::pocon<T>, device::pocon<T>};
template <class T>
inline constexpr KernelTable<GetrfArgs<T>, Outcome> kGetrf{"solver.getrf", host::getrf<T>, device::getrf<T>};
template <class T>
inline constexpr KernelTable<GetrsArgs<T>, Outcome> kGetrs{"solver.getrs", host::getrs<T>, device::getrs<T>};
template <class T>
inline constexpr KernelTable<GetriArgs<T>, Outcome> kGetri{"solver.getri", host::getri<T>, device::getri<T>};
template <class T>
inline constexpr KernelTable<ConditionArgs<T>, Real<T>> kGecon{"solver.gecon", host::gecon<T>, device::gecon<T>};
template <class T>
inline constexpr KernelTable<GeqrfArgs<T>, Outcome> kGeqrf{"solver.geqrf", host::geqrf<T>, device::geqrf<T>};
template <class T>
inline constexpr KernelTable<OrgqrArgs<T>, Outcome> kOrgqr{"solver.orgqr", host::orgqr<T>, device::orgqr<T>};
template <class T>
inline constexpr KernelTable<OrmqrArgs<T>, Outcome> kOrmqr{"solver.ormqr", host::ormqr<T>, device::ormqr<T>};
template <class T> inline constexpr KernelTable<SytrfArgs<T>, Outcome> kSytrf{"solver.sytrf", host::sytrf<T>};
template <class T> inline constexpr KernelTable<SytrsArgs<T>, Outcome> kSytrs{"solver.sytrs", host::sytrs<T>};
template <class T> inline constexpr KernelTable<SytriArgs<T>, Outcome> kSytri{"solver.sytri", host::sytri<T>};
template <class T> inline constexpr KernelTable<ConditionArgs<T>, Real<T>> kSycon{"solver.sycon", host::sycon<T>};
template <class T>
inline constexpr KernelTable<TrtriArgs<T>, Outcome> kTrtri{"solver.trtri", host::trtri<T>, device::trtri<T>};
template <class T>
inline constexpr KernelTable<TrtrsArgs<T>, Outcome> kTrtrs{"solver.trtrs", host::trtrs<T>, device::trtrs<T>};
template <class T>
inline constexpr KernelTable<ConditionArgs<T>, Real<T>> kTrcon{"solver.trcon", host::trcon<T>, device::trcon<T>};

}  // namespace trn::solver
