// The transpose of a row-compressed matrix by counting: entries of a column come out in the order of the rows, sorted.
// The one loop behind csr2csc, transpose() and adjoint().
//
// Two things make it quick. A pattern that is its own transpose is shared: only values move, and the walk that moves
// them proves the symmetry. Where columns lie far apart in memory, entries go through buckets of columns first: they
// are written in streams, and each bucket's part of the result then fits a core's cache.
#pragma once

#include <algorithm>
#include <atomic>
#include <optional>
#include <vector>

#include <trn/core/parallel.hpp>

#include "host_data.hpp"

namespace trn::sparse {

namespace detail {

constexpr std::int64_t kBucketEntries = 1 << 13, kBucketed = 1 << 19;

// Where entries of column j go is where entries of row j are, as long as the pattern is symmetric. Nothing where it is
// not; an entry that says so ends it. Threads share the rows: one that begins at row i finds where column j stands by
// then in row j itself, at its first entry from column i on.
template <class N, Scalar T, Index I, class F>
std::optional<Array<T>> symmetric_values(const CsrRef<T, I>& a, const F& change) {
  if (a.rows != a.columns) return {};
  const auto nnz = static_cast<N>(a.nnz());
  const std::int64_t threads = loop_threads(a.nnz() >= kBucketed);
  std::vector<std::int64_t> cuts{0};  // rows at which ranges of as many entries begin
  for (std::int64_t t = 1; t < threads; ++t)
    cuts.push_back(std::lower_bound(a.offsets, a.offsets + a.rows, a.nnz() / threads * t) - a.offsets);
  cuts.push_back(a.rows);
  std::vector<std::vector<N>> begin(static_cast<std::size_t>(threads));  // but for the first range
  for_pieces(threads - 1, static_cast<int>(threads), [&](std::int64_t t, int) {
    auto& own = begin[static_cast<std::size_t>(t) + 1];
    const auto i = static_cast<I>(cuts[static_cast<std::size_t>(t) + 1]);
    own.resize(static_cast<std::size_t>(a.rows));
    for (std::int64_t j = 0; j < a.rows; ++j)
      own[static_cast<std::size_t>(j)] =
          static_cast<N>(std::lower_bound(a.indices + a.offsets[j], a.indices + a.offsets[j + 1], i) - a.indices);
  });
  Array<T> values = host_array<T>(a.nnz());
  T* to = values.data();
  std::atomic<bool> symmetric{true};
  for_pieces(threads, static_cast<int>(threads), [&](std::int64_t t, int) {
    std::vector<N> next = t > 0 ? begin[static_cast<std::size_t>(t)] : std::vector<N>(a.offsets, a.offsets + a.rows);
    N* at = next.data();
    for (std::int64_t i = cuts[static_cast<std::size_t>(t)]; i < cuts[static_cast<std::size_t>(t) + 1]; ++i) {
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
        const N p = at[a.indices[k]]++;
        if (p >= nnz || a.indices[p] != static_cast<I>(i)) {
          symmetric = false;
          return;
        }
        to[p] = change(a.values[k]);
      }
      if (!symmetric.load(std::memory_order_relaxed)) return;
    }
    // A walk that ends where the next range's begins never left its row: each entry (i, j) met an entry (j, i).
    const bool last = t + 1 == threads;
    const bool whole =
        last ? std::equal(next.begin(), next.end(), a.offsets + 1) : next == begin[static_cast<std::size_t>(t) + 1];
    if (!whole) symmetric = false;
  });
  if (!symmetric) return {};
  return values;
}

template <class N, Scalar T, Index I, class F>
void transpose_into(const CsrRef<T, I>& a, const F& change, CsrParts<T, I>& t) {
  const std::int64_t nnz = a.nnz();
  // next[j + 1] counts column j, then becomes where column j goes on.
  std::vector<N> next(static_cast<std::size_t>(a.columns) + 1, N{0});
  N* at = next.data();
  for (std::int64_t k = 0; k < nnz; ++k) ++at[a.indices[k] + 1];
  for (std::int64_t j = 0; j < a.columns; ++j) at[j + 1] += at[j];
  for (std::int64_t j = 0; j <= a.columns; ++j) t.offsets.data()[j] = at[j];
  t.indices = host_array<I>(nnz);
  t.values = host_array<T>(nnz);
  I* rows = t.indices.data();
  T* values = t.values.data();
  const auto put = [&](std::int64_t row, std::int64_t column, T value) {
    const N to = at[column]++;
    rows[to] = static_cast<I>(row);
    values[to] = value;
  };
  const auto plain = [&] {
    for (std::int64_t i = 0; i < a.rows; ++i) {
      for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) put(i, a.indices[k], change(a.values[k]));
    }
  };
  if (nnz < kBucketed) return plain();
  // Buckets are runs of 2^shift columns.
  const double average = static_cast<double>(nnz) / static_cast<double>(a.columns);
  int shift = 0;
  while (shift < 40 && average * static_cast<double>(std::int64_t{2} << shift) <= static_cast<double>(kBucketEntries))
    ++shift;
  const std::int64_t buckets = (a.columns >> shift) + 1;
  if (buckets < 4 || buckets > 4096) return plain();
  struct Entry {
    I row, column;
    T value;
  };
  const Buffer room(Executor::host(), nnz * static_cast<std::int64_t>(sizeof(Entry)));
  auto* entries = reinterpret_cast<Entry*>(room.data());
  std::vector<N> fill(static_cast<std::size_t>(buckets) + 1);
  for (std::int64_t b = 0; b <= buckets; ++b) fill[static_cast<std::size_t>(b)] = at[std::min(a.columns, b << shift)];
  N* into = fill.data();
  for (std::int64_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      const I column = a.indices[k];
      entries[into[column >> shift]++] = {static_cast<I>(i), column, a.values[k]};
    }
  }
  for (std::int64_t e = 0; e < nnz; ++e) put(entries[e].row, entries[e].column, change(entries[e].value));
}

}  // namespace detail

template <Scalar T, Index I, class F> Csr<T, I> transposed(const Csr<T, I>& matrix, const F& change) {
  const CsrRef<T, I> a = host_ref(matrix);
  const auto run = [&](auto zero) -> Csr<T, I> {
    using N = decltype(zero);
    if (auto values = detail::symmetric_values<N>(a, change))
      return Csr<T, I>(detail::Trusted{}, matrix.pattern(), std::move(*values));
    CsrParts<T, I> t({a.columns, a.rows});
    detail::transpose_into<N>(a, change, t);
    return t.done();
  };
  // 32 bits where they suffice: half the traffic.
  if (a.nnz() <= std::numeric_limits<std::int32_t>::max()) return run(std::int32_t{0});
  return run(std::int64_t{0});
}

}  // namespace trn::sparse
