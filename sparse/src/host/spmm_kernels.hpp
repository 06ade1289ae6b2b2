// The loops of C = alpha A B + beta C on the host, compiled for every instruction set. Each does rows [begin, end) of
// its unit (rows, slices, block rows), so that callers can share them among threads; a row is always summed whole.
#pragma once

#include "host_data.hpp"

namespace trn::sparse::host {

inline constexpr std::int64_t kSliceHeight = 8;

template <Scalar T> struct Output {
  T alpha, beta;
  T* c;
  std::int64_t row_stride, column_stride;
};

// B has `columns` columns, rows b_stride apart, elements of a row side by side.
template <Scalar T> struct Input {
  const T* b;
  std::int64_t b_stride, columns;
};

template <Scalar T, Index I> struct CsrArgs {
  const std::int64_t* offsets;
  const I* indices;
  const T* values;
  Input<T> in;
  Output<T> out;
  bool far = false;  // rows of B that follow one another lie far apart: worth fetching ahead
};

// Slices of eight rows, sorted by length within windows: `full` entries of each of the eight side by side, then what
// is left of the longer rows, row after row. No padding. Slices begin at offsets[s]; place p holds row order[p].
template <Scalar T> struct SellArgs {
  const std::int64_t* offsets;
  const std::int32_t* lengths;  // of each place; those beyond the last row are 0
  const std::int32_t* order;
  std::int64_t rows;
  const std::int32_t* indices;
  const T* values;
  const T* x;
  Output<T> out;
};

template <Scalar T> struct BsrArgs {
  const std::int64_t* offsets;
  const std::int32_t* indices;
  const T* values;
  std::int64_t r, c, rows, columns;
  const T* x;
  Output<T> out;
};

template <Scalar T> struct DiaArgs {
  const std::int64_t* diagonals;
  std::int64_t count, rows, columns;
  const T* values;
  const T* x;
  Output<T> out;
};

// Diagonals in blocks of 32 rows: of each block all diagonals one after another, so that a product reads one stream,
// and a bit for each place that says whether A has an entry there. Places without one hold 0 and are never multiplied.
inline constexpr std::int64_t kBandRows = 32;
template <Scalar T> struct BandArgs {
  const std::int64_t* diagonals;
  std::int64_t count, rows;
  const T* values;             // block b, diagonal k, row r at ((b * count) + k) * 32 + r
  const std::uint32_t* masks;  // of block b and diagonal k, bit r
  const T* x;
  Output<T> out;
};

// One column, contiguous; and any number of columns.
template <Scalar T, Index I> void csr_vector(const CsrArgs<T, I>& args, std::int64_t begin, std::int64_t end);
template <Scalar T, Index I> void csr_panel(const CsrArgs<T, I>& args, std::int64_t begin, std::int64_t end);
template <Scalar T> void sell_vector(const SellArgs<T>& args, std::int64_t begin, std::int64_t end);
template <Scalar T> void bsr_vector(const BsrArgs<T>& args, std::int64_t begin, std::int64_t end);
template <Scalar T> void dia_vector(const DiaArgs<T>& args, std::int64_t begin, std::int64_t end);
template <Scalar T> void band_vector(const BandArgs<T>& args, std::int64_t begin, std::int64_t end);  // blocks

}  // namespace trn::sparse::host
