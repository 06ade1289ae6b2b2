// Generalised symmetric eigenproblems on devices: B = L L^T, then an ordinary problem for C,
//
//   A x = B x w          C = L^-1 A L^-T,   x = L^-T y
//   A B x = x w          C = L^T A L,       x = L^-T y
//   B A x = x w          C = L^T A L,       x = L y
//
// with trnblas's triangular products and solves, Exact for double, and eigh of the type. An upper triangle is the lower
// one of the transposed view: A and B are symmetric.
#include <cmath>

#include <trn/blas/trmm.hpp>
#include <trn/blas/trsm.hpp>

#include "device/operands.hpp"
#include "kernels/drivers.hpp"
#include "kernels/factorisations.hpp"
#include "norms.hpp"

namespace trn::solver::device {

template <Scalar T> Outcome sygvd(const Executor& executor, const SygvdArgs<T>& g) {
  constexpr Mode kMode = std::same_as<T, double> ? Mode::Exact : Mode::Native;
  const std::int64_t n = g.a.rows();
  const bool vectors = g.options.vectors == Vectors::Yes;
  if (g.report) g.report->algorithm = "cholesky, spectral divide and conquer";
  const auto failed = [&](const Outcome& outcome) {
    fill_nan(MatrixView<T>(g.w.executor(), g.w.data(), n, 1, g.w.stride(), 1));
    if (vectors) fill_nan(g.a);
    return outcome;
  };
  if (n == 0) return {};
  const Part part = host::part_of(g.options.uplo);
  for (const MatrixView<const T>& x : {MatrixView<const T>(g.a), g.b}) {
    const Outcome looked = finite(executor, x, part);
    if (!looked.ok()) return failed(looked);
  }
  const bool lower = g.options.uplo == Uplo::Lower;
  const MatrixView<const T> b = lower ? g.b : g.b.transposed();
  const Matrix<T> l(executor, n, n);
  copy_triangle(executor, b, Uplo::Lower, l.view(), true);
  const Outcome factored = potrf<T>(executor, {Uplo::Lower, l.view()});
  if (!factored.ok()) return failed(factored);

  // A written out: two of its elements are one.
  const Matrix<T> given = on_host(lower ? MatrixView<const T>(g.a) : MatrixView<const T>(g.a).transposed());
  for (std::int64_t i = 0; i < n; ++i) {
    for (std::int64_t j = 0; j < i; ++j) host::element(given.view(), j, i) = host::element(given.view(), i, j);
  }
  const Matrix<T> c = given.to(executor);
  if (g.options.form == GeneralizedForm::AxIsBxLambda) {
    blas::trsm<T>(executor, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, T(1), l.view(), c.view(), {kMode});
    blas::trsm<T>(executor, Side::Right, Uplo::Lower, Op::T, Diag::NonUnit, T(1), l.view(), c.view(), {kMode});
  } else {
    blas::trmm<T>(executor, Side::Left, Uplo::Lower, Op::T, Diag::NonUnit, T(1), l.view(), c.view(), {kMode});
    blas::trmm<T>(executor, Side::Right, Uplo::Lower, Op::N, Diag::NonUnit, T(1), l.view(), c.view(), {kMode});
  }
  std::int64_t found = 0;
  EighReport inner;
  const Outcome solved = eigh<T>(executor, {c.view(), g.w, EighOptions{.vectors = g.options.vectors}, &found, &inner});
  if (!solved.ok()) return failed(solved);
  if (g.report) g.report->iterations = inner.iterations, g.report->levels = inner.levels;
  if (vectors) {
    if (g.options.form == GeneralizedForm::BAxIsXLambda)
      blas::trmm<T>(executor, Side::Left, Uplo::Lower, Op::N, Diag::NonUnit, T(1), l.view(), c.view(), {kMode});
    else
      blas::trsm<T>(executor, Side::Left, Uplo::Lower, Op::T, Diag::NonUnit, T(1), l.view(), c.view(), {kMode});
    move(c.view(), g.a);
  }
  return {};
}

template Outcome sygvd(const Executor&, const SygvdArgs<float>&);
template Outcome sygvd(const Executor&, const SygvdArgs<double>&);

}  // namespace trn::solver::device
