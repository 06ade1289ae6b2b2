// LU with partial pivoting in lanes: right-looking panels of four columns, the trailing columns updated with a 4 x 4
// (complex: 4 x 2) block of U in registers. Each lane has its own pivot row.
#include "host/lanes/lanes.hpp"

#include <algorithm>
#include <utility>

// AVX-512, AVX2 and plain SSE2: every instruction set more is compiled as well.
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4 | HWY_AVX3_DL)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "host/lanes/getrf.cpp"
#include <hwy/foreach_target.h>
#include "host/lanes/number-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::solver::host::lanes::HWY_NAMESPACE {

// A row for each lane, as an offset from the begin of a column.
template <class N> using Offsets = hn::Vec<hn::RebindToSigned<Tag<typename N::R>>>;
template <class N> HWY_INLINE N gather(const typename N::R* column, Offsets<N> at) {
  const Tag<typename N::R> d;
  if constexpr (N::kComplex) {
    return {hn::GatherIndex(d, column, at), hn::GatherIndex(d, column + width<typename N::R>(), at)};
  } else {
    return {hn::GatherIndex(d, column, at)};
  }
}
template <class N> HWY_INLINE void scatter(N x, typename N::R* column, Offsets<N> at) {
  const Tag<typename N::R> d;
  hn::ScatterIndex(x.re, d, column, at);
  if constexpr (N::kComplex) hn::ScatterIndex(x.im, d, column + width<typename N::R>(), at);
}
template <class N, class M> HWY_INLINE N choose(M mask, N yes, N no) {
  no.re = hn::IfThenElse(mask, yes.re, no.re);
  if constexpr (N::kComplex) no.im = hn::IfThenElse(mask, yes.im, no.im);
  return no;
}

// One column of the panel k0 .. k0 + KB - 1: pivot, exchange within the panel, divide, update the panel's columns right
// of it. The pivot row is picked up on the way through the column; the row that it changes places with is put down on
// the way back.
template <class N, int KB, int C, class M>
HWY_INLINE void panel_column(const Grid<N>& a, std::int64_t m, std::int64_t k0, int* pivots, M& good) {
  using R = typename N::R;
  const Tag<R> d;
  constexpr int kRight = KB - C;  // columns from this one on, and the ones left of it, which are exchanged alone
  const std::int64_t k = k0 + C, lanes = width<R>();
  N old[KB], u[KB];
  for (int c = 0; c < KB; ++c) old[c] = u[c] = a.load(k, k0 + c);
  auto best = u[C].size();
  auto row = hn::Set(d, static_cast<R>(k));
  for (std::int64_t i = k + 1; i < m; ++i) {
    const N x = a.load(i, k);
    const auto size = x.size();
    const auto larger = hn::Gt(size, best);
    best = hn::IfThenElse(larger, size, best);
    row = hn::IfThenElse(larger, hn::Set(d, static_cast<R>(i)), row);
    u[C] = choose(larger, x, u[C]);
    for (int c = 0; c < KB; ++c) {
      if (c != C) u[c] = choose(larger, a.load(i, k0 + c), u[c]);
    }
  }
  good = hn::And(good, hn::And(hn::Gt(best, hn::Set(d, kSmall<R>)), hn::Lt(best, hn::Set(d, kLarge<R>))));
  HWY_ALIGN R rows[HWY_MAX_BYTES / sizeof(R)];
  hn::Store(row, d, rows);
  for (std::int64_t l = 0; l < lanes; ++l) pivots[k * lanes + l] = static_cast<int>(rows[l]);
  for (int c = 0; c < KB; ++c) a.store(k, k0 + c, u[c]);
  const N inverse = reciprocal(u[C]);
  for (std::int64_t i = k + 1; i < m; ++i) {
    const auto here = hn::Eq(row, hn::Set(d, static_cast<R>(i)));
    for (int c = 0; c < C; ++c) a.store(i, k0 + c, choose(here, old[c], a.load(i, k0 + c)));
    const N l = mul(choose(here, old[C], a.load(i, k)), inverse);
    a.store(i, k, l);
    for (int c = C + 1; c < C + kRight; ++c) {
      a.store(i, k0 + c, sub_mul(choose(here, old[c], a.load(i, k0 + c)), l, u[c]));
    }
  }
}

struct Rows {
  unsigned char row[kOrder];
};
constexpr Rows in_order() {
  Rows r{};
  for (int i = 0; i < static_cast<int>(kOrder); ++i) r.row[i] = static_cast<unsigned char>(i);
  return r;
}
inline constexpr Rows kInOrder = in_order();

// Where the panel's exchanges bring rows: row k + p gets what was at from[p], and what was in row k + p goes to to[p].
template <class N, int KB> struct Moves {
  Offsets<N> from[KB], to[KB];
  Moves(const Grid<N>& a, std::int64_t k, const int* pivots) {
    using R = typename N::R;
    using I = hwy::SignedFromSize<sizeof(R)>;
    const hn::RebindToSigned<Tag<R>> d;
    const std::int64_t lanes = width<R>();
    HWY_ALIGN I f[KB][HWY_MAX_BYTES / sizeof(I)], t[KB][HWY_MAX_BYTES / sizeof(I)];
    for (std::int64_t l = 0; l < lanes; ++l) {
      Rows at = kInOrder;  // which row lies here now
      for (int p = 0; p < KB; ++p) std::swap(at.row[k + p], at.row[pivots[(k + p) * lanes + l]]);
      for (int p = 0; p < KB; ++p) {
        f[p][l] = static_cast<I>(at.row[k + p] * a.step + l);
        t[p][l] = static_cast<I>((k + p) * a.step + l);  // overwritten below, or by the rows that come here
      }
      for (int p = 0; p < KB; ++p) {
        const int place = pivots[(k + p) * lanes + l];
        const std::int64_t row = at.row[place];
        if (row < k + KB) t[row - k][l] = static_cast<I>(place * a.step + l);
      }
    }
    for (int p = 0; p < KB; ++p) from[p] = hn::Load(d, f[p]), to[p] = hn::Load(d, t[p]);
  }
};

// The columns j .. j + CB - 1 right of the panel.
template <class N, int KB, int CB>
HWY_INLINE void update(const Grid<N>& a, std::int64_t m, std::int64_t k, std::int64_t j, const Moves<N, KB>& moves) {
  N u[KB][CB];
  for (int c = 0; c < CB; ++c) {
    auto* column = a.at(0, j + c);
    N old[KB];
    for (int p = 0; p < KB; ++p) old[p] = a.load(k + p, j + c), u[p][c] = gather<N>(column, moves.from[p]);
    for (int p = 0; p < KB; ++p) scatter(old[p], column, moves.to[p]);
  }
  for (int p = 0; p < KB; ++p) {
    for (int c = 0; c < CB; ++c) {
      for (int q = 0; q < p; ++q) u[p][c] = sub_mul(u[p][c], a.load(k + p, k + q), u[q][c]);
      a.store(k + p, j + c, u[p][c]);
    }
  }
  for (std::int64_t i = k + KB; i < m; ++i) {
    N x[CB];
    for (int c = 0; c < CB; ++c) x[c] = a.load(i, j + c);
    for (int p = 0; p < KB; ++p) {
      const N l = a.load(i, k + p);
      for (int c = 0; c < CB; ++c) x[c] = sub_mul(x[c], l, u[p][c]);
    }
    for (int c = 0; c < CB; ++c) a.store(i, j + c, x[c]);
  }
}

template <class N, int KB, class M>
HWY_INLINE void panel(const Grid<N>& a, std::int64_t m, std::int64_t n, std::int64_t k, int* pivots, M& good) {
  constexpr int kColumns = N::kComplex ? 2 : 4;
  panel_column<N, KB, 0>(a, m, k, pivots, good);
  if constexpr (KB > 1) {
    panel_column<N, KB, 1>(a, m, k, pivots, good);
    panel_column<N, KB, 2>(a, m, k, pivots, good);
    panel_column<N, KB, 3>(a, m, k, pivots, good);
  }
  if (k + KB == n) return;
  const Moves<N, KB> moves(a, k, pivots);
  std::int64_t j = k + KB;
  for (; j + kColumns <= n; j += kColumns) update<N, KB, kColumns>(a, m, k, j, moves);
  for (; j < n; ++j) update<N, KB, 1>(a, m, k, j, moves);
}

template <class N> void getrf_of(std::int64_t m, std::int64_t n, typename N::R* data, int* pivots, unsigned char* bad) {
  using R = typename N::R;
  const Tag<R> d;
  m = std::min(m, kOrder), n = std::min(n, kOrder);  // always; the compiler does not know
  const Grid<N> a(data, m);
  auto sum = hn::Zero(d);
  for (std::int64_t e = 0; e < m * n; ++e) look(N::load(data + e * a.step), sum);
  auto good = hn::Eq(sum, hn::Zero(d));
  const std::int64_t least = std::min(m, n);
  std::int64_t k = 0;
  for (; k + 4 <= least; k += 4) panel<N, 4>(a, m, n, k, pivots, good);
  for (; k < least; ++k) panel<N, 1>(a, m, n, k, pivots, good);
  sum = hn::Zero(d);  // growth may have overflowed
  for (std::int64_t e = 0; e < m * n; ++e) look(N::load(data + e * a.step), sum);
  tell<R>(hn::And(good, hn::Eq(sum, hn::Zero(d))), bad);
}
void getrf_s(std::int64_t m, std::int64_t n, float* a, int* p, unsigned char* bad) {
  getrf_of<Real1<float>>(m, n, a, p, bad);
}
void getrf_d(std::int64_t m, std::int64_t n, double* a, int* p, unsigned char* bad) {
  getrf_of<Real1<double>>(m, n, a, p, bad);
}
void getrf_c(std::int64_t m, std::int64_t n, float* a, int* p, unsigned char* bad) {
  getrf_of<Complex1<float>>(m, n, a, p, bad);
}
void getrf_z(std::int64_t m, std::int64_t n, double* a, int* p, unsigned char* bad) {
  getrf_of<Complex1<double>>(m, n, a, p, bad);
}

}  // namespace trn::solver::host::lanes::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace trn::solver::host::lanes {
HWY_EXPORT(getrf_s);
HWY_EXPORT(getrf_d);
HWY_EXPORT(getrf_c);
HWY_EXPORT(getrf_z);

template <> void getrf<float>(std::int64_t m, std::int64_t n, float* a, int* p, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(getrf_s)(m, n, a, p, bad);
}
template <> void getrf<double>(std::int64_t m, std::int64_t n, double* a, int* p, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(getrf_d)(m, n, a, p, bad);
}
template <> void getrf<std::complex<float>>(std::int64_t m, std::int64_t n, float* a, int* p, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(getrf_c)(m, n, a, p, bad);
}
template <> void getrf<std::complex<double>>(std::int64_t m, std::int64_t n, double* a, int* p, unsigned char* bad) {
  HWY_DYNAMIC_DISPATCH(getrf_z)(m, n, a, p, bad);
}
}  // namespace trn::solver::host::lanes
#endif
