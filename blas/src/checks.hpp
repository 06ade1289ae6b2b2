// The checks of trn/core/operands.hpp for the operands of BLAS: vectors, matrices, packed triangles and bands.
#pragma once

#include <trn/blas/storage.hpp>
#include <trn/core/enumerators.hpp>
#include <trn/core/operands.hpp>

namespace trn::blas::checks {

using operands::check_address;
using operands::check_owner;

inline void enumerator(const char* operation, Op op) { operands::check_enumerator(operation, "Op", op, Op::C); }
inline void enumerator(const char* operation, Uplo uplo) {
  operands::check_enumerator(operation, "Uplo", uplo, Uplo::Upper);
}
inline void enumerator(const char* operation, Diag diag) {
  operands::check_enumerator(operation, "Diag", diag, Diag::Unit);
}
inline void enumerator(const char* operation, Side side) {
  operands::check_enumerator(operation, "Side", side, Side::Right);
}
inline void enumerator(const char* operation, Layout layout) {
  operands::check_enumerator(operation, "Layout", layout, Layout::RowMajor);
}
inline void enumerator(const char* operation, const Precision& precision) {
  operands::check_enumerator(operation, precision);
}
// The first thing that an entry point checks: every argument that is an enumerator or holds one.
template <class... E> void enumerators(const char* operation, const E&... values) {
  (enumerator(operation, values), ...);
}

template <class T> void operand(const char* operation, const char* name, const Executor& call, const MatrixView<T>& x) {
  check_owner(operation, name, call, x.executor());
  check_address(operation, name, x.data(), x.rows() == 0 || x.columns() == 0);
}
template <class T> void operand(const char* operation, const char* name, const Executor& call, const VectorView<T>& x) {
  check_owner(operation, name, call, x.executor());
  check_address(operation, name, x.data(), x.size() == 0);
}
template <class T> void operand(const char* operation, const char* name, const Executor& call, const PackedView<T>& x) {
  enumerators(operation, x.uplo(), x.layout());
  check_owner(operation, name, call, x.executor());
  check_address(operation, name, x.data(), x.n() == 0);
}
template <class T> void operand(const char* operation, const char* name, const Executor& call, const BandView<T>& x) {
  enumerators(operation, x.layout());
  check_owner(operation, name, call, x.executor());
  check_address(operation, name, x.data(), x.rows() == 0 || x.columns() == 0);
}

// A matrix as the checks see it. Strides in elements.
struct Extent {
  const void* data;
  layout::Dim all_dims[2];
  std::int64_t element_bytes;
  std::size_t rank = 2;  // a vector has 1
  [[nodiscard]] std::span<const layout::Dim> dims() const { return std::span(all_dims).first(rank); }
  [[nodiscard]] layout::Region region() const {
    return {reinterpret_cast<std::uintptr_t>(data), element_bytes, dims()};
  }
};
template <class T> Extent extent(const MatrixView<T>& x) {
  return {x.data(), {{x.rows(), x.row_stride()}, {x.columns(), x.column_stride()}}, sizeof(T)};
}
template <class T> Extent extent(const VectorView<T>& x) { return {x.data(), {{x.size(), x.stride()}}, sizeof(T), 1}; }

inline void distinct_elements(const char* operation, const char* operand, const Extent& output) {
  operands::check_distinct(operation, operand, output.dims());
}
[[nodiscard]] inline bool overlap(const Extent& x, const Extent& y) { return layout::overlap(x.region(), y.region()); }
inline void no_overlap(const char* operation, const char* input_name, const Extent& input, const char* output_name,
                       const Extent& output) {
  operands::check_apart(operation, input_name, input.region(), output_name, output.region());
}

}  // namespace trn::blas::checks
