// The check of entries given one by one.
#pragma once

#include <trn/core/error.hpp>
#include <trn/sparse/types.hpp>

#include "pattern_checks.hpp"

namespace trn::sparse {

// As many rows as columns as values, every entry inside the extents; InvalidArgument otherwise.
template <Index I, Scalar T> void check_triplets(const char* operation, Extents e, const Triplets<T>& t) {
  check_extents<I>(operation, e);
  const std::size_t count = t.values.size();
  require(t.rows.size() == count && t.columns.size() == count, "{}: {} rows, {} columns and {} values; give as many",
          operation, t.rows.size(), t.columns.size(), count);
  for (std::size_t k = 0; k < count; ++k) {
    require(t.rows[k] >= 0 && t.rows[k] < e.rows && t.columns[k] >= 0 && t.columns[k] < e.columns,
            "{}: entry {} is at ({}, {}), outside {} x {}", operation, k, t.rows[k], t.columns[k], e.rows, e.columns);
  }
}

}  // namespace trn::sparse
