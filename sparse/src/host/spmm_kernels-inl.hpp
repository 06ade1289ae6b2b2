// The bodies of spmm_kernels.hpp, included once per instruction set.
//
// A row of Csr is summed in four interleaved partial sums (two chains for complex), so that the latency of an addition
// is hidden; a row with several columns keeps up to eight vectors of C in registers while its entries go by. Complex
// products keep two real sums, of re(a) b and im(a) b: B is used as it lies, and the two meet once a row.
#if defined(TRN_SPARSE_SPMM_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TRN_SPARSE_SPMM_KERNELS_INL
#undef TRN_SPARSE_SPMM_KERNELS_INL
#else
#define TRN_SPARSE_SPMM_KERNELS_INL
#endif

#include <hwy/highway.h>

#include "host/spmm_kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace trn::sparse::host::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// a + b c, rounded once where the machine can.
HWY_INLINE double multiply_add(double b, double c, double a) {
  return HWY_NATIVE_FMA ? __builtin_fma(b, c, a) : a + b * c;
}
HWY_INLINE float multiply_add(float b, float c, float a) {
  return HWY_NATIVE_FMA ? __builtin_fmaf(b, c, a) : a + b * c;
}

// The sum of products of one type: the real number, or the two real sums of a complex one.
template <class T> struct Sum {
  T s = 0;
  HWY_INLINE void add(T a, T b) { s = multiply_add(a, b, s); }
  HWY_INLINE void add(const Sum& o) { s += o.s; }
  [[nodiscard]] HWY_INLINE T value() const { return s; }
};
template <class R> struct Sum<std::complex<R>> {
  R rr = 0, ri = 0, ir = 0, ii = 0;  // re re, re im, im re, im im
  HWY_INLINE void add(std::complex<R> a, std::complex<R> b) {
    rr = multiply_add(a.real(), b.real(), rr);
    ri = multiply_add(a.real(), b.imag(), ri);
    ir = multiply_add(a.imag(), b.real(), ir);
    ii = multiply_add(a.imag(), b.imag(), ii);
  }
  HWY_INLINE void add(const Sum& o) { rr += o.rr, ri += o.ri, ir += o.ir, ii += o.ii; }
  [[nodiscard]] HWY_INLINE std::complex<R> value() const { return {rr - ii, ri + ir}; }
};

template <class T> HWY_INLINE T product(T a, T b) { return a * b; }
template <class R> HWY_INLINE std::complex<R> product(std::complex<R> a, std::complex<R> b) {
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

template <class T> HWY_INLINE void finish(const Output<T>& out, std::int64_t row, std::int64_t column, T sum) {
  T* at = out.c + row * out.row_stride + column * out.column_stride;
  const T scaled = out.alpha == T(1) ? sum : product(out.alpha, sum);
  *at = out.beta == T(0) ? scaled : scaled + product(out.beta, *at);
}

template <class T, class I>
HWY_INLINE void csr_vector_here(const CsrArgs<T, I>& g, std::int64_t begin, std::int64_t end) {
  const T* HWY_RESTRICT values = g.values;
  const I* HWY_RESTRICT indices = g.indices;
  const T* HWY_RESTRICT x = g.in.b;
  constexpr int kChains = ComplexScalar<T> ? 1 : 4;
  std::int64_t k = g.offsets[begin];
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t stop = g.offsets[i + 1];
    Sum<T> sum[kChains];
    if constexpr (kChains == 4) {
      for (; k + 4 <= stop; k += 4) {
        for (int c = 0; c < 4; ++c) sum[c].add(values[k + c], x[indices[k + c]]);
      }
      sum[0].add(sum[1]), sum[2].add(sum[3]), sum[0].add(sum[2]);
    }
    for (; k < stop; ++k) sum[0].add(values[k], x[indices[k]]);
    finish(g.out, i, 0, sum[0].value());
  }
}

// kVectors vectors of C's row i from column j on; entries end at `last`.
constexpr std::int64_t kAhead = 8;  // entries from the one whose row of B is fetched to the one that is multiplied
template <int kVectors, bool kFar, class D, class T, class I>
HWY_INLINE void panel_row(D d, const CsrArgs<T, I>& g, std::int64_t i, std::int64_t j, std::int64_t last) {
  using R = Real<T>;
  constexpr bool complex = ComplexScalar<T>;
  constexpr int kParts = complex ? 2 : 1;
  const std::int64_t lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<D> sum[kParts][kVectors];
  for (int p = 0; p < kParts; ++p) {
    for (int v = 0; v < kVectors; ++v) sum[p][v] = hn::Zero(d);
  }
  const R* values = reinterpret_cast<const R*>(g.values);
  for (std::int64_t k = g.offsets[i]; k < g.offsets[i + 1]; ++k) {
    if constexpr (kFar) {
      const char* soon =
          reinterpret_cast<const char*>(g.in.b + g.indices[k + (k + kAhead < last ? kAhead : 0)] * g.in.b_stride + j);
      for (std::size_t line = 0; line < kVectors * sizeof(hn::Vec<D>); line += 64) __builtin_prefetch(soon + line);
    }
    const R* b = reinterpret_cast<const R*>(g.in.b + g.indices[k] * g.in.b_stride + j);
    const auto re = hn::Set(d, values[kParts * k]), im = hn::Set(d, values[kParts * k + kParts - 1]);
    for (int v = 0; v < kVectors; ++v) {
      const auto row = hn::LoadU(d, b + v * lanes);
      sum[0][v] = hn::MulAdd(re, row, sum[0][v]);
      if constexpr (complex) sum[1][v] = hn::MulAdd(im, row, sum[1][v]);
    }
  }
  if constexpr (!complex) {
    if (g.out.column_stride == 1) {
      R* c = g.out.c + i * g.out.row_stride + j;
      const auto alpha = hn::Set(d, g.out.alpha), beta = hn::Set(d, g.out.beta);
      for (int v = 0; v < kVectors; ++v) {
        auto y = hn::Mul(alpha, sum[0][v]);
        if (g.out.beta != R(0)) y = hn::Add(y, hn::Mul(beta, hn::LoadU(d, c + v * lanes)));
        hn::StoreU(y, d, c + v * lanes);
      }
      return;
    }
  }
  HWY_ALIGN R parts[kParts][kVectors * hn::MaxLanes(d)];
  for (int p = 0; p < kParts; ++p) {
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[p][v], d, parts[p] + v * lanes);
  }
  for (std::int64_t n = 0; n < kVectors * lanes / kParts; ++n) {
    if constexpr (complex)
      finish(g.out, i, j + n, T(parts[0][2 * n] - parts[1][2 * n + 1], parts[0][2 * n + 1] + parts[1][2 * n]));
    else
      finish(g.out, i, j + n, parts[0][n]);
  }
}

template <int kVectors, class D, class T, class I>
HWY_INLINE void panel_rows(D d, const CsrArgs<T, I>& g, std::int64_t begin, std::int64_t end, std::int64_t j) {
  const std::int64_t last = g.offsets[end];
  if (g.far) {
    for (std::int64_t i = begin; i < end; ++i) panel_row<kVectors, true>(d, g, i, j, last);
  } else {
    for (std::int64_t i = begin; i < end; ++i) panel_row<kVectors, false>(d, g, i, j, last);
  }
}

// Columns that fill no vector, at most kRest of them.
constexpr std::int64_t kRest = 32;
template <class T, class I> HWY_INLINE void panel_rest(const CsrArgs<T, I>& g, std::int64_t begin, std::int64_t end,
                                                       std::int64_t j, std::int64_t count) {
  for (std::int64_t i = begin; i < end; ++i) {
    Sum<T> sum[kRest];
    for (std::int64_t k = g.offsets[i]; k < g.offsets[i + 1]; ++k) {
      const T* b = g.in.b + g.indices[k] * g.in.b_stride + j;
      for (std::int64_t n = 0; n < count; ++n) sum[n].add(g.values[k], b[n]);
    }
    for (std::int64_t n = 0; n < count; ++n) finish(g.out, i, j + n, sum[n].value());
  }
}

template <class T, class I>
HWY_INLINE void csr_panel_here(const CsrArgs<T, I>& g, std::int64_t begin, std::int64_t end) {
  const hn::ScalableTag<Real<T>> d;
  constexpr int kParts = ComplexScalar<T> ? 2 : 1;
  // Columns in a vector, and vectors whose sums fit the registers.
  const std::int64_t width = static_cast<std::int64_t>(hn::Lanes(d)) / kParts;
  std::int64_t j = 0;
  if (width > 0) {
    for (; ComplexScalar<T> == false && j + 8 * width <= g.in.columns; j += 8 * width)
      panel_rows<8>(d, g, begin, end, j);
    for (; j + 4 * width <= g.in.columns; j += 4 * width) panel_rows<4>(d, g, begin, end, j);
    for (; j + 2 * width <= g.in.columns; j += 2 * width) panel_rows<2>(d, g, begin, end, j);
    for (; j + width <= g.in.columns; j += width) panel_rows<1>(d, g, begin, end, j);
  }
  for (; j < g.in.columns; j += kRest) panel_rest(g, begin, end, j, std::min(kRest, g.in.columns - j));
}

template <class T> HWY_INLINE void sell_vector_here(const SellArgs<T>& g, std::int64_t begin, std::int64_t end) {
  for (std::int64_t s = begin; s < end; ++s) {
    const std::int32_t* lengths = g.lengths + s * kSliceHeight;
    const std::int32_t full = lengths[kSliceHeight - 1];  // rows are sorted, longest first
    const std::int32_t* HWY_RESTRICT indices = g.indices + g.offsets[s];
    const T* HWY_RESTRICT values = g.values + g.offsets[s];
    HWY_ALIGN T sums[kSliceHeight];
    if constexpr (RealScalar<T> && sizeof(T) == 4) {
      const hn::CappedTag<T, kSliceHeight> d;
      const hn::RebindToSigned<decltype(d)> di;
      const hn::Rebind<std::int32_t, decltype(d)> d32;
      constexpr int kVectors = static_cast<int>(kSliceHeight / hn::MaxLanes(d));
      const int lanes = static_cast<int>(hn::Lanes(d));
      hn::Vec<decltype(d)> sum[kVectors];
      for (int v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
      for (std::int32_t k = 0; k < full; ++k, indices += kSliceHeight, values += kSliceHeight) {
        for (int v = 0; v < kVectors; ++v) {
          const auto narrow = hn::LoadU(d32, indices + v * lanes);
          hn::Vec<decltype(d)> x;
          if constexpr (sizeof(T) == 8)
            x = hn::GatherIndex(d, g.x, hn::PromoteTo(di, narrow));
          else
            x = hn::GatherIndex(d, g.x, narrow);
          sum[v] = hn::MulAdd(hn::LoadU(d, values + v * lanes), x, sum[v]);
        }
      }
      for (int v = 0; v < kVectors; ++v) hn::Store(sum[v], d, sums + v * lanes);
    } else {
      Sum<T> sum[kSliceHeight];
      for (std::int32_t k = 0; k < full; ++k, indices += kSliceHeight, values += kSliceHeight) {
        HWY_UNROLL(8)
        for (int l = 0; l < kSliceHeight; ++l) sum[l].add(values[l], g.x[indices[l]]);
      }
      for (int l = 0; l < kSliceHeight; ++l) sums[l] = sum[l].value();
    }
    const std::int64_t count = std::min(kSliceHeight, g.rows - s * kSliceHeight);
    for (std::int64_t l = 0; l < count; ++l) {
      Sum<T> more;
      const std::int32_t rest = lengths[l] - full;
      for (std::int32_t k = 0; k < rest; ++k) more.add(values[k], g.x[indices[k]]);
      indices += rest, values += rest;
      finish(g.out, g.order[s * kSliceHeight + l], 0, rest > 0 ? sums[l] + more.value() : sums[l]);
    }
  }
}

template <int kR, int kC, class T> HWY_INLINE void bsr_rows(const BsrArgs<T>& g, std::int64_t begin, std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    Sum<T> sum[kR][kC];  // one for each place of a block: as many chains of additions
    for (std::int64_t k = g.offsets[i]; k < g.offsets[i + 1]; ++k) {
      const T* HWY_RESTRICT block = g.values + k * kR * kC;
      const T* HWY_RESTRICT x = g.x + static_cast<std::int64_t>(g.indices[k]) * kC;
      for (int r = 0; r < kR; ++r) {
        for (int c = 0; c < kC; ++c) sum[r][c].add(block[r * kC + c], x[c]);
      }
    }
    for (int r = 0; r < kR; ++r) {
      for (int c = 1; c < kC; ++c) sum[r][0].add(sum[r][c]);
      finish(g.out, i * kR + r, 0, sum[r][0].value());
    }
  }
}

// The same sums in the same order, four lanes at a time: 2 x 2 blocks in one vector, 4 x 4 blocks in four.
#if HWY_TARGET != HWY_SCALAR
template <int kR> HWY_INLINE bool bsr_double(const BsrArgs<double>& g, std::int64_t begin, std::int64_t end) {
  const hn::CappedTag<double, 4> d;
  if (hn::Lanes(d) != 4) return false;
  constexpr int kVectors = kR * kR / 4;
  for (std::int64_t i = begin; i < end; ++i) {
    hn::Vec<decltype(d)> sum[kVectors];
    for (int v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
    for (std::int64_t k = g.offsets[i]; k < g.offsets[i + 1]; ++k) {
      const double* HWY_RESTRICT block = g.values + k * kR * kR;
      const double* HWY_RESTRICT from = g.x + static_cast<std::int64_t>(g.indices[k]) * kR;
      hn::Vec<decltype(d)> x;
      if constexpr (kR == 2)
        x = hn::LoadDup128(d, from);
      else
        x = hn::LoadU(d, from);
      for (int v = 0; v < kVectors; ++v) sum[v] = hn::MulAdd(hn::LoadU(d, block + 4 * v), x, sum[v]);
    }
    HWY_ALIGN double parts[kR][kR];
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, &parts[0][0] + 4 * v);
    for (int r = 0; r < kR; ++r) {
      for (int c = 1; c < kR; ++c) parts[r][0] += parts[r][c];
      finish(g.out, i * kR + r, 0, parts[r][0]);
    }
  }
  return true;
}
#endif

// Any block size, also blocks that hang over the matrix.
template <class T> HWY_INLINE void bsr_any(const BsrArgs<T>& g, std::int64_t begin, std::int64_t end) {
  for (std::int64_t row = begin * g.r; row < std::min(g.rows, end * g.r); ++row) {
    Sum<T> sum;
    for (std::int64_t k = g.offsets[row / g.r]; k < g.offsets[row / g.r + 1]; ++k) {
      const T* block = g.values + (k * g.r + row % g.r) * g.c;
      const std::int64_t first = static_cast<std::int64_t>(g.indices[k]) * g.c,
                         width = std::min(g.c, g.columns - first);
      for (std::int64_t c = 0; c < width; ++c) sum.add(block[c], g.x[first + c]);
    }
    finish(g.out, row, 0, sum.value());
  }
}

template <class T> HWY_INLINE void bsr_vector_here(const BsrArgs<T>& g, std::int64_t begin, std::int64_t end) {
  const bool whole = g.rows % g.r == 0 && g.columns % g.c == 0;
#if HWY_TARGET != HWY_SCALAR
  if constexpr (std::is_same_v<T, double>) {
    if (whole && g.r == 2 && g.c == 2 && bsr_double<2>(g, begin, end)) return;
    if (whole && g.r == 4 && g.c == 4 && bsr_double<4>(g, begin, end)) return;
  }
#endif
  if (whole && g.r == 2 && g.c == 2) return bsr_rows<2, 2>(g, begin, end);
  if (whole && g.r == 3 && g.c == 3) return bsr_rows<3, 3>(g, begin, end);
  if (whole && g.r == 4 && g.c == 4) return bsr_rows<4, 4>(g, begin, end);
  bsr_any(g, begin, end);
}

template <class T> HWY_INLINE void dia_vector_here(const DiaArgs<T>& g, std::int64_t begin, std::int64_t end) {
  constexpr std::int64_t kBlock = 256;
  Sum<T> sum[kBlock];
  for (std::int64_t first = begin; first < end; first += kBlock) {
    const std::int64_t last = std::min(end, first + kBlock);
    for (std::int64_t i = first; i < last; ++i) sum[i - first] = {};
    for (std::int64_t k = 0; k < g.count; ++k) {
      const std::int64_t d = g.diagonals[k], from = std::max(first, -d), to = std::min(last, g.columns - d);
      const T* HWY_RESTRICT values = g.values + k * g.rows;
      const T* HWY_RESTRICT x = g.x + d;
      for (std::int64_t i = from; i < to; ++i) sum[i - first].add(values[i], x[i]);
    }
    for (std::int64_t i = first; i < last; ++i) finish(g.out, i, 0, sum[i - first].value());
  }
}

// A row at a time, for complex numbers and machines without masked loads.
template <class T> HWY_INLINE void band_block(const BandArgs<T>& g, std::int64_t block) {
  const std::int64_t base = block * kBandRows, last = std::min(kBandRows, g.rows - base);
  for (std::int64_t r = 0; r < last; ++r) {
    Sum<T> sum;
    for (std::int64_t k = 0; k < g.count; ++k) {
      const std::int64_t at = block * g.count + k;
      if ((g.masks[at] >> r & 1) != 0) sum.add(g.values[at * kBandRows + r], g.x[base + r + g.diagonals[k]]);
    }
    finish(g.out, base + r, 0, sum.value());
  }
}

#if HWY_TARGET <= HWY_AVX2
// Sums of 32 rows stay in registers. A masked load touches no memory where its bit is off and gives 0 there.
template <class T> HWY_INLINE void band_block_in_registers(const BandArgs<T>& g, std::int64_t block) {
  const hn::ScalableTag<T> d;
  constexpr int kVectors = static_cast<int>(kBandRows / hn::MaxLanes(d));
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(d));
  const std::int64_t base = block * kBandRows;
  hn::Vec<decltype(d)> sum[kVectors];
  for (int v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  const T* HWY_RESTRICT values = g.values + block * g.count * kBandRows;
  const std::uint32_t* HWY_RESTRICT masks = g.masks + block * g.count;
  for (std::int64_t k = 0; k < g.count; ++k, values += kBandRows) {
    const T* from = g.x + base + g.diagonals[k];
    if (masks[k] == 0xffffffffU) {
      for (int v = 0; v < kVectors; ++v)
        sum[v] = hn::MulAdd(hn::LoadU(d, values + v * kLanes), hn::LoadU(d, from + v * kLanes), sum[v]);
    } else if (masks[k] != 0) {
      for (int v = 0; v < kVectors; ++v) {
        const std::uint64_t bits = masks[k] >> (v * kLanes);
        const auto mask = hn::LoadMaskBits(d, reinterpret_cast<const std::uint8_t*>(&bits));
        sum[v] = hn::MulAdd(hn::LoadU(d, values + v * kLanes), hn::MaskedLoad(mask, d, from + v * kLanes), sum[v]);
      }
    }
  }
  const std::int64_t last = std::min(kBandRows, g.rows - base);
  if (last == kBandRows && g.out.row_stride == 1) {
    T* c = g.out.c + base;
    const auto alpha = hn::Set(d, g.out.alpha), beta = hn::Set(d, g.out.beta);
    for (int v = 0; v < kVectors; ++v) {
      auto y = hn::Mul(alpha, sum[v]);
      if (g.out.beta != T(0)) y = hn::Add(y, hn::Mul(beta, hn::LoadU(d, c + v * kLanes)));
      hn::StoreU(y, d, c + v * kLanes);
    }
    return;
  }
  HWY_ALIGN T sums[kBandRows];
  for (int v = 0; v < kVectors; ++v) hn::Store(sum[v], d, sums + v * kLanes);
  for (std::int64_t r = 0; r < last; ++r) finish(g.out, base + r, 0, sums[r]);
}
#endif

template <class T> HWY_INLINE void band_vector_here(const BandArgs<T>& g, std::int64_t begin, std::int64_t end) {
  for (std::int64_t block = begin; block < end; ++block) {
#if HWY_TARGET <= HWY_AVX2
    if constexpr (RealScalar<T>) {
      band_block_in_registers(g, block);
      continue;
    }
#endif
    band_block(g, block);
  }
}

}  // namespace trn::sparse::host::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
