// cuSOLVER's other ways to eigenvalues, singular values and solutions: Jacobi's, the approximate, the randomised and
// the mixed-precision ones. Each gets the numbers of the one method that trnsolver has for the problem, which is at
// least as accurate; tolerances and sweeps are accepted and change nothing, and no sweeps are made.
#pragma once

#include <trn/solver/batched.hpp>
#include <trn/solver/eig.hpp>
#include <trn/solver/svd.hpp>

#include "factors.hpp"
#include "spectra.hpp"

// What a Jacobi method was told, and the last problem, for its residual: all in double, column-major.
struct trnsolverJacobi {
  double tolerance = 0;
  int most_sweeps = 100, sort = 1;
  std::int64_t rows = 0, columns = 0, rank = 0;
  std::vector<std::complex<double>> a, u, v;
  std::vector<double> s;
};
struct trnsolversyevjInfo : trnsolverJacobi {};
struct trnsolvergesvdjInfo : trnsolverJacobi {};

namespace trn::capi::solver {

template <class D> [[nodiscard]] std::shared_ptr<D> look(const D* address) {
  auto found = alive<D>().get(address);
  require(found != nullptr, "the parameters are {}", address ? "not alive" : "null");
  return found;
}
template <class D> void create(D** out) {
  require(out != nullptr, "info is null; it receives the parameters");
  *out = alive<D>().add(std::make_shared<D>());
}
template <class D> void destroy(const D* info) { (void)look(info), alive<D>().remove(info); }
template <class D> void set_tolerance(D* info, double tolerance) { look(info)->tolerance = tolerance; }
template <class D> void set_max_sweeps(D* info, int sweeps) {
  require(sweeps >= 0, "{} sweeps", sweeps);
  look(info)->most_sweeps = sweeps;
}
template <class D> void set_sort(D* info, int sort) { look(info)->sort = sort; }
template <class D> void get_sweeps(Call&, D* info, int* sweeps) {
  require(sweeps != nullptr, "executed_sweeps is null; it receives the result");
  (void)look(info), *sweeps = 0;
}
// || A - U S V^H ||_F of the last problem with vectors, computed when it is asked for.
template <class D> void get_residual(Call&, D* info, double* residual) {
  require(residual != nullptr, "residual is null; it receives the result");
  const auto p = look(info);
  if (p->a.empty()) fail<NotImplemented>("no residual: the last problem was a batch, had no vectors, or was of type 3");
  double sum = 0;
  for (Int i = 0; i < p->rows; ++i)
    for (Int j = 0; j < p->columns; ++j) {
      auto r = p->a[static_cast<std::size_t>(i + j * p->rows)];
      for (Int k = 0; k < p->rank; ++k)
        r -= p->u[static_cast<std::size_t>(i + k * p->rows)] * p->s[static_cast<std::size_t>(k)] *
             std::conj(p->v[static_cast<std::size_t>(j + k * p->columns)]);
      sum += std::norm(r);
    }
  *residual = std::sqrt(sum);
}

// A matrix on the host, column-major, in double.
template <class T> [[nodiscard]] std::vector<std::complex<double>> wide(const MatrixView<T>& m) {
  const Matrix<std::remove_const_t<T>> rows(m.executor(), m.rows(), m.columns());
  copy(View<const std::remove_const_t<T>>(m.executor(), m.data(), {m.rows(), m.columns()},
                                          {m.row_stride(), m.column_stride()}),
       View<std::remove_const_t<T>>(m.executor(), rows.data(), {m.rows(), m.columns()}, {m.columns(), 1}));
  const auto host = rows.to_host();
  std::vector<std::complex<double>> found(host.size());
  for (Int i = 0; i < m.rows(); ++i)
    for (Int j = 0; j < m.columns(); ++j)
      found[static_cast<std::size_t>(i + j * m.rows())] =
          std::complex<double>(host[static_cast<std::size_t>(i * m.columns() + j)]);
  return found;
}
template <class R> [[nodiscard]] std::vector<double> wide(Call& c, const R* s, Int n) {
  std::vector<R> host(static_cast<std::size_t>(n));
  if (n > 0)
    copy_bytes(c.executor, column(c, "the values", s, n).data(), Executor::host(), host.data(),
               n * static_cast<Int>(sizeof(R)));
  return {host.begin(), host.end()};
}

// The matrix of which one triangle is stored, whole.
template <class T>
[[nodiscard]] std::vector<std::complex<double>> wide_hermitian(const MatrixView<T>& m, UploArg uplo) {
  auto found = wide(m);
  const Int n = m.rows();
  for (Int j = 0; j < n; ++j)
    for (Int i = 0; i < j; ++i) {
      auto &up = found[static_cast<std::size_t>(i + j * n)], &low = found[static_cast<std::size_t>(j + i * n)];
      (uplo == TRNBLAS_FILL_MODE_UPPER ? low : up) = std::conj(uplo == TRNBLAS_FILL_MODE_UPPER ? up : low);
    }
  return found;
}
template <class T> void syevj(Call& c, ModeArg mode, UploArg uplo, Int n, T* a, Int lda, Real<T>* w, int* info,
                              trnsolversyevjInfo* params) {
  const auto p = look(params);
  const auto m = c.matrix("A", a, n, n, lda);
  auto before =
      mode == TRNSOLVER_EIG_MODE_VECTOR && n > 0 ? wide_hermitian(m, uplo) : std::vector<std::complex<double>>();
  syevd<T>(c, mode, uplo, n, a, lda, w, info);
  p->a = std::move(before);
  if (p->a.empty()) return;
  p->rows = p->columns = p->rank = n;
  p->u = p->v = wide(m), p->s = wide(c, w, n);
}
template <class T> void syevj_batched(Call& c, ModeArg mode, UploArg uplo, Int n, T* a, Int lda, Real<T>* w, int* info,
                                      trnsolversyevjInfo* params, Int count) {
  look(params)->a.clear();
  require(count >= 0, "the batch has {} matrices", count);
  check_info(c, info, count);
  for (Int k = 0; k < count; ++k) syevd<T>(c, mode, uplo, n, a + k * lda * n, lda, w + k * n, info + k);
}
// The residual is that of A = U S U^H, where U = B V for A v = s B v, and U = V for A B v = s v: V^H B V = I.
template <class T> void sygvj(Call& c, trnsolverEigType_t type, ModeArg mode, UploArg uplo, Int n, T* a, Int lda, T* b,
                              Int ldb, Real<T>* w, int* info, trnsolversyevjInfo* params) {
  const auto p = look(params);
  p->a.clear();
  const bool kept = mode == TRNSOLVER_EIG_MODE_VECTOR && n > 0 && type != TRNSOLVER_EIG_TYPE_3;
  std::vector<std::complex<double>> left, right;
  if (kept)
    left = wide_hermitian(c.matrix("A", a, n, n, lda), uplo), right = wide_hermitian(c.matrix("B", b, n, n, ldb), uplo);
  sygvd<T>(c, type, mode, uplo, n, a, lda, b, ldb, w, info);
  if (!kept || get_info(c, info) != 0) return;
  p->rows = p->columns = p->rank = n;
  p->a = std::move(left), p->u = wide(c.matrix("A", a, n, n, lda)), p->s = wide(c, w, n);
  if (type == TRNSOLVER_EIG_TYPE_1) {
    const auto vectors = p->u;
    for (Int j = 0; j < n; ++j)
      for (Int i = 0; i < n; ++i) {
        auto& sum = p->u[static_cast<std::size_t>(i + j * n)] = 0;
        for (Int k = 0; k < n; ++k)
          sum += right[static_cast<std::size_t>(i + k * n)] * vectors[static_cast<std::size_t>(k + j * n)];
      }
  }
  p->v = p->u;
}
// All pairs are computed, and those of the range moved to the front.
template <class T> void sygvdx(Call& c, trnsolverEigType_t type, ModeArg mode, trnsolverEigRange_t range, UploArg uplo,
                               Int n, T* a, Int lda, T* b, Int ldb, Real<T> vl, Real<T> vu, Int il, Int iu, int* found,
                               Real<T>* w, int* info) {
  require(found != nullptr, "meig is null; it receives the number of eigenvalues");
  require(range >= TRNSOLVER_EIG_RANGE_ALL && range <= TRNSOLVER_EIG_RANGE_V, "the range is {}",
          static_cast<int>(range));
  if (range == TRNSOLVER_EIG_RANGE_I)
    require(il >= 1 && il <= iu && iu <= n, "eigenvalues {} to {} of {} are asked for", il, iu, n);
  if (range == TRNSOLVER_EIG_RANGE_V) require(vl < vu, "the interval ({}, {}] is empty", vl, vu);
  sygvd<T>(c, type, mode, uplo, n, a, lda, b, ldb, w, info);
  const auto values = wide(c, w, n);
  Int first = 0, last = n;
  if (range == TRNSOLVER_EIG_RANGE_I) first = il - 1, last = iu;
  if (range == TRNSOLVER_EIG_RANGE_V) {
    while (first < n && !(values[static_cast<std::size_t>(first)] > static_cast<double>(vl))) ++first;
    for (last = first; last < n && values[static_cast<std::size_t>(last)] <= static_cast<double>(vu);) ++last;
  }
  *found = static_cast<int>(last - first);
  if (first == 0 || last == first) return;
  // The ranges overlap: by way of the host.
  const std::vector<Real<T>> moved(values.begin() + first, values.begin() + last);
  copy_bytes(Executor::host(), moved.data(), c.executor, column(c, "W", w, n).data(),
             (last - first) * static_cast<Int>(sizeof(Real<T>)));
  T* const vectors = c.matrix("A", a, n, n, lda).data();
  if (mode == TRNSOLVER_EIG_MODE_VECTOR)
    for (Int j = first; j < last; ++j)
      copy(View<const T>(c.executor, vectors + j * lda, {n}), View<T>(c.executor, vectors + (j - first) * lda, {n}));
}

// The first `rank` singular triples: columns of U and V, not of V^H. LAPACK's info.
template <class T> int triples(Call& c, bool vectors, const MatrixView<const T>& a, Real<T>* s, const MatrixView<T>& u,
                               const MatrixView<T>& v, Int rank) {
  const Int m = a.rows(), n = a.columns(), k = std::min(m, n);
  const auto values = column(c, "S", s, std::min(rank, k));
  if (k == 0) return 0;
  const Array<Real<T>> all(c.executor, {k});
  const VectorView<Real<T>> every(c.executor, all.data(), k);
  const bool full = vectors && (u.columns() > k || v.columns() > k);
  const Matrix<T> left(c.executor, m, full ? m : k), right(c.executor, full ? n : k, n);
  const auto outcome = vectors ? ts::svd<T>(c.executor, a, every, left.view(), right.view()).outcome
                               : ts::singular_values(c.executor, a, every).outcome;
  copy(View<const Real<T>>(c.executor, all.data(), {values.size()}),
       View<Real<T>>(c.executor, values.data(), {values.size()}));
  if (vectors) {
    const auto view = [](const MatrixView<T>& x) {
      return View<T>(x.executor(), x.data(), {x.rows(), x.columns()}, {x.row_stride(), x.column_stride()});
    };
    copy(View<const T>(c.executor, left.data(), {m, u.columns()}, {left.columns(), 1}), view(u));
    if constexpr (!std::is_floating_point_v<T>) {
      auto rows = right.to_host();
      for (T& x : rows) x = std::conj(x);
      copy_bytes(Executor::host(), rows.data(), c.executor, right.data(), static_cast<Int>(rows.size() * sizeof(T)));
    }
    copy(View<const T>(c.executor, right.data(), {n, v.columns()}, {1, n}), view(v));
  }
  return info_of(outcome, n);
}
[[nodiscard]] inline bool wanted(ModeArg mode) {
  require(mode == TRNSOLVER_EIG_MODE_VECTOR || mode == TRNSOLVER_EIG_MODE_NOVECTOR, "the mode is {}; it must be 0 or 1",
          static_cast<int>(mode));
  return mode == TRNSOLVER_EIG_MODE_VECTOR;
}
template <class T> void svd_columns(Call& c, ModeArg mode, Int m, Int n, const T* a, Int lda, Real<T>* s, T* u, Int ldu,
                                    Int u_columns, T* v, Int ldv, Int v_columns, Int rank, int* info) {
  check_info(c, info);
  const bool vectors = wanted(mode);
  const MatrixView<const T> matrix = c.matrix("A", a, m, n, lda);
  const auto none = MatrixView<T>(c.executor, nullptr, 0, 0, 1, 1);
  const auto left = vectors ? c.matrix("U", u, m, u_columns, ldu) : none;
  const auto right = vectors ? c.matrix("V", v, n, v_columns, ldv) : none;
  put_info(c, info, triples<T>(c, vectors, matrix, s, left, right, rank));
}
template <class T> void gesvdj(Call& c, ModeArg mode, Int econ, Int m, Int n, T* a, Int lda, Real<T>* s, T* u, Int ldu,
                               T* v, Int ldv, int* info, trnsolvergesvdjInfo* params) {
  const auto p = look(params);
  require(m >= 0 && n >= 0, "A is {} x {}", m, n);
  const Int k = std::min(m, n), columns = econ ? k : m, other = econ ? k : n;
  svd_columns<T>(c, mode, m, n, a, lda, s, u, ldu, columns, v, ldv, other, k, info);
  p->a.clear();
  if (!wanted(mode) || k == 0) return;
  p->rows = m, p->columns = n, p->rank = k;
  p->a = wide(c.matrix("A", a, m, n, lda)), p->s = wide(c, s, k);
  p->u = wide(c.matrix("U", u, m, k, ldu)), p->v = wide(c.matrix("V", v, n, k, ldv));
}
// A whole batch with full U and V in one call; devices have it for float to order 64.
template <class T> [[nodiscard]] bool has_svd_batch(Call& c, Int m, Int n) {
  constexpr Int kLargest = 64;
  return c.executor.family() == Family::Host || (std::same_as<T, float> && std::max(m, n) <= kLargest);
}
// Matrices follow one another without gaps. V^H row by row is the conjugate of V column by column.
template <class T> void svd_batch(Call& c, const ts::BatchShape& shape, T* a, Real<T>* s, const ts::BatchShape& left,
                                  T* u, const ts::BatchShape& right, T* v, Int count, int* info) {
  const auto batch = [&](const char* what, T* first, const ts::BatchShape& one, ts::Layout layout) {
    const MatrixView<T> all = c.matrix(what, first, one.m, one.n * count, one.ld);
    return ts::Batch<T>::strided({one.m, one.n, one.ld, layout}, all.data(), one.ld * one.n, count);
  };
  const Int k = std::min(shape.m, shape.n);
  const auto values = column(c, "S", s, k * count);
  put_infos(
      c,
      ts::svd_batched<T>(c.executor, batch("A", a, shape, ts::Layout::ColumnMajor),
                         MatrixView<Real<T>>(c.executor, values.data(), count, k, k, 1),
                         batch("U", u, left, ts::Layout::ColumnMajor), batch("V", v, right, ts::Layout::RowMajor)),
      shape.n, info);
  if constexpr (!std::is_floating_point_v<T>) {
    const Int columns = right.n * count;
    const View<T> there(c.executor, c.matrix("V", v, right.m, columns, right.ld).data(), {columns, right.m},
                        {right.ld, 1});
    std::vector<T> elements(static_cast<std::size_t>(columns * right.m));
    const View<T> here(Executor::host(), elements.data(), {columns, right.m});
    copy(View<const T>(there), here);
    for (T& x : elements) x = std::conj(x);
    copy(View<const T>(here), there);
  }
}
// Vectors that are not wanted may be null.
template <class T> [[nodiscard]] T* behind(T* p, Int step) { return p ? p + step : p; }
template <class T> void gesvdj_batched(Call& c, ModeArg mode, Int m, Int n, T* a, Int lda, Real<T>* s, T* u, Int ldu,
                                       T* v, Int ldv, int* info, trnsolvergesvdjInfo* params, Int count) {
  look(params)->a.clear();
  require(count >= 0 && m >= 0 && n >= 0, "{} matrices of {} x {}", count, m, n);
  check_info(c, info, count);
  const Int k = std::min(m, n);
  if (wanted(mode) && count > 0 && k > 0 && has_svd_batch<T>(c, m, n))
    return svd_batch<T>(c, {m, n, lda}, a, s, {m, m, ldu}, u, {n, n, ldv}, v, count, info);
  for (Int i = 0; i < count; ++i)
    svd_columns<T>(c, mode, m, n, a + i * lda * n, lda, s + i * k, behind(u, i * ldu * m), ldu, m,
                   behind(v, i * ldv * n), ldv, n, k, info + i);
}
// h_R_nrmF: || A - U S V^H ||_F of each problem, if it is not null.
template <class T> void gesvda_strided_batched(Call& c, ModeArg mode, Int rank, Int m, Int n, const T* a, Int lda,
                                               long long step_a, Real<T>* s, long long step_s, T* u, Int ldu,
                                               long long step_u, T* v, Int ldv, long long step_v, int* info,
                                               double* residuals, Int count) {
  require(count >= 0 && m >= 0 && n >= 0 && rank >= 0 && rank <= std::min(m, n),
          "{} matrices of {} x {}, {} singular values of each", count, m, n, rank);
  check_info(c, info, count);
  for (Int i = 0; i < count; ++i) {
    svd_columns<T>(c, mode, m, n, a + i * step_a, lda, s + i * step_s, behind(u, i * step_u), ldu, rank,
                   behind(v, i * step_v), ldv, rank, rank, info + i);
    if (!residuals || !wanted(mode)) continue;
    trnsolvergesvdjInfo last;
    last.rows = m, last.columns = n, last.rank = rank;
    last.a = wide(c.matrix("A", a + i * step_a, m, n, lda)), last.s = wide(c, s + i * step_s, rank);
    last.u = wide(c.matrix("U", u + i * step_u, m, rank, ldu));
    last.v = wide(c.matrix("V", v + i * step_v, n, rank, ldv));
    const auto kept = alive<trnsolvergesvdjInfo>().add(std::make_shared<trnsolvergesvdjInfo>(std::move(last)));
    if (m > 0 && n > 0) get_residual(c, kept, residuals + i);
    alive<trnsolvergesvdjInfo>().remove(kept);
  }
}

// A X = B with factors of the operands' own type. A is left as it was; iter says that nothing had to be refined.
template <class T> void gesv(Call& c, Int n, Int nrhs, T* a, Int lda, int* pivots, T* b, Int ldb, T* x, Int ldx,
                             int* iterations, int* info) {
  check_info(c, info);
  require(iterations != nullptr, "iter is null; it receives the result");
  const auto matrix = c.matrix("A", a, n, n, lda);
  const auto right = c.matrix("B", b, n, nrhs, ldb), result = c.matrix("X", x, n, nrhs, ldx);
  if (pivots) (void)device_memory(*c.handle.device, "dipiv", pivots, n * static_cast<Int>(sizeof(int)));
  *iterations = 0;
  if (n == 0 || nrhs == 0) return put_info(c, info, 0);
  const auto view = [](const auto& m) {
    return View<T>(m.executor(), m.data(), {m.rows(), m.columns()}, {m.row_stride(), m.column_stride()});
  };
  const Matrix<T> factors(c.executor, n, n);
  copy(View<const T>(view(matrix)), view(factors.view()));
  const Array<Int> rows(c.executor, {n});
  const auto report = ts::getrf<T>(c.executor, factors.view(), rows.view());
  if (pivots) put_pivots(c, rows, pivots);
  if (report.outcome.ok()) {
    copy(View<const T>(view(right)), view(result));
    (void)ts::getrs<T>(c.executor, Op::N, factors.view(), View<const Int>(rows.view()), result);
  }
  put_info(c, info, info_of(report.outcome, n));
}

template <class T> void x_syevdx(Call& c, ModeArg mode, trnsolverEigRange_t range, UploArg uplo, Int n, T* a, Int lda,
                                 const Real<T>* vl, const Real<T>* vu, Int il, Int iu, Int* found, Real<T>* w,
                                 int* info) {
  require(found != nullptr, "meig64 is null; it receives the number of eigenvalues");
  require(range != TRNSOLVER_EIG_RANGE_V || (vl && vu), "vl or vu is null");
  const auto end = [](const Real<T>* p) { return p ? *p : Real<T>(0); };
  int count = 0;
  syevdx<T>(c, mode, range, uplo, n, a, lda, end(vl), end(vu), il, iu, &count, w, info);
  *found = count;
}
// Nothing is perturbed: h_err_sigma is 0.
template <class T> void gesvdp(Call& c, ModeArg mode, int econ, Int m, Int n, T* a, Int lda, Real<T>* s, T* u, Int ldu,
                               T* v, Int ldv, int* info, double* error) {
  require(error != nullptr, "h_err_sigma is null; it receives the result");
  const Int k = std::min(m, n);
  svd_columns<T>(c, mode, m, n, a, lda, s, u, ldu, econ ? k : m, v, ldv, econ ? k : n, k, info);
  *error = 0;
}
// The k largest singular triples, exact to rounding; p and niters say nothing here.
template <class T> void gesvdr(Call& c, signed char jobu, signed char jobv, Int m, Int n, Int k, Int p, Int steps, T* a,
                               Int lda, Real<T>* s, T* u, Int ldu, T* v, Int ldv, int* info) {
  require(k >= 0 && p >= 0 && steps >= 0 && k + p <= std::min(m, n), "k = {}, p = {} for a matrix of {} x {}", k, p, m,
          n);
  for (const signed char job : {jobu, jobv})
    require(job == 'S' || job == 'N', "a job is {}; it must be S or N", quoted(job));
  if (jobu != jobv) fail<NotImplemented>("vectors of one side alone");
  const auto mode = jobu == 'S' ? TRNSOLVER_EIG_MODE_VECTOR : TRNSOLVER_EIG_MODE_NOVECTOR;
  svd_columns<T>(c, mode, m, n, a, lda, s, u, ldu, k, v, ldv, k, k, info);
}

// Eigenvalues of any square matrix. W is complex, or for real A also 2 n real numbers: real parts, then imaginary ones.
// Vectors are complex, or for real A real as LAPACK packs them: a conjugate pair has two columns, of real and imaginary
// parts of the first.
template <class T> void geev(Call& c, ModeArg jobvl, ModeArg jobvr, Int n, T* a, Int lda, Type type_w, void* w,
                             Type type_vl, void* vl, Int ldvl, Type type_vr, void* vr, Int ldvr, int* info) {
  check_info(c, info);
  const bool left = wanted(jobvl), right = wanted(jobvr);
  using R = Real<T>;
  using Z = std::complex<R>;
  constexpr Type complex_type = sizeof(R) == 4 ? TRN_C_32F : TRN_C_64F;
  constexpr Type type = std::is_same_v<T, Z> ? complex_type : sizeof(R) == 4 ? TRN_R_32F : TRN_R_64F;
  for (const Type t : {type_w, left ? type_vl : complex_type, right ? type_vr : complex_type})
    require(t == complex_type || t == type, "results have type {}; it must be {} or {}", static_cast<int>(t),
            static_cast<int>(complex_type), static_cast<int>(type));
  const auto m = c.matrix("A", a, n, n, lda);
  const Int parts = type_w == complex_type ? 1 : 2;
  w = device_memory(*c.handle.device, "W", w, n * parts * (parts == 1 ? Int(sizeof(Z)) : Int(sizeof(R))));
  if (n == 0) return put_info(c, info, 0);
  const Array<Z> values(c.executor, {n});
  const Matrix<Z> all_right(c.executor, n, right ? n : 0), all_left(c.executor, n, left ? n : 0);
  ts::EigVectors<T> vectors;
  if (right) vectors.right = all_right.view();
  if (left) vectors.left = all_left.view();
  const auto report = ts::eig(c.executor, m, VectorView<Z>(c.executor, values.data(), n), vectors);
  const auto found = values.to_host();
  const auto put = [&](void* to, const auto& host) {
    copy_bytes(Executor::host(), host.data(), c.executor, to, static_cast<Int>(host.size() * sizeof(host[0])));
  };
  if (parts == 1) {
    put(w, found);
  } else {
    std::vector<R> split;
    for (const Z z : found) split.push_back(z.real());
    for (const Z z : found) split.push_back(z.imag());
    put(w, split);
  }
  const auto deliver = [&](const Matrix<Z>& from, Type as, void* to, Int ld, const char* what) {
    const auto rows = from.to_host();
    const auto at = [&](Int i, Int j) { return rows[static_cast<std::size_t>(i * n + j)]; };
    if (as == complex_type) {
      Z* const first = c.matrix(what, static_cast<Z*>(to), n, n, ld).data();
      for (Int j = 0; j < n; ++j) {
        std::vector<Z> line;
        for (Int i = 0; i < n; ++i) line.push_back(at(i, j));
        put(first + j * ld, line);
      }
      return;
    }
    R* const first = c.matrix(what, static_cast<R*>(to), n, n, ld).data();
    for (Int j = 0; j < n; ++j) {
      const bool second = j > 0 && found[static_cast<std::size_t>(j)].imag() < 0;
      std::vector<R> line;
      for (Int i = 0; i < n; ++i) line.push_back(second ? at(i, j - 1).imag() : at(i, j).real());
      put(first + j * ld, line);
    }
  };
  if (right) deliver(all_right, type_vr, vr, ldvr, "VR");
  if (left) deliver(all_left, type_vl, vl, ldvl, "VL");
  put_info(c, info, info_of(report.outcome, n));
}

}  // namespace trn::capi::solver
