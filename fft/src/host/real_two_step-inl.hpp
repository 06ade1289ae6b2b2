// A real line of n = n1 n2 points with a codelet for each factor: short lines without passes.
//
// j = j1 n2 + j2, k = k1 + n1 k2 (line-inl.hpp, FourStep). The sums over j1 are real transforms of the columns j2 in the lanes, and of their results k1 = 0 .. n1/2 are
// enough; those, turned and left in a buffer in the first cache, are loaded by transposition and summed over j2, k1 in the lanes. Lane k1 of row k2 is X_k, or the
// conjugate of X_(n-k) if k > n/2: then the row is stored backwards. From half line to real line the same in reverse order.
// The real side is dense, the half side pairs; loads and stores are masked where a row does not fill the vector. Vectors of 32 bytes: the rows are seldom longer.
#if defined(TRN_FFT_REAL_TWO_STEP_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_FFT_REAL_TWO_STEP_INL
#undef TRN_FFT_REAL_TWO_STEP_INL
#else
#define TRN_FFT_REAL_TWO_STEP_INL
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "host/real_codelets-inl.hpp"
#include "host/tiles-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::fft::host::HWY_NAMESPACE {

inline constexpr std::int64_t kPitch = 16;  // of the buffer's rows and the twiddles

template <class T>
struct RealTwoStepArgs {
  T *real, *half;
  std::int64_t n, n1, n2;
  const T* twiddles;  // w_n^(k1 j2): [k1][2][kPitch] for the columns, or [j2][2][kPitch] and conjugate from half to real
  T* buffer;          // [16][2][kPitch]
  T factor;
};

#if HWY_TARGET != HWY_SCALAR
// R columns of the buffer from row `row` on, one for each lane's row: x[e] = element e.
template <int R, class D, class T>
HWY_INLINE void load_turned(D d, const T* buffer, std::int64_t row, C<D>* x) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D())), piece = kPiece<T>;
  const EvenLines<const T> re{buffer + 2 * row * kPitch, 2 * kPitch}, im{buffer + (2 * row + 1) * kPitch, 2 * kPitch};
  if constexpr (kSquares<D> && R > lanes / 2) {
    HWY_UNROLL(2)
    for (std::int64_t at = 0; at < R; at += lanes) {
      hn::Vec<D> r[lanes], i[lanes];
      load_square(d, re, at, r);
      load_square(d, im, at, i);
      HWY_UNROLL(16)
      for (std::int64_t e = 0; e < HWY_MIN(lanes, R - at); ++e) x[at + e] = {r[e], i[e]};
    }
  } else {
    HWY_UNROLL(8)
    for (std::int64_t at = 0; at < R; at += piece) {
      hn::Vec<D> r[piece], i[piece];
      load_tile(d, re, at, r);
      load_tile(d, im, at, i);
      HWY_UNROLL(4)
      for (std::int64_t e = 0; e < HWY_MIN(piece, R - at); ++e) x[at + e] = {r[e], i[e]};
    }
  }
}
// Lanes first .. end.
template <class D>
HWY_INLINE hn::Mask<D> lanes_between(D d, std::int64_t first, std::int64_t end) {
  const std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const auto until = [&](std::int64_t k) HWY_ATTR { return hn::FirstN(d, static_cast<std::size_t>(std::clamp<std::int64_t>(k, 0, lanes))); };
  return hn::AndNot(until(first), until(end));
}

// Row k2 of the second step from lane `at` = k1 on: lanes below `direct` are points k = n1 k2 + k1 <= n/2 of the half line, lanes mirrored .. count are k > n/2.
struct MirrorRow {
  std::int64_t direct, mirrored, count;
  MirrorRow(std::int64_t n, std::int64_t n1, std::int64_t k2, std::int64_t at, std::int64_t lanes) {
    count = std::min(lanes, n1 / 2 + 1 - at);
    direct = std::clamp<std::int64_t>(n / 2 - n1 * k2 - at + 1, 0, count);
    mirrored = direct;
  }
};

// Points first .. end of the lanes of x, as pairs from p on.
template <class D, class T>
HWY_INLINE void store_some(D d, T* p, std::int64_t first, std::int64_t end, C<D> x) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  hn::Vec<D> a, b;
  join_pairs(d, x.r, x.i, a, b);
  if (first == 0 && end == lanes) {
    hn::StoreU(a, d, p);
    hn::StoreU(b, d, p + lanes);
  } else {
    hn::BlendedStore(a, lanes_between(d, 2 * first, 2 * end), d, p);
    hn::BlendedStore(b, lanes_between(d, 2 * first - lanes, 2 * end - lanes), d, p + lanes);
  }
}
template <class D, class T>
HWY_INLINE C<D> load_some(D d, const T* p, std::int64_t first, std::int64_t end) {
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  hn::Vec<D> a, b;
  if (first == 0 && end == lanes) {
    a = hn::LoadU(d, p);
    b = hn::LoadU(d, p + lanes);
  } else {
    a = hn::MaskedLoad(lanes_between(d, 2 * first, 2 * end), d, p);
    b = hn::MaskedLoad(lanes_between(d, 2 * first - lanes, 2 * end - lanes), d, p + lanes);
  }
  return {hn::ConcatEven(d, b, a), hn::ConcatOdd(d, b, a)};
}

// There, first step: columns.
template <int R, class D, class T>
HWY_NOINLINE void real_columns(const RealTwoStepArgs<T>& args) {
  const D d;
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const RealTwoStepArgs<T> a = args;
  for (std::int64_t c = 0; c < a.n2; c += lanes) {
    hn::Vec<D> x[R];
    C<D> y[R / 2 + 1];
    const T* in = a.real + c;
    if (a.n2 - c >= lanes) {
      HWY_UNROLL(16)
      for (int j = 0; j < R; ++j, in += a.n2) x[j] = hn::LoadU(d, in);
    } else {
      const auto mask = hn::FirstN(d, static_cast<std::size_t>(a.n2 - c));
      HWY_UNROLL(16)
      for (int j = 0; j < R; ++j, in += a.n2) x[j] = hn::MaskedLoad(mask, d, in);
    }
    real_dft<R>(d, x, y);
    hn::StoreU(y[0].r, d, a.buffer + c);
    hn::StoreU(hn::Zero(d), d, a.buffer + kPitch + c);
    HWY_UNROLL(8)
    for (int k = 1; k <= R / 2; ++k) {
      const T* w = a.twiddles + 2 * k * kPitch + c;
      const C<D> turn = {hn::LoadU(d, w), hn::LoadU(d, w + kPitch)};
      const C<D> z = 2 * k == R ? C<D>{hn::Mul(y[k].r, turn.r), hn::Mul(y[k].r, turn.i)} : times(d, y[k], turn);
      hn::StoreU(z.r, d, a.buffer + 2 * k * kPitch + c);
      hn::StoreU(z.i, d, a.buffer + (2 * k + 1) * kPitch + c);
    }
  }
}
// There, second step.
template <int R, class D, class T>
HWY_NOINLINE void half_rows_out(const RealTwoStepArgs<T>& args) {
  const D d;
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const RealTwoStepArgs<T> a = args;
  const std::int64_t last = (a.n1 - 1) / 2;  // the lanes beyond it, and lane 0, have no mirror image
  for (std::int64_t at = 0; at <= a.n1 / 2; at += lanes) {
    C<D> x[R];
    load_turned<R>(d, a.buffer, at, x);
    dft<R>(d, x);
    if (a.factor != T(1)) scale<R>(d, x, a.factor);
    HWY_UNROLL(16)
    for (int k2 = 0; k2 < R; ++k2) {
      const MirrorRow row(a.n, a.n1, k2, at, lanes);
      if (2 * k2 <= R && row.direct > 0) store_some(d, a.half + 2 * (a.n1 * k2 + at), 0, row.direct, x[k2]);
      const std::int64_t first = std::max<std::int64_t>(row.mirrored, at == 0 ? 1 : 0), end = std::min(row.count, last + 1 - at);
      if (2 * k2 + 1 >= R && first < end)
        store_some(d, a.half + 2 * (a.n1 * (a.n2 - k2) - at - lanes + 1), lanes - end, lanes - first, C<D>{hn::Reverse(d, x[k2].r), hn::Reverse(d, hn::Neg(x[k2].i))});
    }
  }
  a.half[1] = T(0);
  if (a.n % 2 == 0) a.half[a.n + 1] = T(0);
}
// Back, first step.
template <int R, class D, class T>
HWY_NOINLINE void half_rows_in(const RealTwoStepArgs<T>& args) {
  const D d;
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const RealTwoStepArgs<T> a = args;
  for (std::int64_t at = 0; at <= a.n1 / 2; at += lanes) {
    C<D> x[R];
    HWY_UNROLL(16)
    for (int k2 = 0; k2 < R; ++k2) {
      const MirrorRow row(a.n, a.n1, k2, at, lanes);
      x[k2] = {hn::Zero(d), hn::Zero(d)};
      if (2 * k2 <= R && row.direct > 0) x[k2] = load_some(d, a.half + 2 * (a.n1 * k2 + at), 0, row.direct);
      if (2 * k2 + 1 >= R && row.mirrored < row.count) {
        const C<D> z = load_some(d, a.half + 2 * (a.n1 * (a.n2 - k2) - at - lanes + 1), lanes - row.count, lanes - row.mirrored);
        x[k2] = {hn::Or(x[k2].r, hn::Reverse(d, z.r)), hn::Or(x[k2].i, hn::IfThenElseZero(lanes_between(d, row.mirrored, row.count), hn::Neg(hn::Reverse(d, z.i))))};
      }
    }
    // The imaginary parts of points 0 and n/2 are not used.
    const auto drop = [&](int k2, std::int64_t k1) HWY_ATTR { x[k2].i = hn::IfThenZeroElse(lanes_between(d, k1 - at, k1 - at + 1), x[k2].i); };
    drop(0, 0);
    if (R % 2 == 0) drop(R / 2, 0);
    else if (a.n % 2 == 0) drop(R / 2, a.n1 / 2);
    inverse_dft<R>(d, x);
    HWY_UNROLL(16)
    for (int j = 0; j < R; ++j) {
      const T* w = a.twiddles + 2 * j * kPitch + at;
      const C<D> z = j == 0 ? x[0] : times(d, x[j], C<D>{hn::LoadU(d, w), hn::LoadU(d, w + kPitch)});
      hn::StoreU(z.r, d, a.buffer + 2 * j * kPitch + at);
      hn::StoreU(z.i, d, a.buffer + (2 * j + 1) * kPitch + at);
    }
  }
}
// Back, second step.
template <int R, class D, class T>
HWY_NOINLINE void real_columns_out(const RealTwoStepArgs<T>& args) {
  const D d;
  constexpr std::int64_t lanes = static_cast<std::int64_t>(hn::MaxLanes(D()));
  const RealTwoStepArgs<T> a = args;
  for (std::int64_t c = 0; c < a.n2; c += lanes) {
    hn::Vec<D> x[R];
    C<D> y[R / 2 + 1];
    load_turned<R / 2 + 1>(d, a.buffer, c, y);
    half_dft<R>(d, y, x);
    if (a.factor != T(1)) {
      const auto by = hn::Set(d, a.factor);
      HWY_UNROLL(16)
      for (int j = 0; j < R; ++j) x[j] = hn::Mul(x[j], by);
    }
    T* out = a.real + c;
    if (a.n2 - c >= lanes) {
      HWY_UNROLL(16)
      for (int j = 0; j < R; ++j, out += a.n2) hn::StoreU(x[j], d, out);
    } else {
      const auto mask = hn::FirstN(d, static_cast<std::size_t>(a.n2 - c));
      HWY_UNROLL(16)
      for (int j = 0; j < R; ++j, out += a.n2) hn::BlendedStore(x[j], mask, d, out);
    }
  }
}
#endif

// The steps' functions, for a radix and a vector.
enum class RealStep { Columns, RowsOut, RowsIn, ColumnsOut };
template <class T>
using RealTwoStepFunction = void (*)(const RealTwoStepArgs<T>&);
template <RealStep kStep, class T>
struct RealTwoStepTable {
  template <int R, class D>
  static void run([[maybe_unused]] const RealTwoStepArgs<T>& a) {
#if HWY_TARGET != HWY_SCALAR
    if constexpr (kStep == RealStep::Columns) real_columns<R, D>(a);
    if constexpr (kStep == RealStep::RowsOut) half_rows_out<R, D>(a);
    if constexpr (kStep == RealStep::RowsIn) half_rows_in<R, D>(a);
    if constexpr (kStep == RealStep::ColumnsOut) real_columns_out<R, D>(a);
#endif
  }
  static RealTwoStepFunction<T> of(std::int64_t radix) {
    using D = hn::CappedTag<T, 32 / sizeof(T)>;
    constexpr bool rows = kStep == RealStep::RowsOut || kStep == RealStep::RowsIn;
    switch (radix) {
      case 3: return run<3, D>;
      case 4: return run<4, D>;
      case 5: return run<5, D>;
      case 6: return run<6, D>;
      case 7: return run<7, D>;
      case 8: return run<8, D>;
      case 9: return run<9, D>;
      case 10: return run<10, D>;
      case 12: return run<12, D>;
      case 15: return run<15, D>;
      case 16: return run<16, D>;
      default: break;
    }
    if constexpr (rows) {
      if (radix == 2) return run<2, D>;
      if (radix == 11) return run<11, D>;
      if (radix == 13) return run<13, D>;
    }
    return nullptr;
  }
};

}  // namespace trn::fft::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
