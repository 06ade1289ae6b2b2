// Gustavson's row-wise product: a row of C gathers the rows of B that a row of A names, in an accumulator as wide as B.
//
// The accumulator is all zeros between rows, so a product is added without a question; a bit for each column says that
// it is in use, and a list has the words of 64 bits that are not zero. Sorting the words, of which there are few where
// columns lie together, sorts the columns.
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
      : sums_(static_cast<std::size_t>(columns)), bits_(static_cast<std::size_t>(columns / 64 + 1)) {}

  // The columns of row i of A B, sorted, and their sums (when `values`). Returns how many.
  template <bool kValues> std::int64_t row(const PatternRef<std::int32_t>& a, const T* a_values,
                                           const PatternRef<std::int32_t>& b, const T* b_values, std::int64_t i,
                                           std::int32_t* columns, T* values, T alpha) {
    words_.clear();
    std::uint64_t* bits = bits_.data();
    T* sums = sums_.data();
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      const std::int64_t j = a.indices[k];
      const T x = kValues ? a_values[k] : T(0);
      for (std::int64_t l = b.offsets[j]; l < b.offsets[j + 1]; ++l) {
        const auto column = static_cast<std::uint32_t>(b.indices[l]);
        std::uint64_t& word = bits[column / 64];
        if (word == 0) words_.push_back(static_cast<std::int32_t>(column / 64));
        word |= std::uint64_t{1} << (column % 64);
        if constexpr (kValues) sums[column] += times(x, b_values[l]);
      }
    }
    std::int64_t count = 0;
    const auto take = [&](std::int64_t w) {
      for (std::uint64_t rest = bits[w]; rest != 0; rest &= rest - 1, ++count) {
        const std::int64_t column = w * 64 + std::countr_zero(rest);
        columns[count] = static_cast<std::int32_t>(column);
        if constexpr (kValues) {
          values[count] = alpha == T(1) ? sums[column] : times(alpha, sums[column]);
          sums[column] = T(0);
        }
      }
      bits[w] = 0;
    };
    if (words_.size() > 32) {  // by a look at every word between the ends, where that is less work than sorting
      const auto [least, most] = std::minmax_element(words_.begin(), words_.end());
      if (*most - *least < 8 * static_cast<std::int64_t>(words_.size())) {
        const std::int64_t first = *least, last = *most;
        for (std::int64_t w = first; w <= last; ++w) take(w);
        return count;
      }
    }
    std::sort(words_.begin(), words_.end());
    for (const std::int32_t w : words_) take(w);
    return count;
  }

  // Sums only, for columns that are known: the numeric phase.
  void numbers(const PatternRef<std::int32_t>& a, const T* a_values, const PatternRef<std::int32_t>& b,
               const T* b_values, std::int64_t i, const PatternRef<std::int32_t>& c, T* values, T alpha) {
    T* sums = sums_.data();
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      const std::int64_t j = a.indices[k];
      for (std::int64_t l = b.offsets[j]; l < b.offsets[j + 1]; ++l)
        sums[b.indices[l]] += times(a_values[k], b_values[l]);
    }
    for (std::int64_t n = c.offsets[i]; n < c.offsets[i + 1]; ++n) {
      T& sum = sums[c.indices[n]];
      values[n] = alpha == T(1) ? sum : times(alpha, sum);
      sum = T(0);
    }
  }

 private:
  std::vector<T> sums_;              // of each column; zeros between rows
  std::vector<std::uint64_t> bits_;  // columns in use; zeros between rows
  std::vector<std::int32_t> words_;  // of bits_ that are not zero
};

}  // namespace trn::sparse::host
