// gemv, gbmv and ger on the host: OpenBLAS. A matrix without a unit stride is packed into a dense copy; exact gemv
// takes one exact sum per row. ger with zeros in the vector that runs over columns is ours: the reference skips those
// columns, so that 0 * infinity does not arise; OpenBLAS multiplies.
#include <algorithm>
#include <vector>

#include <trn/core/parallel.hpp>

#include "../kernels.hpp"
#include "cblas.hpp"
#include "exact_dot.hpp"
#include "triangles.hpp"
#include "vectors.hpp"

namespace trn::blas::host {

namespace {

bool leads(std::int64_t inner_count, std::int64_t inner, std::int64_t outer_count, std::int64_t outer) {
  return (inner == 1 || inner_count == 1) && (outer_count == 1 || (outer >= inner_count && outer <= kIntMax));
}

// Column-major copy.
template <class T> std::vector<T> packed(const T* a, std::int64_t m, std::int64_t n, std::int64_t am, std::int64_t an) {
  std::vector<T> dense(static_cast<std::size_t>(m * n));
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = 0; i < m; ++i) dense[static_cast<std::size_t>(j * m + i)] = a[i * am + j * an];
  }
  return dense;
}

template <class T> void exact_gemv(const GemvArgs& g) {
  const T* a = static_cast<const T*>(g.a);
  const T* x = static_cast<const T*>(g.x);
  T* y = static_cast<T*>(g.y);
  const T alpha = factor<T>(g.alpha), beta = factor<T>(g.beta);
  parallel_for(g.m, g.m * g.n > 1 << 14, [&](std::int64_t i) {
    const T sum = alpha == T(0) ? T(0) : alpha * exact_dot(a + i * g.am, g.an, x, g.incx, g.n, g.conj_a);
    T& out = y[i * g.incy];
    out = beta == T(0) ? sum : sum + beta * out;
  });
}

template <class T> void native_gemv(const GemvArgs& g) {
  const int m = narrow("blas.gemv", "the number of rows", g.m), n = narrow("blas.gemv", "the number of columns", g.n);
  const T* a = static_cast<const T*>(g.a);
  const Input<T> x(g.x, g.n, g.incx);
  InOut<T> y(g.y, g.m, g.incy);
  const T alpha = factor<T>(g.alpha), beta = factor<T>(g.beta);
  const auto multiply = [&](CBLAS_TRANSPOSE trans, int rows, int columns, const T* data, std::int64_t ld) {
    cb::gemv(CblasColMajor, trans, rows, columns, alpha, data, static_cast<int>(ld), x.data(), x.increment(), beta,
             y.data(), y.increment());
  };
  if (leads(g.m, g.am, g.n, g.an)) {
    multiply(g.conj_a ? CblasConjNoTrans : CblasNoTrans, m, n, a, g.n == 1 ? g.m : g.an);
  } else if (leads(g.n, g.an, g.m, g.am)) {
    multiply(g.conj_a ? CblasConjTrans : CblasTrans, n, m, a, g.m == 1 ? g.n : g.am);
  } else {
    const std::vector<T> dense = packed(a, g.m, g.n, g.am, g.an);
    multiply(g.conj_a ? CblasConjNoTrans : CblasNoTrans, m, n, dense.data(), g.m);
  }
  y.store();
}

// Column by column, columns with y_j = 0 left alone. `outer` and `inner` are the strides between columns and within
// one.
template <class T> void update_columns(std::int64_t m, std::int64_t n, T alpha, const std::vector<T>& x,
                                       const std::vector<T>& y, T* a, std::int64_t inner, std::int64_t outer) {
  for (std::int64_t j = 0; j < n; ++j) {
    if (y[static_cast<std::size_t>(j)] == T(0)) continue;
    const T t = alpha * y[static_cast<std::size_t>(j)];
    T* column = a + j * outer;
    if (inner == 1) {
      cb::axpy(static_cast<int>(m), t, x.data(), 1, column, 1);
    } else {
      for (std::int64_t i = 0; i < m; ++i) column[i * inner] += x[static_cast<std::size_t>(i)] * t;
    }
  }
}

template <class T> void run_ger(const GerArgs& g) {
  const int m = narrow("blas.ger", "the number of rows", g.m), n = narrow("blas.ger", "the number of columns", g.n);
  const T alpha = factor<T>(g.alpha);
  T* a = static_cast<T*>(g.a);
  const bool columns = leads(g.m, g.am, g.n, g.an), rows = !columns && leads(g.n, g.an, g.m, g.am);
  const bool zero =
      rows ? has_zero(static_cast<const T*>(g.x), g.m, g.incx) : has_zero(static_cast<const T*>(g.y), g.n, g.incy);
  if (zero || (!columns && !rows)) {
    const std::vector<T> x = gathered<T>(g.x, g.m, g.incx, false), y = gathered<T>(g.y, g.n, g.incy, g.conj_y);
    if (rows) return update_columns(g.n, g.m, alpha, y, x, a, g.an, g.am);
    return update_columns(g.m, g.n, alpha, x, y, a, g.am, g.an);
  }
  const Input<T> x(g.x, g.m, g.incx), y(g.y, g.n, g.incy);
  const std::int64_t ld = columns ? (g.n == 1 ? g.m : g.an) : (g.m == 1 ? g.n : g.am);
  cb::ger(columns ? CblasColMajor : CblasRowMajor, m, n, alpha, x.data(), x.increment(), y.data(), y.increment(),
          g.conj_y, a, static_cast<int>(ld));
}

}  // namespace

void gemv(const Executor&, const GemvArgs& g) {
  with_type(g.dtype, [&]<class T>(T) { g.mode == Mode::Exact ? exact_gemv<T>(g) : native_gemv<T>(g); });
}

void ger(const Executor&, const GerArgs& g) {
  with_type(g.dtype, [&]<class T>(T) { run_ger<T>(g); });
}

void gbmv(const Executor&, const GbmvArgs& g) {
  with_type(g.dtype, [&]<class T>(T) {
    const std::int64_t out = g.op == Op::N ? g.rows : g.columns, in = g.op == Op::N ? g.columns : g.rows;
    const Input<T> x(g.x, in, g.incx);
    InOut<T> y(g.y, out, g.incy);
    const auto size = [](const char* what, std::int64_t value) { return narrow("blas.gbmv", what, value); };
    cb::gbmv(g.layout == Layout::RowMajor ? CblasRowMajor : CblasColMajor, cb::code(g.op),
             size("the number of rows", g.rows), size("the number of columns", g.columns), size("kl", g.kl),
             size("ku", g.ku), factor<T>(g.alpha), static_cast<const T*>(g.a), size("the leading dimension", g.ld),
             x.data(), x.increment(), factor<T>(g.beta), y.data(), y.increment());
    y.store();
  });
}

}  // namespace trn::blas::host
