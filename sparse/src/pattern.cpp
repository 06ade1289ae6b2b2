// Pattern: the checks that every sparse matrix has passed.
#include <trn/sparse/pattern.hpp>

#include <algorithm>

#include "host_data.hpp"
#include "pattern_checks.hpp"

namespace trn::sparse {

void host_only(const char* operation, const Executor& executor) {
  if (executor.family() != Family::Host) {
    fail<NotImplemented>("{}: runs on the host only, and the matrix is on '{}'; move it with to(Executor::host())",
                         operation, executor.name());
  }
}

void check_square(const char* operation, Extents extents) {
  require(extents.rows == extents.columns, "{}: the matrix is {} x {}; it must be square", operation, extents.rows,
          extents.columns);
}

template <Index I> void check_extents(const char* operation, Extents e) {
  require(e.rows >= 0 && e.columns >= 0, "{}: extents are {} x {}; both must be >= 0", operation, e.rows, e.columns);
  require(e.rows <= kMostExtent<I> && e.columns <= kMostExtent<I>,
          "{}: extents {} x {} do not fit {}-bit indices, which end at {}; use 64-bit indices", operation, e.rows,
          e.columns, 8 * sizeof(I), kMostExtent<I>);
}

template <Index I> void check_pattern(const char* operation, Extents e, std::span<const std::int64_t> offsets,
                                      std::span<const I> indices) {
  check_extents<I>(operation, e);
  const auto size = static_cast<std::int64_t>(offsets.size()), nnz = static_cast<std::int64_t>(indices.size());
  require(size == e.rows + 1, "{}: {} offsets for {} rows; there must be one more than rows", operation, size, e.rows);
  require(offsets[0] == 0, "{}: the first offset is {}; it must be 0", operation, offsets[0]);
  for (std::int64_t i = 0; i < e.rows; ++i) {
    const std::int64_t begin = offsets[i], end = offsets[i + 1];
    require(begin <= end, "{}: offsets fall from {} to {} after row {}", operation, begin, end, i);
    require(end <= nnz, "{}: row {} ends at entry {} of {}", operation, i, end, nnz);
    for (std::int64_t k = begin; k < end; ++k) {
      const std::int64_t column = indices[k], before = k == begin ? -1 : std::int64_t{indices[k - 1]};
      require(column >= 0 && column < e.columns, "{}: row {} has column index {}; columns are 0 to {}", operation, i,
              column, e.columns - 1);
      require(before != column, "{}: row {} has column {} twice", operation, i, column);
      require(before < column, "{}: row {} is not sorted: column {} comes after {}; adopt() sorts, or sort the indices",
              operation, i, column, before);
    }
  }
  require(offsets[e.rows] == nnz, "{}: the last offset is {} but there are {} indices", operation, offsets[e.rows],
          nnz);
}

template <Index I> Pattern<I>::Pattern(const Executor& executor, Extents extents, std::span<const std::int64_t> offsets,
                                       std::span<const I> indices)
    : data_((check_pattern<I>("sparse.pattern", extents, offsets, indices),
             std::make_shared<const Data>(
                 extents, Array<std::int64_t>::from_host(executor, {extents.rows + 1}, offsets),
                 Array<I>::from_host(executor, {static_cast<std::int64_t>(indices.size())}, indices)))) {}

template <Index I> Pattern<I> Pattern<I>::to(const Executor& executor) const {
  Array<I> copied(executor, {nnz()});
  copy(View<const I>(indices()), copied.view());
  return Pattern(detail::Trusted{}, extents(), data_->offsets.to(executor), std::move(copied));
}

template <Index I> bool Pattern<I>::equals(const Pattern& other) const {
  if (shares(other)) return true;
  host_only("sparse.pattern.equals", executor());
  host_only("sparse.pattern.equals", other.executor());
  if (extents() != other.extents() || nnz() != other.nnz()) return false;
  const PatternRef<I> a = host_ref(*this), b = host_ref(other);
  return std::equal(a.offsets, a.offsets + a.rows + 1, b.offsets) &&
         std::equal(a.indices, a.indices + a.nnz(), b.indices);
}

#define TRN_PATTERN(I)                                                                                     \
  template void check_extents<I>(const char*, Extents);                                                    \
  template void check_pattern<I>(const char*, Extents, std::span<const std::int64_t>, std::span<const I>); \
  template class Pattern<I>;
TRN_PATTERN(std::int32_t)
TRN_PATTERN(std::int64_t)
#undef TRN_PATTERN

}  // namespace trn::sparse
