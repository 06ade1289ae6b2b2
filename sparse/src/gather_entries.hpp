// From entries in any order to sorted rows: a counting sort by row that keeps the order within a row, then a stable
// sort of rows that need it. Duplicates are added in the order in which they came, so the result depends on nothing
// else.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "host_data.hpp"

namespace trn::sparse {

// Sorts one row's columns and values together; stable.
template <Scalar T, Index I> struct RowSorter {
  std::vector<std::pair<I, T>> scratch;
  void sort(I* indices, T* values, std::int64_t count) {
    if (std::is_sorted(indices, indices + count)) return;
    scratch.resize(static_cast<std::size_t>(count));
    for (std::int64_t k = 0; k < count; ++k) scratch[static_cast<std::size_t>(k)] = {indices[k], values[k]};
    std::stable_sort(scratch.begin(), scratch.end(), [](const auto& x, const auto& y) { return x.first < y.first; });
    for (std::int64_t k = 0; k < count; ++k) {
      indices[k] = scratch[static_cast<std::size_t>(k)].first;
      values[k] = scratch[static_cast<std::size_t>(k)].second;
    }
  }
};

// Rows of `parts` with sorted, possibly equal columns: adds equal ones or refuses them, and closes the gaps.
template <Scalar T, Index I>
Csr<T, I> merge_duplicates(const char* operation, CsrParts<T, I>&& parts, Duplicates rule) {
  const std::int64_t rows = parts.extents.rows;
  std::int64_t* offsets = parts.offsets.data();
  I* indices = parts.indices.data();
  T* values = parts.values.data();
  std::int64_t to = 0, begin = 0;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t end = offsets[i + 1], first = to;
    for (std::int64_t k = begin; k < end; ++k) {
      if (to > first && indices[to - 1] == indices[k]) {
        require(rule == Duplicates::Sum, "{}: row {}, column {} comes twice; use Duplicates::Sum to add them",
                operation, i, static_cast<std::int64_t>(indices[k]));
        values[to - 1] += values[k];
        continue;
      }
      indices[to] = indices[k];
      values[to++] = values[k];
    }
    begin = end;
    offsets[i + 1] = to;
  }
  if (to < parts.indices.size()) {
    parts.indices = host_array(std::span<const I>(indices, static_cast<std::size_t>(to)));
    parts.values = host_array(std::span<const T>(values, static_cast<std::size_t>(to)));
  }
  return parts.done();
}

// row(k), column(k), value(k) for k in [0, count), rows and columns in range.
template <Scalar T, Index I, class R, class C, class V>
Csr<T, I> gather_entries(const char* operation, Extents extents, std::int64_t count, const R& row, const C& column,
                         const V& value, Duplicates rule) {
  CsrParts<T, I> parts(extents);
  std::int64_t* offsets = parts.offsets.data();
  std::fill(offsets, offsets + extents.rows + 1, 0);
  for (std::int64_t k = 0; k < count; ++k) ++offsets[row(k)];
  parts.allocate();
  std::vector<std::int64_t> next(offsets, offsets + extents.rows);
  for (std::int64_t k = 0; k < count; ++k) {
    const std::int64_t at = next[static_cast<std::size_t>(row(k))]++;
    parts.indices.data()[at] = static_cast<I>(column(k));
    parts.values.data()[at] = value(k);
  }
  RowSorter<T, I> sorter;
  for (std::int64_t i = 0; i < extents.rows; ++i)
    sorter.sort(parts.indices.data() + offsets[i], parts.values.data() + offsets[i], offsets[i + 1] - offsets[i]);
  return merge_duplicates(operation, std::move(parts), rule);
}

}  // namespace trn::sparse
