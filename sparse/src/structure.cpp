// Transpose, add, cut, glue, drop, compare, reorder.
#include <trn/sparse/structure.hpp>

#include <algorithm>
#include <cmath>

#include "gather_entries.hpp"
#include "pattern_checks.hpp"
#include "scalars.hpp"
#include "transpose.hpp"

namespace trn::sparse {

namespace {

void same_extents(const char* operation, Extents a, Extents b) {
  require(a == b, "{}: the matrices are {} x {} and {} x {}; they must have the same extents", operation, a.rows,
          a.columns, b.rows, b.columns);
}

// Entries for which keep(row, k) holds.
template <Scalar T, Index I, class Keep> Csr<T, I> kept(const CsrRef<T, I>& a, const Keep& keep) {
  CsrParts<T, I> parts({a.rows, a.columns});
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::int64_t count = 0;
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) count += keep(i, k);
    parts.offsets.data()[i] = count;
  }
  parts.allocate();
  for (std::int64_t i = 0; i < a.rows; ++i) {
    std::int64_t to = parts.offsets.data()[i];
    for (std::int64_t k = a.offsets[i]; k < a.offsets[i + 1]; ++k) {
      if (!keep(i, k)) continue;
      parts.indices.data()[to] = a.indices[k];
      parts.values.data()[to++] = a.values[k];
    }
  }
  return parts.done();
}

// Both rows in step: left(k), right(l), both(k, l) in the order of the columns.
template <Scalar T, Index I, class L, class R, class B> void merge_rows(const CsrRef<T, I>& a, const CsrRef<T, I>& b,
                                                                        std::int64_t i, const L& left, const R& right,
                                                                        const B& both) {
  std::int64_t k = a.offsets[i], l = b.offsets[i];
  while (k < a.offsets[i + 1] || l < b.offsets[i + 1]) {
    if (l == b.offsets[i + 1] || (k < a.offsets[i + 1] && a.indices[k] < b.indices[l]))
      left(k++);
    else if (k == a.offsets[i + 1] || b.indices[l] < a.indices[k])
      right(l++);
    else
      both(k++, l++);
  }
}

template <Scalar T, Index I, class F> Csr<T, I> mapped(const Csr<T, I>& a, const F& f) {
  Array<T> values = host_array<T>(a.nnz());
  for (std::int64_t k = 0; k < a.nnz(); ++k) values.data()[k] = f(a.values().data()[k]);
  return Csr<T, I>(detail::Trusted{}, a.pattern(), std::move(values));
}

}  // namespace

template <Scalar T, Index I> Csr<T, I> transpose(const Csr<T, I>& a) {
  host_only("sparse.transpose", a.executor());
  return transposed(a, [](T x) { return x; });
}
template <Scalar T, Index I> Csr<T, I> adjoint(const Csr<T, I>& a) {
  host_only("sparse.adjoint", a.executor());
  return transposed(a, [](T x) { return conjugate_of(x); });
}
template <Scalar T, Index I> Csr<T, I> conjugate(const Csr<T, I>& a) {
  host_only("sparse.conjugate", a.executor());
  return mapped(a, [](T x) { return conjugate_of(x); });
}

template <Scalar T, Index I>
Csr<T, I> add(std::type_identity_t<T> alpha, const Csr<T, I>& a, std::type_identity_t<T> beta, const Csr<T, I>& b) {
  constexpr const char* operation = "sparse.add";
  host_only(operation, a.executor());
  host_only(operation, b.executor());
  same_extents(operation, a.extents(), b.extents());
  const CsrRef<T, I> x = host_ref(a), y = host_ref(b);
  CsrParts<T, I> parts(a.extents());
  for (std::int64_t i = 0; i < x.rows; ++i) {
    std::int64_t count = 0;
    const auto one = [&](std::int64_t) { ++count; };
    merge_rows(x, y, i, one, one, [&](std::int64_t, std::int64_t) { ++count; });
    parts.offsets.data()[i] = count;
  }
  parts.allocate();
  for (std::int64_t i = 0; i < x.rows; ++i) {
    std::int64_t to = parts.offsets.data()[i];
    const auto put = [&](I column, T value) {
      parts.indices.data()[to] = column;
      parts.values.data()[to++] = value;
    };
    merge_rows(
        x, y, i, [&](std::int64_t k) { put(x.indices[k], alpha * x.values[k]); },
        [&](std::int64_t l) { put(y.indices[l], beta * y.values[l]); },
        [&](std::int64_t k, std::int64_t l) { put(x.indices[k], alpha * x.values[k] + beta * y.values[l]); });
  }
  return parts.done();
}

template <Scalar T, Index I> Csr<T, I> multiply_elements(const Csr<T, I>& a, const Csr<T, I>& b) {
  constexpr const char* operation = "sparse.multiply_elements";
  host_only(operation, a.executor());
  host_only(operation, b.executor());
  same_extents(operation, a.extents(), b.extents());
  const CsrRef<T, I> x = host_ref(a), y = host_ref(b);
  const auto nothing = [](std::int64_t) {};
  CsrParts<T, I> parts(a.extents());
  for (std::int64_t i = 0; i < x.rows; ++i) {
    std::int64_t count = 0;
    merge_rows(x, y, i, nothing, nothing, [&](std::int64_t, std::int64_t) { ++count; });
    parts.offsets.data()[i] = count;
  }
  parts.allocate();
  for (std::int64_t i = 0; i < x.rows; ++i) {
    std::int64_t to = parts.offsets.data()[i];
    merge_rows(x, y, i, nothing, nothing, [&](std::int64_t k, std::int64_t l) {
      parts.indices.data()[to] = x.indices[k];
      parts.values.data()[to++] = x.values[k] * y.values[l];
    });
  }
  return parts.done();
}

template <Scalar T, Index I> Csr<T, I> scale(std::type_identity_t<T> alpha, const Csr<T, I>& a) {
  host_only("sparse.scale", a.executor());
  return mapped(a, [&](T x) { return alpha * x; });
}

template <Scalar T, Index I> Csr<T, I> prune(const Csr<T, I>& a, std::type_identity_t<Real<T>> threshold) {
  host_only("sparse.prune", a.executor());
  require(!std::isnan(threshold), "sparse.prune: the threshold is NaN");
  const CsrRef<T, I> s = host_ref(a);
  return kept(s, [&](std::int64_t, std::int64_t k) { return !(std::abs(s.values[k]) <= threshold); });
}

template <Scalar T, Index I> Csr<T, I> triangle(const Csr<T, I>& a, Uplo uplo, std::int64_t diagonal) {
  host_only("sparse.triangle", a.executor());
  const CsrRef<T, I> s = host_ref(a);
  return kept(s, [&](std::int64_t i, std::int64_t k) {
    return uplo == Uplo::Lower ? s.indices[k] - i <= diagonal : s.indices[k] - i >= diagonal;
  });
}

template <Scalar T, Index I> std::vector<T> diagonal(const Csr<T, I>& a) {
  host_only("sparse.diagonal", a.executor());
  const CsrRef<T, I> s = host_ref(a);
  std::vector<T> values(static_cast<std::size_t>(std::min(s.rows, s.columns)));
  for (std::int64_t i = 0; i < std::min(s.rows, s.columns); ++i) {
    const I* end = s.indices + s.offsets[i + 1];
    const I* at = std::lower_bound(s.indices + s.offsets[i], end, static_cast<I>(i));
    if (at != end && *at == i) values[static_cast<std::size_t>(i)] = s.values[at - s.indices];
  }
  return values;
}

template <Scalar T, Index I> Csr<T, I> identity(const Executor& executor, std::int64_t n) {
  check_extents<I>("sparse.identity", {n, n});
  CsrParts<T, I> parts({n, n});
  std::fill(parts.offsets.data(), parts.offsets.data() + n + 1, 1);
  parts.allocate();
  std::iota(parts.indices.data(), parts.indices.data() + n, I{0});
  std::fill(parts.values.data(), parts.values.data() + n, T(1));
  const Csr<T, I> made = parts.done();
  return executor == made.executor() ? made : made.to(executor);
}

template <Scalar T, Index I>
Csr<T, I> slice(const Csr<T, I>& a, std::int64_t row, std::int64_t rows, std::int64_t column, std::int64_t columns) {
  constexpr const char* operation = "sparse.slice";
  host_only(operation, a.executor());
  require(
      row >= 0 && rows >= 0 && column >= 0 && columns >= 0 && rows <= a.rows() - row && columns <= a.columns() - column,
      "{}: ({}, {}) + {} x {} lies outside {} x {}", operation, row, column, rows, columns, a.rows(), a.columns());
  const CsrRef<T, I> s = host_ref(a);
  CsrParts<T, I> parts({rows, columns});
  // A column beyond the range of I cannot be an index: compared as 64-bit numbers.
  const auto first = [&](std::int64_t i, std::int64_t from) {
    return std::lower_bound(s.indices + s.offsets[i], s.indices + s.offsets[i + 1], from,
                            [](I x, std::int64_t y) { return x < y; });
  };
  for (std::int64_t i = 0; i < rows; ++i)
    parts.offsets.data()[i] = first(row + i, column + columns) - first(row + i, column);
  parts.allocate();
  for (std::int64_t i = 0; i < rows; ++i) {
    std::int64_t to = parts.offsets.data()[i];
    const I* end = first(row + i, column + columns);
    for (const I* at = first(row + i, column); at < end; ++at, ++to) {
      parts.indices.data()[to] = static_cast<I>(*at - column);
      parts.values.data()[to] = s.values[at - s.indices];
    }
  }
  return parts.done();
}

template <Scalar T, Index I> Csr<T, I> take_rows(const Csr<T, I>& a, std::span<const std::int64_t> order) {
  constexpr const char* operation = "sparse.take_rows";
  host_only(operation, a.executor());
  const auto count = static_cast<std::int64_t>(order.size());
  check_extents<I>(operation, {count, a.columns()});
  const CsrRef<T, I> s = host_ref(a);
  CsrParts<T, I> parts({count, a.columns()});
  for (std::int64_t i = 0; i < count; ++i) {
    require(order[i] >= 0 && order[i] < s.rows, "{}: row {} of {}", operation, order[i], s.rows);
    parts.offsets.data()[i] = s.offsets[order[i] + 1] - s.offsets[order[i]];
  }
  parts.allocate();
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t from = s.offsets[order[i]], to = parts.offsets.data()[i], size = s.offsets[order[i] + 1] - from;
    std::copy_n(s.indices + from, size, parts.indices.data() + to);
    std::copy_n(s.values + from, size, parts.values.data() + to);
  }
  return parts.done();
}

template <Scalar T, Index I>
Csr<T, I> permute(const Csr<T, I>& a, std::span<const std::int64_t> rows, std::span<const std::int64_t> columns) {
  constexpr const char* operation = "sparse.permute";
  host_only(operation, a.executor());
  require(
      static_cast<std::int64_t>(rows.size()) == a.rows() && static_cast<std::int64_t>(columns.size()) == a.columns(),
      "{}: permutations of {} rows and {} columns for a matrix of {} x {}", operation, rows.size(), columns.size(),
      a.rows(), a.columns());
  (void)inverse(rows);
  const Permutation to_column = inverse(columns);
  const CsrRef<T, I> s = host_ref(a);
  CsrParts<T, I> parts(a.extents());
  for (std::int64_t i = 0; i < s.rows; ++i) parts.offsets.data()[i] = s.offsets[rows[i] + 1] - s.offsets[rows[i]];
  parts.allocate();
  RowSorter<T, I> sorter;
  for (std::int64_t i = 0; i < s.rows; ++i) {
    const std::int64_t begin = parts.offsets.data()[i];
    std::int64_t to = begin;
    for (std::int64_t k = s.offsets[rows[i]]; k < s.offsets[rows[i] + 1]; ++k, ++to) {
      parts.indices.data()[to] = static_cast<I>(to_column[static_cast<std::size_t>(s.indices[k])]);
      parts.values.data()[to] = s.values[k];
    }
    sorter.sort(parts.indices.data() + begin, parts.values.data() + begin, to - begin);
  }
  return parts.done();
}

template <Scalar T, Index I> Csr<T, I> stack_rows(std::span<const Csr<T, I>> all) {
  constexpr const char* operation = "sparse.stack_rows";
  require(!all.empty(), "{}: nothing to stack", operation);
  Extents e{0, all[0].columns()};
  for (const Csr<T, I>& a : all) {
    host_only(operation, a.executor());
    require(a.columns() == e.columns, "{}: parts with {} and {} columns", operation, e.columns, a.columns());
    require(!__builtin_add_overflow(e.rows, a.rows(), &e.rows), "{}: the sum of the rows overflows", operation);
  }
  check_extents<I>(operation, e);
  CsrParts<T, I> parts(e);
  std::int64_t row = 0;
  for (const Csr<T, I>& a : all) {
    const std::int64_t* offsets = a.pattern().offsets().data();
    for (std::int64_t i = 0; i < a.rows(); ++i) parts.offsets.data()[row++] = offsets[i + 1] - offsets[i];
  }
  parts.allocate();
  std::int64_t to = 0;
  for (const Csr<T, I>& a : all) {
    std::copy_n(a.pattern().indices().data(), a.nnz(), parts.indices.data() + to);
    std::copy_n(a.values().data(), a.nnz(), parts.values.data() + to);
    to += a.nnz();
  }
  return parts.done();
}

template <Scalar T, Index I> Csr<T, I> stack_columns(std::span<const Csr<T, I>> all) {
  constexpr const char* operation = "sparse.stack_columns";
  require(!all.empty(), "{}: nothing to stack", operation);
  Extents e{all[0].rows(), 0};
  for (const Csr<T, I>& a : all) {
    host_only(operation, a.executor());
    require(a.rows() == e.rows, "{}: parts with {} and {} rows", operation, e.rows, a.rows());
    require(!__builtin_add_overflow(e.columns, a.columns(), &e.columns), "{}: the sum of the columns overflows",
            operation);
  }
  check_extents<I>(operation, e);
  CsrParts<T, I> parts(e);
  for (std::int64_t i = 0; i < e.rows; ++i) {
    parts.offsets.data()[i] = 0;
    for (const Csr<T, I>& a : all) {
      const std::int64_t* offsets = a.pattern().offsets().data();
      parts.offsets.data()[i] += offsets[i + 1] - offsets[i];
    }
  }
  parts.allocate();
  for (std::int64_t i = 0; i < e.rows; ++i) {
    std::int64_t to = parts.offsets.data()[i], first = 0;
    for (const Csr<T, I>& a : all) {
      const CsrRef<T, I> s = host_ref(a);
      for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k, ++to) {
        parts.indices.data()[to] = static_cast<I>(s.indices[k] + first);
        parts.values.data()[to] = s.values[k];
      }
      first += s.columns;
    }
  }
  return parts.done();
}

template <Scalar T, Index I> bool equal(const Csr<T, I>& a, const Csr<T, I>& b) {
  host_only("sparse.equal", a.executor());
  host_only("sparse.equal", b.executor());
  return a.pattern().equals(b.pattern()) &&
         std::equal(a.values().data(), a.values().data() + a.nnz(), b.values().data());
}

template <Scalar T, Index I> std::vector<std::int64_t> entries_per_row(const Csr<T, I>& a) {
  host_only("sparse.entries_per_row", a.executor());
  const std::int64_t* offsets = a.pattern().offsets().data();
  std::vector<std::int64_t> counts(static_cast<std::size_t>(a.rows()));
  for (std::int64_t i = 0; i < a.rows(); ++i) counts[static_cast<std::size_t>(i)] = offsets[i + 1] - offsets[i];
  return counts;
}

template <Scalar T, Index I> Structure structure(const Csr<T, I>& a) {
  host_only("sparse.structure", a.executor());
  const CsrRef<T, I> s = host_ref(a);
  Structure r;
  std::vector<bool> used(static_cast<std::size_t>(s.columns));
  for (std::int64_t i = 0; i < s.rows; ++i) {
    const std::int64_t length = s.offsets[i + 1] - s.offsets[i];
    r.longest_row = std::max(r.longest_row, length);
    r.empty_rows += length == 0;
    bool diagonal = i >= s.columns;
    for (std::int64_t k = s.offsets[i]; k < s.offsets[i + 1]; ++k) {
      const std::int64_t j = s.indices[k];
      used[static_cast<std::size_t>(j)] = true;
      diagonal = diagonal || i == j;
      r.lower_bandwidth = std::max(r.lower_bandwidth, i - j);
      r.upper_bandwidth = std::max(r.upper_bandwidth, j - i);
    }
    r.missing_diagonal += !diagonal;
  }
  r.empty_columns = std::count(used.begin(), used.end(), false);
  if (s.rows != s.columns) return r;
  const Csr<T, I> t = transpose(a);
  r.pattern_symmetric = t.pattern().equals(a.pattern());
  if (!r.pattern_symmetric) return r;
  r.symmetric = r.hermitian = r.skew = true;
  for (std::int64_t k = 0; k < s.nnz(); ++k) {
    const T x = s.values[k], y = t.values().data()[k];
    r.symmetric = r.symmetric && x == y;
    r.hermitian = r.hermitian && x == conjugate_of(y);
    r.skew = r.skew && x == -y;
  }
  return r;
}

Permutation inverse(std::span<const std::int64_t> permutation) {
  const auto n = static_cast<std::int64_t>(permutation.size());
  Permutation to(permutation.size(), -1);
  for (std::int64_t k = 0; k < n; ++k) {
    const std::int64_t at = permutation[static_cast<std::size_t>(k)];
    require(at >= 0 && at < n, "sparse.inverse: {} is not a place in a permutation of {}", at, n);
    require(to[static_cast<std::size_t>(at)] == -1, "sparse.inverse: {} comes twice", at);
    to[static_cast<std::size_t>(at)] = k;
  }
  return to;
}

#define TRN_STRUCTURE(T, I)                                                                                     \
  template Csr<T, I> transpose(const Csr<T, I>&);                                                               \
  template Csr<T, I> adjoint(const Csr<T, I>&);                                                                 \
  template Csr<T, I> conjugate(const Csr<T, I>&);                                                               \
  template Csr<T, I> add(std::type_identity_t<T>, const Csr<T, I>&, std::type_identity_t<T>, const Csr<T, I>&); \
  template Csr<T, I> multiply_elements(const Csr<T, I>&, const Csr<T, I>&);                                     \
  template Csr<T, I> scale(std::type_identity_t<T>, const Csr<T, I>&);                                          \
  template Csr<T, I> prune(const Csr<T, I>&, std::type_identity_t<Real<T>>);                                    \
  template Csr<T, I> triangle(const Csr<T, I>&, Uplo, std::int64_t);                                            \
  template std::vector<T> diagonal(const Csr<T, I>&);                                                           \
  template Csr<T, I> identity<T, I>(const Executor&, std::int64_t);                                             \
  template Csr<T, I> slice(const Csr<T, I>&, std::int64_t, std::int64_t, std::int64_t, std::int64_t);           \
  template Csr<T, I> take_rows(const Csr<T, I>&, std::span<const std::int64_t>);                                \
  template Csr<T, I> permute(const Csr<T, I>&, std::span<const std::int64_t>, std::span<const std::int64_t>);   \
  template Csr<T, I> stack_rows(std::span<const Csr<T, I>>);                                                    \
  template Csr<T, I> stack_columns(std::span<const Csr<T, I>>);                                                 \
  template bool equal(const Csr<T, I>&, const Csr<T, I>&);                                                      \
  template std::vector<std::int64_t> entries_per_row(const Csr<T, I>&);                                         \
  template Structure structure(const Csr<T, I>&);
TRN_SPARSE_INDEXED(TRN_STRUCTURE)
#undef TRN_STRUCTURE

}  // namespace trn::sparse
