// The kernels of the drivers, both families; devices have eigh, the generalised problem and svd in float and double,
// least squares in all types.
// The entry points have checked shapes, executors and addresses; kernels look for NaN and infinities themselves.
#pragma once

#include <trn/core/dispatch.hpp>
#include <trn/solver/band.hpp>
#include <trn/solver/eig.hpp>
#include <trn/solver/eigh.hpp>
#include <trn/solver/least_squares.hpp>
#include <trn/solver/pencils.hpp>
#include <trn/solver/svd.hpp>

namespace trn::solver {

template <Scalar T> struct LstsqArgs {
  MatrixView<const T> a, b;
  MatrixView<T> x;
  LeastSquaresOptions options;
  LeastSquaresReport<T>* report;  // rank and singular values are written
};
template <Scalar T> struct EighArgs {
  MatrixView<T> a;
  VectorView<Real<T>> w;
  EighOptions options;
  std::int64_t* found;
  EighReport* report = nullptr;  // a device kernel says what ran and how well, the host's what underflow adds
};
template <Scalar T> struct SygvdArgs {
  MatrixView<T> a;
  MatrixView<const T> b;
  VectorView<Real<T>> w;
  GeneralizedOptions options;
  EighReport* report = nullptr;  // as for eigh
};
template <Scalar T> struct SvdArgs {
  MatrixView<const T> a;
  VectorView<Real<T>> s;
  const MatrixView<T>*u, *vh;  // both or none
  Report* report = nullptr;    // as for eigh
};
template <Scalar T> struct EigArgs {
  MatrixView<const T> a;
  VectorView<ComplexOf<T>> w;
  EigVectors<T> vectors;
};
template <Scalar T> struct SchurArgs {
  MatrixView<T> a;
  VectorView<ComplexOf<T>> w;
  std::optional<MatrixView<T>> z;
};
template <Scalar T> struct EigConditionsArgs {
  MatrixView<const T> a;
  VectorView<ComplexOf<T>> w;
  MatrixView<ComplexOf<T>> right, left;
  EigConditions<T> conditions;
  Balance balance;
  EigConditionsReport* report;
};
template <Scalar T> struct SchurVectorsArgs {
  MatrixView<const T> t;
  EigVectors<T> vectors;
  std::optional<MatrixView<const T>> z;
};
template <Scalar T> struct PencilArgs {
  MatrixView<const T> a, b;
  VectorView<ComplexOf<T>> alpha;
  VectorView<Real<T>> beta;
  EigVectors<T> vectors;
};
template <Scalar T> struct SchurPencilArgs {
  MatrixView<T> a, b;
  VectorView<ComplexOf<T>> alpha;
  VectorView<Real<T>> beta;
  SchurVectors<T> vectors;
};
template <Scalar T> struct BandArgs {  // gbsv, pbsv
  blas::BandView<const T> a;
  MatrixView<T> b;
};
template <Scalar T> struct GtsvArgs {
  VectorView<const T> lower, diagonal, upper;
  MatrixView<T> b;
};
template <Scalar T> struct PtsvArgs {
  VectorView<const Real<T>> diagonal;
  VectorView<const T> lower;
  MatrixView<T> b;
};

namespace host {
template <Scalar T> Outcome lstsq(const Executor& executor, const LstsqArgs<T>& args);
template <Scalar T> Outcome eigh(const Executor& executor, const EighArgs<T>& args);
template <Scalar T> Outcome sygvd(const Executor& executor, const SygvdArgs<T>& args);
template <Scalar T> Outcome svd(const Executor& executor, const SvdArgs<T>& args);
template <Scalar T> Outcome eig(const Executor& executor, const EigArgs<T>& args);
template <Scalar T> Outcome schur(const Executor& executor, const SchurArgs<T>& args);
template <Scalar T> Outcome eig_conditions(const Executor& executor, const EigConditionsArgs<T>& args);
template <Scalar T> Outcome schur_vectors(const Executor& executor, const SchurVectorsArgs<T>& args);
template <Scalar T> Outcome eig_generalized(const Executor& executor, const PencilArgs<T>& args);
template <Scalar T> Outcome schur_generalized(const Executor& executor, const SchurPencilArgs<T>& args);
template <Scalar T> Outcome gbsv(const Executor& executor, const BandArgs<T>& args);
template <Scalar T> Outcome pbsv(const Executor& executor, const BandArgs<T>& args);
template <Scalar T> Outcome gtsv(const Executor& executor, const GtsvArgs<T>& args);
template <Scalar T> Outcome ptsv(const Executor& executor, const PtsvArgs<T>& args);
}  // namespace host

namespace device {
template <Scalar T> Outcome lstsq(const Executor& executor, const LstsqArgs<T>& args);
template <Scalar T> Outcome eigh(const Executor& executor, const EighArgs<T>& args);
template <> Outcome eigh(const Executor& executor, const EighArgs<float>& args);
template <> Outcome eigh(const Executor& executor, const EighArgs<double>& args);
template <Scalar T> Outcome sygvd(const Executor& executor, const SygvdArgs<T>& args);
template <Scalar T> Outcome svd(const Executor& executor, const SvdArgs<T>& args);
template <> Outcome svd(const Executor& executor, const SvdArgs<float>& args);
template <> Outcome svd(const Executor& executor, const SvdArgs<double>& args);
}  // namespace device

// The device kernel, where the condition holds; else none.
#define TRN_DEVICE_KERNEL(kernel, condition) \
  [] {                                       \
    if constexpr (condition) {               \
      return &device::kernel<T>;             \
    } else {                                 \
      return nullptr;                        \
    }                                        \
  }()
template <class T> inline constexpr bool kRealSpectra = std::same_as<T, Real<T>>;

template <class T>
inline constexpr KernelTable<LstsqArgs<T>, Outcome> kLstsq{"solver.lstsq", host::lstsq<T>, device::lstsq<T>};
template <class T> inline constexpr KernelTable<EighArgs<T>, Outcome> kEigh{"solver.eigh", host::eigh<T>,
                                                                            TRN_DEVICE_KERNEL(eigh, kRealSpectra<T>)};
template <class T> inline constexpr KernelTable<SygvdArgs<T>, Outcome> kSygvd{
    "solver.eigh_generalized", host::sygvd<T>, TRN_DEVICE_KERNEL(sygvd, kRealSpectra<T>)};
template <class T> inline constexpr KernelTable<SvdArgs<T>, Outcome> kSvd{"solver.svd", host::svd<T>,
                                                                          TRN_DEVICE_KERNEL(svd, kRealSpectra<T>)};
template <class T> inline constexpr KernelTable<EigArgs<T>, Outcome> kEig{"solver.eig", host::eig<T>};
template <class T> inline constexpr KernelTable<SchurArgs<T>, Outcome> kSchur{"solver.schur", host::schur<T>};
template <class T> inline constexpr KernelTable<EigConditionsArgs<T>, Outcome> kEigConditions{"solver.eig_conditions",
                                                                                              host::eig_conditions<T>};
template <class T> inline constexpr KernelTable<SchurVectorsArgs<T>, Outcome> kSchurVectors{"solver.schur_vectors",
                                                                                            host::schur_vectors<T>};
template <class T> inline constexpr KernelTable<PencilArgs<T>, Outcome> kEigGeneralized{"solver.eig_generalized",
                                                                                        host::eig_generalized<T>};
template <class T> inline constexpr KernelTable<SchurPencilArgs<T>, Outcome> kSchurGeneralized{
    "solver.schur_generalized", host::schur_generalized<T>};
template <class T> inline constexpr KernelTable<BandArgs<T>, Outcome> kGbsv{"solver.gbsv", host::gbsv<T>};
template <class T> inline constexpr KernelTable<BandArgs<T>, Outcome> kPbsv{"solver.pbsv", host::pbsv<T>};
template <class T> inline constexpr KernelTable<GtsvArgs<T>, Outcome> kGtsv{"solver.gtsv", host::gtsv<T>};
template <class T> inline constexpr KernelTable<PtsvArgs<T>, Outcome> kPtsv{"solver.ptsv", host::ptsv<T>};

#undef TRN_DEVICE_KERNEL

}  // namespace trn::solver
