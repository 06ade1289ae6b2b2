// Copies of matrices and of parts of them, between the executors that their views name: host memory, a device, or both.
#pragma once

#include <vector>

#include <trn/core/array.hpp>

#include "host/column_major.hpp"

namespace trn::solver::copies {

using host::Part;

// `view` in host memory, or in that of an executor: row-major.
template <class T> [[nodiscard]] Matrix<std::remove_const_t<T>> on_host(const MatrixView<T>& view) {
  using V = std::remove_const_t<T>;
  Matrix<V> copied(Executor::host(), view.rows(), view.columns());
  if (view.rows() > 0 && view.columns() > 0) {
    copy(View<const V>(MatrixView<const V>(view)), View<V>(copied.view()));
  }
  return copied;
}
template <class T>
[[nodiscard]] Matrix<std::remove_const_t<T>> on(const Executor& executor, const MatrixView<T>& view) {
  using V = std::remove_const_t<T>;
  Matrix<V> copied(executor, view.rows(), view.columns());
  if (view.rows() > 0 && view.columns() > 0) {
    copy(View<const V>(MatrixView<const V>(view)), View<V>(copied.view()));
  }
  return copied;
}
// to = from, any executors, same shape.
template <class F, class T> void move(const MatrixView<F>& from, const MatrixView<T>& to) {
  if (to.rows() == 0 || to.columns() == 0) return;
  copy(View<const T>(MatrixView<const T>(from)), View<T>(to));
}

// Rows of host memory, or of one value, into the part; nothing else is written.
template <class T> void store_part(const Matrix<T>& from, const MatrixView<T>& to, Part part) {
  for (std::int64_t i = 0; i < to.rows(); ++i) {
    const std::int64_t first = host::first_column(part, i), last = host::last_column(part, i, to.columns());
    if (first >= last) continue;
    const MatrixView<const T> row(Executor::host(), from.data() + i * from.columns() + first, 1, last - first,
                                  from.columns(), 1);
    move(row, MatrixView<T>(to.executor(), to.data() + i * to.row_stride() + first * to.column_stride(), 1,
                            last - first, to.row_stride(), to.column_stride()));
  }
}
template <class T> void fill_nan(const MatrixView<T>& a, Part part = Part::All) {
  Matrix<T> nans(Executor::host(), a.rows(), a.columns());
  host::fill(nans.view(), host::not_a_number<T>());
  if (part == Part::All)
    move(nans.view(), a);
  else
    store_part(nans, a, part);
}

template <class T> [[nodiscard]] std::vector<std::remove_const_t<T>> diagonal(const MatrixView<T>& a) {
  using V = std::remove_const_t<T>;
  const std::int64_t n = std::min(a.rows(), a.columns());
  std::vector<V> values(static_cast<std::size_t>(n));
  move(MatrixView<const V>(a.executor(), a.data(), n, 1, a.row_stride() + a.column_stride(), 1),
       MatrixView<V>(Executor::host(), values.data(), n, 1, 1, 1));
  return values;
}

}  // namespace trn::solver::copies
