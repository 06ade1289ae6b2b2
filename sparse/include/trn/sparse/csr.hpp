// Csr: a row-compressed sparse matrix as an immutable value. Copies are cheap: they share pattern and values.
#pragma once

#include <memory>
#include <optional>

#include <trn/sparse/pattern.hpp>

namespace trn::sparse {

// Someone else's row-compressed arrays, on the host: any order within rows, base 0 or 1, offsets of either width.
template <Scalar T, Index I = std::int32_t, Index O = std::int64_t> struct CsrView {
  Extents extents;
  std::span<const O> offsets;
  std::span<const I> indices;
  std::span<const T> values;
  Base base = Base::Zero;
};

template <Scalar T, Index I = std::int32_t> class Csr {
 public:
  using Value = T;
  using IndexType = I;

  // The given values on a pattern; both on one executor. Copies the values.
  Csr(const Pattern<I>& pattern, const VectorView<const T>& values);
  Csr(detail::Trusted, Pattern<I> pattern, Array<T>&& values)
      : Csr(std::move(pattern), std::make_shared<const Array<T>>(std::move(values))) {}

  // Indices out of range are errors; what duplicates are is the caller's to say.
  [[nodiscard]] static Csr from_triplets(const Executor& executor, Extents extents, const Triplets<T>& entries,
                                         Duplicates duplicates = Duplicates::Sum);
  // Checks and copies. Base 1 and unsorted rows are converted, and a Dispatch event ("sparse.adopt.base",
  // "sparse.adopt.sort") says so.
  template <Index O> [[nodiscard]] static Csr adopt(const Executor& executor, const CsrView<T, I, O>& view,
                                                    Duplicates duplicates = Duplicates::Error);
  // Checks as adopt() does, but leaves indices and values where they lie, on the host: the offsets alone are copied.
  // `owner` keeps the arrays alive, and nobody may write to them as long as this matrix, or one that shares with it,
  // lives. Nothing where they cannot be used so: base 1, a row that is not sorted or names a column twice.
  template <Index O>
  [[nodiscard]] static std::optional<Csr> borrow(const CsrView<T, I, O>& view, std::shared_ptr<const void> owner);

  [[nodiscard]] const Pattern<I>& pattern() const { return pattern_; }
  [[nodiscard]] VectorView<const T> values() const { return values_; }
  [[nodiscard]] Extents extents() const { return pattern_.extents(); }
  [[nodiscard]] std::int64_t rows() const { return pattern_.rows(); }
  [[nodiscard]] std::int64_t columns() const { return pattern_.columns(); }
  [[nodiscard]] std::int64_t nnz() const { return pattern_.nnz(); }
  [[nodiscard]] const Executor& executor() const { return pattern_.executor(); }

  // Shares the pattern: for products with new values and for refactorisation.
  [[nodiscard]] Csr with_values(const VectorView<const T>& values) const { return Csr(pattern_, values); }
  [[nodiscard]] Csr to(const Executor& executor) const;

 private:
  Csr(Pattern<I> pattern, const std::shared_ptr<const Array<T>>& values)
      : Csr(std::move(pattern), {values->executor(), values->data(), values->size()}, values) {}
  Csr(Pattern<I> pattern, const VectorView<const T>& values, std::shared_ptr<const void> owner)
      : pattern_(std::move(pattern)), values_(values), owner_(std::move(owner)) {}

  Pattern<I> pattern_;
  VectorView<const T> values_;
  std::shared_ptr<const void> owner_;  // of the values
};

}  // namespace trn::sparse
