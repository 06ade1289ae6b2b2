// Batches on a device: one matrix in each partition, float alone. A batch at listed addresses is gathered into one
// array and goes back; equally spaced matrices are used where they are.
//
// The host reads what a program says of every matrix: a flag for NaN and infinities, pivots, and of Jacobi's sweeps the
// largest element off the diagonal of the scaled matrix, or for singular values the largest cosine of two columns.
// Sweeps go on, two at a time, until that is 64 u everywhere; a matrix that 20 sweeps leave above 1024 u is
// NotConverged.
#include <algorithm>
#include <cmath>
#include <vector>

#include <trn/core/array.hpp>
#include <trn/solver/batched_program.hpp>
#include <trn/tile/launch.hpp>

#include "device/operands.hpp"
#include "kernels/batched.hpp"

namespace trn::solver::device {

namespace {

constexpr float kUnit = 0x1p-24f;

// The matrices as one tensor. T is const where they are only read.
template <class T> class Strided {
 public:
  enum class Before { Gathered, Written };  // whether what the matrices hold is wanted
  Strided(const char* operation, const Executor& executor, const Batch<T>& batch, Before before = Before::Gathered)
      : batch_(batch), packed_(executor, {copied(batch) ? batch.count() * size(batch) : 0}) {
    const BatchShape& s = batch.shape();
    if (s.m > kBatchOrder || s.n > kBatchOrder) {
      fail<NotImplemented>(
          "{}: matrices of {} x {} on executor '{}', which takes a batch of orders up to {}; use the operation for one "
          "matrix",
          operation, s.m, s.n, executor.name(), kBatchOrder);
    }
    for (std::int64_t p = 0; before == Before::Gathered && copied(batch) && p < batch.count(); ++p)
      move(batch.view(executor, p), packed_view(p));
  }
  [[nodiscard]] BatchProgramShape shape(Uplo uplo = Uplo::Lower) const {
    const std::int64_t m = batch_.shape().m, n = batch_.shape().n;
    BatchProgramShape s{batch_.count(), m, n, m * n, n, 1, uplo == Uplo::Upper};
    if (!copied(batch_)) {
      s.row = batch_.row_stride(), s.column = batch_.column_stride();
      s.stride = batch_.count() > 1 ? batch_.stride() : (m - 1) * s.row + (n - 1) * s.column + 1;
    }
    return s;
  }
  [[nodiscard]] T* data() const { return copied(batch_) ? packed_.data() : batch_.first(); }
  void store() const {
    for (std::int64_t p = 0; copied(batch_) && p < batch_.count(); ++p)
      move(packed_view(p), batch_.view(packed_.executor(), p));
  }

 private:
  using Value = std::remove_const_t<T>;
  static bool copied(const Batch<T>& b) { return b.list() != nullptr || (b.count() > 1 && b.stride() < 0); }
  static std::int64_t size(const Batch<T>& b) { return b.shape().m * b.shape().n; }
  [[nodiscard]] MatrixView<Value> packed_view(std::int64_t p) const {
    return MatrixView<Value>::row_major(packed_.executor(), packed_.data() + p * size(batch_), batch_.shape().m,
                                        batch_.shape().n);
  }

  Batch<T> batch_;
  Array<Value> packed_;
};

template <class T> bool empty(const Batch<T>& a) { return a.count() == 0 || a.shape().m == 0 || a.shape().n == 0; }

template <class T> MatrixView<T> row(const MatrixView<T>& a, std::int64_t p) {
  return {a.executor(), a.data() + p * a.row_stride(), 1, a.columns(), a.row_stride(), a.column_stride()};
}

// What a program says of the elements of every matrix: Ok, or NotFinite at a place.
template <class T> BatchOutcomes looked(const Batch<T>& a, const Array<float>& flags) {
  BatchOutcomes outcomes;
  for (const float flag : flags.to_host()) {
    outcomes.push_back(
        flag > 0 ? Outcome{Status::NotFinite, a.shape().m * a.shape().n - static_cast<std::int64_t>(flag)} : Outcome{});
  }
  return outcomes;
}

}  // namespace

BatchOutcomes potrf_batched(const Executor& executor, const PotrfBatchArgs<float>& g) {
  if (empty(g.a)) return BatchOutcomes(static_cast<std::size_t>(g.a.count()));
  const Strided<float> all("solver.potrf_batched", executor, g.a);
  const std::int64_t n = g.a.shape().n;
  const Array<float> pivots(executor, {g.a.count(), n}), flags(executor, {g.a.count()});
  tile::launch(executor, potrf_batch_program, all.shape(g.uplo),
               {{"a", all.data()}, {"factor", all.data()}, {"pivots", pivots.data()}, {"flags", flags.data()}});
  all.store();
  BatchOutcomes outcomes = looked(g.a, flags);
  const std::vector<float> d = pivots.to_host();
  for (std::int64_t p = 0; p < g.a.count(); ++p) {
    Outcome& outcome = outcomes[static_cast<std::size_t>(p)];
    if (!outcome.ok()) {
      fill_nan(g.a.view(executor, p), host::part_of(g.uplo));
      continue;
    }
    const auto first = d.begin() + p * n;
    const auto bad = std::find_if(first, first + n, [](float x) { return !(x > 0); });
    if (bad != first + n) outcome = {Status::NotPositiveDefinite, bad - first};
  }
  return outcomes;
}

BatchOutcomes getrf_batched(const Executor& executor, const GetrfBatchArgs<float>& g) {
  if (empty(g.a)) return BatchOutcomes(static_cast<std::size_t>(g.a.count()));
  const Strided<float> all("solver.getrf_batched", executor, g.a);
  const std::int64_t m = g.a.shape().m, count = g.a.count(), steps = std::min(m, g.a.shape().n);
  const Array<float> places(executor, {count, steps}), diagonal(executor, {count, steps}), flags(executor, {count});
  tile::launch(executor, getrf_batch_program, all.shape(),
               {{"a", all.data()},
                {"factors", all.data()},
                {"places", places.data()},
                {"diagonal", diagonal.data()},
                {"flags", flags.data()}});
  all.store();
  BatchOutcomes outcomes = looked(g.a, flags);
  const std::vector<float> falling = places.to_host(), d = diagonal.to_host();
  std::vector<std::int64_t> pivots(falling.size());
  for (std::int64_t p = 0; p < count; ++p) {
    Outcome& outcome = outcomes[static_cast<std::size_t>(p)];
    if (!outcome.ok()) {  // pivots stay 0
      fill_nan(g.a.view(executor, p));
      continue;
    }
    for (std::int64_t k = p * steps; k < (p + 1) * steps; ++k) {
      const auto at = static_cast<std::size_t>(k);
      pivots[at] = m - static_cast<std::int64_t>(falling[at]);
      if (d[at] == 0 && outcome.ok()) outcome = {Status::Singular, k - p * steps};
    }
  }
  move(MatrixView<const std::int64_t>::row_major(Executor::host(), pivots.data(), count, steps), g.pivots);
  return outcomes;
}

BatchOutcomes geqrf_batched(const Executor& executor, const GeqrfBatchArgs<float>& g) {
  if (empty(g.a)) return BatchOutcomes(static_cast<std::size_t>(g.a.count()));
  const Strided<float> all("solver.geqrf_batched", executor, g.a);
  const std::int64_t count = g.a.count(), steps = std::min(g.a.shape().m, g.a.shape().n);
  const Array<float> tau(executor, {count, steps}), flags(executor, {count});
  tile::launch(executor, geqrf_batch_program, all.shape(),
               {{"a", all.data()}, {"factors", all.data()}, {"tau", tau.data()}, {"flags", flags.data()}});
  all.store();
  move(MatrixView<const float>::row_major(executor, tau.data(), count, steps), g.tau);
  const BatchOutcomes outcomes = looked(g.a, flags);
  for (std::int64_t p = 0; p < count; ++p) {
    if (outcomes[static_cast<std::size_t>(p)].ok()) continue;
    fill_nan(g.a.view(executor, p));
    fill_nan(row(g.tau, p));
  }
  return outcomes;
}

namespace {

// Two sets of what sweeps leave: each launch reads one and writes the other. Rows are rotated.
struct JacobiState {
  JacobiState(const Executor& executor, std::int64_t count, std::int64_t rows, std::int64_t columns, bool with_vectors)
      : matrix(executor, {count, rows, columns}), vectors(executor, {with_vectors ? count : 0, rows, rows}) {}
  Array<float> matrix, vectors;
};

// launch(sweeps, begins, off) makes sweeps; they go on until `off` is (64 u)^power for every finite matrix.
template <class T, class Launch> BatchOutcomes sweep(const Executor& executor, const Batch<T>& a,
                                                     const Array<float>& flags, int power, const Launch& launch) {
  constexpr std::int64_t kMostSweeps = 20;
  const std::int64_t order = std::min(a.shape().m, a.shape().n);
  const float small = std::pow(64 * kUnit, static_cast<float>(power)),
              useless = std::pow(1024 * kUnit, static_cast<float>(power));
  const Array<float> off(executor, {a.count()});
  BatchOutcomes outcomes;
  std::vector<float> left;
  std::int64_t sweeps = 0;
  for (bool more = true; more;) {
    // Singular values want to see a sweep that finds nothing.
    const std::int64_t now = sweeps > 0    ? 2
                             : order <= 2  ? power
                             : power == 1  ? (order <= 8 ? 5 : 7)
                             : order <= 8  ? 6
                             : order <= 16 ? 7
                                           : 8;
    launch(now, sweeps == 0, off.data());
    if (sweeps == 0) outcomes = looked(a, flags);
    sweeps += now;
    left = off.to_host();
    more = false;
    for (std::size_t p = 0; p < left.size(); ++p) more = more || (outcomes[p].ok() && !(left[p] <= small));
    more = more && sweeps < kMostSweeps;
  }
  for (std::size_t p = 0; p < left.size(); ++p) {
    if (outcomes[p].ok() && !(left[p] <= useless)) outcomes[p] = {Status::NotConverged, 0};
  }
  return outcomes;
}

}  // namespace

BatchOutcomes eigh_batched(const Executor& executor, const EighBatchArgs<float>& g) {
  if (empty(g.a)) return BatchOutcomes(static_cast<std::size_t>(g.a.count()));
  const Strided<float> all("solver.eigh_batched", executor, g.a);
  const std::int64_t n = g.a.shape().n, count = g.a.count(), even = n + n % 2;
  const bool vectors = g.options.vectors == Vectors::Yes;
  JacobiState from(executor, count, even, even, vectors), to(executor, count, even, even, vectors);
  const Array<float> flags(executor, {count}), scale(executor, {count}), w(executor, {count, n});
  const BatchOutcomes outcomes = sweep(executor, g.a, flags, 1, [&](std::int64_t sweeps, bool begins, float* off) {
    tile::launch(executor, eigh_batch_program, JacobiShape{all.shape(g.options.uplo), sweeps, begins, vectors},
                 {{"a", all.data()},
                  {"matrix_in", from.matrix.data()},
                  {"vectors_in", from.vectors.data()},
                  {"matrix", to.matrix.data()},
                  {"vectors", to.vectors.data()},
                  {"off", off},
                  {"flags", flags.data()},
                  {"scale", scale.data()}});
    std::swap(from, to);
  });
  tile::launch(executor, eigh_sort_program, JacobiShape{all.shape(g.options.uplo), 0, false, vectors},
               {{"matrix", from.matrix.data()},
                {"vectors", from.vectors.data()},
                {"scale", scale.data()},
                {"w", w.data()},
                {"a", all.data()}});
  if (vectors) all.store();
  move(MatrixView<const float>::row_major(executor, w.data(), count, n), g.w);
  for (std::int64_t p = 0; p < count; ++p) {
    if (outcomes[static_cast<std::size_t>(p)].ok()) continue;
    fill_nan(row(g.w, p));
    if (vectors) fill_nan(g.a.view(executor, p));
  }
  return outcomes;
}

BatchOutcomes svd_batched(const Executor& executor, const SvdBatchArgs<float>& g) {
  const std::int64_t m = g.a.shape().m, n = g.a.shape().n, count = g.a.count(), p = std::max(m, n), q = std::min(m, n),
                     even = q + q % 2;
  using To = Strided<float>;
  constexpr const char* operation = "solver.svd_batched";
  if (q == 0) {  // nothing to decompose: any orthogonal matrices will do
    const Batch<float>& square = m > n ? g.u : g.vh;
    for (std::int64_t i = 0; i < count && square.shape().m == square.shape().n; ++i)
      move(unit_matrix<float>(executor, p).view(), square.view(executor, i));
  }
  if (empty(g.a)) return BatchOutcomes(static_cast<std::size_t>(count));
  const Strided<const float> all(operation, executor, g.a);
  const To u(operation, executor, g.u, To::Before::Written), vh(operation, executor, g.vh, To::Before::Written);
  const auto transposed = [](BatchProgramShape s) {
    std::swap(s.m, s.n), std::swap(s.row, s.column);
    return s;
  };
  // A = left diag(s) right^T, or A^T = left diag(s) right^T with U = right and V = left.
  const bool tall = m >= n;
  const SvdSortShape sorted{tall ? u.shape() : transposed(vh.shape()), tall ? transposed(vh.shape()) : u.shape()};
  float *const left = (tall ? u : vh).data(), *const right = (tall ? vh : u).data();
  JacobiState from(executor, count, even, p, true), to(executor, count, even, p, true);
  const Array<float> flags(executor, {count}), scale(executor, {count}), missing(executor, {count}),
      s(executor, {count, q});
  const BatchOutcomes outcomes = sweep(executor, g.a, flags, 2, [&](std::int64_t sweeps, bool begins, float* off) {
    tile::launch(executor, svd_batch_program, JacobiShape{all.shape(), sweeps, begins, true},
                 {{"a", all.data()},
                  {"matrix_in", from.matrix.data()},
                  {"vectors_in", from.vectors.data()},
                  {"matrix", to.matrix.data()},
                  {"vectors", to.vectors.data()},
                  {"off", off},
                  {"flags", flags.data()},
                  {"scale", scale.data()}});
    std::swap(from, to);
  });
  tile::launch(executor, svd_sort_program, sorted,
               {{"matrix", from.matrix.data()},
                {"vectors", from.vectors.data()},
                {"scale", scale.data()},
                {"s", s.data()},
                {"left", left},
                {"right", right},
                {"missing", missing.data()}});
  float most = 0;
  const std::vector<float> zeros = missing.to_host();
  for (std::size_t i = 0; i < zeros.size(); ++i) most = outcomes[i].ok() ? std::max(most, zeros[i]) : most;
  if (const std::int64_t whole = q - static_cast<std::int64_t>(most); whole < sorted.left.n) {
    tile::launch(executor, orthonormal_batch_program, OrthonormalShape{sorted.left, whole},
                 {{"u_in", left}, {"u", left}});
  }
  u.store(), vh.store();
  move(MatrixView<const float>::row_major(executor, s.data(), count, q), g.s);
  for (std::int64_t i = 0; i < count; ++i) {
    if (outcomes[static_cast<std::size_t>(i)].ok()) continue;
    fill_nan(row(g.s, i));
    fill_nan(g.u.view(executor, i));
    fill_nan(g.vh.view(executor, i));
  }
  return outcomes;
}

}  // namespace trn::solver::device
