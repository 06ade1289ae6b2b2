// Batched trsm on the host. Orders up to 64: substitution, row by row of X in a dense copy of B, so that the inner loop
// runs over right-hand sides with unit stride; problems go to threads. Larger ones: OpenBLAS, one after another.
#include <vector>

#include <trn/core/parallel.hpp>

#include "../kernels.hpp"
#include "dense.hpp"

namespace trn::blas::host {

namespace {

constexpr std::int64_t kSubstitute = 64, kColumns = 256;

// y = y - a x, by the formula.
template <Scalar T> void subtract(std::int64_t n, T a, const T* __restrict x, T* __restrict y) {
  if constexpr (ComplexScalar<T>) {
    const Real<T> re = a.real(), im = a.imag();
    for (std::int64_t j = 0; j < n; ++j) {
      y[j] =
          T(y[j].real() - (re * x[j].real() - im * x[j].imag()), y[j].imag() - (re * x[j].imag() + im * x[j].real()));
    }
  } else {
    for (std::int64_t j = 0; j < n; ++j) y[j] -= a * x[j];
  }
}

template <Scalar T> void substitute(const TrsmBatchArgs& t, const Strided<const T>& a, const Strided<T>& b, T* x) {
  const std::int64_t n = b.columns;
  const T alpha = factor<T>(t.alpha);
  for (std::int64_t step = 0; step < t.m; ++step) {
    const std::int64_t i = t.lower ? step : t.m - 1 - step;
    T* row = x + i * n;
    for (std::int64_t j = 0; j < n; ++j) row[j] = alpha * b.at(i, j);
    for (std::int64_t before = 0; before < step; ++before) {
      const std::int64_t k = t.lower ? before : t.m - 1 - before;
      subtract(n, conjugate(a.at(i, k), t.conj_a), x + k * n, row);
    }
    if (!t.unit) {
      const T diagonal = conjugate(a.at(i, i), t.conj_a);
      for (std::int64_t j = 0; j < n; ++j) row[j] /= diagonal;
    }
    for (std::int64_t j = 0; j < n; ++j) b.at(i, j) = row[j];
  }
}

template <Scalar T> void run(const Executor& executor, const TrsmBatchArgs& t) {
  if (t.alpha == 0.0 || t.m > kSubstitute) {
    for (std::int64_t p = 0; p < t.count; ++p) {
      trsm(executor, {t.dtype, t.m, t.n, t.a[p], t.am, t.an, t.lower, t.unit, t.conj_a, t.b[p], t.bm, t.bn, t.alpha});
    }
    return;
  }
  for_ranges(t.count, loop_threads(t.m * t.m * t.n * t.count > 1 << 17),
             [&](std::int64_t begin, std::int64_t end, int) {
               std::vector<T> x(static_cast<std::size_t>(t.m * std::min(t.n, kColumns)));
               for (std::int64_t p = begin; p < end; ++p) {
                 const auto a = strided<T>(t.a[p], t.m, t.m, t.am, t.an);
                 const auto b = strided<T>(t.b[p], t.m, t.n, t.bm, t.bn);
                 for (std::int64_t j = 0; j < t.n; j += kColumns)
                   substitute<T>(t, a, b.block(0, j, t.m, std::min(kColumns, t.n - j)), x.data());
               }
             });
}

}  // namespace

void trsm_batched(const Executor& executor, const TrsmBatchArgs& args) {
  with_scalar(args.dtype, [&]<class T>(T) { run<T>(executor, args); });
}

}  // namespace trn::blas::host
