// Copies between layouts and OpenBLAS's demands on a matrix.
#include "dense.hpp"

#include <algorithm>
#include <limits>
#include <trn/core/parallel.hpp>

namespace trn::blas::host {

namespace {

constexpr std::int64_t kTile = 32;           // a tile of both matrices stays in the first-level cache
constexpr std::int64_t kParallel = 1 << 16;  // elements from which threads pay

template <bool kConjugated, class T> void copy_tile(const Strided<const T>& from, const Strided<T>& to, Part part,
                                                    std::int64_t i0, std::int64_t i1, std::int64_t j0,
                                                    std::int64_t j1) {
  for (std::int64_t i = i0; i < i1; ++i) {
    const std::int64_t begin = part == Part::Upper ? std::max(j0, i) : j0,
                       end = part == Part::Lower ? std::min(j1, i + 1) : j1;
    for (std::int64_t j = begin; j < end; ++j) to.at(i, j) = conjugate(from.at(i, j), kConjugated);
  }
}

}  // namespace

template <Scalar T> void copy_elements(const Strided<const T>& from, const Strided<T>& to, Part part, bool conjugated) {
  if (from.rows == 0 || from.columns == 0) return;
  parallel_for((from.rows + kTile - 1) / kTile, from.rows * from.columns > kParallel, [&](std::int64_t tile) {
    const std::int64_t i0 = tile * kTile, i1 = std::min(from.rows, i0 + kTile);
    for (std::int64_t j0 = 0; j0 < from.columns; j0 += kTile) {
      const std::int64_t j1 = std::min(from.columns, j0 + kTile);
      if ((part == Part::Lower && j0 >= i1) || (part == Part::Upper && i0 >= j1)) continue;
      if (conjugated) {
        copy_tile<true>(from, to, part, i0, i1, j0, j1);
      } else {
        copy_tile<false>(from, to, part, i0, i1, j0, j1);
      }
    }
  });
}

template <Scalar T> Owned<T> dense_copy(const Strided<const T>& from, Layout layout, Part part, bool conjugated) {
  Owned<T> copy(from.rows, from.columns, layout);
  copy_elements(from, copy.view, part, conjugated);
  return copy;
}

std::optional<std::int64_t> leading_dimension(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                                              std::int64_t column_stride, Layout layout) {
  if (layout == Layout::ColumnMajor)
    return leading_dimension(columns, rows, column_stride, row_stride, Layout::RowMajor);
  const std::int64_t least = std::max<std::int64_t>(1, columns);
  if (column_stride != 1 && columns > 1) return std::nullopt;
  if (rows <= 1) return least;
  return row_stride >= least ? std::optional(row_stride) : std::nullopt;
}

std::optional<Placement> placement(std::int64_t rows, std::int64_t columns, std::int64_t row_stride,
                                   std::int64_t column_stride) {
  for (const Layout layout : {Layout::RowMajor, Layout::ColumnMajor}) {
    if (const auto ld = leading_dimension(rows, columns, row_stride, column_stride, layout))
      return Placement{layout, *ld};
  }
  return std::nullopt;
}

template <Scalar T> Operand<T> operand_in(const Strided<const T>& x, Layout layout, Part part, bool conjugated) {
  if (!conjugated) {
    if (const auto ld = leading_dimension(x, layout)) return {x.data, *ld, layout};
  }
  Operand<T> result{nullptr, std::max<std::int64_t>(1, layout == Layout::RowMajor ? x.columns : x.rows), layout,
                    dense_copy(x, layout, part, conjugated)};
  result.data = result.copy.storage.data();
  return result;
}

template <Scalar T> Operand<T> operand(const Strided<const T>& x) {
  if (const auto place = placement(x)) return {x.data, place->ld, place->layout};
  return operand_in(x, Layout::RowMajor);
}

int narrow(const char* operation, const char* what, std::int64_t value) {
  constexpr std::int64_t kMax = std::numeric_limits<int>::max();
  require(value <= kMax, "{}: {} is {}, the host BLAS takes at most {}; split the operation", operation, what, value,
          kMax);
  return static_cast<int>(value);
}

#define TRN_DENSE(T)                                                                      \
  template void copy_elements<T>(const Strided<const T>&, const Strided<T>&, Part, bool); \
  template Owned<T> dense_copy<T>(const Strided<const T>&, Layout, Part, bool);           \
  template Operand<T> operand<T>(const Strided<const T>&);                                \
  template Operand<T> operand_in<T>(const Strided<const T>&, Layout, Part, bool);
TRN_DENSE(float)
TRN_DENSE(double)
TRN_DENSE(std::complex<float>)
TRN_DENSE(std::complex<double>)
#undef TRN_DENSE

}  // namespace trn::blas::host
