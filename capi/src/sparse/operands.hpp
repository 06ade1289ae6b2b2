// Descriptors as operands of trn::sparse. A sparse matrix of any format is read into a row-compressed one on the host,
// with a list that says where each entry lies in the caller's array of values; indices out of range, offsets that fall
// and a wrong number of entries are INVALID_VALUE, entries that come twice NOT_SUPPORTED.
#pragma once

#include <vector>

#include <trn/sparse/csr.hpp>

#include "handle.hpp"

namespace trn::capi::sparse {

namespace ts = trn::sparse;

struct Entries {
  Int rows = 0, columns = 0;
  std::vector<Int> offsets;
  std::vector<std::int32_t> indices;
  std::vector<Int> places;  // of the values
  friend bool operator==(const Entries&, const Entries&) = default;
};
// Sorts entries that come in any order; `places` are 0, 1, ... unless given.
[[nodiscard]] Entries sorted(Int rows, Int columns, const std::vector<Int>& row, const std::vector<Int>& column,
                             std::vector<Int> places);
// The line of each entry of a compressed format; `offsets` of all lines and the end.
[[nodiscard]] std::vector<Int> expand(const std::vector<Int>& offsets, Int count);
[[nodiscard]] Entries entries_of(Call& c, const SpMat& m, Int batch = 0);
[[nodiscard]] Int stored_values(const SpMat& m);
[[nodiscard]] std::vector<Int> integers(Call& c, const char* what, const void* from, trnsparseIndexType_t type,
                                        Int count, Int base);
void put_integers(Call& c, const char* what, void* to, trnsparseIndexType_t type, const std::vector<Int>& values,
                  Int base);
[[nodiscard]] Op op_of(trnsparseOperation_t op);
void host_only(const Call& c, const char* what);
inline void check_alg(int alg, int most) {
  require(alg >= 0 && alg <= most, "algorithm {}; there are 0 to {}", alg, most);
}

template <class T> [[nodiscard]] std::vector<T> fetch(Call& c, const char* what, const void* from, Int count) {
  check(count);
  const Int bytes = count * static_cast<Int>(sizeof(T));
  from = device_memory(*c.handle.device, what, from, bytes);
  std::vector<T> to(static_cast<std::size_t>(count));
  if (count > 0) copy_bytes(c.executor, from, Executor::host(), to.data(), bytes);
  return to;
}
template <class T> void store(Call& c, const char* what, void* to, const std::vector<T>& from) {
  const auto bytes = static_cast<Int>(from.size() * sizeof(T));
  to = device_memory(*c.handle.device, what, to, bytes);
  if (bytes > 0) copy_bytes(Executor::host(), from.data(), c.executor, to, bytes);
}
template <class T> [[nodiscard]] T* values_at(const SpMat& m, Int batch) {
  return static_cast<T*>(m.values) + batch * m.value_stride;
}
template <class T>
[[nodiscard]] std::vector<T> values_of(Call& c, const SpMat& m, const std::vector<Int>& places, Int batch = 0) {
  const auto all = fetch<T>(c, "the values", values_at<T>(m, batch), stored_values(m));
  std::vector<T> found;
  found.reserve(places.size());
  for (const Int at : places) found.push_back(all[static_cast<std::size_t>(at)]);
  return found;
}
template <class T> [[nodiscard]] VectorView<const T> host_view(const std::vector<T>& v) {
  return {Executor::host(), v.data(), static_cast<Int>(v.size())};
}
template <class T> [[nodiscard]] ts::Csr<T> csr_of(Call& c, const SpMat& m, const Entries& e, Int batch = 0) {
  const ts::Pattern<> pattern(Executor::host(), {e.rows, e.columns}, e.offsets, e.indices);
  return {pattern, host_view(values_of<T>(c, m, e.places, batch))};
}
template <class T> [[nodiscard]] ts::Csr<T> csr_of(Call& c, const SpMat& m) {
  return csr_of<T>(c, m, entries_of(c, m));
}
// New values for entries whose places are known; padding stays.
template <class T>
void put_values(Call& c, const SpMat& m, const std::vector<Int>& places, const std::vector<T>& from, Int batch = 0) {
  auto all = fetch<T>(c, "the values", values_at<T>(m, batch), stored_values(m));
  for (std::size_t k = 0; k < places.size(); ++k) all[static_cast<std::size_t>(places[k])] = from[k];
  store(c, "the values", values_at<T>(m, batch), all);
}
// A whole matrix into the caller's CSR, CSC or COO arrays.
template <class T> void put_csr(Call& c, const SpMat& m, const ts::Csr<T>& from);
// Its pattern alone.
void put_pattern(Call& c, const SpMat& m, const ts::Pattern<>& pattern);

// op(X) of a dense operand. Conjugation is not a view: op C of complex types is refused.
template <class T> [[nodiscard]] MatrixView<T> dense(Call& c, const char* what, const DnMat& m,
                                                     trnsparseOperation_t op = TRNSPARSE_OPERATION_NON_TRANSPOSE,
                                                     Int batch = 0) {
  const bool by_rows = m.order == TRNSPARSE_ORDER_ROW;
  const Int lines = by_rows ? m.rows : m.columns, line = by_rows ? m.columns : m.rows;
  T* values = static_cast<T*>(m.values) + batch * m.stride;
  if (lines > 0 && line > 0)
    values = device_memory(*c.handle.device, what, values, blas::span_bytes(lines, m.ld, line, sizeof(T)));
  const Int row_step = by_rows ? m.ld : 1, column_step = by_rows ? 1 : m.ld;
  if (op_of(op) == Op::N) return {c.executor, values, m.rows, m.columns, row_step, column_step};
  if (op == TRNSPARSE_OPERATION_CONJUGATE_TRANSPOSE && !std::is_floating_point_v<std::remove_const_t<T>>)
    fail<NotImplemented>("{} is a conjugate transpose; there are N and T", what);
  return {c.executor, values, m.columns, m.rows, column_step, row_step};
}
// A vector as a matrix of one column.
template <class T> [[nodiscard]] MatrixView<T> dense(Call& c, const char* what, const DnVec& v) {
  T* const values = device_memory(*c.handle.device, what, static_cast<T*>(v.values), v.size * Int{sizeof(T)});
  return {c.executor, values, v.size, 1, 1, std::max<Int>(v.size, 1)};
}
template <class T> [[nodiscard]] T scalar(const Call& c, const void* address, const char* what) {
  return c.read(static_cast<const T*>(address), what);
}

}  // namespace trn::capi::sparse
