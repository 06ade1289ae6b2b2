// Pattern: where the entries of a row-compressed matrix are. Checked once, when it is made; immutable and shared from
// then on, so that matrices with new values on the same pattern cost nothing but their values.
//
// What holds of every Pattern: offsets has rows + 1 elements, begins with 0 and never falls; the last one is the number
// of entries; in each row the column indices rise strictly (sorted, no duplicates) and lie in [0, columns).
#pragma once

#include <memory>
#include <optional>

#include <trn/sparse/types.hpp>

namespace trn::sparse {

template <Index I = std::int32_t> class Pattern {
 public:
  // From host memory. Throws InvalidArgument that names the first row or entry that breaks a rule.
  Pattern(const Executor& executor, Extents extents, std::span<const std::int64_t> offsets, std::span<const I> indices);
  Pattern(detail::Trusted, Extents extents, Array<std::int64_t>&& offsets, Array<I>&& indices)
      : data_(std::make_shared<const Data>(extents, std::move(offsets), std::move(indices))) {}
  // Over indices that lie in somebody else's memory, which `owner` keeps alive.
  Pattern(detail::Trusted, Extents extents, Array<std::int64_t>&& offsets, const VectorView<const I>& indices,
          std::shared_ptr<const void> owner)
      : data_(std::make_shared<const Data>(extents, std::move(offsets), indices, std::move(owner))) {}

  [[nodiscard]] Extents extents() const { return data_->extents; }
  [[nodiscard]] std::int64_t rows() const { return data_->extents.rows; }
  [[nodiscard]] std::int64_t columns() const { return data_->extents.columns; }
  [[nodiscard]] std::int64_t nnz() const { return data_->indices.size(); }
  [[nodiscard]] const Executor& executor() const { return data_->indices.executor(); }
  [[nodiscard]] VectorView<const std::int64_t> offsets() const {
    return {executor(), data_->offsets.data(), data_->offsets.size()};
  }
  [[nodiscard]] VectorView<const I> indices() const { return data_->indices; }

  [[nodiscard]] Pattern to(const Executor& executor) const;
  // Whether both are one and the same object, as with_values() makes them.
  [[nodiscard]] bool shares(const Pattern& other) const { return data_ == other.data_; }
  // Whether extents, offsets and indices are the same; both on the host.
  [[nodiscard]] bool equals(const Pattern& other) const;

 private:
  struct Data {
    Data(Extents e, Array<std::int64_t>&& o, Array<I>&& i)
        : extents(e),
          offsets(std::move(o)),
          stored(std::move(i)),
          indices(stored->executor(), stored->data(), stored->size()) {}
    Data(Extents e, Array<std::int64_t>&& o, const VectorView<const I>& i, std::shared_ptr<const void> keeper)
        : extents(e), offsets(std::move(o)), indices(i), owner(std::move(keeper)) {}
    Extents extents;
    Array<std::int64_t> offsets;
    std::optional<Array<I>> stored;  // what `indices` shows, where it is this pattern's own
    VectorView<const I> indices;
    std::shared_ptr<const void> owner;  // of indices that are not
  };
  std::shared_ptr<const Data> data_;
};

}  // namespace trn::sparse
