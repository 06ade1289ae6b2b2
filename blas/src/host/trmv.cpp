// Triangular matrix times vector and triangular solve on the host, full, packed and band.
//
// Two ways through a triangle stored by columns: by columns (x_j scales a column that is added to x) when S itself is
// applied, by rows (dot products of columns with x) when S^T is. The second is OpenBLAS's. The first is ours where the
// reference's rule shows, that a column with x_j = 0 is skipped, diagonal included: always in a solve, where 0 / 0 must
// not arise from a zero right-hand side, and for vectors with zeros in a product. Full matrices without a unit stride
// are ours both ways.
#include <vector>

#include "../kernels.hpp"
#include "cblas.hpp"
#include "triangles.hpp"
#include "vectors.hpp"

namespace trn::blas::host {

namespace {

// x(begin..end) += t * column, or its conjugate.
template <class T>
void add_column(T* x, T t, const T* column, std::int64_t stride, std::int64_t begin, std::int64_t end, bool conj) {
  if (end <= begin) return;
  if (stride == 1 && !conj) return cb::axpy(static_cast<int>(end - begin), t, column + begin, 1, x + begin, 1);
  for (std::int64_t i = begin; i < end; ++i) x[i] += t * conjugated(column[i * stride], conj);
}

template <class T>
T row_sum(const T* x, const T* column, std::int64_t stride, std::int64_t begin, std::int64_t end, bool conj) {
  T sum = 0;
  for (std::int64_t i = begin; i < end; ++i) sum += conjugated(column[i * stride], conj) * x[i];
  return sum;
}

// x = S x or S^-1 x by columns. A product goes through an upper triangle from its first column, which changes only
// entries that are done with; a solve from its last.
template <class T> void by_columns(const Columns<const T>& s, std::int64_t n, bool solve, bool conj, bool unit, T* x) {
  const bool ascending = s.upper() != solve;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t j = ascending ? step : n - 1 - step;
    if (x[j] == T(0)) continue;
    const T* column = s.column(j);
    const std::int64_t begin = s.upper() ? s.begin(j) : j + 1, end = s.upper() ? j : s.end(j);  // without the diagonal
    const T diagonal = unit ? T(1) : conjugated(column[j * s.stride()], conj);
    if (solve) {
      if (!unit) x[j] /= diagonal;
      add_column(x, -x[j], column, s.stride(), begin, end, conj);
    } else {
      add_column(x, x[j], column, s.stride(), begin, end, conj);
      if (!unit) x[j] *= diagonal;
    }
  }
}

// x = S^T x or S^-T x, each entry a sum along a column.
template <class T> void by_rows(const Columns<const T>& s, std::int64_t n, bool solve, bool conj, bool unit, T* x) {
  const bool ascending = s.upper() == solve;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t j = ascending ? step : n - 1 - step;
    const T* column = s.column(j);
    const std::int64_t begin = s.upper() ? s.begin(j) : j + 1, end = s.upper() ? j : s.end(j);
    const T sum = row_sum(x, column, s.stride(), begin, end, conj);
    const T diagonal = unit ? T(1) : conjugated(column[j * s.stride()], conj);
    if (solve) {
      x[j] -= sum;
      if (!unit) x[j] /= diagonal;
    } else {
      if (!unit) x[j] *= diagonal;
      x[j] += sum;
    }
  }
}

template <class T> void call(const TrmvArgs& g, const Native& storage, int n, InOut<T>& x) {
  const Triangle& t = g.shape;
  const T* a = static_cast<const T*>(g.a);
  const CBLAS_UPLO uplo = cb::code(t.uplo);
  const CBLAS_TRANSPOSE trans = cb::code(g.op);
  const CBLAS_DIAG diag = cb::code(g.diag);
  const int ld = static_cast<int>(storage.ld), k = narrow("blas.trmv", "the number of diagonals", t.k);
  switch (t.form) {
    case Form::Full:
      return g.solve ? cb::trsv(storage.order, uplo, trans, diag, n, a, ld, x.data(), x.increment())
                     : cb::trmv(storage.order, uplo, trans, diag, n, a, ld, x.data(), x.increment());
    case Form::Packed:
      return g.solve ? cb::tpsv(storage.order, uplo, trans, diag, n, a, x.data(), x.increment())
                     : cb::tpmv(storage.order, uplo, trans, diag, n, a, x.data(), x.increment());
    case Form::Band:
      return g.solve ? cb::tbsv(storage.order, uplo, trans, diag, n, k, a, ld, x.data(), x.increment())
                     : cb::tbmv(storage.order, uplo, trans, diag, n, k, a, ld, x.data(), x.increment());
  }
}

template <class T> void run(const TrmvArgs& g) {
  const std::int64_t n = g.shape.n;
  const int count = narrow("blas.trmv", "n", n);
  const Columns<const T> s(g.shape, static_cast<const T*>(g.a));
  const bool transposes = s.transposed() != (g.op != Op::N);  // S^T is applied
  const Native storage = native(g.shape);
  T* first = static_cast<T*>(g.x);
  if (storage.usable && (transposes || (!g.solve && !has_zero(first, n, g.incx)))) {
    InOut<T> x(g.x, n, g.incx);
    call(g, storage, count, x);
    return x.store();
  }
  std::vector<T> dense = g.incx == 1 ? std::vector<T>() : gathered<T>(g.x, n, g.incx, false);
  T* x = g.incx == 1 ? first : dense.data();
  const bool conj = ComplexScalar<T> && g.op == Op::C, unit = g.diag == Diag::Unit;
  transposes ? by_rows(s, n, g.solve, conj, unit, x) : by_columns(s, n, g.solve, conj, unit, x);
  for (std::size_t i = 0; i < dense.size(); ++i) first[static_cast<std::int64_t>(i) * g.incx] = dense[i];
}

}  // namespace

void trmv(const Executor&, const TrmvArgs& args) {
  with_type(args.dtype, [&]<class T>(T) { run<T>(args); });
}

}  // namespace trn::blas::host
