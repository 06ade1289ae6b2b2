// Cholesky in lanes: left-looking, tiles of 4 rows and 4 columns (2 and 2 for complex numbers) in registers.
#include "host/lanes/lanes.hpp"

#include <algorithm>

#ifndef __clang__  // GCC speaks of iterations far behind the end of loops over a block's columns
#pragma GCC diagnostic ignored "-Waggressive-loop-optimizations"
#endif

// AVX-512, AVX2 and plain SSE2: every instruction set more is compiled as well.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/lanes/potrf.cpp"
#include <hwy/foreach_target.h>
#include "host/lanes/number-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::solver::host::lanes::HWY_NAMESPACE {

template <class R> std::int64_t count_of() { return width<R>(); }
std::int64_t count_float() { return count_of<float>(); }
std::int64_t count_double() { return count_of<double>(); }

// Rows i .. i + RB - 1 of the columns j .. j + CB - 1, which the diagonal tile t (its diagonal: reciprocals) finishes.
template <class N, int RB, int CB>
HWY_INLINE void rows_below(const Grid<N>& a, std::int64_t i, std::int64_t j, const N (&t)[CB][CB]) {
  N x[RB][CB];
  for (int c = 0; c < CB; ++c) {
    for (int r = 0; r < RB; ++r) x[r][c] = a.load(i + r, j + c);
  }
  for (std::int64_t k = 0; k < j; ++k) {
    N right[CB];
    for (int c = 0; c < CB; ++c) right[c] = a.load(j + c, k).conj();
    for (int r = 0; r < RB; ++r) {
      const N left = a.load(i + r, k);
      for (int c = 0; c < CB; ++c) x[r][c] = sub_mul(x[r][c], left, right[c]);
    }
  }
  for (int c = 0; c < CB; ++c) {
    for (int r = 0; r < RB; ++r) {
      for (int e = 0; e < c; ++e) x[r][c] = sub_mul(x[r][c], x[r][e], t[c][e].conj());
      x[r][c] = x[r][c].times_real(t[c][c].re);
      a.store(i + r, j + c, x[r][c]);
    }
  }
}

template <class N, int CB, class M> HWY_INLINE void columns(const Grid<N>& a, std::int64_t n, std::int64_t j, M& good) {
  using R = typename N::R;
  const Tag<R> d;
  constexpr int kRows = N::kComplex ? 2 : 4;
  N t[CB][CB];
  for (int c = 0; c < CB; ++c) {
    for (int e = 0; e <= c; ++e) t[c][e] = a.load(j + c, j + e);
  }
  for (std::int64_t k = 0; k < j; ++k) {
    N row[CB];
    for (int c = 0; c < CB; ++c) row[c] = a.load(j + c, k);
    for (int c = 0; c < CB; ++c) {
      for (int e = 0; e <= c; ++e) t[c][e] = sub_mul(t[c][e], row[c], row[e].conj());
    }
  }
  for (int e = 0; e < CB; ++e) {
    const auto pivot = t[e][e].re;
    good = hn::And(good, hn::And(hn::Gt(pivot, hn::Set(d, kSmall<R>)), hn::Lt(pivot, hn::Set(d, kLarge<R>))));
    N root = zero<N>();
    root.re = hn::Sqrt(pivot);
    a.store(j + e, j + e, root);
    t[e][e] = zero<N>();
    t[e][e].re = hn::Div(hn::Set(d, R(1)), root.re);
    for (int c = e + 1; c < CB; ++c) {
      t[c][e] = t[c][e].times_real(t[e][e].re);
      a.store(j + c, j + e, t[c][e]);
    }
    for (int c = e + 1; c < CB; ++c) {
      for (int f = e + 1; f <= c; ++f) t[c][f] = sub_mul(t[c][f], t[c][e], t[f][e].conj());
    }
  }
  std::int64_t i = j + CB;
  for (; i + kRows <= n; i += kRows) rows_below<N, kRows, CB>(a, i, j, t);
  for (; i < n; ++i) rows_below<N, 1, CB>(a, i, j, t);
}

template <class N> void potrf_of(std::int64_t n, typename N::R* data, unsigned char* bad) {
  using R = typename N::R;
  const Tag<R> d;
  constexpr int kColumns = N::kComplex ? 2 : 4;
  n = std::min(n, kOrder);  // always; the compiler does not know
  const Grid<N> a(data, n);
  auto sum = hn::Zero(d);
  for (std::int64_t j = 0; j < n; ++j) {
    for (std::int64_t i = j; i < n; ++i) look(a.load(i, j), sum);
  }
  auto good = hn::Eq(sum, hn::Zero(d));
  std::int64_t j = 0;
  for (; j + kColumns <= n; j += kColumns) columns<N, kColumns>(a, n, j, good);
  for (; j < n; ++j) columns<N, 1>(a, n, j, good);
  tell<R>(good, bad);
}
void potrf_s(std::int64_t n, float* a, unsigned char* bad) { potrf_of<Real1<float>>(n, a, bad); }
void potrf_d(std::int64_t n, double* a, unsigned char* bad) { potrf_of<Real1<double>>(n, a, bad); }
void potrf_c(std::int64_t n, float* a, unsigned char* bad) { potrf_of<Complex1<float>>(n, a, bad); }
void potrf_z(std::int64_t n, double* a, unsigned char* bad) { potrf_of<Complex1<double>>(n, a, bad); }

}  // namespace trn::solver::host::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::solver::host::lanes {
HWY_EXPORT(count_float);
HWY_EXPORT(count_double);
HWY_EXPORT(potrf_s);
HWY_EXPORT(potrf_d);
HWY_EXPORT(potrf_c);
HWY_EXPORT(potrf_z);

template <> std::int64_t count<float>() { return HWY_DYNAMIC_DISPATCH(count_float)(); }
template <> std::int64_t count<double>() { return HWY_DYNAMIC_DISPATCH(count_double)(); }
template <> void potrf<float>(std::int64_t n, float* a, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(potrf_s)(n, a, bad);
}
template <> void potrf<double>(std::int64_t n, double* a, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(potrf_d)(n, a, bad);
}
template <> void potrf<std::complex<float>>(std::int64_t n, float* a, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(potrf_c)(n, a, bad);
}
template <> void potrf<std::complex<double>>(std::int64_t n, double* a, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(potrf_z)(n, a, bad);
}
}  // namespace trn::solver::host::lanes
#endif
