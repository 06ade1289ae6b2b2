// What the solvers report, as LAPACK's info in device memory, and pivots between C's counting and C++'s.
#pragma once

#include <cctype>
#include <string>

#include <trn/solver/batched.hpp>
#include <trn/solver/report.hpp>

#include "routines.hpp"

namespace trn::capi::solver {

namespace ts = trn::solver;

// `columns` is the width of the operand that was looked at for values that are not finite.
[[nodiscard]] inline int info_of(const ts::Outcome& outcome, Int columns) {
  if (outcome.status != ts::Status::NotFinite) return static_cast<int>(outcome.lapack_info());
  const Int at = std::max<Int>(outcome.index, 0), width = std::max<Int>(columns, 1);
  return static_cast<int>(std::max(at / width, at % width) + 1);
}
inline void put_info(Call& c, int* info, int value) {
  if (c.on_host(info)) {
    *info = value;
    return;
  }
  copy_bytes(Executor::host(), &value, c.executor, device_memory(*c.handle.device, "info", info, sizeof(int)),
             sizeof(int));
}
[[nodiscard]] inline int get_info(Call& c, const int* info) {
  if (c.on_host(info)) return *info;
  int value = 0;
  copy_bytes(c.executor, device_memory(*c.handle.device, "info", info, sizeof(int)), Executor::host(), &value,
             sizeof(int));
  return value;
}
// Asked for before anything is computed: a bad address must not cost the operand.
inline void check_info(Call& c, const int* info, Int count = 1) {
  if (c.on_host(info)) return require(info != nullptr, "info is null; it receives the result");
  (void)device_memory(*c.handle.device, "info", info, count * static_cast<Int>(sizeof(int)));
}
template <class T> [[nodiscard]] VectorView<T> column(Call& c, const char* what, T* x, Int n) {
  return c.vector(what, x, n, 1);
}

// C counts rows from 1, in int or int64_t.
template <class I> void put_pivots(Call& c, const Array<Int>& from, I* to) {
  std::vector<I> counted;
  for (const Int row : from.to_host()) counted.push_back(static_cast<I>(row + 1));
  const auto bytes = static_cast<Int>(counted.size() * sizeof(I));
  copy_bytes(Executor::host(), counted.data(), c.executor, device_memory(*c.handle.device, "the pivots", to, bytes),
             bytes);
}
// Of `count` matrices of order n.
template <class I> [[nodiscard]] Array<Int> take_pivots(Call& c, const I* from, Int n, Int count = 1) {
  const auto bytes = n * count * static_cast<Int>(sizeof(I));
  from = device_memory(*c.handle.device, "the pivots", from, bytes);
  std::vector<I> counted(static_cast<std::size_t>(n * count));
  if (bytes > 0) copy_bytes(c.executor, from, Executor::host(), counted.data(), bytes);
  std::vector<Int> rows;
  for (const I row : counted) {
    require(row >= 1 && row <= n, "a pivot is {}; it must be between 1 and {}", row, n);
    rows.push_back(row - 1);
  }
  return Array<Int>::from_host(c.executor, {n * count}, rows);
}

// A job in a message: cuSOLVER's jobs are letters, and a caller's may be any byte.
[[nodiscard]] inline std::string quoted(signed char job) {
  return job > 0 && std::isprint(job) ? fmt::format("'{}'", static_cast<char>(job)) : std::to_string(job);
}
// The addresses of a batch, each with its extent looked up.
template <class T> [[nodiscard]] std::vector<T*> batch_of(Call& c, const char* what, T* const* array, Int count,
                                                          Int rows, Int columns, Int ld) {
  require(count >= 0, "the batch has {} matrices", count);
  auto list = c.addresses<T*>(what, array, count);
  for (T*& a : list) a = c.matrix(what, a, rows, columns, ld).data();
  return list;
}
inline void put_ints(Call& c, const char* what, int* to, const std::vector<int>& values) {
  const auto bytes = static_cast<Int>(values.size() * sizeof(int));
  copy_bytes(Executor::host(), values.data(), c.executor, device_memory(*c.handle.device, what, to, bytes), bytes);
}
inline void put_infos(Call& c, const ts::BatchOutcomes& outcomes, Int columns, int* info) {
  std::vector<int> values;
  for (const auto& o : outcomes) values.push_back(info_of(o, columns));
  put_ints(c, "info", info, values);
}

}  // namespace trn::capi::solver
