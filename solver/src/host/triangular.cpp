// Triangular matrices on the host. Row-major views are used in place: the inverse of the transpose is the transpose of
// the inverse, and the 1-norm of a matrix is the infinity norm of its transpose.
#include <trn/blas/trsm.hpp>

#include "host/column_major.hpp"
#include "host/lapack.hpp"
#include "kernels/factorisations.hpp"
#include "scalars.hpp"

namespace trn::solver::host {

namespace {

template <class T> bool is_folded(const MatrixView<T>& a) {
  return !is_column_major(a) && is_column_major(a.transposed());
}
char letter(Diag diag) { return diag == Diag::Unit ? 'U' : 'N'; }

// NaN and infinities of the triangle, without a Unit diagonal.
template <class T> Outcome finite_triangle(const MatrixView<T>& a, Uplo uplo, Diag diag) {
  if (diag == Diag::NonUnit) return finite(a, part_of(uplo));
  for (std::int64_t i = 0; i < a.rows(); ++i) {
    const std::int64_t first = uplo == Uplo::Lower ? 0 : i + 1, last = uplo == Uplo::Lower ? i : a.columns();
    for (std::int64_t j = first; j < last; ++j) {
      if (!is_finite(element(a, i, j))) return {Status::NotFinite, i * a.columns() + j};
    }
  }
  return {};
}
template <class T> Outcome zero_diagonal(const MatrixView<T>& a, Diag diag) {
  for (std::int64_t i = 0; diag == Diag::NonUnit && i < a.rows(); ++i) {
    if (element(a, i, i) == std::remove_const_t<T>(0)) return {Status::Singular, i};
  }
  return {};
}

}  // namespace

template <Scalar T> Outcome trtri(const Executor&, const TrtriArgs<T>& g) {
  if (const Outcome bad = finite_triangle(g.a, g.uplo, g.diag); !bad.ok()) {
    fill(g.a, not_a_number<T>(), part_of(g.uplo));
    return bad;
  }
  if (const Outcome bad = zero_diagonal(g.a, g.diag); !bad.ok()) return bad;
  if (g.a.rows() == 0) return {};
  const MatrixView<T> view = is_folded(g.a) ? g.a.transposed() : g.a;
  const Uplo uplo = is_folded(g.a) ? other(g.uplo) : g.uplo;
  Inout<T> a(view, part_of(uplo));
  int info = 0;
  Lapack<T>::trtri(letter(uplo), letter(g.diag), to_int(view.rows()), a.data(), a.ld(), info, 1, 1);
  expect_legal("trtri", info);
  a.write_back();
  return finite_triangle(g.a, g.uplo, g.diag);
}

template <Scalar T> Outcome trtrs(const Executor& executor, const TrtrsArgs<T>& g) {
  Outcome bad = finite_triangle(g.a, g.uplo, g.diag);
  if (bad.ok()) bad = finite(g.b);
  if (!bad.ok()) {
    fill(g.b, not_a_number<T>());
    return bad;
  }
  if (const Outcome zero = zero_diagonal(g.a, g.diag); !zero.ok()) return zero;
  blas::trsm(executor, Side::Left, g.uplo, g.op, g.diag, T(1), g.a, g.b);
  return {};
}

template <Scalar T> Real<T> trcon(const Executor&, const ConditionArgs<T>& g) {
  if (!finite_triangle(g.factor, g.uplo, g.diag).ok()) return not_a_number<Real<T>>();
  const bool fold = is_folded(g.factor);
  const MatrixView<const T> view = fold ? g.factor.transposed() : g.factor;
  const Uplo uplo = fold ? other(g.uplo) : g.uplo;
  const char norm = (g.which == Norm::One) != fold ? '1' : 'I';
  const Input<T> a(view, part_of(uplo));
  const auto n = static_cast<std::size_t>(view.rows());
  std::vector<T> work(3 * n + 1);
  std::vector<std::conditional_t<blas::ComplexScalar<T>, Real<T>, int>> second(n + 1);
  Real<T> reciprocal = 0;
  int info = 0;
  Lapack<T>::trcon(norm, letter(uplo), letter(g.diag), to_int(view.rows()), a.data(), a.ld(), reciprocal, work.data(),
                   second.data(), info, 1, 1, 1);
  expect_legal("trcon", info);
  return reciprocal;
}

#define TRN_TRIANGULAR(T)                                       \
  template Outcome trtri(const Executor&, const TrtriArgs<T>&); \
  template Outcome trtrs(const Executor&, const TrtrsArgs<T>&); \
  template Real<T> trcon(const Executor&, const ConditionArgs<T>&);
TRN_SOLVER_SCALARS(TRN_TRIANGULAR)
#undef TRN_TRIANGULAR

}  // namespace trn::solver::host
