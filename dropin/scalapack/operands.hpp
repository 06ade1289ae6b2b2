// A call's operands, brought from where ScaLAPACK has them into distributions of ours.
//
//   Panels   every rank has some whole columns, or some whole rows
//   Squares  square blocks, as large as the longer side of the caller's, go around the caller's grid
//   Whole    every rank has all of it
#pragma once

#include <algorithm>
#include <vector>

#include <trn/comm/matrix.hpp>

#include "calls.hpp"
#include "descriptor.hpp"

namespace trn::dropin::scalapack {

using comm::detail::Bytes;

// This process's part of the global array. Of its last column only the rows that are there exist.
template <class T> Bytes their_bytes(const Operand<T>& o, const BlacsGrid& grid) {
  const std::int64_t columns = o.descriptor.column.local_extent(grid.column);
  const std::int64_t rows = o.descriptor.row.local_extent(grid.row);
  const std::int64_t elements = columns == 0 || rows == 0 ? 0 : (columns - 1) * o.descriptor.lld + rows;
  using Plain = std::remove_const_t<T>;
  return {Executor::host(), const_cast<Plain*>(o.data), {elements}, {1}, dtype_of<Plain>};
}
template <class T> Bytes our_bytes(const dist::Matrix<T>& m) {
  const auto v = m.local();
  return {v.executor(), v.data(), {v.rows() * v.columns()}, {1}, dtype_of<T>};
}

template <class T> void fetch(const BlacsGrid& grid, const Operand<const T>& from, const dist::Matrix<T>& to) {
  dist::detail::redistribute(grid.group,
                             moves_in(from.descriptor, from.i, from.j, to.distribution(), grid.group.rank()),
                             their_bytes(from, grid), our_bytes(to));
}
template <class T> void give_back(const BlacsGrid& grid, const dist::Matrix<T>& from, const Operand<T>& to) {
  dist::detail::redistribute(grid.group,
                             reversed(moves_in(to.descriptor, to.i, to.j, from.distribution(), grid.group.rank())),
                             our_bytes(from), their_bytes(to, grid));
}

enum class Cut { Columns, Rows };

// The same cut of equal extents gives the same ranks the same indices.
inline dist::BlockCyclic cut(std::int64_t rows, std::int64_t columns, Cut by, int ranks) {
  const auto share = [&](std::int64_t extent) { return std::max<std::int64_t>(1, (extent + ranks - 1) / ranks); };
  if (by == Cut::Columns) return {rows, columns, std::max<std::int64_t>(1, rows), share(columns), {1, ranks}};
  return {rows, columns, share(rows), std::max<std::int64_t>(1, columns), {ranks, 1}};
}

template <class T> Operand<const T> reading(const Operand<T>& o) {
  return {o.data, o.descriptor, o.i, o.j, o.rows, o.columns};
}

template <class T> class Panels {
 public:
  Panels(const BlacsGrid& grid, const Operand<const T>& o, Cut by, const Executor& executor = settings().executor)
      : matrix_(grid.group, executor, cut(o.rows, o.columns, by, grid.group.size())) {
    fetch(grid, o, matrix_);
  }
  [[nodiscard]] MatrixView<T> view() const { return matrix_.local(); }
  [[nodiscard]] const dist::Matrix<T>& matrix() const { return matrix_; }

 private:
  dist::Matrix<T> matrix_;
};

template <class T> class Squares {
 public:
  Squares(const BlacsGrid& grid, const Operand<const T>& o)
      : matrix_(grid.group, settings().executor,
                {o.rows, o.columns, block_of(o), block_of(o), {grid.rows, grid.columns}}) {
    fetch(grid, o, matrix_);
  }
  [[nodiscard]] const dist::Matrix<T>& matrix() const { return matrix_; }

 private:
  static std::int64_t block_of(const Operand<const T>& o) {
    return std::max(o.descriptor.row.block, o.descriptor.column.block);
  }
  dist::Matrix<T> matrix_;
};

template <class T> class Whole {
 public:
  Whole(const BlacsGrid& grid, const Operand<const T>& o)
      : values_(comm::together(grid.group, [&] {
          return trn::Array<T>(settings().executor, {o.columns, o.rows});
        })) {
    const dist::Matrix<T> first(grid.group, settings().executor, cut(o.rows, o.columns, Cut::Columns, 1));
    fetch(grid, o, first);
    if (grid.group.rank() == 0)
      copy(View<const T>(MatrixView<const T>(first.local().transposed())), View<T>(values_.view()));
    comm::broadcast(grid.group, 0, View<T>(values_.view()));
  }
  [[nodiscard]] MatrixView<const T> view() const {
    return MatrixView<const T>::column_major(values_.executor(), values_.data(), values_.shape()[1],
                                             values_.shape()[0]);
  }

 private:
  trn::Array<T> values_;  // columns x rows
};

}  // namespace trn::dropin::scalapack
