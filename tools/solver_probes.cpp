// One small call of each operation of trnsolver, for `trnsci coverage solver`: does it run on this executor?
#include <complex>

#include <trn/core/array.hpp>
#include <trn/core/error.hpp>
#include <trn/solver/batched.hpp>
#include <trn/solver/cholesky.hpp>
#include <trn/solver/eig.hpp>
#include <trn/solver/eigh.hpp>
#include <trn/solver/factor_steps.hpp>
#include <trn/solver/ldl.hpp>
#include <trn/solver/least_squares.hpp>
#include <trn/solver/lu.hpp>
#include <trn/solver/qr.hpp>
#include <trn/solver/reductions.hpp>
#include <trn/solver/solve.hpp>
#include <trn/solver/svd.hpp>
#include <trn/solver/triangular.hpp>

#include "solver_symbols.hpp"

namespace trn::tools::probe {

namespace {

using namespace solver;

constexpr std::int64_t kOrder = 5;

// 4 I + ones: positive definite, and its own factor where one is wanted.
template <class T> struct Small {
  Matrix<T> a, b, c;
  Array<T> tau, more;
  Array<Real<T>> w, v;
  Array<ComplexOf<T>> z;
  Array<std::int64_t> pivots;
  explicit Small(const Executor& e)
      : a(start(e)),
        b(start(e)),
        c(start(e)),
        tau(Array<T>::from_host(e, Shape{kOrder}, std::vector<T>(kOrder))),
        more(e, Shape{kOrder}),
        w(e, Shape{kOrder}),
        v(e, Shape{kOrder}),
        z(e, Shape{kOrder}),
        pivots(Array<std::int64_t>::from_host(e, Shape{kOrder}, std::vector<std::int64_t>{0, 1, 2, 3, 4})) {}
  static Matrix<T> start(const Executor& e) {
    std::vector<T> values(kOrder * kOrder, T(1));
    for (std::size_t i = 0; i < kOrder; ++i) values[i * kOrder + i] = T(5);
    return Matrix<T>::from_host(e, kOrder, kOrder, values);
  }
  static Batch<T> batch(const Matrix<T>& x) {
    return Batch<T>::strided({kOrder, kOrder, 0, Layout::RowMajor}, x.data(), kOrder * kOrder, 1);
  }
  template <class E> static MatrixView<E> row(const Array<E>& x) {
    return MatrixView<E>(x.view().executor(), x.data(), 1, kOrder, kOrder, 1);
  }
  template <class E> static VectorView<E> vector(const Array<E>& x) {
    return VectorView<E>(x.view().executor(), x.data(), kOrder);
  }
  template <class E> static VectorView<E> less(const Array<E>& x) {
    return VectorView<E>(x.view().executor(), x.data(), kOrder - 1);
  }
};

Report worst(const BatchOutcomes& outcomes) {
  Report report;
  for (const Outcome& o : outcomes) {
    if (!o.ok()) report.outcome = o;
  }
  return report;
}

template <class F> void for_type(const Executor& e, int type, F f) {
  Outcome outcome;
  switch (type) {
    case 0:
      outcome = f(Small<float>(e), float()).outcome;
      break;
    case 1:
      outcome = f(Small<double>(e), double()).outcome;
      break;
    case 2:
      outcome = f(Small<std::complex<float>>(e), std::complex<float>()).outcome;
      break;
    default:
      outcome = f(Small<std::complex<double>>(e), std::complex<double>()).outcome;
  }
  ensure(outcome.ok(), "coverage: a small problem on '{}' came out as {}", e.name(), name(outcome.status));
}

}  // namespace

#define TRN_PROBE(operation, call)                                                  \
  void operation(const Executor& e, int type) {                                     \
    for_type(e, type, [&]<class T>(const Small<T>& s, T) { return Report(call); }); \
  }
TRN_PROBE(potrf, solver::potrf(e, Uplo::Lower, s.a.view()))
TRN_PROBE(potrs, solver::potrs<T>(e, Uplo::Lower, s.a.view(), s.b.view()))
TRN_PROBE(potri, solver::potri(e, Uplo::Lower, s.a.view()))
TRN_PROBE(getrf, solver::getrf(e, s.a.view(), s.vector(s.pivots)))
TRN_PROBE(getrs, solver::getrs<T>(e, Op::N, s.a.view(), s.vector(s.pivots), s.b.view()))
TRN_PROBE(geqrf, solver::geqrf(e, s.a.view(), s.vector(s.tau)))
TRN_PROBE(orgqr, solver::orgqr(e, s.a.view(), s.vector(s.tau)))
TRN_PROBE(ormqr, solver::ormqr<T>(e, Side::Left, Op::N, s.a.view(), s.vector(s.tau), s.b.view()))
TRN_PROBE(sytrf, solver::sytrf(e, Uplo::Lower, s.a.view(), s.vector(s.pivots)))
TRN_PROBE(sytrs, solver::sytrs<T>(e, Uplo::Lower, s.a.view(), s.vector(s.pivots), s.b.view()))
TRN_PROBE(sytri, solver::sytri(e, Uplo::Lower, s.a.view(), s.vector(s.pivots)))
TRN_PROBE(trtri, solver::trtri(e, Uplo::Lower, Diag::NonUnit, s.a.view()))
TRN_PROBE(laswp, solver::laswp<T>(e, s.a.view(), 0, VectorView<const std::int64_t>(s.vector(s.pivots))))
TRN_PROBE(lauum, solver::lauum(e, Uplo::Lower, s.a.view()))
TRN_PROBE(larft, solver::larft<T>(e, ReflectionOrder::Forward, ReflectionStorage::Columns, s.a.view(), s.vector(s.tau),
                                  s.b.view()))
TRN_PROBE(solve, solver::solve<T>(e, s.a.view(), s.b.view()))
TRN_PROBE(lstsq, solver::lstsq<T>(e, s.a.view(), s.b.view(), s.c.view()))
TRN_PROBE(gebrd, solver::gebrd(e, s.a.view(), s.vector(s.w), s.less(s.v), s.vector(s.tau), s.vector(s.more)))
TRN_PROBE(orgbr, solver::orgbr<T>(e, BidiagonalFactor::Q, kOrder, s.a.view(), s.vector(s.tau)))
TRN_PROBE(sytrd, solver::sytrd(e, Uplo::Lower, s.a.view(), s.vector(s.w), s.less(s.v), s.less(s.tau)))
TRN_PROBE(orgtr, solver::orgtr<T>(e, Uplo::Lower, s.a.view(), s.less(s.tau)))
TRN_PROBE(ormtr, solver::ormtr<T>(e, Side::Left, Uplo::Lower, Op::N, s.a.view(), s.less(s.tau), s.b.view()))
TRN_PROBE(eigh, solver::eigh(e, s.a.view(), s.vector(s.w)))
TRN_PROBE(eigh_range, solver::eigh(e, s.a.view(), s.vector(s.w), {.range = Range::indices(1, 3)}))
TRN_PROBE(eigh_generalized, solver::eigh_generalized<T>(e, s.a.view(), s.b.view(), s.vector(s.w)))
TRN_PROBE(svd, solver::svd<T>(e, s.a.view(), s.vector(s.w), s.b.view(), s.c.view()))
TRN_PROBE(eig, solver::eig(e, s.a.view(), s.vector(s.z)))
TRN_PROBE(potrf_batched, worst(solver::potrf_batched(e, Uplo::Lower, s.batch(s.a))))
TRN_PROBE(potrs_batched, worst(solver::potrs_batched<T>(e, Uplo::Lower, s.batch(s.a), s.batch(s.b))))
TRN_PROBE(eigh_batched, worst(solver::eigh_batched(e, s.batch(s.a), s.row(s.w))))
TRN_PROBE(svd_batched, worst(solver::svd_batched<T>(e, s.batch(s.a), s.row(s.w), s.batch(s.b), s.batch(s.c))))
#undef TRN_PROBE

}  // namespace trn::tools::probe
