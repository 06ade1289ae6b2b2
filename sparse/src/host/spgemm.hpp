// Gustavson's row-wise product: a row of C gathers the rows of B that a row of A names, in an accumulator as wide as B
// with a list of the columns in use. Columns are then sorted: densely lying ones by scanning a bitmap, others by
// comparison.
#pragma once

#include <algorithm>
#include <bit>
#include <vector>

#include "host_data.hpp"

namespace trn::sparse::host {

// std::complex's own product looks for NaNs that hide an infinity, at several times the cost.
template <Scalar T> inline T times(T a, T b) {
  if constexpr (ComplexScalar<T>)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  else
    return a * b;
}

template <Scalar T> class RowProduct {
 public:
  explicit RowProduct(std::int64_t columns)
      : columns_(columns), mark_(static_cast<std::size_t>(columns), -1), place_(static_cast<std::size_t>(columns)) {}

  // The columns of row i of A B, sorted, and their sums (when `values`). Returns how many.
  template <bool kValues> std::int64_t row(const PatternRef<std::int32_t>& a, const T* a_values,
                                           const PatternRef<std::int32_t>& b, const T* b_values, std::int64_t i,
                                           std::int32_t* columns, T* values, T alpha) {
    std::int64_t count = 0;
    std::int32_t last = -1;
    bool sorted = true;
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      const std::int64_t j = a.indices[k];
      const T x = kValues ? a_values[k] : T(0);
      for (std::int64_t l = b.offsets[j]; l < b.offsets[j + 1]; ++l) {
        const std::int32_t column = b.indices[l];
        if (mark_[static_cast<std::size_t>(column)] != i) {
          mark_[static_cast<std::size_t>(column)] = i;
          sorted = sorted && column > last;
          last = column;
          columns[count++] = column;
          if constexpr (kValues) place_[static_cast<std::size_t>(column)] = times(x, b_values[l]);
        } else if constexpr (kValues) {
          place_[static_cast<std::size_t>(column)] += times(x, b_values[l]);
        }
      }
    }
    if (!sorted) sort(columns, count);
    if constexpr (kValues) {
      for (std::int64_t n = 0; n < count; ++n) {
        const T sum = place_[static_cast<std::size_t>(columns[n])];
        values[n] = alpha == T(1) ? sum : times(alpha, sum);
      }
    }
    return count;
  }

  // Sums only, for columns that are known: the numeric phase.
  void numbers(const PatternRef<std::int32_t>& a, const T* a_values, const PatternRef<std::int32_t>& b,
               const T* b_values, std::int64_t i, const PatternRef<std::int32_t>& c, T* values, T alpha) {
    for (std::int64_t n = c.offsets[i]; n < c.offsets[i + 1]; ++n) mark_[static_cast<std::size_t>(c.indices[n])] = -2;
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      const std::int64_t j = a.indices[k];
      for (std::int64_t l = b.offsets[j]; l < b.offsets[j + 1]; ++l) {
        const auto column = static_cast<std::size_t>(b.indices[l]);
        const T product = times(a_values[k], b_values[l]);
        place_[column] = mark_[column] == -2 ? product : place_[column] + product;
        mark_[column] = -1;
      }
    }
    for (std::int64_t n = c.offsets[i]; n < c.offsets[i + 1]; ++n) {
      const T sum = place_[static_cast<std::size_t>(c.indices[n])];
      values[n] = alpha == T(1) ? sum : times(alpha, sum);
    }
  }

 private:
  // By comparison, or through a bitmap where the columns lie densely enough that scanning it is cheaper.
  void sort(std::int32_t* columns, std::int64_t count) {
    const auto [least, most] = std::minmax_element(columns, columns + count);
    const std::int64_t first = *least / 64, words = *most / 64 - first + 1;
    if (count < 32 || words > 4 * count) {
      std::sort(columns, columns + count);
      return;
    }
    bits_.assign(static_cast<std::size_t>(words), 0);
    for (std::int64_t n = 0; n < count; ++n)
      bits_[static_cast<std::size_t>(columns[n] / 64 - first)] |= std::uint64_t{1} << (columns[n] % 64);
    for (std::int64_t w = 0; w < words; ++w) {
      for (std::uint64_t rest = bits_[static_cast<std::size_t>(w)]; rest != 0; rest &= rest - 1)
        *columns++ = static_cast<std::int32_t>((first + w) * 64 + std::countr_zero(rest));
    }
  }

  std::int64_t columns_;
  std::vector<std::int64_t> mark_;  // the row that used a column last
  std::vector<T> place_;
  std::vector<std::uint64_t> bits_;
};

}  // namespace trn::sparse::host
