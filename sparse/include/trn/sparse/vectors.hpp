// Sparse vectors against dense ones. cuSPARSE: SpVV, Axpby, Gather, Scatter, Rot.
//
// All on the host: gathering single numbers is nothing a device does well. Bounds: SpVV (k + 2) u |x|^T |y| for k
// entries; axpby and rot two roundings an element.
#pragma once

#include <trn/sparse/types.hpp>

namespace trn::sparse {

// `size` elements of which those at `indices` (rising) have values. Immutable; copies share memory.
template <Scalar T, Index I = std::int32_t> class SparseVector {
 public:
  // From host memory.
  SparseVector(const Executor& executor, std::int64_t size, std::span<const I> indices, std::span<const T> values);
  [[nodiscard]] std::int64_t size() const { return size_; }
  [[nodiscard]] std::int64_t nnz() const { return indices_->size(); }
  [[nodiscard]] const Executor& executor() const { return indices_->executor(); }
  [[nodiscard]] VectorView<const I> indices() const { return {executor(), indices_->data(), nnz()}; }
  [[nodiscard]] VectorView<const T> values() const { return {executor(), values_->data(), nnz()}; }
  [[nodiscard]] SparseVector with_values(const VectorView<const T>& values) const;

 private:
  SparseVector(std::int64_t size, std::shared_ptr<const Array<I>> indices, std::shared_ptr<const Array<T>> values)
      : size_(size), indices_(std::move(indices)), values_(std::move(values)) {}
  std::int64_t size_;
  std::shared_ptr<const Array<I>> indices_;
  std::shared_ptr<const Array<T>> values_;
};

// x^T y, or x^H y for Op::C.
template <Scalar T, Index I>
[[nodiscard]] T spvv(Op op, const SparseVector<T, I>& x, const std::type_identity_t<VectorView<const T>>& y);
// y = alpha x + beta y.
template <Scalar T, Index I> void axpby(std::type_identity_t<T> alpha, const SparseVector<T, I>& x,
                                        std::type_identity_t<T> beta, const VectorView<T>& y);
// The elements of y at the places of `pattern`.
template <Scalar T, Index I>
[[nodiscard]] SparseVector<T, I> gather(const SparseVector<T, I>& pattern,
                                        const std::type_identity_t<VectorView<const T>>& y);
// y at the places of x becomes x; the rest stays.
template <Scalar T, Index I> void scatter(const SparseVector<T, I>& x, const VectorView<T>& y);
// (x, y) = (c x + s y, c y - s x) at the places of x; the new x is returned. As in cuSPARSE c may be complex and s is
// not conjugated: a complex rotation that keeps norms is cuBLAS's, not this one.
template <Scalar T, Index I> [[nodiscard]] SparseVector<T, I> rot(const SparseVector<T, I>& x, const VectorView<T>& y,
                                                                  std::type_identity_t<T> c, std::type_identity_t<T> s);

}  // namespace trn::sparse
