// Csr: made from triplets, from someone else's arrays, or with new values on a pattern that exists.
#include <trn/sparse/csr.hpp>

#include <trn/core/operands.hpp>

#include "gather_entries.hpp"
#include "pattern_checks.hpp"
#include "scalars.hpp"
#include "triplet_checks.hpp"

namespace trn::sparse {

namespace {

void tell(const Executor& executor, const char* what) {
  EventHub& events = executor.backend().events();
  if (events.has_listeners()) events.emit({EventKind::Dispatch, what, "host"});
}

template <Scalar T, Index I> Csr<T, I> on(const Executor& executor, Csr<T, I> a) {
  return executor == a.executor() ? a : a.to(executor);
}

template <Scalar T> Array<T> copy_of(const char* operation, const Executor& executor, const VectorView<const T>& values,
                                     std::int64_t size) {
  operands::check_owner(operation, "values", executor, values.executor());
  require(values.size() == size, "{}: {} values for a pattern with {} entries", operation, values.size(), size);
  operands::check_address(operation, "values", values.data(), size == 0);
  Array<T> copied(executor, {size});
  copy(View<const T>(values), copied.view());
  return copied;
}

// Extents, and offsets that rise from the base to the number of entries. Columns are looked at later.
template <Scalar T, Index I, Index O> void check_view(const char* operation, const CsrView<T, I, O>& v) {
  check_extents<I>(operation, v.extents);
  const std::int64_t rows = v.extents.rows, base = v.base == Base::One ? 1 : 0;
  const auto nnz = static_cast<std::int64_t>(v.indices.size());
  require(static_cast<std::int64_t>(v.offsets.size()) == rows + 1,
          "{}: {} offsets for {} rows; there must be one more than rows", operation, v.offsets.size(), rows);
  require(v.values.size() == v.indices.size(), "{}: {} values for {} indices", operation, v.values.size(), nnz);
  require(v.offsets[0] == base, "{}: the first offset is {}; with base {} it must be {}", operation, v.offsets[0], base,
          base);
  for (std::int64_t i = 0; i < rows; ++i) {
    require(v.offsets[i] <= v.offsets[i + 1], "{}: offsets fall from {} to {} after row {}", operation, v.offsets[i],
            v.offsets[i + 1], i);
  }
  require(v.offsets[rows] - base == nnz, "{}: the last offset is {} but there are {} indices (base {})", operation,
          v.offsets[rows], nnz, base);
}

[[noreturn]] void bad_column(const char* operation, std::int64_t row, std::int64_t index, std::int64_t base,
                             std::int64_t columns) {
  fail<InvalidArgument>("{}: row {} has column index {}; with base {} columns are {} to {}", operation, row, index,
                        base, base, columns - 1 + base);
}

}  // namespace

template <Scalar T, Index I> Csr<T, I>::Csr(const Pattern<I>& pattern, const VectorView<const T>& values)
    : Csr(pattern, std::make_shared<const Array<T>>(copy_of("sparse.csr", pattern.executor(), values, pattern.nnz()))) {
}

template <Scalar T, Index I>
Csr<T, I> Csr<T, I>::from_triplets(const Executor& executor, Extents e, const Triplets<T>& t, Duplicates duplicates) {
  constexpr const char* operation = "sparse.from_triplets";
  check_triplets<I>(operation, e, t);
  const std::size_t count = t.values.size();
  return on(executor,
            gather_entries<T, I>(
                operation, e, static_cast<std::int64_t>(count), [&](std::int64_t k) { return t.rows[k]; },
                [&](std::int64_t k) { return t.columns[k]; }, [&](std::int64_t k) { return t.values[k]; }, duplicates));
}

template <Scalar T, Index I> template <Index O>
Csr<T, I> Csr<T, I>::adopt(const Executor& executor, const CsrView<T, I, O>& v, Duplicates duplicates) {
  constexpr const char* operation = "sparse.adopt";
  check_view<T, I, O>(operation, v);
  const std::int64_t rows = v.extents.rows, columns = v.extents.columns, base = v.base == Base::One ? 1 : 0;
  CsrParts<T, I> parts(v.extents);
  for (std::int64_t i = 0; i < rows; ++i) parts.offsets.data()[i] = v.offsets[i + 1] - v.offsets[i];
  parts.allocate();
  bool sorted = true;
  RowSorter<T, I> sorter;
  for (std::int64_t i = 0; i < rows; ++i) {
    const std::int64_t begin = parts.offsets.data()[i], end = parts.offsets.data()[i + 1];
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t column = std::int64_t{v.indices[k]} - base;
      if (column < 0 || column >= columns) bad_column(operation, i, v.indices[k], base, columns);
      parts.indices.data()[k] = static_cast<I>(column);
      parts.values.data()[k] = v.values[k];
      sorted = sorted && (k == begin || parts.indices.data()[k - 1] <= column);
    }
    sorter.sort(parts.indices.data() + begin, parts.values.data() + begin, end - begin);
  }
  if (base != 0) tell(executor, "sparse.adopt.base");
  if (!sorted) tell(executor, "sparse.adopt.sort");
  return on(executor, merge_duplicates(operation, std::move(parts), duplicates));
}

template <Scalar T, Index I> template <Index O>
std::optional<Csr<T, I>> Csr<T, I>::borrow(const CsrView<T, I, O>& v, std::shared_ptr<const void> owner) {
  constexpr const char* operation = "sparse.borrow";
  check_view<T, I, O>(operation, v);
  const std::int64_t rows = v.extents.rows, columns = v.extents.columns;
  bool usable = v.base == Base::Zero;
  for (std::int64_t i = 0; i < rows && usable; ++i) {
    std::int64_t before = -1;
    for (std::int64_t k = v.offsets[i]; k < v.offsets[i + 1]; ++k) {
      const std::int64_t column = v.indices[k];
      if (column < 0 || column >= columns) bad_column(operation, i, column, 0, columns);
      usable = usable && column > before;
      before = column;
    }
  }
  if (!usable) return std::nullopt;
  Array<std::int64_t> offsets = host_array<std::int64_t>(rows + 1);
  std::copy(v.offsets.begin(), v.offsets.end(), offsets.data());
  const Executor host = Executor::host();
  const auto size = static_cast<std::int64_t>(v.indices.size());
  return Csr(Pattern<I>(detail::Trusted{}, v.extents, std::move(offsets), {host, v.indices.data(), size}, owner),
             {host, v.values.data(), size}, owner);
}

template <Scalar T, Index I> Csr<T, I> Csr<T, I>::to(const Executor& executor) const {
  Array<T> copied(executor, {nnz()});
  copy(View<const T>(values()), copied.view());
  return Csr(detail::Trusted{}, pattern_.to(executor), std::move(copied));
}

#define TRN_CSR_FROM(T, I, O)                                                                \
  template Csr<T, I> Csr<T, I>::adopt(const Executor&, const CsrView<T, I, O>&, Duplicates); \
  template std::optional<Csr<T, I>> Csr<T, I>::borrow(const CsrView<T, I, O>&, std::shared_ptr<const void>);
#define TRN_CSR(T, I)              \
  template class Csr<T, I>;        \
  TRN_CSR_FROM(T, I, std::int32_t) \
  TRN_CSR_FROM(T, I, std::int64_t)
TRN_SPARSE_INDEXED(TRN_CSR)
#undef TRN_CSR
#undef TRN_CSR_FROM

}  // namespace trn::sparse
