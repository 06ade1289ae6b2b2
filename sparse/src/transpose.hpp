// The transpose of a row-compressed matrix by counting: entries of a column come out in the order of the rows, sorted.
// The one loop behind csr2csc, transpose() and adjoint().
#pragma once

#include "host_data.hpp"

namespace trn::sparse {

template <Scalar T, Index I, class F> CsrParts<T, I> transposed_parts(const CsrRef<T, I>& a, const F& change) {
  CsrParts<T, I> t({a.columns, a.rows});
  const std::int64_t nnz = a.nnz();
  // next[j + 1] counts column j, then becomes where column j goes on; 32 bits where they suffice, half the traffic.
  const auto run = [&](auto zero) {
    using N = decltype(zero);
    std::vector<N> next(static_cast<std::size_t>(a.columns) + 1, zero);
    N* at = next.data();
    for (std::int64_t k = 0; k < nnz; ++k) ++at[a.indices[k] + 1];
    for (std::int64_t j = 0; j < a.columns; ++j) at[j + 1] += at[j];
    for (std::int64_t j = 0; j <= a.columns; ++j) t.offsets.data()[j] = at[j];
    t.indices = host_array<I>(nnz);
    t.values = host_array<T>(nnz);
    I* rows = t.indices.data();
    T* values = t.values.data();
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        const N to = at[a.indices[k]]++;
        rows[to] = static_cast<I>(i);
        values[to] = change(a.values[k]);
      }
    }
  };
  if (nnz <= std::numeric_limits<std::int32_t>::max())
    run(std::int32_t{0});
  else
    run(std::int64_t{0});
  return t;
}

}  // namespace trn::sparse
