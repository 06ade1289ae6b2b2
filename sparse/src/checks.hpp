// What entry points check of dense operands, in core's words.
#pragma once

#include <trn/core/operands.hpp>
#include <trn/sparse/types.hpp>

namespace trn::sparse::checks {

template <class T> void input(const char* operation, const char* name, const Executor& call, const MatrixView<T>& x) {
  operands::check_owner(operation, name, call, x.executor());
  operands::check_address(operation, name, x.data(), x.rows() == 0 || x.columns() == 0);
}
template <class T> void output(const char* operation, const char* name, const Executor& call, const MatrixView<T>& x) {
  input(operation, name, call, x);
  const layout::Dim dims[] = {{x.rows(), x.row_stride()}, {x.columns(), x.column_stride()}};
  operands::check_distinct(operation, name, dims);
}
template <class T> void input(const char* operation, const char* name, const Executor& call, const VectorView<T>& x) {
  operands::check_owner(operation, name, call, x.executor());
  operands::check_address(operation, name, x.data(), x.size() == 0);
}
template <class T> void output(const char* operation, const char* name, const Executor& call, const VectorView<T>& x) {
  input(operation, name, call, x);
  const layout::Dim dims[] = {{x.size(), x.stride()}};
  operands::check_distinct(operation, name, dims);
}
template <class T>
void shape(const char* operation, const char* name, const MatrixView<T>& x, std::int64_t rows, std::int64_t columns) {
  require(x.rows() == rows && x.columns() == columns, "{}: {} is {} x {}; it must be {} x {}", operation, name,
          x.rows(), x.columns(), rows, columns);
}
// Input and output share no memory.
template <class T> void apart(const char* operation, const char* in_name, const MatrixView<const T>& in,
                              const char* out_name, const MatrixView<T>& out) {
  if (in.rows() == 0 || in.columns() == 0 || out.rows() == 0 || out.columns() == 0) return;
  const layout::Dim a[] = {{in.rows(), in.row_stride()}, {in.columns(), in.column_stride()}};
  const layout::Dim b[] = {{out.rows(), out.row_stride()}, {out.columns(), out.column_stride()}};
  operands::check_apart(operation, in_name, {reinterpret_cast<std::uintptr_t>(in.data()), sizeof(T), a}, out_name,
                        {reinterpret_cast<std::uintptr_t>(out.data()), sizeof(T), b});
}

}  // namespace trn::sparse::checks
