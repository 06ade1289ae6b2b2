// Eigenvalues and singular values.
#pragma once

#include <trn/solver/cholesky.hpp>
#include <trn/solver/eigh.hpp>
#include <trn/solver/svd.hpp>

#include "outcome.hpp"

namespace trn::capi::solver {

using blas::uplo_of;

[[nodiscard]] inline ts::Vectors vectors_of(ModeArg mode) {
  if (mode == TRNSOLVER_EIG_MODE_VECTOR) return ts::Vectors::Yes;
  if (mode == TRNSOLVER_EIG_MODE_NOVECTOR) return ts::Vectors::No;
  fail<InvalidArgument>("the mode is {}; it must be 0 or 1", static_cast<int>(mode));
}

template <class T> View<T> as_view(const MatrixView<T>& m) {
  return {m.executor(), m.data(), {m.rows(), m.columns()}, {m.row_stride(), m.column_stride()}};
}
// The first columns (or rows) of a computed factor, where the caller wants them.
template <class T> void deliver(const Matrix<T>& from, const MatrixView<T>& to) {
  const auto all = from.view();
  const View<const T> part(all.executor(), all.data(), {to.rows(), to.columns()},
                           {all.row_stride(), all.column_stride()});
  copy(part, as_view(to));
}

template <class T> void syevd(Call& c, ModeArg mode, UploArg uplo, Int n, T* a, Int lda, Real<T>* w, int* info) {
  check_info(c, info);
  const ts::EighOptions o{.vectors = vectors_of(mode), .uplo = uplo_of(uplo)};
  const auto m = c.matrix("A", a, n, n, lda);
  const auto values = column(c, "W", w, n);
  put_info(c, info, n == 0 ? 0 : info_of(ts::eigh<T>(c.executor, m, values, o).outcome, n));
}

template <class T> void syevdx(Call& c, ModeArg mode, trnsolverEigRange_t range, UploArg uplo, Int n, T* a, Int lda,
                               Real<T> vl, Real<T> vu, Int il, Int iu, int* found, Real<T>* w, int* info) {
  check_info(c, info);
  require(found != nullptr, "meig is null; it receives the number of eigenvalues");
  ts::EighOptions o{.vectors = vectors_of(mode), .uplo = uplo_of(uplo)};
  if (range == TRNSOLVER_EIG_RANGE_I) {
    require(il >= 1 && il <= iu && iu <= n, "eigenvalues {} to {} of {} are asked for", il, iu, n);
    o.range = ts::Range::indices(il - 1, iu);
  } else if (range == TRNSOLVER_EIG_RANGE_V) {
    require(vl < vu, "the interval ({}, {}] is empty", vl, vu);
    o.range = ts::Range::values(vl, vu);
  } else {
    require(range == TRNSOLVER_EIG_RANGE_ALL, "the range is {}; it must be 1001, 1002 or 1003",
            static_cast<int>(range));
  }
  const auto m = c.matrix("A", a, n, n, lda);
  const auto values = column(c, "W", w, n);
  *found = 0;
  if (n == 0) return put_info(c, info, 0);
  if (range == TRNSOLVER_EIG_RANGE_ALL) {
    const auto report = ts::eigh<T>(c.executor, m, values, o);
    *found = static_cast<int>(report.found);
    return put_info(c, info, info_of(report.outcome, n));
  }
  // What lies behind the eigenvalues found stays as it was, in W and in A.
  const Array<T> elements(c.executor, {n * n});
  const MatrixView<T> copied(c.executor, elements.data(), n, n, 1, n);
  const Array<Real<T>> all(c.executor, {n});
  copy(View<const T>(as_view(m)), as_view(copied));
  const auto report = ts::eigh<T>(c.executor, copied, VectorView<Real<T>>(c.executor, all.data(), n), o);
  const Int k = report.outcome.ok() ? report.found : n;  // of an operand that is not finite all is NaN
  *found = static_cast<int>(report.found);
  copy(View<const Real<T>>(c.executor, all.data(), {k}), View<Real<T>>(c.executor, values.data(), {k}));
  if (o.vectors == ts::Vectors::Yes)
    copy(View<const T>(c.executor, elements.data(), {n, k}, {1, n}),
         View<T>(c.executor, m.data(), {n, k}, {1, m.column_stride()}));
  put_info(c, info, info_of(report.outcome, n));
}

// B becomes its Cholesky factor, as LAPACK has it.
template <class T> void sygvd(Call& c, trnsolverEigType_t type, ModeArg mode, UploArg uplo, Int n, T* a, Int lda, T* b,
                              Int ldb, Real<T>* w, int* info) {
  check_info(c, info);
  require(type >= TRNSOLVER_EIG_TYPE_1 && type <= TRNSOLVER_EIG_TYPE_3,
          "the problem's type is {}; it must be 1, 2 or 3", static_cast<int>(type));
  const ts::GeneralizedOptions o{static_cast<ts::GeneralizedForm>(type - 1), vectors_of(mode), uplo_of(uplo)};
  const auto left = c.matrix("A", a, n, n, lda), right = c.matrix("B", b, n, n, ldb);
  const auto values = column(c, "W", w, n);
  if (n == 0) return put_info(c, info, 0);
  const auto report = ts::eigh_generalized<T>(c.executor, left, right, values, o);
  if (report.outcome.ok()) (void)ts::potrf<T>(c.executor, uplo_of(uplo), right);
  // n + i says that B's leading minor of order i is not positive definite.
  const bool indefinite = report.outcome.status == ts::Status::NotPositiveDefinite;
  put_info(c, info, info_of(report.outcome, n) + (indefinite ? static_cast<int>(n) : 0));
}

template <class T> void gesvd(Call& c, signed char jobu, signed char jobvt, Int m, Int n, T* a, Int lda, Real<T>* s,
                              T* u, Int ldu, T* vt, Int ldvt, int* info) {
  check_info(c, info);
  for (const signed char job : {jobu, jobvt})
    require(job == 'A' || job == 'S' || job == 'O' || job == 'N', "a job is {}; it must be A, S, O or N", quoted(job));
  require(jobu != 'O' || jobvt != 'O', "both jobs are O; A can hold one result");
  const Int k = std::min(m, n);
  const auto matrix = c.matrix("A", a, m, n, lda);
  const auto values = column(c, "S", s, k);
  const Int columns = jobu == 'A' ? m : k, rows = jobvt == 'A' ? n : k;
  const auto left = jobu == 'N' || jobu == 'O' ? std::optional<MatrixView<T>>() : c.matrix("U", u, m, columns, ldu);
  const auto right = jobvt == 'N' || jobvt == 'O' ? std::optional<MatrixView<T>>() : c.matrix("VT", vt, rows, n, ldvt);
  if (k == 0) return put_info(c, info, 0);
  if (jobu == 'N' && jobvt == 'N')
    return put_info(c, info, info_of(ts::singular_values(c.executor, matrix, values).outcome, n));
  const bool full = jobu == 'A' || jobvt == 'A';
  const Matrix<T> all_left(c.executor, m, full ? m : k), all_right(c.executor, full ? n : k, n);
  const auto report = ts::svd<T>(c.executor, matrix, values, all_left.view(), all_right.view());
  if (left) deliver(all_left, *left);
  if (right) deliver(all_right, *right);
  if (jobu == 'O') deliver(all_left, c.matrix("A", a, m, k, lda));
  if (jobvt == 'O') deliver(all_right, c.matrix("A", a, k, n, lda));
  put_info(c, info, info_of(report.outcome, n));
}

}  // namespace trn::capi::solver
