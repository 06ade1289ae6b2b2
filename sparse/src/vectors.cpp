// Sparse vectors: checks and loops.
#include <trn/sparse/vectors.hpp>

#include "checks.hpp"
#include "host_data.hpp"
#include "pattern_checks.hpp"
#include "scalars.hpp"

namespace trn::sparse {

namespace {

template <Scalar T, Index I, class V>
void check_pair(const char* operation, const SparseVector<T, I>& x, const VectorView<V>& y) {
  host_only(operation, x.executor());
  checks::input(operation, "y", x.executor(), y);
  require(x.size() == y.size(), "{}: x has {} elements and y {}; they must have as many", operation, x.size(),
          y.size());
}

}  // namespace

template <Scalar T, Index I> SparseVector<T, I>::SparseVector(const Executor& executor, std::int64_t size,
                                                              std::span<const I> indices, std::span<const T> values)
    : size_(size) {
  constexpr const char* operation = "sparse.vector";
  require(indices.size() == values.size(), "{}: {} indices and {} values", operation, indices.size(), values.size());
  const std::int64_t offsets[] = {0, static_cast<std::int64_t>(indices.size())};
  check_pattern<I>(operation, {1, size}, offsets, indices);
  const Shape shape{offsets[1]};
  indices_ = std::make_shared<const Array<I>>(Array<I>::from_host(executor, shape, indices));
  values_ = std::make_shared<const Array<T>>(Array<T>::from_host(executor, shape, values));
}

template <Scalar T, Index I>
SparseVector<T, I> SparseVector<T, I>::with_values(const VectorView<const T>& values) const {
  constexpr const char* operation = "sparse.vector.with_values";
  checks::input(operation, "values", executor(), values);
  require(values.size() == nnz(), "{}: {} values for {} entries", operation, values.size(), nnz());
  Array<T> copied(executor(), {nnz()});
  copy(View<const T>(values), copied.view());
  return SparseVector(size_, indices_, std::make_shared<const Array<T>>(std::move(copied)));
}

template <Scalar T, Index I>
T spvv(Op op, const SparseVector<T, I>& x, const std::type_identity_t<VectorView<const T>>& y) {
  check_pair("sparse.spvv", x, y);
  T sum(0);
  for (std::int64_t k = 0; k < x.nnz(); ++k) {
    const T v = x.values().data()[k];
    sum += (op == Op::C ? conjugate_of(v) : v) * y.data()[x.indices().data()[k] * y.stride()];
  }
  return sum;
}

template <Scalar T, Index I> void axpby(std::type_identity_t<T> alpha, const SparseVector<T, I>& x,
                                        std::type_identity_t<T> beta, const VectorView<T>& y) {
  check_pair("sparse.axpby", x, y);
  checks::output("sparse.axpby", "y", x.executor(), y);
  if (beta != T(1)) {
    for (std::int64_t i = 0; i < y.size(); ++i) {
      T& element = y.data()[i * y.stride()];
      element = beta == T(0) ? T(0) : beta * element;
    }
  }
  for (std::int64_t k = 0; k < x.nnz(); ++k)
    y.data()[x.indices().data()[k] * y.stride()] += alpha * x.values().data()[k];
}

template <Scalar T, Index I>
SparseVector<T, I> gather(const SparseVector<T, I>& pattern, const std::type_identity_t<VectorView<const T>>& y) {
  check_pair("sparse.gather", pattern, y);
  std::vector<T> values(static_cast<std::size_t>(pattern.nnz()));
  for (std::size_t k = 0; k < values.size(); ++k) values[k] = y.data()[pattern.indices().data()[k] * y.stride()];
  return pattern.with_values(VectorView<const T>(pattern.executor(), values.data(), pattern.nnz()));
}

template <Scalar T, Index I> void scatter(const SparseVector<T, I>& x, const VectorView<T>& y) {
  check_pair("sparse.scatter", x, y);
  checks::output("sparse.scatter", "y", x.executor(), y);
  for (std::int64_t k = 0; k < x.nnz(); ++k) y.data()[x.indices().data()[k] * y.stride()] = x.values().data()[k];
}

template <Scalar T, Index I> SparseVector<T, I> rot(const SparseVector<T, I>& x, const VectorView<T>& y,
                                                    std::type_identity_t<T> c, std::type_identity_t<T> s) {
  check_pair("sparse.rot", x, y);
  checks::output("sparse.rot", "y", x.executor(), y);
  std::vector<T> values(static_cast<std::size_t>(x.nnz()));
  for (std::size_t k = 0; k < values.size(); ++k) {
    T& there = y.data()[x.indices().data()[k] * y.stride()];
    const T here = x.values().data()[k];
    values[k] = c * here + s * there;
    there = c * there - s * here;
  }
  return x.with_values(VectorView<const T>(x.executor(), values.data(), x.nnz()));
}

#define TRN_VECTORS(T, I)                                                                                          \
  template class SparseVector<T, I>;                                                                               \
  template T spvv(Op, const SparseVector<T, I>&, const std::type_identity_t<VectorView<const T>>&);                \
  template void axpby(std::type_identity_t<T>, const SparseVector<T, I>&, std::type_identity_t<T>,                 \
                      const VectorView<T>&);                                                                       \
  template SparseVector<T, I> gather(const SparseVector<T, I>&, const std::type_identity_t<VectorView<const T>>&); \
  template void scatter(const SparseVector<T, I>&, const VectorView<T>&);                                          \
  template SparseVector<T, I> rot(const SparseVector<T, I>&, const VectorView<T>&, std::type_identity_t<T>,        \
                                  std::type_identity_t<T>);
TRN_SPARSE_INDEXED(TRN_VECTORS)
#undef TRN_VECTORS

}  // namespace trn::sparse
