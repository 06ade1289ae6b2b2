// ordered_gemm on the host: operands are packed into strips of rows and panels of columns that stay in the cache, and
// small_gemm's register tiles multiply them. A tile adds over k in order whatever its shape, so an element has the same
// bits wherever the edges of a call lie.
//
// Complex products are four real ones of the planes Re and Im, added into two planes of a panel, and then
// C = alpha T + beta C element by element.
#include "host/ordered_gemm.hpp"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include <trn/blas/ordered_gemm.hpp>
#include <trn/core/parallel.hpp>
#include <trn/core/scalars.hpp>

#include "host/small_gemm.hpp"

namespace trn::blas::host {

namespace {

template <class T> constexpr bool kComplex = ComplexScalar<T>;

// A strip has three AVX-512 vectors of rows; a panel eight columns. A block of strips fits in the second level of
// cache, a block of panels in the third.
template <class R> constexpr std::int64_t kStrip = 192 / static_cast<std::int64_t>(sizeof(R));
constexpr std::int64_t kPanel = 8;
template <class R> constexpr std::int64_t kRows = 8 * kStrip<R>;
constexpr std::int64_t kColumns = 768;

// Planes of `wide`-row strips of op(A), or columns of op(B): element (i, q) at strip i / wide, place q * wide + i %
// wide. Rows that are missing in the last strip are not written and never read.
template <class T, class R> void pack(const OrderedOperand<T>& x, std::int64_t rows, std::int64_t depth,
                                      std::int64_t wide, R* to, std::int64_t plane) {
  for (std::int64_t i0 = 0; i0 < rows; i0 += wide, to += wide * depth) {
    const std::int64_t count = std::min(wide, rows - i0);
    const T* from = x.data + i0 * x.row;
    const auto put = [&](std::int64_t i, std::int64_t q, T value) {
      if constexpr (kComplex<T>) {
        to[q * wide + i] = value.real();
        to[plane + q * wide + i] = x.conj ? -value.imag() : value.imag();
      } else {
        to[q * wide + i] = value;
      }
    };
    if (x.row == 1) {
      for (std::int64_t q = 0; q < depth; ++q) {
        for (std::int64_t i = 0; i < count; ++i) put(i, q, from[i + q * x.column]);
      }
    } else {  // eight rows at a time, so that lines written are full before they leave the cache
      for (std::int64_t i1 = 0; i1 < count; i1 += 8) {
        const std::int64_t end = std::min(i1 + 8, count);
        for (std::int64_t q = 0; q < depth; ++q) {
          for (std::int64_t i = i1; i < end; ++i) put(i, q, from[i * x.row + q * x.column]);
        }
      }
    }
  }
}

// C (rows x columns <= kPanel, unit stride along rows, `ld` between columns) = alpha A B + beta C for packed operands.
template <class R> void panel(std::int64_t rows, std::int64_t columns, std::int64_t depth, R alpha, const R* a,
                              const R* b, R beta, R* c, std::int64_t ld) {
  constexpr std::int64_t wide = kStrip<R>;
  SmallProducts<R> s{wide, columns, depth, wide, kPanel, 1, ld, alpha, beta};
  const std::int64_t whole = rows / wide;
  if (whole > 0) small_products(s, {.a = a, .b = b, .c = c, .stride_a = wide * depth, .stride_c = wide}, 0, whole);
  if (s.m = rows - whole * wide; s.m > 0)
    small_products(s, {.a = a + whole * wide * depth, .b = b, .c = c + whole * wide}, 0, 1);
}

template <class T> void combine(std::int64_t rows, std::int64_t columns, const Real<T>* real, const Real<T>* imag,
                                std::int64_t ld, T alpha, T beta, T* c, std::int64_t cn) {
  using R = Real<T>;
  const R ar = alpha.real(), ai = alpha.imag(), br = beta.real(), bi = beta.imag();
  for (std::int64_t j = 0; j < columns; ++j) {
    R* out = reinterpret_cast<R*>(c + j * cn);
    const R *x = real + j * ld, *y = imag + j * ld;
    if (beta == T(0)) {
      for (std::int64_t i = 0; i < rows; ++i) {
        out[2 * i] = ar * x[i] - ai * y[i];
        out[2 * i + 1] = ar * y[i] + ai * x[i];
      }
    } else {
      for (std::int64_t i = 0; i < rows; ++i) {
        const R cr = out[2 * i], ci = out[2 * i + 1];
        out[2 * i] = (ar * x[i] - ai * y[i]) + (br * cr - bi * ci);
        out[2 * i + 1] = (ar * y[i] + ai * x[i]) + (br * ci + bi * cr);
      }
    }
  }
}

// Columns of C for one thread.
template <class T> void columns_of(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const OrderedOperand<T>& a,
                                   const OrderedOperand<T>& b, T beta, T* c, std::int64_t cn, std::int64_t piece) {
  using R = Real<T>;
  constexpr std::int64_t planes = kComplex<T> ? 2 : 1, strip = kStrip<R>, rows_max = kRows<R>;
  const std::int64_t depth_max = std::min(piece, k),
                     a_plane = (std::min(rows_max, m) + strip - 1) / strip * strip * depth_max,
                     b_plane = (std::min(kColumns, n) + kPanel - 1) / kPanel * kPanel * depth_max;
  // Not zeroed: what is not written is not read.
  const std::unique_ptr<R[]> pa(new R[static_cast<std::size_t>(planes * a_plane)]),
      pb(new R[static_cast<std::size_t>(planes * b_plane)]),
      temporary(new R[static_cast<std::size_t>(kComplex<T> ? 2 * rows_max * kPanel : 0)]);
  for (std::int64_t q0 = 0; q0 < k; q0 += piece) {
    const std::int64_t depth = std::min(piece, k - q0);
    const T scale = q0 == 0 ? beta : T(1);
    for (std::int64_t j0 = 0; j0 < n; j0 += kColumns) {
      const std::int64_t columns = std::min(kColumns, n - j0);
      pack<T, R>({b.data + q0 * b.row + j0 * b.column, b.column, b.row, b.conj}, columns, depth, kPanel, pb.get(),
                 b_plane);
      for (std::int64_t i0 = 0; i0 < m; i0 += rows_max) {
        const std::int64_t rows = std::min(rows_max, m - i0);
        pack<T, R>({a.data + i0 * a.row + q0 * a.column, a.row, a.column, a.conj}, rows, depth, strip, pa.get(),
                   a_plane);
        for (std::int64_t j = 0; j < columns; j += kPanel) {
          const std::int64_t width = std::min(kPanel, columns - j);
          const R* right = pb.get() + j * depth;
          T* out = c + i0 + (j0 + j) * cn;
          if constexpr (kComplex<T>) {
            R *real = temporary.get(), *imag = real + rows_max * kPanel;
            panel<R>(rows, width, depth, 1, pa.get(), right, 0, real, rows_max);
            panel<R>(rows, width, depth, -1, pa.get() + a_plane, right + b_plane, 1, real, rows_max);
            panel<R>(rows, width, depth, 1, pa.get(), right + b_plane, 0, imag, rows_max);
            panel<R>(rows, width, depth, 1, pa.get() + a_plane, right, 1, imag, rows_max);
            combine<T>(rows, width, real, imag, rows_max, alpha, scale, out, cn);
          } else {
            panel<R>(rows, width, depth, alpha, pa.get(), right, scale, out, cn);
          }
        }
      }
    }
  }
}

}  // namespace

template <class T> void ordered_gemm(std::int64_t m, std::int64_t n, std::int64_t k, T alpha, OrderedOperand<T> a,
                                     OrderedOperand<T> b, T beta, T* c, std::int64_t cm, std::int64_t cn,
                                     std::int64_t piece) {
  if (cm != 1) {  // C^T = op(B)^T op(A)^T has the same products in the same order
    std::swap(m, n), std::swap(a, b), std::swap(cm, cn);
    std::swap(a.row, a.column), std::swap(b.row, b.column);
  }
  if (m == 0 || n == 0) return;
  if (k == 0 || alpha == T(0)) {
    for (std::int64_t j = 0; j < n && beta != T(1); ++j) {
      for (std::int64_t i = 0; i < m; ++i) c[i + j * cn] = beta == T(0) ? T(0) : beta * c[i + j * cn];
    }
    return;
  }
  const std::int64_t panels = (n + kPanel - 1) / kPanel;
  const bool worth_sharing = m * n > 1 << 12 && m * n * k > 1 << 20;
  const int threads = static_cast<int>(std::min<std::int64_t>(loop_threads(worth_sharing), panels));
  for_pieces(threads, threads, [&](std::int64_t part, int) {
    const std::int64_t begin = panels * part / threads * kPanel,
                       end = std::min(n, panels * (part + 1) / threads * kPanel);
    OrderedOperand<T> right = b;
    right.data += begin * b.column;
    columns_of<T>(m, end - begin, k, alpha, a, right, beta, c + begin * cn, cn, piece);
  });
}

#define TRN_ORDERED(T)                                                                                                \
  template void ordered_gemm<T>(std::int64_t, std::int64_t, std::int64_t, T, OrderedOperand<T>, OrderedOperand<T>, T, \
                                T*, std::int64_t, std::int64_t, std::int64_t);
TRN_ORDERED(float)
TRN_ORDERED(double)
TRN_ORDERED(std::complex<float>)
TRN_ORDERED(std::complex<double>)
#undef TRN_ORDERED

}  // namespace trn::blas::host
