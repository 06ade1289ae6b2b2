// Operands of a distributed operation: what the ranks say of them before it begins, and the form in which a rank of
// C's grid wants them.
#pragma once

#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include <trn/blas/types.hpp>
#include <trn/comm/matrix.hpp>

namespace trn::blas::distributed {

// What must be equal on all ranks: collected argument by argument, compared by say().
class Arguments {
 public:
  Arguments(const char* operation, const comm::Communicator& group) : operation_(operation), group_(group) {}
  template <class E>
  requires std::is_enum_v<E> || std::integral<E> Arguments& add(E value) {
    values_.push_back(static_cast<std::int64_t>(value));
    return *this;
  }
  Arguments& add(double x) { return add(std::bit_cast<std::int64_t>(x)); }
  Arguments& add(float x) { return add(static_cast<double>(x)); }
  template <class R> Arguments& add(std::complex<R> x) { return add(x.real()).add(x.imag()); }
  Arguments& add(const Precision& p) { return add(p.mode()).add(p.target_error()); }
  template <class T> Arguments& add(const dist::Matrix<T>& x) {
    const dist::BlockCyclic& d = x.distribution();
    same_group_ = same_group_ && x.group() == group_;
    return add(dtype_of<T>)
        .add(x.executor().family())
        .add(d.rows)
        .add(d.columns)
        .add(d.row_block)
        .add(d.column_block)
        .add(d.grid.rows)
        .add(d.grid.columns);
  }
  // Collective: throws InvalidArgument on all ranks where one says something else, or has operands of two groups.
  void say() {
    values_.push_back(same_group_ ? 1 : 0);
    group_.transport().check({operation_, values_});
    require(same_group_, "{}: the operands belong to different groups; make them on one communicator", operation_);
  }

 private:
  const char* operation_;
  const comm::Communicator& group_;
  std::vector<std::int64_t> values_;
  bool same_group_ = true;
};

inline const char* letter_of(Op op) { return op == Op::N ? "N" : op == Op::T ? "T" : "C"; }

// The same elements lie on the same ranks in the same places. A block size does not matter where there is one rank.
inline bool equivalent(const dist::BlockCyclic& x, const dist::BlockCyclic& y) {
  return x.grid == y.grid && (x.grid.rows == 1 || x.row_block == y.row_block) &&
         (x.grid.columns == 1 || x.column_block == y.column_block);
}

// One rank's part of op(X), as it is stored: for an op that transposes, transposed.
template <class T> struct Part {
  MatrixView<const T> stored;
  Op op;
  dist::Cyclic row, column;  // how op(X) is cut

  // A block of the part of op(X), as it is stored.
  [[nodiscard]] MatrixView<const T> block(std::int64_t i, std::int64_t j, std::int64_t rows,
                                          std::int64_t columns) const {
    return op == Op::N ? stored.block(i, j, rows, columns) : stored.block(j, i, columns, rows);
  }
};

// op(X) in parts: rank (r, c) of the grid has the elements in rows of part r and columns of part c, stored as X is: for
// an op that transposes, `stored` is the transposed part. Made without communication, so that all ranks can agree that
// it succeeded; then bring() moves what does not lie right already.
template <class T> class Aligned : public Part<T> {
 public:
  // Blocks of op(X); 0: X's own.
  Aligned(const dist::Matrix<T>& x, Op transpose, std::int64_t row_block, std::int64_t column_block,
          const dist::Grid& whole);
  void bring() const;  // collective
  using Part<T>::stored, Part<T>::op, Part<T>::row, Part<T>::column;

 private:
  const dist::Matrix<T>& x_;
  dist::Grid grid_;
  dist::BlockCyclic to_;
  std::optional<trn::Array<T>> moved_;
};

// Moves to a distribution whose part `place` is this rank's, -1: none is, and whose part i is rank rank_of(i)'s.
template <class RankOf> std::vector<dist::Move> moves_to_places(const dist::BlockCyclic& from,
                                                                const dist::BlockCyclic& to, const RankOf& rank_of,
                                                                int place, int me) {
  std::vector<dist::Move> all;
  for (const dist::Move& m : dist::moves(from, to, me)) {
    if (m.from == me) all.push_back(m);
  }
  if (place >= 0) {
    for (const dist::Move& m : dist::moves(from, to, place)) {
      if (m.to == place && m.from != me) all.push_back(m);
    }
  }
  for (dist::Move& m : all) m.to = rank_of(m.to);
  std::stable_sort(all.begin(), all.end(), [](const dist::Move& x, const dist::Move& y) {
    return std::pair(x.from, x.to) < std::pair(y.from, y.to);
  });
  return all;
}

// Where the transposed X goes: rank (a, b) of the transposed grid is rank (b, a) of the grid.
inline std::vector<dist::Move> moves_across(const dist::BlockCyclic& from, const dist::BlockCyclic& to,
                                            const dist::Grid& grid, int me) {
  return moves_to_places(
      from, to, [&](int place) { return grid.rank(to.grid.column_of(place), to.grid.row_of(place)); },
      me < grid.size() ? to.grid.rank(grid.column_of(me), grid.row_of(me)) : -1, me);
}

template <class T> Aligned<T>::Aligned(const dist::Matrix<T>& x, Op transpose, std::int64_t row_block,
                                       std::int64_t column_block, const dist::Grid& whole)
    : Part<T>{x.local(), transpose, {}, {}}, x_(x), grid_(whole) {
  const dist::BlockCyclic& from = x.distribution();
  const bool across = op != Op::N;
  if (row_block == 0) row_block = across ? from.column_block : from.row_block;
  if (column_block == 0) column_block = across ? from.row_block : from.column_block;
  row = {across ? from.columns : from.rows, row_block, grid_.rows};
  column = {across ? from.rows : from.columns, column_block, grid_.columns};
  to_ = across ? dist::BlockCyclic{from.rows, from.columns, column_block, row_block, {grid_.columns, grid_.rows}}
               : dist::BlockCyclic{from.rows, from.columns, row_block, column_block, grid_};
  const bool line = grid_.rows == 1 || grid_.columns == 1;  // then a rank keeps its number across
  if ((!across || line) && equivalent(from, to_)) return;
  const int me = x.group().rank();
  const int place = across && me < grid_.size() ? to_.grid.rank(grid_.column_of(me), grid_.row_of(me)) : me;
  const std::int64_t local_rows = to_.local_rows(place), local_columns = to_.local_columns(place);
  moved_.emplace(x.executor(), Shape{local_columns, local_rows});
  stored = MatrixView<T>::column_major(x.executor(), moved_->data(), local_rows, local_columns);
}

template <class T> void Aligned<T>::bring() const {
  if (!moved_) return;
  const MatrixView<T> here = x_.local();
  const int me = x_.group().rank();
  const dist::BlockCyclic& from = x_.distribution();
  dist::detail::redistribute(
      x_.group(), op == Op::N ? dist::moves(from, to_, me) : moves_across(from, to_, grid_, me),
      comm::detail::bytes_of(View<T>(here.executor(), here.data(), {here.columns(), here.rows()})),
      comm::detail::bytes_of(moved_->view()));
}

}  // namespace trn::blas::distributed
