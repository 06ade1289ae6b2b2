// What every door checks of its operands: the executor they live on, null pointers, outputs whose elements overlap,
// inputs that share memory with outputs. Each message names the operation and the operand.
#pragma once

#include <cstddef>

#include <trn/blas/storage.hpp>

namespace trn::blas::checks {

// Lives on the call's executor and, unless empty, has an address.
void executor_of(const char* operation, const char* operand, const Executor& call, const Executor& owner);
void address_of(const char* operation, const char* operand, const void* data, bool empty);

template <class T> void operand(const char* operation, const char* name, const Executor& call, const MatrixView<T>& x) {
  executor_of(operation, name, call, x.executor());
  address_of(operation, name, x.data(), x.rows() == 0 || x.columns() == 0);
}
template <class T> void operand(const char* operation, const char* name, const Executor& call, const VectorView<T>& x) {
  executor_of(operation, name, call, x.executor());
  address_of(operation, name, x.data(), x.size() == 0);
}
template <class T> void operand(const char* operation, const char* name, const Executor& call, const PackedView<T>& x) {
  executor_of(operation, name, call, x.executor());
  address_of(operation, name, x.data(), x.n() == 0);
}
template <class T> void operand(const char* operation, const char* name, const Executor& call, const BandView<T>& x) {
  executor_of(operation, name, call, x.executor());
  address_of(operation, name, x.data(), x.rows() == 0 || x.columns() == 0);
}

// A matrix as the checks see it. Strides in elements.
struct Extent {
  const void* data;
  std::int64_t rows, columns, row_stride, column_stride, element_bytes;
};
template <class T> Extent extent(const MatrixView<T>& x) {
  return {x.data(), x.rows(), x.columns(), x.row_stride(), x.column_stride(), sizeof(T)};
}
template <class T> Extent extent(const VectorView<T>& x) { return {x.data(), x.size(), 1, x.stride(), 1, sizeof(T)}; }

// Two elements of an output may not share an address, or the result would depend on the order of writes: one
// direction's stride must clear the whole extent of the other.
void distinct_elements(const char* operation, const char* operand, const Extent& output);

// Whether two matrices share elements, where that can be told: the same first address, or blocks of one row-major or
// column-major matrix.
[[nodiscard]] bool overlap(const Extent& x, const Extent& y);
void no_overlap(const char* operation, const char* input_name, const Extent& input, const char* output_name,
                const Extent& output);

}  // namespace trn::blas::checks
