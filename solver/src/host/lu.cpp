// LU on the host: LAPACK's getrf and getri, in place for column-major views and through a copy for others (the LU of a
// transpose would exchange columns instead of rows); getrs as row exchanges and two triangular solves of trnblas, which
// take any strides.
#include <trn/blas/trsm.hpp>

#include "host/column_major.hpp"
#include "host/lapack.hpp"
#include "host/pivots.hpp"
#include "kernels/factorisations.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

namespace {

template <class T> void exchange_rows(const MatrixView<T>& b, std::int64_t i, std::int64_t k) {
  for (std::int64_t j = 0; i != k && j < b.columns(); ++j) std::swap(element(b, i, j), element(b, k, j));
}

template <class T> Outcome zero_pivot(const MatrixView<T>& factor) {
  for (std::int64_t i = 0; i < std::min(factor.rows(), factor.columns()); ++i) {
    if (element(factor, i, i) == T(0)) return {Status::Singular, i};
  }
  return {};
}

}  // namespace

template <Scalar T> Outcome getrf(const Executor&, const GetrfArgs<T>& g) {
  if (const Outcome bad = finite(g.a); !bad.ok()) {
    fill(g.a, not_a_number<T>());
    fill(g.pivots, std::int64_t{0});
    return bad;
  }
  Inout<T> a(g.a);
  std::vector<int> pivots(static_cast<std::size_t>(g.pivots.size()) + 1);
  int info = 0;
  Lapack<T>::getrf(to_int(g.a.rows()), to_int(g.a.columns()), a.data(), a.ld(), pivots.data(), info);
  expect_legal("getrf", info);
  a.write_back();
  from_lapack(pivots, g.pivots);
  if (const Outcome overflow = finite(g.a); !overflow.ok()) {  // OpenBLAS multiplies by 1 / pivot
    fill(g.a, not_a_number<T>());
    fill(g.pivots, std::int64_t{0});
    return overflow;
  }
  return zero_pivot(g.a);  // getrf's info may come from another panel than the first
}

template <Scalar T> Outcome getrs(const Executor& executor, const GetrsArgs<T>& g) {
  Outcome bad = finite(g.factor);
  if (bad.ok()) bad = finite(g.b);
  if (bad.ok()) bad = zero_pivot(g.factor);
  if (!bad.ok()) {
    fill(g.b, not_a_number<T>());
    return bad;
  }
  const auto pivot = [&](std::int64_t i) { return g.pivots.data()[i * g.pivots.stride()]; };
  const std::int64_t n = g.factor.rows();
  const auto solve = [&](Uplo uplo, Diag diag) {
    blas::trsm(executor, Side::Left, uplo, g.op, diag, T(1), g.factor, g.b);
  };
  if (g.op == Op::N) {
    for (std::int64_t i = 0; i < n; ++i) exchange_rows(g.b, i, pivot(i));
    solve(Uplo::Lower, Diag::Unit);
    solve(Uplo::Upper, Diag::NonUnit);
  } else {
    solve(Uplo::Upper, Diag::NonUnit);
    solve(Uplo::Lower, Diag::Unit);
    for (std::int64_t i = n - 1; i >= 0; --i) exchange_rows(g.b, i, pivot(i));
  }
  return {};
}

template <Scalar T> Outcome getri(const Executor&, const GetriArgs<T>& g) {
  const std::int64_t n = g.factor.rows();
  if (const Outcome bad = finite(g.factor); !bad.ok()) {
    fill(g.factor, not_a_number<T>());
    return bad;
  }
  if (const Outcome bad = zero_pivot(g.factor); !bad.ok()) return bad;
  Inout<T> a(g.factor);
  const std::vector<int> pivots = to_lapack(g.pivots);
  int info = 0;
  T query{};
  Lapack<T>::getri(to_int(n), a.data(), a.ld(), pivots.data(), &query, -1, info);
  const int size = best_workspace(n, query);
  std::vector<T> work = workspace<T>(size, n);
  Lapack<T>::getri(to_int(n), a.data(), a.ld(), pivots.data(), work.data(), size, info);
  expect_legal("getri", info);
  a.write_back();
  return finite(g.factor);
}

template <Scalar T> Real<T> gecon(const Executor&, const ConditionArgs<T>& g) {
  if (!finite(g.factor).ok() || !std::isfinite(g.norm)) return not_a_number<Real<T>>();
  const Input<T> a(g.factor);
  const auto n = static_cast<std::size_t>(g.factor.rows());
  std::vector<T> work(4 * n + 1);
  std::vector<std::conditional_t<blas::ComplexScalar<T>, Real<T>, int>> second(2 * n + 1);
  Real<T> reciprocal = 0;
  int info = 0;
  Lapack<T>::gecon(g.which == Norm::One ? '1' : 'I', to_int(g.factor.rows()), a.data(), a.ld(), g.norm, reciprocal,
                   work.data(), second.data(), info, 1);
  expect_legal("gecon", info);
  return reciprocal;
}

#define TRN_LU(T)                                               \
  template Outcome getrf(const Executor&, const GetrfArgs<T>&); \
  template Outcome getrs(const Executor&, const GetrsArgs<T>&); \
  template Outcome getri(const Executor&, const GetriArgs<T>&); \
  template Real<T> gecon(const Executor&, const ConditionArgs<T>&);
TRN_SOLVER_SCALARS(TRN_LU)
#undef TRN_LU

}  // namespace trn::solver::host
