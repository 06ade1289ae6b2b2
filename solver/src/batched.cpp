// The entry points of batches: shapes and addresses are checked, then the kernel of the executor runs.
#include <trn/solver/batched.hpp>

#include <algorithm>

#include "checks.hpp"
#include "kernels/batched.hpp"
#include "scalars.hpp"

namespace trn::solver {

namespace {

template <class T> void input(const char* operation, const char* name, const Batch<T>& x) {
  const BatchShape& s = x.shape();
  require(s.m >= 0 && s.n >= 0 && x.count() >= 0, "{}: {} are {} matrices of {} x {}; none may be negative", operation,
          name, x.count(), s.m, s.n);
  checks::countable(operation, name, s.m, s.n);
  const std::int64_t line = s.layout == Layout::RowMajor ? s.n : s.m;
  require(s.ld == 0 || s.ld >= std::max<std::int64_t>(line, 1),
          "{}: the leading dimension of {} is {}, its lines have {} elements; use at least that, or 0 for packed",
          operation, name, s.ld, line);
  if (s.m == 0 || s.n == 0) return;
  for (std::int64_t p = 0; p < x.count(); ++p) {
    require(x[p] != nullptr, "{}: {} number {} is null; give it memory", operation, name, p);
    if (!x.list()) break;  // the others follow from the first
  }
}
template <class T> void output(const char* operation, const char* name, const Batch<T>& x) {
  input(operation, name, x);
  const BatchShape& s = x.shape();
  if (s.m == 0 || s.n == 0 || x.count() < 2) return;
  if (!x.list()) {
    const std::int64_t extent = (s.m - 1) * x.row_stride() + (s.n - 1) * x.column_stride() + 1;
    require(x.stride() >= extent || x.stride() <= -extent,
            "{}: {} lie {} elements apart and take {} each; they must not overlap", operation, name, x.stride(),
            extent);
    return;
  }
  std::vector<const T*> sorted(x.list(), x.list() + x.count());
  if (!std::is_sorted(sorted.begin(), sorted.end())) std::sort(sorted.begin(), sorted.end());
  require(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(),
          "{}: two of {} have the same address; each needs its own", operation, name);
}
template <class T> void square(const char* operation, const char* name, const Batch<T>& x) {
  require(x.shape().m == x.shape().n, "{}: {} are {} x {}; they must be square", operation, name, x.shape().m,
          x.shape().n);
}
template <class A, class B>
void same_count(const char* operation, const char* a_name, const Batch<A>& a, const char* b_name, const Batch<B>& b) {
  require(a.count() == b.count(), "{}: {} of {} but {} of {}; give one of each per problem", operation, a.count(),
          a_name, b.count(), b_name);
  if (a.count() > 0 && a.shape().m * a.shape().n > 0) {
    require(static_cast<const void*>(a[0]) != static_cast<const void*>(b[0]),
            "{}: {} and {} start at the same address; give {} memory of its own", operation, a_name, b_name, b_name);
  }
}
template <class T> void rows_of(const char* operation, const char* name, const Executor& executor,
                                const MatrixView<T>& x, std::int64_t count, std::int64_t columns) {
  if constexpr (std::is_const_v<T>) {
    checks::input(operation, name, executor, x);
  } else {
    checks::output(operation, name, executor, x);
  }
  checks::shape(operation, name, x, count, columns);
}
template <class T> std::int64_t least(const Batch<T>& x) { return std::min(x.shape().m, x.shape().n); }

template <class T> void check_lu(const char* operation, const Executor& executor, const Batch<const T>& factors,
                                 const MatrixView<const std::int64_t>& pivots) {
  input(operation, "the factors", factors);
  square(operation, "the factors", factors);
  const std::int64_t n = factors.shape().n;
  rows_of(operation, "the pivots", executor, pivots, factors.count(), n);
  for (std::int64_t p = 0; executor.family() == Family::Host && p < factors.count(); ++p) {
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t row = pivots.data()[p * pivots.row_stride() + i * pivots.column_stride()];
      // Not i <= row: a matrix that was not finite has zeros, and must not keep the others from being solved.
      require(row >= 0 && row < n, "{}: pivot {} of matrix {} is {}; getrf's lie between 0 and {}", operation, i, p,
              row, n - 1);
    }
  }
}

}  // namespace

template <Scalar T> BatchOutcomes potrf_batched(const Executor& executor, Uplo uplo, const Batch<T>& a) {
  constexpr const char* operation = "solver.potrf_batched";
  checks::enumerators(operation, uplo);
  output(operation, "the matrices", a);
  square(operation, "the matrices", a);
  return dispatch(kPotrfBatch<T>, executor, {uplo, a});
}

template <Scalar T>
BatchOutcomes potrs_batched(const Executor& executor, Uplo uplo, const ConstBatch<T>& factors, const Batch<T>& b) {
  constexpr const char* operation = "solver.potrs_batched";
  checks::enumerators(operation, uplo);
  input(operation, "the factors", factors);
  square(operation, "the factors", factors);
  output(operation, "the right-hand sides", b);
  same_count(operation, "the factors", factors, "the right-hand sides", b);
  require(b.shape().m == factors.shape().n, "{}: the right-hand sides have {} rows; they must have {}", operation,
          b.shape().m, factors.shape().n);
  return dispatch(kPotrsBatch<T>, executor, {uplo, factors, b});
}

template <Scalar T>
BatchOutcomes getrf_batched(const Executor& executor, const Batch<T>& a, const MatrixView<std::int64_t>& pivots) {
  constexpr const char* operation = "solver.getrf_batched";
  output(operation, "the matrices", a);
  rows_of(operation, "the pivots", executor, pivots, a.count(), least(a));
  return dispatch(kGetrfBatch<T>, executor, {a, pivots});
}

template <Scalar T> BatchOutcomes getrs_batched(const Executor& executor, Op op, const ConstBatch<T>& factors,
                                                const MatrixView<const std::int64_t>& pivots, const Batch<T>& b) {
  constexpr const char* operation = "solver.getrs_batched";
  checks::enumerators(operation, op);
  check_lu<T>(operation, executor, factors, pivots);
  output(operation, "the right-hand sides", b);
  same_count(operation, "the factors", factors, "the right-hand sides", b);
  require(b.shape().m == factors.shape().n, "{}: the right-hand sides have {} rows; they must have {}", operation,
          b.shape().m, factors.shape().n);
  return dispatch(kGetrsBatch<T>, executor, {op, factors, pivots, b});
}

template <Scalar T> BatchOutcomes getri_batched(const Executor& executor, const ConstBatch<T>& factors,
                                                const MatrixView<const std::int64_t>& pivots,
                                                const Batch<T>& inverses) {
  constexpr const char* operation = "solver.getri_batched";
  check_lu<T>(operation, executor, factors, pivots);
  output(operation, "the inverses", inverses);
  same_count(operation, "the factors", factors, "the inverses", inverses);
  require(inverses.shape().m == factors.shape().n && inverses.shape().n == factors.shape().n,
          "{}: the inverses are {} x {}; they must be {} x {}", operation, inverses.shape().m, inverses.shape().n,
          factors.shape().n, factors.shape().n);
  return dispatch(kGetriBatch<T>, executor, {factors, pivots, inverses});
}

template <Scalar T>
BatchOutcomes matinv_batched(const Executor& executor, const ConstBatch<T>& a, const Batch<T>& inverses) {
  constexpr const char* operation = "solver.matinv_batched";
  input(operation, "the matrices", a);
  square(operation, "the matrices", a);
  output(operation, "the inverses", inverses);
  same_count(operation, "the matrices", a, "the inverses", inverses);
  require(inverses.shape().m == a.shape().n && inverses.shape().n == a.shape().n,
          "{}: the inverses are {} x {}; they must be {} x {}", operation, inverses.shape().m, inverses.shape().n,
          a.shape().n, a.shape().n);
  return dispatch(kMatinvBatch<T>, executor, {a, inverses});
}

template <Scalar T> BatchOutcomes geqrf_batched(const Executor& executor, const Batch<T>& a, const MatrixView<T>& tau) {
  constexpr const char* operation = "solver.geqrf_batched";
  output(operation, "the matrices", a);
  rows_of(operation, "tau", executor, tau, a.count(), least(a));
  return dispatch(kGeqrfBatch<T>, executor, {a, tau});
}

template <Scalar T> BatchOutcomes gels_batched(const Executor& executor, const Batch<T>& a, const Batch<T>& b) {
  constexpr const char* operation = "solver.gels_batched";
  output(operation, "the matrices", a);
  output(operation, "the right-hand sides", b);
  same_count(operation, "the matrices", a, "the right-hand sides", b);
  require(a.shape().m >= a.shape().n, "{}: the matrices are {} x {}; they must have at least as many rows as columns",
          operation, a.shape().m, a.shape().n);
  require(b.shape().m == a.shape().m, "{}: the right-hand sides have {} rows; they must have {}", operation,
          b.shape().m, a.shape().m);
  return dispatch(kGelsBatch<T>, executor, {a, b});
}

template <Scalar T> BatchOutcomes eigh_batched(const Executor& executor, const Batch<T>& a,
                                               const MatrixView<Real<T>>& w, const EighOptions& options) {
  constexpr const char* operation = "solver.eigh_batched";
  checks::enumerators(operation, options.uplo);
  output(operation, "the matrices", a);
  square(operation, "the matrices", a);
  rows_of(operation, "w", executor, w, a.count(), a.shape().n);
  require(options.range.kind == Range::Kind::All && options.certify == Certify::Estimate,
          "{}: batches are of whole spectra without proofs; use eigh for ranges and proofs", operation);
  return dispatch(kEighBatch<T>, executor, {a, w, options});
}

template <Scalar T> BatchOutcomes svd_batched(const Executor& executor, const ConstBatch<T>& a,
                                              const MatrixView<Real<T>>& s, const Batch<T>& u, const Batch<T>& vh) {
  constexpr const char* operation = "solver.svd_batched";
  const std::int64_t m = a.shape().m, n = a.shape().n, k = std::min(m, n);
  input(operation, "the matrices", a);
  rows_of(operation, "s", executor, s, a.count(), k);
  output(operation, "U", u);
  output(operation, "V^H", vh);
  same_count(operation, "the matrices", a, "U", u);
  same_count(operation, "the matrices", a, "V^H", vh);
  const bool thin = u.shape().m == m && u.shape().n == k && vh.shape().m == k && vh.shape().n == n;
  const bool full = u.shape().m == m && u.shape().n == m && vh.shape().m == n && vh.shape().n == n;
  require(thin || full, "{}: the matrices are {} x {}, U {} x {}, V^H {} x {}; give thin or full ones", operation, m, n,
          u.shape().m, u.shape().n, vh.shape().m, vh.shape().n);
  return dispatch(kSvdBatch<T>, executor, {a, s, u, vh});
}

#define TRN_BATCHED(T)                                                                                        \
  template BatchOutcomes potrf_batched<T>(const Executor&, Uplo, const Batch<T>&);                            \
  template BatchOutcomes potrs_batched<T>(const Executor&, Uplo, const ConstBatch<T>&, const Batch<T>&);      \
  template BatchOutcomes getrf_batched<T>(const Executor&, const Batch<T>&, const MatrixView<std::int64_t>&); \
  template BatchOutcomes getrs_batched<T>(const Executor&, Op, const ConstBatch<T>&,                          \
                                          const MatrixView<const std::int64_t>&, const Batch<T>&);            \
  template BatchOutcomes getri_batched<T>(const Executor&, const ConstBatch<T>&,                              \
                                          const MatrixView<const std::int64_t>&, const Batch<T>&);            \
  template BatchOutcomes matinv_batched<T>(const Executor&, const ConstBatch<T>&, const Batch<T>&);           \
  template BatchOutcomes geqrf_batched<T>(const Executor&, const Batch<T>&, const MatrixView<T>&);            \
  template BatchOutcomes gels_batched<T>(const Executor&, const Batch<T>&, const Batch<T>&);                  \
  template BatchOutcomes eigh_batched<T>(const Executor&, const Batch<T>&, const MatrixView<Real<T>>&,        \
                                         const EighOptions&);                                                 \
  template BatchOutcomes svd_batched<T>(const Executor&, const ConstBatch<T>&, const MatrixView<Real<T>>&,    \
                                        const Batch<T>&, const Batch<T>&);
TRN_SOLVER_SCALARS(TRN_BATCHED)
#undef TRN_BATCHED

}  // namespace trn::solver
