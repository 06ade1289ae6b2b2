// What every entry point checks of its operands: the executor they live on, null pointers, outputs whose elements
// overlap, shapes, and extents that LAPACK's 32-bit integers cannot count. Each message names operation and operand.
#pragma once

#include <limits>

#include <trn/core/enumerators.hpp>
#include <trn/core/layout.hpp>
#include <trn/solver/report.hpp>
#include <trn/solver/types.hpp>

namespace trn::solver::checks {

inline constexpr std::int64_t kMostInt = std::numeric_limits<int>::max();

// Every argument that is an enumerator: the first thing that an entry point checks.
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
inline void enumerator(const char* operation, Norm norm) {
  operands::check_enumerator(operation, "Norm", norm, Norm::Infinity);
}
inline void enumerator(const char* operation, Certify certify) {
  operands::check_enumerator(operation, "Certify", certify, Certify::Rigorous);
}
template <class... E> void enumerators(const char* operation, E... values) { (enumerator(operation, values), ...); }

void executor_of(const char* operation, const char* operand, const Executor& call, const Executor& owner);
void address_of(const char* operation, const char* operand, const void* data, bool empty);
// Two elements of an output may not share an address.
void distinct_elements(const char* operation, const char* operand, std::int64_t rows, std::int64_t columns,
                       std::int64_t row_stride, std::int64_t column_stride);
// LAPACK counts in 32 bits.
void countable(const char* operation, const char* operand, std::int64_t rows, std::int64_t columns);
void native(const char* operation, const Precision& precision);
// The same; double and complex<double> on a device also take Exact, which is how they are computed there.
void native(const char* operation, const Executor& executor, DType dtype, const Precision& precision);

template <class T> void input(const char* operation, const char* name, const Executor& call, const MatrixView<T>& x) {
  executor_of(operation, name, call, x.executor());
  countable(operation, name, x.rows(), x.columns());
  address_of(operation, name, x.data(), x.rows() == 0 || x.columns() == 0);
}
template <class T> void input(const char* operation, const char* name, const Executor& call, const VectorView<T>& x) {
  executor_of(operation, name, call, x.executor());
  countable(operation, name, x.size(), 1);
  address_of(operation, name, x.data(), x.size() == 0);
}
template <class T> void output(const char* operation, const char* name, const Executor& call, const MatrixView<T>& x) {
  input(operation, name, call, x);
  distinct_elements(operation, name, x.rows(), x.columns(), x.row_stride(), x.column_stride());
}
template <class T> void output(const char* operation, const char* name, const Executor& call, const VectorView<T>& x) {
  input(operation, name, call, x);
  distinct_elements(operation, name, x.size(), 1, x.stride(), 1);
}

template <class T> void square(const char* operation, const char* name, const MatrixView<T>& x) {
  require(x.rows() == x.columns(), "{}: {} is {} x {}; it must be square", operation, name, x.rows(), x.columns());
}
template <class T>
void shape(const char* operation, const char* name, const MatrixView<T>& x, std::int64_t rows, std::int64_t columns) {
  require(x.rows() == rows && x.columns() == columns, "{}: {} is {} x {}; it must be {} x {}", operation, name,
          x.rows(), x.columns(), rows, columns);
}
template <class T> void rows(const char* operation, const char* name, const MatrixView<T>& x, std::int64_t rows) {
  require(x.rows() == rows, "{}: {} has {} rows; it must have {}", operation, name, x.rows(), rows);
}
template <class T> void size(const char* operation, const char* name, const VectorView<T>& x, std::int64_t size) {
  require(x.size() == size, "{}: {} has {} elements; it must have {}", operation, name, x.size(), size);
}

// Two operands may share no memory when one of them is written.
void apart(const char* operation, const char* a_name, const layout::Region& a, const char* b_name,
           const layout::Region& b);
struct Extent {
  const void* data;
  std::int64_t bytes;
  layout::Dim dims[2];
  [[nodiscard]] layout::Region region() const { return {reinterpret_cast<std::uintptr_t>(data), bytes, dims}; }
};
template <class T> Extent extent(const MatrixView<T>& x) {
  return {x.data(), sizeof(T), {{x.rows(), x.row_stride()}, {x.columns(), x.column_stride()}}};
}
template <class T> Extent extent(const VectorView<T>& x) {
  return {x.data(), sizeof(T), {{x.size(), x.stride()}, {1, 1}}};
}
template <class A, class B>
requires requires(const A& a, const B& b) { extent(a), extent(b); }
void apart(const char* operation, const char* a_name, const A& a, const char* b_name, const B& b) {
  const Extent of_a = extent(a), of_b = extent(b);
  apart(operation, a_name, of_a.region(), b_name, of_b.region());
}

}  // namespace trn::solver::checks
