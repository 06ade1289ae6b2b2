// Cholesky on the host: LAPACK's potrf and potri in place for column-major and row-major views, potrs as two triangular
// solves of trnblas, which take any strides.
//
// Row-major memory read as column-major is A^T = conj(A) with the other triangle. conj(A) = U^H U gives A = U^T
// conj(U): the transpose of U is the factor L of A = L L^H, and it already lies where it belongs. In the same way
// A^-1's transpose is the inverse of the transpose.
#include <trn/blas/trsm.hpp>

#include "host/column_major.hpp"
#include "host/lapack.hpp"
#include "kernels/factorisations.hpp"
#include "norms.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

namespace {

// The view, or its transpose with the other triangle when that is what lies column-major.
template <class T> std::pair<MatrixView<T>, Uplo> folded(const MatrixView<T>& a, Uplo uplo) {
  if (!is_column_major(a) && is_column_major(a.transposed())) return {a.transposed(), other(uplo)};
  return {a, uplo};
}

}  // namespace

template <Scalar T> void copy_triangle(const Executor&, const CopyTriangleArgs<T>& g) {
  fill(g.b, T(0));
  copy_part(g.a, g.b, part_of(g.uplo));
}
template <Scalar T> void mirror(const Executor&, const TriangleArgs<T>& g) { solver::mirror(g.a, g.uplo, true); }
template <Scalar T> Real<T> factored_norm(const Executor&, const ConditionArgs<T>& g) { return g.norm; }

template <Scalar T> Outcome potrf(const Executor&, const TriangleArgs<T>& g) {
  if (const Outcome bad = finite(g.a, part_of(g.uplo)); !bad.ok()) {
    fill(g.a, not_a_number<T>(), part_of(g.uplo));
    return bad;
  }
  const auto [view, uplo] = folded(g.a, g.uplo);
  Inout<T> a(view, part_of(uplo));
  int info = 0;
  Lapack<T>::potrf(letter(uplo), to_int(view.rows()), a.data(), a.ld(), info, 1);
  expect_legal("potrf", info);
  a.write_back();
  if (info > 0) return {Status::NotPositiveDefinite, info - 1};
  return finite(g.a, part_of(g.uplo));
}

template <Scalar T> Outcome potrs(const Executor& executor, const PotrsArgs<T>& g) {
  Outcome bad = finite(g.factor, part_of(g.uplo));
  if (bad.ok()) bad = finite(g.b);
  for (std::int64_t i = 0; bad.ok() && i < g.factor.rows(); ++i) {
    if (element(g.factor, i, i) == T(0)) bad = {Status::Singular, i};
  }
  if (!bad.ok()) {
    fill(g.b, not_a_number<T>());
    return bad;
  }
  const Op first = g.uplo == Uplo::Lower ? Op::N : Op::C, second = g.uplo == Uplo::Lower ? Op::C : Op::N;
  blas::trsm(executor, Side::Left, g.uplo, first, Diag::NonUnit, T(1), g.factor, g.b);
  blas::trsm(executor, Side::Left, g.uplo, second, Diag::NonUnit, T(1), g.factor, g.b);
  return {};
}

template <Scalar T> Outcome potri(const Executor&, const TriangleArgs<T>& g) {
  if (const Outcome bad = finite(g.a, part_of(g.uplo)); !bad.ok()) {
    fill(g.a, not_a_number<T>(), part_of(g.uplo));
    return bad;
  }
  const auto [view, uplo] = folded(g.a, g.uplo);
  Inout<T> a(view, part_of(uplo));
  int info = 0;
  Lapack<T>::potri(letter(uplo), to_int(view.rows()), a.data(), a.ld(), info, 1);
  expect_legal("potri", info);
  if (info > 0) return {Status::Singular, info - 1};  // nothing was written
  a.write_back();
  return finite(g.a, part_of(g.uplo));
}

template <Scalar T> Real<T> pocon(const Executor&, const ConditionArgs<T>& g) {
  const auto [view, uplo] = folded(g.factor, g.uplo);
  if (!finite(view, part_of(uplo)).ok() || !std::isfinite(g.norm)) return not_a_number<Real<T>>();
  const Input<T> a(view, part_of(uplo));
  const auto n = static_cast<std::size_t>(view.rows());
  std::vector<T> work(3 * n + 1);
  std::vector<std::conditional_t<blas::ComplexScalar<T>, Real<T>, int>> second(n + 1);
  Real<T> reciprocal = 0;
  int info = 0;
  Lapack<T>::pocon(letter(uplo), to_int(view.rows()), a.data(), a.ld(), g.norm, reciprocal, work.data(), second.data(),
                   info, 1);
  expect_legal("pocon", info);
  return reciprocal;
}

#define TRN_CHOLESKY(T)                                                     \
  template void copy_triangle(const Executor&, const CopyTriangleArgs<T>&); \
  template void mirror(const Executor&, const TriangleArgs<T>&);            \
  template Real<T> factored_norm(const Executor&, const ConditionArgs<T>&); \
  template Outcome potrf(const Executor&, const TriangleArgs<T>&);          \
  template Outcome potrs(const Executor&, const PotrsArgs<T>&);             \
  template Outcome potri(const Executor&, const TriangleArgs<T>&);          \
  template Real<T> pocon(const Executor&, const ConditionArgs<T>&);
TRN_SOLVER_SCALARS(TRN_CHOLESKY)
#undef TRN_CHOLESKY

}  // namespace trn::solver::host
